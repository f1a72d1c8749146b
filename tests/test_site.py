"""The documentation as a site: built without a network, whole, and searched from disk."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import DESK, PHONE, Page, browser, why_not
from test_documentation import ROOT, listed_names

pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of browsers that have ended

# A build that wants anything from elsewhere fails.
ALONE = """
import socket, sys
def refuse(*_): raise OSError("the documentation needs no network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-c", ALONE, "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return folder


def test_every_public_name_has_its_entry(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html")]
    entries = {each for page in pages for each in re.findall(r'<h2 id="colonnade\.([\w.]+)"', page)}
    assert entries == set(listed_names())
    text = "".join(pages)
    assert 'id="colonnade.BayesianNetwork.query"' in text  # a method
    assert 'id="colonnade.Hierarchical.posterior"' in text  # one that a base class describes
    assert ":func:" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="https?://', text) == [], path
        links = re.findall(r"<link[^>]*>", text)
        styles = [link for link in links if "stylesheet" in link or "icon" in link]
        assert [link for link in styles if 'href="http' in link] == [], path


@pytest.fixture(scope="module")
def window() -> Iterator[Page]:
    if reason := why_not():
        pytest.skip(f"no browser: {reason}")
    with browser() as page:
        yield page


def test_the_search_works_from_disk(window: Page, site: Path) -> None:
    window.resize(DESK)
    window.driver.get("about:blank")
    window.complaints(), window.requests()
    window.driver.get((site / "index.html").as_uri())
    window.click("label.md-search__icon, .md-search__input")
    window.find(".md-search__input").send_keys("hill_climb")
    window.until(lambda: window.count(".md-search-result__item"), "results of the search")
    assert "structure.html" in str(
        [each.get_attribute("href") for each in window.all(".md-search-result__link")]
    )
    assert window.complaints() == []
    asked = [each for each in window.requests() if each.startswith("http")]
    assert asked == []


@pytest.mark.parametrize("page", ["index.html", "tutorial/index.html", "reference/networks.html"])
def test_pages_fit_a_phone(window: Page, site: Path, page: str) -> None:
    window.resize(PHONE)
    window.driver.get((site / page).as_uri())
    assert window.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    assert window.complaints() == []

"""A real browser for the tests of pages: Debian's Chromium, driven by Selenium.

Run as a script, it makes the pictures of the documentation: ``python tests/browser.py FOLDER``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WAIT = 10.0  # seconds until something on a page must have happened
PHONE, DESK, SHEET = (390, 844), (1440, 1000), (1280, 860)
_LOOKS = (("light", SHEET, ""), ("dark", SHEET, "-dark"), ("light", PHONE, "-phone"))


def why_not() -> str:
    """Say why there is no browser here; nothing if there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return ""


class Page:
    """An open browser window."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str | Path) -> Page:
        """Open a file or an address, and wait until the page has drawn itself."""
        address = address.resolve().as_uri() if isinstance(address, Path) else address
        self.driver.get("about:blank")
        self.driver.get(address)
        self.until(lambda: self.count("#variable h2"), "the page to be drawn")
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element that a CSS selector finds."""
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        """Return all elements that a CSS selector finds."""
        return list(self.driver.find_elements("css selector", selector))

    def count(self, selector: str) -> int:
        return len(self.all(selector))

    def text(self, selector: str) -> str:
        """Return the text of an element, also where it is not on the screen.

        Blanks at which no line may be broken are blanks.
        """
        found = str(self.run("return arguments[0].textContent", self.find(selector)))
        return found.replace("\u00a0", " ")

    def click(self, selector: str) -> None:
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.find(selector))
        self.find(selector).click()

    def until(self, holds: Callable[[], Any], what: str) -> None:
        """Wait for something to become true."""
        end = time.monotonic() + _WAIT
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"waited {_WAIT:g} s for {what}: {self.complaints()}")
            time.sleep(0.02)

    def complaints(self) -> list[str]:
        """Return what the page wrote to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def resize(self, size: tuple[int, int]) -> None:
        """Give the page itself a width and a height."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": size[0] < 600}
        )

    def prefer(self, scheme: str) -> None:
        """Let the system prefer light or dark colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path) -> None:
        """Save what is on the screen."""
        self.driver.save_screenshot(str(path))


@contextmanager
def browser(downloads: Path | None = None) -> Iterator[Page]:
    """Start Chromium with a profile of its own, and end it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    folder = tempfile.mkdtemp()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *("disable-dev-shm-usage", "no-default-browser-check", f"user-data-dir={folder}"),
        *("window-size=1440,1000", "hide-scrollbars", "no-proxy-server"),
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if downloads is not None:
        wanted = {"download.default_directory": str(downloads)}
        options.add_experimental_option("prefs", wanted)
    os.environ.setdefault("SE_OFFLINE", "true")  # Selenium must not look for drivers elsewhere
    service = Service(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Page(driver)
    finally:
        driver.quit()
        shutil.rmtree(folder, ignore_errors=True)


def pictures(folder: Path) -> None:
    """Make the pictures of the documentation."""
    from colonnade import report
    from colonnade.explore import Explorer
    from pages import alarm_network, clinic, clinic_forest, clinic_network, many_variables

    network, data, path = clinic_network(), clinic(), folder / "report.html"
    held_out = report.held_out(network, data, "cancer")
    title = "A lung clinic: 300 patients"
    about: dict[str, Any] = {"data": data, "title": title, "overwrite": True}
    report.write(network, path, held_out=held_out, target="cancer", **about)
    forest, many = folder / "forest.html", folder / "many.html"
    held_out = report.held_out(clinic_forest(), data, "cancer")
    report.write(clinic_forest(), forest, held_out=held_out, **about)
    report.write(many_variables(), many, title="500 variables", overwrite=True)
    explorer = Explorer(alarm_network(), "alarm.json", title="The alarm network")
    threading.Thread(target=explorer.run, daemon=True).start()
    with browser() as page:
        for scheme, size, name in (("light", SHEET, "report"), ("dark", SHEET, "report-dark")):
            page.prefer(scheme)
            page.resize(size)
            page.open(path)
            page.run("document.querySelector('#variable details summary').click()")
            page.picture(folder / f"{name}.png")
        page.prefer("light")
        page.resize(PHONE)
        page.open(path)
        page.run("document.querySelector('#variable').scrollIntoView()")
        page.picture(folder / "report-phone.png")
        page.resize(SHEET)
        page.open(path)
        for part in ("classifier", "moves"):
            page.run(f"document.querySelector('#{part}').scrollIntoView()")
            page.picture(folder / f"report-{part}.png")
        for place, name in ((forest, "forest"), (many, "many-variables")):
            for scheme, size, kind in _LOOKS:
                page.prefer(scheme)
                page.resize(size)
                page.open(place)
                page.picture(folder / f"{name}{kind}.png")
        page.resize(SHEET)
        for scheme, name in (("light", "explorer"), ("dark", "explorer-dark")):
            page.prefer(scheme)
            page.open(explorer.address)
            for card in ("HR", "VTUB"):
                page.click(f'.margin[aria-label="{card}"] .state:nth-of-type(2)')
            page.until(lambda: page.count("#live .moved li") > 3, "answers")
            page.run("document.querySelector('#margins').scrollTo(0, 0); scrollTo(0, 0)")
            time.sleep(0.5)
            page.picture(folder / f"{name}.png")
        page.prefer("light")
        page.resize(PHONE)
        page.open(explorer.address)
        page.picture(folder / "explorer-phone.png")
    for place in (path, forest, many):
        place.unlink()


if __name__ == "__main__":
    pictures(Path(sys.argv[1]))

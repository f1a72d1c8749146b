"""The tutorial: its commands print what it shows, and its Python does, too."""

import doctest
from pathlib import Path

import pytest

import colonnade as cn
from command_line import plain_terminal
from consoles import performed, shorter

PAGE = Path(__file__).parent.parent / "docs" / "tutorial" / "index.md"


def test_the_tutorial_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("$ colonnade ") > 5
    assert shorter(performed(page)) == shorter(page)
    # The files are there now, and Python takes them.
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(page, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 15
    assert doctest.DocTestRunner(optionflags=options).run(test).failed == 0
    assert cn.load("python.json") == cn.load("tumours.json")

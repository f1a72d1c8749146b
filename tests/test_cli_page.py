"""The page about the command line shows what the commands print."""

from pathlib import Path

import pytest

from command_line import plain_terminal
from consoles import performed, shorter

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("arcs.csv").write_text("from,to\nsmoker,cancer\nage,cancer\ncancer,marker\n")
    Path("clinic.csv").write_text(",smoker,dose\n0,no,1.5\n1,NA,unknown\n2,yes,2.5\n3,Yes,0.5\n")
    Path("doses.csv").write_text("smoker,dose\n")
    Path("new.csv").write_text("smoker,age,marker\nyes,old,2.5\nno,young,\n")
    Path("gaps.csv").write_text("who,smoker,age,marker,cancer\nAda,yes,,2.5,\nBen,,young,,false\n")
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("$ colonnade ") > 5
    assert shorter(performed(page)) == shorter(page)

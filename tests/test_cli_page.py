"""The page about the command line shows what the commands print."""

from pathlib import Path

import numpy as np
import pytest

from command_line import plain_terminal
from consoles import performed, shorter

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"


def patients(path: Path) -> None:
    """Write the data of the page."""
    rng = np.random.default_rng(1)
    smoker = rng.choice(["no", "yes"], 300, p=[0.7, 0.3])
    age = rng.choice(["young", "middle", "old"], 300)
    cancer = rng.random(300) < 0.05 + 0.25 * (smoker == "yes") + 0.15 * (age == "old")
    marker = rng.normal(size=300) + cancer
    rows = zip(smoker, age, marker, cancer, strict=True)
    lines = [f"{s},{a},{m:.2f},{str(bool(c)).lower()}" for s, a, m, c in rows]
    path.write_text("\n".join(["smoker,age,marker,cancer", *lines]) + "\n")


def survey(path: Path) -> None:
    """Write the data that are inspected: mixed columns, as people have them."""
    rng = np.random.default_rng(8)
    lines = ["id;interviewed;age;bmi;smoker;region;wave;ill"]
    for k in range(150):
        bmi = "NA" if k % 19 == 4 else f"{rng.normal(26, 4):.1f}".replace(".", ",")
        day, age = f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024", rng.integers(20, 85)
        smoker = ("no", "no", "yes", "No")[k % 4 if k % 24 == 3 else k % 3]
        ill = "yes" if rng.random() < (0.6 if smoker == "yes" else 0.1) else "no"
        cells = f"P{k:03d}", day, age, bmi, smoker, "NS"[k % 2], "1", ill
        lines.append(";".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n")


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    patients(Path("patients.csv"))
    Path("arcs.csv").write_text("from,to\nsmoker,cancer\nage,cancer\ncancer,marker\n")
    Path("clinic.csv").write_text(",smoker,dose\n0,no,1.5\n1,NA,unknown\n2,yes,2.5\n3,Yes,0.5\n")
    Path("doses.csv").write_text("smoker,dose\n")
    survey(Path("survey.csv"))
    Path("new.csv").write_text("smoker,age,marker\nyes,old,2.5\nno,young,\n")
    Path("gaps.csv").write_text("who,smoker,age,marker,cancer\nAda,yes,,2.5,\nBen,,young,,false\n")
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("$ colonnade ") > 5
    assert shorter(performed(page)) == shorter(page)

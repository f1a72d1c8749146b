"""What the tests of the command line share: a small example, and how a command is run."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app

DAG = cn.Dag([("smoker", "cancer"), ("group", "cancer")])


def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what is printed independent of the terminal."""
    for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def example(folder: Path) -> Path:
    """Write data, data with gaps, arcs and a fitted network into a folder."""
    rng = np.random.default_rng(5)
    rows = 150
    smoker = rng.random(rows) < 0.4
    group = rng.integers(1, 4, rows)
    cancer = rng.random(rows) < np.where(smoker, 0.5, 0.1) + 0.1 * (group == 2)
    dose = rng.normal(size=rows) + cancer
    lines = ["smoker,group,cancer,dose,n"]
    for k in range(rows):
        words = "yes" if smoker[k] else "no", group[k], str(cancer[k]).lower()
        lines.append(",".join(map(str, (*words, f"{dose[k]:.3f}", k % 3))))
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    holes = [line.replace("yes", "") if k % 4 == 1 else line for k, line in enumerate(lines)]
    (folder / "holes.csv").write_text("\n".join(holes) + "\n")
    (folder / "arcs.csv").write_text("from,to\nsmoker,cancer\ngroup,cancer\n")
    (folder / "other.csv").write_text("cancer,smoker\n")
    cn.fit(cn.read(folder / "data.csv"), DAG).save(folder / "model.json")
    return folder


def run(*arguments: object, code: int = 0) -> Any:
    """Run a command that must end with an exit code, and return what it printed."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def flat(text: str) -> str:
    """A message without the frame around it and the lines it was broken into."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())

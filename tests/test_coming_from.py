"""The page for those who come from other packages: every line of its tables runs."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINE = re.compile(r"^\| `(.+?)`(?:.*?) \| `(.+)` \|$", re.MULTILINE)


def section(package: str) -> str:
    return TEXT.split(f"## From {package}\n")[1].split("\n## ")[0]


def lines(package: str) -> list[tuple[str, str]]:
    """Their call and ours, from each line of a table."""
    rows = [row for row in section(package).splitlines() if row.startswith("| `")]
    found = [LINE.fullmatch(row) for row in rows]
    assert all(found), [row for row, match in zip(rows, found, strict=True) if match is None]
    return [(match[1], match[2]) for match in found if match]


def names(package: str = "") -> dict[str, Any]:
    """The names that the page defines, perhaps with those of a section."""
    space: dict[str, Any] = {}
    exec("\n".join(re.findall(r"^>>> (.*)$", TEXT, re.MULTILINE)), space)
    if package:
        setup = re.search(r"```python\n(.*?)```", section(package), re.DOTALL)
        assert setup is not None
        exec(setup[1], space)
    return space


@pytest.mark.parametrize("package", ["bnlearn", "pgmpy", "pyAgrum"])
def test_our_side_runs(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space = names()
    for _, ours in lines(package):
        try:
            eval(ours, space)
        except Exception as error:
            pytest.fail(f"{ours}: {error!r}")


@pytest.mark.parametrize("package", ["pgmpy", "pyAgrum"])
@pytest.mark.filterwarnings("ignore")
def test_their_side_runs(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package.lower())
    monkeypatch.chdir(tmp_path)
    space = names(package)
    for theirs, _ in lines(package):
        try:
            eval(theirs, space)
        except Exception as error:
            pytest.fail(f"{theirs}: {error!r}")


def test_both_sides_say_the_same() -> None:
    """Where both are exact and have the same tables: every query of pyAgrum's section."""
    pytest.importorskip("pyagrum")
    space = names("pyAgrum")
    compared = 0
    for theirs, ours in lines("pyAgrum"):
        if not ours.startswith(("net.query", "net.entropy", "net.mutual", "net.kl")):
            continue
        answer, wanted = eval(ours, space), eval(theirs, space)
        if "bits" in next(row for row in TEXT.splitlines() if f"`{theirs}`" in row):
            assert answer.value == pytest.approx(wanted * np.log(2), rel=1e-5)
        elif isinstance(answer, float):
            assert answer == pytest.approx(wanted, rel=1e-6)
        else:
            table = wanted[1] if isinstance(wanted, tuple) else wanted
            axes = list(table.names)[::-1]  # the first varies fastest
            order = [axes.index(name) for name in answer.targets]
            array = np.asarray(table.toarray()).transpose(order)
            np.testing.assert_allclose(array, answer.probabilities, atol=1e-6)
        compared += 1
    assert compared == 9

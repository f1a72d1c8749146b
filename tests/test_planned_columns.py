"""`fit` and `inspect` follow one rule for columns, however the rows are read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.command_line import flat, run

import colonnade as cn

ROWS = 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(1)
    smoker = rng.choice(["no", "yes"], ROWS)
    table = pd.DataFrame(
        {
            "id": np.arange(1000, 1000 + ROWS),
            "name": [f"person {k}" for k in range(ROWS)],
            "smoker": smoker,
            "bmi": rng.normal(25, 4, ROWS).round(2) + 3 * (smoker == "yes"),
            "stage": rng.integers(1, 5, ROWS),
            "wave": 1,
            "rare": np.where(rng.random(ROWS) < 0.1, "x", None),
            "empty": None,
            "age": np.where(rng.random(ROWS) < 0.1, -999, rng.integers(20, 90, ROWS)),
        }
    )
    for k in range(2):
        table[k * 100 : k * 100 + 100].to_csv(tmp_path / f"part{k}.csv", index=False)
    table.to_csv(tmp_path / "whole.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


HOWS = {"memory": ["whole.csv"], "pattern": ["part*.csv"], "large": ["whole.csv", "--memory", 1]}


def told(result: Any) -> list[str]:
    return [line for line in flat(result.stderr).split("Warning: ") if line]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("how", HOWS)
def test_fit_does_what_inspect_says(how: str) -> None:
    for number, more in enumerate(([], ["--keep", "wave"], ["--ignore", "name", "--bins", 3])):
        columns = json.loads(run("inspect", *HOWS[how], *more, "--json").stdout)["columns"]
        done = run("fit", *HOWS[how], *more, "-o", f"{number}.json")
        network = cn.load(f"{number}.json")
        used = {each["name"]: each for each in columns if each["use"] != "left out"}
        assert {*network} == {*used}
        for name, each in used.items():
            assert list(network[name].family.child.states) == each["states"]
        left_out = [each["name"] for each in columns if each["use"] == "left out"]
        assert {"id", "rare", "empty"} <= {*left_out}
        (said,) = [line for line in told(done) if "left out." in line]
        assert all(repr(name) in said for name in left_out)


@pytest.mark.usefixtures("folder")
def test_fit_says_the_same_however_rows_are_read() -> None:
    said, networks = [], []
    for how, data in HOWS.items():
        done = run("fit", *data, "-o", f"{how}.json")
        said.append([line for line in told(done) if "File" not in line])
        networks.append(cn.load(f"{how}.json"))
    assert said[0] == said[1] == said[2]
    assert any("-999" in line and "may stand for a missing value" in line for line in said[0])
    assert networks[0] == networks[1] == networks[2]


@pytest.mark.usefixtures("folder")
def test_texts_that_are_read_as_missing_are_told_once() -> None:
    text = Path("part0.csv").read_text().replace(",no,", ",NA,", 3)
    Path("part0.csv").write_text(text)
    done = run("fit", "part*.csv", "-o", "new.json")
    assert flat(done.stderr).count("as missing, in column") == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("how", HOWS)
def test_what_is_to_be_corrected_is_an_error_of_fit(how: str) -> None:
    for path in ("part1.csv", "whole.csv"):
        lines = Path(path).read_text().splitlines()
        lines[50] = ",".join([*lines[50].split(",")[:3], "inf", *lines[50].split(",")[4:]])
        Path(path).write_text("\n".join(lines) + "\n")
    shown = flat(run("inspect", *HOWS[how]).stdout)
    said = "infinity, or a number too large to be cut"
    said += ", in row 50 (counted from 1)" if how == "memory" else ""
    assert "to be corrected: infinity" in shown
    assert "9 columns, 3 used" in shown
    assert f"Column 'bmi': {said}." in flat(run("fit", *HOWS[how], "-o", "x.json", code=1).stderr)
    bmi = json.loads(run("inspect", *HOWS[how], "--json").stdout)["columns"][3]
    assert (bmi["use"], bmi["reason"]) == ("to be corrected", said)

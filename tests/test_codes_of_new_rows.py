"""Numbers such as -999 in rows that a network is asked about: they are told, once."""

from pathlib import Path

import numpy as np
import pytest
from tests.command_line import flat, run

import colonnade as cn

COMMANDS = {
    "predict": ["predict", "model.json", "DATA", "--target", "smoker", "-o", "out.csv"],
    "impute": ["impute", "model.json", "DATA", "-o", "out.csv"],
    "anomaly": ["anomaly", "model.json", "DATA"],
    "update": ["update", "model.json", "DATA", "-o", "new.json"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    smoker = rng.choice(["no", "yes"], 300)
    table = {"smoker": smoker, "age": rng.integers(18, 90, 300), "bmi": rng.normal(25, 4, 300)}
    cut = cn.discretize(table, {"age": 5, "bmi": 4})
    cn.fit(cut, cn.Dag([("smoker", "bmi"), ("age", "smoker")])).save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(data: str, command: str) -> str:
    asked = [data if word == "DATA" else word for word in COMMANDS[command]]
    return flat(run(*asked, "--overwrite").stderr if "-o" in asked else run(*asked).stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_codes_are_told_once(command: str) -> None:
    for k, age in enumerate((-999, 40)):
        Path(f"new{k}.csv").write_text(f"smoker,age,bmi\nyes,{age},22.5\nno,50,999\nno,51,23\n")
    said = told("new0.csv", command)
    assert said.count("may stand for a missing value") == 2
    assert "Column 'age': -999 (1 row) may stand for a missing value. Column 'bmi': 999" in said
    assert "give --na" in said
    if command == "predict":
        said = told("new*.csv", command)
        assert "'age': -999 (1 row) may" in said
        assert "'bmi': 999 (2 rows) may" in said
        assert said.count("may stand for") == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_usual_numbers_are_no_codes(command: str) -> None:
    """Few rows, which by themselves would make 99 look far away from the others."""
    Path("new.csv").write_text("smoker,age,bmi\nyes,30,22.5\nno,31,23\nno,99,23.5\n")
    assert "may stand for" not in told("new.csv", command)

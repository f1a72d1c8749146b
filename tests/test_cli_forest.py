"""Forests on the command line: they are those of Python, and refuse what they do not take."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app
from command_line import plain_terminal

ROWS = 60


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    ill = rng.random(ROWS) < 0.4
    frame = pd.DataFrame(
        {
            "id": [f"P{k}" for k in range(ROWS)],
            "dose": (rng.normal(size=ROWS) + ill).round(2),
            "smoker": np.where(rng.random(ROWS) < 0.3 + 0.4 * ill, "yes", "no"),
            "n": [1 + k % 3 for k in range(ROWS)],
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.loc[3, "dose"] = None
    frame.to_csv("data.csv", index=False)
    frame.assign(ill=frame["ill"].where(frame.index > 1)).to_csv("gaps.csv", index=False)
    return frame


def run(command: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == code, done.stderr
    return done.stdout, done.stderr


def test_a_forest_is_that_of_python(table: pd.DataFrame) -> None:
    told, warned = run(
        "fit data.csv --learn forest --target ill --seed 5 --ignore n -o forest.json"
    )
    assert told.startswith("Forest that predicts ill: 16 networks, from 2 columns\n")
    assert told.endswith("Saved forest.json\n")
    assert "Column 'id' (seems to identify rows" in warned
    features = table[["dose", "smoker"]]
    own = cn.BayesianNetworkForest(random_state=5, target_name="ill").fit(features, table["ill"])
    assert cn.BayesianNetworkForest.load("forest.json").networks_ == own.networks_
    told, _ = run("predict forest.json data.csv --seed 2 --level 0.8 -o out.csv")
    accuracy = 100 * (own.predict(features) == table["ill"]).mean()
    assert f"{accuracy:.1f} % of the known values of ill" in told
    found = pd.read_csv("out.csv")
    np.testing.assert_allclose(found["ill=yes"], own.predict_proba(features)[:, 1], atol=1e-12)
    ends = own.predict_interval(features, 0.8, rng=2)
    np.testing.assert_allclose(found["ill=yes lower"], ends.lower[:, 1], atol=1e-12)
    assert found["predicted ill"].tolist() == own.predict(features).tolist()
    assert found["ill"].tolist() == table["ill"].tolist()
    plain = json.loads(run("predict forest.json data.csv --draws 0 --json")[0])
    assert list(plain["rows"][0]) == ["ill", "predicted ill", "ill=no", "ill=yes"]
    assert plain["target"] == "ill"


def test_weights_bins_priors_and_rows_without_a_class(table: pd.DataFrame) -> None:
    more = "--weights n --bins 3 --prior hierarchical --ignore id --json"
    told, warned = run(f"fit gaps.csv --learn forest --target ill {more} -o forest.json")
    assert "Column 'ill': 2 rows without a value left out." in warned
    kept = table.iloc[2:]
    own = cn.BayesianNetworkForest(
        random_state=0, bins=3, prior=cn.Hierarchical(), target_name="ill"
    ).fit(kept[["dose", "smoker"]], kept["ill"], kept["n"])
    assert cn.BayesianNetworkForest.load("forest.json").networks_ == own.networks_
    found = json.loads(told)
    assert (found["target"], found["classes"], found["networks"]) == ("ill", ["no", "yes"], 16)
    assert sum(found["importances"].values()) == pytest.approx(1.0)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("fit data.csv --learn forest -o new.json", 2, "--target is missing"),
        ("fit data.csv --learn forest --target ill -o new.bif", 2, ".json for --output"),
        ("fit data.csv --learn forest --target ill --group smoker -o new.json", 2, "--group"),
        ("fit data.csv --learn forest --target ill --cut dose:0 -o new.json", 2, "--cut"),
        ("fit data.csv --learn forest --target ill --missing em -o new.json", 2, "--missing em"),
        ("fit data.csv --learn forest --target ill --score bic -o new.json", 2, "--score"),
        ("fit data.csv --learn forest --target dose -o new.json", 1, "predicts states"),
        ("fit data.csv --learn forest --target x -o new.json", 1, "for --target, got 'x'"),
        ("structure data.csv --learn forest", 2, "for --learn, got 'forest'"),
        ("compare data.csv --learn forest", 2, "for --learn, got 'forest'"),
    ],
)
def test_what_a_forest_does_not_take_is_refused(command: str, code: int, message: str) -> None:
    _, error = run(command, code)
    assert message in error.splitlines()[0 if code == 2 else -1]
    assert not Path("new.json").exists()


@pytest.mark.usefixtures("table")
def test_other_commands_say_what_the_file_is() -> None:
    run("fit data.csv --learn forest --target ill --ignore n -o forest.json")
    assert "it is a forest: predict and report take it" in run("show forest.json", 1)[1]
    assert "for --target, got 'smoker'" in run("predict forest.json data.csv --target smoker", 1)[1]
    Path("new.csv").write_text("smoker\nyes\n")
    assert "'dose'" in run("predict forest.json new.csv", 1)[1]

"""Classifiers and forests on rows that are not in memory: the same answers, block by block."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from colonnade.classifier import (
    BayesianNetworkClassifier,
    BayesianNetworkForest,
    UnknownStateWarning,
)
from colonnade.exceptions import DataError, DataWarning, InputError
from command_line import flat, run


def rows(number: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, states of all kinds, and gaps in each of them."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["no", "perhaps", "yes"], number)
    size = rng.normal(size=number) + (label == "yes")
    table = pd.DataFrame(
        {
            "size": size,
            "count": rng.integers(0, 40, number) * (1 + (label == "no")) + 0.5,
            "grade": rng.integers(0, 4, number),
            "town": np.where(rng.random(number) < 0.6, label, rng.choice(["a", "b"], number)),
            "old": rng.random(number) < 0.3,
            "label": label,
        }
    )
    table.loc[rng.random(number) < 0.1, ["size", "town"]] = None
    table.loc[rng.random(number) < 0.1, "count"] = np.nan
    return table


TABLE = rows(400)
FEATURES = [name for name in TABLE if name != "label"]
MODELS = {
    "classifier": BayesianNetworkClassifier().fit(TABLE[FEATURES], TABLE["label"]),
    "forest": BayesianNetworkForest(n_members=3, random_state=0).fit(
        TABLE[FEATURES], TABLE["label"]
    ),
}
NEW = rows(500, seed=1)


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]


@pytest.fixture(params=["csv", "parquet", "files", "lazy", "duckdb"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / f"rows.{request.param}"
    if request.param == "csv":
        NEW.to_csv(path, index=False)
        return str(path)
    path = tmp_path / "rows1.parquet"
    NEW.to_parquet(path)
    if request.param == "files":
        NEW[:130].to_parquet(path)
        NEW[130:].to_parquet(tmp_path / "rows2.parquet")
        return str(tmp_path / "*.parquet")
    if request.param == "duckdb":
        import duckdb

        return duckdb.read_parquet(str(path))
    return pl.scan_parquet(path) if request.param == "lazy" else path


def test_answers_are_those_of_memory(model: Any, elsewhere: Any) -> None:
    known = NEW[FEATURES]
    np.testing.assert_array_equal(model.predict(elsewhere), model.predict(known))
    np.testing.assert_allclose(model.predict_proba(elsewhere), model.predict_proba(known), 1e-12)
    mine = model.predict_interval(elsewhere, draws=200, rng=1)
    yours = model.predict_interval(known, draws=200, rng=1)
    np.testing.assert_allclose(mine.lower, yours.lower, 1e-12)
    np.testing.assert_allclose(mine.upper, yours.upper, 1e-12)


def test_blocks_have_the_true_classes(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.tables.streams._MIN_ROWS", 1)
    for k in range(5):
        NEW[100 * k : 100 * k + 100].to_parquet(tmp_path / f"{k}.parquet")
    blocks = list(model.predict_blocks(f"{tmp_path}/*.parquet", level=0.9, draws=100, rng=0))
    assert [len(block.truth) for block in blocks] == [100] * 5
    truth = np.concatenate([block.truth for block in blocks])
    assert model.classes_[truth].tolist() == NEW["label"].tolist()
    found = np.concatenate([block.probabilities for block in blocks])
    np.testing.assert_allclose(found, model.predict_proba(NEW[FEATURES]), 1e-12)
    assert (blocks[0].interval.lower <= found[:100]).mean() > 0.9


def test_every_cut_of_every_member_is_kept(tmp_path: Path) -> None:
    """Numbers at the cut points themselves, and just above them, fall where they do in memory."""
    forest = MODELS["forest"]
    points = sorted({p for net in forest.networks_ for p in net.discretizer.get("size").points})
    assert len(points) > len(forest.networks_[0].discretizer.get("size").points)
    edges = np.array([*points, *np.nextafter(points, np.inf), *np.nextafter(points, -np.inf)])
    table = pd.DataFrame({**dict.fromkeys(FEATURES), "size": edges})
    table = table.astype({"count": float, "old": "boolean", "town": "string", "grade": "Int64"})
    table.to_parquet(tmp_path / "edges.parquet")
    mine = forest.predict_proba(str(tmp_path / "edges.parquet"))
    np.testing.assert_allclose(mine, forest.predict_proba(table), 1e-12)


def test_new_values_are_told_and_texts_among_numbers_refused(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    NEW.assign(town="elsewhere").to_csv(path, index=False)
    with pytest.warns(UnknownStateWarning, match="Column 'town': 500 rows with 'elsewhere'"):
        model.predict(path)
    strict = model.__class__(**{**model.get_params(), "unknown": "raise"})
    strict.fit(TABLE[FEATURES], TABLE["label"])
    with pytest.raises(DataError, match=r"Column 'town': state 'elsewhere' \(500 rows\)"):
        strict.predict(path)
    NEW.assign(size="large").to_csv(path, index=False)
    with pytest.raises(DataError, match=r"Column 'size': not a column of numbers.*as in training"):
        model.predict(path)
    NEW[["size"]].to_csv(path, index=False)
    with pytest.raises(DataError, match="Columns 'count', 'grade', 'town' and 'old': not in"):
        model.predict(path)


def test_columns_that_are_absent_may_be_missing(model: Any, elsewhere: Any) -> None:
    """Asked for, and told; the answers are those for empty columns, wherever the rows are."""
    lacking = NEW[["count", "old", "label"]]
    expected = model.predict_proba(NEW[FEATURES].assign(size=np.nan, grade=np.nan, town=np.nan))
    told = "Columns 'size', 'grade', 'town': not in the table, so missing in every row"
    for table in (lacking, lacking.to_dict("list"), pl.LazyFrame(lacking)):
        with pytest.warns(DataWarning, match=told):
            found = list(model.predict_blocks(table, absent="missing"))
        chances = np.concatenate([block.probabilities for block in found])
        np.testing.assert_allclose(chances, expected, 1e-12)
        with pytest.raises((DataError, InputError, ValueError)):
            next(model.predict_blocks(table))
    whole = np.concatenate(
        [block.probabilities for block in model.predict_blocks(elsewhere, absent="missing")]
    )
    np.testing.assert_allclose(whole, model.predict_proba(NEW[FEATURES]), 1e-12)
    with pytest.raises(InputError, match=r"'raise' or 'missing' for `absent`, got 'drop'"):
        next(model.predict_blocks(NEW, absent="drop"))


def test_draws_without_intervals_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match=r"`draws`.*give `level`, too"):
        next(model.predict_blocks(NEW[FEATURES], draws=100))


def test_no_rows_have_no_classes(model: Any, tmp_path: Path) -> None:
    NEW[:0].to_parquet(tmp_path / "empty.parquet")
    assert model.predict_proba(tmp_path / "empty.parquet").shape == (0, 3)
    assert model.predict(tmp_path / "empty.parquet").tolist() == []


@pytest.mark.parametrize("kind", ["forest", "network"])
def test_commands_predict_from_file_to_file(kind: str, tmp_path: Path) -> None:
    if kind == "forest":
        MODELS["forest"].save(tmp_path / "model.json")
    else:
        MODELS["classifier"].network_.save(tmp_path / "model.json")
    for k in range(2):
        NEW[k::2].to_csv(tmp_path / f"part{k}.csv", index=False)
    whole = pd.concat([NEW[0::2], NEW[1::2]])
    whole.to_csv(tmp_path / "whole.csv", index=False)
    answers = {}
    for name, data in {"passing": "part*.csv", "memory": "whole.csv"}.items():
        output = tmp_path / f"{name}.csv"
        done = run(
            "predict", tmp_path / "model.json", tmp_path / data, "--target", "label",
            "--draws", "100", "-o", output,
        )  # fmt: skip
        assert "Predicted label for 500 rows" in done.stdout
        assert "% of the known values of label are the most probable state" in done.stdout
        answers[name] = (pd.read_csv(output), done.stdout.splitlines()[-1])
    pd.testing.assert_frame_equal(answers["passing"][0], answers["memory"][0], rtol=1e-12)
    assert answers["passing"][1] == answers["memory"][1]


@pytest.mark.parametrize("passing", [False, True], ids=["memory", "passing"])
@pytest.mark.parametrize("kind", ["forest", "network"])
def test_true_values_that_a_model_does_not_know_are_told(
    kind: str, passing: bool, tmp_path: Path
) -> None:
    """They are not compared: rows that drop out in silence make predictions look better."""
    if kind == "forest":
        MODELS["forest"].save(tmp_path / "model.json")
    else:
        MODELS["classifier"].network_.save(tmp_path / "model.json")
    asked: list[object] = ["predict", tmp_path / "model.json", "--target", "label", "--draws", 0]
    asked += [tmp_path / ("new*.csv" if passing else "new.csv"), "-o", tmp_path / "out.csv"]
    spelt = NEW["label"].replace("yes", "YES")
    NEW.assign(label=spelt).to_csv(tmp_path / "new.csv", index=False)
    done = run(*asked)
    times = int((spelt == "YES").sum())
    told = [line for line in done.stderr.splitlines() if "YES" in line]
    assert len(told) == 1
    assert "Column 'label': " in told[0]
    assert f"{times} rows" in told[0]
    assert "did you mean 'yes'?" in flat(done.stderr)
    NEW.assign(label="YES").to_csv(tmp_path / "new.csv", index=False)
    done = run(*asked, "--overwrite")
    assert done.stderr.count("500 rows") == 1
    assert "known values" not in done.stdout

"""Rows that lack what a network knows: columns, tables with a posterior, and possibility."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from command_line import flat, plain_terminal, run

ROWS = {"a": [*"xxyyxy"], "b": [*"uvvvuu"], "c": [*"pqqqpp"]}
ABSENT = "Warning: Column 'b': not in the table, so missing in every row.\n"
FIXED = "Fixed, with no share in the intervals: c\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network with a known table, one in which a row cannot occur, and rows without b."""
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    network = cn.fit(ROWS, cn.Dag([("a", "b"), ("b", "c")]))
    for name, rows in (("model", [[0.9, 0.1], [0.3, 0.7]]), ("sure", [[1.0, 0.0], [0.0, 1.0]])):
        known = cn.Cpt.known(network["c"].family, rows)
        tables = {**network.tables, "c": known}
        cn.BayesianNetwork(network.dag, tables).save(f"{name}.json")
    Path("rows.csv").write_text("c,a,note\np,x,1\nq,y,2\n")
    Path("part1.csv").write_text("c,a,note\np,x,1\n")
    Path("part2.csv").write_text("c,a,note\nq,y,2\n")
    Path("other.csv").write_text("z\n1\n")
    return tmp_path


def test_predictions_sum_out_a_column_that_is_not_there() -> None:
    with pytest.warns(cn.exceptions.DataWarning):
        asked = cn.load("model.json").predict(cn.read("rows.csv"), "a", draws=500, rng=0)
    told = run("predict", "model.json", "rows.csv", "--target", "a", "--json")
    assert told.stderr == ABSENT
    found = json.loads(told.stdout)
    assert found["fixed"] == ["c"] == list(asked.fixed)
    frame = pd.DataFrame(found["rows"])
    assert asked.lower is not None
    np.testing.assert_allclose(frame["a=x"], asked.probabilities[:, 0], rtol=1e-12)
    np.testing.assert_allclose(frame["a=x lower"], asked.lower[:, 0], rtol=1e-12)
    # The same of files that pass, and a shown table and standard output say what is fixed.
    told = run("predict", "model.json", "part*.csv", "--target", "a", "-o", "out.csv")
    assert told.stderr.count(ABSENT) == 1
    assert told.stdout.endswith(FIXED)
    np.testing.assert_allclose(pd.read_csv("out.csv")["a=x"], frame["a=x"], rtol=1e-12)
    assert run("predict", "model.json", "rows.csv", "--target", "a").stdout.endswith(FIXED)
    told = run("predict", "model.json", "rows.csv", "--target", "a", "-o", "-")
    assert "Fixed" not in told.stdout
    assert told.stderr.endswith(FIXED)
    # Given b, what c is does not matter.
    Path("near.csv").write_text("b\nu\n")
    assert "Fixed" not in run("predict", "model.json", "near.csv", "--target", "a").stdout


def test_imputation_adds_a_column_that_is_not_there() -> None:
    with pytest.warns(cn.exceptions.DataWarning):
        filled = cn.load("model.json").impute(cn.read("rows.csv"))
    told = run("impute", "model.json", "rows.csv", "-o", "out.csv")
    assert told.stderr == ABSENT
    assert "Filled in 2 values of 2 rows" in told.stdout
    found = pd.read_csv("out.csv")
    assert list(found) == ["c", "a", "note", "b"]
    assert found["b"].tolist() == list(filled["b"])


def test_rows_that_have_nothing_to_do_with_the_network_are_refused() -> None:
    for words in (
        ("predict", "model.json", "other.csv", "--target", "a"),
        ("predict", "model.json", "othe*.csv", "--target", "a", "-o", "out.csv"),
        ("impute", "model.json", "other.csv"),
    ):
        assert "not in the table, which has 'z'" in flat(run(*words, code=1).stderr)
    # A score of a row depends on all of it.
    told = run("anomaly", "model.json", "rows.csv", code=1).stderr
    assert "Hint: give an empty column for what was not measured" in flat(told)


@pytest.mark.parametrize(
    "words", ["explain model.json c --observed a=x", "informative model.json a"]
)
def test_answers_name_tables_without_a_share(words: str) -> None:
    assert run(*words.split()).stdout.endswith(FIXED)
    assert json.loads(run(*words.split(), "--json").stdout)["fixed"] == ["c"]
    assert "Fixed" not in run(*words.split(), "--draws", 0).stdout


@pytest.mark.parametrize("width", ["100", "50"])
def test_a_row_that_cannot_occur_has_no_prediction(
    width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    Path("odd.csv").write_text("b,c\nu,q\nv,q\n")
    words = "predict", "sure.json", "odd.csv", "--target", "a"
    told = run(*words)
    assert "1 row without a prediction, because of values that cannot occur together" in told.stderr
    assert set(told.stdout.splitlines()[2].split()) == {"1", "-"} | (
        {"(-)"} & {*told.stdout.split()}
    )
    first, second = json.loads(run(*words, "--json").stdout)["rows"]
    assert set(first.values()) == {None}
    assert None not in second.values()

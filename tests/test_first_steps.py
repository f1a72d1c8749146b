"""What new users do first, and what they are told: weights, graphs, files, states and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.exceptions import ColonnadeError, DataError, DataWarning, InputError
from colonnade.tables import discretize
from command_line import run

MISSING = "the weight in row 2 (counted from 1) is missing."
TABLE = {"year": [2007, 2008, 2009] * 5, "x": np.linspace(0, 1, 15), "sex": ["f", "m", "f"] * 5}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A network with integers as states, and with intervals."""
    path = tmp_path / "model.json"
    cn.fit(discretize(TABLE, 2), cn.Dag([("year", "sex"), ("x", "sex")])).save(path)
    return path


# ---------------------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (["2", "foo", "3"], "'foo' in row 2 (counted from 1) cannot be a weight."),
        ([2, None, 3], MISSING),
        ([2.5, float("nan"), 3.0], MISSING),
        (pd.Series([2, None, 3], dtype="Int64"), MISSING),
        (
            np.ma.array([2, 0, 3], mask=[0, 1, 0]),
            MISSING,
        ),
        ([2, 1, -3], "weight -3 in row 3 (counted from 1) is negative."),
        ([2, 1, np.inf], "weight inf in row 3 (counted from 1) is not finite."),
    ],
)
def test_the_weight_that_is_wrong_is_named(weights: Any, told: str) -> None:
    with pytest.raises(DataError) as caught:
        cn.fit({"a": ["x", "y", "x"], "w": weights}, cn.Dag([], ["a"]), weights="w")
    assert str(caught.value).startswith(f"Column 'w': {told}")


def test_weights_of_a_file(tmp_path: Path) -> None:
    dag = written(tmp_path / "d.csv", "a\n")
    for weights, told in (("2,foo", "'foo' in row 2"), ("2,", "the weight in row 2 (counted")):
        first, second = weights.split(",")
        data = written(tmp_path / "t.csv", f"a,w\nx,{first}\ny,{second}\n")
        fit = "fit", data, "--dag", dag, "--weights", "w", "-o", tmp_path / "m.json"
        assert told in run(*fit, code=1).stderr


# ----------------------------------------------------------------------------- graphs


def test_bins_and_a_graph_of_words(tmp_path: Path) -> None:
    data = written(tmp_path / "t.csv", "island,sex,mass\na,f,1.5\nb,m,2.5\n")
    fit = "fit", data, "--bins", "2", "-o", tmp_path / "m.json", "--dag"
    told = run(*fit, written(tmp_path / "d.csv", "parent,child\nisland,sex\n"), code=2).stderr
    assert "and the graph of --dag has none." in told
    told = run(*fit, written(tmp_path / "e.csv", "eltern,kind\nisland,sex\n"), code=1).stderr
    assert "Columns 'eltern' and 'kind': not in the table" in told
    compare = "compare", data, "--bins", "2", "--dag", tmp_path / "e.csv"
    assert "Columns 'eltern' and 'kind': not in the table" in run(*compare, code=1).stderr


@pytest.mark.parametrize("sign", [";", "|", "->"])
def test_a_graph_with_another_separator(tmp_path: Path, sign: str) -> None:
    data = written(tmp_path / "t.csv", "a,b\nx,y\nx,z\n")
    dag = written(tmp_path / "d.csv", f"a{sign}b\n")
    told = run("fit", data, "--dag", dag, "-o", tmp_path / "m.json", code=1).stderr
    assert f"separate parent and child by a comma, not by {sign!r}." in told


# ----------------------------------------------------------------------------- errors


def test_errors_are_those_that_callers_expect(tmp_path: Path, model: Path) -> None:
    for read in (cn.load, cn.read):
        with pytest.raises(FileNotFoundError) as caught:
            read(tmp_path / ("no.json" if read is cn.load else "no.csv"))
        assert isinstance(caught.value, InputError)
        assert "Expected an existing file for `path`" in str(caught.value)
    with pytest.raises(KeyError) as unknown:
        cn.load(model)["foo"]
    assert isinstance(unknown.value, InputError)
    assert str(unknown.value).startswith("Expected one of 'year', 'sex', 'x' for `name`, got 'foo'")


def test_merging_networks_names_what_differs() -> None:
    dag = cn.Dag([("x", "sex")])
    one = cn.fit(discretize(TABLE, 2), dag)
    message = r"Expected the same cut points of 'x' for `other`, got .*0\.\d+, .*, not 0\.5\."
    with pytest.raises(InputError, match=message):
        one.merge(cn.fit(discretize(TABLE, 3), dag))
    plain = cn.Dag([], ["sex"])
    others = cn.fit({"sex": ["f", "d"]}, plain)
    with pytest.raises(InputError, match="the same states of 'sex' for `other`, got 'd', 'f', not"):
        cn.fit(TABLE, plain).merge(others)
    with pytest.raises(InputError, match=r"the same prior of 'sex' for `other`, got bdeu"):
        cn.fit(TABLE, plain).merge(cn.fit(TABLE, plain, cn.BDeu()))


# ----------------------------------------------------------------------------- states


def test_whole_floats_are_integers(model: Path) -> None:
    network = cn.load(model)
    found = network.query("sex", {"year": 2007.0})
    assert found.observed == {"year": 2007}
    ask = "query", model, "sex", "--observed"
    assert "given year = 2007\n" in run(*ask, "year=2007.0").stdout
    assert "state '2007.5' is not one of" in run(*ask, "year=2007.5", code=1).stderr
    assert "did you mean" not in run(*ask, "year=2010", code=1).stderr


@pytest.mark.parametrize("value", ["1e400", "-inf"])
def test_infinity_is_not_observed(model: Path, value: str) -> None:
    told = run("query", model, "sex", "--observed", f"x={value}", code=1).stderr
    assert f"Variable 'x': {value} is infinity" in told
    with pytest.raises(DataError, match=r"Variable 'x': -?inf is infinity"):
        cn.load(model).query("sex", {"x": float(value)})


def test_infinity_in_a_file(tmp_path: Path) -> None:
    data = written(tmp_path / "t.csv", "x\n1.5\n1e999\n2.5\n")
    fit = "fit", data, "--learn", "chow-liu", "--bins", "2", "-o", tmp_path / "m.json"
    told = run(*fit, code=1).stderr
    assert "Column 'x': infinity, or a number too large to be cut, in row 2 (counted" in told


# ----------------------------------------------------------------------------- reading


def test_blanks_around_values_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'a,b\n" no ",1 \n" no ",2\nyes,3\n')
    with pytest.warns(DataWarning, match=r"Column 'a': blanks around 'no' \(2 rows\) were removed"):
        assert cn.read(path)["a"] == ["no", "no", "yes"]


def test_an_empty_line_of_one_column_is_a_missing_value(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "\na\n1\n\n2\n\n\n")
    with pytest.warns(DataWarning, match="one column, and an empty line was read as a missing"):
        assert cn.read(path)["a"] == [1, None, 2]
    path.write_text("a,b\n1,2\n\n3,4\n")
    assert cn.read(path)["a"].tolist() == [1, 3]


@pytest.mark.filterwarnings("ignore")
def test_dates_of_a_parquet_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    dates = pd.date_range("2020-01-01", periods=4)
    frame = pd.DataFrame({"the date": dates, "a": list("xyxy")})
    frame.to_parquet(tmp_path / "t.parquet")
    fit = "fit", tmp_path / "t.parquet", "--learn", "chow-liu", "-o", tmp_path / "m.json"
    assert "Column 'the date' (dates or times, 4 different): left out." in run(*fit).stderr
    told = run(*fit, "--overwrite", "--keep", "the date", code=1).stderr
    assert "Column 'the date': dates are not states. Hint: leave the column out with " in told
    assert "--ignore 'the date', or turn it into parts such as the month." in told
    with pytest.raises(ColonnadeError, match="durations are not states"):
        cn.fit(pd.DataFrame({"a": dates - dates[0]}), cn.Dag([], ["a"]))


# ----------------------------------------------------------------------------- wording


def test_states_that_look_alike_are_grouped() -> None:
    table = {"a": ["No", "no", "Yes", "yes"]}
    with pytest.warns(DataWarning, match="states 'No' and 'no'; 'Yes' and 'yes' differ only by"):
        cn.fit(table, cn.Dag([], ["a"]))


def test_columns_before_the_first_name(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", ",,a,b\n1,2,x,y\n2,3,y,x\n")
    with pytest.warns(DataWarning, match="columns 1 to 2 have no name.* give them names in the"):
        cn.read(path)


def test_names_that_are_values(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "Chinstrap,Dream\nChinstrap,Dream\nAdelie,Biscoe\n")
    with pytest.warns(DataWarning, match="'Dream' also occur as values of their columns"):
        cn.read(path)


def test_a_file_that_ends_too_early(tmp_path: Path) -> None:
    path = written(tmp_path / "m.json", '{"format": "colon')
    with pytest.raises(ColonnadeError, match=r"it is not JSON \(unterminated string\)\."):
        cn.load(path)


def test_a_command_with_a_slip() -> None:
    told = run("qury", code=2).stderr
    assert "'qury' is not a command. Hint: did you mean 'query'?\n" in told

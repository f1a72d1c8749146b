"""Columns that identify rows are told before the work begins; others are not."""

import datetime as dt
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import colonnade as cn
from colonnade.exceptions import ColumnWarning, DataError
from colonnade.tables import encode
from command_line import run

ROWS = 40
RNG = np.random.default_rng(0)
NAMES = [f"patient {k}" for k in RNG.permutation(ROWS)]
DAYS = [str(dt.date(2024, 1, 1) + dt.timedelta(int(k) // 1)) for k in range(ROWS)]

IDENTIFYING: dict[str, Any] = {
    "numbers": np.arange(ROWS),
    "floats": np.arange(ROWS, dtype=float),
    "shuffled": RNG.permutation(ROWS) + 1000,
    "list": list(range(ROWS)),
    "half": NAMES[: ROWS // 2] * 2,
    "names": NAMES,
    "series": pd.Series(NAMES),
    "category": pd.Series(pd.Categorical(NAMES)),
    "enum": pl.Series(NAMES, dtype=pl.Enum(sorted(NAMES))),
    "gaps": [*NAMES[:-5], *[None] * 5],
    "CustomerId": RNG.choice(10**9, ROWS, replace=False),
    "row_id": RNG.choice(10**9, ROWS, replace=False),
    "days": DAYS * 8,
    "times": [f"{day} 12:30:00" for day in DAYS] * 8,
    "german days": [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in DAYS] * 8,
}
DESCRIBING: dict[str, Any] = {
    "few rows": NAMES[:19],
    "third": NAMES[: ROWS // 3] * 3,
    "few values": list("abcdefghij") * 2,
    "text": [f"word {k % 35}" for k in range(320)],
    "month": [f"2024-{1 + k % 12:02}-01" for k in range(80)],
    "integers": list(range(16)) * 20,
    "booleans": [True, False] * ROWS,
}


@pytest.mark.parametrize("name", IDENTIFYING)
def test_what_identifies_rows(name: str) -> None:
    values = IDENTIFYING[name]
    with pytest.warns(ColumnWarning) as caught:
        coded = encode({name: values, "y": ["a", "b"] * (len(values) // 2)})
    (told,) = caught
    states, rows = len(set(values) - {None}), len(values) - coded.missing[0]
    assert str(told.message) == (
        f"Column {name!r} ({states} different values in {rows} rows): seems to identify rows, not "
        f"to describe them. Hint: leave out what does not describe rows, with "
        f"table.drop(columns=[{name!r}])."
    )
    assert told.filename == __file__


@pytest.mark.parametrize("name", DESCRIBING)
def test_what_does_not(name: str) -> None:
    encode({name: DESCRIBING[name]})


def test_many_numbers_that_repeat_are_to_be_cut() -> None:
    for values in (RNG.permutation(99) % 30, RNG.choice(10**9, 99, replace=False)):
        for table in ({"age": values}, {"age": values.astype(float)}):
            with pytest.warns(ColumnWarning, match=r"Column 'age' \(\d+ different .* discretize"):
                encode(table)
    encode({"age": np.arange(400) % 30})


def test_declared_states_are_no_surprise() -> None:
    encode({"id": NAMES}, {"id": NAMES})
    encode({"id": NAMES}, [cn.Variable("id", NAMES)])


@pytest.mark.parametrize(
    "work",
    [
        lambda table: cn.fit(table, cn.Dag([("id", "y")])),
        lambda table: cn.fit(table, cn.Dag([("id", "y")]), missing="em"),
        cn.hill_climb,
        lambda table: cn.tan(table, "y"),
        lambda table: cn.naive_bayes(table, "y"),
        lambda table: cn.hill_climb(cn.discretize(table)),
        lambda table: cn.compare(table, [cn.hill_climb, cn.Dag([("id", "y")])]),
        lambda table: cn.arc_strength(table, cn.hill_climb, 3),
        lambda table: cn.score(table, cn.Dag([("id", "y")])),
    ],
    ids=[
        *("fit", "em", "hill_climb", "tan", "naive", "discretize"),
        *("compare", "arc_strength", "score"),
    ],
)
def test_everything_that_takes_a_table_says_so_once(work: Any) -> None:
    table = {"id": NAMES, "name": NAMES, "y": ["a", "b"] * (ROWS // 2)}
    with pytest.warns(ColumnWarning, match=r"Columns? 'id' .*identify rows") as caught:
        work(table)
    assert len(caught) == 1


def test_integers_that_identify_rows_are_told_when_they_are_cut() -> None:
    with pytest.warns(ColumnWarning) as caught:
        cn.discretize({"number": np.arange(ROWS)})
    first, second = (str(each.message) for each in caught)
    assert "were cut into intervals" in first
    assert "seems to identify rows" in second
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cn.discretize({"number": np.arange(ROWS)}, {"number": 3})


@pytest.mark.parametrize("command", ["compare", "fit", "group"])
def test_the_command_line_says_it_once(command: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    numbers = [k % 13 for k in range(ROWS)]
    lines = [f"{NAMES[k]},{numbers[k]},{'ab'[k % 2]},{'pqr'[k % 3]}" for k in range(ROWS)]
    path.write_text("\n".join(["name,number,y,site", *lines, ",1,,p"]) + "\n")
    more = {
        "compare": ("compare", path, "--learn", "hc", "--prior", "bdeu", "--prior", "symmetric"),
        "fit": ("fit", path, "--learn", "hc", "-o", tmp_path / "model.json"),
        "group": ("fit", path, "--learn", "hc", "--group", "site", "-o", tmp_path / "model.json"),
    }[command]
    told = run(*more, "--missing", "available").stderr.splitlines()
    for words in ("seems to identify rows", "were cut into intervals", "rows are used for"):
        assert sum(words in line for line in told) == 1, told


def test_dates_are_no_states() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=ROWS)})
    with pytest.raises(DataError, match=r"Column 'day': dates are not states. Hint: leave the col"):
        encode(frame)


def test_the_command_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = [f"{k},{NAMES[k]},{'ab'[k % 2]},{k % 13}" for k in range(ROWS)]
    path.write_text("\n".join(["PassengerId,the name,y,age", *lines]) + "\n")
    fitted = "fit", path, "--learn", "naive", "--target", "y", "-o", tmp_path / "model.json"
    told = run(*fitted).stderr
    assert (
        "Warning: Columns 'PassengerId' (seems to identify rows: 40 different values in 40 rows) "
        "and 'the name' (seems to identify rows: 40 different values in 40 rows): left out. Hint: "
        "give --keep PassengerId --keep 'the name' to keep what you need.\n"
    ) in told
    assert "Column 'age' (13 different values): whole numbers, more than 10" in told
    assert set(cn.load(tmp_path / "model.json")) == {"y", "age"}
    ignored = *fitted, "--overwrite", "--ignore", "PassengerId", "--ignore", "the name"
    told = run(*ignored, "--bins", "3").stderr
    assert told == (
        "Warning: Column 'age' (13 different values): whole numbers, more than 10 different ones, "
        "were cut into intervals. Hint: say how with --bins age=4, or keep the values as states "
        "with --bins age=keep.\n"
    )
    assert run(*ignored, "--bins", "3", "--bins", "age=4").stderr == ""
    assert cn.load(tmp_path / "model.json")["age"].family.cardinality == 4
    assert "few rows have it" in run(*ignored, "--bins", "3", "--bins", "age=keep").stderr
    assert run(*ignored, "--bins", "age=2").stderr == ""

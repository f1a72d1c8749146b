"""What is said about a table before anything is learned, and that learning does just that."""

import datetime as dt
import json
import re
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import colonnade as cn
from colonnade.exceptions import ColumnWarning, DataError, DataWarning, InputError
from colonnade.tables import Bins, Cuts
from command_line import plain_terminal, run

ROWS = 150


def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "patient": [f"P{k:03d}" for k in range(ROWS)],
        "day": [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(ROWS)],
        "seen": [dt.date(2024, 1, 1) + dt.timedelta(k) for k in range(ROWS)],
        "age": rng.integers(20, 90, ROWS),
        "bmi": rng.normal(26, 4, ROWS).round(1),
        "stage": [k % 3 for k in range(ROWS)],
        "smoker": [("yes", "no", "No ")[k % 3] for k in range(ROWS)],
        "ill": [k % 7 == 0 for k in range(ROWS)],
        "constant": ["a"] * ROWS,
        "empty": [None] * ROWS,
        "rare": ["x" if k % 5 == 0 else None for k in range(ROWS)],
        "strange": [{1} for _ in range(ROWS)],
    }


def test_every_column_is_described() -> None:
    found = cn.inspect(table())
    assert {each.name: (each.kind, each.fate) for each in found.columns} == {
        "patient": ("text", "left out"),
        "day": ("dates", "left out"),
        "seen": ("dates", "left out"),
        "age": ("integers", "cut"),
        "bmi": ("numbers", "cut"),
        "stage": ("integers", "states"),
        "smoker": ("text", "states"),
        "ill": ("booleans", "states"),
        "constant": ("text", "left out"),
        "empty": ("no values", "left out"),
        "rare": ("text", "left out"),
        "strange": ("other", "left out"),
    }
    assert found.left_out["patient"] == ("seems to identify rows: 150 different values in 150 rows")
    assert found.left_out["rare"] == "80 % of its values are missing"
    assert found.left_out["constant"] == "a single value"
    assert found.left_out["strange"] == "values such as {1} are not states"
    assert found["smoker"].remarks == ("states 'No ' and 'no' differ only by case or blanks",)
    assert found["stage"].counts == (50, 50, 50)
    assert sum(found["bmi"].counts) == ROWS
    assert found.title == "150 rows, 12 columns, 5 used"


def test_it_says_what_discretize_does() -> None:
    rows = {name: column for name, column in table().items() if name in ("age", "bmi", "stage")}
    with pytest.warns(ColumnWarning):
        cut = cn.discretize(rows, 4)
    assert cn.inspect(rows, 4).discretizer == cut.discretizer


def test_what_is_kept_is_used() -> None:
    found = cn.inspect(table(), keep=["patient", "constant"])
    assert {"patient", "constant"} <= set(found.used)
    assert found["constant"].states == ("a",)
    with pytest.raises(DataError, match="'height': not in the table"):
        cn.inspect(table(), keep=["height"])
    with pytest.raises(DataError, match="are not states"):
        cn.inspect(table(), keep=["strange"])


def test_few_rows_are_not_judged() -> None:
    assert cn.inspect({"x": ["a", "a"], "y": [1, None]}).left_out == {}
    assert cn.inspect({"x": [None, None]}).left_out == {"x": "no values"}


def test_codes_of_missing_values_come_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,a\nNA,?\n2,b\n,b\n")
    with pytest.warns(DataWarning):
        found = cn.inspect(cn.read(path))
    assert (found["x"].missing, dict(found["x"].codes)) == (2, {"NA": 1})
    assert (found["y"].missing, dict(found["y"].codes)) == (1, {"?": 1})
    assert found["x"].gaps == "2 (NA)"


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([0, 1, 2, 3, -9, -9], "-9 (2 rows) may stand for a missing value"),
        ([20.5, 31.5, 84.5, 999.0], "999 (1 row) may stand for a missing value"),
        ([0, 1, 2, 3, 4], ""),
        ([-12, -9, 0, 5], ""),  # below zero like others
        ([20, 60, 85, 99], ""),  # old, and no farther away than others are apart
        ([0, -9], ""),
    ],
)
def test_numbers_that_may_be_codes_are_named(numbers: list[float], told: str) -> None:
    found = cn.inspect({"x": numbers})["x"]
    assert (found.doubtful, found.remarks) == (told, (told,) if told else ())
    whole = cn.inspect({"x": [*numbers, *range(21, 60)]}) if told.startswith("-9") else None
    if whole is not None:  # cut numbers, too
        assert whole["x"].fate == "cut"
        with (
            pytest.warns(DataWarning, match=r"Column 'x': -9 \(2 rows\) may stand"),
            pytest.warns(ColumnWarning, match="whole numbers"),
        ):
            whole.warn()


def test_numbers_spoilt_by_a_word_do_not_identify_rows(tmp_path: Path) -> None:
    values = [*(f"{k / 7:.3f}" for k in range(60)), "unknown"]
    assert cn.inspect({"x": values}).left_out == {"x": "text, not numbers, because of 'unknown'"}


def test_as_a_frame_and_as_plain_values() -> None:
    found = cn.inspect(table())
    frame = found.to_frame()
    assert frame.loc["age", "use"] == "cut"
    assert list(frame.index) == [each.name for each in found.columns]
    plain = found.to_dict()
    assert plain["columns"][4]["cuts"] == list(found.discretizer.columns[1].points)
    assert "patient  | text" in repr(found)


# ----------------------------------------------------------------- own cut points


def test_own_cut_points_with_names() -> None:
    cuts = Cuts("bmi", [18.5, 25, 30], ["thin", "normal", "heavy", "obese"])
    rows = {"bmi": [18.5, 18.6, 31.0, None], "age": [1, 2, 3, 4]}
    cut = cn.discretize(rows, {"bmi": cuts})
    assert cut.table["bmi"].tolist() == ["thin", "normal", "obese", None]
    plain = cn.discretize(rows, {"bmi": [20, 30], "age": 2})
    assert plain.table["bmi"].tolist() == ["up to 20", "up to 20", "above 30", None]
    assert cn.inspect(rows, {"bmi": cuts})["bmi"].states == cuts.states
    for wrong in ({"bmi": [3, 2]}, {"bmi": Cuts("age", [3])}, {"bmi": "3"}):
        with pytest.raises(InputError):
            Bins.of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bmi", "COLUMN: NUMBERS or COLUMN: NUMBERS = NAMES for --cut, got 'bmi'"),
        ("bmi: 1, x", "for --cut, got 'bmi: 1, x'"),
        ("bmi: 1 2", "numbers separated by commas for --cut, got '1 2'"),
        ("bmi: 2, 1", "increasing finite numbers for --cut"),
        ("bmi: 1, 2 = a, b", "3 names, one more than there are points, for --cut, got 2: a, b"),
        ("bmi: 1 = a, a", "2 different strings, one per interval of 'bmi', for --cut"),
    ],
)
def test_wrong_cuts_are_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    plain_terminal(monkeypatch)
    path = tmp_path / "data.csv"
    path.write_text("bmi\n1.5\n2.5\n")
    assert message in run("inspect", path, "--cut", text, code=2).stderr


def test_fit_keeps_named_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)
    path, model = tmp_path / "data.csv", tmp_path / "model.json"
    path.write_text("the bmi,y\n" + "".join(f"{k / 2},{'ab'[k % 2]}\n" for k in range(60)))
    cut = "the bmi: 5, 20 = thin, normal, heavy"
    run("fit", path, "--cut", cut, "--learn", "chow-liu", "-o", model)
    network = cn.load(model)
    assert network["the bmi"].family.child.states == ("thin", "normal", "heavy")
    assert network["the bmi"].counts is not None
    asked = run("query", model, "y", "--observed", "the bmi=7").stdout
    assert "given the bmi = normal" in asked


# ------------------------------------------------------------ tables that are not in memory


def everything(rows: int = 300) -> dict[str, list[Any]]:
    rng = np.random.default_rng(7)
    texts = np.array(["yes", "no", "Yes", None], dtype=object)
    return {
        "smoker": texts[rng.integers(0, 4, rows)].tolist(),
        "id": (np.arange(rows) * 7 + 1000).tolist(),
        "stage": rng.integers(1, 5, rows).tolist(),
        "age": [None if k % 9 == 0 else int(k) for k in rng.integers(18, 90, rows)],
        "bmi": [-9.0 if k % 30 == 0 else round(k, 3) for k in rng.normal(25, 4, rows).tolist()],
        "score": rng.normal(0, 1, rows).tolist(),
        "ill": (rng.random(rows) < 0.3).tolist(),
        "name": [f"person {k}" for k in range(rows)],
        "empty": [None] * rows,
        "single": ["x"] * rows,
        "seldom": ["x" if k % 4 == 0 else None for k in range(rows)],
        "day": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(rows)],
    }


def elsewhere(kind: str, folder: Path) -> tuple[Any, Any]:
    """Return the same table in memory and elsewhere."""
    table = pa.table(everything() | {"empty": pa.nulls(300, pa.string())})
    if kind == "csv":
        for k in range(3):
            pyarrow.csv.write_csv(table.slice(100 * k, 100), folder / f"{k}.csv")
        pyarrow.csv.write_csv(table, folder / "all.csv")
        return cn.read(folder / "all.csv"), f"{folder}/[0-9].csv"
    if kind == "parquet":
        pq.write_table(table, folder / "a.parquet", row_group_size=70)
        return table, [folder / "a.parquet"]
    if kind == "polars":
        return pl.from_arrow(table), pl.from_arrow(table).lazy()
    if kind == "duckdb":
        return table, duckdb.from_arrow(table)
    if kind == "dask":
        import dask.dataframe as dd

        frame = pl.from_arrow(table).to_pandas()
        return frame, dd.from_pandas(frame, npartitions=3)
    import ibis

    return table, ibis.memtable(table)


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "duckdb", "dask", "ibis"])
def test_tables_elsewhere_are_described_as_in_memory(kind: str, tmp_path: Path) -> None:
    here, there = elsewhere(kind, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = cn.inspect(here), cn.inspect(there)
        for own, other in zip(found.columns, expected.columns, strict=True):
            assert own == other
        assert found.rows == 300
        cuts = {"bins": {"stage": 2, "bmi": [20, 30]}, "keep": ["id", "name", "single"]}
        assert cn.inspect(there, **cuts).columns == cn.inspect(here, **cuts).columns


def test_dates_and_categories_of_files(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=40)
    order = pd.Categorical(["low", "high"] * 20, ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"day": days, "level": order, "nested": [[1]] * 40})
    frame.to_parquet(tmp_path / "a.parquet")
    found, expected = cn.inspect(tmp_path / "a.parquet"), cn.inspect(frame)
    assert found["day"] == expected["day"]
    assert found["level"] == expected["level"]
    assert found["nested"].fate == "left out"


def test_more_values_than_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colonnade.tables.tallies.MAX_EXACT", 50)
    pq.write_table(pa.table(everything()), tmp_path / "a.parquet", row_group_size=70)
    found = cn.inspect(tmp_path / "a.parquet", memory="1 MB")
    assert found["name"].reason == "seems to identify rows: more than 50 different values"
    assert found["id"].reason == "seems to identify rows: more than 50 different values"
    exact = cn.inspect(everything())
    for name in ("bmi", "score", "age"):
        assert found[name].cuts == exact[name].cuts
        assert found[name].counts == exact[name].counts
        assert found[name].missing == exact[name].missing
        assert found[name].guessed == exact[name].guessed
    assert found["smoker"] == exact["smoker"]


def test_patterns_large_files_and_databases_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_terminal(monkeypatch)
    rows = pa.table(everything() | {"empty": pa.nulls(300, pa.string())})
    for k in range(2):
        pyarrow.csv.write_csv(rows.slice(150 * k, 150), tmp_path / f"{k}.csv")
    pyarrow.csv.write_csv(rows, tmp_path / "all.csv")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT * FROM rows")
        connection.execute("CREATE TABLE others AS SELECT 1 AS a")
    more = ["--recode", "smoker: Yes = yes", "--order", "stage: 4, 3, 2, 1", "--bins", "3"]
    more += ["--cut", "age: 30, 60", "--ignore", "day", "--keep", "id", "--json"]
    (whole, pattern, large, database) = (
        json.loads(run("inspect", *path, *more).stdout)["columns"]
        for path in (
            [tmp_path / "all.csv"],
            [tmp_path / "[01].csv"],
            [tmp_path / "all.csv", "--memory", "2kB"],
            [tmp_path / "clinic.duckdb", "--table", "visits"],
        )
    )
    assert pattern == whole
    assert large == whole
    for one, other in zip(database, whole, strict=True):
        assert one | {"missing_codes": {}, "remarks": []} == other | {
            "missing_codes": {},
            "remarks": [],
        }
    assert "for --table, got none" in run("inspect", tmp_path / "clinic.duckdb", code=1).stderr


def test_intervals_are_not_broken_at_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    name = "concentration_of_something_in_blood_plasma_at_noon"
    numbers = np.random.default_rng(0).normal(size=60) * 12345.678
    rows = "\n".join(f"{number:.3f},{'xy'[k % 2]}" for k, number in enumerate(numbers))
    (tmp_path / "rows.csv").write_text(f"{name},s\n{rows}\n")
    told = run("inspect", tmp_path / "rows.csv").stdout
    lines = told.splitlines()
    assert max(map(len, lines[1:])) <= 80
    intervals = re.findall(r"(?:up to|above|[-.\d]+ to) [-.\d]+ \(12\)", told)
    assert len(intervals) == 5
    assert name not in told  # which gave way
    assert name == "".join(line[:20].strip() for line in lines[2:5])

"""Tables that cannot be used as they are: what is said of them names the cause and one action."""

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade as cn
from colonnade.cli.messages import spellings, worded
from colonnade.exceptions import (
    AbsentFileError,
    Advice,
    DataError,
    FileFormatError,
    InputError,
    MissingExtraError,
)
from command_line import flat, plain_terminal, run

DAG = cn.Dag([("a", "b")])


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


# ------------------------------------------------------------------------------- no rows


def test_a_file_with_only_names_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("b;a\n")
    (tmp_path / "2.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "3.csv").write_text("a,b\n")
    (tmp_path / "4.csv").write_text("a,b\n1,3\n")
    whole = cn.fit({"a": [1, 2, 1], "b": [2, 3, 3]}, DAG)
    assert cn.fit(f"{tmp_path}/*.csv", DAG) == whole
    assert cn.encode(f"{tmp_path}/*.csv").codes[0].tolist() == [0, 1, 0]
    # A file that lacks a column is wrong also without rows.
    (tmp_path / "5.csv").write_text("a,c\n")
    with pytest.raises(FileFormatError, match=r"5.csv': no column 'b'"):
        cn.fit(f"{tmp_path}/*.csv", DAG)
    with pytest.raises(DataError, match=r"1.csv': it and 1 more file have names"):
        cn.fit([tmp_path / "1.csv", tmp_path / "3.csv"], DAG)
    with pytest.raises(DataError, match=r"3.csv': it has names of columns but no rows\. Hint"):
        cn.fit(tmp_path / "3.csv", DAG)


def without_rows(kind: str, folder: Path) -> Any:
    if kind == "dictionary":
        return {"a": [], "b": []}
    if kind == "pandas":
        return pd.DataFrame({"a": [], "b": []})
    if kind == "Polars, lazy":
        return pl.LazyFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.Int64})
    if kind == "Parquet":
        path = folder / "none.parquet"
        pq.write_table(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], "int8")}), path)
        return path
    import duckdb

    return duckdb.connect().execute("CREATE TABLE t(a TEXT, b INT)").table("t")


@pytest.mark.parametrize("kind", ["dictionary", "pandas", "Polars, lazy", "Parquet", "DuckDB"])
def test_a_table_without_rows_blames_no_column(kind: str, tmp_path: Path) -> None:
    table = without_rows(kind, tmp_path)
    for learn in (lambda: cn.fit(table, DAG), lambda: cn.hill_climb(table)):
        with pytest.raises(DataError) as error:
            learn()
        assert str(error.value) == "Table: it has no rows. Hint: give at least one row."
    # With declared states there is nothing to be found out: the tables are those of the prior.
    declared = {"a": ["x", "y"], "b": [1, 2]}
    assert cn.fit(table, DAG, variables=declared)["a"].counts.total == 0


# --------------------------------------------------------------------------------- hints


def commands() -> dict[str, Any]:
    import typer

    from colonnade.cli.app import app

    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_hints_name_options_that_the_command_has() -> None:
    error = DataError("Column 'x'", "something.", Advice.CUT, column="x")
    everything = commands()
    for advice in (
        Advice.ONE_WAY,
        Advice.CUT,
        Advice.DECLARE_STATES,
        Advice.DECLARE_ORDER,
        Advice.LEAVE_OUT_DATES,
        Advice.LEAVE_OUT,
    ):
        error = DataError("Column 'x'", "something.", advice, column="x")
        for name in ("count", "structure", "compare", "fit", "inspect"):
            own = {option for each in everything[name].params for option in each.opts}
            text = worded(error, spellings(everything[name].params))
            assert "Hint: " in text
            assert set(re.findall(r"--[a-z-]+", text)) <= own


def test_count_says_what_count_can_do(tmp_path: Path) -> None:
    data, arcs = tmp_path / "data.csv", tmp_path / "arcs.csv"
    arcs.write_text("a,b\n")
    command = ["count", data, "--dag", arcs, "-o", tmp_path / "counts.json"]
    data.write_text("a,b\n1,x\n2,y\n,x\n")
    told = flat(run(*command, "--missing", "raise", code=1).stderr)
    assert told.endswith("family by family, or fit with --missing em.")
    data.write_text("a,b\n1.5,x\n2,y\n")
    told = flat(run(*command, code=1).stderr)
    assert told.endswith("cut them at the same points in all parts, with --cut 'a: 1, 2'.")
    told = flat(run("count", tmp_path / "a.xlsx", *command[2:], code=1).stderr)
    assert "for DATA, got" in told
    assert told.endswith("Hint: save the data as one of these.")


def test_files_that_are_named_are_told_of_scan_as_well_as_of_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1,x\n1,y\n2,x\n")
    with pytest.warns(
        cn.exceptions.DataWarning, match="give header=False to read or scan if it is"
    ):
        cn.encode(path)
    assert cn.encode(cn.scan(path, header=False)).rows == 3


def test_values_that_an_engine_cannot_convert_are_no_matter_of_connections() -> None:
    import duckdb

    text = pl.LazyFrame({"a": ["1", "x"], "b": ["u", "v"]})
    relation = duckdb.sql("SELECT CAST(x AS INT) AS a, 'u' AS b FROM (VALUES ('1'), ('x')) t(x)")
    for table in (text.with_columns(pl.col("a").cast(pl.Int64)), relation):
        with pytest.raises(DataError, match=r"Hint: correct the values, or what the table comp"):
            cn.fit(table, DAG)
    with pytest.raises(DataError, match=r"Hint: see that its connection is open"):
        cn.fit(pl.scan_parquet("/nowhere/at/all.parquet"), DAG)


# ------------------------------------------------------------------------- names and paths


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    import duckdb

    columns = [pa.array([1, 2])] * 4
    used = pa.table(columns, names=["a", "a", "b", "c"])
    unused = pa.table(columns, names=["a", "b", "c", "c"])
    pq.write_table(used, tmp_path / "used.parquet")
    pq.write_table(unused, tmp_path / "unused.parquet")
    (tmp_path / "used.csv").write_text("a,a,b\n1,2,3\n2,2,2\n")
    two = r"used.parquet': 2 columns are called 'a'\. Hint: give each column a name of its own"
    for call in (cn.read, lambda path: cn.fit(path, DAG)):
        with pytest.raises(FileFormatError, match=two):
            call(tmp_path / "used.parquet")
    with pytest.raises(DataError, match="Hint: several columns are called 'a': give each a name"):
        cn.fit(tmp_path / "used.csv", DAG)
    for table in (used, used.to_pandas(), duckdb.sql("SELECT 1 AS a, 2 AS a, 3 AS b")):
        with pytest.raises(DataError, match=r"Column 'a': the name occurs 2 times\."):
            cn.fit(table, DAG)
    # Nobody minds names that are not used.
    relation = duckdb.sql("SELECT x AS a, x AS b, 2 AS c, 3 AS c FROM (VALUES (1), (2)) t(x)")
    for table in (unused, tmp_path / "unused.parquet", relation):
        assert cn.fit(table, DAG)["a"].counts.total == 2


def test_patterns_that_fit_nothing_and_empty_lists(tmp_path: Path) -> None:
    (tmp_path / "folder1").mkdir()
    with pytest.raises(
        AbsentFileError, match=r"for `table`, got '.*x\*.csv', which fits none\. Hint"
    ):
        cn.fit(f"{tmp_path}/x*.csv", DAG)
    with pytest.raises(
        AbsentFileError, match=r"fits only folders\. Hint: write .*folder\*/\*\.par"
    ):
        cn.fit(f"{tmp_path}/folder*", DAG)
    with pytest.raises(
        InputError, match=r"at least one path for `table`, got \[\]\. Hint: see that"
    ):
        cn.fit([], DAG)
    pattern, arcs = tmp_path / "x*.csv", tmp_path / "arcs.csv"
    arcs.write_text("a,b\n")
    told = run("count", pattern, "--dag", arcs, "-o", tmp_path / "counts.json", code=1).stderr
    assert flat(told).startswith("Error: Expected a pattern that fits at least one file for DATA")


# ---------------------------------------------------------------------------- damaged files


@pytest.mark.parametrize("lines", [3, 80_000])
@pytest.mark.parametrize(
    ("bad", "place", "told"),
    [
        ('"x,3\n', "line {0}", "a double quote that opens a value is never closed."),
        ('"x,3\n1,"y"\n', "lines {0} to {1}", "not valid CSV (',' expected after '\"')."),
        ('1,"' + "y" * 140_000 + "\n", "line {0}", "more than 131,072 characters."),
        ('1,"x\n', "line {0}", "a double quote that opens a value is never closed."),
        ('1,"3\n', "line {0}", "a double quote that opens a value is never closed."),
        ("1,y\0\n", "line {0}", "it holds a NUL byte"),
        ("\0\0\0\0", "line {0}", "it holds a NUL byte"),
    ],
)
def test_the_line_where_it_begins_is_named(
    lines: int, bad: str, place: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * lines + bad + "1,2\n" * 10 * ("3\n" in bad))
    where = place.format(lines + 2, lines + 3)
    for call in (lambda: cn.read(path), lambda: cn.fit(path, DAG)):
        with pytest.raises(FileFormatError) as error:
            call()
        assert f"data.csv', {where}: " in str(error.value)
        assert told in str(error.value)
        assert error.value.hint


def test_damaged_files_have_a_hint(tmp_path: Path) -> None:
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    (tmp_path / "cut.csv.gz").write_bytes(content[:-9])
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing else")
    for name in ("cut.csv.gz", "cut.parquet"):
        for call in (cn.read, lambda path: cn.fit(path, DAG)):
            with pytest.raises(FileFormatError, match="Hint: copy the file again, or give it"):
                call(tmp_path / name)


def test_parquet_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    from colonnade.cli.commands import predict as command
    from colonnade.tables import packages

    rows = {"a": ["x", "y"], "b": ["u", "v"]}
    cn.fit(rows, DAG).save(tmp_path / "model.json")
    (tmp_path / "data.csv").write_text("a,b\nx,u\ny,v\n")

    def absent(*_: Any, **more: Any) -> Any:
        raise MissingExtraError("Writing a Parquet file", package="pyarrow", extra="formats")

    def work(*_: Any, **more: Any) -> Any:
        raise AssertionError("it has begun to work")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(packages, "require", absent)
    monkeypatch.setattr(command, "load", work)
    model, data, out = (tmp_path / name for name in ("model.json", "data.csv", "out.parquet"))
    told = run("predict", model, data, "--target", "b", "-o", out, code=1).stderr
    assert "Writing a Parquet file needs the package 'pyarrow'." in flat(told)


# ------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("weights", [["1", "2", "3"], ["1", "two", "3"]])
def test_weights_are_numbers_in_every_kind_of_table(weights: list[str], tmp_path: Path) -> None:
    import duckdb

    columns = {"a": ["x", "y", "x"], "b": ["u", "v", "v"], "n": weights}
    arrow = pa.table(columns)
    pq.write_table(arrow, tmp_path / "data.parquet")
    for table in (
        columns,
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"n": object}),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        arrow,
        tmp_path / "data.parquet",
        duckdb.from_arrow(arrow),
    ):
        with pytest.raises(DataError, match=r"Column 'n': .* cannot be (a weight|weights)\. Hint"):
            cn.fit(table, DAG, weights="n")
    with pytest.raises(DataError, match="cannot be a weight"):
        cn.fit(columns, DAG, weights=np.array(weights, dtype=object))

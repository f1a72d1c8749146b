"""Tables that cannot be used as they are: what is said of them names the cause and one action."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade as cn
from colonnade.exceptions import DataError, FileFormatError
from command_line import plain_terminal

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

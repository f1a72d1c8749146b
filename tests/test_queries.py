"""Lazy tables, relations and databases: the same answers as from the table in memory."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import colonnade as cn
import engine_cases
from colonnade.exceptions import DataError, InputError, MissingExtraError
from colonnade.tables import Cuts, Discretizer, encode
from colonnade.tables.countable import countable
from colonnade.tables.engines import DuckDb
from engine_cases import CASES, DAG, Make, data

KINDS: dict[str, Callable[[Path], Make]] = {
    "polars": lambda folder: lambda table: pl.from_arrow(table).lazy(),
    "polars scan": lambda folder: lambda table: _scanned(folder, table),
    "duckdb": lambda folder: duckdb.from_arrow,
    "duckdb file": lambda folder: lambda table: _database(folder, table),
    "ibis": lambda folder: lambda table: _ibis(table),
    "dask": lambda folder: lambda table: _dask(table),
}


def _scanned(folder: Path, table: pa.Table) -> Any:
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    pa.parquet.write_table(table, path, row_group_size=100)
    return pl.scan_parquet(path)


def _database(folder: Path, table: pa.Table) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return path / "visits"


def _ibis(table: pa.Table) -> Any:
    return pytest.importorskip("ibis").memtable(table)


def _dask(table: pa.Table) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    return dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)


@pytest.fixture(autouse=True)
def without_threads() -> Iterator[None]:
    """Let Dask count 240 rows in less time than it takes to start threads."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return KINDS[request.param](tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_engine_answers_as_memory_does(case: Callable[[Make], None], make: Make) -> None:
    case(make)


# ----------------------------------------------------------------- names, types, requests


@pytest.mark.parametrize("kind", ["polars", "duckdb", "ibis", "dask"])
def test_any_name_may_be_that_of_a_column(kind: str, tmp_path: Path) -> None:
    table = pa.table({"a.b": ["u", "v", "u"], 'x"y': [1, 2, 2], "sum": [True, False, True]})
    dag = cn.Dag([("a.b", 'x"y'), ('x"y', "sum")])
    engine_cases.same(cn.fit(KINDS[kind](tmp_path)(table), dag), cn.fit(table, dag))


def test_categories_keep_states_that_nobody_has() -> None:
    frame = pl.DataFrame({"x": ["b", "a"]}, schema={"x": pl.Enum(["c", "b", "a"])})
    assert countable(frame.lazy()).variables[0].states == ("c", "b", "a")
    relation = duckdb.sql("SELECT 'b'::ENUM('c', 'b', 'a') AS x")
    assert countable(relation).variables[0].states == ("c", "b", "a")
    texts = pl.DataFrame({"x": ["b", "a", None]}, schema={"x": pl.Categorical})
    assert countable(texts.lazy()).variables[0].states == ("a", "b")


def test_a_fit_is_one_request_and_families_share_group_bys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    grouped = DuckDb.grouped

    def spy(engine: DuckDb, frame: Any, sets: Any, weighted: bool) -> Any:
        asked.append(len(sets))
        return grouped(engine, frame, sets, weighted)

    monkeypatch.setattr(DuckDb, "grouped", spy)
    table = data(gaps=False).select(list(DAG.variables))
    cn.fit(duckdb.from_arrow(table), DAG)
    assert asked == [3]  # ill and its parents; number, smoker; town, whole
    opened, coded = countable(duckdb.from_arrow(table)), encode(table)
    assert opened.variables == coded.variables
    pairs = [(a, b) for a in DAG.variables for b in DAG.variables if a != b]
    asked.clear()
    assert opened.counts(pairs) == coded.counts(pairs)
    assert asked == [1]  # all pairs are margins of one joint table


@pytest.mark.parametrize("kind", ["polars", "duckdb", "ibis"])
def test_many_large_families_take_several_queries(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({f"v{k}": rng.integers(0, 3, 50) for k in range(70)})
    families = [(f"v{k}", f"v{(k + 1) % 70}") for k in range(70)]
    opened = countable(KINDS[kind](tmp_path)(table))
    assert opened.counts(families) == encode(table).counts(families)


def test_rows_keep_their_order(tmp_path: Path) -> None:
    table = data()
    network = cn.fit(table, DAG, missing="available")
    for kind in ("polars scan", "duckdb file", "dask"):
        mine = network.log_likelihood(KINDS[kind](tmp_path)(table))
        np.testing.assert_allclose(mine, network.log_likelihood(table), rtol=1e-12)


def test_a_table_that_changes_while_it_is_counted_is_refused() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS x, 'b' AS y")
        opened = countable(connection.table("t"))
        assert opened.rows == 1
        connection.execute("INSERT INTO t VALUES ('new', 'b')")
        with pytest.raises(DataError, match="new values appeared while it was counted"):
            opened.counts([("x", "y")])


# ------------------------------------------------------------------------- bad input


def test_a_database_is_named_like_a_folder_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'a' AS x UNION ALL SELECT 'b'")
    assert encode(path).variables[0].states == ("a", "b")
    assert encode(str(path / "visits")).rows == 2
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.visits AS SELECT 1 AS x")
    assert encode(f"{path}/old.visits").variables[0].states == (1,)
    with pytest.raises(InputError, match=r"got none; .* has 'visits', 'old.visits'.*duckdb/visits"):
        encode(path)
    with pytest.raises(InputError, match=r"Expected one of 'visits', 'old.visits' for `table`"):
        encode(path / "visit")
    with pytest.raises(InputError, match="an existing file"):
        encode(tmp_path / "none.duckdb" / "visits")
    wrong = tmp_path / "wrong.duckdb"
    wrong.write_text("x,y\n1,2\n" * 2000)
    with pytest.raises(DataError, match=r"wrong.duckdb': DuckDB cannot open it"):
        encode(wrong)


def test_a_database_is_asked_for_only_if_duckdb_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clinic.duckdb"
    path.touch()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match="install the extra 'duckdb'"):
        encode(path)


def test_a_closed_connection_is_a_clear_error() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 'a' AS x, 'b' AS y")
    connection.close()
    with pytest.raises(DataError, match=r"Table: DuckDB failed: .* Hint: see that its connection"):
        cn.fit(relation, cn.Dag([("x", "y")]))


def test_files_that_are_gone_are_a_clear_error(tmp_path: Path) -> None:
    lazy = _scanned(tmp_path, data())
    lazy.collect_schema()
    (tmp_path / "0.parquet").unlink()
    with pytest.raises(DataError, match="Table: Polars failed: "):
        cn.fit(lazy, DAG)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("DATE '2020-01-01'", "dates are not states"),
        ("TIME '12:00'", "times of day are not states"),
        ("[1, 2]", r"values of type List\(.*\) are not states"),
        ("{'a': 1}", r"values of type Struct\(.*\) are not states"),
    ],
)
def test_types_that_cannot_be_states_are_refused_before_anything_is_counted(
    value: str, problem: str
) -> None:
    relation = duckdb.sql(f"SELECT {value} AS x, 'b' AS y")
    with pytest.raises(DataError, match=f"Column 'x': {problem}"):
        cn.fit(relation, cn.Dag([("x", "y")]))


def test_infinity_is_not_cut() -> None:
    cutter = Discretizer([Cuts("x", [0.5])])
    lazy = pl.LazyFrame({"x": [1.0, float("inf"), None, float("nan")]})
    with pytest.raises(DataError, match="Column 'x': infinity"):
        assert countable(lazy, discretizer=cutter).rows
    lazy = pl.LazyFrame({"x": [1.0, 0.5, None, float("nan")]})
    opened = countable(lazy, discretizer=cutter)
    assert opened.missing == (2,)
    assert opened.counts([("x",)], "available")[0].values.tolist() == [[1, 1]]


def test_an_empty_table_has_no_states() -> None:
    lazy = pl.LazyFrame({"x": [], "b": []}, schema={"x": pl.String, "b": pl.Boolean})
    with pytest.raises(DataError, match="Table: it has no rows"):
        assert countable(lazy).rows
    assert countable(lazy, columns=["b"]).variables[0].states == (False, True)

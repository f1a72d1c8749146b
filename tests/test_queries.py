"""Lazy tables, relations and databases: the same answers as from the table in memory."""

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
from colonnade.exceptions import DataError, InputError
from colonnade.tables import encode
from colonnade.tables.countable import countable
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


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    return KINDS[request.param](tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_engine_answers_as_memory_does(case: Callable[[Make], None], make: Make) -> None:
    case(make)

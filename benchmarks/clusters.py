"""Fitting where the data are, against the bare group-bys of the same families by the same engine.

``python -m benchmarks.clusters polars duckdb ibis dask spark`` names the engines, all by default;
CLUSTER_ROWS says how many rows.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import print_table, shown
from colonnade.dag import Dag
from colonnade.network import fit
from colonnade.priors import BDeu
from colonnade.structure import hill_climb

VARIABLES = 20
# How to open a Parquet file, and how to group its rows by some columns.
Open = Callable[[str], Any]
Group = Callable[[Any, list[str]], Any]


def run(engines: list[str] | None = None) -> None:
    """Time everything and print the comparison."""
    rows = int(float(os.environ.get("CLUSTER_ROWS", 1e6)))
    dag = graph()
    families = [[*dag.parents(name), name] for name in dag.variables]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "rows.parquet"))
        write(path, rows)
        for name in engines or list(ENGINES):
            with ENGINES[name]() as (opened, group):
                table = opened(path)
                bare = timed(lambda t=table, g=group: [g(t, family) for family in families])
                ours = timed(lambda t=table: fit(t, dag, BDeu(1)))
                # Everything is compiled and connected by now.
                search = once(lambda t=table: hill_climb(t, max_parents=2))
            lines.append((name, bare, ours, search))
            print(f"{name}: {text(bare)}, {text(ours)}, {text(search)}", flush=True)
    print_table(
        f"{rows:,} rows of {VARIABLES} columns of text in Parquet, {len(families)} families; best "
        "of three, after one that does not count.\nProcessor time of all processes, and in "
        "brackets the wall. The ratio is of processor time.",
        ["engine", "bare group-bys", "fit", "ratio", "hill_climb, two parents at most"],
        [
            [name, text(bare), text(ours), f"{ours[0] / bare[0]:.2f}", text(search)]
            for name, bare, ours, search in lines
        ],
    )


def text(measured: tuple[float, float]) -> str:
    return f"{shown(measured[0])} ({shown(measured[1])})"


def graph() -> Dag:
    """Every variable has the two before it as parents."""
    names = [f"v{k}" for k in range(VARIABLES)]
    arcs = [(names[k - d], names[k]) for k in range(VARIABLES) for d in (1, 2) if k >= d]
    return Dag(arcs, names)


def write(path: str, rows: int) -> None:
    """Draw columns of text, each of which depends on the one before."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    columns, before = {}, np.zeros(rows, np.int64)
    for k in range(VARIABLES):
        states = 2 + k % 4
        codes = np.where(rng.random(rows) < 0.5, before % states, rng.integers(0, states, rows))
        labels = pa.array([f"state {s}" for s in range(states)])
        columns[f"v{k}"] = pa.DictionaryArray.from_arrays(pa.array(codes), labels)
        before = codes
    table = pa.table(columns)
    texts = pa.schema([(name, pa.string()) for name in columns])
    pq.write_table(table.cast(texts), path, row_group_size=max(1, rows // 8))


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[float, float]:
    """Least processor time, of this process and all below it, and least wall time."""
    call()
    found = [once(call) for _ in range(repeats)]
    return min(each[0] for each in found), min(each[1] for each in found)


def once(call: Callable[[], Any]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), processor_time()
    call()
    return processor_time() - processor, time.perf_counter() - wall


def processor_time() -> float:
    import psutil

    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        times = process.cpu_times()
        total += times.user + times.system
    return total


@contextmanager
def polars() -> Iterator[tuple[Open, Group]]:
    import polars as pl

    yield pl.scan_parquet, lambda lazy, family: lazy.group_by(family).agg(pl.len()).collect()


@contextmanager
def duckdb() -> Iterator[tuple[Open, Group]]:
    import duckdb

    with duckdb.connect() as connection:
        yield (
            connection.read_parquet,
            lambda table, family: table.aggregate(f"{', '.join(family)}, count(*)").fetchall(),
        )


@contextmanager
def ibis() -> Iterator[tuple[Open, Group]]:
    import ibis

    connection = ibis.duckdb.connect()
    yield connection.read_parquet, lambda table, family: table.group_by(family).count().to_pyarrow()


@contextmanager
def dask() -> Iterator[tuple[Open, Group]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster),
    ):
        yield (
            lambda path: dd.read_parquet(path, split_row_groups=True),
            lambda table, family: table.groupby(family, dropna=False).size().compute(),
        )


@contextmanager
def spark() -> Iterator[tuple[Open, Group]]:
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield session.read.parquet, lambda table, family: table.groupBy(family).count().toArrow()
    finally:
        session.stop()


ENGINES = {"polars": polars, "duckdb": duckdb, "ibis": ibis, "dask": dask, "spark": spark}


if __name__ == "__main__":
    run(sys.argv[1:] or None)

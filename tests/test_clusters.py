"""Spark and Dask with worker processes of their own: the same counts, also if a worker dies."""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
import pytest

import colonnade as cn
from colonnade.exceptions import DataError
from colonnade.tables import encode
from colonnade.tables.countable import countable
from engine_cases import CASES, DAG, NAMES, Make, data, same

# Spark says that pandas is newer than it knows; nothing here goes through pandas.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A cluster of two workers, each with a process of its own."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]").appName("colonnade")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.log.level": "OFF",
        # Queries of few rows take longer to compile than to run.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": _QUICK,
        "spark.executor.extraJavaOptions": _QUICK,
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def on_spark(spark: Any) -> Make:
    return spark.createDataFrame


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_spark_answers_as_memory_does(case: Callable[[Make], None], on_spark: Make) -> None:
    case(on_spark)


def queries_of(spark: Any, call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call returns, and how many jobs it ran on the cluster."""
    context, group = spark.sparkContext, f"counted {time.monotonic()}"
    context.setJobGroup(group, "counted")
    try:
        found = call()
        return found, len(context.statusTracker().getJobIdsForGroup(group))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


def test_fit_is_one_job_and_searches_are_few(spark: Any, on_spark: Make) -> None:
    table = on_spark(data(gaps=False).select(list(NAMES)))
    _, jobs = queries_of(spark, lambda: cn.fit(table, DAG))
    assert jobs == 1
    found, jobs = queries_of(spark, lambda: cn.hill_climb(table))
    # The states, all pairs, and then one request for each child whose parents changed.
    assert jobs <= 2 + 2 * (len(found.dag.arcs) + 1)
    _, jobs = queries_of(spark, lambda: cn.tan(table, "ill"))
    # The states, and all triples with the class, of which everything else is a margin.
    assert jobs == 2
    _, jobs = queries_of(spark, lambda: cn.structure.chow_liu(table))
    assert jobs == 2


def executors() -> set[int]:
    """Process numbers of Spark's workers."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


def with_a_death(call: Callable[[], Any], victim: Callable[[], int | None]) -> tuple[Any, int]:
    """Return what a call returns while a worker is killed, as soon as there is one, and which."""
    victims: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not victims:
            if (process := victim()) is not None:
                victims.append(process)
                os.kill(process, signal.SIGKILL)
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    found = call()
    killer.join()
    assert victims
    return found, victims[0]


def test_a_worker_of_spark_that_is_killed_changes_no_count(spark: Any, on_spark: Make) -> None:
    from pyspark.sql import functions

    table = data().select(list(NAMES))
    slow = on_spark(table).repartition(4)
    # Each row takes a while, so that there is a middle in which to die.
    wait = functions.expr("coalesce(java_method('java.lang.Thread', 'sleep', 10L), 'done')")
    slow = slow.withColumn("waited", wait).filter("waited <> 'never'")
    before = executors()
    assert len(before) == 2
    tracker = spark.sparkContext.statusTracker()

    def busy() -> int | None:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        at_work = any(stage is not None and stage.numActiveTasks >= 2 for stage in stages)
        return min(before) if at_work else None

    mine, dead = with_a_death(lambda: cn.fit(slow, DAG, missing="available"), busy)
    assert dead not in executors()
    same(mine, cn.fit(table, DAG, missing="available"))


def test_a_table_of_a_stopped_job_is_a_clear_error(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "gone.parquet"
    spark.createDataFrame(data()).write.parquet(str(path))
    table = spark.read.parquet(str(path))
    shutil.rmtree(path)
    with pytest.raises(DataError, match=r"Table: Spark failed: .*Hint: see that its connection"):
        cn.fit(table, DAG, missing="available")


# ------------------------------------------------------------------------------ Dask


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    """Two worker processes that are started again when they die."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        memory_limit="1GB",
        silence_logs=50,
    )
    client = distributed.Client(cluster)
    yield client
    client.close()
    cluster.close()


def on_dask(table: pa.Table) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=4)


def test_dask_answers_as_memory_does(dask_cluster: Any) -> None:
    table = data()
    same(
        cn.fit(on_dask(table), DAG, missing="available", weights="times"),
        cn.fit(table, DAG, missing="available", weights="times"),
    )
    table = data(gaps=False).select(list(NAMES))
    assert cn.hill_climb(on_dask(table)).dag == cn.hill_climb(table).dag


def test_a_worker_of_dask_that_is_killed_changes_no_count(
    dask_cluster: Any, tmp_path: Path
) -> None:
    table = data().select(list(NAMES))
    started = str(tmp_path / "started")

    def slowly(part: pd.DataFrame) -> pd.DataFrame:
        import pathlib
        import time

        if len(part):
            pathlib.Path(f"{started}-{os.getpid()}").touch()
            time.sleep(0.5)
        return part

    slow = on_dask(table)
    slow = slow.map_partitions(slowly, meta=slow._meta)

    def busy() -> int | None:
        names = (path.name.partition("-")[2] for path in tmp_path.glob("started-*"))
        return next(map(int, names), None)

    mine, dead = with_a_death(lambda: cn.fit(slow, DAG, missing="available"), busy)
    assert dead not in dask_cluster.run(os.getpid).values()
    same(mine, cn.fit(table, DAG, missing="available"))


def test_rows_of_a_cluster_can_be_gathered(dask_cluster: Any) -> None:
    table = data().select(list(NAMES))
    mine, yours = encode(on_dask(table)), encode(table)
    assert [c.tolist() for c in mine.codes] == [c.tolist() for c in yours.codes]
    assert countable(on_dask(table)).rows == 240


def test_what_dask_raises_is_told_as_an_error_of_the_table(dask_cluster: Any) -> None:
    def fails(part: Any) -> Any:
        raise RuntimeError("the disk is gone")

    table = on_dask(data())
    broken = table.map_partitions(fails, meta=table._meta)
    with pytest.raises(DataError, match="Table: Dask failed: the disk is gone"):
        cn.fit(broken, DAG, missing="available")

"""What can go wrong with files and engines: one clear sentence, in Python and on the command line,
and nothing left behind."""

import gzip
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import colonnade as cn
from colonnade.exceptions import ColonnadeError, DataError
from colonnade.tables.engines import Polars, engine_of
from command_line import flat, plain_terminal, run

DAG = cn.Dag([("a", "b")])
ROWS = 20_000


def table() -> pa.Table:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 3, ROWS) for _ in range(2))
    return pa.table({"a": [f"s{k}" for k in a], "b": [f"t{k}" for k in b], "n": range(ROWS)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    whole = table()
    pq.write_table(whole, folder / "good.parquet")
    pyarrow.csv.write_csv(whole, folder / "good.csv")
    pyarrow.feather.write_feather(whole, folder / "good.arrow")
    good = {kind: (folder / f"good.{kind}").read_bytes() for kind in ("parquet", "csv", "arrow")}
    for name, content in {
        "text.parquet": good["csv"],
        "text.arrow": good["csv"],
        "columns.csv": good["parquet"],
        "cut.parquet": good["parquet"][: len(good["parquet"]) // 2],
        "cut.arrow": good["arrow"][: len(good["arrow"]) // 2],
        "cut.csv.gz": gzip.compress(good["csv"])[:-5000],
        "text.duckdb": good["csv"],
        "lack1.csv": good["csv"],
        "lack2.csv": b"a,n\nx,1\n",
        "line1.csv": good["csv"],
        "line2.csv": good["csv"] + b"x,y\n",
    }.items():
        (folder / name).write_bytes(content)
    pq.write_table(whole, folder / "lack1.parquet")
    pq.write_table(whole.drop_columns(["b"]), folder / "lack2.parquet")
    pq.write_table(whole, folder / "types1.parquet")
    numbers = whole.set_column(0, "a", pa.array(range(ROWS)))
    pq.write_table(numbers, folder / "types2.parquet")
    cn.fit(whole, DAG).save(folder / "model.json")
    (folder / "arcs.csv").write_text("a,b\n")
    return folder


WRONG = {
    "text.parquet": "File 'text.parquet': not readable as Parquet",
    "text.arrow": "File 'text.arrow': not readable as Arrow",
    "columns.csv": "File 'columns.csv': it holds Parquet, not text.",
    "cut.parquet": "File 'cut.parquet': not readable as Parquet",
    "cut.arrow": "File 'cut.arrow': not readable as Arrow",
    "cut.csv.gz": "File 'cut.csv.gz': damaged gzip data",
    "text.duckdb": "File 'text.duckdb': DuckDB cannot open it",
    "lack*.csv": "File 'lack2.csv': no column 'b', which the first file has.",
    "lack*.parquet": "File 'lack2.parquet': no column 'b', which 'lack1.parquet' has.",
    "types*.parquet": "File 'types2.parquet': column 'a' holds numbers, but text in 'types1",
    "line*.csv": f"File 'line2.csv', line {ROWS + 2}: 2 values, but 3 columns in the header.",
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_are_wrong_are_named(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    plain_terminal(monkeypatch)
    before = sorted(folder.iterdir())
    for call in (
        lambda: cn.fit(name, DAG),
        lambda: cn.encode(name, columns=["a", "b"], memory="1 MB"),
        lambda: cn.load("model.json").log_likelihood(name),
    ):
        with pytest.raises(ColonnadeError) as error:
            call()
        assert str(error.value).startswith(WRONG[name])
    for command in (
        ["fit", name, "--dag", "arcs.csv", "-o", "out.json", "--memory", "2kB"],
        ["count", name, "--dag", "arcs.csv", "-o", "out.json"],
        ["predict", "model.json", name, "--target", "b", "-o", "out.csv", "--memory", "2kB"],
    ):
        result = run(*command, code=1)
        assert flat(result.stderr).startswith(f"Error: {WRONG[name]}")
        assert result.stdout == ""
    assert sorted(folder.iterdir()) == before


# ------------------------------------------------------------------------------ full disks


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a disk does that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("memory", ["2kB", "4GB"])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_predictions_that_find_no_room_leave_nothing(
    name: str, memory: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_terminal(monkeypatch)
    output = tmp_path / name
    data = [folder / "model.json", folder / "good.parquet", "--target", "b", "--draws", 0]
    command = ["predict", *data, "--memory", memory, "-o", output]
    with full_disk(4000):
        result = run(*command, code=1)
    assert flat(result.stderr).endswith(f"Error: '{output}': File too large.")
    assert "Saved" not in result.stdout
    assert list(tmp_path.iterdir()) == []
    output.write_text("kept")
    with full_disk(4000):
        run(*command, "--overwrite", code=1)
    assert output.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_networks_and_counts_that_find_no_room_leave_nothing(folder: Path, tmp_path: Path) -> None:
    network = cn.load(folder / "model.json")
    counts = cn.count(str(folder / "good.parquet"), DAG)
    for thing in (network, counts):
        with full_disk(50), pytest.raises(OSError, match="File too large") as error:
            thing.save(tmp_path / "out.json")
        assert error.value.filename == str(tmp_path / "out.json")
        assert list(tmp_path.iterdir()) == []
    # Compact columns that are too large for memory and for the disk.
    with full_disk(1000), pytest.raises(DataError, match="no room for the columns of the table"):
        cn.encode(str(folder / "good.parquet"), columns=["a", "b"], memory="10 kB")


# ------------------------------------------------------------------------- lost connections


def test_a_session_that_is_gone_is_a_clear_error() -> None:
    """Spark asserts that there is a session; whoever reads that learns nothing."""
    lazy = __import__("polars").LazyFrame({"x": ["a"]})
    engine = engine_of(lazy)
    assert isinstance(engine, Polars)

    def fails_in(module: str) -> None:
        with engine.answering():
            exec("assert None", {"__name__": module})

    with pytest.raises(DataError, match=r"Table: Polars failed: no connection\. Hint: see"):
        fails_in("pyspark.sql.session")
    with pytest.raises(AssertionError):  # our own mistakes stay mistakes
        fails_in("colonnade.tables.queries")

"""`memory=`: what tables of any size may take here, and that it is really kept."""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade as cn
from colonnade.exceptions import InputError
from colonnade.structure.columns import CodedColumns, prepare, read_rows
from colonnade.tables import CodedTable, encode, scan
from colonnade.tables.bounds import Memory
from colonnade.tables.countable import countable
from command_line import flat, plain_terminal, run

NAMES = [f"x{k}" for k in range(24)]
DAG = cn.Dag([("x0", "x1"), ("x1", "x2"), ("x2", "x3")])


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A million rows whose compact columns take 25 MB; the file is small."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    labels = pa.array(["a", "b", "c"])
    codes = np.random.default_rng(0).integers(0, 3, (24, 1 << 18)).astype(np.int8)
    group = pa.table(
        {
            name: pa.DictionaryArray.from_arrays(pa.array(own), labels)
            for name, own in zip(NAMES, codes, strict=True)
        }
    )
    with pq.ParquetWriter(path, group.schema, store_schema=False) as writer:
        for _ in range(4):
            writer.write_table(group)
    return path


# What calls add to the largest memory of a process that has done the same to a small table: first
# with little memory, then with much.
_CHILD = """
import json, sys
import colonnade as cn
import pyarrow.parquet as pq

path, small = sys.argv[1:]
dag = cn.Dag([("x0", "x1"), ("x1", "x2"), ("x2", "x3")])
pq.write_table(pq.ParquetFile(path).read_row_group(0).slice(0, 4096), small)

def work(table, memory):
    before = status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the largest memory is that of now
    cn.fit(table, dag, memory=memory)
    cn.encode(table, memory=memory)
    cn.tan(table, "x0", memory=memory)
    return status("VmHWM") - before

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024

peaks = [work(small, "4 GB"), work(path, "20 MB"), work(path, "4 GB")]
print(json.dumps(peaks[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in other units elsewhere")
def test_the_peak_of_a_process_is_bounded(large: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CHILD, str(large), str(tmp_path / "small.parquet")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    bounded, unbounded = json.loads(found.stdout)
    # 25 MB are columns on disk, mapped: pages that the system may take back. What Arrow's threads
    # keep to themselves varies from run to run: 80 to 100 MB in all, and 400 MB and more unbounded.
    assert bounded < 140_000_000
    assert unbounded > 280_000_000  # without the bound, the line above would fail by far


def rows(n: int = 3000) -> pa.Table:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.7, b, rng.integers(0, 3, n))
    texts = [[f"s{k}" for k in column] for column in (a, b, c)]
    texts[2][5] = texts[0][7] = None  # type: ignore[call-overload]
    return pa.table(dict(zip("abc", texts, strict=True)))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    import pyarrow.csv

    folder = tmp_path_factory.mktemp("files")
    pq.write_table(rows(), folder / "a.parquet")
    pyarrow.csv.write_csv(rows(), folder / "a.csv")
    return [str(folder / "a.parquet"), str(folder / "a.csv")]


GRAPH = cn.Dag([("a", "b"), ("b", "c")])
Call = Callable[..., Any]


def taking_tables() -> dict[str, Call]:
    """Public functions that take a table, by name."""
    found = {name: getattr(cn, name) for name in dir(cn) if not name.startswith("_")}
    found |= {name: getattr(cn.structure, name) for name in cn.structure.__all__}
    calls = {name: each for name, each in found.items() if inspect.isfunction(each)}
    methods = ("log_likelihood", "update", "forget", "predict", "impute", "anomaly")
    calls |= {name: getattr(cn.BayesianNetwork, name) for name in methods}
    return {name: c for name, c in calls.items() if "table" in inspect.signature(c).parameters}


# What these give is as large as the table.
IN_MEMORY = {"predict", "impute", "anomaly"}
# What is asked besides the table.
ASKED: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("fit", "count", "score", "score_families", "arc_gain"), (GRAPH,)),
    **dict.fromkeys(("tan", "kdb", "naive_bayes"), ("a",)),
    "independence": ("a", "b"),
    "arc_strength": (cn.chow_liu, 5, 0),
    "compare": ([GRAPH, cn.chow_liu], cn.BDeu(1)),
}


def called(name: str, table: Any, **more: Any) -> Any:
    if name in ("log_likelihood", "update", "forget"):
        network = cn.fit(rows(), GRAPH, missing="available")
        if name != "log_likelihood":
            more["missing"] = "available"
        return getattr(network, name)(table, **more)
    if "missing" in inspect.signature(taking_tables()[name]).parameters:
        more["missing"] = "state" if name != "count" else "available"
    return taking_tables()[name](table, *ASKED.get(name, ()), **more)


def streaming() -> list[str]:
    return [name for name in taking_tables() if name not in IN_MEMORY]


@pytest.mark.parametrize("name", streaming())
def test_every_function_that_takes_files_takes_memory(name: str, files: list[str]) -> None:
    with pytest.raises(InputError, match="`memory` applies only to files, databases and lazy"):
        called(name, rows(), memory="1 GB")
    for path in files:
        with pytest.raises(InputError, match="Expected a number of bytes, such as '500 MB',"):
            called(name, path, memory="much")
        mine, yours = called(name, path, memory="1 kB"), called(name, path)
        if name in ("encode", "discretize"):
            mine, yours = encode(mine), encode(yours)
            assert isinstance(mine.codes[0].base, np.memmap)
            assert not isinstance(yours.codes[0].base, np.memmap)
            mine, yours = ([c.tolist() for c in each.codes] for each in (mine, yours))
        if name == "arc_posterior":
            mine, yours = pytest.approx(mine.directed, abs=1e-9), yours.directed
        if name == "arc_strength":  # other rows are drawn, of arcs that nobody can doubt
            mine, yours = mine.strength.tolist(), yours.strength.tolist()
        if name == "compare":
            mine, yours = mine.best.held_out, yours.best.held_out
        if name == "inspect":
            mine, yours = mine.columns, yours.columns
        if name == "log_likelihood":
            mine, yours = mine.tolist(), yours.tolist()
        if hasattr(mine, "score"):  # sums in another order
            assert mine.score == pytest.approx(yours.score)
            mine, yours = mine.dag, yours.dag
        if name == "arc_gain":
            mine, yours = dict(mine), dict(yours)
        if isinstance(mine, float | dict):
            mine = pytest.approx(mine)
        if name == "independence":
            mine, yours = mine.degrees, yours.degrees
        assert mine == yours


def test_searches_keep_no_more_than_they_may(files: list[str]) -> None:
    assert isinstance(prepare(read_rows(files[0]), "state"), CodedColumns)
    narrow = prepare(read_rows(files[0], memory="50 kB"), "state")
    assert not isinstance(narrow, CodedColumns)
    some = prepare(read_rows(files[0], memory="500 kB"), "state")
    assert isinstance(some, CodedColumns)
    for k in range(3):
        for j in range(3):
            some.joint_codes((k, j))
    assert len(some._joint_codes) * 3000 * 4 <= 500_000


def test_complete_rows_of_a_bounded_table_are_kept_on_disk(files: list[str]) -> None:
    coded = encode(files[0], memory="1 kB").only_complete()
    assert isinstance(coded.codes[0].base, np.memmap)
    mine = [column.tolist() for column in coded.codes]
    assert mine == [column.tolist() for column in encode(rows()).only_complete().codes]
    assert isinstance(coded, CodedTable)
    assert coded.memory == Memory(1000)
    assert coded.select(["b"]).memory == encode(coded, columns=["b"]).memory == Memory(1000)


def test_counts_of_blocks_do_not_pile_up(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide families have as many configurations as rows: what waits is added up in time."""
    from colonnade.tables import streams

    largest = 0
    usual = streams._Tally.add

    def add(self: Any, *block: Any) -> None:
        nonlocal largest
        usual(self, *block)
        waiting = [each for own in self._waiting for each in own[1:]]
        largest = max(largest, sum(each.codes.nbytes + each.values.nbytes for each in waiting))

    monkeypatch.setattr(streams._Tally, "add", add)
    monkeypatch.setattr(streams, "_MIN_ROWS", 64)
    families = [("a", "b", "c"), ("c", "a", "b"), ("b", "a")]
    for memory, most in ((4000, 1000), (10**9, 10**9)):
        table = scan(files[0], memory=memory)
        blocks = replace(table, parts=replace(table.parts, block_rows=64))  # type: ignore[type-var]
        largest = 0
        found = countable(blocks).counts(families, "available")
        assert found == encode(rows()).counts(families, "available")
        assert largest <= most
    assert largest > 1000


# ------------------------------------------------------------------------ the command line


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


def test_memory_decides_what_is_read_into_memory(files: list[str], tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    for path in files:
        # A page needs the whole table.
        report = ["--report", tmp_path / "page.html", "--overwrite"]
        refused = run("fit", path, "-o", model, *report, "--memory", "2kB", code=2)
        assert "does not fit into 2kB of memory" in flat(refused.output)
        run("fit", path, "-o", model, "--memory", "2kB", "--missing", "state", "--overwrite")
        same = cn.fit(path, cn.load(model).dag, missing="state")
        assert cn.load(model) == same
        wrong = run("fit", path, "-o", model, "--memory", "lots", code=2)
        assert "Expected a number of bytes, such as '500 MB', for --memory" in flat(wrong.output)
        answer = tmp_path / "answer.csv"
        run("fit", path, "--learn", "naive", "--target", "a", "-o", model, "--overwrite")
        run("predict", model, path, "--draws", 0, "-o", answer, "--memory", "2kB", "--overwrite")
        streamed = answer.read_text()
        run("predict", model, path, "--draws", 0, "-o", answer, "--overwrite")
        assert answer.read_text() == streamed


def test_tables_of_databases_on_the_command_line(tmp_path: Path) -> None:
    import duckdb

    table = here = rows()  # DuckDB finds it by its name
    database, arcs, model = tmp_path / "clinic.duckdb", tmp_path / "arcs.csv", tmp_path / "m.json"
    arcs.write_text("a,b\nb,c\n")
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT * FROM here")
    graph = ["--dag", arcs, "--missing", "available"]
    fitted = cn.fit(table, GRAPH, missing="available")

    run("fit", database, *graph, "-o", model)
    assert cn.load(model) == fitted
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE SCHEMA old")
        connection.execute("CREATE TABLE old.visits AS SELECT * FROM here LIMIT 10")
    several = run("fit", database, *graph, "-o", model, "--overwrite", code=1)
    text = flat(several.output)
    assert "Expected the name of a table in the database for --table, got none;" in text
    assert "has 'visits', 'old.visits'. Hint: give --table with one of them." in text
    wrong = run("fit", database, "--table", "visit", *graph, "-o", tmp_path / "x.json", code=1)
    assert "for --table, got 'visit'" in flat(wrong.output)
    for which in (["--table", "visits"], []):
        path = database if which else database / "visits"
        run("fit", path, *which, *graph, "-o", model, "--overwrite", "--memory", "1MB")
        assert cn.load(model) == fitted
        run("count", path, *which, *graph, "-o", tmp_path / "c.json", "--overwrite")
        assert cn.NetworkCounts.load(tmp_path / "c.json").fit() == fitted
        answer = tmp_path / "answer.csv"
        target = ["--target", "c", "--draws", "0", "-o", answer, "--overwrite"]
        run("predict", model, path, *which, *target)
        assert len(answer.read_text().splitlines()) == 1 + here.num_rows
    run("fit", database, "--table", "old.visits", "-o", model, "--overwrite")
    assert cn.load(model)[cn.load(model).dag.variables[0]].counts.total <= 10
    two = run("count", database, database, *graph, "-o", tmp_path / "x.json", code=2)
    assert "Expected one database for DATA, got several files." in flat(two.output)
    gone = run("fit", tmp_path / "none.duckdb", *graph, "-o", tmp_path / "x.json", code=1)
    assert "none.duckdb" in flat(gone.output)
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("how", ["halves", "bootstrap"])
def test_rows_are_drawn_alike_in_memory_and_within_a_bound(how: Any, files: list[str]) -> None:
    from colonnade.structure.resampling import _resampled

    whole = encode(rows()).with_missing_states()
    here = _resampled(whole, how, np.random.default_rng(3))
    there = _resampled(
        encode(files[0], memory="24 kB").with_missing_states(), how, np.random.default_rng(3)
    )
    assert there.rows == here.rows
    for family in (("a", "b"), ("c",)):
        mine, yours = (each.counts([family])[0].to_array().tolist() for each in (here, there))
        assert mine == yours


def test_rows_drawn_block_by_block_are_a_fair_sample() -> None:
    from colonnade.structure.resampling import _resampled

    n = 10_000  # of which a block has 4,096
    number = cn.Variable("n", range(n))
    table = CodedTable([number], [np.arange(n)], memory=Memory(1))
    rng = np.random.default_rng(11)
    taken = np.zeros(n)
    for _ in range(40):
        half = _resampled(table, "halves", rng)
        assert isinstance(half.codes[0].base, np.memmap)
        assert half.rows == n // 2
        assert len(np.unique(half.codes[0])) == n // 2
        taken[half.codes[0]] += 1
    assert abs(taken - 20).max() < 6 * np.sqrt(10)
    parts = np.add.reduceat(taken, [0, 4096, 8192])  # blocks have about half of their rows
    assert abs(parts - 20 * np.array([4096, 4096, 1808])).max() < 6 * np.sqrt(40 * 4096 / 4)
    same = _resampled(table, "bootstrap", rng)
    assert same.rows == n
    assert 0.6 * n < len(np.unique(same.codes[0])) < 0.66 * n

"""Files counted as they pass: the same network as from the table in memory, whatever the file."""

import bz2
import gzip
import lzma
import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import colonnade as cn
from colonnade.exceptions import ColonnadeWarning, DataError, FileFormatError, InputError
from colonnade.tables import CodedTable, encode, scan
from colonnade.tables.arrow_files import ArrowFiles
from colonnade.tables.asked import Asked
from colonnade.tables.bounds import Memory
from colonnade.tables.countable import countable
from colonnade.tables.opened_text import Dialect
from colonnade.tables.scanning import Scanned
from colonnade.tables.sketches import Sketch
from colonnade.tables.text_files import TextFiles

DAG = cn.Dag([("town", "ill"), ("age", "ill"), ("smoker", "age")], ["code"])


def columns(rows: int = 400, seed: int = 0, gaps: bool = False) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    towns = ["Oslo", "Bergen", "Ørsta", "a long name of a town, with a comma"]
    table: dict[str, list[object]] = {
        "town": [towns[k] for k in rng.integers(0, 2 + 2 * (seed > 0), rows)],
        "age": rng.integers(20, 26, rows).tolist(),
        "smoker": (rng.random(rows) < 0.3).tolist(),
        "ill": rng.choice(["no", "yes", "perhaps"], rows).tolist(),
        "code": [float(v) for v in rng.integers(-2, 3, rows)],
        "weight": rng.integers(0, 4, rows).tolist(),
    }
    if gaps:
        for name in ("town", "age", "smoker", "code"):
            for row in rng.choice(rows, rows // 10, replace=False):
                table[name][row] = None
    return table


def write(path: Path, table: dict[str, list[object]]) -> Path:
    ending = path.suffixes[0]
    if ending == ".parquet":
        pq.write_table(pa.table(table), path, row_group_size=150)
    elif ending in (".feather", ".arrow"):
        pyarrow.feather.write_feather(pa.table(table), path, chunksize=150)
    else:
        sign = "\t" if ending == ".tsv" else ","
        frame = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in table.items()})
        text = frame.to_csv(index=False, sep=sign, na_rep="NA", lineterminator="\n").encode()
        packers = {
            ".gz": gzip.compress,
            ".bz2": bz2.compress,
            ".xz": lzma.compress,
            ".zst": zstandard.ZstdCompressor().compress,
        }
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("inside.csv", text)
        else:
            path.write_bytes(packers.get(path.suffix, bytes)(text))
    return path


def small(path: Path | list[Path], rows: int = 7) -> Scanned:
    """Files read in blocks of a few rows, so that states turn up late."""
    files = tuple(path) if isinstance(path, list) else (path,)
    if files[0].suffix in (".parquet", ".feather", ".arrow"):
        return Scanned(files, ArrowFiles(files, rows), Memory())
    return Scanned(files, TextFiles(files, Dialect(), 40 * rows), Memory())


KINDS = ["parquet", "feather", "arrow", "csv", "tsv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst"]
KINDS.append("csv.zip")


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_network_of_the_table_in_memory(
    tmp_path: Path, kind: str, gaps: bool
) -> None:
    path = write(tmp_path / f"data.{kind}", columns(gaps=gaps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        for missing in ("available", "state") if gaps else ("raise",):
            expected = cn.fit(cn.read(path), DAG, missing=missing)
            for table in (str(path), path, [path], scan(path), small(path)):
                found = cn.fit(table, DAG, missing=missing)
                assert found == expected
                for name in DAG.variables:
                    states = found[name].family.child.states
                    assert list(map(type, states)) == list(
                        map(type, expected[name].family.child.states)
                    )


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_several_files_are_one_table(tmp_path: Path, kind: str) -> None:
    tables = [columns(seed=seed) for seed in (0, 1, 2)]  # the first has fewer states
    paths = [write(tmp_path / f"part{k}.{kind}", table) for k, table in enumerate(tables)]
    together = {name: [v for table in tables for v in table[name]] for name in tables[0]}
    expected = cn.fit(together, DAG)
    assert cn.fit(f"{tmp_path}/part*.{kind}", DAG) == expected
    assert cn.fit(list(reversed(paths)), DAG) == expected
    assert cn.fit(small(paths), DAG) == expected


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_weights_and_groups_and_declared_states(tmp_path: Path, kind: str) -> None:
    table = columns(gaps=True)
    path = write(tmp_path / f"data.{kind}", table)
    declared = {"town": ["Trondheim", "Oslo", "Bergen"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        memory = cn.read(path)
        for options in (
            {"weights": "weight"},
            {"weights": np.linspace(0, 1, 400)},
            {"variables": declared, "weights": "weight"},
        ):
            found = cn.fit(small(path), DAG, missing="available", **options)
            expected = cn.fit(memory, DAG, missing="available", **options)
            assert found.dag == expected.dag
            for name in DAG.variables:
                assert found[name].family == expected[name].family
                np.testing.assert_allclose(
                    found[name].counts.to_array(), expected[name].counts.to_array(), rtol=1e-12
                )
        dag = cn.Dag([("age", "ill")])
        assert cn.fit(path, dag, missing="available", group="town") == cn.fit(
            memory, dag, missing="available", group="town"
        )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_searches_and_scores_and_likelihoods_say(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 500)
    b = np.where(rng.random(500) < 0.7, a, rng.integers(0, 3, 500))
    c = np.where(rng.random(500) < 0.7, b, rng.integers(0, 3, 500))
    table = {name: [f"s{v}" for v in x] for name, x in (("a", a), ("b", b), ("c", c))}
    path = write(tmp_path / f"data.{kind}", table)
    assert cn.hill_climb(path).dag == cn.hill_climb(table).dag
    assert cn.hill_climb(path).score == pytest.approx(cn.hill_climb(table).score, abs=1e-9)
    assert cn.tan(str(path), "a") == cn.tan(table, "a")
    assert cn.chow_liu(path) == cn.chow_liu(table)
    dag = cn.Dag([("a", "b"), ("b", "c")])
    assert cn.score(path, dag) == pytest.approx(cn.score(table, dag))
    network = cn.fit(path, dag)
    np.testing.assert_array_equal(
        network.log_likelihood(small(path)), network.log_likelihood(table)
    )
    assert network.update(path) == cn.fit([path, path], dag)
    assert network.update(path).forget(path) == network


def test_log_likelihood_streams_what_is_missing_and_unknown(tmp_path: Path) -> None:
    table = columns(gaps=True)
    path = write(tmp_path / "data.csv", table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        network = cn.fit(cn.read(path), DAG, missing="available")
        table["town"][3] = "Elsewhere"
        other = write(tmp_path / "other.csv", table)
        np.testing.assert_array_equal(
            network.log_likelihood(small(other), "missing"),
            network.log_likelihood(cn.read(other), "missing"),
        )
        with pytest.raises(DataError, match=r"state 'Elsewhere' \(1 row\) is not one of"):
            network.log_likelihood(other)


def test_encode_keeps_states_codes_and_cut_points(tmp_path: Path) -> None:
    table = columns(gaps=True)
    path = write(tmp_path / "data.parquet", table)
    expected = encode(cn.read(path))
    for memory in ("1 GB", 1):
        found = encode(scan(path, memory=memory))
        assert isinstance(found, CodedTable)
        assert found.variables == expected.variables
        assert found.missing == expected.missing
        for mine, yours in zip(found.codes, expected.codes, strict=True):
            assert mine.dtype == yours.dtype
            np.testing.assert_array_equal(mine, yours)


def test_a_temporary_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "data.parquet", columns())
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    found = encode(scan(path, memory=1))
    assert list(folder.iterdir()) == []
    assert found.rows == 400
    base = found.codes[0]
    while (
        isinstance(base, np.ndarray) and base.base is not None and not isinstance(base, np.memmap)
    ):
        base = base.base
    assert isinstance(base, np.memmap)


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "data.parquet", columns())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(DataError, match=r"no room for the columns of the table.*\n?.*TMPDIR"):
        encode(scan(path, memory=1))


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1, x\n2,x \n3,y\n",  # blanks around values
        'a,b\n1, "x"\n2,"x"\n3,"y, z"\n',  # a blank before a quote
        "a,b\n1,x\n\n2,y\n   \n3,x\n",  # empty lines
        "\n\na,b\n1,x\n2,y\n",  # and before the names
        "a;b\n1,5;x\n2,5;y\n",  # another separator, decimal commas: numbers with fractions
        "a,b\n007,x\n012,y\n",  # digits that are names
        "a,b\ntrue,None\nFALSE,x\n",  # booleans, and a word
        "a,b\n1,.\n2,3\n",  # a point among numbers
        "a,b\n1.0,x\n2,y\n",  # whole floating-point numbers
        'a,b\n"1\n2",x\n"3",y\n',  # a line break in a value
        "a,b\r\n1,x\r\n2,y\r\n",
        ",a,b\n0,1,x\n1,2,y\n",  # an index
        "a,b,\n1,x,\n2,y,\n",  # a comma too many
        "a,a\n1,x\n2,y\n",  # the same name twice
        "a\n1\n\n2\n",  # one column
        "a,b\n1,caf\xe9\n2,y\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_texts_are_read_as_by_read(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    results: list[object] = []
    for table in (lambda: cn.read(path), lambda: scan(path), lambda: small(path, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                coded = encode(table())
                found: object = (coded.variables, [c.tolist() for c in coded.codes], coded.missing)
            except DataError as error:
                found = str(error)
        results.append((found, sorted({str(each.message) for each in caught})))
    assert results[1] == results[0]
    assert results[2] == results[0]


def test_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,x\n" * 5000 + "1,x,y\n" + "2,y\n")
    with pytest.raises(DataError, match=r"data.csv', line 5002: 3 values, but 2 columns"):
        cn.fit(path, cn.Dag([("a", "b")]))


def test_what_is_wrong_with_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path / "good.parquet", {"a": ["x", "y"], "b": [1, 2]})
    lacking = write(tmp_path / "lacking.parquet", {"a": ["x"]})
    other = write(tmp_path / "other.parquet", {"a": [1], "b": [2]})
    dag = cn.Dag([("a", "b")])
    with pytest.raises(FileFormatError, match=r"lacking.parquet': no column 'b'"):
        cn.fit([good, lacking], dag)
    with pytest.raises(
        FileFormatError, match=r"other.parquet': column 'a' holds numbers, but text"
    ):
        cn.fit([good, other], dag)
    with pytest.raises(DataError, match=r"Column 'c': not in the table, which has 'a', 'b'"):
        cn.fit(good, cn.Dag([("a", "c")]))
    wrong = tmp_path / "wrong.parquet"
    wrong.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match=r"wrong.parquet': not readable as Parquet"):
        cn.fit(wrong, dag)
    text = tmp_path / "text.csv"
    text.write_bytes(good.read_bytes())
    with pytest.raises(FileFormatError, match=r"text.csv': it holds Parquet, not text"):
        cn.fit(text, dag)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"nowhere.parquet"):
        cn.fit("nowhere.parquet", dag)
    with pytest.raises(InputError, match=r"\*.csv"):
        cn.fit("none*.csv", dag)
    with pytest.raises(InputError, match="files of one kind"):
        cn.fit([good, write(tmp_path / "a.csv", {"a": ["x"], "b": [1]})], dag)
    with pytest.raises(InputError, match="the folder"):
        cn.fit(tmp_path, dag)
    with pytest.raises(InputError, match="CSV files"):
        scan(good, na=["x"])
    with pytest.raises(InputError, match="a number of bytes"):
        scan(good, memory="much")


def test_a_column_missing_in_a_later_text_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a,b\n1,2\n2,3\n")
    two.write_text("b,c\n1,2\n")
    with pytest.raises(FileFormatError, match=r"two.csv': no column 'a'"):
        cn.fit([one, two], cn.Dag([("a", "b")]))
    two.write_text("b,a\n3,1\n")  # another order is no trouble
    assert cn.fit([one, two], cn.Dag([("a", "b")]))["a"].counts.values.tolist() == [[2, 1]]


def test_one_pass_is_enough_for_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "data.parquet", columns())
    passes: list[int] = []
    real = ArrowFiles.passed

    def counted(self: ArrowFiles, names: list[str]) -> object:
        passes.append(1)
        return real(self, names)

    monkeypatch.setattr(ArrowFiles, "passed", counted)
    cn.fit(path, DAG)
    assert passes == [1]


def test_wide_families_are_counted_sparsely(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = {f"x{k}": [f"v{v}" for v in rng.integers(0, 12, 2000)] for k in range(7)}
    dag = cn.Dag([(f"x{k}", "x6") for k in range(6)])
    path = write(tmp_path / "data.parquet", table)
    assert cn.fit(small(path, 300), dag) == cn.fit(table, dag)


def test_categories_keep_unseen_states_in_order(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["y", "x", "y"], ["z", "y", "x"]), "b": [1, 2, 1]})
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    dag = cn.Dag([("a", "b")])
    assert cn.fit(path, dag) == cn.fit(cn.read(path), dag)


def test_a_network_with_cut_points_reads_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = {"x": rng.normal(size=300).round(2).tolist(), "y": rng.integers(0, 2, 300).tolist()}
    network = cn.fit(cn.discretize(table, 3), cn.Dag([("x", "y")]))
    for kind in ("parquet", "csv"):
        path = write(tmp_path / f"data.{kind}", table)
        np.testing.assert_array_equal(
            network.log_likelihood(small(path)), network.log_likelihood(table)
        )
        assert network.update(path) == network.update(table)


def test_numbers_with_fractions_are_refused(tmp_path: Path) -> None:
    for kind in ("parquet", "csv"):
        path = write(tmp_path / f"data.{kind}", {"x": [0.5, 1.0], "y": [1, 2]})
        with pytest.raises(DataError, match="Column 'x': floating-point numbers are not states"):
            cn.fit(path, cn.Dag([("x", "y")]))


def test_weights_of_files_are_checked(tmp_path: Path) -> None:
    dag = cn.Dag([], ["a"])
    table: dict[str, list[object]] = {"a": ["x", "y"] * 20, "w": [1.0] * 39 + [None]}
    for kind in ("parquet", "csv"):
        path = write(tmp_path / f"data.{kind}", table)
        with pytest.raises(DataError, match=r"Column 'w': the weight in row 40 .* is missing"):
            cn.fit(small(path, 3), dag, weights="w")
        with pytest.raises(DataError, match="one weight per row"):
            cn.fit(path, dag, weights=[1.0] * 39)
        with pytest.raises(DataError, match="one weight per row"):
            cn.fit(path, dag, weights=[1.0] * 41)


def test_an_opened_table_cannot_be_opened_otherwise(tmp_path: Path) -> None:
    path = write(tmp_path / "data.parquet", columns())
    opened = countable(path)
    assert countable(opened, columns=["ill"]).names == ("ill",)
    with pytest.raises(InputError, match="no further variables"):
        countable(opened, weights="weight")
    assert scan(path).opened(Asked(columns=["ill"])).rows == 400


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_cut_points_of_files_are_those_of_the_table(
    tmp_path: Path, kind: str, strategy: str
) -> None:
    rng = np.random.default_rng(4)
    table: dict[str, list[object]] = {
        "x": rng.normal(size=2000).round(3).tolist(),
        "n": rng.integers(0, 40, 2000).tolist(),
        "few": rng.integers(0, 4, 2000).tolist(),
        "whole": [float(v) for v in rng.integers(0, 30, 2000)],
        "text": rng.choice(["a", "b"], 2000).tolist(),
        "w": rng.integers(0, 3, 2000).tolist(),
    }
    table["x"][5] = table["n"][7] = None
    path = write(tmp_path / f"data.{kind}", table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        memory = cn.read(path)
        for options in (
            {},
            {"bins": 3},
            {"columns": ["x"]},
            {"weights": "w"},
            {"bins": {"few": 2}},
        ):
            expected = cn.discretize(memory, strategy=strategy, **options)
            before = cuts_told(caught)
            found = cn.discretize(small(path, 100), strategy=strategy, **options)
            assert found.discretizer == expected.discretizer
            assert {
                str(each.message) for each in caught if "were cut" in str(each.message)
            } == before
            caught.clear()
        dag = cn.Dag([("x", "text"), ("n", "text")])
        cut = cn.discretize(path, 4)
        assert cn.fit(cut, dag, missing="available") == cn.fit(
            cn.discretize(memory, 4), dag, missing="available"
        )


def cuts_told(caught: list[warnings.WarningMessage]) -> set[str]:
    told = {str(each.message) for each in caught if "were cut" in str(each.message)}
    caught.clear()
    return told


@pytest.mark.parametrize("order", ["random", "rising", "sawtooth"])
def test_a_sketch_keeps_its_promise(order: str) -> None:
    n, layer = 200_000, 256
    numbers = np.arange(n, dtype=float)
    if order == "random":
        np.random.default_rng(1).shuffle(numbers)
    elif order == "sawtooth":
        numbers = np.concatenate([numbers[k::7] for k in range(7)])
    sketch = Sketch(most=1000, layer=layer)
    for part in np.array_split(numbers, 37):
        sketch.add(part)
    assert not sketch.exact
    values, mass = sketch.summary()
    ranks = np.cumsum(mass)
    assert abs(ranks[-1] - n) <= 2
    worst = np.abs(ranks - (values + 1)).max() / n
    assert 0 < worst <= sketch.error < 0.03


def test_text_that_is_called_compressed_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_text("a,b\n" + "x,1\ny,2\n" * 5)
    coded = encode(str(path))
    assert [variable.states for variable in coded.variables] == [("x", "y"), (1, 2)]
    assert coded.rows == 10


# --------------------------------------------------------------------- lazy tables here


def lazy_tables(table: pa.Table) -> list[object]:
    import duckdb
    import polars as pl

    return [pl.from_arrow(table).lazy(), duckdb.from_arrow(table)]


def test_cut_points_of_lazy_tables_are_those_of_memory() -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {"x": rng.normal(size=900), "y": ["a", "b", "c"] * 300, "w": rng.integers(0, 4, 900)}
    )
    for weights in (None, "w"):
        mine = cn.tables.Discretizer.fit(table, 4, columns=["x"], weights=weights)
        for lazy in lazy_tables(table):
            assert cn.tables.Discretizer.fit(lazy, 4, columns=["x"], weights=weights) == mine
    for lazy in lazy_tables(table):
        with pytest.raises(InputError, match="Expected the name of a column for `weights`"):
            cn.tables.Discretizer.fit(lazy, 4, weights=np.ones(900))


def test_memory_of_lazy_tables_is_bounded() -> None:
    table = pa.table({"x": ["a", "b"] * 500, "y": ["c", "d", "e", "f"] * 250})
    for lazy in lazy_tables(table):
        coded = encode(scan(lazy, memory="1 kB"))
        assert isinstance(coded.codes[0].base, np.memmap)
        assert coded.codes[0].tolist() == encode(table).codes[0].tolist()
        with pytest.raises(InputError, match="`na` applies only to CSV files"):
            scan(lazy, na=["?"])


def test_too_many_groups_name_the_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colonnade.tables.queries._MAX_GROUPS", 50)
    table = pa.table({"key": list(range(60)), "y": ["a", "b"] * 30})
    for lazy in lazy_tables(table):
        with pytest.raises(DataError, match=r"Column 'key': 60 different values.*at most 50"):
            cn.fit(lazy, cn.Dag([("y", "key")]))


def test_codes_among_numbers_that_are_cut_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1.5,a\n2.5,b\n" * 20 + "NA,a\n-,b\n-,b\n,a\n")
    cut = cn.tables.Discretizer([cn.tables.Cuts("x", [2.0])]).cut(str(path))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        network = cn.fit(cut, cn.Dag([("x", "y")]), missing="available")
    assert network["x"].counts.total == 40
    (only,) = [str(each.message) for each in told]
    assert "read 2 values '-' and 1 value 'NA' as missing, in column 'x'" in only


def test_engines_keep_the_order_of_categories_that_they_know() -> None:
    import duckdb
    import polars as pl

    order = ["low", "mid", "high", "never"]
    values = ["mid", "low", "high", "mid"]
    lazy = pl.LazyFrame({"a": pl.Series(values, dtype=pl.Enum(order)), "b": [1, 2, 1, 2]})
    frame = pd.DataFrame({"a": pd.Categorical(values, order, ordered=True), "b": [1, 2, 1, 2]})
    for table in (lazy, duckdb.from_df(frame)):
        assert cn.encode(table).variables[0].states == tuple(order)
        assert cn.count(table, cn.Dag([("a", "b")])).variables[0].states == tuple(order)
    # What DuckDB and Polars' Categorical do not know is sorted, and only what is there is a state.
    for table in (duckdb.from_arrow(pa.table(frame)), lazy.cast({"a": pl.Categorical})):
        assert cn.encode(table).variables[0].states == ("high", "low", "mid")

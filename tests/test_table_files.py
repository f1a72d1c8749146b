"""Tables in files: what the texts of a CSV file become, and Parquet by every package."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from colonnade.exceptions import (
    DataError,
    DataWarning,
    FileFormatError,
    InputError,
    MissingExtraError,
)
from colonnade.tables import encode, files, packages
from colonnade.tables.files import read, read_lines


def written(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def column(folder: Path, *texts: str, na: tuple[str, ...] = ()) -> list[Any]:
    quoted = "\n".join(f'"{text}"' for text in texts)
    found = read(written(folder, f"x\n{quoted}\n"), na)["x"]
    return found if isinstance(found, list) else found.tolist()


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("1", "-20", "0"), [1, -20, 0]),
        (("true", "False", "TRUE"), [True, False, True]),
        (("1", "2.5", "1e3", "-.5", "3."), [1.0, 2.5, 1000.0, -0.5, 3.0]),
        (("0.5", "inf", "-Infinity"), [0.5, np.inf, -np.inf]),
        (("yes", "1"), ["yes", "1"]),
        (("true", "1"), ["true", "1"]),
        # What a number would not give back as it was is a name.
        (("007", "12"), ["007", "12"]),
        (("+1", "-1"), ["+1", "-1"]),
        (("-0", "1"), ["-0", "1"]),
        (("1_000", "2"), ["1_000", "2"]),
        (("٣", "2"), ["٣", "2"]),
        (("1234567890123456789012", "1"), ["1234567890123456789012", "1"]),
        (("nan", "inf"), ["nan", "inf"]),
        (("0x1", "1"), ["0x1", "1"]),
    ],
)
def test_a_column_is_the_first_kind_that_all_its_values_are(
    tmp_path: Path, texts: tuple[str, ...], values: list[Any]
) -> None:
    found = column(tmp_path, *texts)
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_missing_values_keep_the_kind(tmp_path: Path) -> None:
    assert column(tmp_path, "1", "", "2") == [1, None, 2]
    assert column(tmp_path, "true", "") == [True, None]
    assert column(tmp_path, "a", "") == ["a", None]
    assert column(tmp_path, "", "") == [None, None]
    np.testing.assert_equal(column(tmp_path, "1.5", "", na=("nan",)), [1.5, np.nan])
    np.testing.assert_equal(column(tmp_path, "1.5", "nan", na=("nan",)), [1.5, np.nan])
    assert column(tmp_path, "1", "NA") == ["1", "NA"]
    assert column(tmp_path, "1", "NA", "?", "", na=("NA", "?")) == [1, None, None, None]
    assert column(tmp_path, "1", " NA ", na=("NA ",)) == [1, None]


def test_quotes_spaces_lines_and_marks(tmp_path: Path) -> None:
    text = '\ufeffa, b ,"c, d"\r\nx, 1,"say ""hi"""\r\n\r\n"two\nlines", 2,\r\n'
    table = read(written(tmp_path, text))
    assert list(table) == ["a", "b", "c, d"]
    assert table["a"] == ["x", "two\nlines"]
    assert table["b"].tolist() == [1, 2]
    assert table["c, d"] == ['say "hi"', None]


def test_more_rows_than_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BATCH_ROWS", 3)
    path = written(tmp_path, "x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(10)))
    table = read(path)
    assert table["x"].tolist() == list(range(10))
    assert table["y"] == ["a", "b"] * 5
    assert table["y"][0] is table["y"][8]


def test_tabs(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a\tb,c\n1\t2\n", "data.TSV"))
    assert {name: values.tolist() for name, values in table.items()} == {"a": [1], "b,c": [2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3: 1 value, but 2 columns"),
        ("a,b\n1,2,3\n", "line 2: 3 values, but 2 columns in the header. Hint: put values that"),
        (",\n1,2\n", "no column has a name. Hint: give header=False"),
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "sign", "told"),
    [
        ("data.tsv", ",", "','"),
        ("data.csv", ";", "';'"),
        ("data.csv", "\t", "a tab"),
        ("data.txt", "|", r"'\|'"),
        ("data.tab", ";", "';'"),
    ],
)
def test_another_separator_is_found_and_told(
    tmp_path: Path, name: str, sign: str, told: str
) -> None:
    path = written(tmp_path, f"a{sign}b\n1{sign}x y\n2{sign}z\n", name)
    with pytest.warns(DataWarning, match=f"read values separated by {told}"):
        table = read(path)
    assert table["a"].tolist() == [1, 2]
    assert table["b"] == ["x y", "z"]
    assert read(path, separator=sign)["b"] == ["x y", "z"]


def test_blanks_separate_values_only_where_the_ending_allows_it(tmp_path: Path) -> None:
    text = "a  b\n1  2\n3  4\n"
    with pytest.warns(DataWarning, match="separated by a blank"):
        assert read(written(tmp_path, text, "data.txt"))["b"].tolist() == [2, 4]
    assert read(written(tmp_path, "full name\nAnna M\nBert N\n")) == {
        "full name": ["Anna M", "Bert N"]
    }


@pytest.mark.parametrize("content", [b'a,b\n"1,2\n', b'a,b\n"1"x,2\n'])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"data\.csv"):
        read(path)


def test_paths_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"an existing file .* got .*nothing\.csv"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="the folder"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"ending in \.csv"):
        read(written(tmp_path, "a\n1\n", "data.xls"))
    with pytest.raises(InputError, match="a path"):
        read(b"data.csv")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="`na`"):
        read(written(tmp_path, "a\n1\n"), "NA")
    with pytest.raises(InputError, match="`header`"):
        read(written(tmp_path, "a\n1\n"), header="no")  # type: ignore[arg-type]


def test_lines_have_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n\n"c\nd",e\n')
    assert list(read_lines(path)) == [(1, ["a", "b"]), (2, []), (4, ["c\nd", "e"])]


# ---------------------------------------------------------------------- Parquet


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    # To some readers a star is a pattern, and the other file would be read as well.
    path = tmp_path / "a*.parquet"
    parquet.write_table(arrow.table({"n": [7], "s": ["c"], "t": [True]}), tmp_path / "ab.parquet")
    columns = {"n": [1, None, 3], "s": ["b", "a", None], "t": [True, False, True]}
    parquet.write_table(arrow.table(columns), path)
    return path


@pytest.mark.parametrize("reader", ["_by_pyarrow", "_by_polars", "_by_duckdb"])
def test_every_package_reads_the_same(parquet: Path, reader: str) -> None:
    pytest.importorskip(reader.removeprefix("_by_"))
    coded = encode(getattr(packages, reader)(parquet))
    assert [variable.states for variable in coded.variables] == [
        (1, 3),
        ("a", "b"),
        (False, True),
    ]
    assert [codes.tolist() for codes in coded.codes] == [[0, 2, 1], [1, 0, 2], [1, 0, 1]]


def test_without_any_package_the_extra_is_named(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[duckdb\]\""):
        read(parquet)


def test_what_is_no_parquet(tmp_path: Path, parquet: Path) -> None:
    with pytest.raises(FileFormatError, match="not readable as Parquet"):
        read(written(tmp_path, "a,b\n1,2\n", "data.parquet"))
    with pytest.raises(InputError, match="`na` applies only to CSV"):
        read(parquet, na=["NA"])
    with pytest.raises(InputError, match="`header` applies only to CSV"):
        read(parquet, header=True)

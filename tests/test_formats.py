"""Tables as people have them: encodings, compression, decimal commas, other programs' files."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colonnade as cn
from colonnade.exceptions import (
    DataWarning,
    FileFormatError,
    InputError,
    MissingExtraError,
)

TEXT = "name,n\nMüller,1\nRené,2\n"
NAMES = ["Müller", "René"]


def columns(table: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in table.items()}


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        TEXT.replace("\n", "\r\n").encode(),
    ],
)
def test_encodings_that_are_no_guess(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    assert columns(cn.read(path)) == {"name": NAMES, "n": [1, 2]}


def test_a_guessed_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    with pytest.warns(DataWarning, match=r"not UTF-8; read as Windows-1252, for example 'Müller'"):
        assert cn.read(path)["name"] == NAMES
    assert cn.read(path, encoding="latin-1")["name"] == NAMES
    path.write_bytes(b"a\nx\x81\xe9\n")
    with pytest.warns(DataWarning, match="read as Latin-1"):
        assert cn.read(path)["a"] == ["x\x81é"]
    # A letter far behind the first block decides as well.
    path.write_bytes(b"a\n" + b"x\n" * 700_000 + "é\n".encode("cp1252"))
    with pytest.warns(DataWarning, match="Windows-1252, for example 'é'"):
        assert cn.read(path)["a"][-1] == "é"


def test_an_encoding_that_is_none_or_wrong(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(InputError, match="an encoding for `encoding`, got 'utf-9'"):
        cn.read(path, encoding="utf-9")
    with pytest.raises(FileFormatError, match="not UTF-8 text"):
        cn.read(path, encoding="utf-8")


def zipped(content: bytes, *names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zip", lambda content: zipped(content, "inside.csv", "__MACOSX/._inside.csv")),
    ],
)
def test_compressed_text(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"data.csv{ending}"
    path.write_bytes(compress(TEXT.encode()))
    assert columns(cn.read(path)) == {"name": NAMES, "n": [1, 2]}
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 12])
    with pytest.raises(FileFormatError, match="damaged"):
        cn.read(path)


def test_zstandard(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "data.csv.zst"
    with pyarrow.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(TEXT.encode())
    assert columns(cn.read(path)) == {"name": NAMES, "n": [1, 2]}


def test_an_archive_has_one_file(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    path.write_bytes(zipped(TEXT.encode(), "one.csv", "two.csv"))
    with pytest.raises(FileFormatError, match=r"one file in the archive, got 2: 'one.csv', 'two"):
        cn.read(path)
    (tmp_path / "data.parquet.gz").write_bytes(b"")
    with pytest.raises(InputError, match="text files may be compressed"):
        cn.read(tmp_path / "data.parquet.gz")


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"PAR1\x00\x00")
    with pytest.raises(FileFormatError, match="it holds Parquet, not text"):
        cn.read(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n\xff\x00\x01,2\n")
    with pytest.raises(FileFormatError, match="it holds no text"):
        cn.read(path)


def test_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x;y;z;w\n1,5;1.250,75;a,b;1,234\n2;3,5;c;5,678\n;NA;d;9,012\n")
    with pytest.warns(DataWarning) as told:
        table = cn.read(path)
    first = str(told[0].message)
    assert "read values separated by ';' and numbers with a decimal comma in columns" in first
    assert "'x', 'y' and 'w'" in first
    np.testing.assert_equal(table["x"], [1.5, 2.0, np.nan])
    np.testing.assert_equal(table["y"], [1250.75, 3.5, np.nan])
    np.testing.assert_equal(table["w"], [1.234, 5.678, 9.012])
    assert table["z"] == ["a,b", "c", "d"]
    with pytest.warns(DataWarning, match="text, not numbers"):
        plain = cn.read(path, na=["NA"], separator=";", decimal=".")
    assert plain["w"] == ["1,234", "5,678", "9,012"]


def test_a_comma_among_commas_is_decimal_only_where_it_is_no_doubt(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('x,y\n"1,5","1,500"\n"2,25","2,250"\n')
    with pytest.warns(DataWarning) as told:
        table = cn.read(path)
    assert any("decimal comma in column 'x'" in str(each.message) for each in told)
    assert any("Column 'y': text, not numbers" in str(each.message) for each in told)
    assert table["x"].tolist() == [1.5, 2.25]
    assert cn.read(path, decimal=",")["y"].tolist() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("separator", ";;", "a single sign for `separator`"),
        ("decimal", "x", "'.' or ',' for `decimal`"),
    ],
)
def test_signs_that_are_none(tmp_path: Path, option: str, value: str, message: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TEXT, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        cn.read(path, **{option: value})  # type: ignore[arg-type]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    content = gzip.compress(TEXT.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert columns(cn.read("-")) == {"name": NAMES, "n": [1, 2]}


# ------------------------------------------------------------ files of other programs


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"smoker": ["no", "yes", None], "age": [1, 2, 3]})


def test_feather(tmp_path: Path) -> None:
    path = tmp_path / "data.feather"
    frame().to_feather(path)
    network = cn.fit(cn.read(path), cn.Dag([("age", "smoker")]), missing="available")
    assert network["smoker"].family.child.states == ("no", "yes")
    path.write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="not readable as Feather"):
        cn.read(path)


def test_stata(tmp_path: Path) -> None:
    path = tmp_path / "data.dta"
    frame().fillna("").to_stata(path, write_index=False)
    found = cn.inspect(cn.read(path))
    assert (found["smoker"].states, found["smoker"].missing) == (("no", "yes"), 1)
    assert found["age"].states == (1, 2, 3)
    path.write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="not readable as Stata"):
        cn.read(path)


def test_spss(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "data.sav"
    labels = {"age": {1: "young", 2: "middle", 3: "old"}}
    pyreadstat.write_sav(frame(), str(path), variable_value_labels=labels)
    found = cn.inspect(cn.read(path))
    assert set(found["age"].states) == {"young", "middle", "old"}
    assert (found["smoker"].states, found["smoker"].missing) == (("no", "yes"), 1)


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "data.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["smoker", "age", "dose", "day"], ["no", 31, 1.5, None], ["NA", 45.0, "?", None]):
        sheet.append(row)
    book.save(path)
    with pytest.warns(DataWarning, match="read 1 value 'NA' and 1 value '\\?' as missing"):
        table = cn.read(path)
    assert table["smoker"] == ["no", None]
    assert table["age"].tolist() == [31, 45]
    np.testing.assert_equal(table["dose"], [1.5, np.nan])
    assert table.codes == {"smoker": {"NA": 1}, "dose": {"?": 1}}  # type: ignore[attr-defined]
    book.create_sheet("more")
    book.save(path)
    with pytest.warns(DataWarning, match="1 other sheet left out"):
        cn.read(path, na=["NA", "?"])
    with pytest.raises(InputError, match="`encoding` applies only to CSV files"):
        cn.read(path, encoding="utf-8")
    path.write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="not readable as an Excel workbook"):
        cn.read(path)


@pytest.mark.parametrize(
    ("name", "package"),
    [("data.xlsx", "openpyxl"), ("data.sav", "pyreadstat"), ("data.dta", "pandas")],
)
def test_an_absent_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[formats\]"'):
        cn.read(tmp_path / name)

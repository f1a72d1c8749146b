"""Tables in files: CSV by the standard library, Parquet by whichever package is there."""

from __future__ import annotations

import csv
import glob
import importlib.util
import os
import re
from collections.abc import Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from colonnade.exceptions import (
    Advice,
    DataError,
    DataWarning,
    FileFormatError,
    counted,
    expected,
    inapplicable,
    no_such_file,
    require,
    warn,
)
from colonnade.tables.headers import KEEP_INDEX, KEEP_INDICES, Header, numbered
from colonnade.tables.remarks import of_readings
from colonnade.tables.texts import Codes, Reading

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
# What PyArrow calls the index of a data frame of pandas.
_PARQUET_INDEX = re.compile(r"__index_level_[0-9]+__")
# Rows that are turned into columns at a time.
_BATCH_ROWS = 1 << 14


def read(
    path: str | os.PathLike[str],
    na: Collection[str] | None = None,
    header: bool | None = None,
) -> dict[str, Any]:
    r"""Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        Ends in ``.csv`` or ``.tsv`` (UTF-8), or in ``.parquet`` or ``.pq``, which needs PyArrow,
        Polars or DuckDB (extra ``duckdb``).
    na : collection of str, optional
        Texts of a CSV file that stand for a missing value, besides the empty one, in quotes or
        not. By default the usual ones: ``NA``, ``N/A``, ``n/a``, ``NaN``, ``nan``, ``NULL``,
        ``null``, ``?`` and whatever else pandas recognises, except ``None``, which is missing only
        among numbers and booleans, as is a single point. An empty list: none but the empty one.
    header : bool, optional
        Whether the first line of a CSV file holds the names of the columns. If False, they are
        called column1, column2 and so on. By default it does, with a warning if it looks like data.

    Returns
    -------
    dict of str to column
        A table as :func:`colonnade.fit` takes it. Columns of a CSV file are integers, booleans
        (``true`` and ``false`` in any case), floating-point numbers or strings: the first of these
        that all their values are.
        Blanks around names and values, quoted ones too, and empty lines are skipped; in a file of
        one column an empty line between others is a missing value. Columns before the first that
        has a name are an index, and left out.

    Raises
    ------
    DataError
        If a line has too many or too few values, or no column has a name.
    FileFormatError
        If the file is damaged, or not UTF-8 text.

    Warns
    -----
    DataWarning
        Once for each kind of thing that was changed, left out or guessed: codes read as missing,
        a column that is text because of a few values, blanks around states, an index, a first line
        that looks like data, names that occur twice (which then are numbered, such as ``x.1`` and
        ``x.2``).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,smoker,zip\n31,true,01234\n45,,56789\n")
    ...     read(path)
    {'age': array([31, 45]), 'smoker': [True, None], 'zip': ['01234', '56789']}
    """
    file = _existing(path)
    codes = Codes.of(na)
    if header is not None and not isinstance(header, bool):
        raise expected("True, False or None", "header", header)
    if is_parquet(file):
        if na is not None:
            hint = "in a Parquet file missing values are marked as such"
            raise inapplicable("na", na, "CSV files", hint)
        if header is not None:
            raise inapplicable("header", header, "CSV files", "Parquet files have names")
        return _without_index(file, _parquet(file))
    refuse_ending(file)
    return _csv(file, codes, header)


def is_parquet(path: Path) -> bool:
    """Whether a file is a Parquet file by its name."""
    return path.suffix.lower() in _PARQUET


def refuse_ending(path: Path) -> None:
    """Raise unless the name of a file ends in one of those that can be read."""
    if not is_parquet(path) and path.suffix.lower() not in _DELIMITERS:
        what = "a file ending in .csv, .tsv, .parquet or .pq"
        raise expected(what, "path", str(path))


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Read the lines of a CSV file, each with its number; an empty one has no values.

    A line is what ends a record: a quoted value may contain line breaks. Values are separated by
    tabs in a file ending in ``.tsv``, else by commas.
    """
    file = _existing(path)
    delimiter = _DELIMITERS.get(file.suffix.lower(), ",")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            line = f"line {reader.line_num}"
            raise FileFormatError(str(path), line, f"not valid CSV ({error}).") from None
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 text ({error.reason})."
            raise FileFormatError(str(path), "", problem, "save it as UTF-8") from None


def _existing(path: Any) -> Path:
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise expected("a path", "path", path)
    file = Path(path)
    if not file.is_file():
        if not file.is_dir():
            raise no_such_file(path)
        raise expected("a file", "path", str(path), got=f"the folder {str(path)!r}")
    return file


# -------------------------------------------------------------------------- CSV


def _csv(file: Path, codes: Codes, header: bool | None) -> dict[str, Any]:
    where = f"File {str(file)!r}"
    lines = read_lines(file)
    first = next((each for each in lines if each[1]), None)
    if first is None:
        hint = "the first line holds the names of the columns"
        raise DataError(where, "it is empty.", hint)
    line = [name.strip() for name in first[1]]
    _refuse_separator(file, line)
    lines = chain([first] * (header is False), lines)
    lines = _of_one_column(where, lines) if len(line) == 1 else lines
    columns: list[list[str]] = [[] for _ in line]
    seen: list[dict[str, str]] = [{} for _ in line]
    rows = _of_width(file, lines, len(line))
    while batch := list(islice(rows, _BATCH_ROWS)):
        for column, known, values in zip(columns, seen, zip(*batch, strict=True), strict=True):
            # Each text is kept once, however many rows have it.
            column.extend(map(known.setdefault, values, values))
    if not columns[0]:
        raise DataError(where, "it has names of columns but no rows.", Advice.FIRST_LINE_IS_DATA)
    head = Header(where, line, seen, sure=header is True)
    names = dict(enumerate(map(numbered, range(len(line))))) if header is False else head.names
    readings = {name: Reading.of(columns[k], seen[k], codes) for k, name in names.items()}
    for warning in chain(
        () if header is False else head.warnings(), of_readings(where, readings, codes)
    ):
        warn(warning)
    return {name: reading.values for name, reading in readings.items()}


def _refuse_separator(file: Path, line: list[str]) -> None:
    """Raise if a line that is one value looks like several, separated by another sign."""
    tabs = file.suffix.lower() == ".tsv"
    if len(line) > 1 or not (found := re.search(r"[,;|]" if tabs else r"[;\t|]", line[0])):
        return
    sign = "a tab" if found.group() == "\t" else repr(found.group())
    wanted = "tabs, as in every .tsv file" if tabs else "commas"
    hint = f"separate values by {wanted}, not by {sign}"
    hint += "" if tabs else " (by tabs in a .tsv file)"
    raise DataError(f"File {str(file)!r}", f"one column only, named {line[0]!r:.60}.", hint)


def _of_one_column(
    where: str, lines: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Read empty lines between others as missing values, and say so; those at the end are none."""
    waiting: list[int] = []
    missing = 0
    for line, row in lines:
        if not row:
            waiting.append(line)
            continue
        missing += len(waiting)
        yield from ((gap, [""]) for gap in waiting)
        waiting = []
        yield line, row
    if missing:
        some = "an empty line was read as a missing value"
        many = f"{missing:,} empty lines were read as missing values"
        statement = f"{where}: one column, and {some if missing == 1 else many}."
        warn(DataWarning(statement, "remove empty lines that are no rows"))


def _of_width(
    file: Path, lines: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[list[str]]:
    for line, row in lines:
        if not row or (len(row) == 1 < width and not row[0].strip()):
            continue  # an empty line, or one of blanks
        if len(row) != width:
            problem = f"{counted(len(row), 'value')}, but {counted(width, 'column')} in the header."
            hint = "put values that contain a comma in double quotes" if len(row) > width else ""
            raise DataError(f"File {str(file)!r}, line {line}", problem, hint, line=line)
        yield row


# ---------------------------------------------------------------------- Parquet


def _parquet(file: Path) -> dict[str, Any]:
    """Read by the first package that is installed; the extra that names one is the last."""
    try:
        for package, reader in (("pyarrow", _by_pyarrow), ("polars", _by_polars)):
            if importlib.util.find_spec(package) is not None:
                return reader(file)
        return _by_duckdb(file)
    except (ImportError, MemoryError, OSError):
        raise
    except Exception as error:  # each package has errors of its own for a damaged file
        problem = f"not readable as Parquet ({' '.join(str(error).split())[:200]})."
        raise FileFormatError(str(file), "", problem) from error


def _without_index(file: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Leave out the columns that pandas keeps the index of a data frame in."""
    index = [name for name in table if _PARQUET_INDEX.fullmatch(name)]
    if index and len(index) < len(table):
        names = ", ".join(map(repr, index))
        statement = f"File {str(file)!r}: {names} read as an index of the rows, and left out."
        warn(DataWarning(statement, KEEP_INDEX if len(index) == 1 else KEEP_INDICES))
        return {name: column for name, column in table.items() if name not in index}
    return table


def _by_pyarrow(file: Path) -> dict[str, Any]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file, partitioning=None)
    return {name: table[name] for name in table.column_names}


def _by_polars(file: Path) -> dict[str, Any]:
    import polars

    return polars.read_parquet(file, glob=False).to_dict()


def _by_duckdb(file: Path) -> dict[str, Any]:
    duckdb = require("duckdb", feature="Reading a Parquet file", extra="duckdb")
    # A name may contain what DuckDB takes for a pattern.
    found: dict[str, Any] = duckdb.read_parquet(glob.escape(str(file))).fetchnumpy()
    return found

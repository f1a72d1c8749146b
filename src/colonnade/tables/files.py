"""Tables in files: CSV by the standard library, Parquet by whichever package is there.

A CSV file holds texts; what they mean is decided for a whole column at once, on its distinct
values. Only a text that survives the way to a number and back is taken for an integer: ``007`` is a
name, not a seven.
"""

from __future__ import annotations

import csv
import glob
import importlib.util
import math
import os
import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from colonnade.exceptions import (
    DataError,
    FileFormatError,
    counted,
    expected,
    inapplicable,
    require,
)
from colonnade.tables.levels import refuse_repeated

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
# Digits without a point or an exponent are no match: long or with leading zeros, they are names.
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?"
    r"|[+-]?(?:inf|infinity|nan)",
    re.IGNORECASE,
)
_BOOLEANS = {"true": True, "false": False}
# Rows that are turned into columns at a time.
_BATCH_ROWS = 1 << 14


def read(path: str | os.PathLike[str], missing: Collection[str] = ()) -> dict[str, Any]:
    r"""Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        Ends in ``.csv`` or ``.tsv`` (UTF-8, names in the first line), or in ``.parquet`` or
        ``.pq``, which needs PyArrow, Polars or DuckDB (extra ``duckdb``).
    missing : collection of str, optional
        Texts of a CSV file that stand for a missing value, besides the empty one.

    Returns
    -------
    dict of str to column
        A table as :func:`colonnade.fit` takes it. Columns of a CSV file are integers, booleans
        (``true`` and ``false`` in any case), floating-point numbers or strings: the first of these
        that all their values are. Spaces before a value and empty lines are skipped.

    Raises
    ------
    DataError
        If a line has too many or too few values, or columns lack a name of their own.
    FileFormatError
        If the file is damaged, or not UTF-8 text.

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
    if isinstance(missing, str) or not all(isinstance(text, str) for text in missing):
        raise expected("a list of texts", "missing", missing)
    suffix = file.suffix.lower()
    if suffix in _PARQUET:
        if missing:
            hint = "in a Parquet file missing values are marked as such"
            raise inapplicable("missing", missing, "CSV files", hint)
        return _parquet(file)
    if suffix not in _DELIMITERS:
        what = "a file ending in .csv, .tsv, .parquet or .pq"
        raise expected(what, "path", str(path))
    return _csv(file, {"", *missing})


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Read the lines of a CSV file that are not empty, each with its number.

    A line is what ends a record: a quoted value may contain line breaks. Values are separated by
    tabs in a file ending in ``.tsv``, else by commas.
    """
    file = _existing(path)
    delimiter = _DELIMITERS.get(file.suffix.lower(), ",")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                if row:
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
        got = f"the folder {str(path)!r}" if file.is_dir() else ""
        raise expected("an existing file", "path", str(path), got=got)
    return file


# -------------------------------------------------------------------------- CSV


def _csv(file: Path, missing: set[str]) -> dict[str, Any]:
    lines = read_lines(file)
    names = _header(file, next(lines, (0, []))[1])
    columns: list[list[str]] = [[] for _ in names]
    known: list[dict[str, str]] = [{} for _ in names]
    rows = _of_width(file, lines, len(names))
    while batch := list(islice(rows, _BATCH_ROWS)):
        for column, seen, values in zip(columns, known, zip(*batch, strict=True), strict=True):
            # Each text is kept once, however many rows have it.
            column.extend(map(seen.setdefault, values, values))
    if not columns[0]:
        raise DataError(f"File {str(file)!r}", "it has names of columns but no rows.")
    return {
        name: _typed(column, seen, missing)
        for name, column, seen in zip(names, columns, known, strict=True)
    }


def _header(file: Path, names: list[str]) -> list[str]:
    where = f"File {str(file)!r}"
    if not names:
        raise DataError(where, "it is empty.", "the first line holds the names of the columns")
    if len(names) == 1 and (found := re.search(r"[;\t|]", names[0])):
        problem = f"one column only, named {names[0]!r:.60}."
        sign = "a tab" if found.group() == "\t" else repr(found.group())
        hint = f"separate values by commas, not by {sign} (by tabs in a .tsv file)"
        raise DataError(where, problem, hint)
    for position, name in enumerate(names, start=1):
        if not name:
            raise DataError(where, f"column {position} has no name.", "name it in the first line")
    refuse_repeated(names)
    return names


def _of_width(
    file: Path, lines: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[list[str]]:
    for line, row in lines:
        if len(row) != width:
            problem = f"{counted(len(row), 'value')}, but {counted(width, 'column')} in the header."
            hint = "put values that contain a comma in double quotes" if len(row) > width else ""
            raise DataError(f"File {str(file)!r}, line {line}", problem, hint, line=line)
        yield row


def _typed(column: list[str], seen: dict[str, str], missing: set[str]) -> Any:
    """Return a column of texts as what all of them are."""
    texts = [text for text in seen if text not in missing]
    kind: Any = None
    meaning: dict[str, Any]
    if texts and all(map(_INTEGER.fullmatch, texts)):
        kind, meaning = np.int64, {text: int(text) for text in texts}
    elif texts and all(text.lower() in _BOOLEANS for text in texts):
        kind, meaning = np.bool_, {text: _BOOLEANS[text.lower()] for text in texts}
    elif numbers := _numbers(texts):
        kind, meaning = np.float64, dict(numbers)
    else:
        meaning = {text: text for text in texts}
    gaps = len(texts) < len(seen)
    meaning.update(dict.fromkeys(missing, math.nan if kind is np.float64 else None))
    values = list(map(meaning.__getitem__, column))
    # Neither integers nor booleans have a NaN, and strings stay Python strings.
    return values if kind is None or (gaps and kind is not np.float64) else np.array(values, kind)


def _numbers(texts: list[str]) -> dict[str, float]:
    """Return the numbers that texts stand for; none at all unless every text is a number."""
    if not all(_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text) for text in texts):
        return {}
    numbers = {text: float(text) for text in texts}
    return numbers if any(map(math.isfinite, numbers.values())) else {}


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

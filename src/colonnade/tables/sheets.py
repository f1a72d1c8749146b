"""The first sheet of a workbook as lines of texts, which are read like those of a text file."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from colonnade.exceptions import DataWarning, FileFormatError, counted, require, warn
from colonnade.wording import listing


def lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Read the first sheet of an Excel workbook: the number of each line, and its cells."""
    openpyxl = require("openpyxl", feature="Reading an Excel file", extra="formats")
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        problem = f"not readable as an Excel workbook ({' '.join(str(error).split())[:200]})."
        raise FileFormatError(str(file), "", problem) from error
    try:
        first, *others = book.worksheets
        if others:
            names = listing((sheet.title for sheet in others), 5)
            statement = f"File {str(file)!r}: sheet {first.title!r} was read"
            rest = f"{counted(len(others), 'other sheet')} left out ({names})"
            hint = "save the sheet to be read as a file of its own"
            warn(DataWarning(f"{statement}, {rest}.", hint))
        rows = [[_text(cell) for cell in row] for row in first.iter_rows(values_only=True)]
    finally:
        book.close()
    # A sheet may have formatted cells beyond its last value.
    width = max((k + 1 for row in rows for k, text in enumerate(row) if text), default=0)
    for number, row in enumerate(rows, 1):
        padded = (row + [""] * width)[:width]
        yield number, padded if any(padded) else []


def _text(value: Any) -> str:
    """Write a cell as a text file would have it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value).replace("\r\n", "\n")

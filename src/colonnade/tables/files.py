"""Tables in files: text by the standard library, other formats by whichever package is there."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
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
    warn,
)
from colonnade.progress import Progress
from colonnade.tables import packages, sheets
from colonnade.tables.headers import Header, numbered
from colonnade.tables.opening import (
    COMPRESSIONS,
    COPY_AGAIN,
    TextFile,
    existing,
    is_standard_input,
)
from colonnade.tables.remarks import of_dialect, of_readings
from colonnade.tables.separators import SAMPLE_LINES, named, separator_of
from colonnade.tables.texts import Codes, Decimal, Reading

TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ",", ".dat": ","}
# Endings of files whose values may be separated by blanks; names in others may contain some.
_MAY_HAVE_BLANKS = (".txt", ".dat")
_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".parquet": packages.parquet,
    ".pq": packages.parquet,
    ".feather": packages.feather,
    ".arrow": packages.feather,
    ".dta": packages.stata,
    ".sav": packages.spss,
    ".zsav": packages.spss,
}
_SHEETS = (".xlsx", ".xlsm")
ENDINGS = (*TEXT, *_READERS, *_SHEETS)
# What the standard library says of a quote that closes a value before something else.
_AFTER_QUOTE = re.compile(r"('.') expected after '\"'", re.DOTALL)
# Rows that are turned into columns at a time.
_BATCH_ROWS = 1 << 14


class TextTable(dict[str, Any]):
    """Columns by name; `codes` are the texts that stood for missing values, with their rows.

    Of a text file `texts` has the columns as they are written, if that was asked for.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        codes: Mapping[str, Mapping[str, int]] | None = None,
        texts: Mapping[str, list[str]] | None = None,
    ) -> None:
        super().__init__(columns)
        self.codes = codes or {}
        self.texts = texts or {}

    def only(self, names: Iterable[str]) -> TextTable:
        """Return some of the columns."""
        return TextTable({name: self[name] for name in names}, self.codes, self.texts)


def read(
    path: str | os.PathLike[str],
    na: Collection[str] | None = None,
    header: bool | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any]:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path
        Ends in ``.csv``, ``.tsv``, ``.tab``, ``.txt`` or ``.dat`` (text, which may be compressed:
        then ``.gz``, ``.bz2``, ``.xz``, ``.zip`` or ``.zst`` follows), ``.parquet`` or ``.pq``
        (needs PyArrow, Polars or DuckDB), ``.feather`` or ``.arrow`` (PyArrow or Polars), or,
        with the extra ``formats``, in ``.xlsx`` (Excel; the first sheet), ``.dta`` (Stata),
        ``.sav`` or ``.zsav`` (SPSS). ``"-"`` is standard input, for text.
    na : collection of str, optional
        Texts of a text file or a sheet that stand for a missing value, besides the empty one, in
        quotes or not. By default the usual ones: ``NA``, ``N/A``, ``n/a``, ``NaN``, ``nan``,
        ``NULL``, ``null``, ``?`` and whatever else pandas recognises, except ``None``, which is
        missing only among numbers and booleans, as is a single point. An empty list: none but the
        empty one.
    header : bool, optional
        Whether the first line of a text file or a sheet holds the names of the columns. If False,
        they are called column1, column2 and so on. By default it does, with a warning if it looks
        like data.
    separator : str, optional
        The sign between the values of a text file; by default a comma (a tab in ``.tsv`` and
        ``.tab`` files), or else a semicolon, a tab, a bar or, in ``.txt`` and ``.dat`` files,
        blanks, if that fits the first lines better.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers in a text file. By default a point, and a comma
        in columns whose texts are all numbers of that kind.
    encoding : str, optional
        Of a text file; by default UTF-8, UTF-16 or UTF-32 as marked, else UTF-8, and Windows-1252
        or Latin-1 if the file is not that.

    Returns
    -------
    dict of str to column
        A table as :func:`colonnade.fit` takes it. Columns of a text file or a sheet are integers,
        booleans (``true`` and ``false`` in any case), floating-point numbers or strings: the first
        of these that all their values are.
        Blanks around names and values, within quotes too, and empty lines are skipped; in a file of
        one column an empty line between others is a missing value. Columns before the first that
        has a name are an index, and left out.

    Raises
    ------
    DataError
        If a line has too many or too few values, or no column has a name.
    FileFormatError
        If the file is damaged, or not text in the encoding named.
    MissingExtraError
        If a package is needed that is not installed.

    Warns
    -----
    DataWarning
        Once for each kind of thing that was changed, left out or guessed: an encoding, a separator,
        a decimal comma, codes read as missing,
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
    return read_table(path, na, header, separator, decimal, encoding)


def read_table(
    path: str | os.PathLike[str],
    na: Collection[str] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    as_written: bool = False,
) -> dict[str, Any]:
    """Read a table as `read` does; `as_written` keeps the texts of a text file as well."""
    codes = Codes.of(na)
    if header is not None and not isinstance(header, bool):
        raise expected("True, False or None", "header", header)
    ending = ".csv" if is_standard_input(path) else ending_of(existing(path))
    of_text = {"separator": separator, "decimal": decimal, "encoding": encoding}
    if ending not in TEXT:
        given = of_text | ({} if ending in _SHEETS else {"na": na, "header": header})
        for name, value in given.items():
            if value is not None:
                raise inapplicable(name, value, "CSV files", _REASONS.get(name, ""))
    if ending in _READERS:
        return _READERS[ending](Path(path))
    if ending in _SHEETS:
        where = f"File {str(path)!r}"
        return _columns(where, sheets.lines(Path(path)), codes, header, Decimal.POINT)
    file = TextFile.of(path, encoding)
    return _text(file, TEXT[ending], codes, header, separator, decimal, as_written)


_REASONS = {
    "na": "in this format missing values are marked as such",
    "header": "files of this format have names",
}


def ending_of(path: Path) -> str:
    """Return the ending that says what a file holds, or raise if none does."""
    if path.is_char_device() or path.is_fifo():
        return ".csv"  # what another program writes has no name
    *_, last = suffixes = ["", *(suffix.lower() for suffix in path.suffixes)]
    if last in COMPRESSIONS:
        # An archive has a file inside that has a name of its own.
        before = suffixes[-2] if suffixes[-2] in TEXT else ".csv" if last == ".zip" else ""
        if before:
            return before
    if last not in ENDINGS:
        what = f"a file ending in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        hint = f"text files may be compressed: then {', '.join(COMPRESSIONS)} follows"
        raise expected(what, "path", str(path), hint if last in COMPRESSIONS else "")
    return last


def refuse_ending(path: Path) -> None:
    """Raise unless the name of a file ends in one of those that can be read."""
    if str(path) != "-":
        ending_of(path)


def is_text(path: Path) -> bool:
    """Whether a file holds text, by its name."""
    return str(path) == "-" or ending_of(path) in TEXT


def is_sheet(path: Path) -> bool:
    """Whether a file is a workbook, by its name."""
    return path.suffix.lower() in _SHEETS


def read_lines(
    path: str | os.PathLike[str] | TextFile, separator: str | None = None
) -> Generator[tuple[int, list[str]], None, None]:
    """Read the lines of a CSV file, each with its number; an empty one has no values.

    A line is what ends a record: a quoted value may contain line breaks. Without a separator,
    values are separated by tabs in a file ending in ``.tsv``, else by commas.
    """
    file = path if isinstance(path, TextFile) else TextFile.of(path)
    if separator is None:
        separator = TEXT.get(Path(file.path).suffix.lower(), ",")
    with file.lines() as stream:
        lines = _without_nul(file.path, stream)
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
        last = 0
        try:
            for row in reader:
                last = reader.line_num
                yield last, row
        except csv.Error as error:
            raise _invalid(file.path, str(error), last + 1, reader.line_num) from None


def _without_nul(path: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines up to the first with a NUL byte, which no text has."""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            problem = "it holds a NUL byte, so it is damaged or no text."
            raise FileFormatError(path, f"line {number}", problem, COPY_AGAIN)
        yield line


def _invalid(path: str, error: str, first: int, last: int) -> FileFormatError:
    """Word what is wrong with one record, which begins in a line: it is a quote that is at fault.

    One that is not closed makes everything a part of its value, up to the next quote.
    """
    if error == "unexpected end of data":
        problem, last = "a double quote that opens a value is never closed.", first
    elif error.startswith("field larger"):
        problem, last = f"a value has more than {csv.field_size_limit():,} characters.", first
    else:
        problem = f"not valid CSV ({error})."
    place = f"line {first}" if first == last else f"lines {first} to {last}"
    hint = "close the double quote that opens a value there, or remove it"
    if first == last and (found := _AFTER_QUOTE.fullmatch(error)):
        problem = "something stands between a double quote that closes a value and the next "
        problem += f"{found[1]}."
        hint = "remove it, be it a blank, or double the quote if it is part of the value"
    return FileFormatError(path, place, problem, hint)


# ------------------------------------------------------------------------- text


def _text(
    file: TextFile,
    usual: str,
    codes: Codes,
    header: bool | None,
    separator: str | None,
    decimal: str | None,
    as_written: bool,
) -> dict[str, Any]:
    found = separator_in(file, usual) if separator is None else checked_separator(separator)
    lines = read_lines(file, found)
    guessed = found if separator is None and found != usual else None
    sign = Decimal.of(decimal, found)
    return _columns(file.where, lines, codes, header, sign, guessed, as_written)


def separator_in(file: TextFile, usual: str) -> str:
    """Return the sign between the values of a file, guessed from its first lines."""
    blanks = any(suffix.lower() in _MAY_HAVE_BLANKS for suffix in Path(file.path).suffixes)
    with file.lines() as stream:
        return separator_of(list(islice(stream, SAMPLE_LINES)), usual, blanks)


def checked_separator(separator: Any) -> str:
    """Return a sign that may separate values, or say what is wrong with it."""
    usable = isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n'
    if not usable:
        raise expected("a single sign", "separator", separator, "such as ';' or a tab")
    return str(separator)


def _columns(
    where: str,
    lines: Iterator[tuple[int, list[str]]],
    codes: Codes,
    header: bool | None,
    decimal: Decimal,
    guessed: str | None = None,
    as_written: bool = False,
) -> dict[str, Any]:
    """Turn lines of texts into columns; `guessed` is a separator to be told."""
    first = next((each for each in lines if each[1]), None)
    if first is None:
        hint = "the first line holds the names of the columns"
        raise DataError(where, "it is empty.", hint)
    line = [name.strip() for name in first[1]]
    lines = chain([first] * (header is False), lines)
    lines = of_one_column(where, lines) if len(line) == 1 else lines
    columns: list[list[str]] = [[] for _ in line]
    seen: list[dict[str, str]] = [{} for _ in line]
    rows = of_width(where, lines, len(line))
    with Progress("Reading") as progress:
        while batch := list(islice(rows, _BATCH_ROWS)):
            for column, known, values in zip(columns, seen, zip(*batch, strict=True), strict=True):
                # Each text is kept once, however many rows have it.
                column.extend(map(known.setdefault, values, values))
            progress.advance(len(batch), f"Reading: {len(columns[0]):,} rows")
    if not columns[0]:
        raise DataError(where, "it has names of columns but no rows.", Advice.FIRST_LINE_IS_DATA)
    head = Header(where, line, seen, sure=header is True)
    names = dict(enumerate(map(numbered, range(len(line))))) if header is False else head.names
    readings = {
        name: Reading.of(seen[k], columns[k].count, codes, decimal) for k, name in names.items()
    }
    sure = decimal is Decimal.COMMA
    for warning in chain(
        of_dialect(where, None if guessed is None else named(guessed), readings, sure),
        () if header is False else head.warnings(),
        of_readings(where, readings, codes),
    ):
        warn(warning)
    codes_of = {name: reading.missing for name, reading in readings.items() if reading.missing}
    read_columns = {name: readings[name].values(columns[k]) for k, name in names.items()}
    texts = {name: columns[k] for k, name in names.items()} if as_written else None
    return TextTable(read_columns, codes_of, texts)


def of_one_column(
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


def of_width(where: str, lines: Iterator[tuple[int, list[str]]], width: int) -> Iterator[list[str]]:
    """Leave out empty lines, and refuse those with too many or too few values."""
    for line, row in lines:
        if not row or (len(row) == 1 < width and not row[0].strip()):
            continue  # an empty line, or one of blanks
        if len(row) != width:
            problem = f"{counted(len(row), 'value')}, but {counted(width, 'column')} in the header."
            hint = "put values that contain a comma in double quotes" if len(row) > width else ""
            raise DataError(f"{where}, line {line}", problem, hint, line=line)
        yield row

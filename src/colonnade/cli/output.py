"""What the command line prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from colonnade.exceptions import renamed
from colonnade.wording import counted

# Blanks between the columns of a table.
_GAP = 2
# Rows that are written at once.
_BLOCK_ROWS = 1 << 14
# A name is broken into lines of at least this many characters.
_MIN_NAME = 12


def clean(text: object) -> str:
    """Return a text as it may be shown: what steers a terminal is written out."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )


def say(text: str = "") -> None:
    """Print a line to standard output."""
    print(clean(text))


def say_json(value: Any) -> None:
    """Print a value as JSON to standard output; numbers that JSON does not know are null."""
    # Dates and the like, which columns of the data may hold, are written as text.
    print(json.dumps(_finite(value), indent=2, allow_nan=False, default=str))


def complain(text: str) -> None:
    """Print a line to standard error."""
    print(clean(text), file=sys.stderr)


def _console() -> Console:
    # Names may look like markup or hold a pair of colons: they are neither.
    return Console(markup=False, emoji=False, highlight=False)


def fits(rows: Iterable[Sequence[str]]) -> bool:
    """Whether a table fits the terminal without broken cells."""
    widths = [max(cell_len(clean(cell)) for cell in column) for column in zip(*rows, strict=True)]
    return sum(widths) + _GAP * (len(widths) - 1) <= _console().width


def grid(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str] = (),
    indent: int = 0,
    last_listed: bool = False,
) -> None:
    """Print a table to standard output; columns of `numbers` are aligned right, never broken.

    If cells of the last column are lists (`last_listed`), they are broken between their parts, and
    names in the first column rather than those.
    """
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    first = None
    if last_listed:
        rows, first = _broken_lists(head, list(rows))
    for k, name in enumerate(head):
        aligned: dict[str, Any] = {"justify": "right", "no_wrap": True} if name in numbers else {}
        aligned |= {"width": first} if k == 0 and first else {}
        table.add_column(Text(clean(name), style="bold"), overflow="fold", **aligned)
    for row in rows:
        table.add_row(*(Text("\n".join(map(clean, cell.split("\n")))) for cell in row))
    _console().print(Padding(table, (0, 0, 0, indent)) if indent else table)


def _broken_lists(
    head: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[Sequence[str]], int | None]:
    """Break the lists in the last column into lines that fit; also the width of the first column.

    That is None if names in it need not be broken.
    """
    widths = [
        max(cell_len(clean(cell)) for cell in column) for column in zip(head, *rows, strict=True)
    ]
    room = _console().width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    if widths[-1] <= room:
        return list(rows), None
    longest = max(cell_len(clean(part)) for row in rows for part in _parts(row[-1]))
    name = max(_MIN_NAME, widths[0] - max(0, longest - room))
    room = max(room + widths[0] - name, _MIN_NAME) if name < widths[0] else room
    broken: list[Sequence[str]] = [
        [*row[:-1], "\n".join(_lines_of(_parts(row[-1]), room))] for row in rows
    ]
    return broken, name if name < widths[0] else None


def _parts(text: str) -> list[str]:
    """The parts of a list, each with the comma after it."""
    *parts, last = text.split(", ")
    return [*(f"{part}," for part in parts), last]


def _lines_of(parts: Sequence[str], width: int) -> list[str]:
    """Put parts into lines; one that is longer than a line is broken between words."""
    pieces = [piece for part in parts for piece in textwrap.wrap(clean(part), width) or [""]]
    lines = pieces[:1]
    for piece in pieces[1:]:
        if cell_len(lines[-1]) + 1 + cell_len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def stacked(
    head: Sequence[str],
    blocks: Iterable[tuple[Sequence[str], Sequence[Sequence[str]]]],
    numbers: Sequence[str] = (),
) -> None:
    """Print a table whose first cells are too long to stand in a column: each above its rows.

    A block is the parts of such a cell, none of which is broken over lines, and rows of cells.
    """
    blocks = list(blocks)
    rows = [head, *(row for _, own in blocks for row in own)]
    widths = [max(cell_len(clean(cell)) for cell in column) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for name, cell, width in zip(head, map(clean, cells), widths, strict=True):
            blanks = " " * (width - cell_len(cell))
            padded.append(blanks + cell if name in numbers else cell + blanks)
        return " " * _GAP + (" " * _GAP).join(padded).rstrip()

    console = _console()
    console.print(Text(line(head), style="bold"), soft_wrap=True)
    for parts, own in blocks:
        say_parts(parts)
        for row in own:
            print(line(row))


def say_parts(parts: Sequence[str]) -> None:
    """Print an enumeration in lines that fit the terminal, broken between its parts if they do."""
    width, text = _console().width, ""
    commas = [f"{clean(part)}," for part in parts[:-1]] + [clean(part) for part in parts[-1:]]
    pieces = [piece for whole in commas for piece in textwrap.wrap(whole, width - 2 * _GAP)]
    for part in pieces:
        if text and cell_len(text) + 1 + cell_len(part) > width:
            print(text)
            text = " " * 2 * _GAP + part
        else:
            text = f"{text} {part}" if text else part
    print(text)


def say_wrapped(text: str, indent: str) -> None:
    """Print a text in lines that fit the terminal, all but the first indented."""
    width = _console().width
    print(textwrap.fill(clean(text), width, subsequent_indent=indent, break_on_hyphens=False))


def write_text(path: Path, text: str, overwrite: bool) -> None:
    """Write a file of text as a whole or not at all; - is standard output."""
    from colonnade.files.disk import write_bytes

    if str(path) == "-":
        print(text, end="")
        return
    with renamed(path="output"):
        write_bytes(path, text.encode(), overwrite)


def write_table(path: Path, columns: Mapping[str, Sequence[Any]], overwrite: bool) -> None:
    """Write columns as CSV, TSV or Parquet, as the ending of the name says."""
    if str(path) == "-":
        for text in _texts(path, columns):
            print(text, end="")
        return
    from colonnade.files.disk import replacing

    # Nothing but the disk limits a table: the limit of `write_bytes` is one of models.
    with renamed(path="output"), replacing(path, overwrite) as stream:
        if path.suffix.lower() in (".parquet", ".pq"):
            from colonnade.tables.packages import as_parquet

            stream.write(as_parquet(columns))
            return
        for text in _texts(path, columns):
            stream.write(text.encode())


def _texts(path: Path, columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table, block by block."""
    each = {name: listed(values) for name, values in columns.items()}
    rows = len(next(iter(each.values()), ()))
    for low in range(0, max(rows, 1), _BLOCK_ROWS):
        block = {name: values[low : low + _BLOCK_ROWS] for name, values in each.items()}
        yield _lines(path, block, names=low == 0)


@contextmanager
def table_writer(
    path: Path, overwrite: bool
) -> Iterator[Callable[[Mapping[str, Sequence[Any]]], None]]:
    """Yield what writes columns, block by block; the file is there as a whole or not at all."""
    from colonnade.files.disk import replacing

    with renamed(path="output"), replacing(path, overwrite) as stream:
        if path.suffix.lower() in (".parquet", ".pq"):
            from colonnade.tables.packages import parquet_writer

            with parquet_writer(stream) as write:
                yield write
            return

        def write_lines(columns: Mapping[str, Sequence[Any]]) -> None:
            stream.write(_lines(path, columns, names=stream.tell() == 0).encode())

        yield write_lines


def _lines(path: Path, columns: Mapping[str, Sequence[Any]], names: bool) -> str:
    """Write columns as lines of CSV or TSV, as the ending of the name says."""
    stream = io.StringIO()
    sign = "\t" if path.suffix.lower() == ".tsv" else ","
    writer = csv.writer(stream, delimiter=sign, lineterminator="\n")
    if names:
        writer.writerow(columns)
    for row in zip(*map(listed, columns.values()), strict=True):
        writer.writerow([_cell(value) for value in row])
    return stream.getvalue()


def listed(values: Any) -> list[Any]:
    """Return the plain values of a column, whichever package it comes from."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            found: list[Any] = getattr(values, method)()
            return found
    return list(values)


def _cell(value: Any) -> Any:
    """Write a value as our reader of CSV files gives it back."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def say_rest(
    rest: int, what: str, more: str = "--limit shows more, --json all", plural: str = ""
) -> None:
    """Say how many lines a table does not show, if any, and how to see them."""
    if rest:
        several = f"more {plural or f'{what}s'}"
        say(f"... {counted(rest, f'more {what}', several)}; {more}")


def figure(value: float) -> str:
    """Write a probability."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def interval(lower: float, upper: float) -> str:
    """Write the ends of an interval."""
    if math.isnan(lower):
        return "-"
    return f"{lower:.4f} - {upper:.4f}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

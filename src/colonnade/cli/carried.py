"""Columns of the data that are written beside what was found for each row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli.output import listed
from colonnade.exceptions import not_among

if TYPE_CHECKING:
    from colonnade.tables.files import TextTable

_ALL = "all"

Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Write these columns of the data as well, such as id,site, or all; may be given "
        "several times.",
    ),
]


def carried_names(
    words: Iterable[str] | None, columns: Sequence[str], truth: str | None = None
) -> tuple[str, ...]:
    """Return the columns that --keep names, and the true one, which is never lost."""
    names: list[str] = []
    for word in words or ():
        if word in columns:
            names.append(word)
        elif word == _ALL:
            names += columns
        else:
            names += [name.strip() for name in next(csv.reader([word], skipinitialspace=True), [])]
    for name in names:
        if name not in columns:
            raise not_among(columns, "keep", name)
    if truth is not None and truth in columns:
        names.append(truth)
    return tuple(dict.fromkeys(names))


def taken(table: TextTable, names: Iterable[str], typed: bool) -> dict[str, list[Any]]:
    """Return some columns of a table: texts as they are in a text file, else plain values.

    What is `typed` where it goes is numbers, unless different texts are one number: these are
    names, such as 1.1 and 1.10.
    """
    found = {}
    for name in names:
        values, texts = listed(table[name]), table.texts.get(name)
        found[name] = values if texts is None or (typed and _told_apart(values, texts)) else texts
    return found


def _told_apart(values: Sequence[Any], texts: Sequence[str]) -> bool:
    """Whether numbers are as different as the texts that they were read from."""
    if not all(isinstance(value, int | float) for value in values if value is not None):
        return True
    there = {(text.strip(), v) for text, v in zip(texts, values, strict=True) if v == v}
    return len({text for text, _ in there}) == len({value for _, value in there})


def has_types(output: Path | None, json: bool) -> bool:
    """Whether rows are written where values have types, which texts have not."""
    return json or (output is not None and output.suffix.lower() in (".parquet", ".pq"))


def beside(kept: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Put columns of the data before those that were found; no name may stand for both."""
    from colonnade.tables.levels import column_error

    for name in kept:
        if name in found:
            raise column_error(name, "it is a column of the answer, too.", "rename it, or --ignore")
    return {**kept, **found}

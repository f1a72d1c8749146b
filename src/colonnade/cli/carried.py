"""Columns of the data that are written beside what was found for each row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from colonnade.cli.output import listed
from colonnade.exceptions import not_among

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


def taken(table: Mapping[str, Any], names: Iterable[str]) -> dict[str, list[Any]]:
    """Return some columns of a table as plain values."""
    return {name: listed(table[name]) for name in names}


def beside(kept: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Put columns of the data before those that were found; no name may stand for both."""
    from colonnade.tables.levels import column_error

    for name in kept:
        if name in found:
            raise column_error(name, "it is a column of the answer, too.", "rename it, or --ignore")
    return {**kept, **found}

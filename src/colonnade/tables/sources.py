"""What a table in memory must answer, whatever package it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import Advice, DataError, expected, listing
from colonnade.tables.arrays import ArraySource, columns_of
from colonnade.tables.levels import Levels, place

__all__ = ["Source", "absent", "read"]


class Source(Protocol):
    """Named columns of one length."""

    names: list[str]
    rows: int

    def levels(self, name: str, declared: bool) -> Levels:
        """Return labels and codes of a column."""

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """Return a numeric column as floats, missing ones NaN; None if it is not numeric."""

    def floating(self, name: str) -> bool:
        """Whether the column holds floating-point numbers."""

    def text(self, name: str) -> bool:
        """Whether the column holds strings of a package that works on them outside Python."""

    def weights(self, name: str) -> NDArray[Any]:
        """Return a column to be used as weights."""

    def replaced(self, cut: Mapping[str, tuple[NDArray[Any], Sequence[str]]]) -> Any:
        """Return a table of the same kind with some columns replaced by states at codes."""


def read(table: Any) -> Source:
    """Take a table apart, whatever kind it is.

    Parameters
    ----------
    table : data frame, mapping of columns, structured array, or pair (array, names)

    Examples
    --------
    >>> read({"x": [1, 2], "y": ["a", "b"]}).names
    ['x', 'y']
    """
    columns = columns_of(table)
    if columns is not None:
        source: Source = ArraySource(columns)
    else:
        from colonnade.tables.frames import FrameSource

        source = FrameSource(table)
    for name in source.names:
        if not isinstance(name, str) or not name:
            what = "non-empty strings as column names"
            raise expected(what, "table", name, Advice.NAME_COLUMNS)
    if not source.names:
        raise expected("at least one column", "table", table)
    return source


def absent(wanted: Sequence[str], names: Sequence[str]) -> DataError | None:
    """Word the error for columns that are not there; None if all are.

    Examples
    --------
    >>> raise absent(["age"], ["smoker"])
    Traceback (most recent call last):
    colonnade.exceptions.DataError: Column 'age': not in the table, which has ['smoker'].
    """
    known = set(names)
    lost = tuple(name for name in wanted if name not in known)
    if not lost:
        return None
    problem = f"not in the table, which has {listing(names)}."
    return DataError(", ".join(map(place, lost)), problem, columns=lost)

"""What a table in memory, and each of its columns, must answer, whatever package it is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import Advice, DataError, expected
from colonnade.tables.arrays import ArraySource, StateColumn, columns_of
from colonnade.tables.levels import Levels, place


class Column(Protocol):
    """One column of a table."""

    @property
    def name(self) -> str:
        """Name, for messages."""

    @property
    def values(self) -> Any:
        """The column as a user sees it."""

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """Numbers as floats, missing ones NaN; None if it is not numeric."""

    @property
    def floating(self) -> bool:
        """Whether it holds floating-point numbers."""

    @property
    def text(self) -> bool:
        """Whether it holds strings of a package that works on them outside Python."""

    def levels(self, declared: bool) -> Levels:
        """Return labels and codes; `declared` says whether the states are known."""

    def weights(self) -> NDArray[Any]:
        """Return the values, to be used as weights."""


class Source(Protocol):
    """Named columns of one length."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns, in order."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def table(self) -> Any:
        """The table as a user sees it."""

    def column(self, name: str) -> Column:
        """Return one column."""

    def replaced(self, cut: Sequence[StateColumn]) -> Source:
        """Return a table of the same kind with some columns replaced."""


def source_of(table: Any) -> Source:
    """Take a table apart, whatever kind it is; a source is returned as it is."""
    if isinstance(table, ArraySource):
        return table
    columns = columns_of(table)
    if columns is not None:
        source: Source = ArraySource.of(columns)
    else:
        from colonnade.tables.frames import FrameSource

        source = table if isinstance(table, FrameSource) else FrameSource(table)
    for name in source.names:
        if not isinstance(name, str) or not name:
            what = "non-empty strings as column names"
            raise expected(what, "table", name, Advice.NAME_COLUMNS)
    if not source.names:
        raise expected("at least one column", "table", table)
    return source


def numbers_of(column: Column, hint: str) -> NDArray[np.float64]:
    """Return a column of numbers as floats, missing ones NaN, or raise with a hint."""
    numbers = column.numbers
    if numbers is None:
        raise DataError(place(column.name), "not a column of numbers.", hint, column=column.name)
    return numbers

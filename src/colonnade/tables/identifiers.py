"""Identifiers: columns that tell rows apart instead of describing them. One rule for everybody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colonnade.exceptions import Advice, ColumnWarning, counted, warn
from colonnade.tables.bins import MAX_NUMERIC_STATES, Measured
from colonnade.tables.levels import Levels, places
from colonnade.tables.sources import Column

# With fewer rows nothing can be said.
_MIN_ROWS = 20
# A column of text with at least this many states per row tells rows apart.
_MIN_STATES_PER_ROW = 0.5
# More different dates than a month has days are not a calendar but the time of each row.
_MAX_DATES = 31
# Values drawn by chance would have coincided about this often; then differing is no chance.
_MIN_COINCIDENCES = 5.0
# States of whole numbers with fewer rows each are too many.
_MIN_ROWS_PER_NUMBER = 10
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b.*|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d\d)\b.*")
_ID = re.compile(r"(?:.*[^A-Za-z])?(?:[Ii][Dd]|[Uu][Uu][Ii][Dd])|.*[a-z]I[dD]")


class Excess(NamedTuple):
    """A column with too many states: how many there are, in how many rows that have a value."""

    name: str
    states: int
    rows: int

    @property
    def enough(self) -> bool:
        """Whether there are so many states, and rows, that anything can be said."""
        return self.rows >= _MIN_ROWS and self.states > MAX_NUMERIC_STATES

    @property
    def thin(self) -> bool:
        """Whether few rows have each state."""
        return self.rows < _MIN_ROWS_PER_NUMBER * self.states

    def __str__(self) -> str:
        values = counted(self.states, "different value")
        return f"{self.name!r} ({values} in {counted(self.rows, 'row')})"


def identifier(column: Column, read: Measured | Levels) -> Excess | None:
    """Return what is to be said about a column that identifies rows; None of any other.

    Such a column has at least 20 values, and is one of these: text with a state for every second
    row or more; more than 31 dates; whole numbers that never repeat, although as many drawn at
    random from the same range would have repeated at least five times, or whose name ends in *id*.
    They may be floats, as pandas makes them where some are missing.
    """
    if isinstance(read, Measured):
        numbers = read.numbers[~np.isnan(read.numbers)] if read.guessed else np.empty(0)
        unique = never_repeat(column.name, numbers, read.guessed)
        return Excess(column.name, read.guessed, len(numbers)) if unique else None
    found = _excess(column.name, read)
    if found is None:
        return None
    # Numbers that are states are whole.
    whole = column.number_type is not None and not read.closed
    return found if identifies(found, read.present, whole) else None


def identifies(found: Excess, labels: Sequence[Any], whole: bool) -> bool:
    """Whether labels, of which there are many, identify rows; `whole` says they are numbers."""
    if all(isinstance(label, str) for label in labels):
        return found.states >= _MIN_STATES_PER_ROW * found.rows or are_dates(labels)
    if not whole or found.states < found.rows:
        return False
    return never_repeat(found.name, np.array(labels, dtype=object), len(labels))


def numeric_excess(column: Column, levels: Levels) -> Excess | None:
    """Return what is to be said about whole numbers that are too many states; None of any other."""
    if levels.closed or column.number_type is None:
        return None
    found = _excess(column.name, levels)
    return found if found is not None and found.thin else None


def warn_of_identifiers(found: Sequence[Excess]) -> None:
    """Say which columns seem to identify rows, and how to leave them out."""
    if found:
        verb = "seem" if len(found) > 1 else "seems"
        statement = f"{places(map(str, found))}: {verb} to identify rows, not to describe them."
        warn(ColumnWarning(statement, Advice.LEAVE_OUT, tuple(each.name for each in found)))


def warn_of_numbers(found: Sequence[Excess]) -> None:
    """Say which columns have too many whole numbers for states."""
    if found:
        statement = f"{places(map(str, found))}: every number is a state, and few rows have it."
        warn(ColumnWarning(statement, Advice.CUT, tuple(each.name for each in found)))


def _excess(name: str, levels: Levels) -> Excess | None:
    """Count states and rows of a column with more than a few states and enough rows."""
    labels, codes = levels.labels, levels.codes
    if len(labels) <= MAX_NUMERIC_STATES or len(codes) < _MIN_ROWS:
        return None
    # A negative code becomes a huge unsigned one, so one comparison counts the rows with a value.
    unsigned = codes.view(codes.dtype.str.replace("i", "u"))
    rows = np.count_nonzero(unsigned < len(labels))
    if len(labels) * _MIN_ROWS_PER_NUMBER <= rows and not are_dates(labels):
        return None  # too few states for any of the rules; most columns end here
    codes = codes[unsigned < len(labels)]
    states = np.count_nonzero(np.bincount(codes.astype(np.int64), minlength=1))
    found = Excess(name, int(states), len(codes))
    return found if found.enough else None


def are_dates(labels: Sequence[Any], least: int = _MAX_DATES + 1) -> bool:
    """Whether labels are dates, and by default more than a calendar has."""
    texts = len(labels) >= least and all(isinstance(label, str) for label in labels)
    return texts and all(map(_DATE.fullmatch, labels))


def never_repeat(name: str, numbers: Any, different: int) -> bool:
    """Whether whole numbers are all different, and more so than by chance or as their name says."""
    n = len(numbers)
    if n < _MIN_ROWS or different < n:
        return False
    width = float(max(numbers) - min(numbers)) + 1.0
    return n * (n - 1) / 2.0 / width >= _MIN_COINCIDENCES or _ID.fullmatch(name) is not None

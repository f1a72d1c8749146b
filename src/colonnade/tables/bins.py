"""Bins: which columns of numbers are cut, and into how many intervals. One rule for everybody."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import (
    Advice,
    ColumnWarning,
    checked_whole,
    counted,
    expected,
    renamed,
    warn,
)
from colonnade.tables.cuts import Cuts, Strategy
from colonnade.tables.levels import Levels, are_whole, as_float, float_levels, places
from colonnade.tables.sources import Column, numbers_of

# A column of whole numbers with more different values is cut; one with no more holds states.
MAX_NUMERIC_STATES = 10
DEFAULT_BINS = 5
_MIN_BINS = 2
# So many numbers of single rows show that there are more numbers than a sample has.
_LEAST_SINGLE = 2


# What may be said of one column: a number of intervals, where to cut it, or that it is kept.
Wanted: TypeAlias = "int | Iterable[float] | Cuts | None"


class Measured(NamedTuple):
    """Numbers to be cut, missing ones NaN, and into how many intervals at most, or where.

    `guessed` is the number of different values of a column of whole numbers that nobody named:
    they might be labels. It is 0 for all other columns.
    """

    numbers: Floats
    bins: int | Cuts
    guessed: int = 0

    def cuts(self, name: str, strategy: Strategy = "quantile", weights: Any = None) -> Cuts:
        """Return where the column is cut: as a user said, or learned from the numbers."""
        if isinstance(self.bins, Cuts):
            return self.bins
        return Cuts.learn(name, self.numbers, self.bins, strategy, weights)


@dataclass(frozen=True, slots=True)
class Bins:
    """Into how many intervals columns of numbers are cut.

    Whole numbers are cut if there are more than 10 different ones; up to 10 are states. It does
    not matter whether they are integers, floating-point numbers (as pandas makes them where some
    are missing) or decimals. Numbers with fractions are no states, so they are always cut. Columns
    that are named in `columns` are treated as it says.

    Parameters
    ----------
    default : int or None
        Largest number of intervals of a column that is not named; None if only those named are cut.
    columns : mapping of str to int, cut points, Cuts or None
        Single columns: the largest number of intervals, whatever values they have; the points to
        cut them at, as a list or, with names of the intervals, as :class:`Cuts`; or None, which
        keeps the values as states.

    Examples
    --------
    >>> from colonnade import discretize
    >>> table = {"age": [31, 44, 58], "stage": [1, 2, 2], "bmi": [18.5, 30.1, 22.4]}
    >>> cut = discretize(table, Bins(3, {"age": 2}))
    >>> {column.name: len(column.states) for column in cut.discretizer.columns}
    {'age': 2, 'bmi': 3}
    >>> own = Bins(columns={"bmi": Cuts("bmi", [18.5, 25], ["thin", "normal", "heavy"])})
    >>> discretize(table, own).table["bmi"].tolist()
    ['thin', 'heavy', 'normal']
    """

    default: int | None = DEFAULT_BINS
    columns: Mapping[str, Wanted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.default is not None:
            checked_whole(self.default, "bins", least=_MIN_BINS)
        if not isinstance(self.columns, Mapping):
            raise expected("a mapping of columns to numbers of intervals", "bins", self.columns)
        own = {name: _checked(name, wanted) for name, wanted in self.columns.items()}
        object.__setattr__(self, "columns", own)

    @classmethod
    def of(cls, bins: int | Mapping[str, Wanted] | Bins) -> Bins:
        """Return what a user asks for: one number for all columns, or numbers for some of them.

        Examples
        --------
        >>> Bins.of({"age": 4, "stage": None}).columns
        {'age': 4, 'stage': None}
        """
        if isinstance(bins, Bins):
            return bins
        if isinstance(bins, Mapping):
            return cls(columns=bins)
        hint = "{'age': 4} says it of single columns"
        return cls(checked_whole(bins, "bins", least=_MIN_BINS, hint=hint))

    def cuts(self, column: Column) -> bool:
        """Whether a column may be cut, by its name and its type."""
        if column.name in self.columns:
            return self.columns[column.name] is not None
        return self.default is not None and column.number_type is not None

    def read_sample(self, column: Column, weights: Array | None = None) -> Measured | Levels:
        """Read a column as `read` does, but mind that other rows may have other whole numbers.

        Up to 10 of them are numbers nevertheless if they span more than 10, and two or more have no
        more than one row each: new rows then have others, which would not be states.
        """
        found = self.read(column, weights)
        if isinstance(found, Measured) or column.name in self.columns or not self.cuts(column):
            return found
        numbers = _numbers(found)
        there = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
        codes = found.codes[there]
        times = np.bincount(codes, None if weights is None else weights[there])
        few = np.count_nonzero((times > 0) & (times <= 1)) >= _LEAST_SINGLE
        if not few or np.ptp(numbers[there]) < MAX_NUMERIC_STATES:
            return found
        assert self.default is not None  # see above
        return Measured(numbers, self.default, _different(found, weights))

    def read(self, column: Column, weights: Array | None = None) -> Measured | Levels:
        """Read a column once: as numbers to be cut, or as states.

        Rows without weight have no influence on which of them it is.
        """
        if not self.cuts(column):
            return column.levels(declared=False)
        own = self.columns.get(column.name)
        if isinstance(own, int | Cuts):
            return Measured(numbers_of(column, "only numbers are cut"), own)
        assert self.default is not None  # else nothing but named columns is cut
        if column.number_type is int:
            levels = column.levels(declared=False)
            if (different := _different(levels, weights)) <= MAX_NUMERIC_STATES:
                return levels
            return Measured(_numbers(levels), self.default, different)
        floats = numbers_of(column, "only numbers are cut")
        if not are_whole(floats):
            return Measured(floats, self.default)
        levels = float_levels(column.name, floats, declared=True)  # whole, as we know
        if (different := _different(levels, weights)) <= MAX_NUMERIC_STATES:
            return levels
        return Measured(floats, self.default, different)


def _checked(name: str, wanted: Any) -> int | Cuts | None:
    if wanted is None:
        return None
    if isinstance(wanted, Cuts):
        if wanted.name != name:
            raise expected(f"the cuts of {name!r}", "bins", wanted.name)
        return wanted
    if isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes):
        with renamed(points=f"bins[{name!r}]"):
            return Cuts(name, tuple(wanted))
    return checked_whole(wanted, f"bins[{name!r}]", least=_MIN_BINS)


def warn_of_cuts(guessed: Mapping[str, int]) -> None:
    """Say which columns of whole numbers were cut, given their numbers of different values."""
    if not guessed:
        return
    each = [f"{name!r} ({counted(n, 'different value')})" for name, n in guessed.items()]
    why = f"more than {MAX_NUMERIC_STATES} different ones"
    if min(guessed.values()) <= MAX_NUMERIC_STATES:
        why += " or several in one row each"
    statement = f"{places(each)}: whole numbers, {why}, were cut into intervals."
    warn(ColumnWarning(statement, Advice.NAME_BINS, tuple(guessed)))


def _different(levels: Levels, weights: Array | None) -> int:
    """Return the number of labels that some row of positive weight has."""
    if weights is None:
        return len(levels.present)
    return len(np.unique(levels.codes[(weights > 0) & (levels.codes >= 0)]))


def _numbers(levels: Levels) -> Floats:
    """Return the rows of a column of integers as floats, missing ones NaN."""
    floats: Floats = np.array([*map(as_float, levels.labels), math.nan])[levels.codes]
    return floats

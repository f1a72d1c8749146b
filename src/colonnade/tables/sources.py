"""Source: a table in memory as named columns, whatever package it is of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, ColonnadeError, expected, listing
from colonnade.tables.levels import (
    FRACTIONAL,
    Levels,
    column_error,
    float_levels,
    integer_levels,
    is_missing,
    missing_weight,
    object_levels,
    object_numbers,
    place,
    repeated_names,
    unusable,
)
from colonnade.tables.texts import reads_as_number

if TYPE_CHECKING:
    from colonnade.tables.frames import Frame


class Times(NamedTuple):
    """How many different dates, times or durations a column has, and in how many rows."""

    different: int
    rows: int
    durations: bool = False


class Column(Protocol):
    """One column of a table."""

    @property
    def name(self) -> str:
        """Name, for messages."""

    @property
    def values(self) -> Any:
        """The column as a user sees it."""

    @property
    def numbers(self) -> Floats | None:
        """Numbers as floats, missing ones NaN; None if it is not numeric."""

    @property
    def number_type(self) -> type[int] | type[float] | None:
        """Type of its numbers, float for decimals; None if it is not numeric."""

    @property
    def times(self) -> Times | None:
        """What is known of a column of dates or times; None if it holds anything else."""

    @property
    def text(self) -> bool:
        """Whether it holds strings of a package that works on them outside Python."""

    def levels(self, declared: bool) -> Levels:
        """Return labels and codes; `declared` says whether the states are known."""

    def weights(self) -> Array:
        """Return the values, to be used as weights."""


# ------------------------------------------- columns without a data-frame package


@dataclass(frozen=True, eq=False)
class ListColumn:
    """A column of Python objects; None, NaN and the like are missing."""

    name: str
    values: list[Any]
    text = False

    def levels(self, declared: bool) -> Levels:
        return object_levels(self.name, self.values, declared)

    @cached_property
    def numbers(self) -> Floats | None:
        return object_numbers(self.values)

    @property
    def number_type(self) -> type[int] | type[float] | None:
        kinds = set(map(type, self.values))
        floats = any(issubclass(kind, FRACTIONAL) for kind in kinds)
        whole = any(issubclass(kind, int | np.integer) for kind in kinds)
        if not (floats or whole) or self.numbers is None:
            return None
        return float if floats else int

    @property
    def times(self) -> Times | None:
        present = [value for value in self.values if not is_missing(value)]
        for kinds in (dt.date | dt.time, dt.timedelta):
            if present and all(isinstance(value, kinds) for value in present):
                return Times(len(set(present)), len(present), kinds is dt.timedelta)
        return None

    def weights(self) -> Array:
        return np.asarray(self.values)


@dataclass(frozen=True, eq=False)
class ArrayColumn:
    """A NumPy array of numbers, booleans or strings; masked entries are missing."""

    name: str
    values: Array
    text = False

    def levels(self, declared: bool) -> Levels:
        kind = self.values.dtype.kind
        if kind in "biu":
            return integer_levels(np.ma.getdata(self.values), self._missing)
        if kind == "f":
            return float_levels(self.name, self._floats, declared)
        if kind in "UT":
            return object_levels(self.name, _objects(self.values), declared)
        raise unusable(self.name, f"values of type {self.values.dtype}")

    @property
    def numbers(self) -> Floats | None:
        return self._floats if self.values.dtype.kind in "iuf" else None

    @property
    def number_type(self) -> type[int] | type[float] | None:
        return {"i": int, "u": int, "f": float}.get(self.values.dtype.kind)

    @property
    def times(self) -> Times | None:
        if (kind := self.values.dtype.kind) not in "Mm":
            return None
        present = self.values[~np.isnat(self.values)]
        return Times(len(np.unique(present)), len(present), kind == "m")

    def weights(self) -> Array:
        if self._missing is not None:
            raise missing_weight(place(self.name), int(self._missing.argmax()))
        return np.asarray(self.values)

    @property
    def _missing(self) -> NDArray[np.bool_] | None:
        return np.ma.getmaskarray(self.values) if np.ma.is_masked(self.values) else None

    @property
    def _floats(self) -> Floats:
        floats = np.ma.getdata(self.values).astype(np.float64, copy=False)
        return floats if self._missing is None else np.where(self._missing, np.nan, floats)


@dataclass(frozen=True, eq=False)
class StateColumn:
    """States whose codes are known already: intervals of numbers, or a column of a CodedTable.

    The codes are positions of states; -1 and the number of states both mean missing. `spellings`
    are other values that stand for states, as those of a variable.
    """

    name: str
    states: Sequence[Any]
    codes: Array
    spellings: Mapping[Any, Any] = field(default_factory=dict)
    text = False
    number_type = None
    times = None
    numbers = None

    def levels(self, declared: bool) -> Levels:
        return Levels(self.states, self.codes, closed=True)

    @cached_property
    def values(self) -> Array:
        states: Array = np.array([*self.states, None], dtype=object)[self.codes]
        return states

    def weights(self) -> Array:
        return self.values


@dataclass(frozen=True, eq=False)
class UnsoundColumn:
    """A column that cannot be used because of its name: an error, but only if somebody needs it."""

    name: Any
    values: Any
    error: ColonnadeError
    text = False
    number_type = None
    times = None

    @property
    def numbers(self) -> Floats | None:
        raise self.error

    def levels(self, declared: bool) -> Levels:
        raise self.error

    def weights(self) -> Array:
        raise self.error


# ------------------------------------------------------------------------ tables


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns of one length, and the data frame that they are taken from, if any."""

    columns: Mapping[str, Column]
    rows: int
    frame: Frame | None = None

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns, in order."""
        return tuple(self.columns)

    @property
    def table(self) -> Any:
        """The table as a user sees it: a data frame, or a dictionary of columns."""
        if self.frame is not None:
            return self.frame.native
        return {name: column.values for name, column in self.columns.items()}

    def replaced(self, cut: Sequence[StateColumn]) -> Source:
        """Return a table of the same kind with some columns replaced."""
        if self.frame is None:
            return replace(self, columns={**self.columns, **{each.name: each for each in cut}})
        from colonnade.tables.frames import categorised, frame_source

        return frame_source(categorised(self.frame, cut))


def source_of(table: Any) -> Source:
    """Take a table apart, whatever kind it is; a source is returned as it is."""
    if isinstance(table, Source):
        return table
    columns = _columns(table)
    if columns is not None:
        source = _source(columns)
    else:
        from colonnade.tables.frames import frame_source

        source = frame_source(table)
    if not source.names:
        raise expected("at least one column", "table", table, got="none")
    unnamed = [name for name in source.names if not isinstance(name, str) or not name]
    if not unnamed:
        return source
    what, columns = "non-empty strings as column names", dict(source.columns)
    for name in unnamed:
        error = expected(what, "table", name, Advice.NAME_COLUMNS)
        columns[name] = UnsoundColumn(name, columns[name].values, error)
    return replace(source, columns=columns)


def numbers_of(column: Column, hint: str) -> Floats:
    """Return a column of numbers as floats, missing ones NaN, or raise with a hint."""
    numbers = column.numbers
    if numbers is None:
        raise column_error(column.name, "not a column of numbers.", hint)
    return numbers


def not_a_number(column: Column) -> tuple[int, Any]:
    """Return the row and the value of the first that is no number, in a column with such values.

    If all are texts that read as numbers, it is the first of them.
    """
    values = column.values
    for name in ("to_list", "to_pylist", "tolist"):
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    there = [(row, value) for row, value in enumerate(values) if not is_missing(value)]
    return next((pair for pair in there if not reads_as_number(pair[1])), there[0])


def lacks_values(column: Column) -> bool:
    """Whether every row of a column is missing, whatever its type."""
    if (times := column.times) is not None:
        return times.rows == 0
    levels = column.levels(declared=True)
    # The code of a missing value is -1, or the number of labels.
    there = np.array([*(label is not None for label in levels.labels), False])
    return not there[levels.codes].any()


def _columns(table: Any) -> Mapping[str, Any] | None:
    """Take a dictionary, a structured array or a pair (array, names) apart, or return None."""
    if isinstance(table, Mapping):
        return table
    if isinstance(table, np.ndarray):
        if table.dtype.names is not None and table.ndim == 1:
            return {name: table[name] for name in table.dtype.names}
        hint = "give the array with its names: (array, ['a', 'b'])"
        got = f"an array of shape {table.shape} without names"
        raise expected("a table with named columns", "table", table, hint, got=got)
    if isinstance(table, list | tuple) and not table:
        hint = "see that the list of files is not empty"
        raise expected("a table, or at least one path", "table", table, hint)
    if isinstance(table, tuple) and len(table) == 2 and isinstance(table[0], np.ndarray):
        return _named(*table)
    return None


def _named(array: Array, names: Any) -> dict[str, Any]:
    if array.ndim != 2:
        what = "an array [row, column] and its names"
        raise expected(what, "table", array, got=f"an array of shape {array.shape}")
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise expected("a list of column names", "table", names)
    names = list(names)
    if len(names) != array.shape[1]:
        what = f"{array.shape[1]} column names"
        raise expected(what, "table", names, got=f"{len(names)}: {listing(names)}")
    columns: dict[str, Any] = {name: array[:, k] for k, name in enumerate(names)}
    for name, error in repeated_names(names).items():
        columns[name] = UnsoundColumn(name, columns[name], error)
    return columns


def _source(columns: Mapping[str, Any]) -> Source:
    """Take columns as a user gives them: lists, arrays, or series of a data-frame package."""
    found = {name: _column(name, values) for name, values in columns.items()}
    lengths = {name: len(column.values) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise expected("columns of one length", "table", lengths)
    return Source(found, next(iter(lengths.values()), 0))


def _column(name: str, values: Any) -> Column:
    if isinstance(values, UnsoundColumn | StateColumn):
        return values
    if isinstance(values, list | tuple | range):
        return ListColumn(name, values if isinstance(values, list) else list(values))
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            problem = f"an array of shape {values.shape} is not a column."
            raise column_error(name, problem, "give one value per row")
        if values.dtype.kind == "O":
            return ListColumn(name, _objects(values))
        return ArrayColumn(name, values)
    from colonnade.tables.frames import SeriesColumn

    return SeriesColumn.of(name, values)


def _objects(array: Array) -> list[Any]:
    """Return an array as Python objects, masked ones None."""
    values: list[Any] = np.ma.getdata(array).tolist()
    if np.ma.is_masked(array):
        gaps = np.ma.getmaskarray(array)
        values = [None if gap else v for v, gap in zip(values, gaps, strict=True)]
    return values

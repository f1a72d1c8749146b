"""Groups: what rows are grouped by in an engine, and the counts that come back.

The groups of a request are small tables in memory, whose columns have levels like any others. So
engines have no rules of their own for states.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import narwhals as nw
import numpy as np

from colonnade.arrays import Array
from colonnade.exceptions import DataError, counted, expected
from colonnade.tables.coded import refuse_total
from colonnade.tables.cuts import Cuts
from colonnade.tables.engines import GAPS, LARGEST, LEAST, SUM, WEIGHT, Eager
from colonnade.tables.frames import SeriesColumn
from colonnade.tables.levels import Levels, column_error, place
from colonnade.tables.memory import levels_of

# Positions of labels are told apart by a table up to this size, else by sorting.
_MAX_DENSE_MARGIN = 1 << 20
_INFINITE = -1  # the interval of a number that is none

# ----------------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumn:
    """One column as it is grouped: its values, its intervals, or one fraction for all fractions."""

    name: str
    alias: str
    kind: Any
    declared: bool
    cut: Cuts | None

    @property
    def expression(self) -> nw.Expr:
        """What the rows are grouped by."""
        value = nw.col(self.name)
        if self.is_cut:
            return _interval(value.cast(nw.Float64), self.cut).alias(self.alias)  # type: ignore[arg-type]
        if self.fractional:
            value = value.cast(nw.Float64)
            if not self.declared:
                # Numbers with a fraction are no states. One stands for all of them, or a column
                # that was meant to be cut would have as many groups as rows.
                broken = value.is_finite() & (value.floor() != value)
                value = nw.when(broken).then(nw.lit(0.5)).otherwise(value)
        return value.alias(self.alias)

    @property
    def is_cut(self) -> bool:
        """Whether its numbers are to be cut; names of intervals are taken as they are."""
        return self.cut is not None and bool(self.kind.is_numeric())

    @property
    def fractional(self) -> bool:
        """Whether its numbers may have a fraction."""
        return bool(self.kind.is_float() or self.kind.is_decimal())

    def present(self, known: Sequence[Any] | None, unknown: Sequence[Any] = ()) -> nw.Expr:
        """Whether a row has a value, and one of those known if there are others.

        Texts that stand for intervals are many: of these, the others are named.
        """
        value = nw.col(self.name)
        if self.fractional:
            value = value.cast(nw.Float64)
            known = None if known is None else [float(state) for state in known]
        there = ~value.is_null()
        if self.fractional:
            there = there & ~value.is_nan()
        if known is None:
            return there
        return there & (value.is_in(known) if self.cut is None else ~value.is_in(unknown))

    def levels(self, series: nw.Series[Any]) -> Levels:
        """Return the labels of groups, by the rules of tables in memory."""
        column = SeriesColumn(self.name, series)
        if self.cut is None or not self.is_cut:
            return _without_none(levels_of(column, self.declared, self.cut))
        numbers = np.asarray(column.numbers, dtype=np.float64)
        codes = np.nan_to_num(numbers, nan=len(self.cut.states))
        if (codes == _INFINITE).any():
            problem = "infinity, or a number too large to be cut."
            raise column_error(self.name, problem, "correct it, or mark it as missing")
        return Levels(self.cut.states, codes.astype(np.int64), closed=True)

    def number_type(self, labels: Sequence[Any]) -> type[int] | type[float] | None:
        """Type of its numbers; None if it holds anything else."""
        if self.kind.is_numeric():
            return float if self.fractional else int
        return int if labels and all(type(label) is int for label in labels) else None


def _without_none(levels: Levels) -> Levels:
    """Return levels all of whose labels mean something."""
    present = levels.present
    if len(present) == len(levels.labels):
        return levels
    ranks = np.cumsum([label is not None for label in levels.labels]) - 1
    gone = [label is None for label in levels.labels]
    table = np.array([*np.where(gone, -1, ranks), -1], dtype=np.int64)
    return Levels(present, table[levels.codes], levels.closed)


def _interval(value: nw.Expr, cut: Cuts) -> nw.Expr:
    """Which interval a number lies in: how many points are below it."""
    code = nw.lit(0)
    for point in cut.points:
        code = code + (value > point).cast(nw.Int64)
    measured = nw.when(value.is_finite()).then(code).otherwise(nw.lit(_INFINITE))
    return nw.when(~(value.is_null() | value.is_nan())).then(measured)


# ---------------------------------------------------------------------- what was found


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The rows of all combinations of values of some columns, missing ones included."""

    columns: tuple[int, ...]
    levels: tuple[Levels, ...]
    rows: Array  # [cell]
    values: Array  # [cell]: sums of weights, or the rows

    def rows_of(self, column: int) -> list[int]:
        """Number of rows of each label of a column."""
        levels = self.levels[self.columns.index(column)]
        there = (levels.codes >= 0) & (levels.codes < len(levels.labels))
        found = np.zeros(len(levels.labels), np.int64)
        np.add.at(found, levels.codes[there], self.rows[there])
        own: list[int] = found.tolist()
        return own

    def margin(
        self, members: Sequence[int], labels: Sequence[Mapping[Any, int]]
    ) -> tuple[Array, Array]:
        """Counts of some of its columns: positions of labels [cell, member], and how often."""
        codes = [self._positions(k, labels[k]) for k in members]
        shape = [len(labels[k]) + 1 for k in members]
        if math.prod(shape) > _MAX_DENSE_MARGIN:
            return np.stack(codes, axis=1), self.values
        found = np.zeros(math.prod(shape), self.values.dtype)
        np.add.at(found, np.ravel_multi_index(codes, shape), self.values)
        cells = np.flatnonzero(found)
        return np.stack(np.unravel_index(cells, shape), axis=1), found[cells]

    def _positions(self, column: int, labels: Mapping[Any, int]) -> Array:
        """Positions of a column's values among the labels that were found first."""
        levels = self.levels[self.columns.index(column)]
        own = [len(labels) if label is None else labels.get(label, -1) for label in levels.labels]
        if -1 in own:
            problem = "new values appeared while it was counted."
            raise DataError("Table", problem, "count it when nobody writes to it")
        table = np.array([*own, len(labels)], dtype=np.int64)
        codes: Array = table[levels.codes]
        return codes


class Groups:
    """All groups of one request, to find those of a family in."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._having: dict[int, list[Group]] = {}
        for group in sorted(groups, key=lambda group: len(group.rows)):
            for column in group.columns:
                self._having.setdefault(column, []).append(group)

    def smallest(self, members: Sequence[int]) -> Group:
        """Return the shortest table of counts that has some columns."""
        wanted = set(members)
        return next(g for g in self._having[members[0]] if wanted.issubset(g.columns))


def largest_sets(families: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the sets of columns that are no part of another: the others are their margins."""
    distinct = sorted({frozenset(family) for family in families}, key=len, reverse=True)
    kept: list[frozenset[int]] = []
    for _, alike in groupby(distinct, len):
        larger = tuple(kept)  # different sets of one size hold no other
        kept += (each for each in alike if not any(each <= other for other in larger))
    return [tuple(sorted(each)) for each in kept]


# ---------------------------------------------------------------------------- weights


def weight_expression(name: str, kind: Any) -> nw.Expr:
    """Return the weight of a row as an integer or a float, null where it is missing."""
    if not kind.is_numeric() and kind != nw.Boolean:
        problem = f"values of type {kind} cannot be weights."
        hint = "weights are numbers: convert the column, or name another"
        raise column_error(name, problem, hint)
    weight = nw.col(name)
    if kind == nw.Int64:  # what is cast may lose its gaps, of Dask
        return weight.alias(WEIGHT)
    if kind.is_integer() or kind == nw.Boolean:
        return weight.cast(nw.Int64).alias(WEIGHT)
    weight = weight.cast(nw.Float64)
    # Engines do not agree on what is missing, and all of them know null.
    return nw.when(~weight.is_nan()).then(weight).alias(WEIGHT)


def refuse_array(weights: Any) -> None:
    """Raise unless weights are a column, or none."""
    if weights is not None and not isinstance(weights, str):
        hint = "rows of a table that is not in memory have no order to put weights in"
        raise expected("the name of a column", "weights", weights, hint, got="an array")


def checked_sums(name: str, table: Eager) -> Array:
    """Return the sums of weights, or say what is wrong with these."""
    if gaps := int(table[GAPS].sum()):
        problem = f"the weight is missing in {counted(gaps, 'row')}."
        raise column_error(name, problem, "use 0 for rows to leave out")
    hint = "weights say how often a row counts; use 0 for rows to leave out"
    least, largest = (np.asarray(table[each].to_numpy()) for each in (LEAST, LARGEST))
    if (least < 0).any():
        raise column_error(name, f"weight {least.min()} is negative.", hint)
    if np.isinf(largest).any():
        raise column_error(name, "a weight is not finite.", hint)
    sums = np.asarray(table[SUM].to_numpy())
    refuse_total(sums, place(name))
    return sums.astype(np.int64 if least.dtype.kind in "iu" else np.float64)

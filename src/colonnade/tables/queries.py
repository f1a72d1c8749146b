"""Queried: a table of a database, a cluster or a lazy data frame, counted where it is.

Only counts leave the engine. Group-bys say how many rows have each combination of values, missing
ones included, so the states of a column are a margin of any family that it is in: one request
finds states and counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np

from colonnade.arrays import Array
from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, DataError, counted, expected, is_word, not_among
from colonnade.tables.coded import CodedTable, refuse_total
from colonnade.tables.compact import CompactColumns
from colonnade.tables.countable import Asked, Countable, Elsewhere, Members
from colonnade.tables.cuts import Cuts
from colonnade.tables.discretize import Discretizer
from colonnade.tables.engines import (
    GAPS,
    LARGEST,
    LEAST,
    ROWS,
    SUM,
    WEIGHT,
    Eager,
    Engine,
)
from colonnade.tables.frames import SeriesColumn, refuse_unusable
from colonnade.tables.joints import plan as planned
from colonnade.tables.levels import Levels, column_error, place, refuse_missing
from colonnade.tables.memory import encode, levels_of, plan
from colonnade.tables.states import Coding, Seen
from colonnade.variables import Variable

# Families are put together in joint tables of so many cells: fewer group-bys, and counts that
# still are few beside the rows.
_MAX_JOINT_CELLS = 1 << 14
# Compact columns of an embedded engine take this many bytes before they are kept on disk.
_MEMORY = 1_000_000_000
# Positions of labels are told apart by a table up to this size, else by sorting.
_MAX_DENSE_MARGIN = 1 << 20
_INFINITE = -1  # the interval of a number that is none


# ----------------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
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

    def present(self, known: Sequence[Any] | None) -> nw.Expr:
        """Whether a row has a value, and one of those known if there are others."""
        value = nw.col(self.name)
        if self.fractional:
            value = value.cast(nw.Float64)
            known = None if known is None else [float(state) for state in known]
        there = ~value.is_null()
        if self.fractional:
            there = there & ~value.is_nan()
        return there if known is None else there & value.is_in(known)

    def levels(self, series: nw.Series[Any]) -> Levels:
        """Return the labels of groups, by the rules of tables in memory."""
        column = SeriesColumn(self.name, series)
        if self.cut is None or not self.is_cut:
            return _without_none(levels_of(column, self.declared, self.cut))
        codes = np.nan_to_num(column.numbers, nan=len(self.cut.states))
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
class _Group:
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


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the first request found of all columns."""

    coding: Coding
    base: tuple[Variable, ...]  # without any state for what is missing
    labels: tuple[Mapping[Any, int], ...]
    rows: int
    total: float


def _smallest(groups: Sequence[_Group], members: Sequence[int]) -> _Group:
    """Return the shortest table of counts that has some columns."""
    having = [group for group in groups if set(members) <= set(group.columns)]
    return min(having, key=lambda group: len(group.rows))


def _largest_sets(families: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the sets of columns that are no part of another: the others are their margins."""
    distinct = sorted({frozenset(family) for family in families}, key=len, reverse=True)
    kept: list[frozenset[int]] = []
    for each in distinct:
        if not any(each <= other for other in kept):
            kept.append(each)
    return [tuple(sorted(each)) for each in kept]


def _is_weight(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind == nw.Boolean)


class Queried(Elsewhere):
    """A table of an engine: what is asked becomes one request, and counts come back.

    Parameters
    ----------
    engine : Engine
    asked : Asked
    """

    def __init__(self, engine: Engine, asked: Asked) -> None:
        if not is_word(asked.unknown, "raise", "missing"):
            raise expected("'raise' or 'missing'", "unknown", asked.unknown)
        if asked.discretizer is not None and not isinstance(asked.discretizer, Discretizer):
            raise expected("a Discretizer or None", "discretizer", asked.discretizer)
        if asked.weights is not None and not isinstance(asked.weights, str):
            hint = "rows of a table that is not in memory have no order to put weights in"
            raise expected("the name of a column", "weights", asked.weights, hint, got="an array")
        with engine.answering():
            schema = engine.frame.collect_schema()
        self._declared, names = plan(list(schema), asked.variables, asked.columns, asked.weights)
        if asked.group is not None and (
            not isinstance(asked.group, str) or asked.group not in names
        ):
            raise not_among(names, "group", asked.group)
        self._engine, self._asked = engine, asked
        self.names = tuple(names)
        self._columns = tuple(self._column(name, schema[name]) for name in names)
        if asked.weights is not None and not _is_weight(schema[asked.weights]):
            problem = f"values of type {schema[asked.weights]} cannot be weights."
            hint = "weights are numbers; name another column, or leave numeric weights uncut"
            raise column_error(asked.weights, problem, hint)
        self._missing_states = self._told = False
        self._found: _Known | None = None

    def _column(self, name: str, kind: Any) -> _Column:
        cutter = self._asked.discretizer
        cut = cutter.get(name) if cutter else None
        refuse_unusable(name, kind)
        return _Column(name, f"c{self.names.index(name)}", kind, name in self._declared, cut)

    # ------------------------------------------------------------------ known at once

    @property
    def discretizer(self) -> Discretizer | None:
        """How numeric columns are cut."""
        cutter = self._asked.discretizer
        return cutter.only(self.names) if cutter else None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._asked.weights is not None

    # ------------------------------------------------------------- found by a request

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns with their states."""
        return self._known.coding.variables

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._known.rows

    @property
    def total(self) -> float:
        """Sum of the weights, or the number of rows."""
        return self._known.total

    @property
    def missing(self) -> tuple[int, ...]:
        """Number of rows without a value, for each column."""
        return self._known.coding.missing

    @property
    def unknown(self) -> Mapping[str, Mapping[Any, int]]:
        """Values that are no states and are taken as missing."""
        return self._known.coding.unknown

    @property
    def _known(self) -> _Known:
        if self._found is None:
            self.counts([], "available")
        assert self._found is not None  # every request sets it
        return self._found

    # ------------------------------------------------------------------------- verbs

    def select(self, names: Sequence[str]) -> Queried:
        """Return some columns, in the order given."""
        if tuple(names) == self.names:
            return self
        states = {name: self._declared[name].states for name in names if name in self._declared}
        asked = replace(self._asked, variables=states, columns=tuple(names))
        if asked.group is not None and asked.group not in names:
            asked = replace(asked, group=None)
        return self._again(self._engine, asked)

    def with_missing_states(self) -> Queried:
        """Return the table with *missing* as one more state of columns that have gaps."""
        again = self._again(self._engine, self._asked)
        again._missing_states = True
        return again

    def only_complete(self) -> Queried:
        """Return the rows that have all their values; states stay as they are."""
        pairs = zip(self._columns, self.variables, strict=True)
        there = [column.present(self._states(variable)) for column, variable in pairs]
        states = {variable.name: variable.states for variable in self.variables}
        asked = replace(self._asked, variables=states, columns=self.names)
        return self._again(replace(self._engine, frame=self._engine.frame.filter(*there)), asked)

    def settled(self) -> Countable:
        """Return compact columns of an engine in this process; others are asked again and again."""
        return self._compact() if self._engine.embedded else self

    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families by one request, the first of which finds the states as well."""
        chosen = [tuple(self._position(name) for name in family) for family in families]
        groups = self._groups(self._sets(chosen))
        known = self._found or self._settle(groups)
        if missing == "raise":
            used = sorted({k for members in chosen for k in members})
            gaps = {self.names[k]: known.coding.missing[k] for k in used}
            refuse_missing(gaps, known.rows, Advice.COUNT_COMPLETE_ROWS)
        return [
            known.coding.counts(own, *_smallest(groups, own).margin(own, known.labels))
            for own in chosen
        ]

    def blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in the engine's order; their states were found before."""
        base = self._known.base
        wanted = [*self.names, *([self._asked.weights] if self.weighted else [])]
        with self._engine.answering():
            for block in self._engine.batches(self._engine.frame.select(*wanted)):
                coded = encode(
                    block,
                    base,
                    self._asked.weights,
                    self._asked.unknown,
                    self._asked.discretizer,
                    self.names,
                )
                yield CodedTable(self.variables, coded.codes, coded.weights, self.discretizer)

    # ---------------------------------------------------------------------- private

    def _again(self, engine: Engine, asked: Asked) -> Queried:
        again = Queried(engine, asked)
        again._missing_states, again._told = self._missing_states, self._told
        return again

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise not_among(self.names, "name", name)
        return self.names.index(name)

    def _sets(self, chosen: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return which columns are grouped together, so that all families are margins of them."""
        if self._found is None:  # all columns, for their states
            chosen = [*chosen, *((k,) for k in range(len(self.names)))]
        sets = _largest_sets(chosen)
        if (sizes := self._sizes) is None:
            return sets
        joints, alone = planned(sets, sizes, _MAX_JOINT_CELLS)
        return [*(joint.columns for joint in joints), *(sets[k] for k in alone)]

    @property
    def _sizes(self) -> list[int] | None:
        """How many values each column has, missing as one of them, where that is known."""
        if self._found is not None:
            return [len(labels) + 1 for labels in self._found.labels]
        if self._asked.unknown == "raise" and all(name in self._declared for name in self.names):
            return [self._declared[name].cardinality + 1 for name in self.names]
        return None

    def _groups(self, sets: Sequence[tuple[int, ...]]) -> list[_Group]:
        """Ask the engine for the counts of some sets of columns."""
        if not sets:
            return []
        used = sorted({k for own in sets for k in own})
        wanted = [self._columns[k].expression for k in used]
        if self._asked.weights is not None:
            wanted.append(self._weight(self._asked.weights))
        with self._engine.answering():
            frame = self._engine.frame.select(*wanted)
            aliases = [[self._columns[k].alias for k in own] for own in sets]
            tables = self._engine.grouped(frame, aliases, self.weighted)
        return [self._group(own, table) for own, table in zip(sets, tables, strict=True)]

    def _weight(self, name: str) -> nw.Expr:
        kind = self._engine.frame.collect_schema()[name]
        weight = nw.col(name)
        if kind.is_integer() or kind == nw.Boolean:
            return weight.cast(nw.Int64).alias(WEIGHT)
        weight = weight.cast(nw.Float64)
        # Engines do not agree on what is missing, and all of them know null.
        return nw.when(~weight.is_nan()).then(weight).alias(WEIGHT)

    def _group(self, own: tuple[int, ...], table: Eager) -> _Group:
        rows = np.asarray(table[ROWS].to_numpy(), dtype=np.int64)
        values = rows
        if self._asked.weights is not None:
            values = _checked_sums(self._asked.weights, table)
        levels = (self._columns[k].levels(table[self._columns[k].alias]) for k in own)
        return _Group(own, tuple(levels), rows, values)

    def _settle(self, groups: Sequence[_Group]) -> _Known:
        """Find the states after the first request."""
        seen = []
        for k, column in enumerate(self._columns):
            group = _smallest(groups, [k])
            levels = group.levels[group.columns.index(k)]
            settled = column.cut is not None or column.name == self._asked.group
            seen.append(
                Seen(
                    column.name,
                    levels.labels,
                    group.rows_of(k),
                    levels.closed,
                    None if levels.closed else column.number_type(levels.labels),
                    settled=settled,
                )
            )
        rows = int(groups[0].rows.sum())
        first, self._told = not self._told, True
        coding = Coding.of(seen, rows, self._declared, self._asked.unknown == "raise", first)
        base = coding.variables
        if self._missing_states:
            coding = coding.with_missing_states()
        labels = tuple(
            {label: k for k, label in enumerate(each.labels) if label is not None} for each in seen
        )
        self._found = _Known(coding, base, labels, rows, float(groups[0].values.sum()))
        return self._found

    def _compact(self) -> CodedTable:
        """Return all rows as compact columns, in memory or on disk."""
        variables, store, weights = self.variables, CompactColumns(_MEMORY), []
        for block in self.blocks():
            store.add(block.codes)
            weights += [] if block.weights is None else [block.weights]
        sizes = [variable.cardinality for variable in variables]
        return CodedTable(
            variables,
            tuple(store.recoded([np.arange(size + 1) for size in sizes], sizes)),
            np.concatenate(weights) if weights else None,
            self.discretizer,
            self.unknown,
        )

    def _states(self, variable: Variable) -> list[Any] | None:
        """Return the states that occur, if other values do as well."""
        labels = self._known.labels[self._position(variable.name)]
        if variable.name not in self.unknown:
            return None
        return [state for state in variable.states if state in labels]


def _checked_sums(name: str, table: Eager) -> Array:
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

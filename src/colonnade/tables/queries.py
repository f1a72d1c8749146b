"""Queried: a table of a database, a cluster or a lazy data frame, counted where it is.

Only counts leave the engine. Group-bys say how many rows have each combination of values, missing
ones included, so the states of a column are a margin of any family that it is in: one request
finds states and counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, expected, is_word, not_among
from colonnade.tables.coded import CodedTable
from colonnade.tables.compact import CompactColumns
from colonnade.tables.countable import Asked, Countable, Elsewhere, Members
from colonnade.tables.discretize import Discretizer
from colonnade.tables.engines import ROWS, Eager, Engine
from colonnade.tables.frames import refuse_unusable
from colonnade.tables.groups import (
    Group,
    GroupedColumn,
    Groups,
    checked_sums,
    largest_sets,
    weight_expression,
)
from colonnade.tables.joints import plan as planned
from colonnade.tables.levels import refuse_missing
from colonnade.tables.memory import encode, plan
from colonnade.tables.states import Coding, Seen
from colonnade.variables import Variable

# Families are put together in joint tables of so many cells: fewer group-bys, and counts that
# still are few beside the rows.
_MAX_JOINT_CELLS = 1 << 14
# Compact columns of an embedded engine take this many bytes before they are kept on disk.
_MEMORY = 1_000_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the first request found of all columns."""

    coding: Coding
    base: tuple[Variable, ...]  # without any state for what is missing
    labels: tuple[Mapping[Any, int], ...]
    rows: int
    total: float


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
        self._weights = weights = asked.weights
        self._weight = None if weights is None else weight_expression(weights, schema[weights])
        self._missing_states = self._told = False
        self._found: _Known | None = None

    def _column(self, name: str, kind: Any) -> GroupedColumn:
        cutter = self._asked.discretizer
        cut = cutter.get(name) if cutter else None
        refuse_unusable(name, kind)
        return GroupedColumn(name, f"c{self.names.index(name)}", kind, name in self._declared, cut)

    # ------------------------------------------------------------------ known at once

    @property
    def discretizer(self) -> Discretizer | None:
        """How numeric columns are cut."""
        cutter = self._asked.discretizer
        return cutter.only(self.names) if cutter else None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._weights is not None

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
        if self._found is not None:
            coding = self._found.coding.with_missing_states()
            again._found = replace(self._found, coding=coding)
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
        groups = Groups(found := self._groups(self._sets(chosen)))
        known = self._found or self._settle(groups, found[0])
        if missing == "raise":
            used = sorted({k for members in chosen for k in members})
            gaps = {self.names[k]: known.coding.missing[k] for k in used}
            refuse_missing(gaps, known.rows, Advice.COUNT_COMPLETE_ROWS)
        return [
            known.coding.counts(own, *groups.smallest(own).margin(own, known.labels))
            for own in chosen
        ]

    def blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in the engine's order; their states were found before."""
        base = self._known.base
        wanted = [*self.names, *([] if self._weights is None else [self._weights])]
        with self._engine.answering():
            for block in self._engine.batches(self._engine.frame.select(*wanted)):
                coded = encode(
                    block,
                    base,
                    self._weights,
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
        sets = largest_sets(chosen)
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

    def _groups(self, sets: Sequence[tuple[int, ...]]) -> list[Group]:
        """Ask the engine for the counts of some sets of columns."""
        if not sets:
            return []
        used = sorted({k for own in sets for k in own})
        wanted = [self._columns[k].expression for k in used]
        if self._weight is not None:
            wanted.append(self._weight)
        with self._engine.answering():
            frame = self._engine.frame.select(*wanted)
            aliases = [[self._columns[k].alias for k in own] for own in sets]
            tables = self._engine.grouped(frame, aliases, self.weighted)
        return [self._group(own, table) for own, table in zip(sets, tables, strict=True)]

    def _group(self, own: tuple[int, ...], table: Eager) -> Group:
        rows = np.asarray(table[ROWS].to_numpy(), dtype=np.int64)
        values = rows
        if self._weights is not None:
            values = checked_sums(self._weights, table)
        levels = (self._columns[k].levels(table[self._columns[k].alias]) for k in own)
        return Group(own, tuple(levels), rows, values)

    def _settle(self, groups: Groups, whole: Group) -> _Known:
        """Find the states after the first request; each of its groups has all rows."""
        seen = []
        for k, column in enumerate(self._columns):
            group = groups.smallest([k])
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
        rows = int(whole.rows.sum())
        first, self._told = not self._told, True
        coding = Coding.of(seen, rows, self._declared, self._asked.unknown == "raise", first)
        base = coding.variables
        if self._missing_states:
            coding = coding.with_missing_states()
        labels = tuple(
            {label: k for k, label in enumerate(each.labels) if label is not None} for each in seen
        )
        self._found = _Known(coding, base, labels, rows, float(whole.values.sum()))
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

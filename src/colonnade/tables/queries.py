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

from colonnade.arrays import Array
from colonnade.counts import FamilyCounts
from colonnade.exceptions import DataError, listing
from colonnade.tables.asked import Asked
from colonnade.tables.coded import CodedTable
from colonnade.tables.compact import CompactColumns
from colonnade.tables.countable import Countable, Members
from colonnade.tables.elsewhere import Elsewhere, Known
from colonnade.tables.engines import ROWS, Eager, Engine
from colonnade.tables.frames import refuse_unusable
from colonnade.tables.groups import (
    Group,
    GroupedColumn,
    Groups,
    checked_sums,
    largest_sets,
    refuse_array,
    weight_expression,
)
from colonnade.tables.joints import plan as planned
from colonnade.tables.levels import column_error, refuse_repeated
from colonnade.tables.memory import encode
from colonnade.tables.states import Seen
from colonnade.variables import Variable

# Families are put together in joint tables of so many cells: fewer group-bys, and counts that
# still are few beside the rows.
_MAX_JOINT_CELLS = 1 << 14
# More groups are hardly what somebody meant to count, and too many to bring here.
_MAX_GROUPS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled(Known):
    """What the first request found of all columns, and where each label is among them."""

    labels: tuple[Mapping[Any, int], ...]


class Queried(Elsewhere[_Labelled]):
    """A table of an engine: what is asked becomes one request, and counts come back.

    Parameters
    ----------
    engine : Engine
    asked : Asked
    """

    def __init__(self, engine: Engine, asked: Asked) -> None:
        refuse_array(asked.weights)
        with engine.answering():
            schema = engine.frame.collect_schema()
        super().__init__(list(schema), asked)
        refuse_repeated(engine.all_names, self.names)
        self._engine, self.memory = engine, engine.memory
        self._columns = tuple(self._column(name, schema[name]) for name in self.names)
        self._weights = weights = asked.weight_column
        self._weight = None if weights is None else weight_expression(weights, schema[weights])

    def _column(self, name: str, kind: Any) -> GroupedColumn:
        cutter = self._asked.discretizer
        cut = cutter.get(name) if cutter else None
        refuse_unusable(name, kind)
        return GroupedColumn(name, f"c{self.names.index(name)}", kind, name in self._declared, cut)

    # ------------------------------------------------------------------------- verbs

    def only_complete(self) -> Queried:
        """Return the rows that have all their values; states stay as they are."""
        pairs = zip(self._columns, self.variables, strict=True)
        there = [
            column.present(self._states(variable), list(self.unknown.get(variable.name, ())))
            for column, variable in pairs
        ]
        asked = replace(self._asked, variables=self.variables, columns=self.names)
        engine = replace(self._engine, frame=self._engine.frame.filter(*there))
        return self._told_alike(Queried(engine, asked))

    def settled(self) -> Countable:
        """Return compact columns of an engine in this process; others are asked again and again."""
        return self._compact() if self._engine.embedded else self

    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families by one request, the first of which finds the states as well."""
        chosen = self._positions(families)
        groups = Groups(found := self._groups(self._sets(chosen)))
        known = self._found or self._settle(groups, found[0])
        if missing == "raise":
            self._refuse_gaps(chosen)
        coding = self._coding
        return [
            coding.counts(own, *groups.smallest(own).margin(own, known.labels)) for own in chosen
        ]

    def _blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in the engine's order; their states were found before."""
        base = self._known.coding.variables
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

    def _again(self, asked: Asked) -> Queried:
        return Queried(self._engine, asked)

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
        if len(table) > _MAX_GROUPS:
            raise self._too_many(own, table)
        rows = np.asarray(table[ROWS].to_numpy(), dtype=np.int64)
        values = rows
        if self._weights is not None:
            values = checked_sums(self._weights, table)
        levels = (self._columns[k].levels(table[self._columns[k].alias]) for k in own)
        return Group(own, tuple(levels), rows, values)

    def _too_many(self, own: tuple[int, ...], table: Eager) -> DataError:
        """Word the error for a set of columns with too many combinations of values."""
        columns = [self._columns[k] for k in own]
        values = {column.name: table[column.alias].n_unique() for column in columns}
        worst = max(values, key=values.__getitem__)
        problem = (
            f"{values[worst]:,} different values, and {len(table):,} combinations with "
            f"{listing([name for name in values if name != worst])}; "
            if len(values) > 1
            else f"{values[worst]:,} different values; "
        )
        hint = "leave it out, as a column that identifies rows, or cut its numbers"
        return column_error(worst, f"{problem}at most {_MAX_GROUPS:,} are counted.", hint)

    def _settle(self, groups: Groups, whole: Group) -> _Labelled:
        """Find the states after the first request; each of its groups has all rows."""
        seen = []
        for k, column in enumerate(self._columns):
            group = groups.smallest([k])
            levels = group.levels[group.columns.index(k)]
            seen.append(
                Seen(
                    column.name,
                    levels.labels,
                    group.rows_of(k),
                    levels.closed,
                    None if levels.closed else column.number_type(levels.labels),
                    settled=column.cut is not None,
                )
            )
        rows = int(whole.rows.sum())
        labels = tuple(
            {label: k for k, label in enumerate(each.labels) if label is not None} for each in seen
        )
        coding = self._settled_coding(seen, rows)
        self._found = _Labelled(coding, rows, float(whole.values.sum()), labels)
        return self._found

    def _compact(self) -> CodedTable:
        """Return all rows as compact columns, in memory or on disk."""
        sizes = [variable.cardinality for variable in self.variables]
        weights: list[Array] = []
        with CompactColumns(self.memory.size) as store:
            for block in self.blocks():
                store.add(block.codes)
                weights += [] if block.weights is None else [block.weights]
            columns = store.recoded([np.arange(size + 1) for size in sizes], sizes)
        joined = np.concatenate(weights) if weights else None
        variables, cuts = self.variables, self.discretizer
        return CodedTable(variables, tuple(columns), joined, cuts, self.unknown, self.memory)

    def _states(self, variable: Variable) -> list[Any] | None:
        """Return the states that occur, if other values do as well."""
        labels = self._known.labels[self._position(variable.name)]
        if variable.name not in self.unknown:
            return None
        known = (*variable.states, *variable.spellings)
        return [state for state in known if state in labels]

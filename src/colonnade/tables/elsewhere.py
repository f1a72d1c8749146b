"""Elsewhere: a table whose rows are not in memory, whatever holds them.

It counts values before it knows the states: the first pass, or the first request, finds both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Self, TypeVar

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, not_among
from colonnade.tables.asked import Asked
from colonnade.tables.bounds import Memory
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import Countable, Members
from colonnade.tables.discretizing import Discretizer
from colonnade.tables.levels import refuse_missing
from colonnade.tables.states import Coding, Seen
from colonnade.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the first pass over all rows found."""

    coding: Coding  # without any state for what is missing
    rows: int
    total: float


Found = TypeVar("Found", bound=Known)


class Elsewhere(ABC, Generic[Found]):
    """Base of tables whose rows are not in memory: all of `Countable` that needs no rows.

    Parameters
    ----------
    columns : sequence of str
        Names of all columns there are.
    asked : Asked
    """

    memory: Memory

    def __init__(self, columns: Sequence[str], asked: Asked) -> None:
        self._asked = asked
        self._declared, self.names = asked.plan(columns)
        self._missing_states = self._told = False
        self._found: Found | None = None

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

    # ---------------------------------------------------------------- found by a pass

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns with their states."""
        return self._coding.variables

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
        return self._coding.missing

    @property
    def unknown(self) -> Mapping[str, Mapping[Any, int]]:
        """Values that are no states and are taken as missing."""
        return self._coding.unknown

    @property
    def _known(self) -> Found:
        if self._found is None:
            self.counts([], "available")
        assert self._found is not None  # every pass sets it
        return self._found

    @property
    def _coding(self) -> Coding:
        coding = self._known.coding
        return coding.with_missing_states() if self._missing_states else coding

    # -------------------------------------------------------------------------- verbs

    @abstractmethod
    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families; the first time, find what is known as well."""

    @abstractmethod
    def only_complete(self) -> Countable:
        """Return the rows that have all their values."""

    @abstractmethod
    def _blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in parts that fit into memory."""

    @abstractmethod
    def _again(self, asked: Asked) -> Self:
        """Return the same rows with something else asked of them, nothing known yet."""

    def blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in parts that fit into memory; of no rows, an empty one."""
        rows = 0
        for block in self._blocks():
            yield block
            rows += block.rows
        if not rows:
            codes = (np.empty(0, np.int64),) * len(self.names)
            weights = np.empty(0, np.int64) if self.weighted else None
            yield CodedTable(self.variables, codes, weights, self.discretizer)

    def settled(self) -> Countable:
        """Return the table as it is best counted many times: by default as it is."""
        return self

    def select(self, names: Sequence[str]) -> Self:
        """Return some columns, in the order given."""
        if tuple(names) == self.names:
            return self
        states = {name: self._declared[name].states for name in names if name in self._declared}
        group = self._asked.group if self._asked.group in names else None
        asked = replace(self._asked, variables=states, columns=tuple(names), group=group)
        return self._told_alike(self._again(asked))

    def with_missing_states(self) -> Self:
        """Return the table with *missing* as one more state of columns that have gaps."""
        again = self._told_alike(self._again(self._asked))
        again._missing_states = True
        again._found = self._found
        return again

    # ------------------------------------------------------------- for those that count

    def _told_alike(self, again: Self) -> Self:
        """Let a table made of this one repeat no warning."""
        again._missing_states, again._told = self._missing_states, self._told
        return again

    def _positions(self, families: Sequence[Members]) -> list[tuple[int, ...]]:
        """Return the columns of families by their places."""
        return [tuple(self._position(name) for name in family) for family in families]

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise not_among(self.names, "name", name)
        return self.names.index(name)

    def _settled_coding(self, seen: Sequence[Seen], rows: int) -> Coding:
        """Find the states after a pass; what is to be said is said after the first one only."""
        group = self._asked.group
        seen = [replace(each, settled=True) if each.name == group else each for each in seen]
        first, self._told = not self._told, True
        return Coding.of(seen, rows, self._declared, self._asked.unknown == "raise", first)

    def _refuse_gaps(self, families: Sequence[tuple[int, ...]]) -> None:
        """Raise if a value is missing in a column of any family."""
        missing, used = self.missing, sorted({k for own in families for k in own})
        gaps = {self.names[k]: missing[k] for k in used}
        refuse_missing(gaps, self.rows, Advice.COUNT_COMPLETE_ROWS)

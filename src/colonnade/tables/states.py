"""States of a table that is not in memory: from what a pass saw of each column to its codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from colonnade.arrays import Array
from colonnade.counts import FamilyCounts
from colonnade.exceptions import warn
from colonnade.tables.coded import with_missing
from colonnade.tables.coding import discovered, places_of, unknown_states
from colonnade.tables.identifiers import (
    Excess,
    identifies,
    warn_of_identifiers,
    warn_of_numbers,
)
from colonnade.tables.remarks import of_states
from colonnade.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What a pass saw of one column.

    Parameters
    ----------
    name : str
    labels : sequence of states
        The different values, in any order, as `Levels` has them: whole numbers are integers. None
        is a label that means missing.
    rows : sequence of int
        Number of rows of each label.
    closed : bool
        Whether the labels are all possible states, in order, as those of categories are.
    number_type : int, float or None
        Type of its numbers; None if it holds anything else.
    unread : bool
        Whether no reader of files has looked at its texts.
    settled : bool
        Whether its states are no surprise: it was cut, or says which group a row belongs to.
    """

    name: str
    labels: Sequence[Any]
    rows: Sequence[int]
    closed: bool = False
    number_type: type[int] | type[float] | None = None
    unread: bool = True
    settled: bool = False

    @property
    def present(self) -> list[Any]:
        """The labels without None."""
        return [label for label in self.labels if label is not None]

    @property
    def excess(self) -> Excess:
        """How many states it has, in how many rows."""
        pairs = zip(self.labels, self.rows, strict=True)
        there = [rows for label, rows in pairs if label is not None and rows]
        return Excess(self.name, len(there), sum(there))


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """The variables of a table, and the code of every label that a pass saw.

    `places` has an array for each column: the code of each label, the number of states where it is
    missing or unknown, and one more entry of that kind for what has no label.
    """

    variables: tuple[Variable, ...]
    places: tuple[Array, ...]
    missing: tuple[int, ...]
    unknown: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        seen: Sequence[Seen],
        rows: int,
        declared: Mapping[str, Variable],
        refuse_unknown: bool = True,
        tell: bool = True,
    ) -> Coding:
        """Find the states of columns, by the rules and with the warnings of tables in memory.

        What is to be said about a table is said once: `tell` is False after the first pass.
        """
        variables = tuple(
            declared.get(each.name) or discovered(each.name, each, rows) for each in seen
        )
        found = [each for each in seen if each.name not in declared and not each.settled]
        if tell:
            _warn(found, [v for v in variables if any(v.name == each.name for each in found)])
        places, missing, unknown = [], [], {}
        for variable, each in zip(variables, seen, strict=True):
            table, strange = places_of(variable, each.labels)
            places.append(table)
            times = np.asarray(each.rows, dtype=np.int64)
            missing.append(rows - int(times[table[:-1] < variable.cardinality].sum()))
            if own := {each.labels[k]: int(times[k]) for k in strange if times[k]}:
                unknown[each.name] = own
        coding = cls(variables, tuple(places), tuple(missing), unknown)
        if refuse_unknown and unknown:
            raise unknown_states(coding)
        return coding

    def with_missing_states(self) -> Coding:
        """Return it with *missing* as one more state, the last, of columns that have gaps."""
        # The code for missing is the one after the last state: that of the new state.
        pairs = zip(self.variables, self.missing, strict=True)
        variables = tuple(with_missing(each) if gaps else each for each, gaps in pairs)
        return replace(self, variables=variables, missing=(0,) * len(variables))

    def counts(self, members: Sequence[int], codes: Array, values: Array) -> FamilyCounts:
        """Counts of a family, parents first, from those of its labels.

        Parameters
        ----------
        members : sequence of int
            Positions of the columns.
        codes : array of int [cell, member]
            Positions of labels; -1 where a value is missing. No two rows need differ.
        values : array [cell]
            How often each combination occurs.
        """
        own = [self.variables[k] for k in members]
        sizes = [variable.cardinality for variable in own]
        translated = np.stack(
            [self.places[k][codes[:, i]].astype(np.int64) for i, k in enumerate(members)], axis=1
        )
        there = (translated < sizes).all(axis=1)
        translated, values = translated[there], values[there]
        table = np.zeros((len(values), sizes[-1]), dtype=values.dtype)
        table[np.arange(len(values)), translated[:, -1]] = values
        return FamilyCounts.from_observed(tuple(sizes[:-1]), translated[:, :-1], table)


def _warn(seen: Sequence[Seen], found: Sequence[Variable]) -> None:
    """Say which states look like a mistake, and which columns have too many."""
    for warning in of_states(found, {each.name for each in seen if each.unread}):
        warn(warning)
    identifying, numbers = [], []
    for each in seen:
        excess = each.excess
        if not excess.enough:
            continue
        if identifies(excess, each.present, each.number_type is not None and not each.closed):
            identifying.append(excess)
        elif each.number_type is not None and not each.closed and excess.thin:
            numbers.append(excess)
    warn_of_identifiers(identifying)
    warn_of_numbers(numbers)

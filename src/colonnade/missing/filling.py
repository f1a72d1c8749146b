"""Missing values of many rows at once: their probabilities, their most probable states, or draws.

Every missing value has a factor of its own, which is one for all its states: what the elimination
finds there is the distribution of the value, or the state that is largest or drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.elimination import write_program
from colonnade.lookup import Lookup
from colonnade.missing.completions import Completed, Completions, Layout
from colonnade.missing.gaps import Gaps, Members, find_gaps

SUM, LARGEST = "sum", "largest"


class Filled(NamedTuple):
    """What was found for one variable."""

    rows: Integers  # [gap]: the rows that lack it
    values: Floats  # [gap, state]: probabilities; or 1 for one state and 0 for the others


@dataclass(frozen=True, eq=False)
class Blanks:
    """Missing values of some rows that are asked for."""

    layout: MarkedLayout

    @classmethod
    def of(
        cls,
        members: Members,
        codes: Array,
        wanted: NDArray[np.bool_],
        each: bool,
        only_wanted: bool = False,
    ) -> Blanks:
        """Find them in rows of codes ``[row, variable]``.

        `wanted` says which variables are asked for; with `only_wanted`, gaps that they do not
        depend on are left out, and whether those can occur is not noticed. Rows that agree around
        a gap share its case, unless `each` is to be treated by itself.
        """
        weights = np.ones(len(codes))
        gaps = find_gaps(members, codes, weights, wanted=wanted, only_wanted=only_wanted)
        return cls(MarkedLayout(_one_by_one(gaps) if each else _unweighted(gaps)))

    @property
    def gaps(self) -> Gaps:
        """The gaps."""
        return self.layout.gaps

    def needed(self, family: int) -> Array:
        """Return the configurations ``[row, parent]`` of a family that matter, with repetitions."""
        blocks = [block.of(family).codes for block in self.layout.blocks()]
        if not blocks:
            return np.empty((0, len(self.gaps.members.families[family]) - 1), dtype=np.int32)
        return np.concatenate(blocks)

    def solved(
        self, logs: Sequence[Lookup], how: str | np.random.Generator
    ) -> tuple[Floats, dict[int, Filled]]:
        """Return the log totals ``[case]``, and what was found for each variable.

        `logs` are the logarithms of the probabilities of each family, for all configurations that
        matter; `how` is SUM for probabilities, LARGEST for the states that are most probable
        together, or a generator that draws them.
        """
        begins = np.cumsum([0, *(table.values.size for table in logs)])
        entries = np.concatenate([table.values.reshape(-1) for table in logs])
        totals = np.empty(len(self.gaps.codes))
        found: list[_Marks] = []
        for block in self.layout.blocks():
            for family, table in enumerate(logs):
                completed = block.of(family)
                places = table.places(completed.codes)
                block.place(completed, begins[family] + places * table.states)
            marks = self.layout.marks(block, len(entries))
            cells = int(marks.width.sum())
            counts = np.zeros(len(entries) + cells)
            together = np.concatenate([entries, np.zeros(cells)])
            if isinstance(how, str):
                totals[block.cases] = block.log_totals(together, counts, largest=how == LARGEST)
            else:
                totals[block.cases] = block.drawn(together, counts, how)
            begin, values = marks.begin - len(entries), counts[len(entries) :]
            found.append(marks._replace(begin=begin, values=values))
        return totals, dict(self._by_variable(found))

    def _by_variable(self, found: Sequence[_Marks]) -> Iterator[tuple[int, Filled]]:
        gaps = self.gaps
        place = np.empty(len(gaps.codes), dtype=np.int64)
        for variable, size in enumerate(gaps.members.sizes):
            parts, cases = [], []
            for marks in found:
                own = marks.variable == variable
                parts.append(marks.values[marks.begin[own][:, None] + np.arange(size)])
                cases.append(marks.case[own])
            which = np.concatenate([np.empty(0, dtype=np.int64), *cases])
            if not len(which):
                continue
            place[:] = -1
            place[which] = np.arange(len(which))
            here = place[gaps.case]
            values = np.concatenate(parts)[here[here >= 0]]
            yield variable, Filled(gaps.rows[here >= 0], values)


class _Marks(NamedTuple):
    """The factors of missing values of a block."""

    case: Integers
    variable: Integers
    width: Integers
    begin: Integers
    values: Floats


class MarkedLayout(Layout):
    """A layout with one more factor for each missing value of a case, behind the others."""

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        scopes = [(*gap.elimination.scopes, *((v,) for v in gap.missing)) for gap in gaps]
        self.program = write_program(
            [replace(gap.elimination, scopes=own) for gap, own in zip(gaps, scopes, strict=True)]
        )
        number = [len(gap.families) + len(gap.missing) for gap in gaps]
        self.first_factor = np.cumsum([0, *number], dtype=np.int64)
        sizes = gaps.members.sizes
        plain = Layout.factors(gaps)
        factors = [
            factor
            for gap, own in zip(gaps, plain, strict=True)
            for factor in (*own, *((-1, 1, sizes[v]) for v in gap.missing))
        ]
        columns = np.array(factors, dtype=np.int64).reshape(-1, 3).T
        self.family, self.rows, self.width = np.ascontiguousarray(columns)
        self._missing = np.array([v for gap in gaps for v in gap.missing], dtype=np.int64)
        self._first = np.cumsum([0, *(len(gap.missing) for gap in gaps)], dtype=np.int64)

    def marks(self, block: Completions, begin: int) -> _Marks:
        """Place the factors of missing values in the tables, from `begin` on, one after another."""
        low, high = block.cases.start, block.cases.stop
        kind = np.searchsorted(self.gaps.first_case, np.arange(low, high), side="right") - 1
        number = np.diff(self._first)[kind]
        rows = self.completions[kind]
        case = np.repeat(np.arange(high - low), number)
        within = np.arange(len(case)) - np.repeat(np.cumsum(number) - number, number)
        variable = self._missing[self._first[kind][case] + within]
        # The rows of a case: those of its families, then one per missing value.
        where = (np.cumsum(rows) - number)[case] + within
        width = np.array(self.gaps.members.sizes, dtype=np.int64)[variable]
        begins = begin + np.cumsum(width) - width
        nothing = np.zeros(len(where), dtype=np.int64)
        block.place(Completed(np.empty((0, 0), dtype=np.int32), where, nothing), begins)
        return _Marks(case + low, variable, width, begins, np.empty(0))


def _unweighted(gaps: Gaps) -> Gaps:
    return replace(gaps, weights=np.ones(len(gaps.weights)))


def _one_by_one(gaps: Gaps) -> Gaps:
    """Let every occurrence of a gap be a case of its own."""
    first = np.searchsorted(gaps.case, gaps.first_case)
    number = len(gaps.case)
    return replace(
        gaps,
        first_case=first,
        codes=gaps.codes[gaps.case],
        weights=np.ones(number),
        case=np.arange(number),
    )

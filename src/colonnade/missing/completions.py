"""All ways to fill in the gaps of some rows, laid out for the kernels.

A family in a gap has one *completion* for each way to fill in its missing parents, and each is a
row of the family's table. Where these rows are is found once; the tables may then change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats, Integers
from colonnade.elimination import Cases, draw, run, write_program
from colonnade.missing.gaps import Gaps

# Completions held at a time, where they are not needed all together.
_MAX_BLOCK_COMPLETIONS = 1 << 21


class Completed(NamedTuple):
    """Completions of one family."""

    codes: NDArray[np.int32]  # [completion, parent]
    where: Integers  # [completion]: its place among the completions of all families
    states: Integers  # [completion]: code of the child; 0 if that is missing


class Layout:
    """How gaps are summed over: each case is a product with one factor per family of its gap.

    The factors of gap g are first_factor[g]..first_factor[g + 1]. Of each factor, `family` is its
    family, `rows` the number of its completions, and `width` the states of the child, 1 if known.
    """

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        self.program = write_program([gap.elimination for gap in gaps])
        self.first_factor = np.cumsum([0, *(len(gap.families) for gap in gaps)], dtype=np.int64)
        factors = [factor for own in self.factors(gaps) for factor in own]
        columns = np.array(factors, dtype=np.int64).reshape(-1, 3).T
        self.family, self.rows, self.width = np.ascontiguousarray(columns)

    @staticmethod
    def factors(gaps: Gaps) -> list[list[tuple[int, int, int]]]:
        """Family, rows and width of the factors of each gap."""
        sizes = gaps.members.sizes
        return [
            [
                (f, math.prod(sizes[v] for v in scope if v != f), sizes[f] if f in scope else 1)
                for f, scope in zip(gap.families, gap.elimination.scopes, strict=True)
            ]
            for gap in gaps
        ]

    @property
    def completions(self) -> Integers:
        """Number of completions of a case of each gap."""
        before = np.concatenate([[0], np.cumsum(self.rows)])
        return np.diff(before[self.first_factor])

    @property
    def cells(self) -> int:
        """Cells of the rows of all completions of all cases."""
        cells = np.array(self.gaps.members.sizes)[self.family] * self.rows
        cases = np.repeat(np.diff(self.gaps.first_case), np.diff(self.first_factor))
        return int(cells.astype(np.float64) @ cases)

    def all(self) -> Completions:
        """All cases together."""
        return Completions(self, 0, len(self.gaps.codes))

    def blocks(self) -> Iterator[Completions]:
        """All cases, in blocks whose completions are not too many to be held."""
        ends = np.cumsum(np.repeat(self.completions, np.diff(self.gaps.first_case)))
        low = 0
        while low < len(ends):
            before = ends[low - 1] if low else 0
            fits = np.searchsorted(ends, before + _MAX_BLOCK_COMPLETIONS, side="right")
            high = max(low + 1, int(fits))
            yield Completions(self, low, high)
            low = high


class Completions:
    """The completions of the cases low..high, and where the rows of the tables they are begin."""

    def __init__(self, layout: Layout, low: int, high: int) -> None:
        self.layout = layout
        self.cases = slice(low, high)
        first_case = np.clip(layout.gaps.first_case, low, high) - low
        self._cases = Cases(
            first_case,
            layout.first_factor,
            layout.rows,
            layout.width,
            begin=np.empty(np.diff(first_case) @ layout.completions, dtype=np.int64),
            weight=layout.gaps.weights[self.cases],
        )

    def of(self, family: int) -> Completed:
        """The completions of one family."""
        from colonnade.kernels.gaps import complete

        gaps, cases = self.layout.gaps, self._cases
        members = np.array(gaps.members.families[family])
        rows = np.where(self.layout.family == family, cases.rows, 0)
        number = np.repeat(np.diff(cases.first_case), np.diff(cases.first_factor)) @ rows
        completed = Completed(
            np.empty((number, len(members) - 1), dtype=np.int32),
            np.empty(number, dtype=np.int64),
            np.empty(number, dtype=np.int64),
        )
        codes, sizes = gaps.codes[self.cases], np.array(gaps.members.sizes)
        complete(codes, sizes, members, *cases[:3], self.layout.family, *completed)
        return completed

    def place(self, completed: Completed, begins: Integers) -> None:
        """Say where the row of each completion of a family begins in the array of all tables."""
        self._cases.begin[completed.where] = begins + completed.states

    def log_totals(
        self, logs: Floats, counts: Floats | None = None, largest: bool = False
    ) -> Floats:
        """Logarithm ``[case]`` of the sum, over what is missing, of the product of the factors.

        `logs` has the logarithms of all tables. The expected counts of all cases are added to
        `counts`, an array like it. With `largest` the largest product takes the place of the sum.
        """
        program = self.layout.program
        return run(program, self._cases, logs, counts=counts, largest=largest).log_total

    def drawn(self, logs: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
        """Draw what is missing in each case and count the cells drawn; return the log totals."""
        return draw(self.layout.program, self._cases, logs, counts, rng)

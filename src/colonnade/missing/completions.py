"""All ways to fill in the gaps of some rows, laid out for the kernels.

A family in a gap has one *completion* for each way to fill in its missing parents, and each is a
row of the family's table. Where these rows are is found once; the tables may then change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.missing.gaps import Gaps

__all__ = ["Completed", "Completions", "Layout"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Completions held at a time where they are not needed all together.
_BLOCK = 1 << 21
# Integers of the tapes held at a time; they are few unless gaps are large.
_TAPES = 1 << 25


class Completed(NamedTuple):
    """Completions of one family.

    Attributes
    ----------
    codes : array [completion, parent]
    where : array [completion]
        Their places among the completions of all families.
    states : array [completion]
        Code of the child; 0 if that is missing.
    """

    codes: NDArray[np.int32]
    where: Integers
    states: Integers


class Sheet(NamedTuple):
    """What to do for the gaps low..high; the tape of gap low + k begins at starts[k]."""

    low: int
    high: int
    tapes: Integers
    starts: Integers


class Layout:
    """How the gaps of some rows are summed over.

    Parameters
    ----------
    gaps : Gaps

    Attributes
    ----------
    run : array [gap + 1]
        Factors run[g]..run[g + 1] are those of gap g.
    family, length, width : arrays [factor]
        The family of each factor; its completions; and the states of the child, 1 if it is known.
    """

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        sizes = gaps.members.sizes
        self.run = _ends(gap.families for gap in gaps)
        factors = [
            (f, math.prod(sizes[v] for v in scope if v != f), sizes[f] if f in scope else 1)
            for gap in gaps
            for f, scope in zip(gap.families, gap.elimination.scopes, strict=True)
        ]
        columns = np.array(factors, dtype=np.int64).reshape(-1, 3).T
        self.family, self.length, self.width = np.ascontiguousarray(columns)
        # Completions before each factor, were each gap one case.
        self._before = np.concatenate([[0], np.cumsum(self.length)])
        self._sheet: Sheet | None = None

    @property
    def completions(self) -> Integers:
        """Number of completions of a case of each gap."""
        return np.diff(self._before[self.run])

    @property
    def cells(self) -> int:
        """Cells of the rows of all completions of all cases."""
        cells = np.array(self.gaps.members.sizes)[self.family] * self.length
        cases = np.repeat(np.diff(self.gaps.starts), np.diff(self.run))
        return int(cells.astype(np.float64) @ cases)

    def sheets(self, low: int, high: int) -> Iterator[Sheet]:
        """What to do for the gaps low..high, so many at a time that it can be held."""
        if self._sheet is not None:
            yield Sheet(low, high, self._sheet.tapes, self._sheet.starts[low : high + 1])
            return
        tapes: list[Integers] = []
        size = 0
        for g in range(low, high):
            tapes.append(self.gaps.kinds[g].elimination.tape())
            size += len(tapes[-1])
            if size > _TAPES or g == high - 1:
                sheet = Sheet(g + 1 - len(tapes), g + 1, np.concatenate(tapes), _ends(tapes))
                if len(tapes) == len(self.gaps):
                    self._sheet = sheet
                yield sheet
                tapes, size = [], 0

    def all(self) -> Completions:
        """All cases together."""
        return Completions(self, 0, len(self.gaps.examples))

    def blocks(self) -> Iterator[Completions]:
        """All cases, so many at a time that their completions are not too large."""
        ends = np.cumsum(np.repeat(self.completions, np.diff(self.gaps.starts)))
        low = 0
        while low < len(ends):
            before = ends[low - 1] if low else 0
            high = max(low + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
            yield Completions(self, low, high)
            low = high


class Completions:
    """The completions of some cases, and where the rows that they are begin.

    Parameters
    ----------
    layout : Layout
    low, high : int
        The cases low..high.
    """

    def __init__(self, layout: Layout, low: int, high: int) -> None:
        self.layout = layout
        self.cases = slice(low, high)
        self._starts = np.clip(layout.gaps.starts, low, high) - low
        self._number = np.diff(self._starts)
        self._ends = np.concatenate([[0], np.cumsum(self._number * layout.completions)])
        self.begins = np.empty(self._ends[-1], dtype=np.int64)

    def of(self, family: int) -> Completed:
        """The completions of one family."""
        from colonnade.kernels.gaps import complete

        layout, gaps = self.layout, self.layout.gaps
        mine = np.where(layout.family == family, layout.length, 0)
        number = np.repeat(self._number, np.diff(layout.run)) @ mine
        found = complete(
            gaps.codes,
            np.array(gaps.members.sizes),
            np.array(gaps.members.families[family]),
            layout.family,
            self._starts,
            layout.run,
            layout.length,
            gaps.examples[self.cases],
            number,
        )
        return Completed(*found)

    def place(self, completed: Completed, begins: Integers) -> None:
        """Say where the row of each completion of a family begins."""
        self.begins[completed.where] = begins + completed.states

    def log_totals(self, logs: Floats, counts: Floats | None = None) -> Floats:
        """Log probability of what is known in each case, given the values missing before it.

        Parameters
        ----------
        logs : array
            The logarithms of all tables.
        counts : array like `logs`, optional
            The expected counts of the rows that are these cases are added to it.

        Returns
        -------
        array [case]
        """
        from colonnade.kernels.elimination import run_tapes

        layout = self.layout
        totals = np.empty(self._starts[-1])
        present = np.flatnonzero(self._number)
        for low, high, tapes, starts in layout.sheets(present[0], present[-1] + 1):
            run_tapes(
                tapes,
                starts,
                self._starts[low : high + 1],
                layout.run[low : high + 1],
                layout.length,
                layout.width,
                self.begins[self._ends[low] :],
                logs,
                layout.gaps.weights[self.cases],
                totals,
                np.empty(0) if counts is None else counts,
            )
        return totals


def _ends(parts: Iterable[Sized]) -> Integers:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)

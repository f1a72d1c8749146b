"""Sums over missing values that something observed depends on.

They are exact as long as the largest array of a row, for all classes and draws, can be afforded.
Beyond that a child with missing parents is expected from its known parents alone, by the table that
its prior estimates from the counts of these: the child whose sum is largest first, until the rest
can be afforded. That is what the data say about such rows when the missing parents are never asked
for; it is not the same as summing over them, because it forgets what else the row says about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.exceptions import NotSupportedError
from colonnade.lookup import MAX_FILLED_CELLS
from colonnade.missing.gaps import Gap, Members, find_gaps
from colonnade.sparse import SparseTable

# Cells of the largest array made at a time to sum out missing values.
_MAX_GAP_CELLS = 1 << 21
# And of one row: a few milliseconds of work, or 128 MB for all draws.
_MAX_ROW_CELLS, _MAX_DRAWN_CELLS = 1 << 20, 1 << 24
# So many cells of tables may be computed, in parts, for each cell that may be held.
_COMPUTED_FOR_HELD = 4


class Logs(Protocol):
    """Logarithms of the probabilities of one family.

    `price` is what it costs to look up a cell, in cells that are held.
    """

    @property
    def price(self) -> int: ...

    def cells(self, parents: Sequence[Array], child: Array) -> Floats:
        """Look up codes that broadcast with each other: an array of their common shape.

        Before these axes there is one of draws, if there are several draws.
        """

    def given(self, kept: tuple[int, ...]) -> Self:
        """The same of the child given some of its parents, by their positions."""


@dataclass(frozen=True, slots=True, eq=False)
class TableLogs:
    """Logarithms of a table; those given some of the parents are estimated once."""

    find_cpt: Callable[[], Cpt]
    look_up: Callable[[Sequence[Array], Array], Floats]
    log: Callable[[Floats], Floats]
    price: int
    _coarser: dict[tuple[int, ...], TableLogs] = field(default_factory=dict)

    def cells(self, parents: Sequence[Array], child: Array) -> Floats:
        """Look up codes that broadcast with each other."""
        return self.look_up(parents, child)

    def given(self, kept: tuple[int, ...]) -> TableLogs:
        """The same of the child given some of its parents."""
        if kept not in self._coarser:
            cpt = self.find_cpt()
            counts = margin(cpt, kept)
            assert cpt.prior is not None
            lookup = cpt.prior.table(counts).lookup.mapped(self.log).filled()
            self._coarser[kept] = TableLogs(self.find_cpt, lookup.cells, self.log, self.price)
        return self._coarser[kept]


def price(table: SparseTable) -> int:
    """Return what it costs to look up a cell, in cells that are held; see `Logs`.

    Where not all rows are held, a whole row is computed.
    """
    held = table.configurations * table.states <= MAX_FILLED_CELLS
    return 1 if held or table.fallback is None else max(1, table.states // _COMPUTED_FOR_HELD)


def margin(cpt: Cpt, kept: tuple[int, ...]) -> FamilyCounts:
    """Counts of a table given some of its parents."""
    if cpt.counts is None or cpt.prior is None:
        name = cpt.family.child.name
        reason = f"the table of {name!r} is known, and its sum over missing parents too large"
        raise NotSupportedError(f"A table of {name!r} given some parents", reason)
    sizes = [cpt.counts.parent_sizes[k] for k in kept]
    return FamilyCounts.from_observed(sizes, cpt.counts.codes[:, list(kept)], cpt.counts.values)


def add_gaps(
    members: Members, target: int, codes: Array, logs: Sequence[Logs], sums: Floats
) -> None:
    """Add the logarithms of sums over missing values to `sums` ``[draw, row, class]``.

    Only values that something present depends on need that. `target` is the position of the class,
    whose `codes` ``[row, variable]`` are 0 throughout and mean nothing; `logs` has one table per
    variable.
    """
    classes = members.sizes[target]
    most = _MAX_ROW_CELLS if len(sums) == 1 else _MAX_DRAWN_CELLS
    affordable = max(1, most // (classes * len(sums)))
    prices = [table.price for table in logs]
    for gap in find_gaps(members, codes, np.ones(len(codes)), affordable, prices):
        # Rows that are drawn are held; those of tables are computed in parts.
        each = gap.cells if len(sums) > 1 else gap.elimination.cells
        size = max(1, _MAX_GAP_CELLS // (max(1, each) * classes * len(sums)))
        totals = np.zeros((len(sums), len(gap.codes), classes))
        for low in range(0, len(gap.codes), size):
            block = slice(low, low + size)
            part = totals[:, block]
            if gap.families:
                part += _summed(gap, target, block, logs, part.shape)
            for family in gap.relaxed:
                part += _relaxed(gap, family, target, block, logs[family])
        sums[:, gap.rows] += totals[:, gap.case]


def _summed(
    gap: Gap, target: int, block: slice, logs: Sequence[Logs], shape: tuple[int, ...]
) -> Floats:
    """Logarithms of the sums over all completions, ``[draw, case, class]``."""
    factors = [_factor(gap, family, target, block, logs[family]) for family in gap.families]
    flat = [np.broadcast_to(f, (*shape, *f.shape[3:])).reshape(-1, *f.shape[3:]) for f in factors]
    return gap.elimination.log_total(flat).reshape(shape)


def _relaxed(gap: Gap, family: int, target: int, block: slice, logs: Logs) -> Floats:
    """Logarithms of a child given its known parents, ``[draw, case, class]``."""
    *parents, child = gap.members.families[family]
    kept = tuple(k for k, v in enumerate(parents) if v == target or v in gap.known)
    chosen = [*(parents[k] for k in kept), child]
    codes = [_codes(gap, variable, target, block) for variable in chosen]
    found = logs.given(kept).cells(codes[:-1], codes[-1])
    return found.reshape(-1, *found.shape[-2:])


def _codes(gap: Gap, variable: int, target: int, block: slice) -> Array:
    """Codes of the class or of a known variable, to be broadcast to ``[case, class]``."""
    if variable == target:
        return np.arange(gap.members.sizes[target])[None, :]
    return gap.codes[block, gap.known.index(variable)].astype(np.int64)[:, None]


def _factor(gap: Gap, family: int, target: int, block: slice, logs: Logs) -> Floats:
    """Logarithms of one family in all completions, ``[draw, case, class, *missing variables]``."""
    scope = gap.elimination.scopes[gap.families.index(family)]
    codes = []
    for variable in gap.members.families[family]:
        shape = [1] * (2 + len(scope))
        if variable in scope:
            shape[2 + scope.index(variable)] = -1
            codes.append(np.arange(gap.members.sizes[variable]).reshape(shape))
        else:
            known = _codes(gap, variable, target, block)
            codes.append(known.reshape(*known.shape, *shape[2:]))
    found = logs.cells(codes[:-1], codes[-1])
    return found.reshape(-1, *found.shape[-2 - len(scope) :])

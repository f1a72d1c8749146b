"""Noisy-or and noisy-max: parents act independently, and the strongest effect is seen.

The states of the child are ordered, the first is no effect. Parent i in state y_i has an effect
z_i with probability f_i(z | y_i), the leak has one without any parent, and the child is their
maximum: P(child <= x) is the product of P(z_i <= x). With two states this is the noisy-or. A table
of k parents has a number of parameters that grows with k, not with the number of configurations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import ConvergenceWarning, warn
from colonnade.priors.base import Counts, Prior, checked_positive
from colonnade.sparse import Fallback, SparseTable

_MAX_ITERATIONS = 2000
# EM stops when no probability of the table moves by more.
_TOLERANCE = 1e-8
# What is less is taken for this in logarithms.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Effects(Fallback):
    """Probabilities of the effects of each parent and of the leak.

    Attributes
    ----------
    parents : tuple of arrays [state of the parent, state of the child]
    leak : array [state of the child]
    """

    parents: tuple[Floats, ...]
    leak: Floats

    def rows(self, codes: Array) -> Floats:
        """Probabilities of the child in some configurations, ``[row, state]``."""
        below = self._below(codes).prod(axis=0)
        return np.asarray(np.diff(below, axis=1, prepend=0.0).clip(0.0))

    def _below(self, codes: Array) -> Floats:
        """P(z_i <= x) of each cause, the leak last, ``[cause, row, state]``."""
        own = [table.cumsum(axis=1)[codes[:, k]] for k, table in enumerate(self.parents)]
        leak = np.broadcast_to(self.leak.cumsum(), (len(codes), self.leak.size))
        below = np.stack([*own, leak])
        below[:, :, -1] = 1.0  # to the last digit
        return below

    def expected(self, codes: Array, counts: Floats) -> list[Floats]:
        """Expected number of effects of each cause, ``[row, effect]``, given counts of maxima."""
        below = self._below(codes)
        own = np.diff(below, axis=2, prepend=0.0)
        diagonal = np.arange(self.leak.size)
        smaller = diagonal[:, None] < diagonal
        found = []
        for cause in range(len(below)):
            others = np.delete(below, cause, axis=0).prod(axis=0)
            at = np.diff(others, axis=1, prepend=0.0)
            # joint[row, z, x]: a smaller effect than the maximum, or the maximum itself
            joint = own[cause][:, :, None] * smaller * at[:, None]
            joint[:, diagonal, diagonal] = own[cause] * others
            total = joint.sum(axis=1, keepdims=True)
            share = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0.0)
            found.append((share * counts[:, None, :]).sum(axis=2))
        return found


@dataclass(frozen=True, slots=True)
class NoisyMax(Prior):
    """A noisy-max table (with two states a noisy-or), fitted by EM.

    The first state of the child and the first state of every parent mean absence: an absent parent
    has no effect. States keep the order in which they are declared, so declare them in order. There
    is no posterior.

    Parameters
    ----------
    weight : float
        Observations that are added to each distribution of an effect, in equal parts.

    Examples
    --------
    >>> counts = FamilyCounts.from_array([[90, 10], [40, 60], [0, 0]])
    >>> NoisyMax(1e-6).estimate(counts)[:2].round(3)
    array([[0.9, 0.1],
           [0.4, 0.6]])
    """

    weight: float = 1.0

    score_name: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_positive(self.weight, "weight"))

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        effects = self.effects(counts)
        return SparseTable.beside(counts, _normalised(effects.rows(counts.codes)), None, effects)

    def effects(self, counts: Counts) -> Effects:
        """Fit the effects of all parents and of the leak.

        Examples
        --------
        >>> counts = FamilyCounts.from_array([[90, 10], [45, 55]])
        >>> NoisyMax(1e-6).effects(counts).parents[0].round(3)  # 0.9 x 0.5 = 0.45
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        counts = as_counts(counts)
        states, values = counts.states, counts.values.astype(np.float64)
        added = self.weight / states
        even = np.full(states, 1.0 / states)
        present = [np.tile(even, (size, 1)) for size in counts.parent_sizes]
        for table in present:
            table[0] = np.eye(states)[0]
        now = Effects(tuple(present), even)
        rows = now.rows(counts.codes)

        def improved(effects: Effects) -> Effects:
            return _maximised(counts, effects.expected(counts.codes, values), added)

        def objective(effects: Effects) -> float:
            logs = np.log(np.maximum(effects.rows(counts.codes), _TINY))
            free = (*(table[1:] for table in effects.parents), effects.leak)
            return float((values * logs).sum()) + added * sum(_log_sum(part) for part in free)

        for _ in range(_MAX_ITERATIONS):
            first = improved(now)
            second = improved(first)
            leap = improved(_leap(now, first, second))
            now = leap if objective(leap) >= objective(second) else second
            before, rows = rows, now.rows(counts.codes)
            moved = float(np.abs(rows - before).max(initial=0.0))
            if moved < _TOLERANCE:
                return now
        statement = f"EM of a noisy-max table still moved by {moved:.1g} after the last iteration."
        warn(ConvergenceWarning(statement, "give a larger weight, such as NoisyMax(10)"))
        return now

    def strength(self, counts: FamilyCounts) -> float:
        return self.weight

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        if table.complete:
            return table
        return SparseTable.beside(table, table.rows, None, self.table(counts).fallback)


def _maximised(counts: FamilyCounts, expected: Sequence[Floats], added: float) -> Effects:
    """The most probable effects, given their expected numbers."""
    parents = []
    for k, size in enumerate(counts.parent_sizes):
        sums = np.zeros((size, counts.states))
        np.add.at(sums, counts.codes[:, k], expected[k])
        table = _normalised(sums + added)
        table[0] = np.eye(counts.states)[0]
        parents.append(table)
    leak = _normalised(expected[-1].sum(axis=0, keepdims=True) + added)[0]
    return Effects(tuple(parents), leak)


def _leap(start: Effects, first: Effects, second: Effects) -> Effects:
    """Go on in the direction of two steps of EM (Varadhan and Roland 2008), in logarithms."""
    parts = [(*each.parents, each.leak[None]) for each in (start, first, second)]
    logs = [[np.log(np.maximum(part, _TINY)) for part in each] for each in parts]
    steps = [one - zero for zero, one in zip(logs[0], logs[1], strict=True)]
    bends = [two - one - r for one, two, r in zip(logs[1], logs[2], steps, strict=True)]
    bend = math.sqrt(sum(float((part**2).sum()) for part in bends))
    if bend == 0.0:
        return second
    length = max(1.0, math.sqrt(sum(float((part**2).sum()) for part in steps)) / bend)
    moved = [
        zero + 2.0 * length * r + length**2 * v
        for zero, r, v in zip(logs[0], steps, bends, strict=True)
    ]
    *parents, leak = (_normalised(np.exp(part - part.max(axis=1, keepdims=True))) for part in moved)
    absent = np.eye(leak.size)[0]
    for table in parents:
        table[0] = absent
    return Effects(tuple(parents), leak[0])


def _log_sum(part: Floats) -> float:
    return float(np.log(np.maximum(part, _TINY)).sum())


def _normalised(rows: Floats) -> Floats:
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))

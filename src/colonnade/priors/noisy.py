"""Noisy-or and noisy-max: parents act independently, and the strongest effect is seen.

The states of the child are ordered, from no effect to the strongest or the other way round. Parent
i in state y_i has an effect z_i with probability f_i(z | y_i), the leak has one without any parent,
and the child is their maximum: P(child <= x) is the product of P(z_i <= x). With two states this is
the noisy-or. A table of k parents has a number of parameters that grows with k, not with the number
of configurations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import (
    ConvergenceWarning,
    CountsError,
    checked_list,
    counted,
    expected,
    warn,
)
from colonnade.pooling.penalty import Pull
from colonnade.priors.base import SAVED_IF_GIVEN, Counts, Prior, checked_positive, observations
from colonnade.sparse import Fallback, SparseTable, checked_rows

_MAX_ITERATIONS = 2000
# EM stops when no probability of the table moves by more.
_TOLERANCE = 1e-8
# What is less is taken for this in logarithms.
_TINY = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Fallback):
    """Probabilities of the effects of each parent and of the leak: what a noisy-max table is of.

    Attributes
    ----------
    parents : tuple of arrays [state of the parent, state of the child]
    leak : array [state of the child]
    descending : bool
        Whether the states of the child run from the strongest effect to none, as in GeNIe, and not
        from none to the strongest.

    Examples
    --------
    >>> effects = Effects([[[1, 0], [0.2, 0.8]], [[1, 0], [0.5, 0.5]]], leak=[0.9, 0.1])
    >>> effects.rows(np.array([[0, 0], [1, 1]])).round(3)
    array([[0.9 , 0.1 ],
           [0.09, 0.91]])
    """

    parents: tuple[Floats, ...]
    leak: Floats
    descending: bool = False

    def __post_init__(self) -> None:
        given = checked_list(self.parents, "an array for each parent", "parents")
        leak = checked_rows(self.leak, "leak", 1)
        tables = tuple(checked_rows(each, "parents", 2) for each in given)
        for table in tables:
            if table.shape[1] != leak.size:
                what = f"rows of {counted(leak.size, 'probability', 'probabilities')}"
                raise expected(what, "parents", table, got=f"rows of {table.shape[1]}")
        if not isinstance(self.descending, bool):
            raise expected("True or False", "descending", self.descending)
        for array in (*tables, leak):
            array.flags.writeable = False
        object.__setattr__(self, "parents", tables)
        object.__setattr__(self, "leak", leak)

    @property
    def parts(self) -> tuple[Floats, ...]:
        """The effects of the parents, and as the last one of the leak, each ``[state, effect]``."""
        return *self.parents, self.leak[None]

    @property
    def parent_sizes(self) -> tuple[int, ...]:
        """Number of states of each parent."""
        return tuple(len(table) for table in self.parents)

    def with_parts(self, parts: Sequence[Floats]) -> Self:
        """Return the same with other probabilities, given as ``parts``."""
        *parents, leak = parts
        return replace(self, parents=tuple(parents), leak=leak[0])

    def rows(self, codes: Array) -> Floats:
        """Probabilities of the child in some configurations, ``[row, state]``."""
        below = self._below(codes).prod(axis=0)
        return self._turned(np.diff(below, axis=1, prepend=0.0).clip(0.0))

    @property
    def positive(self) -> bool:
        """Whether all probabilities are above 0: those without an effect seldom are."""
        return False

    def expected(self, codes: Array, counts: Floats) -> list[Floats]:
        """Expected number of effects of each cause, ``[row, effect]``, given counts of maxima."""
        below = self._below(codes)
        own = np.diff(below, axis=2, prepend=0.0)
        seen = self._turned(counts)[:, None, :]
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
            found.append(self._turned((share * seen).sum(axis=2)))
        return found

    def maximised(self, codes: Array, counts: Floats, added: Sequence[Floats]) -> Self:
        """One step of EM: the most probable effects, given their expected numbers.

        `added` are observations of the prior, as ``parts``. What is impossible remains so.
        """
        sums = [np.array(part) for part in added]
        *of_parents, of_leak = self.expected(codes, counts)
        for k, numbers in enumerate(of_parents):
            np.add.at(sums[k], codes[:, k], numbers)
        sums[-1] += of_leak.sum(axis=0)
        return self.with_parts([_normalised(part) for part in sums])

    def _below(self, codes: Array) -> Floats:
        """P(z_i <= x) of each cause, the leak last, ``[cause, row, effect]``."""
        pairs = zip(self.parents, codes.T, strict=True)
        own = [self._turned(table).cumsum(axis=1)[states] for table, states in pairs]
        leak = self._turned(self.leak).cumsum()
        below = np.stack([*own, np.broadcast_to(leak, (len(codes), leak.size))])
        below[:, :, -1] = 1.0  # to the last digit
        return below

    def _turned(self, values: Floats) -> Floats:
        """Take the states of the child as effects, from none to the strongest, or back."""
        return values[..., ::-1] if self.descending else values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Effects):
            return NotImplemented
        if (self.descending, self.parent_sizes) != (other.descending, other.parent_sizes):
            return False
        pairs = zip(self.parts, other.parts, strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash((self.descending, self.parent_sizes, self.leak.tobytes()))

    def __repr__(self) -> str:
        of = f"{counted(len(self.parents), 'parent')}, {counted(self.leak.size, 'state')}"
        return f"Effects({of}{', descending' * self.descending})"


@dataclass(frozen=True, slots=True)
class NoisyMax(Prior):
    """A noisy-max table (with two states a noisy-or), fitted by EM.

    The first state of the child and the first state of every parent mean absence: an absent parent
    has no effect. States keep the order in which they are declared, so declare them in order; or
    give effects to begin with, which say what is absence. There is no posterior.

    Parameters
    ----------
    weight : float
        Observations that are added to each distribution of an effect.
    around : Effects, optional
        What is known of the effects: the observations are added in these parts, and what is
        impossible there remains so. By default in equal parts.

    Examples
    --------
    >>> counts = FamilyCounts.from_array([[90, 10], [40, 60], [0, 0]])
    >>> NoisyMax(1e-6).estimate(counts)[:2].round(3)
    array([[0.9, 0.1],
           [0.4, 0.6]])
    """

    weight: float = 1.0
    around: Effects | None = field(default=None, metadata=SAVED_IF_GIVEN)

    score_name: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_positive(self.weight, "weight"))
        if self.around is not None and not isinstance(self.around, Effects):
            raise expected("Effects", "around", self.around, "take those of `network['x'].effects`")

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        effects = self.effects(counts)
        return SparseTable.beside(counts, _normalised(effects.rows(counts.codes)), None, effects)

    def reweighted(self, weight: float) -> NoisyMax | None:
        return None if self.around is None else replace(self, weight=weight)

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
        pull = self.em_penalty(counts).beside(counts.codes)
        values = counts.values.astype(np.float64)

        def objective(at: _EffectsPull) -> float:
            logs = np.log(np.maximum(at.effects.rows(at.codes), _TINY))
            return float((values * logs).sum()) + at.value(logs)

        rows = pull.effects.rows(counts.codes)
        moved = math.inf
        for _ in range(_MAX_ITERATIONS):
            first = pull.moved(values)
            second = first.moved(values)
            leap = _leap(pull, first, second).moved(values)
            pull = leap if objective(leap) >= objective(second) else second
            before, rows = rows, pull.effects.rows(counts.codes)
            moved = float(np.abs(rows - before).max(initial=0.0))
            if moved < _TOLERANCE:
                return pull.effects
        statement = f"EM of a noisy-max table still moved by {moved:.1g} after the last iteration."
        warn(ConvergenceWarning(statement, "give a larger weight, such as NoisyMax(10)"))
        return pull.effects

    @property
    def in_words(self) -> str:
        """What the prior is, for a reader who has not written it."""
        around = "" if self.around is None else " around given effects"
        return f"noisy-max ({observations(self.weight)} added{around})"

    def strength(self, counts: FamilyCounts) -> float:
        return self.weight

    def em_penalty(self, counts: FamilyCounts) -> _EffectsPull:
        start = _even(counts) if self.around is None else self.around
        if (start.parent_sizes, start.leak.size) != (counts.parent_sizes, counts.states):
            sizes = f"parent sizes {start.parent_sizes} and {counted(start.leak.size, 'state')}"
            raise expected(f"counts with {sizes}", "counts", counts, kind=CountsError)
        added = tuple(self.weight * part for part in start.parts)
        return _EffectsPull(start, added, counts.codes)

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        if table.complete:
            return table
        return SparseTable.beside(table, table.rows, None, self.table(counts).fallback)


@dataclass(frozen=True, slots=True, eq=False)
class _EffectsPull(Pull):
    """Effects on the way to their maximum: all rows of a table follow from them."""

    effects: Effects
    added: tuple[Floats, ...]  # observations of the prior, as the parts of effects
    codes: Array  # [row, parent]: the configurations of the rows

    @property
    def interior(self) -> Self:
        return self

    def beside(self, codes: Array) -> Self:
        return replace(self, codes=codes)

    def moved(self, values: Floats) -> Self:
        return replace(self, effects=self.effects.maximised(self.codes, values, self.added))

    def rows(self, values: Floats, otherwise: Floats) -> Floats:
        return self.effects.rows(self.codes)

    def value(self, logs: Floats) -> float:
        pairs = zip(self.added, self.effects.parts, strict=True)
        return sum(float((n * np.log(np.maximum(part, _TINY))).sum()) for n, part in pairs)


def _even(counts: FamilyCounts) -> Effects:
    """Effects that say nothing, of parents whose first state is absence."""
    even = np.full(counts.states, 1.0 / counts.states)
    tables = [np.tile(even, (size, 1)) for size in counts.parent_sizes]
    for table in tables:
        table[0] = np.eye(counts.states)[0]
    return Effects(tuple(tables), even)


def _leap(start: _EffectsPull, first: _EffectsPull, second: _EffectsPull) -> _EffectsPull:
    """Go on in the direction of two steps of EM (Varadhan and Roland 2008), in logarithms."""
    begin, middle, end = (each.effects.parts for each in (start, first, second))
    zero, one, two = ([_log(part) for part in parts] for parts in (begin, middle, end))
    steps = [b - a for a, b in zip(zero, one, strict=True)]
    bends = [c - b - r for b, c, r in zip(one, two, steps, strict=True)]
    bend = math.sqrt(sum(float((part**2).sum()) for part in bends))
    if bend == 0.0:
        return second
    length = max(1.0, math.sqrt(sum(float((part**2).sum()) for part in steps)) / bend)
    parts = []
    for a, r, v, possible in zip(zero, steps, bends, begin, strict=True):
        logs = a + 2.0 * length * r + length**2 * v
        moved = np.exp(logs - logs.max(axis=1, keepdims=True)) * (possible > 0.0)
        parts.append(_normalised(moved))
    return replace(second, effects=second.effects.with_parts(parts))


def _log(part: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(part, _TINY)))


def _normalised(rows: Floats) -> Floats:
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))

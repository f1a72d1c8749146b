"""Plan: which subsets of the parents of a table are tiers, and which tiers lean on which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers

# Powers of the geometric means of the rows one and two parents smaller in the bases that are
# products: the geometric mean, the meeting, and what is between them.
_BELOW_EXPONENT = {1: 1.0, 2: 2.0, 3: 1.5}
_SECOND_EXPONENT = {2: -1.0, 3: -0.5}

Subset = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """Which subsets of the parents are tiers, by size, the empty one first, and who leans on whom.

    Attributes
    ----------
    subsets : tuple of tuple of int
        Positions of parents; the last subset has all of them.
    below, second : array [tier, .]
        The tiers with one parent fewer that a tier leans on, and those with two fewer; then -1.
        A tier with at most one parent has none.
    within : array of bool [tier, tier]
        Whether the parents of the second tier are all parents of the first.
    """

    subsets: tuple[Subset, ...]
    below: Integers
    second: Integers
    within: NDArray[np.bool_]

    @classmethod
    def of(cls, subsets: Sequence[Subset], integrated: bool = True) -> Plan:
        """Find for each tier the tiers that it leans on.

        Tiers with one parent lean on none if their posterior is `integrated`.
        """
        place = {subset: t for t, subset in enumerate(subsets)}

        def coarser(subset: Subset, fewer: int) -> list[int]:
            if len(subset) < (2 if integrated else fewer):
                return []
            found = combinations(subset, len(subset) - fewer)
            return [place[each] for each in found if each in place]

        within = [[set(u) <= set(t) for u in subsets] for t in subsets]
        return cls(
            tuple(subsets),
            _padded([coarser(subset, 1) for subset in subsets]),
            _padded([coarser(subset, 2) for subset in subsets]),
            np.array(within),
        )

    @classmethod
    def lattice(cls, parents: Sequence[int], integrated: bool = True) -> Plan:
        """All subsets of some parents."""
        return _lattice(tuple(parents), integrated)

    @classmethod
    def ladder(cls, order: Sequence[int], integrated: bool = True) -> Plan:
        """One subset of each size: parents are added in the order given."""
        subsets = [tuple(sorted(order[:size])) for size in range(len(order) + 1)]
        return cls.of(subsets, integrated)

    def inside(self, parents: int) -> NDArray[np.bool_]:
        """Whether each tier has each of so many parents, ``[tier, parent]``."""
        return _inside(self.subsets, parents)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What the kernels know of a plan."""
        return self.below, self.within, self.degree

    @cached_property
    def extensions(self) -> tuple[Integers, Integers]:
        """For each tier its last parent, and the tier that has all the others."""
        place = {subset: t for t, subset in enumerate(self.subsets)}
        parent, coarser = [-1], [-1]
        for t, subset in enumerate(self.subsets[1:], 1):
            # In a ladder the tier before has one parent less; which one, differs.
            smaller = subset[:-1] if subset[:-1] in place else self.subsets[t - 1]
            coarser.append(place[smaller])
            parent.append(next(k for k in subset if k not in smaller))
        return np.array(parent), np.array(coarser)

    def base_names(self, tier: int) -> tuple[Subset | str, ...]:
        """What a row of the tier leans on: other tiers, by their subsets, and means of these."""
        if self.below[tier, 0] < 0:
            return ()
        names = [self.subsets[u] for u in self.below[tier] if u >= 0]
        means = ("arithmetic mean", "geometric mean", "meeting", "between the last two")
        return tuple(names) if len(names) == 1 else (*names, *means)

    @cached_property
    def degree(self) -> Integers:
        """How many tiers those lean on that lean on each tier, 0 if none does."""
        degree = np.zeros(len(self.subsets), dtype=np.int64)
        for below in self.below:
            leaned_on = below[below >= 0]
            degree[leaned_on] = len(leaned_on)
        return degree

    @cached_property
    def components(self) -> Integers:
        """The first component of each tier, and their number, if only the first has no bases."""
        return np.cumsum([0, 1, *self.bases[1:]])

    @cached_property
    def least_of_two(self) -> Floats:
        """Number of parents of each tier, but two at most."""
        return np.array([min(len(subset), 2) for subset in self.subsets], dtype=np.float64)

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """How many rows, and means of them, a row of each tier leans on."""
        return tuple(len(self.base_names(tier)) for tier in range(len(self.subsets)))


@lru_cache(maxsize=256)
def _inside(subsets: tuple[Subset, ...], parents: int) -> NDArray[np.bool_]:
    return np.array([[k in subset for k in range(parents)] for subset in subsets], dtype=bool)


@lru_cache(maxsize=256)  # the tables of a network have few shapes
def _lattice(parents: Subset, integrated: bool) -> Plan:
    sizes = range(len(parents) + 1)
    subsets = [each for size in sizes for each in combinations(parents, size)]
    return Plan.of(subsets, integrated)


def log_base(
    plan: Plan, t: int, base: int, logs: Sequence[Floats] | Mapping[int, Floats]
) -> Floats:
    """Logarithms of one base of tier t, from those of the rows of all tiers, ``[..., state]`` each.

    Plain and slow: the kernel has the same for estimates, this is for draws and explanations.
    """
    leaned_on = [u for u in plan.below[t] if u >= 0]
    if base < len(leaned_on):
        return np.asarray(logs[leaned_on[base]])
    below = [logs[u] for u in leaned_on]
    kind = base - len(below)
    if kind == 0:
        return np.asarray(np.logaddexp.reduce(below) - math.log(len(below)))
    value = sum(below) / len(below)
    if kind > 1:
        second = [logs[u] for u in plan.second[t] if u >= 0]
        step = value - sum(second) / len(second)
        value = value + (step if kind == 2 else 0.5 * step)
    return np.asarray(value - np.logaddexp.reduce(value, axis=-1, keepdims=True))


def base_tiers(plan: Plan, t: int, base: int) -> list[int]:
    """The tiers whose rows one base of tier t is made of."""
    below = [int(u) for u in plan.below[t] if u >= 0]
    if base < len(below):
        return [below[base]]
    if base - len(below) < 2:
        return below
    return below + [int(u) for u in plan.second[t] if u >= 0]


def drawn_base(
    plan: Plan, t: int, base: int, drawn: Mapping[int, Floats], means: Mapping[int, Floats]
) -> Floats:
    """One base of tier t in draws, from drawn rows of its `base_tiers` and their estimates.

    Both are ``[..., state]`` for each tier. Bases that are products of rows are expanded to first
    order around the estimates: their mean over draws is then the base of the estimates. The product
    itself has a much smaller mean, because a row with a state that was never seen is drawn with a
    probability for it that is nearly always far below its mean.
    """
    below = [u for u in plan.below[t] if u >= 0]
    if base < len(below):
        return np.asarray(drawn[below[base]])
    kind = base - len(below)
    if kind == 0:
        return np.asarray(sum(drawn[u] for u in below) / len(below))

    def change(tiers: Sequence[int]) -> Floats:
        return np.asarray(sum(drawn[u] / means[u] for u in tiers) / len(tiers) - 1.0)

    factor = 1.0 + _BELOW_EXPONENT[kind] * change(below)
    if kind > 1:
        second = [u for u in plan.second[t] if u >= 0]
        factor = factor + _SECOND_EXPONENT[kind] * change(second)
    centre = np.exp(log_base(plan, t, base, {u: np.log(each) for u, each in means.items()}))
    value = centre * np.maximum(factor, 0.0)
    total = value.sum(axis=-1, keepdims=True)
    # Far from the estimates nothing may be left: then the draw takes the base of the estimates.
    return np.asarray(np.where(total > 0.0, value, centre) / np.where(total > 0.0, total, 1.0))


def _padded(lists: Sequence[Sequence[int]]) -> Integers:
    """Lists as rows of one array, each followed by at least one -1."""
    padded = np.full((len(lists), 1 + max(map(len, lists))), -1, dtype=np.int64)
    for row, each in zip(padded, lists, strict=True):
        row[: len(each)] = each
    return padded

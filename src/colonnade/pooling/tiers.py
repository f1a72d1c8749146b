"""Tiers: every row of a table shrunk towards the rows of all coarser tables.

A *tier* is the table of the child over a subset of its parents. The row of a subset leans on the
rows of the subsets with one parent fewer, down to the empty subset, which is the pool. The model
is in docs/tiers.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import Configurations, sort_keys
from colonnade.counts import FamilyCounts
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import Component
from colonnade.pooling.strength import learn_strength
from colonnade.pooling.tally import Tally

# Strengths that are tried for a base, in multiples of the number of states.
_STRENGTHS = 2.0 ** np.arange(-5, 8)
# All subsets are tiers up to this many parents, and up to this many stored cells of all of them
# together, 128 MB; beyond that, one subset of each size.
MAX_LATTICE_PARENTS = 5
MAX_LATTICE_CELLS = 1 << 24

# Powers of the geometric means of the rows one and two parents smaller in the bases that are
# products: the geometric mean, the meeting, and what is between them.
_BELOW_EXPONENT = {1: 1.0, 2: 2.0, 3: 1.5}
_SECOND_EXPONENT = {2: -1.0, 3: -0.5}

# All configurations of all tiers are estimated at once if that many cells can be held, and if there
# are no more than so many configurations for each that is asked for.
_MAX_DENSE_CELLS = 1 << 22
_QUERIES_PER_CONFIGURATION = 4

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

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What the kernels know of a plan."""
        return self.below, self.second, self.within

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
    def bases(self) -> tuple[int, ...]:
        """How many rows, and means of them, a row of each tier leans on."""
        return tuple(len(self.base_names(tier)) for tier in range(len(self.subsets)))


@lru_cache(maxsize=256)  # the tables of a network have few shapes
def _lattice(parents: Subset, integrated: bool) -> Plan:
    sizes = range(len(parents) + 1)
    subsets = [each for size in sizes for each in combinations(parents, size)]
    return Plan.of(subsets, integrated)


class Step(NamedTuple):
    """One tier on the way from the pool to a row.

    Attributes
    ----------
    parents : tuple of int
        Positions of the parents of the tier.
    counts : array [state]
        The counts of the configuration in the tier.
    estimate : array [state]
        What the tier says.
    bases : tuple
        What the row leans on: the tiers below, each given by its parents, and means of them. A
        tier whose posterior is exact leans on alpha, with one strength after another.
    leaned_on : array [base, state]
        The rows that it leans on.
    weights, strengths : array [base]
        How much each of them weighs, and how many observations it is worth.
    """

    parents: tuple[int, ...]
    counts: Floats
    estimate: Floats
    bases: tuple[Subset | str, ...]
    leaned_on: Floats
    weights: Floats
    strengths: Floats


@dataclass(frozen=True, eq=False)
class Tiers:
    """The tiers of one table, fitted to its counts.

    Attributes
    ----------
    plan : Plan
    observed : FamilyCounts
        The counts of the table itself.
    member : array [tier, observed]
        The row of `counts` of each observed configuration in each tier.
    begin : array [tier + 1]
        The first row of `counts` of each tier.
    counts : array [row, state]
        The counts of all tiers, and a last row of zeros.
    first : array [tier + 1]
        The first component of each tier.
    weight, strength : array [component]
    pool : array [component, state]
        s alpha of the components of tiers with at most one parent; zero for the others.
    grid : array [strength]
        The strengths that were tried for each base.
    chance : array [component, strength]
        Their distribution, of which `strength` is the geometric mean.
    known : array [row, state]
        The estimates of all rows but the last.
    singles : tuple of tuple of Component
        The posterior of strength and pool of each tier with one parent.
    score : array [tier]
        Leave-one-out log score of each tier.
    left_out_rows : array [cell, state]
        Estimates of the rows of the table without one observation of a cell: one for each cell with
        counts, in order. Weights and strengths stay.
    """

    plan: Plan
    observed: FamilyCounts
    member: Integers
    begin: Integers
    counts: Floats
    first: Integers
    weight: Floats
    strength: Floats
    pool: Floats
    grid: Floats
    chance: Floats
    known: Floats
    singles: tuple[tuple[Component, ...], ...]
    score: Floats
    left_out_rows: Floats

    @classmethod
    def of(
        cls,
        counts: FamilyCounts,
        parents: Sequence[int],
        alpha0: Floats,
        s_mean: float,
        integrated: bool = True,
    ) -> Tiers:
        """Fit the tiers of some parents, given by position: all that have two states or more.

        The prior mean of strengths is `s_mean` times the number of states for a single parent, and
        twice that for more parents. The posterior of a tier with one parent is `integrated`, or
        its strength learned by leaving out, as with more parents.
        """
        singles = _Singles(alpha0, s_mean, integrated)
        cells = 2 ** len(parents) * counts.observed * counts.states
        if len(parents) <= MAX_LATTICE_PARENTS and cells <= MAX_LATTICE_CELLS:
            return _fitted(Plan.lattice(parents, integrated), counts, singles)
        # One parent after the other: the one whose tier predicts best what is left out.
        order: list[int] = []
        rest = list(parents)
        while rest:
            plans = [Plan.ladder([*order, parent], integrated) for parent in rest]
            scores = [_fitted(each, counts, singles).score[-1] for each in plans]
            order.append(rest.pop(int(np.argmax(scores))))
        return _fitted(Plan.ladder(order, integrated), counts, singles)

    @property
    def states(self) -> int:
        """Number of states of the child."""
        return int(self.counts.shape[1])

    @property
    def last(self) -> tuple[Floats, Floats]:
        """Weights and strengths of the bases of the table itself."""
        part = slice(self.first[-2], None)
        return self.weight[part], self.strength[part]

    def observed_rows(self) -> Floats:
        """Estimate the rows of the observed configurations, ``[observed, state]``."""
        return np.asarray(self.known[self.member[-1]])

    def rows(self, codes: Array) -> Floats:
        """Estimate the rows of any configurations of ``[row, parent]`` codes, ``[row, state]``."""
        strides, offset = self._dense_places
        most = _QUERIES_PER_CONFIGURATION * len(codes)
        if offset[-1] <= most and offset[-1] * self.states <= _MAX_DENSE_CELLS:
            return np.asarray(self._everything()[offset[-2] + codes @ strides[-1]])
        return np.ascontiguousarray(self.estimates(self.places(codes))[:, -1])

    def estimates(self, places: Integers) -> Floats:
        """Estimate rows in all tiers, ``[row, tier, state]``."""
        from colonnade.kernels.tiers import look_up

        answer = np.empty((len(places), len(self.plan.subsets), self.states))
        look_up(places, self._arrays, self.counts, self.known, answer)
        return answer

    @property
    def _arrays(self) -> tuple[Array, ...]:
        known = (self.first, self.weight, self.strength, self.pool)
        return (*self.plan.arrays, *known)

    @cached_property
    def _dense_places(self) -> tuple[Integers, list[int]]:
        """Where rows are if all configurations of all tiers are stacked.

        That is, the strides ``[tier, parent]`` of the parents, and where each tier begins.
        """
        sizes, subsets = self.observed.parent_sizes, self.plan.subsets
        strides, offset = np.zeros((len(subsets), len(sizes)), dtype=np.int64), [0]
        for t, subset in enumerate(subsets):
            span = 1
            for k in reversed(subset):
                if span < _MAX_DENSE_CELLS:
                    strides[t, k] = span
                span *= sizes[k]
            offset.append(offset[-1] + span)
        return strides, offset

    def _everything(self) -> Floats:
        """Estimate the rows of all configurations of all tiers, stacked, ``[row, state]``."""
        from colonnade.kernels.tiers import fill_everything

        strides, offset = self._dense_places
        place = np.full(offset[-1], len(self.counts) - 1)
        for t, own in enumerate(self.member):
            place[offset[t] + self.observed.codes @ strides[t]] = own
        answer = np.empty((offset[-1], self.states))
        fill_everything(
            self._arrays,
            strides,
            np.array(self.observed.parent_sizes),
            np.array(offset),
            place,
            self.counts,
            self.known,
            answer,
        )
        return answer

    def places(self, codes: Array) -> Integers:
        """Return which row of `counts` configurations have in all tiers, ``[row, tier]``."""
        finders = zip(self.plan.subsets, self._finders, strict=True)
        found = [finder.at(codes[:, list(subset)])[:, 0] for subset, finder in finders]
        return np.stack(found, axis=1)

    @cached_property
    def _finders(self) -> list[Lookup]:
        """For each tier, where its configurations have their row of `counts`."""
        sizes, codes = self.observed.parent_sizes, self.observed.codes
        none = np.array([len(self.counts) - 1])
        finders = []
        for t, subset in enumerate(self.plan.subsets):
            rows, example = np.unique(self.member[t], return_index=True)
            inner = tuple(sizes[k] for k in subset)
            own = codes[example][:, list(subset)]
            order = np.lexsort(sort_keys(own, inner).T[::-1])
            stored = Configurations.trusted(inner, own[order])
            finders.append(Lookup.of(stored, rows[order, None], none).filled())
        return finders

    def ladder(self, codes: Array) -> tuple[Step, ...]:
        """Explain the row of one configuration, tier by tier, from the pool to the answer."""
        places = self.places(codes[None])
        rows = self.estimates(places)[0]
        steps = []
        for t, subset in enumerate(self.plan.subsets):
            part = slice(self.first[t], self.first[t + 1])
            weights, strengths = self.weight[part], self.strength[part]
            steps.append(
                Step(
                    subset,
                    self.counts[places[0, t]],
                    rows[t],
                    self.plan.base_names(t),
                    self._leaned_on(t, rows),
                    weights,
                    strengths,
                )
            )
        return tuple(steps)

    def _leaned_on(self, t: int, rows: Floats) -> Floats:
        part = slice(self.first[t], self.first[t + 1])
        if self.plan.below[t, 0] < 0:
            return self.pool[part] / self.strength[part, None]
        logs = list(np.log(rows))
        bases = range(len(self.plan.base_names(t)))
        return np.exp([log_base(self.plan, t, base, logs) for base in bases])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tiers):
            return NotImplemented
        same = self.plan.subsets == other.plan.subsets and self.observed == other.observed
        mine, theirs = self._arrays[3:], other._arrays[3:]
        return same and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]


class _Singles:
    """The tiers with one parent: their components are computed once."""

    def __init__(self, alpha0: Floats, s_mean: float, integrated: bool) -> None:
        self.alpha0, self.s_mean, self.integrated = alpha0, s_mean, integrated
        self.known: dict[int, tuple[Component, ...]] = {}

    def of(self, parent: int, values: Floats) -> tuple[Component, ...]:
        """The posterior of strength and pool, given the counts ``[configuration, state]``."""
        if parent not in self.known:
            mean = self.s_mean * values.shape[1]
            _, parts = learn_strength(Tally.of(values), self.alpha0, None, mean)
            self.known[parent] = parts
        return self.known[parent]


def _fitted(plan: Plan, counts: FamilyCounts, singles: _Singles) -> Tiers:
    """Fit the tiers of a plan."""
    from colonnade.kernels.tier_learning import fit_tiers
    from colonnade.kernels.tiers import number_projections

    number, states = len(plan.subsets), counts.states
    member = np.empty((number, counts.observed), dtype=np.int64)
    begin = np.empty(number + 1, dtype=np.int64)
    room = np.empty((1 + number * counts.observed + 1, states))
    sizes = np.array(counts.parent_sizes, dtype=np.int64)
    values = counts.values.astype(np.float64)
    number_projections(*plan.extensions, counts.codes, sizes, values, member, begin, room)
    stacked = room[: begin[-1] + 1].copy()
    parts: list[tuple[Component, ...]] = []
    weight, strength, pool = [1.0], [singles.alpha0.sum()], [singles.alpha0]
    first = [0, 1]
    for t, subset in enumerate(plan.subsets[1:], 1):
        if len(subset) == 1 and singles.integrated:
            found = singles.of(subset[0], stacked[begin[t] : begin[t + 1]])
            parts.append(found)
            weight += [part.weight for part in found]
            strength += [part.s for part in found]
            pool += [part.s * part.mean for part in found]
        else:
            bases = plan.bases[t]
            weight += [0.0] * bases
            strength += [0.0] * bases
            pool += [np.zeros(states)] * bases
        first.append(len(weight))
    score, known = np.empty(number), np.empty((begin[-1], states))
    arrays = (np.array(first), np.array(weight), np.array(strength), np.array(pool))
    means = [singles.s_mean * states * min(len(subset), 2) for subset in plan.subsets]
    grid: Floats = np.multiply(states, _STRENGTHS, dtype=np.float64)
    chance = np.zeros((len(weight), len(grid)))
    left_out = np.empty((np.count_nonzero(stacked[begin[-2] : begin[-1]]), states))
    fit_tiers(
        (*plan.arrays, *arrays),
        member,
        begin,
        stacked,
        grid,
        np.array(means, dtype=np.float64),
        chance,
        known,
        score,
        left_out,
    )
    learned = (*arrays, grid, chance, known)
    return Tiers(plan, counts, member, begin, stacked, *learned, tuple(parts), score, left_out)


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
    return np.asarray(value / value.sum(axis=-1, keepdims=True))


def _padded(lists: Sequence[Sequence[int]]) -> Integers:
    """Lists as rows of one array, each followed by at least one -1."""
    padded = np.full((len(lists), 1 + max(map(len, lists))), -1, dtype=np.int64)
    for row, each in zip(padded, lists, strict=True):
        row[: len(each)] = each
    return padded

"""Tiers: every row of a table shrunk towards the rows of all coarser tables.

A *tier* is the table of the child over a subset of its parents. The row of a subset leans on the
rows of the subsets with one parent fewer, down to the empty subset, which is the pool. The model
is in docs/tiers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import Configurations, sort_keys
from colonnade.counts import FamilyCounts
from colonnade.exceptions import counted
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import Component
from colonnade.pooling.plan import Plan, Subset, log_base
from colonnade.pooling.strength import learn_strength
from colonnade.pooling.tally import Tally
from colonnade.sparse import Fallback

# Strengths that are tried for a base, in multiples of the number of states.
_STRENGTHS = 2.0 ** np.arange(-5, 8)
# All subsets are tiers up to this many parents, and up to this many stored cells of all of them
# together, 128 MB; beyond that, one subset of each size.
MAX_LATTICE_PARENTS = 5
MAX_LATTICE_CELLS = 1 << 24


# All configurations of all tiers are estimated at once if that many cells can be held, and if there
# are no more than so many configurations for each that is asked for.
_MAX_DENSE_CELLS = 1 << 22
_QUERIES_PER_CONFIGURATION = 4


class Places(NamedTuple):
    """Where the rows of all configurations of all tiers are in one array: see `fill_rows`."""

    strides: Integers
    step: Integers
    offset: Integers
    begin: Integers

    @classmethod
    def of(
        cls, plan: Plan, sizes: Sequence[int], states: int, last: int | None = None
    ) -> Places:
        """Put tiers one after the other, each with its parents in order and the states last.

        Or the states of one parent, after those of the child.
        """
        inside = plan.inside(len(sizes))
        axes = np.where(inside, np.array(sizes, dtype=np.int64), 1)
        configurations = axes.prod(axis=1)
        order = [k for k in range(len(sizes)) if k != last]
        step = np.ones(len(axes), dtype=np.int64) if last is None else axes[:, last]
        span, strides = step * states, np.zeros_like(axes)
        if last is not None:
            strides[:, last] = inside[:, last]
        for k in reversed(order):
            strides[:, k] = np.where(inside[:, k], span, 0)
            span = span * axes[:, k]
        begin = np.concatenate([[0], np.cumsum(configurations)])
        return cls(strides, step, begin[:-1] * states, begin)


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
class Tiers(Fallback):
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

    def __repr__(self) -> str:
        tiers, rows = len(self.plan.subsets), int(self.begin[-1])
        shape = f"{counted(rows, 'row')} x {counted(self.observed.states, 'state')}"
        return f"Tiers({counted(tiers, 'tier')}, {shape})"

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
        if self._configurations <= _QUERIES_PER_CONFIGURATION * len(codes) and self._few:
            places = Places.of(self.plan, self.observed.parent_sizes, self.states)
            begin = places.offset[-1] + codes @ places.strides[-1]
            return np.asarray(self._everything(places)[begin[:, None] + np.arange(self.states)])
        return np.ascontiguousarray(self.estimates(self.places(codes))[:, -1])

    def by_parent(self, sizes: tuple[int, ...], parent: int) -> Floats:
        if not self._few:
            return super().by_parent(sizes, parent)
        places = Places.of(self.plan, sizes, self.states, parent)
        others = [size for k, size in enumerate(sizes) if k != parent]
        rows = self._everything(places)[places.offset[-1] :]
        return np.asarray(rows.reshape(*others, self.states, sizes[parent]))

    def estimates(self, places: Integers) -> Floats:
        """Estimate rows in all tiers, ``[row, tier, state]``."""
        number = len(self.plan.subsets)
        answer = np.empty((len(places), number, self.states))
        # As if there was one parent, of which each row is a state.
        where = Places(
            np.full((number, 1), number * self.states),
            np.ones(number, dtype=np.int64),
            np.arange(number) * self.states,
            np.arange(number + 1) * len(places),
        )
        rows = np.ascontiguousarray(places.T).reshape(-1)
        self._fill(where, [len(places)], rows, answer.reshape(-1))
        return answer

    def _fill(self, where: Places, sizes: Sequence[int], rows: Integers, answer: Floats) -> None:
        """Fill the answer with rows of all tiers, wherever they belong: see `fill_rows`."""
        from colonnade.kernels.tiers import LANES, fill_rows

        strides, step, offset, begin = where
        axes = np.array(sizes, dtype=np.int64)
        known = (self.counts, self.known)
        fill_rows(LANES, self._arrays, strides, step, axes, offset, begin, rows, *known, answer)

    def _everything(self, where: Places) -> Floats:
        """Estimate the rows of all configurations of all tiers, and put them where they belong."""
        sizes = self.observed.parent_sizes
        plain = Places.of(self.plan, sizes, 1)
        rows = np.full(where.begin[-1], len(self.counts) - 1)
        rows[self.observed.codes @ plain.strides.T + plain.offset] = self.member.T
        answer = np.empty(int(where.begin[-1]) * self.states)
        self._fill(where, sizes, rows, answer)
        return answer

    @property
    def _arrays(self) -> tuple[Array, ...]:
        known = (self.first, self.weight, self.strength, self.pool)
        return (*self.plan.arrays, *known)

    @cached_property
    def _configurations(self) -> float:
        """Number of configurations of all tiers, which may be huge."""
        return float(np.where(self.plan.inside(len(self.observed.parent_sizes)), self.observed.parent_sizes, 1.0).prod(axis=1).sum())

    @property
    def _few(self) -> bool:
        """Whether the rows of all tiers can be held."""
        return self._configurations * self.states <= _MAX_DENSE_CELLS

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
    from colonnade.kernels.tier_learning import MAX_TRIED, fit_tiers
    from colonnade.kernels.tiers import LANES, number_projections

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
        LANES,
        (*plan.arrays, *arrays),
        member,
        begin,
        stacked,
        np.pad(grid, (0, MAX_TRIED - len(grid)), mode="edge"),
        len(grid),
        np.array(means, dtype=np.float64),
        chance,
        known,
        score,
        left_out,
    )
    learned = (*arrays, grid, chance, known)
    return Tiers(plan, counts, member, begin, stacked, *learned, tuple(parts), score, left_out)

"""Tiers: every row of a table shrunk towards the rows of all coarser tables.

A *tier* is the table of the child over a subset of its parents. The row of a subset leans on the
rows of the subsets with one parent fewer, down to the empty subset, which is the pool. The model
is in docs/tiers.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
STRENGTHS = 2.0 ** np.arange(-5, 8)
# All subsets are tiers up to this many parents, and up to this many stored cells of all of them
# together, 128 MB; beyond that, one subset of each size.
MAX_LATTICE_PARENTS = 5
MAX_LATTICE_CELLS = 1 << 24


# All configurations of a grid are estimated at once, in all tiers, if that many cells can be held.
_MAX_DENSE_CELLS = 1 << 22
# Cells ``[row, tier, state]`` that are estimated at a time, so that the cache holds them.
_BLOCK_CELLS = 1 << 18


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
        return self.observed.states

    @cached_property
    def counts(self) -> Floats:
        """The counts of all tiers, and a last row of zeros, ``[row, state]``.

        Estimates do without them, so they are not kept from the fitting.
        """
        return _Stacked.of(self.plan, self.observed).counts.copy()

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
        grid = _Grid.around(codes, self.observed.parent_sizes)
        rows = self._rows_in_all_tiers(grid.sizes)
        # One by one, each configuration would need a row of every tier.
        if rows < len(codes) * len(self.plan.subsets) and self._few(rows):
            return self._of_grid(grid)[grid.places(codes)]
        answer = np.empty((len(codes), self.states))
        # What coarser tiers have for the same rows is held for a block of them.
        size = max(1, _BLOCK_CELLS // (len(self.plan.subsets) * self.states))
        for low in range(0, len(codes), size):
            block = slice(low, low + size)
            answer[block] = self.estimates(self.places(codes[block]))[:, -1]
        return answer

    def _of_grid(self, grid: _Grid) -> Floats:
        """Estimate all rows of a grid, ``[configuration, state]``."""
        inside = self.plan.inside(len(grid.sizes))
        answer = np.empty((math.prod(grid.sizes[:-1]), self.states, grid.sizes[-1]))
        self._fill(inside, grid.sizes, grid.numbers(self.observed.codes), self.member, answer)
        return np.moveaxis(answer, 1, 2).reshape(-1, self.states)

    def by_parent(self, sizes: tuple[int, ...], parent: int) -> Floats:
        if not self._few(self._rows_in_all_tiers(sizes)):
            return super().by_parent(sizes, parent)
        order = [*(k for k in range(len(sizes)) if k != parent), parent]
        axes = [sizes[k] for k in order]
        answer = np.empty((*axes[:-1], self.states, axes[-1]))
        inside, codes = self.plan.inside(len(sizes)), self.observed.codes
        self._fill(inside[:, order], axes, codes[:, order], self.member, answer)
        return answer

    def estimates(self, places: Integers) -> Floats:
        """Estimate rows in all tiers, ``[row, tier, state]``."""
        rows, number = places.shape
        if not rows:
            return np.empty((rows, number, self.states))
        # As if there was one parent, of which each row is a state.
        inside, codes = np.ones((number, 1), dtype=bool), np.arange(rows)[:, None]
        last = np.empty((1, self.states, rows))
        others = self._fill(inside, [rows], codes, places.T, last)
        every = [
            others[:, : self.states].reshape(number - 1, rows, self.states),
            last.transpose(0, 2, 1),
        ]
        return np.ascontiguousarray(np.concatenate(every).transpose(1, 0, 2))

    def _fill(
        self,
        inside: NDArray[np.bool_],
        sizes: Sequence[int],
        codes: Array,
        member: Integers,
        answer: Floats,
    ) -> Floats:
        """Estimate the rows of all configurations of some axes: see `fill_rows`."""
        from colonnade.kernels.tiers import fill_rows

        given = (np.ascontiguousarray(inside), np.array(sizes, dtype=np.int64))
        stored = (codes.astype(np.int64, order="C"), np.ascontiguousarray(member))
        filled = fill_rows(self._arrays, *given, *stored, self.known, answer.reshape(-1))
        return np.asarray(filled)

    @property
    def _arrays(self) -> tuple[Array, ...]:
        known = (self.first, self.weight, self.strength, self.pool)
        return (*self.plan.arrays, *known)

    def _rows_in_all_tiers(self, sizes: Sequence[int]) -> float:
        """Number of configurations of all tiers, which may be huge, of parents of some sizes."""
        each = (math.prod(sizes[k] for k in subset) for subset in self.plan.subsets)
        return float(sum(each))

    def _few(self, rows: float) -> bool:
        """Whether so many rows can be held."""
        return rows * self.states <= _MAX_DENSE_CELLS

    def places(self, codes: Array) -> Integers:
        """Return which row of `counts` configurations have in all tiers, ``[row, tier]``."""
        finders = zip(self.plan.subsets, self._finders, strict=True)
        found = [finder.at(codes[:, list(subset)])[:, 0] for subset, finder in finders]
        return np.stack(found, axis=1)

    @cached_property
    def _finders(self) -> list[Lookup]:
        """For each tier, where its configurations have their row of `counts`."""
        sizes, codes = self.observed.parent_sizes, self.observed.codes
        none = self.begin[-1:]
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


class _Grid(NamedTuple):
    """All configurations of some states of each parent.

    `number` says for each parent which of its states in the grid a code is, or -1.
    """

    sizes: tuple[int, ...]
    number: tuple[Integers, ...]

    @classmethod
    def around(cls, codes: Array, sizes: Sequence[int]) -> _Grid:
        """Make the smallest grid that has all configurations ``[row, parent]``."""
        number = []
        for k, size in enumerate(sizes):
            asked = np.bincount(codes[:, k], minlength=size) > 0
            number.append(np.where(asked, np.cumsum(asked) - 1, -1))
        return cls(tuple(int(own.max()) + 1 for own in number), tuple(number))

    def numbers(self, codes: Array) -> Integers:
        """Write configurations ``[row, parent]`` in the states of the grid; -1 is none of them."""
        return np.stack([own[codes[:, k]] for k, own in enumerate(self.number)], axis=1)

    def places(self, codes: Array) -> Integers:
        """Return which row of the grid configurations ``[row, parent]`` of it are."""
        return np.asarray(np.ravel_multi_index(self.numbers(codes).T, self.sizes))


_Parts: TypeAlias = tuple[Component, ...]


class _Singles:
    """The tiers with one parent: their components are computed once."""

    def __init__(self, alpha0: Floats, s_mean: float, integrated: bool) -> None:
        self.alpha0, self.s_mean, self.integrated = alpha0, s_mean, integrated
        self.known: dict[int, _Parts] = {}

    def parts(self, plan: Plan, begin: Integers, counts: Floats) -> dict[int, _Parts]:
        """Components of all tiers with one parent whose posterior is integrated, by tier."""
        if not self.integrated:
            return {}
        single = [(t, subset[0]) for t, subset in enumerate(plan.subsets) if len(subset) == 1]
        return {t: self.of(parent, counts[begin[t] : begin[t + 1]]) for t, parent in single}

    def of(self, parent: int, values: Floats) -> _Parts:
        """The posterior of strength and pool, given the counts ``[configuration, state]``."""
        if parent not in self.known:
            mean = self.s_mean * values.shape[1]
            _, parts = learn_strength(Tally.of(values), self.alpha0, None, mean)
            self.known[parent] = parts
        return self.known[parent]


class _Stacked(NamedTuple):
    """The counts of all tiers, in one array, and which rows of it are whose: see `Tiers`."""

    member: Integers
    begin: Integers
    counts: Floats

    @classmethod
    def of(cls, plan: Plan, observed: FamilyCounts) -> _Stacked:
        """Add up the counts of a table in all tiers."""
        from colonnade.kernels.tiers import number_projections

        number = len(plan.subsets)
        member = np.empty((number, observed.observed), dtype=np.int64)
        begin = np.empty(number + 1, dtype=np.int64)
        room = np.empty((1 + number * observed.observed + 1, observed.states))
        sizes = np.array(observed.parent_sizes, dtype=np.int64)
        values = observed.values.astype(np.float64)
        number_projections(*plan.extensions, observed.codes, sizes, values, member, begin, room)
        return cls(member, begin, room[: begin[-1] + 1])


def _fitted(plan: Plan, counts: FamilyCounts, singles: _Singles) -> Tiers:
    """Fit the tiers of a plan."""
    from colonnade.kernels.tier_learning import fit_tiers
    from colonnade.kernels.tiers import LANES

    number, states = len(plan.subsets), counts.states
    member, begin, stacked = cells = _Stacked.of(plan, counts)
    parts = singles.parts(plan, begin, stacked)
    first = plan.components if not parts else _components(plan, parts)
    weight, strength = np.zeros(first[-1]), np.zeros(first[-1])
    pool = np.zeros((first[-1], states))
    weight[0], strength[0], pool[0] = 1.0, singles.alpha0.sum(), singles.alpha0
    for t, found in parts.items():
        own = slice(first[t], first[t + 1])
        weight[own] = [part.weight for part in found]
        strength[own] = [part.s for part in found]
        pool[own] = [part.s * part.mean for part in found]
    score, known = np.empty(number), np.empty((begin[-1], states))
    grid = np.multiply(states, STRENGTHS, dtype=np.float64)
    chance = np.zeros((first[-1], len(grid)))
    left_out = np.empty((np.count_nonzero(counts.values), states))
    means = plan.least_of_two * (singles.s_mean * states)
    learned = (first, weight, strength, pool)
    results = (chance, known, score, left_out)
    fit_tiers(LANES, (*plan.arrays, *learned), *cells, grid, means, *results)
    shown = (grid, chance, known, tuple(parts.values()), score, left_out)
    fields = (plan, counts, member, begin, *learned, *shown)
    return Tiers(*fields)


def _components(plan: Plan, parts: Mapping[int, Sequence[Component]]) -> Integers:
    """First component of each tier, and their number; `parts` are those of tiers without bases."""
    tiers = range(1, len(plan.subsets))
    return np.cumsum([0, 1, *(len(parts[t]) if t in parts else plan.bases[t] for t in tiers)])

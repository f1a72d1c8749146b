"""Draws: joint draws of a whole table, whose rows are drawn when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import Component
from colonnade.pooling.draws import dirichlet, log_dirichlet
from colonnade.pooling.mixture import sample_components
from colonnade.pooling.plan import base_tiers, drawn_base
from colonnade.pooling.tiers import Tiers
from colonnade.randomness import generator

# Probabilities that are drawn may underflow; what leans on them is to remain above zero.
_TINY = 1e-300

# Draws from Dirichlet distributions, given their parameters.
Draw: TypeAlias = Callable[[Floats, np.random.Generator], Floats]


class Draws(ABC):
    """Joint draws of a table with any number of configurations.

    What rows share is drawn once. The rows themselves are drawn when they are asked for, and a row
    asked for twice is drawn twice, so a caller that needs it again must keep it.

    Attributes
    ----------
    n : int
        Number of draws.
    """

    n: int

    @abstractmethod
    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        """Logarithms of the rows of some configurations, ``[draw, row, state]``.

        `codes` are ``[row, parent]``, all different. With `draws_last` the answer is ``[row, state,
        draw]``.
        """

    @abstractmethod
    def log_cells(self, codes: Array, child: Array) -> Floats:
        """Logarithms of single cells, ``[cell, draw]``: each from its own margin.

        So no two of them may be asked for of the same configuration and used together.
        """


class PooledDraws(Draws):
    """Draws of a table whose rows are independent given s alpha.

    Parameters
    ----------
    seen : Lookup
        The counts.
    components : tuple of Component
        The posterior of s and alpha.
    n : int
        Number of draws.
    rng : numpy.random.Generator
    pools : int, optional
        Number of different draws of s alpha, each used several times; by default `n`.
    """

    def __init__(
        self,
        seen: Lookup,
        components: tuple[Component, ...],
        n: int,
        rng: np.random.Generator,
        pools: int | None = None,
    ) -> None:
        self.seen, self.components, self.n, self.rng = seen, components, n, rng
        self.pools = n if pools is None else pools

    @cached_property
    def pool(self) -> Floats:
        """s alpha in each draw, ``[draw, state]``."""
        alpha, strength = sample_components(self.components, self.pools, self.rng)
        return (strength[:, None] * alpha)[np.arange(self.n) % self.pools]

    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        rows, pool = self.seen.at(codes), self.pool
        if draws_last:
            return log_dirichlet(rows[:, :, None] + pool.T, self.rng, axis=1)
        return log_dirichlet(rows[None] + pool[:, None, :], self.rng)

    def log_cells(self, codes: Array, child: Array) -> Floats:
        # The margin of a Dirichlet distribution is a Beta distribution.
        seen, pool = self.seen.at(codes), np.ascontiguousarray(self.pool.T)
        own = seen[np.arange(len(child)), child][:, None] + pool[child]
        others = seen.sum(axis=1)[:, None] + pool.sum(axis=0) - own
        return np.asarray(log_dirichlet(np.stack([own, others], axis=1), self.rng, axis=1)[:, 0])


class TierDraws(Draws):
    """Draws through tiers: each tier from the drawn rows of the tiers below.

    The empty tier is drawn from its exact posterior, and so are those with one parent if the prior
    has them integrated. In every draw, any other tier takes one of its bases and one strength for
    all its rows, by how well they predict. Rows of all tiers but the last are kept: rows that share
    a state of a parent move together.
    """

    def __init__(
        self, tiers: Tiers, n: int, rng: np.random.Generator, pools: int | None = None
    ) -> None:
        self.tiers, self.n, self.rng = tiers, n, rng
        pools = n if pools is None else pools
        self._use = np.arange(n) % pools
        self._pools = [self._pool(parts, pools) for parts in tiers.singles]
        self._chosen = [self._choice(t) for t in range(len(tiers.plan.subsets))]
        self._kept = [_Kept(n, tiers.states) for _ in tiers.plan.subsets[:-1]]

    def _pool(self, parts: tuple[Component, ...], pools: int) -> Floats:
        alpha, strength = sample_components(parts, pools, self.rng)
        return (strength[:, None] * alpha)[self._use]

    def _choice(self, t: int) -> tuple[Array, Floats]:
        """Which base a tier takes in each draw, and with which strength."""
        tiers = self.tiers
        part = slice(tiers.first[t], tiers.first[t + 1])
        if tiers.plan.below[t, 0] < 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        joint = tiers.weight[part, None] * tiers.chance[part]
        cells = self.rng.choice(joint.size, size=self.n, p=joint.ravel() / joint.sum())
        base, place = np.divmod(cells, len(tiers.grid))
        return base, tiers.grid[place]

    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        asked = _Asked.of(self.tiers, codes)
        self._keep_lower_rows(asked)
        last = len(self._kept)
        shapes = self._leaned_on(last, asked, np.arange(len(codes)))
        shapes += asked.counts(last)[:, None]
        rows = self._drawn(last, asked.keys(last), shapes, log_dirichlet)
        return np.ascontiguousarray(np.moveaxis(rows, 1, 2 if draws_last else 0))

    def log_cells(self, codes: Array, child: Array) -> Floats:
        # The margin of a Dirichlet distribution is a Beta distribution.
        asked = _Asked.of(self.tiers, codes)
        self._keep_lower_rows(asked)
        last = len(self._kept)
        own = self._leaned_on(last, asked, np.arange(len(codes)), child)[:, :, 0]
        others = np.maximum(self._chosen[last][1] - own, _TINY)
        counts = asked.counts(last)
        seen = counts[np.arange(len(child)), child]
        shapes = np.stack([own + seen[:, None], others + (counts.sum(axis=1) - seen)[:, None]])
        return np.asarray(log_dirichlet(shapes, self.rng, axis=0)[0])

    def _keep_lower_rows(self, asked: _Asked) -> None:
        """Draw what is not yet known of the rows of all tiers but the last."""
        for t, kept in enumerate(self._kept):
            keys = asked.keys(t)
            fresh = {key: i for i, key in enumerate(keys) if key not in kept.place}
            if fresh:
                here = np.array(list(fresh.values()))
                shapes = self._leaned_on(t, asked, here) + asked.counts(t)[here, None]
                kept.add(fresh, self._drawn(t, list(fresh), shapes, dirichlet))
            asked.kept.append(np.array([kept.place[key] for key in keys], dtype=np.int64))

    def _drawn(self, t: int, keys: Sequence[bytes], shapes: Floats, draw: Draw) -> Floats:
        """Draw rows of tier t, ``[row, draw, state]``; `keys` tell them apart."""
        return draw(shapes, self.rng)

    def _leaned_on(self, t: int, asked: _Asked, here: Array, child: Array | None = None) -> Floats:
        """s times what some rows of tier t lean on in each draw, ``[row, draw, state]``.

        With `child` only that state of each row.
        """
        tiers = self.tiers
        if t == 0:
            return np.broadcast_to(tiers.pool[0], (1, self.n, tiers.states))
        if tiers.plan.below[t, 0] < 0:
            return self._pools[t - 1][None]
        lean = np.empty((len(here), self.n, tiers.states if child is None else 1))
        chosen, strength = self._chosen[t]
        for base in np.unique(chosen).tolist():
            draws = np.flatnonzero(chosen == base)
            row = self._base(t, base, asked, here, draws)
            if child is not None:
                row = row[np.arange(len(here)), :, child][:, :, None]
            lean[:, draws] = strength[draws, None] * np.maximum(row, _TINY)
        return lean

    def _base(self, t: int, base: int, asked: _Asked, here: Array, draws: Array) -> Floats:
        """One base of rows of tier t in some draws, ``[row, draw, state]``."""
        plan = self.tiers.plan
        needed = base_tiers(plan, t, base)
        rows = {u: self._kept[u].rows[asked.kept[u][here, None], draws] for u in needed}
        centres = {u: asked.means[here, u][:, None] for u in needed}
        return drawn_base(plan, t, base, rows, centres)


class SteadyTierDraws(TierDraws):
    """Draws through tiers in which a row does not depend on which others are asked for.

    Every row has random numbers of its own, which follow from its tier and its configuration.
    """

    def __init__(self, tiers: Tiers, n: int) -> None:
        super().__init__(tiers, n, generator(0))

    def _drawn(self, t: int, keys: Sequence[bytes], shapes: Floats, draw: Draw) -> Floats:
        rows = np.empty(shapes.shape)
        for row, key, shape in zip(rows, keys, shapes, strict=True):
            # The 1 keeps them apart from those of the seed 0, which what rows share is drawn with.
            seed = [1, t, *np.frombuffer(key, dtype=np.int64).tolist()]
            row[:] = draw(shape, np.random.default_rng(seed))
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Configurations whose rows are asked for.

    Attributes
    ----------
    codes : array [row, parent]
    places : array [row, tier]
        Where their counts are.
    means : array [row, tier, state]
        Their estimates.
    kept : list of array [row]
        Where their drawn rows are, for one tier after the other.
    """

    tiers: Tiers
    codes: Array
    places: Integers
    means: Floats
    kept: list[Integers]

    @classmethod
    def of(cls, tiers: Tiers, codes: Array) -> _Asked:
        places = tiers.places(codes)
        return cls(tiers, codes, places, tiers.estimates(places), [])

    def counts(self, t: int) -> Floats:
        """Counts in one tier, ``[row, state]``."""
        return self.tiers.counts[self.places[:, t]]

    def keys(self, t: int) -> list[bytes]:
        """What tells rows of one tier apart."""
        subset = list(self.tiers.plan.subsets[t])
        own = np.ascontiguousarray(self.codes[:, subset], dtype=np.int64)
        return [row.tobytes() for row in own]


class _Kept:
    """Rows of one tier that have been drawn, ``[row, draw, state]``, with room for more."""

    def __init__(self, draws: int, states: int) -> None:
        self.place: dict[bytes, int] = {}
        self.rows = np.empty((0, draws, states))

    def add(self, keys: Iterable[bytes], rows: Floats) -> None:
        """Keep more rows."""
        used = len(self.place)
        needed = used + len(rows)
        if needed > len(self.rows):
            more = np.empty((max(needed, 2 * len(self.rows)), *self.rows.shape[1:]))
            more[:used] = self.rows[:used]
            self.rows = more
        self.rows[used:needed] = rows
        self.place.update(zip(keys, range(used, needed), strict=True))

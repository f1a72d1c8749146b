"""Draws: joint draws of a whole table, whose rows are drawn when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import Component
from colonnade.pooling.draws import log_dirichlet
from colonnade.pooling.mixture import sample_components
from colonnade.pooling.tiers import Tiers, drawn_base

# Probabilities that are drawn may underflow; what leans on them is to remain above zero.
_TINY = 1e-300


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

    The empty tier and those with one parent are drawn from their exact posteriors. In every draw, a
    tier with more parents takes one of its bases and one strength for all its rows, by how well
    they predict. Rows of all tiers but the last are kept: rows that share a state of a parent move
    together.
    """

    def __init__(
        self, tiers: Tiers, n: int, rng: np.random.Generator, pools: int | None = None
    ) -> None:
        self.tiers, self.n, self.rng = tiers, n, rng
        pools = n if pools is None else pools
        self._use = np.arange(n) % pools
        self._pools = [self._pool(parts, pools) for parts in tiers.singles]
        self._chosen = [self._choice(t) for t in range(len(tiers.plan.subsets))]
        self._kept: list[dict[bytes, Floats]] = [{} for _ in tiers.plan.subsets]

    def _pool(self, parts: tuple[Component, ...], pools: int) -> Floats:
        alpha, strength = sample_components(parts, pools, self.rng)
        return (strength[:, None] * alpha)[self._use]

    def _choice(self, t: int) -> tuple[Array, Floats]:
        """Which base a tier takes in each draw, and with which strength."""
        tiers = self.tiers
        part = slice(tiers.first[t], tiers.first[t + 1])
        if len(tiers.plan.subsets[t]) < 2:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        joint = tiers.weight[part, None] * tiers.chance[part]
        cells = self.rng.choice(joint.size, size=self.n, p=joint.ravel() / joint.sum())
        base, place = np.divmod(cells, len(tiers.grid))
        return base, tiers.grid[place]

    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        rows = self._rows(codes)[-1]
        return np.ascontiguousarray(np.moveaxis(rows, 1, 2 if draws_last else 0))

    def log_cells(self, codes: Array, child: Array) -> Floats:
        cells = self._rows(codes)[-1][np.arange(len(child)), :, child]
        return np.ascontiguousarray(cells)

    def _rows(self, codes: Array) -> list[Floats]:
        """Logarithms of rows in all tiers, ``[row, draw, state]`` each."""
        plan, places = self.tiers.plan, self.tiers.places(codes)
        means = self.tiers.estimates(places)
        found: list[Floats] = []
        nothing = (0, self.n, self.tiers.states)
        for t, subset in enumerate(plan.subsets):
            own = np.ascontiguousarray(codes[:, list(subset)], dtype=np.int64)
            keys = [row.tobytes() for row in own]
            kept = self._kept[t] if t < len(plan.subsets) - 1 else {}
            fresh = {key: i for i, key in enumerate(keys) if key not in kept}
            if fresh:
                here = np.array(list(fresh.values()))
                lean = self._leaned_on(t, here, found, means)
                seen = self.tiers.counts[places[here, t]]
                drawn = log_dirichlet(seen[:, None, :] + lean, self.rng)
                kept.update(zip(fresh, drawn, strict=True))
            found.append(np.stack([kept[key] for key in keys]) if keys else np.empty(nothing))
        return found

    def _leaned_on(self, t: int, here: Array, below: list[Floats], means: Floats) -> Floats:
        """s times what rows of tier t lean on in each draw, ``[row, draw, state]``."""
        tiers = self.tiers
        if t == 0:
            return np.broadcast_to(tiers.pool[0], (1, self.n, tiers.states))
        if len(tiers.plan.subsets[t]) == 1:
            return self._pools[t - 1][None]
        lean = np.empty((len(here), self.n, tiers.states))
        centres = [means[here, u][:, None] for u in range(t)]
        chosen, strength = self._chosen[t]
        for base in np.unique(chosen):
            draws = np.flatnonzero(chosen == base)
            rows = [np.exp(each[np.ix_(here, draws)]) for each in below]
            row = np.maximum(drawn_base(tiers.plan, t, int(base), rows, centres), _TINY)
            lean[:, draws] = strength[draws, None] * row
        return lean

"""Exact and Quadrature: two engines for the exact posterior of alpha (docs/exact.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.exceptions import NotSupportedError
from colonnade.pooling.alpha import EPSILON, AlphaPosterior, Engine, ErrorEstimate, PooledAlpha
from colonnade.pooling.chains import MAX_ERROR, Chains
from colonnade.pooling.draws import dirichlet
from colonnade.pooling.tally import Pool, Tally
from colonnade.randomness import generator

if TYPE_CHECKING:
    from colonnade.kernels.simplex import Panels

# The engine refuses to take more steps (see `_steps`) than this: about a second of work.
_MAX_STEPS = 200_000
# A cell's trials are added one by one up to this many, and the others all at once if they are rare.
_MAX_SINGLE_TRIALS = 128.0
_MAX_RARE_SUCCESSES = 200.0


@dataclass(frozen=True, slots=True)
class Exact(Engine):
    """Sum the finite mixture of Dirichlet distributions that the posterior of alpha is.

    For whole counts only. The work grows with the observations of each cell up to about a hundred,
    and with the number of tables; beyond 200 000 steps it is refused (use :class:`Quadrature`,
    whose work does not depend on them).

    Examples
    --------
    >>> from colonnade import Exact, Hierarchical
    >>> Hierarchical(engine=Exact()).posterior([[2, 0], [3, 1]]).alpha.engine
    Exact()
    """

    def _solved(self, pool: Pool) -> AlphaPosterior:
        from colonnade.kernels.lattice import lattice_moments

        steps = _checked_steps(pool.tally, pool.s)
        log_z, mean, second = lattice_moments(pool.states, *pool.centre(pool.states))
        full_mean, covariance = pool.spread(mean, second - np.outer(mean, mean))
        log_evidence = pool.log_evidence(log_z)
        # Every step of the recurrences adds one rounding; they act like a random walk on the
        # weights. The evidence has a few more, of every logarithm that enters.
        mean_error = EPSILON * (4.0 + 2.0 * math.sqrt(min(pool.tally.total, 1e6)))
        log_error = EPSILON * (16.0 * pool.magnitude(log_z) + 2.0 * steps)
        estimate = ErrorEstimate(mean_error, log_error)
        return LatticeAlpha(full_mean, covariance, log_evidence, self, pool, estimate)

    def _log_evidence(self, pool: Pool) -> float:
        from colonnade.kernels.lattice import lattice_log_z

        _checked_steps(pool.tally, pool.s)
        return pool.log_evidence(lattice_log_z(pool.states, *pool.centre(pool.states)))


@dataclass(frozen=True, eq=False, repr=False)
class LatticeAlpha(PooledAlpha):
    """The mixture: draws take the numbers of tables first, then alpha given them."""

    def sample(self, n: int, rng: Seed = None) -> Floats:
        from colonnade.kernels.lattice import lattice_draws

        rng = generator(rng)
        states = self.pool.states
        uniforms = rng.random((n, states.alpha0.size))
        tables = lattice_draws(states, *self.pool.centre(states), uniforms)
        return self.pool.spread_draws(dirichlet(tables + states.alpha0, rng), rng)

    @cached_property
    def _curves(self) -> dict[int, tuple[tuple[Floats, ...], float]]:
        """The curves of states that were asked for: they take long, and points on them do not."""
        return {}

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        from colonnade.kernels.marginals import mixture_last, rule

        if state not in self._curves:
            states = self.pool.with_last(state)
            self._curves[state] = mixture_last(states, self.pool.s, *self.pool.centre(states))
        points, weights = rule(*self._curves[state], finest)
        return points, weights


@dataclass(frozen=True, slots=True)
class Quadrature(Engine):
    """Integrate the posterior of alpha state by state, to nearly the last digit.

    For any counts, whole or fractional, of any size; the work depends on the number of distinct
    counts, not on the number of configurations or observations.

    Examples
    --------
    >>> from colonnade import Hierarchical, Quadrature
    >>> Hierarchical(engine=Quadrature()).posterior([[0.5, 0.25], [3.0, 1.5]]).alpha.engine
    Quadrature()
    """

    def _solved(self, pool: Pool) -> AlphaPosterior:
        chained = self._chained(pool)
        if chained is not None:
            return chained
        from colonnade.kernels.simplex import simplex_solve

        found = simplex_solve(pool.states, pool.s, *pool.centre(pool.states))
        return SimplexAlpha(*_moments(pool, self, *found))

    def _log_evidence(self, pool: Pool) -> float:
        chained = self._chained(pool)
        if chained is not None and chained.log_evidence is not None:
            return chained.log_evidence
        from colonnade.kernels.simplex import simplex_panels

        log_z, _ = simplex_panels(pool.states, pool.s, *pool.centre(pool.states))
        return pool.log_evidence(log_z)

    def _chained(self, pool: Pool) -> ChainAlpha | None:
        """The posterior of a table with few counts, if it is good enough."""
        chains = Chains.at(pool)
        return None if chains is None else ChainAlpha.of(pool, self, chains)


def _moments(
    pool: Pool,
    engine: Engine,
    log_z: float,
    mean: Floats,
    covariance: Floats,
    step_error: float,
    panel_error: float,
) -> tuple[Floats, Floats, float, Engine, Pool, ErrorEstimate]:
    """Everything that a posterior by quadrature says at once."""
    full_mean, full_covariance = pool.spread(mean, covariance)
    log_evidence = pool.log_evidence(log_z)
    # What the integrals lose, some roundings of every logarithm that enters, and that of the powers
    # of alpha at zero, where a small alpha0 makes tails long.
    rounding = EPSILON * (1.0 + float(pool.tally.times.sum()))
    rounding += EPSILON / float(pool.alpha0.min())
    log_error = 4.0 * float(step_error + panel_error) + rounding
    deviation = float(np.sqrt(max(0.0, covariance.diagonal().max())))
    estimate = ErrorEstimate(
        max(abs(float(mean.sum()) - 1.0), log_error * deviation) + 32.0 * EPSILON,
        log_error + 16.0 * EPSILON * pool.magnitude(log_z),
    )
    return full_mean, full_covariance, log_evidence, engine, pool, estimate


@dataclass(frozen=True, eq=False, repr=False)
class SimplexAlpha(PooledAlpha):
    """The chain of partial sums: draws follow it from the whole to the first state."""

    def sample(self, n: int, rng: Seed = None) -> Floats:
        from colonnade.kernels.marginals import simplex_draws

        rng = generator(rng)
        return self.pool.spread_draws(simplex_draws(self._panels(), n, rng), rng)

    def _panels(self) -> Panels:
        from colonnade.kernels.simplex import simplex_panels

        states = self.pool.states
        return simplex_panels(states, self.pool.s, *self.pool.centre(states))[1]


@dataclass(frozen=True, eq=False, repr=False)
class ChainAlpha(SimplexAlpha):
    """The same with few counts, from curves that may serve other strengths as well."""

    chains: Chains

    @classmethod
    def of(cls, pool: Pool, engine: Engine, chains: Chains) -> ChainAlpha | None:
        """Posterior at the strength of a pool; None if its error may be too large."""
        found = chains.moments(pool.s)
        if found.step_error + found.panel_error > MAX_ERROR:
            return None
        return cls(*_moments(pool, engine, *found), chains)

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        from colonnade.kernels.marginals import rule

        marginal = self.chains.marginal(state, self.pool.s, float(self.mean[state]))
        if marginal is None:
            return super().points(state, finest)
        points, weights = rule(*marginal, finest)
        return points, weights

    def _panels(self) -> Panels:
        return self.chains.panels(self.pool.s)


def choose(tally: Tally, s: float) -> Engine:
    """Pick the faster of the two exact engines.

    The finite mixture takes one step per observation (of the first hundred or so of a cell), and
    longer if there are many tables; the quadrature takes one level per state beyond the second, and
    longer if there are few tables.
    """
    if not tally.whole or (steps := _steps(tally, s)) > _MAX_STEPS:
        return Quadrature()
    # Milliseconds, fitted to measurements over r from 2 to 16, q to 512 and n to 100 000.
    cells = float(tally.times.sum()) / max(1, tally.tallied.size)
    mixture = 0.054 + 3.4e-4 * steps * math.sqrt(1.0 + cells / 250.0)
    levels = max(0, min(tally.tallied.size + 1, tally.states) - 2)
    quadrature = 0.41 + levels * (0.74 + 32.0 * (1.0 + cells) ** -1.6)
    return Exact() if mixture < quadrature else Quadrature()


def solve_exactly(tally: Tally, alpha0: Floats, s: float) -> AlphaPosterior:
    """Posterior of alpha by the faster of the two exact engines."""
    return choose(tally, s).solve(tally, s, alpha0)


def _steps(tally: Tally, s: float) -> float:
    """How many trials the engine adds one by one; its work is this times the number of tables."""
    if tally.count.size and s * math.log1p(float(tally.count.max())) < _MAX_RARE_SUCCESSES:
        return float(np.minimum(tally.count, _MAX_SINGLE_TRIALS) @ tally.times)
    return tally.total


def _checked_steps(tally: Tally, s: float) -> float:
    """Refuse what the engine cannot do; otherwise its steps."""
    hint = "use engine=Quadrature(), or engine=None to choose automatically"
    if not tally.whole:
        reason = "its mixture is finite for whole counts only"
        raise NotSupportedError("Exact() for fractional counts", reason, hint)
    steps = _steps(tally, s)
    if steps > _MAX_STEPS:
        reason = f"they would take more than {_MAX_STEPS} steps"
        raise NotSupportedError(f"Exact() for {tally.total:.0f} observations", reason, hint)
    return steps

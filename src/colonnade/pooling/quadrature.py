"""Quadrature: the posterior of alpha by positive quadrature on the simplex (docs/exact.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Floats
from colonnade.pooling.alpha import EPSILON, AlphaPosterior, Engine, ErrorEstimate, PooledAlpha
from colonnade.pooling.draws import Rng
from colonnade.pooling.tally import Pool


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
        from colonnade.kernels.simplex import simplex_solve

        log_z, mean, covariance, step_error, panel_error = simplex_solve(
            pool.states, pool.s, *pool.centre(pool.states)
        )
        full_mean, full_covariance = pool.spread(mean, covariance)
        log_evidence = pool.log_evidence(log_z)
        # What the integrals lose, and some roundings of every logarithm that enters.
        rounding = EPSILON * (1.0 + float(pool.tally.times.sum()))
        log_error = 4.0 * float(step_error + panel_error) + rounding
        deviation = float(np.sqrt(max(0.0, covariance.diagonal().max())))
        estimate = ErrorEstimate(
            max(abs(float(mean.sum()) - 1.0), log_error * deviation) + 32.0 * EPSILON,
            log_error + 16.0 * EPSILON * pool.magnitude(log_z),
        )
        return SimplexAlpha(full_mean, full_covariance, log_evidence, self, pool, estimate)

    def _log_evidence(self, pool: Pool) -> float:
        from colonnade.kernels.simplex import simplex_panels

        log_z, _ = simplex_panels(pool.states, pool.s, *pool.centre(pool.states))
        return pool.log_evidence(log_z)


@dataclass(frozen=True, eq=False, repr=False)
class SimplexAlpha(PooledAlpha):
    """The chain of partial sums: draws follow it from the whole to the first state."""

    def sample(self, n: int, rng: Rng = None) -> Floats:
        from colonnade.kernels.marginals import simplex_draws
        from colonnade.kernels.simplex import simplex_panels

        rng = np.random.default_rng(rng)
        states = self.pool.states
        _, panels = simplex_panels(states, self.pool.s, *self.pool.centre(states))
        return self.pool.spread_draws(simplex_draws(panels, n, rng), rng)

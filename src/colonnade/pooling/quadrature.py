"""Quadrature.

The posterior of alpha by positive quadrature on the simplex, for any counts (docs/exact.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.pooling.alpha import EPSILON, AlphaPosterior, ErrorEstimate, PooledAlpha, tilted
from colonnade.pooling.engine import PoolEngine
from colonnade.pooling.tally import Pool

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quadrature(PoolEngine):
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
            *pool.arguments, pool.s, *tilted(pool.arguments, pool.s)
        )
        full_mean, full_covariance = pool.spread(mean, covariance)
        log_evidence = pool.log_evidence(log_z)
        # what the integrals lose, and some roundings of every logarithm that enters
        log_error = 4.0 * float(step_error + panel_error) + EPSILON * (
            1.0 + float(pool.tally.times.sum())
        )
        deviation = float(np.sqrt(max(0.0, covariance.diagonal().max())))
        estimate = ErrorEstimate(
            max(abs(float(mean.sum()) - 1.0), log_error * deviation) + 32.0 * EPSILON,
            log_error + 16.0 * EPSILON * pool.magnitude(log_z),
        )
        return SimplexAlpha(full_mean, full_covariance, log_evidence, self, pool, estimate)

    def _log_z(self, pool: Pool) -> float:
        from colonnade.kernels.simplex import simplex_panels

        log_z, _ = simplex_panels(*pool.arguments, pool.s, *tilted(pool.arguments, pool.s))
        return float(log_z)


@dataclass(frozen=True, eq=False, repr=False)
class SimplexAlpha(PooledAlpha):
    """The chain of partial sums: draws follow it from the whole to the first state."""

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        from colonnade.kernels.simplex import simplex_draws, simplex_panels

        rng = np.random.default_rng(rng)
        arguments, s = self.pool.arguments, self.pool.s
        _, (f, f_domain, g, g_domain, share) = simplex_panels(*arguments, s, *tilted(arguments, s))
        draws = simplex_draws(f, f_domain, g, g_domain, share, n, rng)
        return self.pool.spread_draws(draws, rng)

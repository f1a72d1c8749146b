"""Exact.

The posterior of alpha as a finite mixture of Dirichlet distributions, for whole counts
(docs/exact.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import NotSupportedError
from colonnade.pooling.alpha import (
    EPSILON,
    AlphaPosterior,
    ErrorEstimate,
    PooledAlpha,
    tilted,
    without_data,
)
from colonnade.pooling.draws import dirichlet, gauss_rule
from colonnade.pooling.tally import Pool, Tally

Floats = NDArray[np.float64]
LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class Exact:
    """Sum the finite mixture of Dirichlet distributions that the posterior of alpha is.

    For whole counts only. The work grows with the square of the counts of a state; up to a few
    thousand observations it takes milliseconds, and above 200 000 it is refused (use
    :class:`Quadrature`, which does not depend on the number).

    Examples
    --------
    >>> from colonnade import Exact, Hierarchical
    >>> Hierarchical(engine=Exact()).posterior([[2, 0], [3, 1]]).alpha.engine
    Exact()
    """

    def solve(self, tally: Tally, s: float, alpha0: Floats) -> AlphaPosterior:
        """Posterior of alpha from a tally."""
        trivial = without_data(tally, alpha0, self)
        if trivial is not None:
            return trivial
        from colonnade.kernels.lattice import lattice_moments

        _check(tally)
        pool = Pool.of(tally, s, alpha0)
        log_z, mean, second = lattice_moments(*pool.arguments, *tilted(pool.arguments, s))
        full_mean, covariance = pool.spread(mean, second - np.outer(mean, mean))
        estimate = ErrorEstimate(_mean_error(tally), _evidence_error(tally, log_z))
        return LatticeAlpha(full_mean, covariance, pool.log_evidence(log_z), self, pool, estimate)

    def log_evidence(self, tally: Tally, s: float, alpha0: Floats) -> float:
        """Log evidence alone."""
        if tally.states == 1 or tally.total == 0.0:
            return 0.0
        from colonnade.kernels.lattice import lattice_log_z

        _check(tally)
        pool = Pool.of(tally, s, alpha0)
        return pool.log_evidence(lattice_log_z(*pool.arguments, *tilted(pool.arguments, s)))


@dataclass(frozen=True, eq=False, repr=False)
class LatticeAlpha(PooledAlpha):
    """The mixture.

    Draws take the numbers of tables first, then the Dirichlet distribution given them.
    """

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        from colonnade.kernels.lattice import lattice_draws

        rng = np.random.default_rng(rng)
        arguments = self.pool.arguments
        uniforms = rng.random((n, self.pool.pooled.size))
        tables = lattice_draws(*arguments, *tilted(arguments, self.pool.s), uniforms)
        return self.pool.spread_draws(dirichlet(tables + self.pool.pooled, rng), rng)

    def marginal(self, state: int, size: int) -> tuple[Floats, Floats]:
        from colonnade.kernels.simplex import mixture_last

        arguments = self.pool.with_last(state)
        points, weights = mixture_last(*arguments, self.pool.s, *tilted(arguments, self.pool.s))
        return gauss_rule(points, weights, size)


def _check(tally: Tally) -> None:
    if not tally.whole:
        raise NotSupportedError(
            "Exact() for fractional counts",
            "its mixture is finite for whole counts only",
            "use engine=Quadrature(), or engine=None to choose automatically",
        )
    if tally.total > LARGEST:
        raise NotSupportedError(
            f"Exact() for {tally.total:.0f} observations",
            f"its work grows with their square and is limited to {LARGEST}",
            "use engine=Quadrature(), or engine=None to choose automatically",
        )


def _mean_error(tally: Tally) -> float:
    # every recurrence adds one rounding a step; they act like a random walk on the weights
    return EPSILON * (4.0 + 2.0 * math.sqrt(tally.total))


def _evidence_error(tally: Tally, log_z: float) -> float:
    terms = 1.0 + abs(log_z) + abs(tally.constant) + tally.total
    return EPSILON * (8.0 * terms + tally.total)

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
from colonnade.pooling.alpha import EPSILON, AlphaPosterior, ErrorEstimate, PooledAlpha, tilted
from colonnade.pooling.draws import dirichlet
from colonnade.pooling.engine import PoolEngine
from colonnade.pooling.tally import Pool, Tally

Floats = NDArray[np.float64]
# Steps (see below) beyond which the engine refuses: about a second of work.
LARGEST = 200_000
# The first observations of a cell are made one by one; the others all at once if they are rare.
_ONE_BY_ONE = 128.0
_RARE = 200.0


def steps(tally: Tally, s: float) -> float:
    """How many trials the engine adds one by one: its work is this times the number of tables."""
    if tally.count.size and s * math.log1p(float(tally.count.max())) < _RARE:
        return float(np.minimum(tally.count, _ONE_BY_ONE) @ tally.times)
    return tally.total


@dataclass(frozen=True, slots=True)
class Exact(PoolEngine):
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

        _check(pool.tally, pool.s)
        log_z, mean, second = lattice_moments(*pool.arguments, *tilted(pool.arguments, pool.s))
        full_mean, covariance = pool.spread(mean, second - np.outer(mean, mean))
        log_evidence = pool.log_evidence(log_z)
        # a few roundings of every logarithm that enters, and one for every step of the recurrences
        work = steps(pool.tally, pool.s)
        log_error = EPSILON * (16.0 * pool.magnitude(log_z) + 2.0 * work)
        estimate = ErrorEstimate(_mean_error(pool.tally), log_error)
        return LatticeAlpha(full_mean, covariance, log_evidence, self, pool, estimate)

    def _log_z(self, pool: Pool) -> float:
        from colonnade.kernels.lattice import lattice_log_z

        _check(pool.tally, pool.s)
        return float(lattice_log_z(*pool.arguments, *tilted(pool.arguments, pool.s)))


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

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        from colonnade.kernels.simplex import mixture_last

        start, count, times, alpha0 = arguments = self.pool.with_last(state)
        a, u = tilted(arguments, self.pool.s)
        points, weights = mixture_last(start, count, times, alpha0, self.pool.s, a, u, finest)
        return points, weights


def _check(tally: Tally, s: float) -> None:
    if not tally.whole:
        raise NotSupportedError(
            "Exact() for fractional counts",
            "its mixture is finite for whole counts only",
            "use engine=Quadrature(), or engine=None to choose automatically",
        )
    if steps(tally, s) > LARGEST:
        raise NotSupportedError(
            f"Exact() for {tally.total:.0f} observations",
            f"they would take more than {LARGEST} steps",
            "use engine=Quadrature(), or engine=None to choose automatically",
        )


def _mean_error(tally: Tally) -> float:
    # every recurrence adds one rounding a step; they act like a random walk on the weights
    return EPSILON * (4.0 + 2.0 * math.sqrt(min(tally.total, 1e6)))

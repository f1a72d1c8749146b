"""Variational: the closed form of the paper's engine (docs/model.md, "Variational Bayes")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import ConvergenceWarning, checked_fraction, checked_whole, counted, warn
from colonnade.pooling.alpha import AlphaPosterior, DirichletAlpha, Engine, ErrorEstimate
from colonnade.pooling.exact import Quadrature
from colonnade.pooling.tally import Pool

_MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Variational(Engine):
    """Approximate the posterior of alpha by one Dirichlet distribution, in closed form.

    The lower bound of the log evidence rises with every iteration. This is the approximation of the
    paper, without its sampling noise; the exact engines are usually no slower. ``log_evidence`` of
    its answer is the bound.

    Parameters
    ----------
    tolerance : float
        Relative change at which the iteration stops.
    iterations : int
        Largest number of iterations, up to a million.

    Examples
    --------
    >>> from colonnade import Hierarchical, Variational
    >>> posterior = Hierarchical(engine=Variational()).posterior([[2, 0], [3, 1]])
    >>> posterior.alpha.mean.round(3)
    array([0.695, 0.305])
    """

    tolerance: float = 1e-12
    iterations: int = 20_000

    def __post_init__(self) -> None:
        checked_fraction(self.tolerance, "tolerance")
        checked_whole(self.iterations, "iterations", most=_MAX_ITERATIONS)

    def _solved(self, pool: Pool) -> AlphaPosterior:
        from colonnade.kernels.tilt import monitored_fixed_point

        a, bounds, change = monitored_fixed_point(
            pool.states, pool.s, self.tolerance, self.iterations
        )
        if change > self.tolerance:
            rounds = counted(self.iterations, "iteration")
            statement = f"Variational() stopped after {rounds}, still changing"
            hint = "raise `iterations`, or use Exact() or Quadrature()"
            warn(ConvergenceWarning(f"{statement} by {change:.1e}.", hint))
        parameters = pool.alpha0.copy()
        parameters[pool.tally.tallied] = a[: pool.tally.tallied.size]
        evidence = bounds + pool.log_evidence(0.0)
        return VariationalAlpha.of(
            parameters, float(evidence[-1]), self, pool=pool, bounds=evidence, change=change
        )


@dataclass(frozen=True, eq=False, repr=False)
class VariationalAlpha(DirichletAlpha):
    """The Dirichlet approximation, the bound after every iteration and the last relative change."""

    pool: Pool
    bounds: Floats
    change: float

    @property
    def error(self) -> ErrorEstimate:
        """Distance from the quadrature engine, computed when asked for."""
        right = Quadrature().solve(self.pool.tally, self.pool.s, self.pool.alpha0)
        assert self.log_evidence is not None
        assert right.log_evidence is not None
        error = right.error
        mean = float(np.abs(self.mean - right.mean).max()) + error.mean
        evidence = abs(self.log_evidence - right.log_evidence) + (error.log_evidence or 0.0)
        return ErrorEstimate(mean, evidence)

"""Engine: what computes the posterior of alpha at one strength s; AlphaPosterior: what it delivers.

Everything about a table's theta needs only the mean and covariance of alpha, its log evidence and,
for intervals and draws, one-dimensional rules and draws of alpha. Each engine returns some kind of
AlphaPosterior; the rest of the package never asks which.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.pooling.draws import dirichlet, gauss_rule
from colonnade.pooling.marginals import Marginals
from colonnade.pooling.tally import Pool, Tally
from colonnade.randomness import generator

EPSILON = float(np.finfo(np.float64).eps)
# A Beta variable whose logit is beyond these is 0 or 1 in floating point.
_LOWEST_LOGIT, _HIGHEST_LOGIT = -740.0, 40.0


class Engine(ABC):
    """Computes the posterior of alpha from a tally; an engine says how in `_solved`."""

    __slots__ = ()

    def solve(self, tally: Tally, s: float, alpha0: Floats) -> AlphaPosterior:
        """Posterior of alpha from a tally."""
        if tally.states == 1:
            return FixedAlpha(np.ones(1), np.zeros((1, 1)), 0.0, self)
        if tally.total == 0.0:
            return DirichletAlpha.of(alpha0.copy(), 0.0, self)
        return self._solved(Pool.of(tally, s, alpha0))

    def log_evidence(self, tally: Tally, s: float, alpha0: Floats) -> float | None:
        """Log evidence alone; None if the engine has none."""
        if tally.states == 1 or tally.total == 0.0:
            return 0.0
        return self._log_evidence(Pool.of(tally, s, alpha0))

    @abstractmethod
    def _solved(self, pool: Pool) -> AlphaPosterior:
        """Posterior of alpha, given at least two states and at least one count."""

    def _log_evidence(self, pool: Pool) -> float | None:
        """Log evidence alone, where it costs less than the posterior."""
        return self._solved(pool).log_evidence


@dataclass(frozen=True, slots=True)
class ErrorEstimate:
    """Estimated error of the worst entry of the mean of alpha, and of the evidence, if any."""

    mean: float
    log_evidence: float | None


@dataclass(frozen=True, eq=False)
class AlphaPosterior(ABC):
    """Posterior of alpha, the distribution that the rows of a table are shrunk towards.

    Attributes
    ----------
    mean : array [state]
    covariance : array [state, state]
    log_evidence : float or None
    engine : Engine or None
        The engine that computed it; None for a prior that does not pool.
    """

    mean: Floats
    covariance: Floats
    log_evidence: float | None
    engine: Engine | None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    @abstractmethod
    def error(self) -> ErrorEstimate:
        """Estimate of the numerical error of the mean and the log evidence."""

    @abstractmethod
    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Independent draws, ``[draw, state]``."""

    @abstractmethod
    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        """Points and weights for the posterior of one alpha, with steps of at most `finest`.

        Steps are those of a trapezoidal rule in the logit; draws are their own points.
        """

    def marginal(self, state: int, size: int) -> tuple[Floats, Floats]:
        """A Gauss rule (nodes, weights) of few nodes for the posterior of one alpha."""
        return gauss_rule(*self.points(state, 1.0), size)

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, separator=", ", threshold=8)
        rest = f"log_evidence={self.log_evidence}, engine={self.engine!r}"
        return f"AlphaPosterior(mean={mean}, {rest})"


@dataclass(frozen=True, eq=False)
class PendingAlpha:
    """Mean of alpha, known before the rest of its posterior, which `solve` computes at any s."""

    mean: Floats
    error: ErrorEstimate
    solve: Callable[[float], AlphaPosterior]


@dataclass(frozen=True, eq=False)
class Component:
    """One value of the strength s: its weight, and the posterior of alpha given it.

    `known` is that posterior, or its mean if the rest is to be computed when it is asked for.
    """

    weight: float
    s: float
    known: AlphaPosterior | PendingAlpha

    @property
    def mean(self) -> Floats:
        """Mean of alpha."""
        return self.known.mean

    @cached_property
    def alpha(self) -> AlphaPosterior:
        """Posterior of alpha."""
        return self.known.solve(self.s) if isinstance(self.known, PendingAlpha) else self.known

    def rows(self, values: Array) -> Floats:
        """Mean of the rows with some counts, ``[row, state]``."""
        return shrunken_rows(values, self.s, self.mean)


def shrunken_rows(values: Array, s: float, alpha: Floats) -> Floats:
    """Theorem 1 of the paper: E[theta_yx] = (n_yx + s alpha_x) / (n_y + s), ``[row, state]``.

    alpha is the mean of what rows are shrunk towards; a row of zeros is a configuration never seen.
    """
    return np.asarray((values + s * alpha) / (values.sum(axis=1, keepdims=True) + s))


@dataclass(frozen=True, eq=False, repr=False)
class FixedAlpha(AlphaPosterior):
    """alpha known: the priors that do not pool, and tables with a single state."""

    @property
    def error(self) -> ErrorEstimate:
        return ErrorEstimate(0.0, _rounding(self.log_evidence))

    def sample(self, n: int, rng: Seed = None) -> Floats:
        return np.tile(self.mean, (n, 1))

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        return self.mean[state : state + 1].copy(), np.ones(1)


@dataclass(frozen=True, eq=False, repr=False)
class DirichletAlpha(AlphaPosterior):
    """alpha ~ Dirichlet(parameters): the prior if there are no data, and the variational answer."""

    parameters: Floats

    @classmethod
    def of(
        cls, parameters: Floats, log_evidence: float | None, engine: Engine, **fields: Any
    ) -> DirichletAlpha:
        """Fill in the moments of the Dirichlet distribution."""
        total = parameters.sum()
        mean = parameters / total
        covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1.0)
        return cls(mean, covariance, log_evidence, engine, parameters, **fields)

    @property
    def error(self) -> ErrorEstimate:
        return ErrorEstimate(EPSILON, _rounding(self.log_evidence))

    def sample(self, n: int, rng: Seed = None) -> Floats:
        return dirichlet(np.tile(self.parameters, (n, 1)), generator(rng))

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        a = float(self.parameters[state])
        return _beta_points(a, float(self.parameters.sum()) - a, finest)


@dataclass(frozen=True, eq=False, repr=False)
class PooledAlpha(AlphaPosterior):
    """What the two exact engines share: marginals by positive quadrature of the exact density."""

    pool: Pool
    estimate: ErrorEstimate

    @property
    def error(self) -> ErrorEstimate:
        return self.estimate

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals.of(self.pool)

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        from colonnade.kernels.marginals import rule

        points, weights = rule(*self._marginals.at(state), finest)
        return points, weights


def _rounding(log_evidence: float | None) -> float | None:
    return None if log_evidence is None else 4.0 * EPSILON * (1.0 + abs(log_evidence))


def _beta_points(a: float, b: float, finest: float) -> tuple[Floats, Floats]:
    """Trapezoidal points and weights in the logit of a Beta(a, b) variable."""
    deviation = math.sqrt(1.0 / a + 1.0 / b)
    step = min(0.27, 0.5 * math.sqrt((a + b) / (a * b)), finest)
    centre = math.log(a / b)
    low, high = (14 * deviation + 52 / tail for tail in (a, b))
    # Beyond these logits the variable is 0 or 1, and the rest of a tail is a geometric series.
    low, high = min(low, centre - _LOWEST_LOGIT), min(high, _HIGHEST_LOGIT - centre)
    y = centre + np.arange(-math.ceil(low / step), math.ceil(high / step)) * step
    log_x = -np.logaddexp(0.0, -y)
    log_rest = -np.logaddexp(0.0, y)
    logs = a * log_x + b * log_rest
    logs[0] -= math.log(-math.expm1(-a * step))
    logs[-1] -= math.log(-math.expm1(-b * step))
    weights = np.exp(logs - logs.max())
    kept = weights > 1e-22 * weights.max()
    return np.exp(log_x[kept]), weights[kept] / weights[kept].sum()

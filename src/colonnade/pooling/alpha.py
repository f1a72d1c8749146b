"""AlphaPosterior: the posterior of alpha, as every engine delivers it.

Everything about a table's theta needs only the mean and covariance of alpha, its log evidence and,
for intervals and draws, one-dimensional rules and draws of alpha. Each engine returns one of the
types below; the rest of the package never asks which.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.pooling.draws import dirichlet, gauss_rule
from colonnade.pooling.tally import Pool, Tally

Floats = NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)


class Engine(Protocol):
    """What computes the posterior of alpha at one strength s."""

    def solve(self, tally: Tally, s: float, alpha0: Floats) -> AlphaPosterior:
        """Posterior of alpha."""
        ...

    def log_evidence(self, tally: Tally, s: float, alpha0: Floats) -> float | None:
        """Log evidence alone, where the engine has one."""
        ...


@dataclass(frozen=True, slots=True)
class ErrorEstimate:
    """How far an engine may be off: the worst entry of the mean of alpha, and the evidence.

    ``log_evidence`` is None where the engine has no evidence.
    """

    mean: float
    log_evidence: float | None


@dataclass(frozen=True, eq=False)
class AlphaPosterior(ABC):
    """Posterior of alpha, the distribution that the rows of a table lean on.

    Attributes
    ----------
    mean : array [state]
    covariance : array [state, state]
    log_evidence : float or None
    engine : Engine or None
        The engine that computed it; None if alpha is known.
    """

    mean: Floats
    covariance: Floats
    log_evidence: float | None
    engine: Engine | None

    def __post_init__(self) -> None:
        self.mean.setflags(write=False)
        self.covariance.setflags(write=False)

    @property
    @abstractmethod
    def error(self) -> ErrorEstimate:
        """Estimate of the numerical error of the mean and the log evidence."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
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
        return (
            f"AlphaPosterior(mean={mean}, log_evidence={self.log_evidence}, engine={self.engine!r})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FixedAlpha(AlphaPosterior):
    """alpha known: the priors that do not pool, and tables with a single state."""

    @property
    def error(self) -> ErrorEstimate:
        return ErrorEstimate(0.0, _rounding(self.log_evidence))

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        return np.tile(self.mean, (n, 1))

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        return self.mean[state : state + 1].copy(), np.ones(1)


@dataclass(frozen=True, eq=False, repr=False)
class DirichletAlpha(AlphaPosterior):
    """alpha ~ Dirichlet(parameters).

    The prior when there are no data, and the variational answer.
    """

    parameters: Floats

    def __post_init__(self) -> None:
        AlphaPosterior.__post_init__(self)
        self.parameters.setflags(write=False)

    @classmethod
    def of(
        cls, parameters: Floats, log_evidence: float | None, engine: Any, **fields: Any
    ) -> DirichletAlpha:
        """Fill in the moments of the Dirichlet distribution."""
        total = parameters.sum()
        mean = parameters / total
        covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1.0)
        return cls(mean, covariance, log_evidence, engine, parameters, **fields)

    @property
    def error(self) -> ErrorEstimate:
        return ErrorEstimate(EPSILON, _rounding(self.log_evidence))

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        return dirichlet(np.tile(self.parameters, (n, 1)), np.random.default_rng(rng))

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

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        from colonnade.kernels.simplex import simplex_last, simplex_panels

        arguments = self.pool.with_last(state)
        _, panels = simplex_panels(*arguments, self.pool.s, *tilted(arguments, self.pool.s))
        f, f_domain, g, g_domain, share = panels
        points, weights = simplex_last(f, f_domain, g, g_domain, share, finest)
        return points, weights


@dataclass(frozen=True, eq=False, repr=False)
class DrawsAlpha(AlphaPosterior):
    """Draws from a sampler, with its own account of how good they are."""

    draws: Floats
    estimate: ErrorEstimate
    diagnostics: Any

    @classmethod
    def of(
        cls,
        draws: Floats,
        log_evidence: float | None,
        engine: Any,
        estimate: ErrorEstimate,
        diagnostics: Any,
    ) -> DrawsAlpha:
        """Fill in the moments of the draws."""
        return cls(
            draws.mean(axis=0),
            np.cov(draws, rowvar=False),
            log_evidence,
            engine,
            draws,
            estimate,
            diagnostics,
        )

    @property
    def error(self) -> ErrorEstimate:
        return self.estimate

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        rng = np.random.default_rng(rng)
        return self.draws[rng.choice(len(self.draws), size=n, replace=n > len(self.draws))]

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        return self.draws[:, state], np.full(len(self.draws), 1.0 / len(self.draws))


def tilted(arguments: tuple[Any, ...], s: float) -> tuple[Floats, Floats]:
    """Centre (a, u) of the exact computations: the variational fixed point, only roughly."""
    from colonnade.kernels.tilt import fixed_point

    start, count, times, alpha0 = arguments
    a, u, _, _ = fixed_point(start, count, times, alpha0, s, 1e-5, 100)
    return a, u


def without_data(tally: Tally, alpha0: Floats, engine: Any) -> AlphaPosterior | None:
    """The posterior where nothing has to be computed: a single state, or no counts at all."""
    if tally.states == 1:
        return FixedAlpha(np.ones(1), np.zeros((1, 1)), 0.0, engine)
    if tally.total == 0.0:
        return DirichletAlpha.of(alpha0.copy(), 0.0, engine)
    return None


def _rounding(log_evidence: float | None) -> float | None:
    return None if log_evidence is None else 4.0 * EPSILON * (1.0 + abs(log_evidence))


def _beta_points(a: float, b: float, finest: float) -> tuple[Floats, Floats]:
    """Trapezoidal points and weights in the logit of a Beta(a, b) variable."""
    deviation = math.sqrt(1.0 / a + 1.0 / b)
    step = min(0.27, 0.5 * math.sqrt((a + b) / (a * b)), finest)
    centre = math.log(a / b)
    y = (
        centre
        + np.arange(
            -math.ceil((14 * deviation + 52 / a) / step),
            math.ceil((14 * deviation + 52 / b) / step),
        )
        * step
    )
    log_x = -np.logaddexp(0.0, -y)
    log_rest = -np.logaddexp(0.0, y)
    logs = a * log_x + b * log_rest
    weights = np.exp(logs - logs.max())
    kept = weights > 1e-22
    return np.exp(log_x[kept]), weights[kept] / weights[kept].sum()

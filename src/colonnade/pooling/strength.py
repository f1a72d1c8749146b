"""Strength: the posterior of s, when s is learned.

s has a Gamma prior with mean r (the paper's s) and shape 2, so its density vanishes at zero and its
standard deviation is 0.7 r. p(D | s) is the log evidence of an engine; the posterior of ln s is
integrated by the trapezoidal rule, which converges geometrically for such a function, walking from
the mode to both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import NotSupportedError, expected
from colonnade.pooling.alpha import AlphaPosterior, Engine
from colonnade.pooling.tally import Pool, Tally

Floats = NDArray[np.float64]

SHAPE = 2.0
_STEP = 0.5
_STEP_IN_DEVIATIONS = 0.95
_NEGLIGIBLE = 1e-8
_LONGEST = 400


@dataclass(frozen=True, eq=False)
class Strength:
    """Posterior of the strength s on the nodes of the trapezoidal rule.

    Attributes
    ----------
    nodes : array [node]
        Values of s, ascending, evenly spaced in ln s.
    weights : array [node]
        Their posterior weights; they add up to 1.
    log_evidence : float
        Log evidence with s integrated out.
    error : float
        Estimate of the relative error of the integration.
    """

    nodes: Floats
    weights: Floats
    log_evidence: float
    error: float

    @property
    def mean(self) -> float:
        """Posterior mean of s."""
        return float(self.nodes @ self.weights)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of s.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> strength = Hierarchical(s="learn").posterior([[9, 1], [8, 2], [9, 0]]).strength
        >>> low, high = strength.interval(0.9)
        >>> low < strength.mean < high
        True
        """
        if not 0.0 < level < 1.0:
            raise expected("a number between 0 and 1", "level", level)
        from scipy.interpolate import CubicSpline

        logs = np.log(self.nodes)
        if logs.size < 4:
            return float(self.nodes[0]), float(self.nodes[-1])
        fine = np.linspace(logs[0], logs[-1], 4001)
        density = np.exp(CubicSpline(logs, np.log(self.weights))(fine))
        cumulative = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
        cumulative /= cumulative[-1]
        low, high = np.interp([(1.0 - level) / 2.0, (1.0 + level) / 2.0], cumulative, fine)
        return math.exp(low), math.exp(high)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"Strength(mean={self.mean:.4g}, 95% interval=({low:.4g}, {high:.4g}))"


def learn_strength(
    tally: Tally, alpha0: Floats, engine: Engine
) -> tuple[Strength, tuple[AlphaPosterior, ...]]:
    """Posterior of s and, for each of its nodes, the posterior of alpha."""
    r = tally.states
    centre, deviation = _peak(tally, alpha0)
    step = min(_STEP, _STEP_IN_DEVIATIONS * deviation)
    found: dict[int, tuple[float, AlphaPosterior]] = {}

    def weigh(k: int) -> float:
        s = math.exp(centre + k * step)
        alpha = engine.solve(tally, s, alpha0)
        if alpha.log_evidence is None:
            raise NotSupportedError(
                f's="learn" with {engine!r}',
                "it gives no log evidence",
                "use Exact(), Quadrature() or engine=None",
            )
        # density of ln s: s times the Gamma density
        prior = SHAPE * math.log(SHAPE * s / r) - SHAPE * s / r - math.lgamma(SHAPE)
        found[k] = (alpha.log_evidence + prior, alpha)
        return found[k][0]

    top = weigh(0)
    for direction in (1, -1):
        for k in range(1, _LONGEST):
            value = weigh(direction * k)
            top = max(top, value)
            if value < top + math.log(_NEGLIGIBLE):
                break
    order = sorted(found)
    logs = np.array([found[k][0] for k in order])
    masses = np.exp(logs - top)
    even = float(masses[[k % 2 == 0 for k in order]].sum()) / float(masses.sum())
    # between the second power (exponential decay of the transform) and the fourth (Gaussian) of the
    # error with every second node
    error = abs(2.0 * even - 1.0) ** 2.5 + 10 * _NEGLIGIBLE
    strength = Strength(
        np.exp(centre + step * np.array(order)),
        masses / masses.sum(),
        top + math.log(float(masses.sum()) * step),
        error,
    )
    return strength, tuple(found[k][1] for k in order)


def _peak(tally: Tally, alpha0: Floats) -> tuple[float, float]:
    if tally.total == 0.0 or tally.states == 1:
        # the prior itself: ln s of a Gamma(2) variable
        return math.log(tally.states), math.sqrt(math.pi**2 / 6.0 - 1.0)
    from colonnade.kernels.strength import strength_peak

    pool = Pool.of(tally, 1.0, alpha0)
    start, count, times, pooled = pool.arguments
    y, deviation = strength_peak(
        start, count, times, tally.row_count, tally.row_times, pooled, SHAPE, float(tally.states)
    )
    return float(y), float(deviation)

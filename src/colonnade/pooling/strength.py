"""Strength: the posterior of s, when s is learned.

s has a Gamma prior of shape 2, whose mean is a multiple of r, the number of states: its density
vanishes at zero and its standard deviation is 0.7 of its mean. p(D | s) is the evidence;
the posterior of ln s is integrated by the trapezoidal rule, which converges geometrically for such
a function, in a variable in which the posterior is nearly normal.

Evidence and mean of alpha are computed for all nodes together (`kernels/strengths.py`). The rest of
the posterior of alpha is left to the exact engines, node by node, when somebody asks for it. An
engine that was chosen by the user computes everything, as it does for a given s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import NotSupportedError, checked_level
from colonnade.pooling.alpha import (
    EPSILON,
    AlphaPosterior,
    Component,
    Engine,
    ErrorEstimate,
    PendingAlpha,
)
from colonnade.pooling.chains import MAX_ERROR, Chains
from colonnade.pooling.exact import ChainAlpha, Exact, Quadrature, choose, solve_exactly
from colonnade.pooling.tally import Pool, Tally

SHAPE = 2.0
# Largest step of the rule, as it is and relative to the standard deviation of ln s: means of rows
# are then right to 1e-6 or better. Longer steps where a chosen engine computes each node by itself.
_MAX_STEP, _MAX_STEP_IN_DEVIATIONS = 0.27, 0.55
_MAX_STEP_OF_ENGINE, _MAX_STEP_OF_ENGINE_IN_DEVIATIONS = 0.52, 0.9
# How strongly the steps grow to the left and shrink to the right of the mode.
_STEP_SKEW = 0.7
# Each side ends at a node of this weight relative to the largest one, or after this many nodes.
_NEGLIGIBLE_WEIGHT = 1e-8
_MAX_NODES_PER_SIDE = 400
# With less alpha0 or smaller counts the posterior of alpha has tails that only the engines follow
# to their ends; with more, rounding counts more than what the nodes share.
_MIN_ALPHA0, _MAX_ALPHA0 = 0.05, 1e6
_MIN_COUNT, _MAX_COUNT = 1e-6, 1e15
# The ends of the rule are sought this far below the mode, in nats: roughly, so a bit farther.
_DEPTH = 20.0
# Fractional counts of so many states are taken by curves that serve all nodes, and later questions,
# too; with fewer it takes longer to call the kernels than to run them.
_MIN_STATES_OF_CHAINS = 8
# Whole counts of up to this many observations per state are multiplied out, others integrated.
_MAX_MULTIPLIED_OUT = 300.0


@dataclass(frozen=True, eq=False)
class Strength:
    """Posterior of the strength s on the nodes of the trapezoidal rule.

    Attributes
    ----------
    nodes : array [node]
        Values of s, ascending.
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

    def __post_init__(self) -> None:
        self.nodes.setflags(write=False)
        self.weights.setflags(write=False)

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
        level = checked_level(level)
        from scipy.interpolate import CubicSpline

        places = np.arange(self.nodes.size)
        if places.size < 4:
            return float(self.nodes[0]), float(self.nodes[-1])
        # The nodes are equidistant in the variable of the rule, where both curves are smooth.
        fine = np.linspace(0.0, places[-1], 4001)
        density = np.exp(CubicSpline(places, np.log(self.weights))(fine))
        cumulative = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
        cumulative /= cumulative[-1]
        ends = np.interp([(1.0 - level) / 2.0, (1.0 + level) / 2.0], cumulative, fine)
        low, high = np.exp(CubicSpline(places, np.log(self.nodes))(ends))
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"Strength(mean={self.mean:.4g}, 95% interval=({low:.4g}, {high:.4g}))"


class Learned(NamedTuple):
    """Posterior of s and, at each of its nodes, what is known of alpha at once."""

    strength: Strength
    alpha: Floats  # means [node, state]; none if they were not asked for
    error: float  # of each of them, and of the log evidence at each node


def learn_strength(
    tally: Tally, alpha0: Floats, engine: Engine | None, mean: float | None = None
) -> tuple[Strength, tuple[Component, ...]]:
    """Posterior of s and, for each of its nodes, the posterior of alpha.

    `mean` is that of the prior of s, by default the number of states.
    """
    if engine is not None or not _together(tally, alpha0):
        return _node_by_node(tally, alpha0, engine, mean or tally.states)
    chained = _learn_by_chains(tally, alpha0, mean or tally.states)
    (strength, alpha, error), chains = chained or (learn(tally, alpha0, mean), None)
    solve = _Solver(tally, alpha0, strength.nodes, chains)
    estimate = ErrorEstimate(error, error)
    nodes = zip(strength.weights.tolist(), strength.nodes.tolist(), alpha, strict=True)
    components = tuple(Component(w, s, PendingAlpha(own, estimate, solve)) for w, s, own in nodes)
    return strength, components


@dataclass(frozen=True, eq=False)
class _Solver:
    """Posteriors of alpha at strengths between the nodes, whose curves they share if they can."""

    tally: Tally
    alpha0: Floats
    nodes: Floats
    known: Chains | None

    @cached_property
    def _chains(self) -> Chains | None:
        if self.known is not None:
            return self.known
        nodes = self.nodes.tolist()
        middle = nodes[len(nodes) // 2]
        if isinstance(choose(self.tally, middle), Exact):
            return None
        pool = Pool.of(self.tally, middle, self.alpha0)
        return Chains.between(pool, [nodes[0], middle, nodes[-1]], nodes)

    def __call__(self, s: float) -> AlphaPosterior:
        if self._chains is not None and self._chains.covers(s):
            pool = Pool.of(self.tally, s, self.alpha0)
            found = ChainAlpha.of(pool, Quadrature(), self._chains)
            if found is not None:
                return found
        return solve_exactly(self.tally, self.alpha0, s)


def learned_log_evidence(tally: Tally, alpha0: Floats, mean: float | None = None) -> float:
    """Log evidence with s integrated out, without anything about alpha."""
    if not _together(tally, alpha0):
        return _node_by_node(tally, alpha0, None, mean or tally.states)[0].log_evidence
    chained = _learn_by_chains(tally, alpha0, mean or tally.states)
    found = chained[0] if chained else learn(tally, alpha0, mean, means=False)
    return found.strength.log_evidence


def learn(tally: Tally, alpha0: Floats, mean: float | None = None, means: bool = True) -> Learned:
    """Posterior of s and the means of alpha at its nodes, at once.

    For at least two states and one observation, and no alpha0 close to 0.
    """
    from colonnade.kernels.strengths import strengths_by_convolutions, strengths_by_products

    pool = Pool.of(tally, 1.0, alpha0)
    prior = (SHAPE, float(mean or tally.states))
    steps = (_MAX_STEP, _MAX_STEP_IN_DEVIATIONS)
    table = (*pool.states, tally.row_count, tally.row_times, prior, steps, means)
    lost = math.inf
    if tally.whole and tally.total <= _MAX_MULTIPLIED_OUT * pool.states.alpha0.size:
        log_s, logs, step, pooled, lost = strengths_by_products(*table)
    if lost == math.inf:
        log_s, logs, step, pooled, lost = strengths_by_convolutions(*table)
    strength = _strength(log_s, logs + pool.constant, step, lost, tally.states)
    return Learned(strength, pool.spread_means(pooled), lost + _rounding(tally))


def _rounding(tally: Tally) -> float:
    return EPSILON * (4.0 + 2.0 * math.sqrt(min(tally.total, 1e6)))


def _strength(log_s: Floats, logs: Floats, step: float, lost: float, states: int) -> Strength:
    """The posterior of s from the logarithms of the weights of its nodes, and their error."""
    top = logs.max()
    masses = np.exp(logs - top)
    total = float(masses.sum())
    weights, nodes = masses / total, np.exp(log_s)
    # The rule of every second node against that of all: the mass, and a mean that depends on s as
    # the row of a table does. With all nodes the error is about the square of that, or less.
    share = weights / (1.0 + nodes / states)
    even = 2.0 * np.array([weights[::2].sum(), share[::2].sum()]) - [1.0, share.sum()]
    error = 10.0 * float(even @ even) + lost + 10 * _NEGLIGIBLE_WEIGHT
    return Strength(nodes, weights, float(top) + math.log(total * step), error)


def _learn_by_chains(tally: Tally, alpha0: Floats, mean: float) -> tuple[Learned, Chains] | None:
    """The same from curves that serve all nodes; None if there are none for such a table."""
    if tally.tallied.size < _MIN_STATES_OF_CHAINS or tally.whole:
        return None
    centre, deviation = _peak(tally, alpha0, mean)
    pool = Pool.of(tally, math.exp(centre), alpha0)
    if Chains.at(pool) is None:
        return None
    step = min(_MAX_STEP, _MAX_STEP_IN_DEVIATIONS * deviation)
    ends = [_end(pool, mean, centre, side * 2.0 * deviation) / step for side in (-1, 1)]
    first, last = math.floor(ends[0]), math.ceil(ends[1])
    while True:
        away, rises = np.transpose([_skewed(k * step) for k in range(first, last + 1)])
        log_s = centre + away
        s = np.exp(log_s)
        chains = Chains.between(pool, s[[0, -first, -1]].tolist(), s.tolist())
        if chains is None:
            return None
        log_z, means, lost = chains.means(s)
        if lost > MAX_ERROR:
            return None
        logs = _log_density(pool, mean, s, log_z) + np.log(rises)
        heavy = logs[[0, -1]] > logs.max() + math.log(_NEGLIGIBLE_WEIGHT)
        if not heavy.any():
            break
        first += first // 2 - 1 if heavy[0] else 0
        last += last // 2 + 1 if heavy[1] else 0
    strength = _strength(log_s, logs, step, lost, tally.states)
    return Learned(strength, pool.spread_means(means), lost + _rounding(tally)), chains


def _log_density(pool: Pool, mean: float, s: Floats, log_z: Floats) -> Floats:
    """Log evidence and log density of ln s under its prior, at some strengths."""
    each = zip(s.tolist(), log_z.tolist(), strict=True)
    evidence = np.array([replace(pool, s=one).log_evidence(value) for one, value in each])
    # Density of ln s: s times the Gamma density.
    prior = SHAPE * (np.log(SHAPE * s / mean) - s / mean) - math.lgamma(SHAPE)
    return np.asarray(evidence + prior)


def _end(pool: Pool, mean: float, centre: float, stride: float) -> float:
    """Where on one side the density becomes negligible, in the rule's variable.

    The slope of its logarithm, by the variational bound, is integrated by strides from the mode.
    """
    from colonnade.kernels.tilt import strength_slope

    rows = pool.tally.row_count, pool.tally.row_times
    z, depth, slope = 0.0, 0.0, 0.0
    for _ in range(_MAX_NODES_PER_SIDE):
        y, rise = _skewed(z + stride)
        ahead = strength_slope(pool.states, *rows, SHAPE, float(mean), centre + y) * rise
        ahead -= _STEP_SKEW * (1.0 - 0.5 / rise)
        fall = -0.5 * stride * (slope + ahead)
        if depth + fall > _DEPTH:
            return z + stride * (_DEPTH - depth) / fall
        z, depth, slope = z + stride, depth + fall, ahead
    return z


def _together(tally: Tally, alpha0: Floats) -> bool:
    """Whether all nodes can be computed together."""
    if tally.states == 1 or tally.total == 0.0 or tally.total > _MAX_COUNT:
        return False
    usual = float(alpha0.min()) >= _MIN_ALPHA0 and float(alpha0.max()) <= _MAX_ALPHA0
    return usual and (tally.whole or float(tally.count.min()) >= _MIN_COUNT)


class _Node(NamedTuple):
    log_weight: float
    s: float
    alpha: AlphaPosterior


def _node_by_node(
    tally: Tally, alpha0: Floats, engine: Engine | None, mean: float
) -> tuple[Strength, tuple[Component, ...]]:
    """Posterior of s, with an engine that computes alpha at one node after the other."""
    centre, deviation = _peak(tally, alpha0, mean)
    step = min(_MAX_STEP_OF_ENGINE, _MAX_STEP_OF_ENGINE_IN_DEVIATIONS * deviation)
    found: dict[int, _Node] = {}

    def weigh(k: int) -> float:
        y, slope = _skewed(k * step)
        s = math.exp(centre + y)
        chosen = choose(tally, s) if engine is None else engine
        alpha = chosen.solve(tally, s, alpha0)
        if alpha.log_evidence is None:
            hint = "use Exact(), Quadrature() or engine=None"
            raise NotSupportedError(f's="learn" with {chosen!r}', "it gives no log evidence", hint)
        # Density of ln s: s times the Gamma density.
        prior = SHAPE * math.log(SHAPE * s / mean) - SHAPE * s / mean - math.lgamma(SHAPE)
        found[k] = _Node(alpha.log_evidence + prior + math.log(slope), s, alpha)
        return found[k].log_weight

    top = weigh(0)
    for direction in (1, -1):
        for k in range(1, _MAX_NODES_PER_SIDE):
            value = weigh(direction * k)
            top = max(top, value)
            if value < top + math.log(_NEGLIGIBLE_WEIGHT):
                break
    order = sorted(found)
    nodes = [found[k] for k in order]
    masses = np.exp(np.array([node.log_weight for node in nodes]) - top)
    total = float(masses.sum())
    even = float(masses[[k % 2 == 0 for k in order]].sum()) / total
    # With every second node the error is at most about the root of what it is with all of them.
    error = (2.0 * even - 1.0) ** 2 + 10 * _NEGLIGIBLE_WEIGHT
    weights, log_evidence = masses / masses.sum(), top + math.log(total * step)
    weighed = zip(weights.tolist(), nodes, strict=True)
    components = tuple(Component(weight, node.s, node.alpha) for weight, node in weighed)
    return Strength(np.array([node.s for node in nodes]), weights, log_evidence, error), components


def _skewed(z: float) -> tuple[float, float]:
    """ln s relative to its mode, and its derivative, as a function of the rule's variable.

    The density of ln s falls slowly to the left (like s squared) and fast to the right; steps that
    grow to the left and shrink to the right need half the nodes.
    """
    skew = math.exp(-_STEP_SKEW * z)
    return 0.5 * z - 0.5 / _STEP_SKEW * (skew - 1.0), 0.5 + 0.5 * skew


def _peak(tally: Tally, alpha0: Floats, mean: float) -> tuple[float, float]:
    """Mode and standard deviation of ln s, roughly."""
    if tally.total == 0.0 or tally.states == 1:
        # The prior itself: ln s of a Gamma(2) variable.
        return math.log(mean), math.sqrt(math.pi**2 / 6.0 - 1.0)
    from colonnade.kernels.tilt import strength_peak

    states = Pool.of(tally, 1.0, alpha0).states
    y, deviation = strength_peak(states, tally.row_count, tally.row_times, SHAPE, float(mean))
    return float(y), float(deviation)

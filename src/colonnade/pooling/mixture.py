"""Mixtures over s of posteriors of alpha, and the quantiles of a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.pooling.alpha import AlphaPosterior, Component, ErrorEstimate
from colonnade.pooling.strength import Strength

# Components of s of less weight do not move a quantile.
_NEGLIGIBLE_WEIGHT = 1e-7
# A quantile is searched for among these logits; beyond them it is 0 or 1.
_LOWEST_LOGIT, _HIGHEST_LOGIT = -740.0, 40.0
_MAX_BISECTIONS = 200


@dataclass(frozen=True, eq=False, repr=False)
class AlphaMixture(AlphaPosterior):
    """Posterior of alpha with s integrated out."""

    components: tuple[Component, ...]
    strength: Strength

    @classmethod
    def of(cls, components: tuple[Component, ...], strength: Strength) -> AlphaMixture:
        """Average over s, by the laws of total mean and total covariance."""
        mean = np.asarray(sum(part.weight * part.alpha.mean for part in components))
        covariance = np.zeros((mean.size, mean.size))
        for part in components:
            apart = part.alpha.mean - mean
            covariance += part.weight * (part.alpha.covariance + np.outer(apart, apart))
        engine = components[0].alpha.engine
        return cls(mean, covariance, strength.log_evidence, engine, components, strength)

    @property
    def error(self) -> ErrorEstimate:
        """The error of the integration over s on top of that of the worst component."""
        errors = [part.alpha.error for part in self.components if part.weight > _NEGLIGIBLE_WEIGHT]
        spread = float(np.ptp([part.alpha.mean for part in self.components], axis=0).max())
        evidence = [error.log_evidence for error in errors if error.log_evidence is not None]
        mean = max(error.mean for error in errors) + self.strength.error * spread
        return ErrorEstimate(mean, max(evidence) + self.strength.error)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        return sample_components(self.components, n, np.random.default_rng(rng))[0]

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        rules = [part.alpha.points(state, finest) for part in self.components]
        weights = [part.weight * w for part, (_, w) in zip(self.components, rules, strict=True)]
        return np.concatenate([nodes for nodes, _ in rules]), np.concatenate(weights)


def sample_components(
    components: Sequence[Component], n: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Independent draws of alpha ``[draw, state]`` and of s ``[draw]``, together."""
    chosen = rng.multinomial(n, [part.weight for part in components])
    pairs = zip(components, chosen.tolist(), strict=True)
    drawn = [part.alpha.sample(size, rng) for part, size in pairs if size]
    strength = np.repeat([part.s for part in components], chosen)
    order = rng.permutation(n)
    return np.concatenate(drawn)[order], strength[order]


def cell_quantiles(
    rows: Array, components: Sequence[Component], levels: Sequence[float]
) -> tuple[Floats, ...]:
    """Quantiles of theta_yx for rows of counts ``[row, state]``, one array per level.

    Given alpha_x = a the cell is Beta(n_yx + s a, n_y - n_yx + s (1 - a)); the mixture over a is a
    Gauss rule.
    """
    rows = np.asarray(rows, dtype=np.float64)
    totals = rows.sum(axis=1)
    if rows.shape[1] == 1:
        return tuple(np.ones(rows.shape) for _ in levels)
    answers = [np.empty(rows.shape) for _ in levels]
    relevant = [part for part in components if part.weight > _NEGLIGIBLE_WEIGHT]
    for state in range(rows.shape[1]):
        # Equal cells have equal quantiles, and most tables have few distinct cells.
        both = np.column_stack([rows[:, state], totals])
        cells, back = np.unique(both, axis=0, return_inverse=True)
        shape, other, weight = _beta_shapes(cells, relevant, state)
        for answer, level in zip(answers, levels, strict=True):
            answer[:, state] = _mixture_quantile(shape, other, weight, level)[back.ravel()]
    return tuple(answers)


def _beta_shapes(
    cells: Floats, components: Sequence[Component], state: int
) -> tuple[Floats, Floats, Floats]:
    """Parameters ``[cell, component]`` and weights of the Beta components of one state."""
    first, second, weights = [], [], []
    for part in components:
        nodes, masses = _rule(part, state)
        first.append(cells[:, :1] + part.s * nodes)
        second.append((cells[:, 1:] - cells[:, :1]) + part.s * (1.0 - nodes))
        weights.append(part.weight * masses)
    weight, tiny = np.concatenate(weights), np.finfo(np.float64).tiny
    shape, other = (np.maximum(np.concatenate(each, axis=1), tiny) for each in (first, second))
    return shape, other, weight / weight.sum()


def _rule(part: Component, state: int) -> tuple[Floats, Floats]:
    """Nodes and weights of alpha that make the mixture of Beta distributions smooth."""
    mean = float(part.alpha.mean[state])
    sd = float(np.sqrt(max(part.alpha.covariance[state, state], 0.0)))
    if sd == 0.0:
        return part.alpha.marginal(state, 1)
    # Width of the logit of a cell without counts of its own, where it is narrowest.
    nearest = min(0.5, mean + 3.0 * sd)
    width = 1.0 / math.sqrt(part.s * nearest * (1.0 - nearest))
    if sd * math.sqrt(part.s / (mean * (1.0 - mean))) > 1.0:
        # alpha is less certain than a cell given alpha: its steps must not leave gaps between the
        # Beta distributions.
        points, weights = part.alpha.points(state, 0.9 * width)
        heavy = weights > _NEGLIGIBLE_WEIGHT * weights.max()
        return points[heavy], weights[heavy] / weights[heavy].sum()
    size = 6 if part.s * sd < 0.03 else 12 if part.s * sd < 0.3 else 24
    return part.alpha.marginal(state, size)


def _mixture_quantile(first: Floats, second: Floats, weight: Floats, level: float) -> Floats:
    """Quantile of mixtures of Beta distributions, one per row of parameters."""
    from scipy.special import betainc, expit, logit

    def excess(y: Floats) -> Floats:
        return np.asarray(betainc(first, second, expit(y)[:, None]) @ weight - level)

    low, high = (np.full(len(first), end) for end in (_LOWEST_LOGIT, _HIGHEST_LOGIT))
    below, above = at_lowest, at_highest = excess(low), excess(high)
    start = (first / (first + second)) @ weight
    y = logit(np.clip(start, 1e-12, 1.0 - 1e-12))
    value = excess(y)
    for _ in range(_MAX_BISECTIONS):
        rising = value < 0.0
        low, below = np.where(rising, y, low), np.where(rising, value, below)
        high, above = np.where(rising, high, y), np.where(rising, above, value)
        width = high - low
        if bool((width <= 1e-13 * (1.0 + np.abs(y))).all() or (np.abs(value) < 1e-15).all()):
            break
        # A secant inside the bracket; the middle where it would stall.
        secant = low - below * width / np.where(above == below, 1.0, above - below)
        inside = (secant > low + 1e-3 * width) & (secant < high - 1e-3 * width)
        fresh = np.where(inside & (width < 2.0), secant, 0.5 * (low + high))
        settled = np.abs(value) < 1e-15
        y = np.where(settled, y, fresh)
        value = excess(y)
    answer = expit(y)
    # Where all of the mass sits at an end, the quantile is the end itself.
    answer = np.where(at_lowest >= 0.0, 0.0, answer)
    return np.where(at_highest < 0.0, 1.0, answer)

"""Quantiles of a cell: of a mixture over alpha of Beta distributions.

Given alpha_x = a the cell is Beta(n_yx + s a, n_y - n_yx + s (1 - a)). Where that is about as wide
as the posterior of alpha, or wider, a rule of few or many values of a is mixed (:class:`_Rule`).
Where s is so large that it is much narrower, the cell is nearly alpha itself: the posterior of
alpha is then taken as a density, and only the values of a next to the quantile are integrated
(:class:`_Density`). The work does not depend on s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.pooling.alpha import Component, DirichletAlpha, PooledAlpha
from colonnade.threads import run

# Components of s of less weight do not move a quantile.
_NEGLIGIBLE_WEIGHT = 1e-7
# A quantile is searched for among these logits; beyond them it is 0 or 1.
_LOWEST_LOGIT, _HIGHEST_LOGIT = -740.0, 40.0
_MAX_BISECTIONS = 200
# From this ratio of deviations (of alpha, and of a cell given alpha) on, alpha is a density.
_MIN_RATIO_OF_DENSITY = 30.0
# Steps of the logit between the points of the density, absolute and in deviations.
_MAX_STEP, _MAX_STEP_IN_DEVIATIONS = 0.05, 0.1
# A Beta distribution is over this many deviations, and this many pseudo-counts, from its mean.
_DEVIATIONS, _PSEUDO_COUNTS = 9.0, 60.0
# Shapes below this (as s alpha) change no probability.
_NO_SHAPE = 1e-15
# A larger logit of alpha is not known: floating-point numbers next to 1 are too far apart.
_HIGHEST_KNOWN_LOGIT = 33.0
_PANEL_NODES, _MIN_PANELS, _MAX_PANELS = 16, 6, 400


def cell_quantiles(
    rows: Array, components: Sequence[Component], levels: Sequence[float]
) -> tuple[Floats, ...]:
    """Quantiles of theta_yx for rows of counts ``[row, state]``, one array per level."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.shape[1] == 1:
        return tuple(np.ones(rows.shape) for _ in levels)
    totals = rows.sum(axis=1)
    asked = np.array(levels, dtype=np.float64)
    parts = _laws_of(components, rows.shape[1])

    def quantiles_of(state: int) -> Floats:
        # Equal cells have equal quantiles, and most tables have few distinct cells. They come
        # sorted by their own counts.
        own = rows[:, state]
        cells, back = np.unique(own + 1j * (totals - own), return_inverse=True)
        mixture = _Mixture([(weight, laws[state]) for weight, laws in parts])
        return mixture.quantiles(_Cells(cells.real.copy(), cells.imag.copy()), asked)[:, back]

    found = run([partial(quantiles_of, state) for state in range(rows.shape[1])])
    return tuple(np.stack(found, axis=-1))


class _Cells(NamedTuple):
    """Some cells of one state: its own counts, and those of all others in the same rows."""

    own: Floats
    rest: Floats


class _Law(Protocol):
    """The distribution of the cells of one state given s, mixed over alpha."""

    def mean(self, cells: _Cells) -> Floats:
        """Mean of each cell, ``[cell]``."""

    def below(self, cells: _Cells, y: Floats) -> Floats:
        """Probability that each cell is below the number with its logit, ``[cell]``."""


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """The distribution of the cells of one state, mixed over alpha and s."""

    parts: list[tuple[float, _Law]]

    def quantiles(self, cells: _Cells, levels: Floats) -> Floats:
        """Quantiles of every cell, ``[level, cell]``."""
        rules = [(weight, law) for weight, law in self.parts if isinstance(law, _Rule)]
        if len(rules) < len(self.parts):
            return np.stack([self._searched(cells, level) for level in levels.tolist()])
        from colonnade.kernels import cells as kernel

        together = kernel.Rule(
            np.concatenate([law.s * law.nodes for _, law in rules]),
            np.concatenate([law.s * (1.0 - law.nodes) for _, law in rules]),
            np.concatenate([weight * law.weight for weight, law in rules]),
        )
        return kernel.quantiles(*cells, together, levels)

    def _searched(self, cells: _Cells, level: float) -> Floats:
        """Quantile of every cell from the distribution function alone."""
        from scipy.special import expit, logit

        start = np.asarray(sum(weight * law.mean(cells) for weight, law in self.parts))
        low, high = (np.full(start.size, end) for end in (_LOWEST_LOGIT, _HIGHEST_LOGIT))
        below, above = (self._excess(cells, end, level) for end in (low, high))
        at_lowest, at_highest = below, above
        y = logit(np.clip(start, 1e-12, 1.0 - 1e-12))
        value = self._excess(cells, y, level)
        moved = np.zeros(start.size)  # the end that was moved last
        for _ in range(_MAX_BISECTIONS):
            rising = value < 0.0
            # An end that stays twice would hold the secant back: its value is halved (Illinois).
            below = np.where(rising, value, np.where(moved == 1.0, 0.5 * below, below))
            above = np.where(rising, np.where(moved == -1.0, 0.5 * above, above), value)
            low, high = np.where(rising, y, low), np.where(rising, high, y)
            moved = np.where(rising, -1.0, 1.0)
            width = high - low
            if bool((width <= 1e-13 * (1.0 + np.abs(y))).all() or (np.abs(value) < 1e-15).all()):
                break
            # A secant inside the bracket; the middle where it would stall.
            secant = low - below * width / np.where(above == below, 1.0, above - below)
            inside = (secant > low) & (secant < high)
            fresh = np.where(inside & (width < 2.0), secant, 0.5 * (low + high))
            settled = np.abs(value) < 1e-15
            y = np.where(settled, y, fresh)
            value = self._excess(cells, y, level)
        answer = expit(y)
        # Where all of the mass sits at an end, the quantile is the end itself.
        answer = np.where(at_lowest >= 0.0, 0.0, answer)
        return np.where(at_highest < 0.0, 1.0, answer)

    def _excess(self, cells: _Cells, y: Floats, level: float) -> Floats:
        return np.asarray(sum(weight * law.below(cells, y) for weight, law in self.parts)) - level


def _laws_of(components: Sequence[Component], states: int) -> list[tuple[float, list[_Law]]]:
    """Weight of each component that matters, and the laws of all states given its s."""
    relevant = [part for part in components if part.weight > _NEGLIGIBLE_WEIGHT]
    total = sum(part.weight for part in relevant)

    def laws(part: Component) -> tuple[float, list[_Law]]:
        return part.weight / total, [_law(part, state) for state in range(states)]

    return run([partial(laws, part) for part in relevant])


def _law(part: Component, state: int) -> _Law:
    """The distribution of cells given s, with as many values of alpha as make it smooth."""
    mean = float(part.alpha.mean[state])
    sd = math.sqrt(max(float(part.alpha.covariance[state, state]), 0.0))
    if sd == 0.0:
        return _Rule(part.s, *part.alpha.marginal(state, 1))
    relative = sd / math.sqrt(mean * (1.0 - mean))
    ratio = relative * math.sqrt(part.s)
    if ratio > _MIN_RATIO_OF_DENSITY and isinstance(part.alpha, PooledAlpha | DirichletAlpha):
        deviation = relative / math.sqrt(mean * (1.0 - mean))  # of the logit
        finest = min(_MAX_STEP, _MAX_STEP_IN_DEVIATIONS * deviation)
        return _Density.of(part.s, *part.alpha.points(state, finest))
    if ratio > 1.0:
        # alpha is less certain than a cell given alpha: its steps must not leave gaps between the
        # Beta distributions. A cell without counts of its own has the narrowest logit.
        nearest = min(0.5, mean + 3.0 * sd)
        width = 1.0 / math.sqrt(part.s * nearest * (1.0 - nearest))
        points, weights = part.alpha.points(state, 0.9 * width)
        heavy = weights > _NEGLIGIBLE_WEIGHT * weights.max()
        return _Rule(part.s, points[heavy], weights[heavy] / weights[heavy].sum())
    size = 6 if part.s * sd < 0.03 else 12 if part.s * sd < 0.3 else 24
    return _Rule(part.s, *part.alpha.marginal(state, size))


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    """A finite mixture of Beta distributions: values of alpha and their weights, ``[node]``."""

    s: float
    nodes: Floats
    weight: Floats

    def mean(self, cells: _Cells) -> Floats:
        own, rest = cells
        return np.asarray((own + self.s * (self.nodes @ self.weight)) / (own + rest + self.s))

    def below(self, cells: _Cells, y: Floats) -> Floats:
        from scipy.special import betainc, expit

        tiny = np.finfo(np.float64).tiny
        first = np.maximum(cells.own[:, None] + self.s * self.nodes, tiny)
        second = np.maximum(cells.rest[:, None] + self.s * (1.0 - self.nodes), tiny)
        return np.asarray(betainc(first, second, expit(y)[:, None]) @ self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class _Density:
    """The posterior of alpha as a density of its logit v, for an s that makes cells narrow."""

    s: float
    centre: float  # mean of alpha
    low: float  # of v, and what is at or below it
    atom: float
    high: float
    log_density: Any  # a spline in v
    probability: Any  # its integral from `low` on

    @classmethod
    def of(cls, s: float, points: Floats, weights: Floats) -> _Density:
        from scipy.interpolate import CubicSpline

        centre = float(points @ weights)
        points = np.clip(points, np.finfo(np.float64).tiny, 1.0 - 2.0**-53)
        logits = np.log(points) - np.log1p(-points)
        # What is farther out, and points that stand for a whole tail, is as good as at the ends.
        lowest = math.log(_NO_SHAPE / s)
        atom = float(weights[logits <= lowest].sum())
        kept = (weights > 1e-30 * weights.max()) & (logits > lowest)
        kept &= logits < _HIGHEST_KNOWN_LOGIT
        order = np.argsort(logits[kept])
        v, mass = logits[kept][order], weights[kept][order]
        atom += 0.5 * float(mass[0])  # the lower half of the first step
        step = float(np.median(np.diff(v)))
        spline = CubicSpline(v, np.log(mass / step))
        fine = np.linspace(v[0], v[-1], 8 * v.size)
        probability = CubicSpline(fine, np.exp(spline(fine))).antiderivative()
        return cls(s, centre, float(v[0]), atom, float(v[-1]), spline, probability)

    def mean(self, cells: _Cells) -> Floats:
        own, rest = cells
        return np.asarray((own + self.s * self.centre) / (own + rest + self.s))

    def below(self, cells: _Cells, y: Floats) -> Floats:
        from scipy.special import expit

        own, others = cells
        strength = own + others + self.s
        t, rest = expit(y), expit(-y)
        # Values of alpha from here on, and up to there, leave the answer open.
        reach = _DEVIATIONS * np.sqrt(t * rest / strength) + _PSEUDO_COUNTS / strength
        low = self._logit(strength * (t - reach) - own, others - strength * (rest + reach))
        high = self._logit(strength * (t + reach) - own, others - strength * (rest - reach))
        certain = self.atom + self.probability(low)
        above = 1.0 - self.atom - self.probability(high)
        ends = certain * self._given(cells, low, t) + above * self._given(cells, high, t)
        return np.asarray(ends + self._between(cells, low, high, t))

    def _logit(self, shape: Floats, minus_other: Floats) -> Floats:
        """The logit of alpha with some shapes s alpha and s (1 - alpha), within the density."""
        shape, other = np.maximum(shape, _NO_SHAPE), np.maximum(-minus_other, _NO_SHAPE)
        return np.asarray(np.clip(np.log(shape) - np.log(other), self.low, self.high))

    def _given(self, cells: _Cells, v: Floats, t: Floats) -> Floats:
        """Probability that each cell is below t if the logit of alpha is v, ``[cell, ...]``."""
        from scipy.special import betainc, expit

        more = (slice(None),) + (None,) * (v.ndim - 1)
        first = cells.own[more] + self.s * expit(v)
        second = cells.rest[more] + self.s * expit(-v)
        return np.asarray(betainc(first, second, t[more]))

    def _between(self, cells: _Cells, low: Floats, high: Floats, t: Floats) -> Floats:
        """Integrate over alpha from one logit to another by Gauss's rule on panels."""
        nodes, weights = np.polynomial.legendre.leggauss(_PANEL_NODES)
        longest = float((high - low).max())
        panels = min(max(_MIN_PANELS, math.ceil(longest)), _MAX_PANELS)
        places = (np.arange(panels)[:, None] + 0.5 * (nodes + 1.0)).ravel() / panels
        v = low[:, None] + (high - low)[:, None] * places
        values = np.exp(self.log_density(v)) * self._given(cells, v, t)
        share = np.tile(0.5 * weights / panels, panels)
        return np.asarray((values @ share) * (high - low))

"""How well each observation is predicted by all others, from the counts alone.

Taking one observation out of a cell with count m multiplies the density of alpha by
w(alpha) = Gamma(s alpha_x + m - d) / Gamma(s alpha_x + m), where d = 1: the factor 1 / (s alpha_x +
m - 1). So the prediction is an integral over the posterior of one alpha_x, which is known already,
and it depends on the cell through x and m only. Nothing is estimated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import NotSupportedError
from colonnade.pooling.alpha import AlphaPosterior, Component, FixedAlpha, PooledAlpha
from colonnade.pooling.draws import gauss_rule
from colonnade.pooling.tally import Pool

# Values of s to integrate over, and how many if there are many observations: a log probability is
# then accurate to about 1e-7, as is the posterior of s itself.
_NODES_OF_S = 8
_NODES_OF_S_IF_MANY_OBSERVATIONS = 5
_MANY_OBSERVATIONS = 300.0


def left_out_score(values: Array, components: Sequence[Component]) -> float:
    """Sum over all observations of their log probability given all others."""
    counts = np.asarray(values, dtype=np.float64)
    logs = left_out(counts, components)
    seen = counts > 0.0
    return float(counts[seen] @ logs[seen])


def left_out(values: Array, components: Sequence[Component]) -> Floats:
    """Log probability of one observation of each cell given all other observations.

    `values` are the counts ``[observed, state]`` and `components` the posterior given them. Where a
    cell has less than one observation (fractional counts), all of it is taken out; NaN where it has
    none.
    """
    counts = np.asarray(values, dtype=np.float64)
    seen = counts > 0.0
    gone = np.minimum(counts, 1.0)[seen]
    rest = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)[seen] - gone
    top = np.full(gone.size, -np.inf)
    over, under = np.zeros(gone.size), np.zeros(gone.size)
    for weight, s in _strengths(components):
        own, change = _without(counts, components[0].alpha, s)
        # p(D without) / p(D) given s: how much more this s weighs without the observation.
        shift = np.log(weight) + change[seen] + _log_rise(rest + s, gone)
        higher = np.maximum(top, shift)
        scale, fresh = np.exp(top - higher), np.exp(shift - higher)
        over = over * scale + fresh * np.exp(own[seen] - np.log(rest + s))
        under = under * scale + fresh
        top = higher
    logs = np.full(counts.shape, np.nan)
    logs[seen] = np.log(over) - np.log(under)
    return logs


def _strengths(components: Sequence[Component]) -> list[tuple[float, float]]:
    """Weights and values of s; where s is learned, as few as the integral over it needs."""
    alpha = components[0].alpha
    if len(components) == 1 or not isinstance(alpha, PooledAlpha):
        return [(part.weight, part.s) for part in components]
    many = alpha.pool.tally.total >= _MANY_OBSERVATIONS
    size = _NODES_OF_S_IF_MANY_OBSERVATIONS if many else _NODES_OF_S
    points = np.log([part.s for part in components])
    nodes, masses = gauss_rule(points, np.array([part.weight for part in components]), size)
    pairs = zip(masses.tolist(), np.exp(nodes).tolist(), strict=True)
    return [(mass, s) for mass, s in pairs if mass > 0.0]


def _without(counts: Floats, alpha: AlphaPosterior, s: float) -> tuple[Floats, Floats]:
    """Of each cell, given s: log E[m - d + s alpha | D without] and the change of log evidence.

    The first is the numerator of the predictive probability; the second lacks the factor of the
    row, which depends on its total only.
    """
    own, change = np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    for state in range(counts.shape[1]):
        seen = np.flatnonzero(counts[:, state] > 0.0)
        if not seen.size:
            continue
        count, back = np.unique(counts[seen, state], return_inverse=True)
        taken = np.minimum(count, 1.0)
        points, weights = _points(alpha, s, state)
        left = s * points[:, None] + (count - taken)
        fall = -_log_rise(left, taken)
        top = fall.max(axis=0)
        factor = np.exp(fall - top)
        total = weights @ factor
        own[seen, state] = (np.log(weights @ (factor * left)) - np.log(total))[back]
        change[seen, state] = (np.log(total) + top)[back]
    return own, change


def _points(alpha: AlphaPosterior, s: float, state: int) -> tuple[Floats, Floats]:
    """Points and weights of the posterior of one alpha, dense enough for 1 / alpha near zero."""
    if isinstance(alpha, PooledAlpha):
        pool = Pool.of(alpha.pool.tally, s, alpha.pool.alpha0)
        alpha = replace(alpha, pool=pool)
    elif not isinstance(alpha, FixedAlpha):
        what = f"Leaving one observation out with {alpha.engine!r}"
        hint = "use Exact(), Quadrature() or engine=None"
        raise NotSupportedError(what, "it does not compute the posterior exactly", hint)
    points, weights = alpha.points(state, 1.0)
    return points, weights / weights.sum()


def _log_rise(z: Floats, d: Floats) -> Floats:
    """Ln Gamma(z + d) - ln Gamma(z), which is ln z where d = 1."""
    from scipy.special import gammaln

    if (d == 1.0).all():
        return np.asarray(np.log(z))
    return np.asarray(np.where(d == 1.0, np.log(z), gammaln(z + d) - gammaln(z)))

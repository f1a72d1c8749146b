"""What the curves of `simplex` and the windows of `lattice` are used for: marginals and draws.

Kernels that take `states`, a :class:`~colonnade.kernels.states.States`, take s and the variational
posterior (a, u) as well; the others take `panels`, :class:`~colonnade.kernels.simplex.Panels`.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.domains import domains
from colonnade.kernels.lattice import others_together
from colonnade.kernels.panels import (
    GUESSED_WIDTH,
    LOG_T,
    LOG_VALUE,
    NODES,
    ODD,
    PANELS,
    SLOPE_BELOW,
    Curve,
    Y,
    chebyshev_nodes,
    curve,
    evaluate_integrand,
    fit_panels,
    log_logistic,
    march,
    new_buffer,
    node,
    tail_fall,
)
from colonnade.kernels.simplex import fit_state
from colonnade.kernels.special import digamma

# The envelope of a draw lies this far (in nats) above the values at its points.
_ENVELOPE_MARGIN = 0.1
# Farther out a share is zero, and all that is left of the curves is a power.
_FARTHEST_LOGIT = 1e4


@njit(cache=True, nogil=True)
def joined(f, g, domain, slope, guess):
    """The curve of the convolution of two others, over a domain whose slopes are filled in.

    `slope` is the one below if all of the curve is on one power there; the guess is that of the
    logit of the share of f.
    """
    nodes, matrix = chebyshev_nodes()
    values = np.empty(int(domain[PANELS]) * NODES)
    buffer = new_buffer()
    width = GUESSED_WIDTH
    for i in range(values.size):
        place = node(nodes, domain, i)
        buffer, used, step, guess, width, top = march(f, g, place, guess, width, buffer)
        total = 0.0
        for p in range(used):
            total += math.exp(buffer[p, LOG_VALUE] - top)
        values[i] = top + math.log(total * step)
    both = Curve(np.empty((int(domain[PANELS]), NODES)), domain)
    fit_panels(matrix, values, domain, both.coefficients)
    if abs(domain[SLOPE_BELOW] - slope) < 1e-6 * (1.0 + abs(slope)):
        domain[SLOPE_BELOW] = slope
    return both


@njit(cache=True, nogil=True)
def mixture_last(states, s, a, u, finest):
    """Points and weights for the last alpha from the finite mixture, for whole counts only.

    The other states together have G(v) = sum_M W[M] v^(M + B0 - 1) / Gamma(M + B0), with W the
    convolution of their table weights.
    """
    alpha0 = states.alpha0
    last = alpha0.size - 1
    share, f_domain, g_domain = domains(states, s, a, u)
    weights, lowest = others_together(states, a, u)
    power = alpha0[:last].sum() + lowest
    tilt = digamma(a.sum())
    logs = np.empty(weights.size)
    for i in range(weights.size):
        logs[i] = math.log(weights[i]) + tilt * i - math.lgamma(power + i)
    nodes, matrix = chebyshev_nodes()
    domain = g_domain[last - 1]
    values = np.empty(int(domain[PANELS]) * NODES)
    for i in range(values.size):
        w = node(nodes, domain, i)
        terms = logs + (power - 1.0 + np.arange(weights.size)) * w
        top = terms.max()
        values[i] = top + math.log(np.exp(terms - top).sum())
    g = Curve(np.empty((int(domain[PANELS]), NODES)), domain)
    fit_panels(matrix, values, domain, g.coefficients)
    domain[SLOPE_BELOW] = power - 1.0
    f = Curve(np.empty((int(f_domain[last, PANELS]), NODES)), f_domain[last])
    fit_state(states, last, s, nodes, matrix, f)
    cells = states.times[states.start[last] : states.start[last + 1]]
    f.domain[SLOPE_BELOW] = alpha0[last] - 1.0 + cells.sum()
    return rule(f, g, math.log(share[last] / share[:last].sum()), finest)


@njit(cache=True, nogil=True)
def rule(f, g, guess, finest):
    """Points and weights for an alpha with density f(alpha) G(1 - alpha), from a guessed logit."""
    buffer, used, _, _, _, top = march(f, g, 0.0, guess, GUESSED_WIDTH, new_buffer(), finest)
    weights = np.exp(buffer[:used, LOG_VALUE] - top)
    return np.exp(buffer[:used, LOG_T]), weights / weights.sum()


@njit(cache=True, nogil=True)
def _draw_place(points, step, f, g, w, rng):
    """An exact draw of ln t, ln (1 - t) from the integrand, by rejection from steps between points.

    The integrand has one peak, so between two points it stays below the larger one, but for the
    cell of the peak itself, where half a step of half a deviation lifts it by less than the margin.
    Beyond a point that stands for a tail it falls exponentially, and is drawn as such.
    """
    # `march` goes up from the peak and then down: the second part, reversed, has the lowest y.
    size = len(points)
    above = 1
    while above < size and points[above, Y] >= points[0, Y]:
        above += 1
    order = np.empty(size, np.int64)
    for i in range(size):
        order[i] = size - 1 - i if i < size - above else i - size + above
    values = points[order, LOG_VALUE].copy()
    fall = np.zeros(2)  # of the tails below and above, where there are any
    for side in range(2):
        end = side * (size - 1)
        if 0.0 < points[order[end], ODD] < 1.0:
            fall[side] = tail_fall(f, g, w, points[order[end], Y], 2 * side - 1)
            values[end] += math.log(-math.expm1(-fall[side] * step))
    top = points[:, LOG_VALUE].max()
    # The tail below, the cells between points, the tail above.
    envelope = np.zeros(size + 1)
    for i in range(1, size):
        envelope[i] = math.exp(max(values[i - 1], values[i]) - top + _ENVELOPE_MARGIN)
    for side in range(2):
        if fall[side] > 0.0:
            envelope[side * size] = math.exp(values[side * (size - 1)] - top) / (fall[side] * step)
    cumulative = np.cumsum(envelope)
    while True:
        cell = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        cell = min(cell, size if fall[1] > 0.0 else size - 1)
        if cell in (0, size):
            side = cell // size
            beyond = min(rng.standard_exponential() / fall[side], _FARTHEST_LOGIT)
            y = points[order[side * (size - 1)], Y] + (2 * side - 1) * beyond
            return log_logistic(y), log_logistic(-y)
        y = points[order[cell - 1], Y] + step * rng.random()
        value, log_t, log_rest = evaluate_integrand(f, g, w, y)
        if rng.random() * envelope[cell] < math.exp(value - top):
            return log_t, log_rest


@njit(cache=True, nogil=True)
def simplex_draws(panels, draws, rng):
    """Independent draws of alpha, along the Markov chain S_R = 1, S_{R-1}, ..., S_1."""
    share = panels.share
    together = np.cumsum(share)
    out = np.empty((draws, share.size))
    buffer = new_buffer()
    for draw in range(draws):
        w = 0.0
        for j in range(share.size - 1, 0, -1):
            f, g = curve(panels.f, j), curve(panels.g, j - 1)
            guess = math.log(share[j] / together[j - 1])
            buffer, used, step, _, _, _ = march(f, g, w, guess, GUESSED_WIDTH, buffer)
            log_t, log_rest = _draw_place(buffer[:used], step, f, g, w, rng)
            out[draw, j] = math.exp(w + log_t)
            w = max(w + log_rest, -_FARTHEST_LOGIT)
        out[draw, 0] = math.exp(w)
    return out

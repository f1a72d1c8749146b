"""What the curves of `simplex` and the windows of `lattice` are used for: marginals and draws.

Functions that take `states`, a :class:`~colonnade.kernels.states.States`, take s and the
variational posterior (a, u) as well; the others take :class:`~colonnade.kernels.simplex.Panels`.
"""

import math

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.domains import domains
from colonnade.kernels.lattice import others_together
from colonnade.kernels.panels import (
    GUESSED_WIDTH,
    LOG_T,
    LOG_VALUE,
    MATRIX,
    NODES,
    ODD,
    PANELS,
    PLACES,
    SLOPE_BELOW,
    Y,
    evaluate_integrand,
    fit_panels,
    log_logistic,
    march,
    march_along,
    new_buffer,
    node,
    tail_fall,
)
from colonnade.kernels.simplex import Panels, all_nodes, fit_level, fit_state, level
from colonnade.kernels.special import digamma
from colonnade.kernels.states import States
from colonnade.kernels.tilt import total_of

# The envelope of a draw lies this far (in nats) above the values at its points.
_ENVELOPE_MARGIN = 0.1
# Farther out a share is zero, and all that is left of the curves is a power.
_FARTHEST_LOGIT = 1e4
# No step is longer than this.
_COARSE = 1.0


def joined(pair: tuple[Floats, ...], domain: Floats, slope: float, guess: float) -> Floats:
    """The curve of the convolution of two others, over a domain whose slopes are filled in.

    `pair` has a curve and its domain, then another one and its; `slope` is the one below if all of
    the curve is on one power there; the guess is that of the logit of the share of the first.
    """
    places = all_nodes(domain)
    values, none = np.empty(places.size), np.zeros((2, 0, 0))
    level(*pair, places, 0.0, guess, new_buffer(), values, none, np.zeros((2, 0)))
    curve = np.empty((int(domain[PANELS]), NODES))
    fit_level(values, MATRIX, domain, curve)
    if abs(domain[SLOPE_BELOW] - slope) < 1e-6 * (1.0 + abs(slope)):
        domain[SLOPE_BELOW] = slope
    return curve


def mixture_last(
    states: States, s: float, a: Floats, u: Floats
) -> tuple[tuple[Floats, ...], float]:
    """What `rule` takes for the last alpha, from the finite mixture, for whole counts only."""
    start, counts, times, alpha0 = states
    last = alpha0.size - 1
    share, f_domains, g_domains = domains(states, s, a, u)
    f_domain, g_domain = f_domains[last], g_domains[last - 1]
    weights, lowest = others_together(states, a, u)
    g, values = np.empty((int(g_domain[PANELS]), NODES)), np.empty(int(g_domain[PANELS]) * NODES)
    power = float(alpha0[:last].sum() + lowest)
    _fit_mixture(
        weights, np.empty((2, weights.size)), power, a, PLACES, MATRIX, values, g_domain, g
    )
    f, values = np.empty((int(f_domain[PANELS]), NODES)), np.empty(int(f_domain[PANELS]) * NODES)
    fit_state(start, counts, times, alpha0, last, s, PLACES, MATRIX, values, f_domain, f)
    f_domain[SLOPE_BELOW] = alpha0[last] - 1.0 + times[start[last] : start[last + 1]].sum()
    return (f, f_domain, g, g_domain), math.log(share[-1] / share[:-1].sum())


@entry
def _fit_mixture(weights, room, power, a, nodes, matrix, values, domain, curve):
    """Fit the curve ln G of all states but the last.

    Together they have G(v) = sum_M W[M] v^(M + B0 - 1) / Gamma(M + B0), with W the convolution of
    their table weights; `power` is the lowest M + B0.
    """
    logs, terms = room[0], room[1]
    tilt = digamma(total_of(a))
    for i in range(weights.size):
        logs[i] = math.log(weights[i]) + tilt * i - math.lgamma(power + i)
    for k in range(values.size):
        w = node(nodes, domain, k)
        top = -math.inf
        for i in range(weights.size):
            terms[i] = logs[i] + (power - 1.0 + i) * w
            if terms[i] > top:
                top = terms[i]
        mass = 0.0
        for i in range(weights.size):
            mass += math.exp(terms[i] - top)
        values[k] = top + math.log(mass)
    fit_panels(matrix, values, domain, curve)
    domain[SLOPE_BELOW] = power - 1.0


def rule(pair: tuple[Floats, ...], guess: float, finest: float) -> tuple[Floats, Floats]:
    """Points and weights for an alpha with density f(alpha) G(1 - alpha), from a guessed logit."""
    buffer, used = march_along(*pair, 0.0, guess, GUESSED_WIDTH, new_buffer(), float(finest))
    logs = buffer[:used, LOG_VALUE]
    weights = np.exp(logs - logs.max())
    return np.exp(buffer[:used, LOG_T]), weights / weights.sum()


@part
def _draw_place(points, step, pair, w, rng):
    """An exact draw of ln t, ln (1 - t) from the integrand, by rejection from steps between points.

    The integrand has one peak, so between two points it stays below the larger one, but for the
    cell of the peak itself, where half a step of half a deviation lifts it by less than the margin.
    Beyond a point that stands for a tail it falls exponentially, and is drawn as such.
    """
    # `march` goes up from the peak and then down: the second part, reversed, has the lowest y.
    size = points.shape[0]
    above = 1
    while above < size and points[above, Y] >= points[0, Y]:
        above += 1
    room = np.empty((2, size + 1))
    values, envelope = room[0], room[1]
    top = -math.inf
    for i in range(size):
        values[i] = points[_ordered(i, size, above), LOG_VALUE]
        if values[i] > top:
            top = values[i]
    envelope[0] = 0.0
    envelope[size] = 0.0
    # The tails below and above, where there are any.
    for side in range(2):
        end = side * (size - 1)
        k = _ordered(end, size, above)
        if 0.0 < points[k, ODD] < 1.0:
            fall = tail_fall(pair, w, points[k, Y], 2 * side - 1)
            if fall > 0.0:
                values[end] += math.log(-math.expm1(-fall * step))
                envelope[side * size] = math.exp(values[end] - top) / (fall * step)
    # The cells between points.
    cells = size if envelope[size] > 0.0 else size - 1
    total = 0.0
    for i in range(size + 1):
        if 0 < i < size:
            larger = values[i] if values[i] > values[i - 1] else values[i - 1]
            envelope[i] = math.exp(larger - top + _ENVELOPE_MARGIN)
        total += envelope[i]
    while True:
        left = rng.random() * total
        cell = 0
        below = envelope[0]
        while cell < cells and below <= left:
            cell += 1
            below += envelope[cell]
        if cell == 0 or cell == size:
            side = cell // size
            k = _ordered(side * (size - 1), size, above)
            fall = tail_fall(pair, w, points[k, Y], 2 * side - 1)
            beyond = rng.standard_exponential() / fall
            beyond = beyond if beyond < _FARTHEST_LOGIT else _FARTHEST_LOGIT
            y = points[k, Y] + (2 * side - 1) * beyond
            return log_logistic(y), log_logistic(-y)
        y = points[_ordered(cell - 1, size, above), Y] + step * rng.random()
        value, log_t, log_rest = evaluate_integrand(pair, w, y)
        if rng.random() * envelope[cell] < math.exp(value - top):
            return log_t, log_rest


@part
def _ordered(i, size, above):
    """Which point of a rule has the i-th lowest y."""
    return size - 1 - i if i < size - above else i - size + above


def simplex_draws(panels: Panels, draws: int, rng: np.random.Generator) -> Floats:
    """Independent draws of alpha, along the Markov chain S_R = 1, S_{R-1}, ..., S_1."""
    share = panels.share
    out = np.empty((draws, share.size))
    _draw(*panels, np.cumsum(share), new_buffer(), rng, out)
    return out


@entry
def _draw(f, f_domain, g, g_domain, share, together, buffer, rng, out):
    for draw in range(out.shape[0]):
        w = 0.0
        for j in range(share.size - 1, 0, -1):
            pair = f[j], f_domain[j], g[j - 1], g_domain[j - 1]
            guess = math.log(share[j] / together[j - 1])
            buffer, used, step, _, _, _ = march(pair, w, guess, GUESSED_WIDTH, buffer, _COARSE)
            log_t, log_rest = _draw_place(buffer[:used], step, pair, w, rng)
            out[draw, j] = math.exp(w + log_t)
            w = w + log_rest
            if w < -_FARTHEST_LOGIT:
                w = -_FARTHEST_LOGIT
        out[draw, 0] = math.exp(w)

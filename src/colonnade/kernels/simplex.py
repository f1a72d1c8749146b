"""The posterior of alpha by positive quadrature on the simplex (docs/exact.md).

p(alpha | D) is proportional to prod f_x(alpha_x) on the simplex. Take the states one after the
other: with S_j = alpha_1 + ... + alpha_j,

    G_1 = f_1,     G_j(v) = integral over a in (0, v) of f_j(a) G_{j-1}(v - a),     Z = G_R(1).

Every integrand is positive and, in y = logit(a / v), analytic in a strip around the real line, so
the trapezoidal rule converges geometrically. ln f and ln G are analytic in w = ln v for |Im w| < pi
(the singularities sit on the negative axis), so a Chebyshev polynomial on each unit of w carries
them to the last digit, however sharp the peak of f and G themselves.

Given S_j the earlier sums do not depend on later states: S_R = 1, S_{R-1}, ..., S_1 is a Markov
chain. The same pass that computes G_j therefore gives, as a matrix on the nodes, the transition S_j
-> S_{j-1}; mean and covariance of alpha are products of these matrices, and exact draws follow the
chain.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.lattice import others_together
from colonnade.kernels.panels import (
    NODES,
    chebyshev_nodes,
    evaluate_integrand,
    fit_panels,
    march,
    node,
)
from colonnade.kernels.special import digamma, expected_tables, variance_tables
from colonnade.kernels.tilt import log_weight


@njit(cache=True, nogil=True)
def _domains(start, count, times, alpha0, s, a, u):
    """Where ln f_x and ln G_j are needed: shares of alpha, domains of f, domains of G.

    From S_R = 1 downwards: S_{j-1} = S_j (1 - t) and alpha_j = S_j t, with t around share_j /
    (share_1 + ... + share_j). The integrand in logit t is Gaussian near its peak, then falls with
    the slopes of f and G at zero (their powers); or, for a small t, like a gamma density. Fifty
    nats of either are covered.
    """
    states = alpha0.size
    share = a / a.sum()
    power = np.empty(states)
    precision = np.empty(states)
    finest = 1.0
    for x in range(states):
        power[x] = alpha0[x]
        precision[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            finest = min(finest, count[i])
            if count[i] < 1.0:
                # a table only where s alpha is smaller than the count itself: of slope and
                # curvature no more than the count can be relied on
                power[x] += times[i] * count[i]
                precision[x] += times[i] * count[i]
            else:
                tables = expected_tables(u[x], count[i]) - variance_tables(u[x], count[i])
                power[x] += times[i]
                precision[x] += times[i] * tables
        precision[x] = max(precision[x], 1e-3)
    # below this every f is a pure power to the last digit
    floor = -38.0 - math.log(max(s, 1.0) / finest)
    together = np.cumsum(share)
    f_domain = np.zeros((states, 5))
    g_domain = np.zeros((states, 5))
    low = 0.0
    high = 0.0
    for j in range(states - 1, 0, -1):
        t = share[j] / together[j]
        spread = 0.0
        behind = 0.0
        for x in range(j):
            spread += share[x] * share[x] / precision[x]
            behind += power[x]
        spread /= together[j - 1] * together[j - 1]
        width = 1.0 / math.sqrt((1.0 - t) ** 2 * precision[j] + t * t / spread)
        y = math.log(share[j] / together[j - 1])
        left = y - 14.0 * width - 52.0 / power[j]
        right = y + 14.0 * width + 52.0 / behind
        most = t * (1.0 + 14.0 / math.sqrt(precision[j]) + 55.0 / precision[j])
        if most < 1.0:
            right = min(right, math.log(most / (1.0 - most)))
        most = (1.0 - t) * (1.0 + 14.0 * math.sqrt(spread) + 55.0 * spread)
        if most < 1.0:
            left = max(left, math.log((1.0 - most) / most))
        _set_domain(f_domain[j], low + _log_logistic(left), high + _log_logistic(right), floor)
        low, high = low + _log_logistic(-right), high + _log_logistic(-left)
        low, high = _set_domain(g_domain[j - 1], low, high, floor)
    f_domain[0] = g_domain[0]
    return share, f_domain, g_domain


@njit(cache=True, nogil=True)
def _log_logistic(y):
    if y > 0.0:
        return -math.log1p(math.exp(-y))
    return y - math.log1p(math.exp(y))


@njit(cache=True, nogil=True)
def _set_domain(domain, low, high, floor):
    high = min(high, 0.0)
    low = min(max(low, min(floor, high - 1.0)), high - 0.05)
    panels = math.ceil(high - low)
    domain[0] = low
    domain[1] = (high - low) / panels
    domain[2] = panels
    return low, high


@njit(cache=True, nogil=True)
def _level(f, f_domain, g, g_domain, places, share, guess, matrix, moments):
    """Values of ln G_j at the places w, and the transition from S_j there to the nodes of S_{j-1}.

    Returns the values; `kept`, the transition; `moved`, the same weighted by a_j - share; `once`,
    `twice`, the conditional moments of a_j - share; and the error of the trapezoidal rule. Without
    `moments` the values and the error only.
    """
    size = places.size
    panels = int(g_domain[2])
    columns = panels * NODES if moments else 0
    values = np.empty(size)
    kept = np.zeros((size, columns))
    moved = np.zeros((size, columns))
    once = np.zeros(size)
    twice = np.zeros(size)
    row = np.empty((2, panels, NODES))
    buffer = np.empty((256, 5))
    width = 0.3
    error = 0.0
    for i in range(size):
        w = places[i]
        buffer, used, step, guess, width, top = march(
            f, f_domain, g, g_domain, w, guess, width, buffer
        )
        total = 0.0
        even = 0.0
        for p in range(used):
            weight = math.exp(buffer[p, 1] - top)
            buffer[p, 1] = weight
            total += weight
            if buffer[p, 4] == 0:
                even += weight
        # with every second point the error is about the root of what it is with all of them
        error = max(error, (2.0 * even / total - 1.0) ** 2)
        values[i] = top + math.log(total * step)
        if not moments:
            continue
        row[:] = 0.0
        for p in range(used):
            weight = buffer[p, 1] / total
            offset = math.exp(w + buffer[p, 2]) - share
            here = weight * offset
            once[i] += here
            twice[i] += here * offset
            position = (w + buffer[p, 3] - g_domain[0]) / g_domain[1]
            panel = min(max(int(position), 0), panels - 1)
            place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
            t0 = 1.0
            t1 = place
            row[0, panel, 0] += weight
            row[1, panel, 0] += here
            for k in range(1, NODES):
                row[0, panel, k] += weight * t1
                row[1, panel, k] += here * t1
                t0, t1 = t1, 2.0 * place * t1 - t0
        for panel in range(panels):
            if row[0, panel, 0] > 0.0:
                for k in range(NODES):
                    stay = row[0, panel, k]
                    shift = row[1, panel, k]
                    for n in range(NODES):
                        kept[i, panel * NODES + n] += stay * matrix[k, n]
                        moved[i, panel * NODES + n] += shift * matrix[k, n]
    return values, kept, moved, once, twice, error


@njit(cache=True, nogil=True)
def _levels(start, count, times, alpha0, s, share, f_domain, g_domain, moments):
    """Panels of every ln f_x and ln G_j, ln Z, and with `moments` the transitions.

    `share` is an approximate mean of alpha: the moments are centred there. The domains' slopes are
    filled in.
    """
    nodes, matrix = chebyshev_nodes()
    states = share.size
    power = np.empty(states)
    f = np.zeros((states, int(f_domain[:, 2].max()), NODES))
    g = np.zeros((states, int(g_domain[:, 2].max()), NODES))
    for x in range(states):
        values = np.empty(int(f_domain[x, 2]) * NODES)
        for i in range(values.size):
            w = node(nodes, f_domain[x], i)
            values[i] = (alpha0[x] - 1.0) * w + log_weight(start, count, times, x, s * math.exp(w))
        fit_panels(matrix, values, f_domain[x], f[x])
        # the slope below is known; differentiating the panels would lose six digits of it
        slope = alpha0[x] - 1.0
        power[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            slope += times[i] * expected_tables(s * math.exp(f_domain[x, 0]), count[i])
            power[x] += times[i]
        f_domain[x, 3] = slope
    panels = int(f_domain[0, 2])
    g[0, :panels] = f[0, :panels]
    g_domain[0] = f_domain[0]
    keep = [np.zeros((1, 1))]
    move = [np.zeros((1, 1))]
    first = [np.zeros(1)]
    second = [np.zeros(1)]
    error = 0.0
    log_z = 0.0
    before = share[0]
    for j in range(1, states):
        last = j == states - 1
        places = np.zeros(1 if last else int(g_domain[j, 2]) * NODES)
        if not last:
            for i in range(places.size):
                places[i] = node(nodes, g_domain[j], i)
        guess = math.log(share[j] / before)
        values, kept, moved, once, twice, step_error = _level(
            f[j], f_domain[j], g[j - 1], g_domain[j - 1], places, share[j], guess, matrix, moments
        )
        before += share[j]
        error = max(error, step_error)
        if last:
            log_z = values[0]
        else:
            fit_panels(matrix, values, g_domain[j], g[j])
            limit = power[: j + 1].sum() - 1.0
            if abs(g_domain[j, 3] - limit) < 1e-6 * (1.0 + abs(limit)):
                g_domain[j, 3] = limit
        keep.append(kept)
        move.append(moved)
        first.append(once)
        second.append(twice)
    return f, g, keep, move, first, second, log_z, error


@njit(cache=True, nogil=True)
def _moments(g, g_domain, keep, move, first, second, share):
    """Mean and covariance of alpha from the transitions.

    And the error of interpolating ln G where its mass lies.
    """
    nodes, _ = chebyshev_nodes()
    states = share.size
    start = np.empty(int(g_domain[0, 2]) * NODES)
    for i in range(start.size):
        start[i] = math.exp(node(nodes, g_domain[0], i)) - share[0]
    # law[states - 1 - j] integrates a function of S_j, given on the nodes, against the posterior of
    # S_j
    law = [np.ones(1)]
    for j in range(states - 1, 0, -1):
        law.append(np.dot(law[-1], keep[j]))
    offset = np.empty(states)
    covariance = np.zeros((states, states))
    earlier = [start]
    offset[0] = np.dot(law[states - 1], start)
    covariance[0, 0] = np.dot(law[states - 1], start * start)
    error = 0.0
    for j in range(states):
        here = law[states - 1 - j]
        if j < states - 1:
            for panel in range(int(g_domain[j, 2])):
                mass = abs(here[panel * NODES : (panel + 1) * NODES].sum())
                error += mass * (abs(g[j, panel, NODES - 1]) + abs(g[j, panel, NODES - 2]))
        if j == 0:
            continue
        offset[j] = np.dot(here, first[j])
        covariance[j, j] = np.dot(here, second[j])
        weights = np.dot(here, move[j])
        for x in range(j):
            covariance[x, j] = np.dot(weights, earlier[x])
            covariance[j, x] = covariance[x, j]
        if j < states - 1:
            for x in range(j):
                earlier[x] = np.dot(keep[j], earlier[x])
            earlier.append(first[j])
    for x in range(states):
        for z in range(states):
            covariance[x, z] -= offset[x] * offset[z]
    return share + offset, covariance, error


@njit(cache=True, nogil=True)
def simplex_solve(start, count, times, alpha0, s, a, u):
    """Compute ln Z, mean and covariance of alpha, and the errors of the rule and of the panels."""
    share, f_domain, g_domain = _domains(start, count, times, alpha0, s, a, u)
    _, g, keep, move, first, second, log_z, step_error = _levels(
        start, count, times, alpha0, s, share, f_domain, g_domain, True
    )
    mean, covariance, panel_error = _moments(g, g_domain, keep, move, first, second, share)
    return log_z, mean, covariance, step_error, panel_error


@njit(cache=True, nogil=True)
def simplex_panels(start, count, times, alpha0, s, a, u):
    """Compute ln Z and all that the marginals and the draws need.

    Panels of f and G, their domains, shares.
    """
    share, f_domain, g_domain = _domains(start, count, times, alpha0, s, a, u)
    f, g, _, _, _, _, log_z, _ = _levels(
        start, count, times, alpha0, s, share, f_domain, g_domain, False
    )
    return log_z, (f, f_domain, g, g_domain, share)


@njit(cache=True, nogil=True)
def mixture_last(start, count, times, alpha0, s, a, u, finest):
    """Points and weights for the posterior of the last state's alpha, from the finite mixture.

    The other states together have G(v) = sum_M W[M] v^(M + B0 - 1) / Gamma(M + B0), with W the
    convolution of their table weights: no nested integrals, for whole counts only.
    """
    states = alpha0.size
    last = states - 1
    share, f_domain, g_domain = _domains(start, count, times, alpha0, s, a, u)
    weights, lowest = others_together(start, count, times, alpha0, a, u)
    power = alpha0[:last].sum() + lowest
    tilt = digamma(a.sum())
    logs = np.empty(weights.size)
    for i in range(weights.size):
        logs[i] = math.log(weights[i]) + tilt * i - math.lgamma(power + i)
    nodes, matrix = chebyshev_nodes()
    domain = g_domain[last - 1]
    values = np.empty(int(domain[2]) * NODES)
    for i in range(values.size):
        w = node(nodes, domain, i)
        terms = logs + (power - 1.0 + np.arange(weights.size)) * w
        top = terms.max()
        values[i] = top + math.log(np.exp(terms - top).sum())
    g = np.empty((int(domain[2]), NODES))
    fit_panels(matrix, values, domain, g)
    domain[3] = power - 1.0
    values = np.empty(int(f_domain[last, 2]) * NODES)
    for i in range(values.size):
        w = node(nodes, f_domain[last], i)
        u_here = s * math.exp(w)
        values[i] = (alpha0[last] - 1.0) * w + log_weight(start, count, times, last, u_here)
    f = np.empty((int(f_domain[last, 2]), NODES))
    fit_panels(matrix, values, f_domain[last], f)
    f_domain[last, 3] = alpha0[last] - 1.0 + times[start[last] : start[last + 1]].sum()
    guess = math.log(share[last] / share[:last].sum())
    buffer, used, _, _, _, top = march(
        f, f_domain[last], g, domain, 0.0, guess, 0.3, np.empty((256, 5)), finest
    )
    masses = np.exp(buffer[:used, 1] - top)
    return np.exp(buffer[:used, 2]), masses / masses.sum()


@njit(cache=True, nogil=True)
def simplex_last(f, f_domain, g, g_domain, share, finest):
    """Points and weights that integrate against the posterior of the last state's alpha."""
    last = share.size - 1
    guess = math.log(share[last] / share[:last].sum())
    buffer, used, _, _, _, top = march(
        f[last],
        f_domain[last],
        g[last - 1],
        g_domain[last - 1],
        0.0,
        guess,
        0.3,
        np.empty((256, 5)),
        finest,
    )
    points = np.exp(buffer[:used, 2])
    weights = np.exp(buffer[:used, 1] - top)
    return points, weights / weights.sum()


@njit(cache=True, nogil=True)
def _draw_place(buffer, used, step, f, f_domain, g, g_domain, w, rng):
    """An exact draw of y from the integrand, by rejection from steps between its points.

    The integrand has one peak, so between two points it stays below the larger one, but for the
    cell of the peak itself, where half a step of half a deviation lifts it by less than the margin.
    """
    margin = 0.1
    points = buffer[:used]
    order = np.argsort(points[:, 0])
    envelope = np.empty(used - 1)
    top = points[:, 1].max()
    for i in range(used - 1):
        envelope[i] = math.exp(max(points[order[i], 1], points[order[i + 1], 1]) - top + margin)
    cumulative = np.cumsum(envelope)
    while True:
        cell = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        cell = min(cell, used - 2)
        y = points[order[cell], 0] + step * rng.random()
        value, log_t, log_u = evaluate_integrand(f, f_domain, g, g_domain, w, y)
        if rng.random() * envelope[cell] < math.exp(value - top):
            return log_t, log_u


@njit(cache=True, nogil=True)
def simplex_draws(f, f_domain, g, g_domain, share, draws, rng):
    """Independent draws of alpha, along the Markov chain S_R = 1, S_{R-1}, ..., S_1."""
    states = share.size
    together = np.cumsum(share)
    out = np.empty((draws, states))
    buffer = np.empty((256, 5))
    for draw in range(draws):
        w = 0.0
        for j in range(states - 1, 0, -1):
            guess = math.log(share[j] / together[j - 1])
            buffer, used, step, _, _, _ = march(
                f[j], f_domain[j], g[j - 1], g_domain[j - 1], w, guess, 0.3, buffer
            )
            log_t, log_u = _draw_place(
                buffer, used, step, f[j], f_domain[j], g[j - 1], g_domain[j - 1], w, rng
            )
            out[draw, j] = math.exp(w + log_t)
            w += log_u
        out[draw, 0] = math.exp(w)
    return out

"""ln Z and the mean of alpha at many strengths s at once, for any counts (docs/exact.md).

With u_x = s alpha_x the integral over alpha at strength s is, up to a power of s, a convolution,

    Z(s) = s^(1 - A0) H(s),    H = phi_1 * ... * phi_R,
    phi_x(u) = u^(alpha0_x - 1) prod_y Gamma(u + n[y,x]) / (Gamma(u) Gamma(n[y,x])),

and no phi_x depends on s. So the curves ln phi_x and those of the partial convolutions G_j are made
once, over ranges of ln u that serve all strengths; only the last convolution is done for each of
them. The method is that of `simplex` (trapezoidal rule in the logit, curves of ln u on panels,
means along the Markov chain of partial sums) with the steps that eight digits need.

A table is that of `rates`. A domain has 5 numbers: lowest w = ln u, panels per unit of w, number of
panels, and the slopes below and above, where the curve goes on as a straight line. A curve is
``[panel, NODES]``: for each panel the coefficients of a polynomial on (-1, 1).
"""

import math

import numpy as np

from colonnade.kernels.compiled import part
from colonnade.kernels.panels import log_logistic
from colonnade.kernels.rates import log_phi, settle, tables

NODES = 12
_WIDEST_PANEL = 1.0
_WIDEST_PANEL_OF_PHI = 1.6  # which is analytic farther from the real line; unless cells are many
_MAX_STEP = 0.5  # of the trapezoidal rule in the logit: error exp(-pi^2 / step), a few 1e-8
_MAX_STEP_IN_WIDTHS = 0.68
_NEGLIGIBLE = 19.0  # nats below the peak
_FAR = 6.5  # the same in standard deviations
_MAX_ODDS = 1e280
LOW, DENSITY, PANELS, SLOPE_BELOW, SLOPE_ABOVE = range(5)


def _interpolation():
    """Chebyshev nodes, ascending, and the matrix from values there to powers."""
    nodes = -np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    powers = np.zeros((NODES, NODES))
    for k in range(NODES):
        values = np.cos(k * np.arccos(nodes)) * (1.0 if k == 0 else 2.0) / NODES
        series = np.polynomial.chebyshev.cheb2poly(np.eye(NODES)[k])
        powers[: series.size] += np.outer(series, values)
    return nodes, powers


_PLACES, _POWERS = _interpolation()


@part
def _reach(table, s, a, u, f_range, g_range):
    """Widen the ranges of ln u that the curves must cover, for one s: see `domains.domains`."""
    start, counts, times, alpha0, _, _ = table
    size = alpha0.size
    power = np.empty(size)
    precision = np.empty(size)
    finest = 1.0
    together = 0.0
    for x in range(size):
        power[x] = alpha0[x]
        precision[x] = alpha0[x]
        small = 0.0
        for i in range(start[x], start[x + 1]):
            finest = min(finest, counts[i])
            power[x] += times[i] * min(counts[i], 1.0)
            if counts[i] < 1.0:
                # see `domains`: no more than the count can be relied on
                small += times[i] * counts[i]
        here = tables(table, x, u[x])
        rise = (tables(table, x, 1.01 * u[x]) - here) / 0.01
        precision[x] = max(alpha0[x] + max(here - rise, 0.0), 1e-3)
        if small > 0.0:
            precision[x] = alpha0[x] + min(precision[x] - alpha0[x], small)
        together += a[x]
    # Below this every phi is a pure power to eight digits.
    floor = math.log(finest) - 20.0
    low = math.log(s)
    high = low
    for j in range(size - 1, 0, -1):
        t = a[j] / together
        before = together - a[j]
        spread = 0.0
        behind = 0.0
        for x in range(j):
            spread += a[x] * a[x] / precision[x]
            behind += power[x]
        spread /= before * before
        width = 1.0 / math.sqrt((1.0 - t) ** 2 * precision[j] + t * t / spread)
        y = math.log(a[j] / before)
        left = y - _FAR * width - _NEGLIGIBLE / power[j]
        right = y + _FAR * width + _NEGLIGIBLE / behind
        most = t * (1.0 + _FAR / math.sqrt(precision[j]) + 1.1 * _NEGLIGIBLE / precision[j])
        if most < 1.0:
            right = min(right, math.log(most / (1.0 - most)))
        most = (1.0 - t) * (1.0 + _FAR * math.sqrt(spread) + 1.1 * _NEGLIGIBLE * spread)
        if most < 1.0:
            left = max(left, math.log((1.0 - most) / most))
        _include(f_range, j, low + log_logistic(left), high + log_logistic(right), floor)
        low, high = low + log_logistic(-right), high + log_logistic(-left)
        _include(g_range, j - 1, low, high, floor)
        together = before
    f_range[0, 0] = g_range[0, 0]
    f_range[0, 1] = g_range[0, 1]


@part
def _include(ranges, j, low, high, floor):
    ranges[j, 1] = max(ranges[j, 1], high)
    ranges[j, 0] = min(ranges[j, 0], max(low, min(floor, high - 1.0)))


@part
def _cut(ranges, widest):
    """Cut ranges into panels: the domains of the curves, without their slopes."""
    domains = np.zeros((ranges.shape[0], 5))
    for x in range(ranges.shape[0]):
        width = max(ranges[x, 1] - ranges[x, 0], 0.05)
        panels = math.ceil(width / widest)
        domains[x, LOW] = ranges[x, 0]
        domains[x, DENSITY] = panels / width
        domains[x, PANELS] = panels
    return domains


@part
def _place(domain, i):
    """ln u at node i of all panels."""
    return domain[LOW] + (i // NODES + 0.5 * (_PLACES[i % NODES] + 1.0)) / domain[DENSITY]


@part
def _fit(values, domain):
    """The curve through the values at all nodes; fills in the slopes of the domain."""
    panels = int(domain[PANELS])
    curve = np.empty((panels, NODES))
    for panel in range(panels):
        for k in range(NODES):
            value = 0.0
            for i in range(NODES):
                value += _POWERS[k, i] * values[panel * NODES + i]
            curve[panel, k] = value
    below = 0.0
    above = 0.0
    sign = 1.0
    for k in range(1, NODES):
        below += sign * k * curve[0, k]
        above += k * curve[panels - 1, k]
        sign = -sign
    domain[SLOPE_BELOW] = 2.0 * below * domain[DENSITY]
    domain[SLOPE_ABOVE] = 2.0 * above * domain[DENSITY]
    return curve


@part
def _fit_state(table, x, domain):
    """The curve ln phi_x."""
    values = np.empty(int(domain[PANELS]) * NODES)
    for i in range(values.size):
        values[i] = log_phi(table, x, math.exp(_place(domain, i)))
    curve = _fit(values, domain)
    domain[SLOPE_BELOW] = table[3][x] - 1.0 + tables(table, x, math.exp(domain[LOW]))
    return curve


@part
def _evaluate(curve, domain, w):
    """Value of a curve at w = ln u."""
    position = (w - domain[LOW]) * domain[DENSITY]
    panels = int(domain[PANELS])
    panel = min(max(int(position), 0), panels - 1)
    place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
    # Even and odd powers apart: two short chains of operations instead of a long one.
    square = place * place
    even = 0.0
    odd = 0.0
    for k in range(NODES - 2, -1, -2):
        even = even * square + curve[panel, k]
        odd = odd * square + curve[panel, k + 1]
    value = even + odd * place
    if position < 0.0:
        value += domain[SLOPE_BELOW] * position / domain[DENSITY]
    elif position > panels:
        value += domain[SLOPE_ABOVE] * (position - panels) / domain[DENSITY]
    return value


@part
def _integrand(pair, w, y, odds):
    """ln of phi(v t) G(v (1 - t)) v t (1 - t), and ln (1 - t).

    v = e^w, and y is the logit of t; `odds` is e^y.
    """
    f, f_domain, g, g_domain = pair
    log_rest = -math.log(1.0 + odds)
    log_t = y + log_rest
    value = _evaluate(f, f_domain, w + log_t) + _evaluate(g, g_domain, w + log_rest)
    return value + w + log_t + log_rest, log_rest


@part
def _peak(pair, w, y, width):
    """Place and width of the peak of the integrand, roughly, from a guess."""
    for _ in range(40):
        step = 0.5 * width
        here = _integrand(pair, w, y, math.exp(y))[0]
        right = _integrand(pair, w, y + step, math.exp(y + step))[0]
        left = _integrand(pair, w, y - step, math.exp(y - step))[0]
        bend = 2.0 * here - right - left
        slope = 0.5 * (right - left)
        if bend > 1e-9:
            fresh = min(step / math.sqrt(bend), 4.0 * width)
            move = min(max(slope / bend * step, -4.0 * width), 4.0 * width)
        else:
            fresh = 2.0 * width
            move = fresh if slope > 0.0 else -fresh
        near = abs(move) < 0.5 * fresh and 0.5 * width < fresh < 2.0 * width
        y += move
        width = min(fresh, 4.0)
        if near:
            break
    return y, width


@part
def _convolved(pair, w, y, width, finer, kept, out):
    """ln G_j(e^w) by the trapezoidal rule, from about the peak (y, width) to both sides.

    `out` receives it, the mean of t, the mean and variance of logit t, and the error of the rule.
    `kept`, if it has any room, receives the powers of the places of v (1 - t) on the panels of G,
    weighted by 1 - t.
    """
    g_domain = pair[3]
    step = finer * min(_MAX_STEP, _MAX_STEP_IN_WIDTHS * width)
    base = _integrand(pair, w, y, math.exp(y))[0]
    total = 0.0
    odd = 0.0
    mean = 0.0
    first = 0.0
    second = 0.0
    top = 0.0
    for direction in (1, -1):
        # The points on one side share one exponential.
        k = (1 - direction) // 2
        rise = math.exp(direction * step)
        odds = math.exp(y + direction * k * step)
        while odds < _MAX_ODDS:
            away = direction * k * step
            value, log_rest = _integrand(pair, w, y + away, odds)
            value -= base
            top = max(top, value)
            if value < top - _NEGLIGIBLE:
                break
            odds *= rise
            k += 1
            weight = math.exp(value)
            total += weight
            first += weight * away
            second += weight * away * away
            if k % 2 == 0:
                odd += weight
            if kept.size > 0:
                rest = math.exp(log_rest)
                mean += weight * (1.0 - rest)
                position = (w + log_rest - g_domain[LOW]) * g_domain[DENSITY]
                panel = min(max(int(position), 0), int(g_domain[PANELS]) - 1)
                place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
                weight *= rest
                for n in range(NODES):
                    kept[panel, n] += weight
                    weight *= place
    first /= total
    out[0] = base + math.log(step * total)
    out[1] = mean / total
    out[2] = y + first
    out[3] = second / total - first * first
    # With twice the step the error is the root of what it is, or larger: the peak is nearly normal
    # where its width decides on the step.
    out[4] = abs(1.0 - 2.0 * odd / total) ** (2.0 if step == finer * _MAX_STEP else 2.5)
    for panel in range(kept.shape[0]):
        for n in range(NODES):
            kept[panel, n] /= total


@part
def _level(pair, places, y, finer, means, values, own, chain):
    """One convolution at some places w, from a guess y of the first peak; returns the worst error.

    Fills in ln G_j and, if `means`, the mean share of state j in S_j and the matrix from a function
    of S_(j - 1), given at the nodes, to its expectation given S_j, weighted by S_(j - 1) / S_j.
    """
    worst = 0.0
    width = 0.5
    out = np.zeros(5)
    kept = np.zeros((int(pair[3][PANELS]) if means else 0, NODES))
    for i in range(places.size):
        if i == 0:
            y, width = _peak(pair, places[i], y, width)
        _convolved(pair, places[i], y, width, finer, kept, out)
        spread = math.sqrt(max(out[3], 0.0))
        if not 0.6 * width < spread < 1.7 * width and width < _MAX_STEP / _MAX_STEP_IN_WIDTHS:
            # The place before gave a poor guess.
            for panel in range(kept.shape[0]):
                for n in range(NODES):
                    kept[panel, n] = 0.0
            y, width = _peak(pair, places[i], out[2], width)
            _convolved(pair, places[i], y, width, finer, kept, out)
            spread = math.sqrt(max(out[3], 0.0))
        values[i] = out[0]
        own[i] = out[1]
        y = out[2]
        width = max(min(spread, 4.0), 1e-9)
        worst = max(worst, out[4])
        for panel in range(kept.shape[0]):
            if kept[panel, 0] > 0.0:
                for k in range(NODES):
                    for n in range(NODES):
                        chain[i, panel * NODES + n] += kept[panel, k] * _POWERS[k, n]
                    kept[panel, k] = 0.0
    return worst


@part
def convolved_evidence(table, log_s, a, u, finer, means):
    """ln Z at strengths in ascending order, the mean of alpha, and the error.

    The mean is given ``[s, state]``, for no s unless `means`. a and u are room for the variational
    posterior, and a a guess of its parameters. The steps of the rule are those of the module times
    `finer`.
    """
    alpha0 = table[3]
    size = alpha0.size
    ranges = np.empty((2, size, 2))
    for x in range(size):
        for i in range(2):
            ranges[i, x, 0] = math.inf
            ranges[i, x, 1] = -math.inf
    for k in (0, log_s.size - 1, log_s.size // 2):
        settle(table, math.exp(log_s[k]), a, u, 1e-2)
        _reach(table, math.exp(log_s[k]), a, u, ranges[0], ranges[1])
    cells = 0.0
    for k in range(table[2].size):
        cells += table[2][k]
    f_domains = _cut(ranges[0], _WIDEST_PANEL_OF_PHI if cells < 1000.0 else _WIDEST_PANEL)
    g_domains = _cut(ranges[1], _WIDEST_PANEL)
    room = log_s.size
    total = alpha0[0]
    for j in range(size - 1):
        room = max(room, int(g_domains[j, PANELS]) * NODES)
    for j in range(1, size):
        total += alpha0[j]
    g = _fit_state(table, 0, f_domains[0])
    g_domain = f_domains[0]
    before = a[0]
    values = np.empty(room)
    own = np.zeros((size, room))
    kept = room if means else 0
    chain = np.zeros((size, kept, kept))
    error = 0.0
    for j in range(1, size):
        last = j == size - 1
        places = log_s
        if not last:
            places = np.empty(int(g_domains[j, PANELS]) * NODES)
            for i in range(places.size):
                places[i] = _place(g_domains[j], i)
        pair = (_fit_state(table, j, f_domains[j]), f_domains[j], g, g_domain)
        guess = math.log(a[j] / before)
        error += _level(pair, places, guess, finer, means, values, own[j], chain[j])
        before += a[j]
        if not last:
            g_domain = g_domains[j]
            g = _fit(values, g_domain)
    for i in range(log_s.size):
        values[i] += (1.0 - total) * log_s[i]
    # What the rule leaves out at its ends, at every level.
    error += 3.0 * (size - 1) * math.exp(-_NEGLIGIBLE)
    return values[: log_s.size], _means(own, chain, log_s.size if means else 0), error


@part
def _means(own, chain, strengths):
    """Means of alpha ``[s, state]``, along the chain of partial sums from the last to the first."""
    size, room = own.shape
    mean = np.zeros((strengths, size))
    law = np.zeros(room)
    fresh = np.zeros(room)
    for i in range(strengths):
        mean[i, size - 1] = own[size - 1, i]
        for n in range(room):
            law[n] = chain[size - 1, i, n]
        for j in range(size - 2, 0, -1):
            value = 0.0
            for n in range(room):
                fresh[n] = 0.0
            for n in range(room):
                if law[n] != 0.0:
                    value += law[n] * own[j, n]
                    for k in range(room):
                        fresh[k] += law[n] * chain[j, n, k]
            mean[i, j] = value
            law, fresh = fresh, law
        rest = 1.0
        for j in range(1, size):
            rest -= mean[i, j]
        mean[i, 0] = rest
    return mean

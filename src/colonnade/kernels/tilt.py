"""The variational fixed point (mathematics: docs/model.md, "Variational Bayes").

It is an engine of its own, the exact engines put their windows around it, and its bound says where
the posterior of a learned ln s has its mass: the exact engines work there only. `states` is a
:class:`~colonnade.kernels.states.States` throughout.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import digamma, digamma_rise, expected_tables, minus_log_beta


@njit(cache=True, nogil=True)
def log_weight(states, x, u):
    """Sum over configurations of -ln B(u, n) = lnGamma(u + n) - lnGamma(u) - lnGamma(n)."""
    start, counts, times, _ = states
    value = 0.0
    for i in range(start[x], start[x + 1]):
        value += times[i] * minus_log_beta(u, counts[i])
    return value


@njit(cache=True, nogil=True)
def rates(a, s):
    """u = s exp(E[ln alpha]) under Dirichlet(a)."""
    total = digamma(a.sum())
    u = np.empty(a.size)
    for x in range(a.size):
        # Tiny alpha0 and counts far below one would give zero, of which no logarithm exists.
        u[x] = max(s * math.exp(digamma(a[x]) - total), 1e-300)
    return u


@njit(cache=True, nogil=True)
def lower_bound(states, s, u):
    """The variational lower bound of ln Z at rates u, and the expected tables there.

    ln Gamma(s a + n)/Gamma(s a) is convex in ln a, so it lies above its tangent at s a = u; the
    tangents make the integral over alpha a Dirichlet normaliser. Z carries the constants of
    `log_weight` and the prior's normaliser is left out.
    """
    start, counts, times, alpha0 = states
    bound = 0.0
    total = 0.0
    tables = np.zeros(alpha0.size)
    for x in range(alpha0.size):
        for i in range(start[x], start[x + 1]):
            tables[x] += times[i] * expected_tables(u[x], counts[i])
        if tables[x] > 0.0:
            bound += log_weight(states, x, u[x]) - tables[x] * math.log(u[x] / s)
        bound += math.lgamma(alpha0[x] + tables[x])
        total += alpha0[x] + tables[x]
    return bound - math.lgamma(total), tables


@njit(cache=True, nogil=True)
def fixed_point(states, s, tolerance, limit):
    """Iterate u = s exp(psi(a) - psi(sum a)), m = expected tables at u, a = alpha0 + m.

    Returns a and the rates u that belong to it, the number of iterations and the last relative
    change. The pair (a, u) is consistent whether or not the iteration has converged: the exact
    engines rely on that.
    """
    start, counts, times, alpha0 = states
    a = alpha0.copy()
    for x in range(alpha0.size):
        for i in range(start[x], start[x + 1]):
            # Between one table per cell (s -> 0) and one per observation (s -> infinity).
            a[x] += times[i] * min(counts[i], 1.0 + s * math.log1p(counts[i] / s) / alpha0.size)
    change = math.inf
    iterations = 0
    while iterations < limit and change > tolerance:
        iterations += 1
        u = rates(a, s)
        change = 0.0
        for x in range(alpha0.size):
            tables = alpha0[x]
            for i in range(start[x], start[x + 1]):
                tables += times[i] * expected_tables(u[x], counts[i])
            change = max(change, abs(tables - a[x]) / a[x])
            a[x] = tables
    return a, rates(a, s), iterations, change


@njit(cache=True, nogil=True)
def monitored_fixed_point(states, s, tolerance, limit):
    """The same from the prior: a, the bound after every iteration and the last relative change."""
    alpha0 = states.alpha0
    a = alpha0.copy()
    bounds = np.empty(16)
    used = 0
    change = math.inf
    while used < limit and change > tolerance:
        bound, tables = lower_bound(states, s, rates(a, s))
        change = 0.0
        for x in range(alpha0.size):
            fresh = alpha0[x] + tables[x]
            change = max(change, abs(fresh - a[x]) / a[x])
            a[x] = fresh
        if used == bounds.size:
            bounds = np.append(bounds, np.empty(used))
        bounds[used] = bound
        used += 1
    return a, bounds[:used].copy(), change


@njit(cache=True, nogil=True)
def _strength_slope(states, row_count, row_times, shape, mean, y):
    """Derivative in y = ln s of the bound plus the log density of ln s under its Gamma prior.

    d ln p(D | s) / d ln s is the expected number of tables less what s alone would lead one to
    expect. `row_count` and `row_times` are the distinct row totals and how many configurations have
    each; `shape` and `mean` are those of the Gamma prior of s.
    """
    s = math.exp(y)
    a, _, _, _ = fixed_point(states, s, 1e-4, 200)
    slope = a.sum() - states.alpha0.sum() + shape * (1.0 - s / mean)
    for i in range(row_count.size):
        slope -= row_times[i] * s * digamma_rise(s, row_count[i])
    return slope


@njit(cache=True, nogil=True)
def strength_peak(states, row_count, row_times, shape, mean):
    """Mode of ln s and the standard deviation that the curvature there suggests."""
    y = math.log(mean)
    step = 1.0
    here = _strength_slope(states, row_count, row_times, shape, mean, y)
    direction = 1.0 if here > 0.0 else -1.0
    low = y
    high = y
    # The prior bounds the mode on both sides.
    for _ in range(60):
        y += direction * step
        there = _strength_slope(states, row_count, row_times, shape, mean, y)
        low = min(y, y - direction * step)
        high = max(y, y - direction * step)
        if there * direction <= 0.0:
            break
        step *= 1.5
    for _ in range(12):
        y = 0.5 * (low + high)
        if high - low < 0.02:
            break
        if _strength_slope(states, row_count, row_times, shape, mean, y) > 0.0:
            low = y
        else:
            high = y
    gap = 0.1
    right = _strength_slope(states, row_count, row_times, shape, mean, y + gap)
    left = _strength_slope(states, row_count, row_times, shape, mean, y - gap)
    curvature = max((left - right) / (2.0 * gap), 0.5)
    return y, 1.0 / math.sqrt(curvature)

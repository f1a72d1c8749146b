"""The variational fixed point (mathematics: docs/model.md, "Variational Bayes").

It is an engine of its own and the place where the exact engines put their windows.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import digamma, expected_tables, minus_log_beta


@njit(cache=True, nogil=True)
def log_weight(start, count, times, x, u):
    """Sum over configurations of -ln B(u, n).

    ln prod Gamma(u + n)/Gamma(u) less the constant sum of lnGamma(n).
    """
    value = 0.0
    for i in range(start[x], start[x + 1]):
        value += times[i] * minus_log_beta(u, count[i])
    return value


@njit(cache=True, nogil=True)
def rates(a, s):
    """u = s exp(E[ln alpha]) under Dirichlet(a)."""
    total = digamma(a.sum())
    u = np.empty(a.size)
    for x in range(a.size):
        # a rate of zero would be no rate: tiny alpha0 and counts far below one come near it
        u[x] = max(s * math.exp(digamma(a[x]) - total), 1e-300)
    return u


@njit(cache=True, nogil=True)
def lower_bound(start, count, times, alpha0, s, u):
    """The variational lower bound of ln Z at rates u, and the expected tables there.

    ln Gamma(s a + n)/Gamma(s a) is convex in ln a, so it lies above its tangent at s a = u; the
    tangents make the integral over alpha a Dirichlet normaliser. Z carries the constants of
    `log_weight` and the prior's normaliser is left out.
    """
    states = alpha0.size
    bound = 0.0
    total = 0.0
    tables = np.zeros(states)
    for x in range(states):
        for i in range(start[x], start[x + 1]):
            tables[x] += times[i] * expected_tables(u[x], count[i])
        if tables[x] > 0.0:
            bound += log_weight(start, count, times, x, u[x]) - tables[x] * math.log(u[x] / s)
        bound += math.lgamma(alpha0[x] + tables[x])
        total += alpha0[x] + tables[x]
    return bound - math.lgamma(total), tables


@njit(cache=True, nogil=True)
def fixed_point(start, count, times, alpha0, s, tolerance, limit):
    """Iterate u = s exp(psi(a) - psi(sum a)), m = expected tables at u, a = alpha0 + m.

    Returns a and the rates u that belong to it, the number of iterations and the last relative
    change. The pair (a, u) is consistent whether or not the iteration has converged: the exact
    engines rely on that.
    """
    states = alpha0.size
    a = alpha0.copy()
    for x in range(states):
        for i in range(start[x], start[x + 1]):
            # between one table a cell (s -> 0) and one table an observation (s -> infinity)
            a[x] += times[i] * min(count[i], 1.0 + s * math.log1p(count[i] / s) / states)
    change = math.inf
    iterations = 0
    while iterations < limit and change > tolerance:
        iterations += 1
        u = rates(a, s)
        change = 0.0
        for x in range(states):
            tables = alpha0[x]
            for i in range(start[x], start[x + 1]):
                tables += times[i] * expected_tables(u[x], count[i])
            change = max(change, abs(tables - a[x]) / a[x])
            a[x] = tables
    return a, rates(a, s), iterations, change


@njit(cache=True, nogil=True)
def monitored_fixed_point(start, count, times, alpha0, s, tolerance, limit):
    """The same from the prior, with the bound after every iteration.

    (a, bounds, last relative change).
    """
    a = alpha0.copy()
    bounds = np.empty(16)
    used = 0
    change = math.inf
    while used < limit and change > tolerance:
        bound, tables = lower_bound(start, count, times, alpha0, s, rates(a, s))
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

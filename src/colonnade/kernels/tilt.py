"""The variational fixed point (mathematics: docs/model.md, "Variational Bayes").

It is an engine of its own, the exact engines put their windows around it, and its bound says where
the posterior of a learned ln s has its mass: the exact engines work there only. Functions
for Python take `states`, a :class:`~colonnade.kernels.states.States`, and kernels its arrays.
"""

import math

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.special import digamma, digamma_rise, expected_tables, minus_log_beta
from colonnade.kernels.states import States


@part
def log_weight(start, counts, times, x, u):
    """Sum over configurations of -ln B(u, n) = lnGamma(u + n) - lnGamma(u) - lnGamma(n)."""
    value = 0.0
    for i in range(start[x], start[x + 1]):
        value += times[i] * minus_log_beta(u, counts[i])
    return value


@part
def total_of(a):
    """Sum of an array."""
    total = 0.0
    for x in range(a.size):
        total += a[x]
    return total


@part
def _fill_rates(a, s, u):
    """u = s exp(E[ln alpha]) under Dirichlet(a)."""
    total = digamma(total_of(a))
    for x in range(a.size):
        rate = s * math.exp(digamma(a[x]) - total)
        # Tiny alpha0 and counts far below one would give zero, of which no logarithm exists.
        u[x] = rate if rate > 1e-300 else 1e-300


def fixed_point(
    states: States, s: float, tolerance: float, limit: int
) -> tuple[Floats, Floats, int, float]:
    """Iterate u = s exp(psi(a) - psi(sum a)), m = expected tables at u, a = alpha0 + m.

    Returns a and the rates u that belong to it, the number of iterations and the last relative
    change. The pair (a, u) is consistent whether or not the iteration has converged: the exact
    engines rely on that.
    """
    start, counts, times, alpha0 = states
    a, u = np.empty(alpha0.size), np.empty(alpha0.size)
    iterations, change = _settle(start, counts, times, alpha0, s, tolerance, limit, a, u)
    return a, u, iterations, change


@entry
def _settle(start, counts, times, alpha0, s, tolerance, limit, a, u):
    """Fill in a and u; return the number of iterations and the last relative change."""
    for x in range(alpha0.size):
        a[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            # Between one table per cell (s -> 0) and one per observation (s -> infinity).
            most = 1.0 + s * math.log1p(counts[i] / s) / alpha0.size
            a[x] += times[i] * (counts[i] if counts[i] < most else most)
    change = math.inf
    iterations = 0
    while True:
        _fill_rates(a, s, u)
        if iterations >= limit or change <= tolerance:
            break
        iterations += 1
        change = 0.0
        for x in range(alpha0.size):
            tables = alpha0[x]
            for i in range(start[x], start[x + 1]):
                tables += times[i] * expected_tables(u[x], counts[i])
            moved = abs(tables - a[x]) / a[x]
            if moved > change:
                change = moved
            a[x] = tables
    return iterations, change


def monitored_fixed_point(
    states: States, s: float, tolerance: float, limit: int
) -> tuple[Floats, Floats, float]:
    """The same from the prior: a, the bound after every iteration and the last relative change."""
    start, counts, times, alpha0 = states
    a, room = alpha0.copy(), np.empty((2, alpha0.size))
    bounds: list[float] = []
    change = math.inf
    while len(bounds) < limit and change > tolerance:
        more = np.empty(min(1024, limit - len(bounds)))
        used, change = _climb(start, counts, times, alpha0, s, tolerance, a, room, more)
        bounds += more[:used].tolist()
    return a, np.array(bounds), change


@entry
def _climb(start, counts, times, alpha0, s, tolerance, a, room, bounds):
    """Iterate as long as there is room for bounds; return their number and the relative change.

    ln Gamma(s a + n)/Gamma(s a) is convex in ln a, so it lies above its tangent at s a = u; the
    tangents make the integral over alpha a Dirichlet normaliser, and with it the variational lower
    bound of ln Z at rates u. Z carries the constants of `log_weight` and the prior's normaliser is
    left out.
    """
    u, tables = room[0], room[1]
    change = math.inf
    used = 0
    while used < bounds.size and change > tolerance:
        _fill_rates(a, s, u)
        bound = 0.0
        total = 0.0
        for x in range(alpha0.size):
            tables[x] = 0.0
            for i in range(start[x], start[x + 1]):
                tables[x] += times[i] * expected_tables(u[x], counts[i])
            if tables[x] > 0.0:
                weight = log_weight(start, counts, times, x, u[x])
                bound += weight - tables[x] * math.log(u[x] / s)
            bound += math.lgamma(alpha0[x] + tables[x])
            total += alpha0[x] + tables[x]
        bounds[used] = bound - math.lgamma(total)
        used += 1
        change = 0.0
        for x in range(alpha0.size):
            fresh = alpha0[x] + tables[x]
            moved = abs(fresh - a[x]) / a[x]
            if moved > change:
                change = moved
            a[x] = fresh
    return used, change


def strength_peak(
    states: States, row_count: Floats, row_times: Floats, shape: float, mean: float
) -> tuple[float, float]:
    """Mode of ln s and the standard deviation that the curvature there suggests.

    `row_count` and `row_times` are the distinct row totals and how many configurations have each;
    `shape` and `mean` are those of the Gamma prior of s.
    """

    def slope(y: float) -> float:
        return strength_slope(states, row_count, row_times, shape, mean, y)

    y = math.log(mean)
    step = 1.0
    direction = 1.0 if slope(y) > 0.0 else -1.0
    low = y
    high = y
    # The prior bounds the mode on both sides.
    for _ in range(60):
        y += direction * step
        there = slope(y)
        low = min(y, y - direction * step)
        high = max(y, y - direction * step)
        if there * direction <= 0.0:
            break
        step *= 1.5
    for _ in range(12):
        y = 0.5 * (low + high)
        if high - low < 0.02:
            break
        if slope(y) > 0.0:
            low = y
        else:
            high = y
    gap = 0.1
    curvature = max((slope(y - gap) - slope(y + gap)) / (2.0 * gap), 0.5)
    return y, 1.0 / math.sqrt(curvature)


def strength_slope(
    states: States, row_count: Floats, row_times: Floats, shape: float, mean: float, y: float
) -> float:
    """Slope of the log posterior density of ln s at y, by the variational bound."""
    room = np.empty((2, states.alpha0.size))
    rows = row_count, row_times
    return float(_strength_slope(*states, *rows, shape, mean, y, room, 200))


@entry
def _strength_slope(
    start, counts, times, alpha0, row_count, row_times, shape, mean, y, room, limit
):
    """Derivative in y = ln s of the bound plus the log density of ln s under its Gamma prior.

    d ln p(D | s) / d ln s is the expected number of tables less what s alone would lead one to
    expect.
    """
    s = math.exp(y)
    a, u = room[0], room[1]
    _settle(start, counts, times, alpha0, s, 1e-4, limit, a, u)
    slope = total_of(a) - total_of(alpha0) + shape * (1.0 - s / mean)
    for i in range(row_count.size):
        slope -= row_times[i] * s * digamma_rise(s, row_count[i])
    return slope

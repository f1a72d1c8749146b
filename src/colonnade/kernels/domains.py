"""Where the curves of `simplex` are needed: ranges of ln v that hold all but negligible mass.

`states` is a :class:`~colonnade.kernels.states.States`; a and u are parameters and rates of the
variational posterior; the layout of a domain is that of `panels`.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.panels import LOW, PANELS, WIDTH, log_logistic
from colonnade.kernels.special import expected_tables, variance_tables


@njit(cache=True, nogil=True)
def domains(states, s, a, u):
    """Shares of alpha, and the domains ``[state, 5]`` of ln f_x and of ln G_j.

    From S_R = 1 downwards: S_{j-1} = S_j (1 - t) and alpha_j = S_j t, with t around share_j /
    (share_1 + ... + share_j). The integrand in logit t is Gaussian near its peak, then falls with
    the slopes of f and G at zero (their powers); or, for a small t, like a gamma density. Fifty
    nats of either are covered.
    """
    share = a / a.sum()
    size = share.size
    power, precision, floor = _powers(states, s, u)
    together = np.cumsum(share)
    f_domain = np.zeros((size, 5))
    g_domain = np.zeros((size, 5))
    low = 0.0
    high = 0.0
    for j in range(size - 1, 0, -1):
        spread = 0.0
        behind = 0.0
        for x in range(j):
            spread += share[x] * share[x] / precision[x]
            behind += power[x]
        left, right = _logits(share[j], together[j - 1], precision[j], power[j], spread, behind)
        _set_domain(f_domain[j], low + log_logistic(left), high + log_logistic(right), floor)
        low, high = low + log_logistic(-right), high + log_logistic(-left)
        low, high = _set_domain(g_domain[j - 1], low, high, floor)
    f_domain[0] = g_domain[0]
    return share, f_domain, g_domain


@njit(cache=True, nogil=True)
def domains_of_others(states, s, a, u):
    """For each state the domain ``[state, 5]`` of all others together."""
    share = a / a.sum()
    power, precision, floor = _powers(states, s, u)
    domain = np.zeros((share.size, 5))
    for x in range(share.size):
        others = 0.0
        spread = 0.0
        behind = 0.0
        for z in range(share.size):
            if z != x:
                others += share[z]
                spread += share[z] * share[z] / precision[z]
                behind += power[z]
        left, right = _logits(share[x], others, precision[x], power[x], spread, behind)
        _set_domain(domain[x], log_logistic(-right), log_logistic(-left), floor)
    return domain


@njit(cache=True, nogil=True)
def _powers(states, s, u):
    """Slope of f at zero, and its curvature, for each state; and where all are pure powers."""
    start, counts, times, alpha0 = states
    power = np.empty(alpha0.size)
    precision = np.empty(alpha0.size)
    finest = 1.0
    for x in range(alpha0.size):
        power[x] = alpha0[x]
        precision[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            finest = min(finest, counts[i])
            if counts[i] < 1.0:
                # Such a count makes a table only if s alpha is smaller than the count itself: no
                # more than the count can be relied on for slope and curvature.
                power[x] += times[i] * counts[i]
                precision[x] += times[i] * counts[i]
            else:
                tables = expected_tables(u[x], counts[i]) - variance_tables(u[x], counts[i])
                power[x] += times[i]
                precision[x] += times[i] * tables
        precision[x] = max(precision[x], 1e-9)
    return power, precision, -38.0 - math.log(max(s, 1.0) / finest)


@njit(cache=True, nogil=True)
def _logits(share, others, precision, power, spread, behind):
    """Range of the logit of t = alpha_j / S_j: the share of a state beside that of others.

    Of the state its precision and its power; of the others the sum of their squared deviations and
    that of their powers.
    """
    t = share / (share + others)
    spread = spread / (others * others)
    width = 1.0 / math.sqrt((1.0 - t) ** 2 * precision + t * t / spread)
    y = math.log(share / others)
    left = y - 14.0 * width - 52.0 / power
    right = y + 14.0 * width + 52.0 / behind
    most = t * (1.0 + 14.0 / math.sqrt(precision) + 55.0 / precision)
    if most < 1.0:
        right = min(right, math.log(most / (1.0 - most)))
    most = (1.0 - t) * (1.0 + 14.0 * math.sqrt(spread) + 55.0 * spread)
    if most < 1.0:
        left = max(left, math.log((1.0 - most) / most))
    return left, right


@njit(cache=True, nogil=True)
def _set_domain(domain, low, high, floor):
    """Cut the range into panels; the slopes are filled in when the curve is fitted."""
    high = min(high, 0.0)
    low = min(max(low, min(floor, high - 1.0)), high - 0.05)
    panels = math.ceil(high - low)
    domain[LOW] = low
    domain[WIDTH] = (high - low) / panels
    domain[PANELS] = panels
    return low, high

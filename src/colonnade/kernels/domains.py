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
    start, counts, times, alpha0 = states
    size = alpha0.size
    share = a / a.sum()
    power = np.empty(size)
    precision = np.empty(size)
    finest = 1.0
    for x in range(size):
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
    # Below this every f is a pure power to the last digit.
    floor = -38.0 - math.log(max(s, 1.0) / finest)
    together = np.cumsum(share)
    f_domain = np.zeros((size, 5))
    g_domain = np.zeros((size, 5))
    low = 0.0
    high = 0.0
    for j in range(size - 1, 0, -1):
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
        _set_domain(f_domain[j], low + log_logistic(left), high + log_logistic(right), floor)
        low, high = low + log_logistic(-right), high + log_logistic(-left)
        low, high = _set_domain(g_domain[j - 1], low, high, floor)
    f_domain[0] = g_domain[0]
    return share, f_domain, g_domain


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

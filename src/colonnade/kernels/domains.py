"""Where the curves of `simplex` are needed: ranges of ln v that hold all but negligible mass.

`states` is a :class:`~colonnade.kernels.states.States`; a and u are parameters and rates of the
variational posterior; the layout of a domain is that of `panels`.
"""

import math

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry
from colonnade.kernels.panels import LOW, PANELS, WIDTH
from colonnade.kernels.special import expected_tables, variance_tables
from colonnade.kernels.states import States


def domains(states: States, s: float, a: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of alpha, and the domains ``[state, 5]`` of ln f_x and of ln G_j.

    From S_R = 1 downwards: S_{j-1} = S_j (1 - t) and alpha_j = S_j t, with t around share_j /
    (share_1 + ... + share_j).
    """
    share = a / a.sum()
    power, precision, floor = _powers(states, s, u)
    spread = np.cumsum(share * share / precision)[:-1]
    left, right = _logits(
        *(share[1:], np.cumsum(share)[:-1], precision[1:], power[1:]),
        *(spread, np.cumsum(power)[:-1]),
    )
    # Of ln t and ln (1 - t), at both ends.
    part, rest = ((-np.logaddexp(0.0, y)).tolist() for y in ((-left, -right), (right, left)))
    f_domain, g_domain = np.zeros((2, a.size, 5))
    low = high = 0.0
    for j in range(a.size - 1, 0, -1):
        _set_domain(f_domain[j], low + part[0][j - 1], high + part[1][j - 1], floor)
        low, high = low + rest[0][j - 1], high + rest[1][j - 1]
        low, high = _set_domain(g_domain[j - 1], low, high, floor)
    f_domain[0] = g_domain[0]
    return share, f_domain, g_domain


def domains_of_others(states: States, s: float, a: Floats, u: Floats) -> Floats:
    """For each state the domain ``[state, 5]`` of all others together."""
    share = a / a.sum()
    power, precision, floor = _powers(states, s, u)
    others, spread, behind = (
        np.where(np.eye(a.size, dtype=bool), 0.0, each).sum(axis=1)
        for each in (share, share * share / precision, power)
    )
    left, right = _logits(share, others, precision, power, spread, behind)
    domain = np.zeros((a.size, 5))
    low, high = (-np.logaddexp(0.0, y) for y in (right, left))
    for x in range(a.size):
        _set_domain(domain[x], float(low[x]), float(high[x]), floor)
    return domain


def _powers(states: States, s: float, u: Floats) -> tuple[Floats, Floats, float]:
    """Slope of f at zero, and its curvature, for each state; and where all are pure powers."""
    start, counts, times, alpha0 = states
    power, precision = np.empty((2, alpha0.size))
    _fill_powers(start, counts, times, alpha0, u, power, precision)
    finest = min(counts.min(initial=1.0), 1.0)
    # Below this every f is a pure power to the last digit.
    return power, precision, -38.0 - math.log(max(s, 1.0) / finest)


@entry
def _fill_powers(start, counts, times, alpha0, u, power, precision):
    for x in range(alpha0.size):
        power[x] = alpha0[x]
        precision[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            n = counts[i]
            if n < 1.0:
                # Such a count makes a table only if s alpha is smaller than the count itself: no
                # more than the count can be relied on for slope and curvature.
                power[x] += times[i] * n
                precision[x] += times[i] * n
            else:
                tables = expected_tables(u[x], n) - variance_tables(u[x], n)
                power[x] += times[i]
                precision[x] += times[i] * tables
        if precision[x] < 1e-9:
            precision[x] = 1e-9


def _logits(
    share: Floats, others: Floats, precision: Floats, power: Floats, spread: Floats, behind: Floats
) -> tuple[Floats, Floats]:
    """Range of the logit of t = alpha_j / S_j: the share of a state beside that of others.

    Of the state its precision and its power; of the others the sum of their squared deviations and
    that of their powers. The integrand in logit t is Gaussian near its peak, then falls with the
    slopes of f and G at zero (their powers); or, for a small t, like a gamma density. Fifty nats of
    either are covered.
    """
    t = share / (share + others)
    spread = spread / (others * others)
    width = 1.0 / np.sqrt((1.0 - t) ** 2 * precision + t * t / spread)
    y = np.log(share / others)
    right = y + 14.0 * width + 52.0 / behind
    left = y - 14.0 * width - 52.0 / power
    most = t * (1.0 + 14.0 / np.sqrt(precision) + 55.0 / precision)
    right = np.where(most < 1.0, np.minimum(right, _logit(most)), right)
    most = (1.0 - t) * (1.0 + 14.0 * np.sqrt(spread) + 55.0 * spread)
    return np.where(most < 1.0, np.maximum(left, -_logit(most)), left), right


def _logit(p: Floats) -> Floats:
    """Logit of numbers; of those that are no probability that of a half."""
    p = np.where(p < 1.0, p, 0.5)
    return np.asarray(np.log(p / (1.0 - p)))


def _set_domain(domain: Floats, low: float, high: float, floor: float) -> tuple[float, float]:
    """Cut the range into panels; the slopes are filled in when the curve is fitted."""
    high = min(high, 0.0)
    low = min(max(low, min(floor, high - 1.0)), high - 0.05)
    panels = math.ceil(high - low)
    domain[LOW] = low
    domain[WIDTH] = (high - low) / panels
    domain[PANELS] = panels
    return low, high

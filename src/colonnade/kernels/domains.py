"""Where the curves of `simplex` are needed: ranges of ln v that hold all but negligible mass.

`states` is a :class:`~colonnade.kernels.states.States`; a and u are parameters and rates of the
variational posterior; the layout of a domain is that of `panels`.
"""

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry
from colonnade.kernels.panels import LOW, PANELS, WIDTH
from colonnade.kernels.special import expected_tables, variance_tables
from colonnade.kernels.states import States

# The width of a panel in ln v, at most: wider if there are few observations. What the polynomial
# of a panel leaves out is a share of the curve, and the curve is a sum over observations.
_WIDTH, _WIDTH_OF_FEW = 1.0, 1.25
_FEW_OBSERVATIONS = 200.0


class Ranges(NamedTuple):
    """Where the mass is: ranges of logarithms, ``[2, state]`` each.

    Of alpha_x, of S_j (but not the last), and of the sum of all states but one. Below `floor` every
    f is a pure power to the last digit.
    """

    share: Floats
    f: Floats
    g: Floats
    others: Floats
    floor: float


def ranges(states: States, s: float, a: Floats, u: Floats) -> Ranges:
    """Ranges of alpha_x and of S_j = alpha_1 + ... + alpha_j, each by itself."""
    share = a / a.sum()
    power, precision, floor = _powers(states, s, u)
    own = np.stack(_logits_alone(share, power, precision))
    each = np.stack([share, power, share * share / precision])
    before, after = np.cumsum(each, axis=1)[:, :-1], np.cumsum(each[:, :0:-1], axis=1)[:, ::-1]
    both = _logits(before[0], after[0], before[0] ** 2 / before[2], before[1], *after[:0:-1])
    f, g, others = (-np.logaddexp(0.0, -logits) for logits in (own, np.stack(both), -own[::-1]))
    return Ranges(share, f, g, others, floor)


def domains(states: States, s: float, a: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of alpha, and the domains ``[state, 5]`` of ln f_x and of ln G_j.

    Each is the range of alpha_x or of S_j by itself. A sum that is unlikely need not be right in
    all digits, nor the earlier sums that make it up; but the nodes of one panel have to be right
    together, so there is a panel to spare at both ends.
    """
    widest = _widest(states)
    share, f, g, _, floor = ranges(states, s, a, u)
    g_domain = np.zeros((a.size, 5))
    g_domain[:-1] = _cut(*g, floor, widest)
    return share, _cut(*f, floor, widest), g_domain


def spreads(states: States, share: Floats, u: Floats) -> Floats:
    """Roughly the squared deviation of each alpha, if their sum were free."""
    _, precision, _ = _powers(states, 1.0, u)
    return np.asarray(share * share / precision)


def domains_of_others(states: States, s: float, a: Floats, u: Floats) -> Floats:
    """For each state the domain ``[state, 5]`` of all others together."""
    found = ranges(states, s, a, u)
    return _cut(*found.others, found.floor, _widest(states))


def _logits_alone(share: Floats, power: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Range of the logit of each alpha."""
    others, spread, behind = (
        np.where(np.eye(share.size, dtype=bool), 0.0, each).sum(axis=1)
        for each in (share, share * share / precision, power)
    )
    return _logits(share, others, precision, power, spread, behind)


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
    """Range of the logit of the share of some states beside that of all others.

    Of the former their precision and their power; of the others the sum of their squared deviations
    and that of their powers. The density of the logit is Gaussian near its peak, then falls with
    the slopes of f and G at zero (their powers); or, for a small share, like a gamma density. Fifty
    nats of either are covered.
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


def _widest(states: States) -> float:
    observations = float(states.counts @ states.times)
    return _WIDTH_OF_FEW if observations < _FEW_OBSERVATIONS else _WIDTH


def _cut(low: Floats, high: Floats, floor: float, widest: float) -> Floats:
    """Cut ranges into panels; the slopes are filled in when the curve is fitted.

    Each domain goes on for a panel beyond both ends of its range, if there is more.
    """
    high = np.minimum(high + widest, 0.0)
    low = np.maximum(low - widest, np.minimum(floor, high - widest))
    domains = np.zeros((low.size, 5))
    domains[:, LOW] = low
    domains[:, PANELS] = np.ceil((high - low) / widest)
    domains[:, WIDTH] = (high - low) / domains[:, PANELS]
    return domains

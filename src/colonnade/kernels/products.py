"""ln Z and the mean of alpha at many strengths s at once, for few whole counts (docs/exact.md).

The weight of m_x tables of each state depends on s only through their number M (see `lattice`):

    Z(s) = sum_M W[M] s^M / Gamma(M + A0),    W = w_1 * ... * w_R,
    w_x[m] = c_x[m] Gamma(m + alpha0_x),

so the convolution is done once for all s. A table is that of `rates`.
"""

import math

import numpy as np

from colonnade.kernels.compiled import part
from colonnade.kernels.rates import log_phi, settle
from colonnade.kernels.special import digamma

_UNDERFLOW = 1e-280
# Numbers of tables of less weight, relative to the most likely one, are left out.
_NEGLIGIBLE_WEIGHT = 1e-16
_NEGLIGIBLE, _FAR = 35.0, 20.0  # nats below the peak


@part
def _successes(table, x, u):
    """Probabilities of the number of tables of one state beyond one per cell: see `trials`."""
    start, counts, times, _, _, _ = table
    size = 2
    for i in range(start[x], start[x + 1]):
        size += int(times[i] * (counts[i] - 1.0))
    here = np.zeros(size)
    fresh = np.zeros(size)
    here[0] = 1.0
    high = 1
    nu = 1
    for i in range(start[x], start[x + 1]):
        trials = 0.0
        for k in range(i, start[x + 1]):
            trials += times[k]
        while nu < counts[i]:
            success = u / (u + nu)
            failure = nu / (u + nu)
            for _ in range(int(trials)):
                fresh[0] = here[0] * failure
                for m in range(1, high):
                    fresh[m] = here[m] * failure + here[m - 1] * success
                fresh[high] = here[high - 1] * success
                if fresh[high] > _UNDERFLOW:
                    high += 1
                here, fresh = fresh, here
            nu += 1
    return here[:high]


@part
def _edge(weights, middle, direction, tilt):
    """Where, from the middle on, the weights times exp(tilt m) become negligible."""
    lift = math.exp(direction * tilt)
    value = 1.0
    m = middle
    while 0 <= m + direction < weights.size and value > _NEGLIGIBLE_WEIGHT:
        value = min(value * lift * weights[m + direction] / weights[m], 1.0)
        m += direction
    return m


@part
def _weights(table, x, u, a, tilts):
    """Tilted weights of the number of tables of one state, the least such number, and a scale.

    The probabilities of the number times Gamma(m + alpha0) exp(-psi(a) m), the latter relative to
    the middle; as far as they are not negligible with either of the tilts.
    """
    start, _, times, alpha0, _, _ = table
    cells = 0.0
    for i in range(start[x], start[x + 1]):
        cells += times[i]
    weights = _successes(table, x, u)
    middle = min(max(int(a - alpha0[x] - cells), 0), weights.size - 1)
    psi = digamma(a)
    rate = math.exp(-psi)
    factor = 1.0
    for m in range(middle, weights.size):
        weights[m] *= factor
        factor *= (m + cells + alpha0[x]) * rate
    factor = 1.0
    for m in range(middle - 1, -1, -1):
        if weights[m] < _UNDERFLOW:
            weights[m] = 0.0
            break
        factor /= (m + cells + alpha0[x]) * rate
        weights[m] *= factor
    scale = log_phi(table, x, u) - (alpha0[x] - 1.0) * math.log(u)
    scale += math.lgamma(middle + cells + alpha0[x]) - (middle + cells) * psi
    low = _edge(weights, middle, np.int64(-1), tilts[0])
    high = _edge(weights, middle, np.int64(1), tilts[1])
    return weights[low : high + 1].copy(), int(cells) + low, scale


@part
def _spread(left, weights, out):
    """Add the convolution of two arrays to `out`."""
    for i in range(left.size):
        for k in range(weights.size):
            out[i + k] += left[i] * weights[k]


@part
def _total(a):
    total = 0.0
    for x in range(a.size):
        total += a[x]
    return total


@part
def product_evidence(table, log_s, a, b, u, means):
    """ln Z at strengths in ascending order, the mean of alpha, and whether numbers had the range.

    The mean is given ``[s, state]``, for no s unless `means`. a, b and u are room for variational
    posteriors, and a and b guesses of their parameters.
    """
    alpha0 = table[3]
    size = alpha0.size
    everything = _total(alpha0)
    # Weights are tilted for a large s: small numbers of tables lose less by that than large ones
    # would by the opposite.
    middle = 0.5 * (log_s[log_s.size // 2] + log_s[log_s.size - 1])
    settle(table, math.exp(middle), a, u, 1e-2)
    tilt = middle - digamma(_total(a))
    tilts = np.empty(2)
    for end in range(2):
        log_end = log_s[0 if end == 0 else log_s.size - 1]
        settle(table, math.exp(log_end), b, u, 1e-2)
        tilts[end] = log_end - digamma(_total(b)) - tilt
    for x in range(size):
        u[x] = math.exp(tilt + digamma(a[x]))
    together = np.ones(1)
    # E[m_x | M] times the weights of M, for the states so far
    carried = np.zeros((size if means else 0, 1))
    lowest = 0
    scale = 0.0
    for x in range(size):
        weights, begin, own = _weights(table, x, u[x], a[x], tilts)
        scale += own
        fresh = np.zeros(together.size + weights.size - 1)
        _spread(together, weights, fresh)
        lifted = np.zeros((carried.shape[0], fresh.size))
        if means:
            for e in range(x):
                _spread(carried[e], weights, lifted[e])
            for m in range(weights.size):
                weights[m] *= begin + m
            _spread(together, weights, lifted[x])
        carried = lifted
        together = fresh
        lowest += begin
    logs = np.empty(together.size)
    for m in range(together.size):
        logs[m] = -math.inf
        if together[m] > 0.0:
            logs[m] = math.log(together[m]) - math.lgamma(lowest + m + everything)
            for x in range(carried.shape[0]):
                carried[x, m] = (carried[x, m] / together[m] + alpha0[x]) / (
                    lowest + m + everything
                )
    values = np.empty(log_s.size)
    mean = np.zeros((log_s.size if means else 0, size))
    fewest = 0.0
    largest = 0.0
    for k in range(table[1].size):
        fewest += table[2][k]
        largest += table[2][k] * table[1][k]
    cut = -math.inf
    peak = 0
    while together[peak] == 0.0:
        peak += 1
    for i in range(log_s.size):
        rate = log_s[i] - tilt
        while peak + 1 < logs.size and logs[peak + 1] + rate > logs[peak]:
            peak += 1
        mass = 0.0
        for direction in (1, -1):
            m = peak if direction > 0 else peak - 1
            value = 0.0
            while 0 <= m < logs.size and logs[m] > -math.inf:
                value = logs[m] - logs[peak] + (m - peak) * rate
                if value < -_NEGLIGIBLE:
                    break
                weight = math.exp(value)
                mass += weight
                if means:
                    for x in range(size):
                        mean[i, x] += weight * carried[x, m]
                m += direction
            if value >= -_NEGLIGIBLE and fewest <= lowest + m <= largest:
                # The numbers did not go far enough.
                cut = max(cut, value)
        if means:
            for x in range(size):
                mean[i, x] /= mass
        values[i] = scale + logs[peak] + (lowest + peak) * rate + math.log(mass)
    return values, mean, cut < -_FAR

"""The distribution of the tables of one state beyond one per cell, as a Poisson-binomial.

A factor (s alpha + nu) of a rising factorial is a trial that succeeds with probability
u / (u + nu), where u is the rate s alpha around which the weights are tilted. `counts` are the
distinct counts of the state, ascending; `times` says how many cells have each, and thus how many
trials there are for every nu below a count. All recurrences add positive numbers only.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import digamma_rise, log_rise

# The distribution is followed this far down, because Gamma(m + alpha0) lifts its tails.
_UNDERFLOW = 1e-280
# Trials with nu below this are always made one by one.
_MIN_SPLIT = 64.0
_POWER_SUMS = 40

# All terms are positive, so the order of summation may be left to the compiler: it can then use
# vector instructions, and no accuracy is lost.
ANY_ORDER = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def convolve(left, right):
    """Distribution of the sum of two independent numbers."""
    out = np.zeros(left.size + right.size - 1)
    for i in range(left.size):
        for k in range(right.size):
            out[i + k] += left[i] * right[k]
    return out


@njit(cache=True, nogil=True)
def _harmonic(low, high, power):
    """Sum of nu^-power for nu from low to high - 1 (low at least 64), by Euler and Maclaurin."""
    if power == 1:
        return digamma_rise(low, high - low)
    total = 0.0
    for end, sign in ((low, 1.0), (high, -1.0)):
        term = end**-power
        square = 1.0 / (end * end)
        value = term * end / (power - 1.0) + 0.5 * term + power * term / (12.0 * end)
        rise = power * (power + 1.0) * (power + 2.0)
        value -= rise * term * square / (720.0 * end)
        rise *= (power + 3.0) * (power + 4.0)
        value += rise * term * square * square / (30240.0 * end)
        total += sign * value
    return total


@njit(cache=True, nogil=True)
def _reach(mean):
    """How far a sum of rare trials with this mean must be followed to underflow."""
    return int(mean + 36.0 * math.sqrt(mean) + 190.0)


@njit(cache=True, nogil=True)
def _split(counts, times, u):
    """The nu from which on trials are rare, and added all at once instead of one by one.

    The recurrence of `_rare_trials` has terms that fall by the factor reach / (split * harmonic);
    with a third it is as accurate as adding single trials.
    """
    largest = counts[-1]
    split = _MIN_SPLIT
    while split < largest:
        harmonic = 0.0
        for i in range(counts.size):
            if counts[i] > split:
                harmonic += times[i] * digamma_rise(split, counts[i] - split)
        if 3.0 * _reach(u * harmonic) <= split * harmonic and u * harmonic < 300.0:
            return split
        split *= 2.0
    return largest


@njit(cache=True, nogil=True)
def _rare_trials(counts, times, u, split):
    """Distribution of the successes among all trials nu >= split, from its power sums.

    prod (1 + u z / nu) is exp(sum_j (-1)^(j+1) (u z)^j P_j / j) with P_j the sum of nu^-j, hence
    m c_m = sum_j (-1)^(j+1) u^j P_j c_(m-j).
    """
    sums = np.zeros(_POWER_SUMS + 1)
    scale = 0.0
    for i in range(counts.size):
        if counts[i] > split:
            scale += times[i] * (log_rise(split, u) - log_rise(counts[i], u))
            for j in range(1, _POWER_SUMS + 1):
                sums[j] += times[i] * _harmonic(split, counts[i], j)
    for j in range(1, _POWER_SUMS + 1):
        sums[j] *= u**j if j % 2 else -(u**j)
    out = np.zeros(_reach(sums[1]) + 1)
    out[0] = math.exp(scale)
    used = 1
    for m in range(1, out.size):
        value = 0.0
        for j in range(1, min(m, _POWER_SUMS) + 1):
            value += sums[j] * out[m - j]
        if value < _UNDERFLOW and m > sums[1]:
            break
        out[m] = value / m
        used = m + 1
    return out[:used].copy()


@njit(cache=True, nogil=True)
def poisson_binomial(counts, times, u):
    """The least number of successes that matters, and the probabilities from there on."""
    split = _split(counts, times, u)
    size = 1.0
    for i in range(counts.size):
        size += times[i] * (min(counts[i], split) - 1.0)
    probability = np.zeros(int(size) + 1)
    fresh = np.zeros(int(size) + 1)
    probability[0] = 1.0
    low = 0
    high = 1
    trials = times.sum()
    first = 0
    for nu in range(1, int(split)):
        while counts[first] <= nu:
            trials -= times[first]
            first += 1
        success = u / (u + nu)
        failure = nu / (u + nu)
        for _ in range(int(trials)):
            fresh[low] = probability[low] * failure
            for m in range(low + 1, high):
                fresh[m] = probability[m] * failure + probability[m - 1] * success
            fresh[high] = probability[high - 1] * success
            high += 1
            while fresh[high - 1] < _UNDERFLOW:
                high -= 1
            while fresh[low] < _UNDERFLOW:
                low += 1
            probability, fresh = fresh, probability
    if split < counts[-1]:
        return low, convolve(probability[low:high].copy(), _rare_trials(counts, times, u, split))
    return low, probability[low:high].copy()

"""The distribution of the tables of one state beyond one per cell, as a Poisson-binomial.

A factor (s alpha + nu) of a rising factorial is a trial that succeeds with probability
u / (u + nu), where u is the rate s alpha around which the weights are tilted. `counts` are the
distinct counts of the state, ascending; `times` says how many cells have each, and thus how many
trials there are for every nu below a count. All recurrences add positive numbers only.
"""

import math

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.kernels.compiled import entry, part, part_in_any_order, part_once
from colonnade.kernels.special import digamma_rise, log_rise

# The distribution is followed this far down, because Gamma(m + alpha0) lifts its tails.
_UNDERFLOW = 1e-280
# Trials with nu below this are always made one by one.
_MIN_SPLIT = 64.0
_POWER_SUMS = 40
_EMPTY = np.empty(0)


@part_in_any_order
def convolve(left, right, out):
    """Distribution of the sum of two independent numbers; `out` has just the room for it."""
    for i in range(out.size):
        out[i] = 0.0
    for i in range(left.size):
        for k in range(right.size):
            out[i + k] += left[i] * right[k]


@part
def _harmonic_from(low, power):
    """Sum of nu^-power for nu from low (at least 64) on, by Euler and Maclaurin."""
    term = low**-power
    square = 1.0 / (low * low)
    value = term * low / (power - 1.0) + 0.5 * term + power * term / (12.0 * low)
    rise = power * (power + 1.0) * (power + 2.0)
    value -= rise * term * square / (720.0 * low)
    rise *= (power + 3.0) * (power + 4.0)
    return value + rise * term * square * square / (30240.0 * low)


@part
def _reach(mean):
    """How far a sum of rare trials with this mean must be followed to underflow."""
    return int(mean + 36.0 * math.sqrt(mean) + 190.0)


@part_once
def _split(counts, times, u):
    """The nu from which on trials are rare, and added all at once instead of one by one.

    The recurrence of `_rare_trials` has terms that fall by the factor reach / (split * harmonic);
    with a third it is as accurate as adding single trials.
    """
    largest = counts[counts.size - 1]
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


@part_once
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
            sums[1] += times[i] * digamma_rise(split, counts[i] - split)
            for j in range(2, _POWER_SUMS + 1):
                harmonic = _harmonic_from(split, j) - _harmonic_from(counts[i], j)
                sums[j] += times[i] * harmonic
    for j in range(1, _POWER_SUMS + 1):
        sums[j] *= u**j if j % 2 else -(u**j)
    out = np.zeros(_reach(sums[1]) + 1)
    out[0] = math.exp(scale)
    used = 1
    for m in range(1, out.size):
        value = 0.0
        for j in range(1, (m if m < _POWER_SUMS else _POWER_SUMS) + 1):
            value += sums[j] * out[m - j]
        if value < _UNDERFLOW and m > sums[1]:
            break
        out[m] = value / m
        used = m + 1
    return out[:used]


@entry
def _split_and_rare(counts, times, u):
    """Where trials become rare, and the distribution of those from there on."""
    split = _split(counts, times, u)
    return split, _rare_trials(counts, times, u, split)


def rare_trials(
    start: Integers, counts: Floats, times: Floats, u: Floats
) -> tuple[Floats, Floats, Integers]:
    """Where the trials of each state become rare, and the distributions of those from there on.

    They follow each other in one array: state x has its own at first[x]..first[x + 1], and nothing
    if no trial is rare.
    """
    first = np.zeros(u.size + 1, np.int64)
    split = np.zeros(u.size)
    if counts.max() <= _MIN_SPLIT:
        return split, _EMPTY, first
    found = [_EMPTY]
    for x in range(u.size):
        own = slice(start[x], start[x + 1])
        if start[x] < start[x + 1] and counts[own][-1] > _MIN_SPLIT:
            split[x], rare = _split_and_rare(counts[own], times[own], u[x])
            if split[x] < counts[own][-1]:
                found.append(rare)
                first[x + 1] = rare.size
    return split, np.concatenate(found), np.cumsum(first)


@part_once
def poisson_binomial(counts, times, u, split, rare):
    """Probabilities of the numbers of successes from 0 on, and the first and last that matter.

    `rare` is the distribution of the successes among all trials nu >= split.
    """
    if rare.size == 0:
        split = counts[counts.size - 1]
    size = 1.0
    trials = 0.0
    for i in range(counts.size):
        size += times[i] * ((counts[i] if counts[i] < split else split) - 1.0)
        trials += times[i]
    probability = np.zeros(int(size) + 1)
    fresh = np.zeros(int(size) + 1)
    probability[0] = 1.0
    low = 0
    high = 1
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
    if rare.size > 0:
        together = np.zeros(high + rare.size - 1)
        convolve(probability[low:high], rare, together[low:])
        return together, low, together.size - 1
    return probability, low, high - 1

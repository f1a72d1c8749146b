"""Tiers: the rows of a table shrunk towards those of all coarser tables.

A *tier* is a table over a subset of the parents. Tiers are numbered by size, the empty subset
first. Tier t leans on the tiers below[t] with one parent fewer; second[t] are those with two fewer;
both lists end at the first -1. Rows of all tiers are stacked in one array of `counts`, whose last
row is zero: that of any configuration never seen.

`tiers` is a tuple: below, second, within (within[t, u]: all parents of tier u are parents of tier
t), and what is known of the components of all tiers: first, weight, strength, pool. Tier t has the
*components* first[t]..first[t + 1]. In a tier that leans on none they are values of the strength: a
weight, s, and s alpha in `pool`. In others they are *bases*: the rows of the tiers below, their
arithmetic mean, their geometric mean g, the meeting h = g^2 / m (m the geometric mean of the rows
two below), and sqrt(g h), each normalised.
"""

import math

import numpy as np
from numba import njit

# Bases besides the rows of the tiers below.
MEANS = 4
# Products of probabilities below this lose digits: logarithms are added instead.
_SMALLEST_PRODUCT = 1e-280


@njit(nogil=True, cache=True)
def number_projections(parent, coarser, codes, sizes, values, member, begin, counts):
    """Number the projections of stored configurations, tier by tier, and add up their counts.

    Tier t > 0 has the parents of tier coarser[t] and parent[t] after them. Row i of `codes`
    `[stored, parent]` has the row member[t, i] of `counts`, which has room for all; begin[t] is the
    first row of tier t, and the last entry of `begin` the number of rows.
    """
    stored, states = values.shape
    span = 1
    while span < 2 * stored + 2:
        span *= 2
    slots = np.empty(span, np.int64)
    keys = np.empty(stored + 1, np.int64)
    counts[0, :] = 0.0
    begin[0] = 0
    for i in range(stored):
        member[0, i] = 0
        for x in range(states):
            counts[0, x] += values[i, x]
    rows = 1
    for t in range(1, len(parent)):
        begin[t] = rows
        slots[:] = -1
        found = 0
        under = begin[coarser[t]]
        size = sizes[parent[t]]
        for i in range(stored):
            key = (member[coarser[t], i] - under) * size + codes[i, parent[t]]
            slot = (key * 0x9E3779B97F4A7C1) & (span - 1)
            while slots[slot] >= 0 and keys[slots[slot]] != key:
                slot = (slot + 1) & (span - 1)
            if slots[slot] < 0:
                slots[slot] = found
                keys[found] = key
                counts[rows + found, :] = 0.0
                found += 1
            row = rows + slots[slot]
            member[t, i] = row
            for x in range(states):
                counts[row, x] += values[i, x]
        rows += found
    begin[len(parent)] = rows
    counts[rows, :] = 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _root(value, degree):
    """Return the root of a positive number; small degrees are faster."""
    if degree == 1:
        return value
    if degree == 2:
        return math.sqrt(value)
    if degree == 3:
        return np.cbrt(value)
    if degree == 4:
        return math.sqrt(math.sqrt(value))
    if degree == 6:
        return np.cbrt(math.sqrt(value))
    return value ** (1.0 / degree)


@njit(nogil=True, cache=True, error_model="numpy")
def _geometric_mean(tiers, number, rows, state):
    """Return the geometric mean of one state in the rows of some tiers."""
    product = 1.0
    for b in range(number):
        product *= rows[tiers[b], state]
    if product > _SMALLEST_PRODUCT:
        return _root(product, number)
    total = 0.0
    for b in range(number):
        total += math.log(rows[tiers[b], state])
    return math.exp(total / number)


@njit(nogil=True, cache=True, error_model="numpy")
def fill_bases(t, below, second, rows, bases):
    """Fill the bases `[base, state]` of a row of tier t; return how many there are.

    `rows` `[tier, state]` are those of the tiers below, of the same configuration.
    """
    states = rows.shape[1]
    wide = 0
    while wide < below.shape[1] and below[t, wide] >= 0:
        u = below[t, wide]
        for x in range(states):
            bases[wide, x] = rows[u, x]
        wide += 1
    if wide == 1:
        return 1
    deep = 0
    while deep < second.shape[1] and second[t, deep] >= 0:
        deep += 1
    geometric, meeting, between = 0.0, 0.0, 0.0
    for x in range(states):
        total = 0.0
        for b in range(wide):
            total += rows[below[t, b], x]
        g = _geometric_mean(below[t], wide, rows, x)
        ratio = g / _geometric_mean(second[t], deep, rows, x)
        h = g * ratio
        middle = g * math.sqrt(ratio)
        bases[wide, x] = total / wide
        bases[wide + 1, x] = g
        bases[wide + 2, x] = h
        bases[wide + 3, x] = middle
        geometric += g
        meeting += h
        between += middle
    for x in range(states):
        bases[wide + 1, x] /= geometric
        bases[wide + 2, x] /= meeting
        bases[wide + 3, x] /= between
    return wide + MEANS


@njit(nogil=True, cache=True, error_model="numpy")
def mix_bases(t, row, state, gone, tiers, counts, bases, answer):
    """Fill the estimate `[state]` of a row of tier t from its bases.

    `gone` observations of the state are left out.
    """
    below, _, _, first, weight, strength, pool = tiers
    states = counts.shape[1]
    total = -gone
    for x in range(states):
        total += counts[row, x]
        answer[x] = 0.0
    plain = below[t, 0] < 0
    for c in range(first[t], first[t + 1]):
        share = weight[c] / (total + strength[c])
        for x in range(states):
            lent = pool[c, x] if plain else strength[c] * bases[c - first[t], x]
            answer[x] += share * (counts[row, x] + lent)
        if gone > 0.0:
            answer[state] -= share * gone
    if states == 1:
        answer[0] = 1.0  # whatever was rounded


@njit(nogil=True, cache=True, error_model="numpy")
def fill_row(t, row, state, gone, tiers, counts, rows, bases):
    """Fill rows[t]: the estimate of a row of tier t, given those of the tiers below.

    `gone` observations of the state are left out.
    """
    below, second = tiers[0], tiers[1]
    if below[t, 0] >= 0:
        fill_bases(t, below, second, rows, bases)
    mix_bases(t, row, state, gone, tiers, counts, bases, rows[t])


@njit(nogil=True, cache=True)
def look_up(place, tiers, counts, known, answer):
    """Fill answer `[configuration, tier, state]` with the rows of configurations in all tiers.

    place[i, t] is the row of `counts` of configuration i in tier t. Rows that were observed are
    `known` already.
    """
    below = tiers[0]
    number, states = len(below), counts.shape[1]
    bases = np.empty((below.shape[1] + MEANS, states))
    for i in range(len(place)):
        for t in range(number):
            row = place[i, t]
            if row == len(known):
                fill_row(t, row, 0, 0.0, tiers, counts, answer[i], bases)
            else:
                for x in range(states):
                    answer[i, t, x] = known[row, x]


@njit(nogil=True, cache=True)
def fill_everything(tiers, strides, sizes, offset, place, counts, known, answer):
    """Fill answer `[row, state]` with the rows of all configurations of all tiers.

    Those of tier t begin at offset[t]; strides[t, k] is that of parent k, or 0 if the tier does not
    have it. place[i] is the row of `counts` of row i of the answer. Rows that are not known are
    computed from those of the tiers below, each of them once.
    """
    below, second = tiers[0], tiers[1]
    number, states = len(below), counts.shape[1]
    rows = np.empty((number, states))
    bases = np.empty((below.shape[1] + MEANS, states))
    digits = np.zeros(len(sizes), np.int64)
    for t in range(number):
        for i in range(offset[t], offset[t + 1]):
            row = place[i]
            if row < len(known):
                for x in range(states):
                    answer[i, x] = known[row, x]
                continue
            for k in range(len(sizes)):
                if strides[t, k]:
                    digits[k] = (i - offset[t]) // strides[t, k] % sizes[k]
            for lists in (below, second):
                for b in range(lists.shape[1]):
                    u = lists[t, b]
                    if u < 0:
                        break
                    j = offset[u]
                    for k in range(len(sizes)):
                        j += digits[k] * strides[u, k]
                    for x in range(states):
                        rows[u, x] = answer[j, x]
            fill_row(t, row, 0, 0.0, tiers, counts, rows, bases)
            for x in range(states):
                answer[i, x] = rows[t, x]

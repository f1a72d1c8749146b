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

from colonnade.kernels.compiled import entry, part

# Bases besides the rows of the tiers below.
MEANS = 4
# Products of probabilities below this lose digits: logarithms are added instead.
_SMALLEST_PRODUCT = 1e-280


@entry
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


@part
def _cube_root(value):
    """Return the cube root of a positive number, by three of Halley's steps from a rough one."""
    # A third of the exponent, and of the digits that follow it in memory.
    third = np.float64(value).view(np.int64) // 3 + 0x2A9F7893782DA1CE
    root = np.int64(third).view(np.float64)
    for _ in range(3):
        cube = root * root * root
        root *= (cube + 2.0 * value) / (2.0 * cube + value)
    return root


@part
def _take_roots(values, degree):
    """Replace positive numbers by their roots; small degrees are faster."""
    if degree == 2 or degree == 4 or degree == 6:
        for x in range(len(values)):
            values[x] = math.sqrt(values[x])
    if degree == 4:
        for x in range(len(values)):
            values[x] = math.sqrt(values[x])
    elif degree == 3 or degree == 6:
        for x in range(len(values)):
            values[x] = _cube_root(values[x])
    elif degree != 2 and degree != 1:
        for x in range(len(values)):
            values[x] = math.exp(math.log(values[x]) / degree)


@part
def _fill_geometric_mean(under, first, last, rows, answer):
    """Fill answer `[state]` with the geometric mean of rows[under[first:last]]."""
    states = len(answer)
    for x in range(states):
        answer[x] = rows[under[first], x]
    for b in range(first + 1, last):
        u = under[b]
        for x in range(states):
            answer[x] *= rows[u, x]
    smallest = 1.0
    for x in range(states):
        smallest = min(smallest, answer[x])
    if smallest > _SMALLEST_PRODUCT:
        _take_roots(answer, last - first)
        return
    for x in range(states):
        total = 0.0
        for b in range(first, last):
            total += math.log(rows[under[b], x])
        answer[x] = math.exp(total / (last - first))


@part
def neighbours(t, tiers, who):
    """Fill who with below[t] and then second[t]; return how many there are of each."""
    below, second = tiers[0], tiers[1]
    wide = 0
    while below[t, wide] >= 0:
        who[wide] = below[t, wide]
        wide += 1
    deep = 0
    while second[t, deep] >= 0:
        who[wide + deep] = second[t, deep]
        deep += 1
    return wide, deep


@part
def fill_bases(under, wide, deep, rows, bases):
    """Fill the bases `[base, state]` of a row.

    It leans on rows[under[:wide]] of the tiers below, and rows[under[wide : wide + deep]] are those
    of the tiers two below, all of the same configuration.
    """
    states = rows.shape[1]
    for b in range(wide):
        for x in range(states):
            bases[b, x] = rows[under[b], x]
    if wide == 1:
        return
    mean, product, meeting, between = wide, wide + 1, wide + 2, wide + 3
    for x in range(states):
        total = 0.0
        for b in range(wide):
            total += bases[b, x]
        bases[mean, x] = total / wide
    _fill_geometric_mean(under, 0, wide, rows, bases[product])
    _fill_geometric_mean(under, wide, wide + deep, rows, bases[meeting])
    geometric, met, middle = 0.0, 0.0, 0.0
    for x in range(states):
        g = bases[product, x]
        ratio = g / bases[meeting, x]
        bases[meeting, x] = g * ratio
        bases[between, x] = g * math.sqrt(ratio)
        geometric += g
        met += bases[meeting, x]
        middle += bases[between, x]
    for x in range(states):
        bases[product, x] /= geometric
        bases[meeting, x] /= met
        bases[between, x] /= middle


@part
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
    own = 0.0
    for c in range(first[t], first[t + 1]):
        share = weight[c] / (total + strength[c])
        own += share
        if plain:
            for x in range(states):
                answer[x] += share * pool[c, x]
        else:
            lent = share * strength[c]
            for x in range(states):
                answer[x] += lent * bases[c - first[t], x]
    if total + gone > 0.0:
        for x in range(states):
            answer[x] += own * counts[row, x]
        answer[state] -= own * gone
    if states == 1:
        answer[0] = 1.0  # whatever was rounded


@entry
def look_up(place, tiers, counts, known, answer):
    """Fill answer `[configuration, tier, state]` with the rows of configurations in all tiers.

    place[i, t] is the row of `counts` of configuration i in tier t. Rows that were observed are
    `known` already.
    """
    number, states = len(tiers[0]), counts.shape[1]
    room = tiers[0].shape[1] + tiers[1].shape[1]
    bases, who = np.empty((room + MEANS, states)), np.empty(room, np.int64)
    for t in range(number):
        wide, deep = neighbours(t, tiers, who)
        for i in range(len(place)):
            row = place[i, t]
            if row == len(known):
                if wide:
                    fill_bases(who, wide, deep, answer[i], bases)
                mix_bases(t, row, np.int64(0), 0.0, tiers, counts, bases, answer[i, t])
            else:
                for x in range(states):
                    answer[i, t, x] = known[row, x]


@entry
def fill_everything(tiers, strides, sizes, offset, place, counts, known, answer):
    """Fill answer `[row, state]` with the rows of all configurations of all tiers.

    Those of tier t begin at offset[t]; strides[t, k] is that of parent k, or 0 if the tier does not
    have it. place[i] is the row of `counts` of row i of the answer. Rows that are not known are
    computed from those of the tiers below, each of them once.
    """
    number, states = len(tiers[0]), counts.shape[1]
    room = tiers[0].shape[1] + tiers[1].shape[1]
    bases = np.empty((room + MEANS, states))
    who, under = np.empty(room, np.int64), np.empty(room, np.int64)
    digits = np.zeros(len(sizes), np.int64)
    for t in range(number):
        wide, deep = neighbours(t, tiers, who)
        digits[:] = 0
        for b in range(wide + deep):
            under[b] = offset[who[b]]
        for i in range(offset[t], offset[t + 1]):
            row = place[i]
            if row < len(known):
                for x in range(states):
                    answer[i, x] = known[row, x]
            else:
                if wide:
                    fill_bases(under, wide, deep, answer, bases)
                mix_bases(t, row, np.int64(0), 0.0, tiers, counts, bases, answer[i])
            # The next configuration: the last parent changes first.
            for k in range(len(sizes) - 1, -1, -1):
                if not strides[t, k]:
                    continue
                step = 1 if digits[k] + 1 < sizes[k] else -digits[k]
                digits[k] += step
                for b in range(wide + deep):
                    under[b] += step * strides[who[b], k]
                if step == 1:
                    break

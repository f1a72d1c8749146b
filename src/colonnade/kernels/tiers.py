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

Rows have few states, so that loops over them are too short for vector instructions. Hence LANES
rows of a tier, a *block*, are computed at a time: arrays of a block end with an axis of lanes, and
the innermost loops go over all of them, a number known to the compiler. Lanes that no row needs
repeat another one.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part

# Bases besides the rows of the tiers below.
MEANS = 4
# Rows of a block.
LANES = 32
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


@entry
def find_places(inside, sizes, states, last, codes, member, strides, step, offset, begin, place):
    """Put the configurations of all tiers one after the other, for `fill_rows`.

    inside[t, k] says whether tier t has parent k. Parents are in order, the states after them, and
    then parent `last`, if that is not -1. The rows of `counts` are those of the stored codes, and
    else what `place` was filled with.
    """
    number, parents = inside.shape
    plain = np.empty(parents, np.int64)
    begin[0] = 0
    for t in range(number):
        step[t] = sizes[last] if last >= 0 and inside[t, last] else 1
        offset[t] = begin[t] * states
        configurations, span = 1, step[t] * states
        for k in range(parents - 1, -1, -1):
            plain[k], strides[t, k] = 0, 0
            if inside[t, k]:
                plain[k] = configurations
                configurations *= sizes[k]
                strides[t, k] = 1 if k == last else span
                if k != last:
                    span *= sizes[k]
        for i in range(len(codes)):
            here = begin[t]
            for k in range(parents):
                here += codes[i, k] * plain[k]
            place[here] = member[t, i]
        begin[t + 1] = begin[t] + configurations


@part
def _cube_root(value):
    """Return the cube root of a positive number, by two of Halley's steps from a rough one."""
    # A third of the exponent, and of the digits that follow it in memory: three per cent off. Half
    # of the word will do, because vectors of whole words cannot be multiplied.
    upper = np.float64(value).view(np.uint64) >> np.uint64(32)
    third = (upper * np.uint64(0x55555556)) >> np.uint64(32)
    root = np.uint64((third + np.uint64(0x2A9F7893)) << np.uint64(32)).view(np.float64)
    cube = root * root * root
    root *= (cube + 2.0 * value) / (2.0 * cube + value)
    cube = root * root * root
    return root * ((cube + 2.0 * value) / (2.0 * cube + value))


@part
def _take_root(values, degree):
    """Replace positive numbers `[lane]` by their roots; small degrees are faster."""
    if degree == 2 or degree == 4 or degree == 6:
        for lane in range(len(values)):
            values[lane] = math.sqrt(values[lane])
    if degree == 4:
        for lane in range(len(values)):
            values[lane] = math.sqrt(values[lane])
    elif degree == 3 or degree == 6:
        for lane in range(len(values)):
            values[lane] = _cube_root(values[lane])
    elif degree != 2 and degree != 1:
        for lane in range(len(values)):
            values[lane] = math.exp(math.log(values[lane]) / degree)


@part
def _multiply(values, others):
    """Multiply numbers `[lane]` by others."""
    for lane in range(len(values)):
        values[lane] *= others[lane]


@part
def _take_roots(first, last, place, step, rows, answer):
    """Replace products `[state, lane]` of the rows at place[first:last] by geometric means."""
    least = np.ones(answer.shape[1])
    for x in range(len(answer)):
        row = answer[x]
        for lane in range(len(least)):
            least[lane] = row[lane] if row[lane] < least[lane] else least[lane]
    smallest = 1.0
    for lane in range(len(least)):
        smallest = min(smallest, least[lane])
    for x in range(len(answer)):
        if smallest > _SMALLEST_PRODUCT:
            _take_root(answer[x], last - first)
            continue
        for lane in range(len(least)):
            total = 0.0
            for b in range(first, last):
                total += math.log(rows[place[b, lane] + np.uint64(x) * step[b]])
            answer[x, lane] = math.exp(total / (last - first))


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
def fill_bases(wide, deep, place, step, rows, bases, scale):
    """Fill the bases `[base, state, lane]` of a block, and scale `[base, lane]`, their factors.

    State x of the b-th neighbour of a lane is rows[place[b, lane] + x * step[b]]; those from `wide`
    on are of the tiers two below.
    """
    states, lanes = bases.shape[1:]
    for b in range(wide):
        at = place[b]
        for x in range(states):
            row, shift = bases[b, x], np.uint64(x) * step[b]
            for lane in range(lanes):
                row[lane] = rows[at[lane] + shift]
    scale[:] = 1.0
    if wide <= 1:
        return
    mean, product, meeting, between = wide, wide + 1, wide + 2, wide + 3
    scale[mean] = 1.0 / wide
    for x in range(states):
        total, g, met = bases[mean, x], bases[product, x], bases[meeting, x]
        total[:] = 0.0
        g[:] = 1.0
        met[:] = 1.0
        for b in range(wide):
            row = bases[b, x]
            _multiply(g, row)
            for lane in range(lanes):
                total[lane] += row[lane]
        for b in range(wide, wide + deep):
            at, shift = place[b], np.uint64(x) * step[b]
            for lane in range(lanes):
                met[lane] *= rows[at[lane] + shift]
    _take_roots(0, wide, place, step, rows, bases[product])
    _take_roots(wide, wide + deep, place, step, rows, bases[meeting])
    for x in range(states):
        g, met, middle = bases[product, x], bases[meeting, x], bases[between, x]
        for lane in range(lanes):
            met[lane] = g[lane] / met[lane]
        for lane in range(lanes):
            middle[lane] = g[lane] * math.sqrt(met[lane])
        _multiply(met, g)
    for c in range(product, between + 1):
        factor = scale[c]
        factor[:] = 0.0
        for x in range(states):
            row = bases[c, x]
            for lane in range(lanes):
                factor[lane] += row[lane]
        for lane in range(lanes):
            factor[lane] = 1.0 / factor[lane]


@part
def mix_bases(t, tiers, own, bases, scale, room, answer):
    """Fill the estimates `[state, lane]` of a block of tier t from its bases.

    `own` are the counts of the rows `[state, lane]`, and `room` `[3, lane]` is room to work.
    """
    below, _, _, first, weight, strength, pool = tiers
    states, lanes = own.shape
    total, mine, lent = room[0], room[1], room[2]
    total[:] = 0.0
    mine[:] = 0.0
    answer[:] = 0.0
    for x in range(states):
        row = own[x]
        for lane in range(lanes):
            total[lane] += row[lane]
    plain = below[t, 0] < 0
    for c in range(first[t], first[t + 1]):
        s, share = strength[c], weight[c]
        for lane in range(lanes):
            lent[lane] = share / (total[lane] + s)
        for lane in range(lanes):
            mine[lane] += lent[lane]
        if plain:
            for x in range(states):
                row, alpha = answer[x], pool[c, x]
                for lane in range(lanes):
                    row[lane] += lent[lane] * alpha
        else:
            factor = scale[c - first[t]]
            for lane in range(lanes):
                lent[lane] *= s * factor[lane]
            for x in range(states):
                row, base = answer[x], bases[c - first[t], x]
                for lane in range(lanes):
                    row[lane] += lent[lane] * base[lane]
    for x in range(states):
        row, counted = answer[x], own[x]
        for lane in range(lanes):
            row[lane] += mine[lane] * counted[lane]
    if states == 1:
        answer[:] = 1.0  # whatever was rounded


@entry
def fill_rows(lanes, tiers, strides, step, sizes, offset, begin, place, known, answer):
    """Fill the answer with the rows of all configurations of all tiers, wherever they belong.

    A configuration is a code for each of some axes, of these sizes. State x of its row in tier t is
    at offset[t], plus strides[t, k] for each step along axis k, plus x * step[t]; tiers without the
    axis have the stride 0. The configurations of tier t, the last axis first, are the rows
    place[begin[t]:begin[t + 1]] of `known`, or beyond its end if they were never seen: those are
    computed from the tiers below, each of them once.
    """
    number, states = len(tiers[0]), known.shape[1]
    room = tiers[0].shape[1] + tiers[1].shape[1]
    bases, scale = np.empty((room + MEANS, states, lanes)), np.empty((room + MEANS, lanes))
    who, steps = np.empty(room, np.int64), np.empty(room, np.uint64)
    # The last of the lists are places of the rows themselves.
    under, lists = np.empty(room + 1, np.int64), np.empty((room + 1, lanes), np.uint64)
    digits = np.empty(len(sizes), np.int64)
    own, work, found = np.zeros((states, lanes)), np.empty((3, lanes)), np.empty((states, lanes))
    for t in range(number):
        wide, deep = neighbours(t, tiers, who)
        digits[:] = 0
        near = wide + deep
        for b in range(near):
            under[b] = offset[who[b]]
            steps[b] = step[who[b]]
        here, taken = offset[t], 0
        for i in range(begin[t], begin[t + 1]):
            row = place[i]
            if row < len(known):
                for x in range(states):
                    answer[here + x * step[t]] = known[row, x]
            else:
                for b in range(near):
                    lists[b, taken] = under[b]
                lists[room, taken] = here
                taken += 1
            if taken == lanes or (taken and i == begin[t + 1] - 1):
                for b in range(room + 1):
                    lists[b, taken:] = lists[b, 0]
                if wide:
                    fill_bases(wide, deep, lists, steps, answer, bases, scale)
                mix_bases(t, tiers, own, bases, scale, work, found)
                for x in range(states):
                    for lane in range(lanes):
                        answer[lists[room, lane] + np.uint64(x * step[t])] = found[x, lane]
                taken = 0
            # The next configuration: the last axis changes first.
            for k in range(len(sizes) - 1, -1, -1):
                if not strides[t, k]:
                    continue
                move = 1 if digits[k] + 1 < sizes[k] else -digits[k]
                digits[k] += move
                here += move * strides[t, k]
                for b in range(near):
                    under[b] += move * strides[who[b], k]
                if move == 1:
                    break

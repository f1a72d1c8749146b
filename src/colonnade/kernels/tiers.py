"""Tiers: the rows of a table shrunk towards those of all coarser tables.

A *tier* is a table over a subset of the parents. Tiers are numbered by size, the empty subset
first. Tier t leans on the tiers below[t] with one parent fewer; the list ends at the first -1. Rows
of all tiers are stacked in one array of `counts`, whose last row is zero: that of any configuration
never seen.

`tiers` is a tuple: below, within (within[t, u]: all parents of tier u are parents of tier t),
degree (how many rows are leaned on by those that lean on tier t, 0 if none does), and what is known
of the components of all tiers: first, weight, strength, pool. Tier t has the *components*
first[t]..first[t + 1]. In a tier that leans on none they are values of the strength: a
weight, s, and s alpha in `pool`. In others they are *bases*: the rows of the tiers below, their
arithmetic mean, their geometric mean g, the meeting h = g^2 / m (m the geometric mean of the rows
two below), and sqrt(g h), each normalised.

Every row two below is below two of the rows below, so m is the geometric mean of their g. With v^2
the geometric mean of their *ratios*, each the probabilities of a row by its own g, h = g v^2 and
sqrt(g h) = g v. Roots are taken once of each row, and others multiply them: a row is stored with
its roots `[3 * state]`, its probabilities p, p^(1 / degree) and (p / g)^(1 / (2 degree)).

Rows have few states, so that loops over them are too short for vector instructions. Hence LANES
rows of a tier, a *block*, are computed at a time: arrays of a block `[., state * lane]` have the
lanes innermost, and loops go over whole multiples of them. Lanes that no row needs repeat another
one.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part, part_with_fused_sums

# Bases besides the rows of the tiers below, how many arrays they are made of, g and v, and how many
# lanes `mix_bases` needs besides one for each base.
MEANS, FACTORS, TOTALS = 4, 2, 2
# Rows of a block.
LANES = 32
# What is stored of a row: probabilities and two roots.
STORED = 3
# The smallest number of which a root is taken, and the largest degree that needs no logarithms.
_LEAST, _MOST_FAST = 1e-300, 4


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
def leaned_on(t, below, who):
    """Fill who with the tiers whose rows are needed for those of tier t; return their number.

    Those are the tiers below, or the first one if tier t leans on none: ratios need it.
    """
    wide = 0
    while below[t, wide] >= 0:
        who[wide] = below[t, wide]
        wide += 1
    if wide == 0 and t > 0:
        who[0] = 0
        wide = 1
    return wide


@part
def take_roots(rows, mean, degree, first, second):
    """Fill the roots of rows and of their ratios to a mean that finer tiers need: see above.

    Degrees up to four are fast: with y = p^(-1 / (2 degree)), the root of p is the square of
    p y^(2 degree - 1), and that of the ratio this by the same root of the mean.
    """
    if degree > _MOST_FAST:
        for k in range(len(rows)):
            first[k] = math.exp(math.log(max(rows[k], _LEAST)) / degree)
        for k in range(len(rows)):
            second[k] = math.exp(0.5 * math.log(max(rows[k] / mean[k], _LEAST)) / degree)
        return
    _fill_inverse_roots(rows, degree, first)
    _fill_inverse_roots(mean, degree, second)
    for k in range(len(rows)):
        square = first[k] * first[k]
        power = square * first[k]
        if degree == 3:
            power *= square
        elif degree == 4:
            power *= square * square
        first[k] = rows[k] * power
    for k in range(len(rows)):
        second[k] *= first[k]
    for k in range(len(rows)):
        first[k] *= first[k]


@part_with_fused_sums
def _fill_inverse_roots(values, degree, roots):
    """Fill values^(-1/k), k = 2 degree, for degrees of two to four."""
    part = np.uint64(0x40000000 if degree == 2 else 0x2AAAAAAB if degree == 3 else 0x20000000)
    # The root of one, less what makes all guesses equally good.
    top = np.uint64(0x4FEB0218 if degree == 2 else 0x4A970DD0 if degree == 3 else 0x47ED11B8)
    a = 0.5 / degree
    b = a * (a + 1.0) / 2.0
    c = b * (a + 2.0) / 3.0
    d = c * (a + 3.0) / 4.0
    for i in range(len(values)):
        value = max(values[i], _LEAST)
        # The exponent of the root is that of the number by -k, and so are the digits that follow it
        # in memory, nearly. Half of the word will do, because vectors of whole words cannot be
        # multiplied.
        upper = np.float64(value).view(np.uint64) >> np.uint64(32)
        guess = (top - ((upper * part) >> np.uint64(32))) << np.uint64(32)
        root = np.uint64(guess).view(np.float64)
        # Two steps along the series of (1 - rest)^(-1/k), without a division. The rest is below
        # 0.24 at first, and 2e-4 then. (The compiler does not repeat the text of loops.)
        root = _closer(value, root, degree, a, b, c, d)
        roots[i] = _closer(value, root, degree, a, b, c, d)


@part_with_fused_sums
def _closer(value, root, degree, a, b, c, d):
    square = root * root
    power = square * square
    if degree == 3:
        power *= square
    elif degree == 4:
        power *= power
    rest = 1.0 - value * power
    return root + root * rest * (a + rest * (b + rest * (c + rest * d)))


@part
def store_block(place, degree, mean, room, rows):
    """Store rows `[state * lane]`, room[0], with their roots where they belong in `rows`.

    `mean` is what their ratios are to, and the rest of `room` `[3, state * lane]` is room to work.
    """
    lanes, states = len(place), rows.shape[1] // STORED
    found, first, second = room[0], room[1], room[2]
    if degree > 1:
        take_roots(found, mean, degree, first, second)
    for lane in range(lanes):
        row = rows[place[lane]]
        for x in range(states):
            at = np.uint64(x * lanes + lane)
            row[np.uint64(x)] = found[at]
            row[np.uint64(states + x)] = first[at]
            row[np.uint64(2 * states + x)] = second[at]


@part
def fill_bases(wide, place, rows, bases, scale):
    """Fill what the rows of a block lean on, bases `[., state * lane]`.

    The b-th row that a lane needs is rows[place[b, lane]]. After those come, if there are several,
    their geometric mean g and v; scale `[3, lane]` are then the factors that normalise g, g v and
    g v^2.
    """
    lanes, states = scale.shape[1], rows.shape[1] // STORED
    mean, step = bases[wide], bases[wide + 1]
    for b in range(wide):
        base, at = bases[b], place[b]
        for lane in range(lanes):
            row = rows[at[lane]]
            for x in range(states):
                here = np.uint64(x * lanes + lane)
                base[here] = row[np.uint64(x)]
                if b == 0:
                    mean[here] = row[np.uint64(states + x)]
                    step[here] = row[np.uint64(2 * states + x)]
                else:
                    mean[here] *= row[np.uint64(states + x)]
                    step[here] *= row[np.uint64(2 * states + x)]
    if wide > 1:
        low, middle, high = scale[0], scale[1], scale[2]
        scale[:] = 0.0
        for x in range(states):
            for lane in range(lanes):
                k = x * lanes + lane
                low[lane] += mean[k]
                middle[lane] += mean[k] * step[k]
                high[lane] += mean[k] * step[k] * step[k]
        for lane in range(lanes):
            low[lane] = 1.0 / low[lane]
            middle[lane] = 1.0 / middle[lane]
            high[lane] = 1.0 / high[lane]


@part
def mix_bases(t, wide, tiers, own, bases, scale, lent, answer):
    """Fill the estimates `[state * lane]` of a block of tier t from its bases.

    `own` are the counts of the rows `[state * lane]`, and `lent` `[., lane]` is room to work.
    """
    first, weight, strength, pool = tiers[3:7]
    lanes = scale.shape[1]
    states = len(own) // lanes
    total, mine = lent[-1], lent[-2]
    total[:] = 0.0
    mine[:] = 0.0
    for x in range(states):
        for lane in range(lanes):
            total[lane] += own[x * lanes + lane]
    answer[:] = 0.0
    plain = tiers[0][t, 0] < 0
    for c in range(first[t], first[t + 1]):
        s, share = strength[c], weight[c]
        here = lent[0 if plain else c - first[t]]
        for lane in range(lanes):
            part = share / (total[lane] + s)
            mine[lane] += part
            here[lane] = part if plain else part * s
        if plain:
            for x in range(states):
                alpha = pool[c, x]
                for lane in range(lanes):
                    answer[x * lanes + lane] += here[lane] * alpha
    if not plain:
        if wide > 1:
            for b in range(wide):
                for lane in range(lanes):
                    lent[b, lane] += lent[wide, lane] / wide
            for lane in range(lanes):
                lent[wide + 1, lane] *= scale[0, lane]
                lent[wide + 3, lane] *= scale[1, lane]
                lent[wide + 2, lane] *= scale[2, lane]
        for b in range(wide):
            base, here = bases[b], lent[b]
            for x in range(states):
                for lane in range(lanes):
                    answer[x * lanes + lane] += here[lane] * base[x * lanes + lane]
        if wide > 1:
            g, v = bases[wide], bases[wide + 1]
            low, middle, high = lent[wide + 1], lent[wide + 3], lent[wide + 2]
            for x in range(states):
                for lane in range(lanes):
                    k = x * lanes + lane
                    answer[k] += g[k] * (low[lane] + v[k] * (middle[lane] + v[k] * high[lane]))
    for x in range(states):
        for lane in range(lanes):
            answer[x * lanes + lane] += mine[lane] * own[x * lanes + lane]
    if states == 1:
        answer[:] = 1.0  # whatever was rounded


@entry
def fill_rows(tiers, inside, sizes, codes, member, known, answer):
    """Fill the answer with the rows of all configurations; return those of all tiers but the last.

    A configuration is a code for each of some axes, of these sizes, the last of which changes
    first, and inside[t, k] says whether tier t has axis k. Those of `codes` `[stored, axis]` have
    the rows member[t] of `known`, unless these are beyond its end; a code below zero is none of
    those asked for. All other rows are computed from the tiers below. The answer is
    `[., state, last axis]`.

    Rows that differ in the last axis alone are next to each other, and so are those that they lean
    on, but for one. They are a block here, and loops go over all numbers stored of them.
    """
    below, degree, number, states = tiers[0], tiers[2], len(tiers[0]), known.shape[1]
    strides, offset = np.empty(inside.shape, np.int64), np.empty(number + 1, np.int64)
    place = _places(inside, sizes, codes, member, len(known), strides, offset)
    most, axis = below.shape[1], len(sizes) - 1
    last, width = sizes[axis], STORED * states
    rows, room = np.empty((offset[number - 1], width)), np.empty((2, last * width))
    stored = rows.reshape(-1)
    who, at, share = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most + MEANS)
    digits, found, ground = np.empty(axis + 1, np.int64), np.empty(states), np.empty(states)
    for t in range(number):
        wide = leaned_on(t, below, who)
        span = last if inside[t, axis] else 1
        plain = _fill_shares(t, wide, tiers, share, ground)
        digits[:] = 0
        for b in range(wide):
            at[b] = offset[who[b]]
        for begin in range(offset[t], offset[t + 1], span):
            room[0, :] = 0.0
            room[1, :] = 1.0
            for b in range(wide):
                repeated = 1 if inside[who[b], axis] else span
                for k in range(repeated):
                    _lean(
                        k * width, at[b] * width, span // repeated * width, share[b], stored, room
                    )
            for c in range(span):
                row = place[begin + c]
                if row < len(known):
                    for x in range(states):
                        found[x] = known[row, x]
                elif plain:
                    for x in range(states):
                        found[x] = ground[x]
                else:
                    _mix(c * width, wide, share, room, found)
                if t == number - 1:
                    at_state = (begin - offset[t]) * states + c
                    for x in range(states):
                        answer[at_state + x * last] = found[x]
                else:
                    mean = c * width + (states if wide > 1 else 0)
                    for x in range(states):
                        rows[begin + c, x] = found[x]
                        rows[begin + c, states + x] = room[1, mean + x]
            # The next configuration.
            for k in range(axis - 1, -1, -1):
                if not inside[t, k]:
                    continue
                move = 1 if digits[k] + 1 < sizes[k] else -digits[k]
                digits[k] += move
                for b in range(wide):
                    at[b] += move * strides[who[b], k]
                if move == 1:
                    break
        if t < number - 1:
            _store_roots(rows[offset[t] : offset[t + 1]], degree[t])
    return rows


@part
def _fill_shares(t, wide, tiers, share, ground):
    """Fill the weights of the rows that an unseen row of tier t leans on, and of their means.

    Returns whether it leans on none: then `ground` becomes the row itself.
    """
    below, first, weight, strength, pool = tiers[0], tiers[3][t], tiers[4], tiers[5], tiers[6]
    if below[t, 0] < 0:
        ground[:] = 0.0
        for c in range(first, tiers[3][t + 1]):
            for x in range(len(ground)):
                ground[x] += weight[c] / strength[c] * pool[c, x]
        if len(ground) == 1:
            ground[0] = 1.0  # whatever was rounded
        share[:] = 1.0
        return True
    for c in range(first, tiers[3][t + 1]):
        share[c - first] = weight[c]
    if wide > 1:
        for b in range(wide):
            share[b] += share[wide] / wide
    return False


@part
def _lean(to, here, size, share, stored, room):
    """Add numbers that are stored to sums, by a share, and multiply products by them."""
    total, product = room[0, to : to + size], room[1, to : to + size]
    numbers = stored[here : here + size]
    for k in range(size):
        total[k] += share * numbers[k]
        product[k] *= numbers[k]


@part
def _mix(begin, wide, share, room, found):
    """Fill a row that was never seen from sums and products of those that it leans on."""
    states = len(found)
    total, g = room[0, begin : begin + states], room[1, begin + states : begin + 2 * states]
    v = room[1, begin + 2 * states : begin + STORED * states]
    if wide <= 1:
        for x in range(states):
            found[x] = total[x]
    else:
        low, middle, high = 0.0, 0.0, 0.0
        for x in range(states):
            low += g[x]
            middle += g[x] * v[x]
            high += g[x] * v[x] * v[x]
        low = share[wide + 1] / low
        middle, high = share[wide + 3] / middle, share[wide + 2] / high
        for x in range(states):
            found[x] = total[x] + g[x] * (low + v[x] * (middle + v[x] * high))
    if states == 1:
        found[0] = 1.0  # whatever was rounded


@part
def _store_roots(rows, degree):
    """Fill the roots of rows, after whose probabilities are those that their ratios are to."""
    states = rows.shape[1] // STORED
    size = len(rows) * states
    p, mean, first, second = np.empty(size), np.empty(size), np.ones(size), np.ones(size)
    if degree > 1:
        for i in range(len(rows)):
            for x in range(states):
                p[i * states + x] = rows[i, x]
                mean[i * states + x] = rows[i, states + x]
        take_roots(p, mean, degree, first, second)
    for i in range(len(rows)):
        for x in range(states):
            rows[i, states + x] = first[i * states + x]
            rows[i, 2 * states + x] = second[i * states + x]


@part
def _places(inside, sizes, codes, member, beyond, strides, offset):
    """Return which row of `known` each configuration of each tier has, tier after tier.

    offset[t] becomes the first one of tier t, and strides[t, k] a step along axis k, 0 without it.
    """
    total = 0
    for t in range(len(inside)):
        offset[t] = total
        span = 1
        for k in range(len(sizes) - 1, -1, -1):
            strides[t, k] = span if inside[t, k] else 0
            span *= sizes[k] if inside[t, k] else 1
        total += span
    offset[len(inside)] = total
    place = np.full(total, beyond, np.int64)
    for t in range(len(inside)):
        for i in range(len(codes)):
            at, asked = offset[t], True
            for k in range(len(sizes)):
                at += codes[i, k] * strides[t, k]
                asked = asked and (codes[i, k] >= 0 or not inside[t, k])
            if asked:
                place[at] = member[t, i]
    return place

"""Tiers: the rows of a table shrunk towards those of all coarser tables.

A *tier* is a table over a subset of the parents. Tiers are numbered by size, the empty subset
first. Tier t leans on the tiers below[t] with one parent fewer; second[t] are those with two fewer;
both lists end at the first -1. Rows of all tiers are stacked in one array of `counts`, whose last
row is zero: that of any configuration never seen.

`tiers` is a tuple: below, second, within (within[t, u]: all parents of tier u are parents of tier
t), and what is known of the components of all tiers: first, weight, strength, pool. Tier t has the
*components* first[t]..first[t + 1]. With one parent or none they are values of the strength: a
weight, s, and s alpha in `pool`. With more they are *bases*: the rows of the tiers below, their
arithmetic mean, their geometric mean g, the meeting h = g^2 / m (m the geometric mean of the rows
two below), and sqrt(g h), each normalised.
"""

import math

import numpy as np
from numba import njit

# Bases besides the rows of the tiers below.
MEANS = 4
# Products of factors within these bounds cannot overflow with one more factor.
_SMALL, _LARGE = 1e-140, 1e140


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


@njit(nogil=True, cache=True)
def fill_bases(t, below, second, rows, logs, bases):
    """Fill the bases `[base, state]` of a row of tier t; return how many there are.

    `rows` and `logs` `[tier, state]` are those of the tiers below, of the same configuration.
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
        total, mean, coarse = 0.0, 0.0, 0.0
        for b in range(wide):
            total += rows[below[t, b], x]
            mean += logs[below[t, b], x]
        for b in range(deep):
            coarse += logs[second[t, b], x]
        mean /= wide
        half = 0.5 * (mean - coarse / deep)
        step = math.exp(half)
        g = math.exp(mean)
        bases[wide, x] = total / wide
        bases[wide + 1, x] = g
        bases[wide + 2, x] = g * step * step
        bases[wide + 3, x] = g * step
        geometric += g
        meeting += g * step * step
        between += g * step
    for x in range(states):
        bases[wide + 1, x] /= geometric
        bases[wide + 2, x] /= meeting
        bases[wide + 3, x] /= between
    return wide + MEANS


@njit(nogil=True, cache=True)
def fill_row(t, row, state, gone, tiers, counts, rows, logs, bases):
    """Fill rows[t] and logs[t]: the estimate of a row of tier t, given those of the tiers below.

    `gone` observations of the state are left out.
    """
    below, second, _, first, weight, strength, pool = tiers
    states = counts.shape[1]
    total = -gone
    for x in range(states):
        total += counts[row, x]
        rows[t, x] = 0.0
    plain = below[t, 0] < 0
    if not plain:
        fill_bases(t, below, second, rows, logs, bases)
    for c in range(first[t], first[t + 1]):
        share = weight[c] / (total + strength[c])
        lean = bases[c - first[t]]
        for x in range(states):
            lent = pool[c, x] if plain else strength[c] * lean[x]
            rows[t, x] += share * (counts[row, x] + lent)
        if gone > 0.0:
            rows[t, state] -= share * gone
    for x in range(states):
        logs[t, x] = math.log(rows[t, x])


@njit(nogil=True, cache=True)
def look_up(place, tiers, counts, known, answer):
    """Fill answer `[configuration, tier, state]` with the rows of configurations in all tiers.

    place[i, t] is the row of `counts` of configuration i in tier t. Rows that were observed are
    `known` already.
    """
    below = tiers[0]
    number, states = len(below), counts.shape[1]
    logs, bases = np.empty((number, states)), np.empty((below.shape[1] + MEANS, states))
    for i in range(len(place)):
        for t in range(number):
            row = place[i, t]
            if row == len(known):
                fill_row(t, row, 0, 0.0, tiers, counts, answer[i], logs, bases)
            else:
                for x in range(states):
                    answer[i, t, x] = known[row, x]
                    logs[t, x] = math.log(known[row, x])


@njit(nogil=True, cache=True)
def fill_everything(tiers, strides, sizes, offset, place, counts, known, answer):
    """Fill answer `[row, state]` with the rows of all configurations of all tiers.

    Those of tier t begin at offset[t]; strides[t, k] is that of parent k, or 0 if the tier does not
    have it. place[i] is the row of `counts` of row i of the answer. Rows that are not known are
    computed from those of the tiers below, each of them once.
    """
    below, second = tiers[0], tiers[1]
    number, states = len(below), counts.shape[1]
    answer_logs = np.empty(answer.shape)
    rows, logs = np.empty((number, states)), np.empty((number, states))
    bases = np.empty((below.shape[1] + MEANS, states))
    digits = np.zeros(len(sizes), np.int64)
    for t in range(number):
        for i in range(offset[t], offset[t + 1]):
            row = place[i]
            if row < len(known):
                for x in range(states):
                    answer[i, x] = known[row, x]
                    answer_logs[i, x] = math.log(known[row, x])
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
                        logs[u, x] = answer_logs[j, x]
            fill_row(t, row, 0, 0.0, tiers, counts, rows, logs, bases)
            for x in range(states):
                answer[i, x] = rows[t, x]
                answer_logs[i, x] = logs[t, x]


@njit(nogil=True, cache=True)
def fit_tiers(tiers, member, begin, counts, grid, mean, chance, known, score):
    """Fill the weights and strengths of the bases of all tiers with two parents or more.

    And the estimates of all rows, `known`.

    `grid` has the strengths tried, and `mean` is their prior mean; chance[c] becomes their
    distribution for base c. score[t] becomes the
    leave-one-out log score of tier t: the sum over observations of the log probability of its
    state, with the observation taken out of this tier and all below, weights and strengths kept.
    """
    below, second = tiers[0], tiers[1]
    number, states = len(below), counts.shape[1]
    # Cells with one observation or more can give up a whole one, and a cell of a coarser tier has
    # no fewer: what is left there is stored once, and every finer tier reads it.
    entry, entries = _entries(begin, counts)
    left, left_logs = np.empty((entries, states)), np.empty((entries, states))
    known_logs = np.empty(known.shape)
    rows, logs = np.empty((number, states)), np.empty((number, states))
    bases = np.empty((below.shape[1] + MEANS, states))
    example = _examples(member, len(counts))
    nothing = np.empty((0, states))
    for t in range(number):
        if below[t, 0] >= 0:
            _weigh_bases(
                t,
                tiers,
                member,
                begin,
                counts,
                example,
                entry,
                left,
                left_logs,
                grid,
                mean,
                chance,
                rows,
                logs,
                bases,
            )
        for row in range(begin[t], begin[t + 1]):
            places = member[:, example[row]]
            for lists in (below, second):
                for b in range(lists.shape[1]):
                    u = lists[t, b]
                    if u < 0:
                        break
                    for x in range(states):
                        rows[u, x] = known[places[u], x]
                        logs[u, x] = known_logs[places[u], x]
            fill_row(t, row, 0, 0.0, tiers, counts, rows, logs, bases)
            for x in range(states):
                known[row, x] = rows[t, x]
                known_logs[row, x] = logs[t, x]
        score[t] = _leave_out(
            t,
            tiers,
            member,
            begin,
            counts,
            example,
            entry,
            left,
            left_logs,
            rows,
            logs,
            bases,
            nothing,
        )


@njit(nogil=True, cache=True)
def leave_out(tiers, member, begin, counts, answer):
    """Fill answer `[cell, state]`: rows of the last tier without one observation of a cell.

    There is one for each cell that has observations, in order. Weights and strengths stay.
    """
    number, states = len(tiers[0]), counts.shape[1]
    entry, entries = _entries(begin, counts)
    left, left_logs = np.empty((entries, states)), np.empty((entries, states))
    rows, logs = np.empty((number, states)), np.empty((number, states))
    bases = np.empty((tiers[0].shape[1] + MEANS, states))
    example = _examples(member, len(counts))
    nothing = np.empty((0, states))
    for t in range(number):
        _leave_out(
            t,
            tiers,
            member,
            begin,
            counts,
            example,
            entry,
            left,
            left_logs,
            rows,
            logs,
            bases,
            answer if t == number - 1 else nothing,
        )


@njit(nogil=True, cache=True)
def _entries(begin, counts):
    """Number the cells that can give up a whole observation, of all tiers but the last.

    The number of such a cell is entry[row, state], that of any other -1.
    """
    states = counts.shape[1]
    entry = np.full(counts.shape, -1, np.int64)
    entries = 0
    for row in range(begin[-2]):
        for x in range(states):
            if counts[row, x] >= 1.0:
                entry[row, x] = entries
                entries += 1
    return entry, entries


@njit(nogil=True, cache=True)
def _examples(member, rows):
    """Return a configuration that each row of `counts` belongs to."""
    example = np.empty(rows, np.int64)
    for t in range(len(member)):
        for i in range(member.shape[1]):
            example[member[t, i]] = i
    return example


@njit(nogil=True, cache=True)
def _leave_out(
    t,
    tiers,
    member,
    begin,
    counts,
    example,
    entry,
    left,
    left_logs,
    rows,
    logs,
    bases,
    answer,
):
    """Return the leave-one-out log score of tier t, and store the rows that finer tiers need.

    Unless it is empty, `answer` gets the rows of all cells.
    """
    states, last = counts.shape[1], t == len(tiers[0]) - 1
    score, cell = 0.0, 0
    for row in range(begin[t], begin[t + 1]):
        for x in range(states):
            n = counts[row, x]
            if n <= 0.0:
                continue
            gone = min(n, 1.0)
            _fill_below(
                t,
                member[:, example[row]],
                x,
                gone,
                tiers,
                counts,
                entry,
                left,
                left_logs,
                rows,
                logs,
                bases,
            )
            fill_row(t, row, x, gone, tiers, counts, rows, logs, bases)
            score += n * logs[t, x]
            if not last and n >= 1.0:
                k = entry[row, x]
                for z in range(states):
                    left[k, z] = rows[t, z]
                    left_logs[k, z] = logs[t, z]
            if len(answer):
                for z in range(states):
                    answer[cell, z] = rows[t, z]
                cell += 1
    return score


@njit(nogil=True, cache=True)
def _fill_below(t, places, state, gone, tiers, counts, entry, left, left_logs, rows, logs, bases):
    """Fill the rows of the tiers that tier t leans on, with an observation left out of each."""
    below, second, within = tiers[:3]
    states = counts.shape[1]
    if gone == 1.0:
        for lists in (below, second):
            for b in range(lists.shape[1]):
                u = lists[t, b]
                if u < 0:
                    break
                k = entry[places[u], state]
                for x in range(states):
                    rows[u, x] = left[k, x]
                    logs[u, x] = left_logs[k, x]
    else:
        for u in range(t):
            if within[t, u]:
                fill_row(u, places[u], state, gone, tiers, counts, rows, logs, bases)


@njit(nogil=True, cache=True)
def _weigh_bases(
    t,
    tiers,
    member,
    begin,
    counts,
    example,
    entry,
    left,
    left_logs,
    grid,
    mean,
    chance,
    rows,
    logs,
    bases,
):
    """Fill weights and strengths of the bases of tier t, from how they predict what is left out."""
    below, second, _, first, weight, strength, _ = tiers
    states, tried = counts.shape[1], len(grid)
    number = first[t + 1] - first[t]
    scores, products = np.zeros((number, tried)), np.ones((number, tried))
    totals, shares = np.zeros(tried), np.ones(tried)
    for row in range(begin[t], begin[t + 1]):
        total = 0.0
        for x in range(states):
            total += counts[row, x]
        for x in range(states):
            n = counts[row, x]
            if n <= 0.0:
                continue
            gone = min(n, 1.0)
            _fill_below(
                t,
                member[:, example[row]],
                x,
                gone,
                tiers,
                counts,
                entry,
                left,
                left_logs,
                rows,
                logs,
                bases,
            )
            fill_bases(t, below, second, rows, logs, bases)
            for c in range(number):
                _collect(n, n - gone, bases[c, x], grid, products[c], scores[c])
            _collect(n, total - gone, 1.0, grid, shares, totals)
    tops = np.full(number, -np.inf)
    for c in range(number):
        for g in range(tried):
            s = grid[g]
            scores[c, g] += math.log(products[c, g]) - totals[g] - math.log(shares[g])
            scores[c, g] += 2.0 * math.log(s) - 2.0 * s / mean
            tops[c] = max(tops[c], scores[c, g])
    whole = 0.0
    for c in range(number):
        mass, moment = 0.0, 0.0
        for g in range(tried):
            part = math.exp(scores[c, g] - tops[c])
            chance[first[t] + c, g] = part
            mass += part
            moment += part * math.log(grid[g])
        for g in range(tried):
            chance[first[t] + c, g] /= mass
        strength[first[t] + c] = math.exp(moment / mass)
        weight[first[t] + c] = mass * math.exp(tops[c] - tops.max())
        whole += weight[first[t] + c]
    for c in range(number):
        weight[first[t] + c] /= whole


@njit(nogil=True, cache=True)
def _collect(n, rest, lean, grid, product, logs):
    """Add n log(rest + s lean) to logs, for all s of the grid; single factors are multiplied."""
    if n == 1.0:
        for g in range(len(grid)):
            product[g] *= rest + grid[g] * lean
        # The factors grow with s, so the outermost ones tell.
        if product[0] < _SMALL or product[len(grid) - 1] > _LARGE:
            for g in range(len(grid)):
                logs[g] += math.log(product[g])
                product[g] = 1.0
    else:
        for g in range(len(grid)):
            logs[g] += n * math.log(rest + grid[g] * lean)

"""How much a row of a tier leans on what: learned by leaving one observation out.

For the words see `tiers`. The weight of a base and its strength come from how well it predicts each
observation from the others: with one observation gone from this tier and all below. What the tiers
below say then is stored once for each of their cells, and read by all finer tiers.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.tiers import MEANS, fill_bases, mix_bases, neighbours

# Products of factors within these bounds cannot overflow with a few more factors.
_SMALL, _LARGE = 1e-140, 1e140
# Counts up to this one are powers that are multiplied out; logarithms take longer.
_MAX_POWER = 8.0
# Bases of all cells of a tier are kept up to so many numbers, 32 MB, and else computed twice.
_MAX_KEPT = 1 << 22


@entry
def fit_tiers(tiers, member, begin, counts, grid, means, chance, known, score, answer):
    """Fill the weights and strengths of the bases of all tiers that lean on others.

    And the estimates of all rows, `known`. `grid` has the strengths tried, and means[t] is their
    prior mean in tier t; chance[c] becomes their distribution for base c. score[t] becomes the
    leave-one-out log score of tier t: the sum over observations of the log probability of its
    state, with the observation taken out of this tier and all below, weights and strengths kept.
    answer `[cell, state]` becomes the rows of the last tier without one observation of a cell, for
    each cell that has observations, in order.
    """
    number, states = len(tiers[0]), counts.shape[1]
    # Cells with one observation or more can give up a whole one, and a cell of a coarser tier has
    # no fewer: what is left there is stored once, and every finer tier reads it.
    entry, entries = _entries(begin, counts)
    left = np.empty((entries, states))
    room = tiers[0].shape[1] + tiers[1].shape[1]
    bases = np.empty((room + MEANS, states))
    who, under = np.empty(room, np.int64), np.empty(room, np.int64)
    example = _examples(member, len(counts))
    for t in range(number):
        wide, deep = neighbours(t, tiers, who)
        cells = 0
        if wide:
            for row in range(begin[t], begin[t + 1]):
                for x in range(states):
                    cells += counts[row, x] > 0.0
        number_of_bases = wide + MEANS if wide > 1 else wide
        if cells * number_of_bases * states > _MAX_KEPT:
            cells = 0
        kept = np.empty((cells, number_of_bases, states))
        store = (entry, left, kept)
        if wide:
            _weigh_bases(
                t, tiers, member, begin, counts, example, store, grid, means[t], chance, bases
            )
        for row in range(begin[t], begin[t + 1]):
            if wide:
                for b in range(wide + deep):
                    under[b] = member[who[b], example[row]]
                fill_bases(under, wide, deep, known, bases)
            mix_bases(t, row, np.int64(0), 0.0, tiers, counts, bases, known[row])
        score[t] = _leave_out(t, tiers, member, begin, counts, example, store, bases, answer)


@part
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


@part
def _examples(member, rows):
    """Return a configuration that each row of `counts` belongs to."""
    example = np.empty(rows, np.int64)
    for t in range(len(member)):
        for i in range(member.shape[1]):
            example[member[t, i]] = i
    return example


@part
def _leave_out(t, tiers, member, begin, counts, example, store, bases, answer):
    """Return the leave-one-out log score of tier t, and store the rows that finer tiers need.

    Those of the last tier are the answer.
    """
    entry, left, kept = store
    states, last = counts.shape[1], t == len(tiers[0]) - 1
    room = tiers[0].shape[1] + tiers[1].shape[1]
    who, under = np.empty(room, np.int64), np.empty(room, np.int64)
    rows, found = np.empty((len(tiers[0]), states)), np.empty(states)
    wide, deep = neighbours(t, tiers, who)
    score, cell = 0.0, -1
    for row in range(begin[t], begin[t + 1]):
        for x in range(states):
            n = counts[row, x]
            if n <= 0.0:
                continue
            cell += 1
            gone = min(n, 1.0)
            if len(kept):
                mix_bases(t, row, x, gone, tiers, counts, kept[cell], found)
            else:
                places = member[:, example[row]]
                _fill_left_out(
                    t, wide, deep, places, x, gone, tiers, counts, store, who, under, rows, bases
                )
                mix_bases(t, row, x, gone, tiers, counts, bases, found)
            score += n * math.log(found[x])
            if last:
                for z in range(states):
                    answer[cell, z] = found[z]
            elif n >= 1.0:
                k = entry[row, x]
                for z in range(states):
                    left[k, z] = found[z]
    return score


@part
def _fill_left_out(
    t, wide, deep, places, state, gone, tiers, counts, store, who, under, rows, bases
):
    """Fill the bases of a row of tier t with an observation left out of all tiers below.

    `who` are its neighbours; `under` and rows `[tier, state]` are room to work.
    """
    if not wide:
        return
    entry, left, _ = store
    if gone == 1.0:
        for b in range(wide + deep):
            under[b] = entry[places[who[b]], state]
        fill_bases(under, wide, deep, left, bases)
        return
    within = tiers[2]
    near = np.empty_like(who)
    for u in range(t):
        if within[t, u]:
            near_wide, near_deep = neighbours(u, tiers, near)
            if near_wide:
                fill_bases(near, near_wide, near_deep, rows, bases)
            mix_bases(u, places[u], state, gone, tiers, counts, bases, rows[u])
    fill_bases(who, wide, deep, rows, bases)


@part
def _weigh_bases(t, tiers, member, begin, counts, example, store, grid, mean, chance, bases):
    """Fill weights and strengths of the bases of tier t, from how they predict what is left out."""
    first, weight, strength = tiers[3:6]
    kept = store[2]
    states, tried = counts.shape[1], len(grid)
    number = first[t + 1] - first[t]
    scores, products = np.zeros((number, tried)), np.ones((number, tried))
    # The only observation of a cell is predicted by s times the base: s is a factor of its own.
    alone, alone_logs, alone_cells = np.ones(number), np.zeros(number), 0
    totals, shares = np.zeros(tried), np.ones(tried)
    room = tiers[0].shape[1] + tiers[1].shape[1]
    who, under = np.empty(room, np.int64), np.empty(room, np.int64)
    rows = np.empty((len(tiers[0]), states))
    wide, deep = neighbours(t, tiers, who)
    cell = 0
    for row in range(begin[t], begin[t + 1]):
        total, whole = 0.0, True
        for x in range(states):
            total += counts[row, x]
            whole = whole and not 0.0 < counts[row, x] < 1.0
        if whole:
            _collect(total, total - 1.0, 1.0, grid, shares, totals)
        for x in range(states):
            n = counts[row, x]
            if n <= 0.0:
                continue
            gone = min(n, 1.0)
            here = kept[cell] if len(kept) else bases
            cell += 1
            places = member[:, example[row]]
            _fill_left_out(
                t, wide, deep, places, x, gone, tiers, counts, store, who, under, rows, here
            )
            if n == 1.0:
                alone_cells += 1
                for c in range(number):
                    alone[c] *= here[c, x]
                    if alone[c] < _SMALL:
                        alone_logs[c] += math.log(alone[c])
                        alone[c] = 1.0
            else:
                for c in range(number):
                    _collect(n, n - gone, here[c, x], grid, products[c], scores[c])
            if not whole:
                _collect(n, total - gone, 1.0, grid, shares, totals)
    tops = np.full(number, -np.inf)
    for c in range(number):
        for g in range(tried):
            s = grid[g]
            scores[c, g] += math.log(products[c, g]) - totals[g] - math.log(shares[g])
            scores[c, g] += alone_logs[c] + math.log(alone[c]) + alone_cells * math.log(s)
            scores[c, g] += 2.0 * math.log(s) - 2.0 * s / mean
            tops[c] = max(tops[c], scores[c, g])
    total = 0.0
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
        total += weight[first[t] + c]
    for c in range(number):
        weight[first[t] + c] /= total


@part
def _collect(n, rest, lean, grid, product, logs):
    """Add n log(rest + s lean) to logs, for all s of the grid; small powers are multiplied."""
    tried = len(grid)
    if n <= _MAX_POWER and n == math.floor(n):
        for g in range(tried):
            factor = rest + grid[g] * lean
            power = factor
            for _ in range(int(n) - 1):
                power *= factor
            product[g] *= power
        # The factors grow with s, so the outermost ones tell.
        if product[0] < _SMALL or product[tried - 1] > _LARGE:
            for g in range(tried):
                logs[g] += math.log(product[g])
                product[g] = 1.0
    else:
        for g in range(tried):
            logs[g] += n * math.log(rest + grid[g] * lean)

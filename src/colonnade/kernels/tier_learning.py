"""How much a row of a tier leans on what: learned by leaving one observation out.

For the words see `tiers`. The weight of a base and its strength come from how well it predicts each
observation from the others: with one observation gone from this tier and all below. What the tiers
below say then is stored once for each of their cells, and read by all finer tiers.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.tiers import MEANS, fill_bases, fill_row, mix_bases

# Products of factors within these bounds cannot overflow with a few more factors.
_SMALL, _LARGE = 1e-140, 1e140
# Counts up to this one are powers that are multiplied out; logarithms take longer.
_MAX_POWER = 8.0
# Bases of all cells of a tier are kept up to so many numbers, 32 MB, and else computed twice.
_MAX_KEPT = 1 << 22


@njit(nogil=True, cache=True)
def fit_tiers(tiers, member, begin, counts, grid, means, chance, known, score, answer):
    """Fill the weights and strengths of the bases of all tiers that lean on others.

    And the estimates of all rows, `known`. `grid` has the strengths tried, and means[t] is their
    prior mean in tier t; chance[c] becomes their distribution for base c. score[t] becomes the
    leave-one-out log score of tier t: the sum over observations of the log probability of its
    state, with the observation taken out of this tier and all below, weights and strengths kept.
    answer `[cell, state]` becomes the rows of the last tier without one observation of a cell, for
    each cell that has observations, in order.
    """
    below, second = tiers[0], tiers[1]
    number, states = len(below), counts.shape[1]
    # Cells with one observation or more can give up a whole one, and a cell of a coarser tier has
    # no fewer: what is left there is stored once, and every finer tier reads it.
    entry, entries = _entries(begin, counts)
    left = np.empty((entries, states))
    rows = np.empty((number, states))
    bases = np.empty((below.shape[1] + MEANS, states))
    example = _examples(member, len(counts))
    for t in range(number):
        wide = bases.shape[0] if below[t, 0] >= 0 else 0
        cells = 0
        if wide:
            for row in range(begin[t], begin[t + 1]):
                for x in range(states):
                    cells += counts[row, x] > 0.0
        if cells * wide * states > _MAX_KEPT:
            cells = 0
        kept = np.empty((cells, wide, states))
        store = (entry, left, kept)
        if wide:
            _weigh_bases(
                t, tiers, member, begin, counts, example, store, grid, means[t], chance, rows, bases
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
            fill_row(t, row, 0, 0.0, tiers, counts, rows, bases)
            for x in range(states):
                known[row, x] = rows[t, x]
        score[t] = _leave_out(t, tiers, member, begin, counts, example, store, rows, bases, answer)


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
def _leave_out(t, tiers, member, begin, counts, example, store, rows, bases, answer):
    """Return the leave-one-out log score of tier t, and store the rows that finer tiers need.

    Those of the last tier are the answer.
    """
    entry, left, kept = store
    states, last = counts.shape[1], t == len(tiers[0]) - 1
    score, cell = 0.0, -1
    found = rows[t]
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
                if tiers[0][t, 0] >= 0:
                    _fill_below(
                        t, member[:, example[row]], x, gone, tiers, counts, store, rows, bases
                    )
                fill_row(t, row, x, gone, tiers, counts, rows, bases)
            score += n * math.log(found[x])
            if last:
                for z in range(states):
                    answer[cell, z] = found[z]
            elif n >= 1.0:
                k = entry[row, x]
                for z in range(states):
                    left[k, z] = found[z]
    return score


@njit(nogil=True, cache=True)
def _fill_below(t, places, state, gone, tiers, counts, store, rows, bases):
    """Fill the rows of the tiers that tier t leans on, with an observation left out of each."""
    below, second, within = tiers[:3]
    entry, left, _ = store
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
    else:
        for u in range(t):
            if within[t, u]:
                fill_row(u, places[u], state, gone, tiers, counts, rows, bases)


@njit(nogil=True, cache=True)
def _weigh_bases(t, tiers, member, begin, counts, example, store, grid, mean, chance, rows, bases):
    """Fill weights and strengths of the bases of tier t, from how they predict what is left out."""
    below, second, _, first, weight, strength, _ = tiers
    kept = store[2]
    states, tried = counts.shape[1], len(grid)
    number = first[t + 1] - first[t]
    scores, products = np.zeros((number, tried)), np.ones((number, tried))
    # The only observation of a cell is predicted by s times the base: s is a factor of its own.
    alone, alone_logs, alone_cells = np.ones(number), np.zeros(number), 0
    totals, shares = np.zeros(tried), np.ones(tried)
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
            _fill_below(t, member[:, example[row]], x, gone, tiers, counts, store, rows, bases)
            here = kept[cell] if len(kept) else bases
            cell += 1
            fill_bases(t, below, second, rows, here)
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


@njit(nogil=True, cache=True)
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

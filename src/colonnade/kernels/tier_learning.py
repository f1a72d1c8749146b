"""Learning the tiers of a table: how much each base weighs, by leaving one observation out.

Of each cell with observations one is taken out of all tiers, and the rest predicts it. Rows, and
what they are without one of their observations, are estimated side by side, tier by tier: see
`tiers`.
"""

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.special import logarithm
from colonnade.kernels.strength_scores import fill_scores, logs_of, weigh_bases
from colonnade.kernels.tiers import (
    FACTORS,
    MEANS,
    STORED,
    TOTALS,
    fill_bases,
    leaned_on,
    mix_bases,
    store_block,
)

# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300
# Bases of all rows of a tier are kept up to so many numbers, 32 MB, and else computed twice.
_MAX_KEPT = 1 << 22


@entry
def fit_tiers(lanes, tiers, member, begin, counts, grid, means, chance, known, score, answer):
    """Fill the weights and strengths of the bases of all tiers that lean on others.

    And the estimates of all rows, `known`. `grid` has the strengths tried, and means[t] is their
    prior mean in tier t; chance[c] becomes their distribution for base c. score[t] becomes the
    leave-one-out log score of tier t: the sum over observations of the log probability of its
    state, with the observation taken out of this tier and all below, weights and strengths kept.
    answer `[cell, state]` becomes the rows of the last tier without one observation of a cell, for
    each cell that has observations, in order.
    """
    below, within, degree, first, weight, strength = tiers[:6]
    number, states = len(below), counts.shape[1]
    logs = logs_of(grid)
    # Cells with one observation or more can give up a whole one, and a cell of a coarser tier has
    # no fewer: what is left there is stored once, after all rows, and every finer tier reads it.
    entry, entries = _entries(begin, counts)
    # After those are the tiers of one block without less than one observation.
    fresh = len(known) + entries
    rows = np.empty((fresh + number * lanes, STORED * states))
    example = _examples(member, len(counts))
    who, place = np.empty(below.shape[1], np.int64), np.zeros((below.shape[1], lanes), np.int64)
    bases, scale = np.empty((below.shape[1] + FACTORS, states * lanes)), np.empty((3, lanes))
    own, room = np.empty(states * lanes), np.empty((STORED, states * lanes))
    found = room[0]
    lent = np.empty((below.shape[1] + MEANS + TOTALS, lanes))
    kept, kept_scale = _room(begin, counts, len(bases), lanes)
    target, themselves = np.empty(lanes, np.int64), np.empty(len(counts), np.int32)
    for row in range(len(counts)):
        themselves[row] = row
    under = np.empty((below.shape[1], len(counts)), np.int32)
    for t in range(number):
        # The rows that the rows of this tier lean on.
        for b in range(leaned_on(t, below, who)):
            for row in range(begin[t], begin[t + 1]):
                under[b, row] = member[who[b], example[row]]
        items, listed = _items(begin[t], begin[t + 1], counts, lanes)
        blocks, learned = len(items) // lanes, below[t, 0] >= 0
        every = learned and blocks <= len(kept)
        values = np.empty((first[t + 1] - first[t], len(items)))
        score[t] = 0.0
        # At first bases are made, to learn their weights, and then mixed.
        for mixing in range(0 if learned else 1, 2):
            for block in range(blocks):
                some = items[block * lanes : (block + 1) * lanes]
                whole = _whole(some, counts)
                again = not (mixing and every)
                # Where there is less than one observation, the tiers below are computed without it.
                for u in range(0 if again and not whole else t, t + 1):
                    if not within[t, u]:
                        continue
                    wide = leaned_on(u, below, who)
                    last = block if every else 0
                    made, factor = (kept[last], kept_scale[last]) if u == t else (bases, scale)
                    if again or u < t:
                        for b in range(wide):
                            if whole:
                                _find(some, under[b], entry, len(known), place[b])
                            else:
                                _count_from(fresh + who[b] * lanes, place[b])
                        fill_bases(wide, place, rows, made, factor)
                    if u == t and not mixing:
                        _predict(wide, some, made, factor, block * lanes, values)
                        continue
                    _fill_own(u, t, some, member, example, counts, own)
                    _count_from(fresh + u * lanes, target)
                    if u == t:
                        _find(some, themselves, entry, len(known), target)
                    mix_bases(u, wide, tiers, own, made, factor, lent, found)
                    mean = found if u == 0 else made[wide if wide > 1 else 0]
                    store_block(target, degree[u], mean, room, rows)
                if mixing:
                    score[t] += _add_logs(some, counts, found, lent)
                if mixing and t == number - 1:
                    for lane in range(min(lanes, listed - block * lanes)):
                        for z in range(states):
                            answer[block * lanes + lane, z] = found[z * lanes + lane]
            if not mixing:
                here, end = first[t], first[t + 1]
                scores = np.empty((len(values), len(grid)))
                _fill_scores(items[:listed], counts, values, grid, logs, scores)
                own_weight, own_strength = weight[here:end], strength[here:end]
                weigh_bases(
                    scores, grid, logs, means[t], own_weight, own_strength, chance[here:end]
                )
    for row in range(len(known)):
        for z in range(states):
            known[row, z] = rows[row, z]


@part
def _fill_own(u, t, some, member, example, counts, own):
    """Fill own `[state * lane]` with counts in tier u of rows of tier t, less what is left out."""
    lanes, states = len(some), counts.shape[1]
    for lane in range(lanes):
        row, x = some[lane, 0], some[lane, 1]
        here = row if u == t else member[u, example[row]]
        for z in range(states):
            own[z * lanes + lane] = counts[here, z]
        if x >= 0:
            own[x * lanes + lane] -= min(counts[row, x], 1.0)


@part
def _room(begin, counts, arrays, lanes):
    """Return room for the bases of all blocks of a tier, or of one block if they are too many."""
    most, states = 0, counts.shape[1]
    for t in range(len(begin) - 1):
        items = begin[t + 1] - begin[t]
        for row in range(begin[t], begin[t + 1]):
            for x in range(states):
                items += counts[row, x] > 0.0
        most = max(most, -(-items // lanes))
    blocks = most if most * arrays * states * lanes <= _MAX_KEPT else 1
    return np.empty((blocks, arrays, states * lanes)), np.empty((blocks, 3, lanes))


@part
def _entries(begin, counts):
    """Number the cells that can give up a whole observation, of all tiers but the last.

    The number of such a cell is entry[row, state], that of any other -1.
    """
    states = counts.shape[1]
    entry = np.full(counts.shape, -1, np.int32)
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
def _items(low, high, counts, lanes):
    """List what is estimated of the rows low..high: `[., 2]`, a row and a state.

    At first, and as many as is returned, the cells of which an observation is left out, in order.
    Then all rows as they are, with the state -1, and repetitions to fill the last block.
    """
    states, listed = counts.shape[1], 0
    for row in range(low, high):
        for x in range(states):
            listed += counts[row, x] > 0.0
    number = listed + high - low
    items = np.empty((-(-number // lanes) * lanes, 2), np.int64)
    cell = 0
    for row in range(low, high):
        for x in range(states):
            if counts[row, x] > 0.0:
                items[cell, 0], items[cell, 1] = row, x
                cell += 1
    for k in range(listed, len(items)):
        items[k, 0], items[k, 1] = min(low + k - listed, high - 1), -1
    return items, listed


@part
def _whole(some, counts):
    """Whether each cell of a block has one observation or more."""
    whole = True
    for lane in range(len(some)):
        row, x = some[lane, 0], some[lane, 1]
        whole = whole and (x < 0 or counts[row, x] >= 1.0)
    return whole


@part
def _find(some, rows, entry, shift, place):
    """Find where estimates are stored: of rows, or without one observation, if that can be had."""
    for lane in range(len(some)):
        row, x = rows[some[lane, 0]], some[lane, 1]
        if x < 0:
            place[lane] = row
        elif entry[row, x] >= 0:
            place[lane] = shift + entry[row, x]


@part
def _count_from(first, place):
    """Fill places with consecutive numbers."""
    for lane in range(len(place)):
        place[lane] = first + lane


@part
def _predict(wide, some, bases, scale, begin, values):
    """Fill values `[base, item]` with the probabilities that bases give to what was left out."""
    lanes = len(some)
    for lane in range(lanes):
        x = some[lane, 1]
        k = max(x, 0) * lanes + lane
        total = 0.0
        for b in range(wide):
            values[b, begin + lane] = bases[b, k]
            total += bases[b, k]
        if wide > 1:
            g, v = bases[wide, k], bases[wide + 1, k]
            values[wide, begin + lane] = total / wide
            values[wide + 1, begin + lane] = g * scale[0, lane]
            values[wide + 2, begin + lane] = g * v * v * scale[2, lane]
            values[wide + 3, begin + lane] = g * v * scale[1, lane]


@part
def _add_logs(some, counts, found, lent):
    """Return the sum of the log probabilities of what was left out of a block."""
    lanes = len(some)
    chosen, logs = lent[0], lent[1]
    chosen[:] = 1.0
    for lane in range(lanes):
        if some[lane, 1] >= 0:
            chosen[lane] = max(found[some[lane, 1] * lanes + lane], _SMALLEST)
    for lane in range(lanes):
        logs[lane] = logarithm(chosen[lane])
    total = 0.0
    for lane in range(lanes):
        if some[lane, 1] >= 0:
            total += counts[some[lane, 0], some[lane, 1]] * logs[lane]
    return total


@part
def _fill_scores(cells, counts, values, grid, logs, scores):
    """Fill how well each base predicts what is left out: see `fill_scores`."""
    times, beside = np.empty(len(cells)), np.empty(len(cells))
    here, total = -1, 0.0
    for cell in range(len(cells)):
        row = cells[cell, 0]
        if row != here:
            here, total = row, 0.0
            for z in range(counts.shape[1]):
                total += counts[row, z]
        times[cell] = counts[row, cells[cell, 1]]
        beside[cell] = total - min(times[cell], 1.0)
    fill_scores(times, beside, values, grid, logs, scores)

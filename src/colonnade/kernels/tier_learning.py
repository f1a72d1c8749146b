"""How much a row of a tier leans on what: learned by leaving one observation out.

For the words see `tiers`. The weight of a base and its strength come from how well it predicts each
observation from the others: with one observation gone from this tier and all below. What the tiers
below say then is stored once for each of their cells, and read by all finer tiers.

Cells of a tier that have observations are taken in blocks: `cells` `[cell, 2]` lists their row and
state, and the first ones are repeated until the last block is full.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.special import logarithm
from colonnade.kernels.tiers import MEANS, fill_bases, mix_bases, neighbours

# Products of numbers up to one are kept above this, and powers that they are multiplied with above
# a smaller bound, whose logarithm this is: then none is too small for a number.
_SMALL, _LOG_OF_SMALLEST = 1e-70, -345.0
# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300
# Bases of all cells of a tier are kept up to so many numbers, 32 MB, and else computed twice.
_MAX_KEPT = 1 << 22
# Strengths that can be tried: a number that the compiler knows.
MAX_TRIED = 16


@entry
def fit_tiers(
    lanes, tiers, member, begin, counts, grid, tried, means, chance, known, score, answer
):
    """Fill the weights and strengths of the bases of all tiers that lean on others.

    And the estimates of all rows, `known`. `grid` has the strengths tried, filled up to MAX_TRIED,
    and means[t] is their prior mean in tier t; chance[c] becomes their distribution for base c.
    score[t] becomes the leave-one-out log score of tier t: the sum over observations of the log
    probability of its state, with the observation taken out of this tier and all below, weights and
    strengths kept. answer `[cell, state]` becomes the rows of the last tier without one observation
    of a cell, for each cell that has observations, in order.
    """
    number, states = len(tiers[0]), counts.shape[1]
    # Cells with one observation or more can give up a whole one, and a cell of a coarser tier has
    # no fewer: what is left there is stored once, and every finer tier reads it.
    entry, entries = _entries(begin, counts)
    left, estimates = np.empty(entries * states), known.reshape(-1)
    room = tiers[0].shape[1] + tiers[1].shape[1]
    who = np.empty(room, np.int64)
    bases, scale = np.empty((room + MEANS, states, lanes)), np.empty((room + MEANS, lanes))
    own, work, found = np.empty((states, lanes)), np.empty((3, lanes)), np.empty((states, lanes))
    ones, place = np.ones(room, np.uint64), np.zeros((room, lanes), np.uint64)
    example = _examples(member, len(counts))
    for t in range(number):
        wide, deep = neighbours(t, tiers, who)
        listed, cells = _listed(begin[t], begin[t + 1], counts, lanes)
        blocks = len(cells) // lanes
        number_of_bases = wide + MEANS if wide > 1 else wide
        if blocks * number_of_bases * states * lanes > _MAX_KEPT:
            blocks = 1
        kept = np.empty((blocks, number_of_bases, states, lanes))
        store = (example, entry, left, kept, np.empty((blocks, number_of_bases, lanes)))
        rows = counts[begin[t] : begin[t + 1]]
        if wide:
            scores = _scores(t, tiers, member, counts, listed, cells, store, grid)
            _weigh_bases(t, tiers, scores, grid[:tried], means[t], chance)
        for row in range(0, len(rows), lanes):
            for lane in range(lanes):
                one = min(row + lane, len(rows) - 1)
                for x in range(states):
                    own[x, lane] = rows[one, x]
                for b in range(wide + deep):
                    place[b, lane] = member[who[b], example[begin[t] + one]] * states
            if wide:
                fill_bases(wide, deep, place, ones, estimates, bases, scale)
            mix_bases(t, tiers, own, bases, scale, work, found)
            for lane in range(min(lanes, len(rows) - row)):
                for x in range(states):
                    known[begin[t] + row + lane, x] = found[x, lane]
        score[t] = _leave_out(t, tiers, member, counts, listed, cells, store, answer)


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
def _listed(low, high, counts, lanes):
    """Return how many cells of the rows low..high have observations, and list them."""
    states, listed = counts.shape[1], 0
    for row in range(low, high):
        for x in range(states):
            listed += counts[row, x] > 0.0
    cells = np.empty((-(-listed // lanes) * lanes, 2), np.int64)
    cell = 0
    for row in range(low, high):
        for x in range(states):
            if counts[row, x] > 0.0:
                cells[cell, 0], cells[cell, 1] = row, x
                cell += 1
    for cell in range(listed, len(cells)):
        cells[cell, 0], cells[cell, 1] = cells[cell - listed, 0], cells[cell - listed, 1]
    return listed, cells


@part
def _fill_own(cells, counts, rows, own):
    """Fill own `[state, lane]` with the counts of rows, without one observation of each cell."""
    for lane in range(len(cells)):
        x = cells[lane, 1]
        for z in range(len(own)):
            own[z, lane] = counts[rows[lane], z]
        own[x, lane] -= min(counts[cells[lane, 0], x], 1.0)


@part
def _fill_left_out(t, tiers, member, counts, cells, store, bases, scale):
    """Fill the bases of a block of cells of tier t, with an observation of each left out below."""
    example, entry, left = store[:3]
    states, lanes = counts.shape[1], len(cells)
    room = tiers[0].shape[1] + tiers[1].shape[1]
    who, steps = np.empty(room, np.int64), np.ones(room, np.uint64)
    place = np.zeros((room, lanes), np.uint64)
    whole = True
    for lane in range(lanes):
        whole = whole and counts[cells[lane, 0], cells[lane, 1]] >= 1.0
    # Where there is less than one observation, the tiers below are computed without it.
    fresh = np.empty((0 if whole else t, states, lanes))
    rows, own, work = np.empty(lanes, np.int64), np.empty((states, lanes)), np.empty((3, lanes))
    source = left if whole else fresh.reshape(-1)
    for u in range(t if whole else 0, t + 1):
        if not tiers[2][t, u]:
            continue
        wide, deep = neighbours(u, tiers, who)
        for b in range(wide + deep):
            if not whole:
                steps[b] = lanes
            for lane in range(lanes):
                if whole:
                    row = member[who[b], example[cells[lane, 0]]]
                    place[b, lane] = entry[row, cells[lane, 1]] * states
                else:
                    place[b, lane] = who[b] * states * lanes + lane
        if wide:
            fill_bases(wide, deep, place, steps, source, bases, scale)
        if u < t:
            for lane in range(lanes):
                rows[lane] = member[u, example[cells[lane, 0]]]
            _fill_own(cells, counts, rows, own)
            mix_bases(u, tiers, own, bases, scale, work, fresh[u])


@part
def _scores(t, tiers, member, counts, listed, cells, store, grid):
    """Return how well each base of tier t predicts what is left out, `[base, strength]`."""
    first = tiers[3]
    kept, kept_scale = store[3], store[4]
    lanes = kept.shape[3]
    number = first[t + 1] - first[t]
    # All strengths of all bases in one row: long loops have vector instructions.
    logs, products = np.zeros(number * MAX_TRIED), np.ones(number * MAX_TRIED)
    strengths, leans = np.empty(number * MAX_TRIED), np.empty(number * MAX_TRIED)
    divisors, factors = np.empty(number * MAX_TRIED), np.empty(number * MAX_TRIED)
    for k in range(len(strengths)):
        strengths[k] = grid[k % MAX_TRIED]
    # The only observation of a cell is predicted by its base times a share that is that of all
    # bases: s / (rest + s), where the rest are the other observations of the row.
    alone, alone_logs = np.ones(number), np.zeros(number)
    shares, share_logs = np.ones(MAX_TRIED), np.zeros(MAX_TRIED)
    here, total, rest = -1, 0.0, -1.0
    for block in range(len(cells) // lanes):
        begin = block * lanes
        bases, scale = kept[block % len(kept)], kept_scale[block % len(kept)]
        _fill_left_out(t, tiers, member, counts, cells[begin : begin + lanes], store, bases, scale)
        for lane in range(min(lanes, listed - begin)):
            row, x = cells[begin + lane, 0], cells[begin + lane, 1]
            n = counts[row, x]
            if row != here:
                here, total = row, 0.0
                for z in range(counts.shape[1]):
                    total += counts[row, z]
            if total - min(n, 1.0) != rest:
                rest = total - min(n, 1.0)
                for g in range(MAX_TRIED):
                    divisors[g] = 1.0 / (rest + grid[g])
                for k in range(MAX_TRIED, len(divisors)):
                    divisors[k] = divisors[k - MAX_TRIED]
            if n != 1.0:
                for c in range(number):
                    lean = bases[c, x, lane] * scale[c, lane]
                    for g in range(MAX_TRIED):
                        leans[c * MAX_TRIED + g] = lean
                _collect(n, leans, strengths, divisors, factors, products, logs)
                continue
            if rest > 0.0:
                for g in range(MAX_TRIED):
                    shares[g] *= grid[g] * divisors[g]
                if shares[0] < _SMALL:
                    _take_out(0, MAX_TRIED, shares, share_logs)
            for c in range(number):
                alone[c] *= bases[c, x, lane] * scale[c, lane]
                if alone[c] < _SMALL:
                    alone_logs[c] += math.log(alone[c])
                    alone[c] = 1.0
    _take_out(0, MAX_TRIED, shares, share_logs)
    _take_out(0, len(products), products, logs)
    for c in range(number):
        alone_logs[c] += math.log(alone[c])
    for k in range(len(logs)):
        logs[k] += share_logs[k % MAX_TRIED] + alone_logs[k // MAX_TRIED]
    return logs.reshape(number, MAX_TRIED)


@part
def _take_out(low, high, products, logs):
    """Add the logarithms of some products to logs, and start these products anew."""
    for k in range(low, high):
        logs[k] += logarithm(products[k])
        products[k] = 1.0


@part
def _collect(n, leans, strengths, divisors, factors, products, logs):
    """Add n log((n - 1 + strength lean) / divisor) to logs, for all leans and strengths.

    The divisors are inverted. Of n less than one nothing is left. Powers are multiplied, unless
    they may be too small: logarithms take longer.
    """
    own, last, size = n - min(n, 1.0), MAX_TRIED - 1, len(factors)
    if n == 2.0:
        for k in range(size):
            factor = (own + strengths[k] * leans[k]) * divisors[k]
            products[k] *= factor * factor
    elif n == math.floor(n) and n * math.log(own * divisors[last]) > _LOG_OF_SMALLEST:
        times = int(n)
        for k in range(size):
            factors[k] = (own + strengths[k] * leans[k]) * divisors[k]
        while times > 0:
            # Two binary digits at a time: what they do not ask for is replaced by one.
            once, twice = float(times & 1), float((times >> 1) & 1)
            for k in range(size):
                factor, square = factors[k], factors[k] * factors[k]
                products[k] *= once * factor + (1.0 - once)
                products[k] *= twice * square + (1.0 - twice)
                factors[k] = square * square
            times >>= 2
    else:
        for k in range(size):
            factors[k] = (own + strengths[k] * leans[k]) * divisors[k]
        least = 1.0
        for k in range(size):
            least = min(least, factors[k])
        for k in range(size):
            logs[k] += n * (logarithm(factors[k]) if least > _SMALLEST else math.log(factors[k]))
        return
    # A factor lies between the outermost ones, so the square of this is below no product.
    for k in range(0, size, MAX_TRIED):
        if products[k] < _SMALL or products[k + last] < _SMALL:
            _take_out(k, k + MAX_TRIED, products, logs)


@part
def _weigh_bases(t, tiers, scores, grid, mean, chance):
    """Fill weights and strengths of the bases of tier t, from how they predict what is left out."""
    first, weight, strength = tiers[3:6]
    number, tried = len(scores), len(grid)
    tops, best = np.full(number, -np.inf), -np.inf
    logs = np.empty(tried)
    for g in range(tried):
        logs[g] = math.log(grid[g])
    for c in range(number):
        for g in range(tried):
            scores[c, g] += 2.0 * logs[g] - 2.0 * grid[g] / mean
            tops[c] = max(tops[c], scores[c, g])
        best = max(best, tops[c])
    total = 0.0
    for c in range(number):
        mass, moment = 0.0, 0.0
        for g in range(tried):
            part = math.exp(scores[c, g] - tops[c])
            chance[first[t] + c, g] = part
            mass += part
            moment += part * logs[g]
        for g in range(tried):
            chance[first[t] + c, g] /= mass
        strength[first[t] + c] = math.exp(moment / mass)
        weight[first[t] + c] = mass * math.exp(tops[c] - best)
        total += weight[first[t] + c]
    for c in range(number):
        weight[first[t] + c] /= total


@part
def _leave_out(t, tiers, member, counts, listed, cells, store, answer):
    """Return the leave-one-out log score of tier t, and store the rows that finer tiers need.

    Those of the last tier are the answer.
    """
    entry, left, kept, kept_scale = store[1:]
    states, last, lanes = counts.shape[1], t == len(tiers[0]) - 1, kept.shape[3]
    own, work, found = np.empty((states, lanes)), np.empty((3, lanes)), np.empty((states, lanes))
    score, again = 0.0, len(kept) * lanes < len(cells) and tiers[0][t, 0] >= 0
    for block in range(len(cells) // lanes):
        begin = block * lanes
        some = cells[begin : begin + lanes]
        bases, scale = kept[block % len(kept)], kept_scale[block % len(kept)]
        if again:
            _fill_left_out(t, tiers, member, counts, some, store, bases, scale)
        _fill_own(some, counts, some[:, 0], own)
        mix_bases(t, tiers, own, bases, scale, work, found)
        for lane in range(lanes):
            work[0, lane] = found[some[lane, 1], lane]
        for lane in range(lanes):
            work[1, lane] = logarithm(work[0, lane])
        for lane in range(min(lanes, listed - begin)):
            row, x = some[lane, 0], some[lane, 1]
            n = counts[row, x]
            score += n * (work[1, lane] if work[0, lane] > _SMALLEST else math.log(work[0, lane]))
            if last:
                for z in range(states):
                    answer[begin + lane, z] = found[z, lane]
            elif n >= 1.0:
                k = entry[row, x] * states
                for z in range(states):
                    left[k + z] = found[z, lane]
    return score

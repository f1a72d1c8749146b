"""The tables of one member of a forest: from codes of rows to logarithms, all features at once.

What is done is what `Tiers` and `Smoothed` do for one table after the other. A table has a few
thousand cells, so that what Python needs to call them takes longer than the work.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.left_out import mix, score_mixtures
from colonnade.kernels.special import replace_by_logs
from colonnade.kernels.tier_learning import learn
from colonnade.kernels.tiers import MEANS, fill_all, project


@entry
def grow_tables(
    lanes, plans, columns, sizes, weights, start, members, smoothed, prior, offset, values, lost
):
    """Fill the logarithms of all tables, and what each row loses in those of its own class.

    Table f has the columns members[start[f]:start[f + 1]]: parents, the last of which is the class,
    and the child. It becomes `[*other parents, child, class]`, at values[offset[f]:offset[f + 1]].
    Codes `[column, row]` of a column's size are missing, and such rows are not counted.

    lost[row] becomes the sum over all tables of what the logarithm of the row's cell loses if one
    of its observations is left out.

    plans: for each number of parents the number of tiers, and below, within, degree, inside, the
    last parent and the tier without it, filled up to one size. prior: alpha0, the prior mean of
    strengths, the strengths tried (both in multiples of the number of states), the weights of
    neighbours that are tried, and how close scores are ties. Neighbours are mixed if smoothed[f].
    """
    rows = columns.shape[1]
    index = np.empty(rows, np.int64)
    for f in range(len(start) - 1):
        own = members[start[f] : start[f + 1]]
        table = values[offset[f] : offset[f + 1]]
        counts = np.zeros(len(table))
        for row in range(rows):
            at, there = 0, True
            for j in range(len(own)):
                code, size = np.int64(columns[own[j], row]), sizes[own[j]]
                there = there and code < size
                at = at * size + code
            index[row] = at if there else -1
            if there:
                counts[at] += weights[row]
        _grow(lanes, plans, own, sizes, smoothed[f], prior, counts, table)
        for row in range(rows):
            if index[row] >= 0:
                lost[row] += counts[index[row]]


@part
def _grow(lanes, plans, own, sizes, smoothed, prior, dense, table):
    """Fill the logarithms of one table from its counts `[*parents, child]`, in `dense`.

    These become what each cell loses without one of its observations.
    """
    alpha0, s_mean, multiples, tried, tolerance = prior
    count = len(own) - 1
    states, number = sizes[own[count]], plans[0][count]
    axes = np.empty(count, np.int64)
    for k in range(count):
        axes[k] = sizes[own[k]]
    codes, observed = _stored(dense.reshape(-1, states), axes)
    below = plans[1][count, :number, : count + 1].copy()
    within = plans[2][count, :number, :number].copy()
    degree, inside = plans[3][count, :number].copy(), plans[4][count, :number, :count].copy()
    parent, coarser = plans[5][count, :number].copy(), plans[6][count, :number].copy()
    member, begin = np.empty((number, len(codes)), np.int64), np.empty(number + 1, np.int64)
    room = np.empty((2 + number * len(codes), states))
    project(parent, coarser, codes, axes, observed, member, begin, room)
    first, means = np.zeros(number + 1, np.int64), np.empty(number)
    for t in range(number):
        wide, parents = 0, 0
        while below[t, wide] >= 0:
            wide += 1
        for k in range(count):
            parents += inside[t, k]
        first[t + 1] = first[t] + (1 if t == 0 else wide + MEANS if wide > 1 else wide)
        means[t] = min(parents, 2) * s_mean * states
    weight, strength = np.zeros(first[number]), np.zeros(first[number])
    pool = np.zeros((first[number], states))
    weight[0], strength[0] = 1.0, alpha0 * states
    pool[0, :] = alpha0
    tiers = (below, within, degree, first, weight, strength, pool)
    grid = multiples * np.float64(states)
    chance, known = np.empty((first[number], len(grid))), np.empty((begin[number], states))
    cells = 0
    for i in range(len(observed)):
        for x in range(states):
            cells += observed[i, x] > 0.0
    left, score = np.empty((cells, states)), np.empty(number)
    counts = room[: begin[number] + 1]
    learn(lanes, tiers, member, begin, counts, grid, means, chance, known, score, left)
    fill_all(tiers, inside, axes, codes, member, known, table)
    share = _best_weight(observed, left, tried, tolerance) if smoothed and states > 1 else 0.0
    last = axes[count - 1]
    if share > 0.0:
        mix(table.reshape(-1, states, last), share)
    replace_by_logs(table)
    cell, end = 0, states - 1
    for at in range(len(dense)):
        if dense[at] > 0.0:
            x, configuration = at % states, at // states
            beside = left[cell, max(x - 1, 0)] + left[cell, min(x + 1, end)]
            mixed = (1.0 - share) * left[cell, x] + 0.5 * share * beside
            place = (configuration // last * states + x) * last + configuration % last
            dense[at] = math.log(mixed) - table[place]
            cell += 1


@part
def _stored(dense, axes):
    """Return codes and counts of the configurations `[configuration, state]` that have any."""
    states, stored = dense.shape[1], 0
    for configuration in range(len(dense)):
        total = 0.0
        for x in range(states):
            total += dense[configuration, x]
        stored += total > 0.0
    codes, observed = np.empty((stored, len(axes)), np.int64), np.empty((stored, states))
    row = 0
    for configuration in range(len(dense)):
        total = 0.0
        for x in range(states):
            total += dense[configuration, x]
        if total > 0.0:
            rest = configuration
            for k in range(len(axes) - 1, -1, -1):
                codes[row, k] = rest % axes[k]
                rest //= axes[k]
            for x in range(states):
                observed[row, x] = dense[configuration, x]
            row += 1
    return codes, observed


@part
def _best_weight(observed, left, tried, tolerance):
    """Return the weight of neighbours with the best score, of equally good ones the first."""
    scores, best = np.zeros(len(tried)), -math.inf
    score_mixtures(observed, left, tried, scores)
    for w in range(len(tried)):
        best = max(best, scores[w])
    chosen = len(tried) - 1
    for w in range(len(tried) - 1, -1, -1):
        if scores[w] >= best - tolerance * (1.0 + abs(best)):
            chosen = w
    return tried[chosen]

"""The tables of one member of a forest: from codes of rows to logarithms, all features at once.

What is done is what `Tiers` and `Smoothed` do for one table after the other. A table has a few
thousand cells, so that what Python needs to call them takes longer than the work.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.dense_tiers import add_up, learn_dense, number_cells
from colonnade.kernels.special import logarithm, replace_by_logs

# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300


@entry
def grow_tables(
    plans, columns, sizes, weights, start, members, smoothed, prior, offset, values, lost
):
    """Fill the logarithms of all tables, and what each row loses in those of its own class.

    Table f has the columns members[start[f]:start[f + 1]]: parents, the last of which is the class,
    and the child. It becomes `[*other parents, child, class]`, at values[offset[f]:offset[f + 1]].
    Codes `[column, row]` of a column's size are missing, and such rows are not counted. Weights are
    whole numbers.

    lost[row] becomes the sum over all tables of what the logarithm of the row's cell loses if one
    of its observations is left out.

    plans: for each number of parents the number of tiers, and below, inside and degree, filled up
    to one size. prior: alpha0, the prior mean of strengths, the strengths tried (both in multiples
    of the number of states), the weights of neighbours that are tried, and how close scores are
    ties. Neighbours are mixed if smoothed[f].
    """
    rows = columns.shape[1]
    index = np.empty(rows, np.int64)
    for f in range(len(start) - 1):
        own = members[start[f] : start[f + 1]]
        table = values[offset[f] : offset[f + 1]]
        count = len(own) - 1
        states, number, axes = sizes[own[count]], plans[0][count], np.empty(count, np.int64)
        for k in range(count):
            axes[k] = sizes[own[k]]
        inside, begin = plans[2][count], np.zeros(number + 1, np.int64)
        for t in range(number):
            span = states
            for k in range(count):
                span *= axes[k] if inside[t, k] else 1
            begin[t + 1] = begin[t] + span
        counts = np.empty(begin[number])
        last = counts[begin[number - 1] :]
        last[:] = 0.0
        # Counts are `[state, configuration]`.
        index[:] = 0
        for j in range(-1, count):
            column = own[j] if j >= 0 else own[count]
            size, codes = sizes[column], columns[column]
            for row in range(rows):
                # Once below zero, an index stays there.
                missing = codes[row] >= size or index[row] < 0
                index[row] = -1 if missing else index[row] * size + codes[row]
        for row in range(rows):
            if index[row] >= 0:
                last[index[row]] += weights[row]
        losses, cell_of = _grow(
            plans, count, axes, states, smoothed[f], prior, begin, counts, rows, table
        )
        for row in range(rows):
            if index[row] >= 0:
                lost[row] += losses[cell_of[index[row]]]


@part
def _grow(plans, count, axes, states, smoothed, prior, begin, counts, rows, table):
    """Fill the logarithms of one table from its counts `[state, configuration]`.

    Returns what each cell with observations loses without one of them, and the numbers of these
    cells.
    """
    alpha0, s_mean, multiples, tried, tolerance = prior
    number = len(begin) - 1
    below, inside, degree = plans[1][count], plans[2][count], plans[3][count]
    add_up(below, inside, axes, counts, begin)
    cell_of, first = np.empty(len(counts), np.uint32), np.empty((number, states + 1), np.int64)
    of_cell = number_cells(states, rows, begin, counts, cell_of, first)
    leaning = (alpha0, s_mean, multiples)
    found = learn_dense(
        below, inside, degree, axes, leaning, begin, counts, cell_of, of_cell, first
    )
    ends, own, items = first[number - 1], of_cell[number - 1], len(found) // states
    top, cells = counts[begin[number - 1] :], first[number - 1, states]
    n = items - cells
    alone, beside, times = np.empty(cells), np.empty(cells), np.empty(cells)
    for x in range(states):
        for cell in range(ends[x], ends[x + 1]):
            at = n + cell
            alone[cell] = found[x * items + at]
            before, after = max(x - 1, 0), min(x + 1, states - 1)
            beside[cell] = 0.5 * (found[before * items + at] + found[after * items + at])
            times[cell] = top[x * n + own[cell]]
    share = 0.0
    if smoothed and states > 1:
        share = _best_weight(alone, beside, times, tried, tolerance)
    _turn(found, states, items, axes[count - 1], share, table)
    replace_by_logs(table)
    losses, last = np.empty(cells + 1), axes[count - 1]
    for cell in range(cells):
        losses[cell] = (1.0 - share) * alone[cell] + share * beside[cell]
    replace_by_logs(losses[:cells])
    for x in range(states):
        for cell in range(ends[x], ends[x + 1]):
            configuration = np.int64(own[cell])
            outer, inner = configuration // last, configuration % last
            losses[cell] -= table[(outer * states + x) * last + inner]
    return losses, cell_of[begin[number - 1] :]


@part
def _turn(found, states, items, last, share, table):
    """Fill a table `[outer, state, last axis]` from rows `[state, item]`, with neighbours mixed."""
    width = states * last
    for x in range(states):
        here, left, right = x * items, max(x - 1, 0) * items, min(x + 1, states - 1) * items
        for outer in range(len(table) // width):
            at, to = outer * last, outer * width + x * last
            if share > 0.0:
                for k in range(last):
                    beside = found[np.uint64(left + at + k)] + found[np.uint64(right + at + k)]
                    own = found[np.uint64(here + at + k)]
                    table[np.uint64(to + k)] = (1.0 - share) * own + 0.5 * share * beside
            else:
                for k in range(last):
                    table[np.uint64(to + k)] = found[np.uint64(here + at + k)]


@part
def _best_weight(alone, beside, times, tried, tolerance):
    """Return the weight of neighbours with the best score, of equally good ones the first."""
    scores, best = np.zeros(len(tried)), -math.inf
    logs = np.empty(len(alone))
    for w in range(len(tried)):
        weight = tried[w]
        for k in range(len(logs)):
            mixed = (1.0 - weight) * alone[k] + weight * beside[k]
            logs[k] = logarithm(max(mixed, _SMALLEST))
        for k in range(len(logs)):
            scores[w] += times[k] * logs[k]
        best = max(best, scores[w])
    chosen = len(tried) - 1
    for w in range(len(tried) - 1, -1, -1):
        if scores[w] >= best - tolerance * (1.0 + abs(best)):
            chosen = w
    return tried[chosen]

"""The tables of one member of a forest: from codes of rows to logarithms, all features at once.

What is done is what `Tiers` and `Smoothed` do for one table after the other. A table has a few
thousand cells, so that what Python needs to call them takes longer than the work.
"""

import numpy as np

from colonnade.kernels.compiled import entry, part, part_with_separate_arrays
from colonnade.kernels.dense_tiers import ROOMS, learn_dense
from colonnade.kernels.tiers import STORED


@entry
def grow_tables(
    plans, columns, sizes, weights, start, members, smoothed, prior, offset, values, sums
):
    """Fill the logarithms of all tables, and add those that rows have to sums `[row, class]`.

    Table f has the columns members[start[f]:start[f + 1]]: parents, the last of which is the class,
    and the child. It becomes `[*other parents, child, class]`, at values[offset[f]:offset[f + 1]].
    Codes `[column, row]` of a column's size are missing, and such rows are not counted. Weights are
    whole numbers.

    To the sum of its own class a row adds logarithms without one of its observations. A row that
    lacks a value of a table, or does not count, adds nothing there.

    plans: for each number of parents the number of tiers, and below, inside and degree, filled up
    to one size. prior: alpha0, the prior mean of strengths, the strengths tried (both in multiples
    of the number of states), the weights of neighbours that are tried, and how close scores are
    ties. Neighbours are mixed if smoothed[f].
    """
    rows = columns.shape[1]
    cell_of = np.empty(rows, np.int64)
    # Room for the largest table: rows of all tiers but the last, and cells of a tier.
    stored, largest = 0, 0
    for f in range(len(start) - 1):
        need, cells = _extent(members[start[f] : start[f + 1]], sizes, rows, plans)
        stored, largest = max(stored, need), max(largest, cells)
    store, room = np.empty((STORED, stored)), np.empty((ROOMS + plans[1].shape[2], largest))
    alpha0, s_mean, multiples, tried, tolerance = prior
    for f in range(len(start) - 1):
        own, steps = _with_longest_last(members[start[f] : start[f + 1]], sizes)
        count = len(own) - 1
        number, axes = plans[0][count], np.empty(count, np.int64)
        for k in range(count):
            axes[k] = sizes[own[k]]
        plan = (plans[1][count], plans[2][count], plans[3][count, :number])
        leaning = (alpha0, s_mean, multiples, tried if smoothed[f] else tried[:1], tolerance)
        table, first = values[offset[f] : offset[f + 1]], np.zeros(sizes[own[count]] + 1, np.int64)
        codes, times = _take_cells(own, sizes, columns, weights, len(table), first, cell_of)
        at, losses = np.empty(len(times), np.int64), np.empty(len(times))
        learn_dense(plan, axes, leaning, codes, times, first, store, room, steps, at, losses, table)
        label = columns[members[start[f + 1] - 2]]
        _add_rows(cell_of, label, at, losses, table, sums)


@part
def _add_rows(cell_of, label, at, losses, table, sums):
    """Add the cells that rows have with all classes, and what they lose of their own class."""
    for row in range(len(cell_of)):
        if cell_of[row] >= 0:
            # Where the cells with all classes begin.
            begin = at[cell_of[row]] - label[row]
            _add(table[begin : begin + sums.shape[1]], sums[row])
            sums[row, label[row]] += losses[cell_of[row]]


@part_with_separate_arrays
def _add(vector, total):
    for c in range(len(total)):
        total[c] += vector[c]


@part
def _take_cells(own, sizes, columns, weights, size, first, cell_of):
    """Find the cells of a table with observations: their codes `[axis, cell]`, and how many.

    They are in the order of the states of the child, first[x] is the first one of state x, and
    cell_of[row] becomes the cell of a row, -1 if the row is not counted.
    """
    count, rows, child = len(own) - 1, len(cell_of), columns[own[len(own) - 1]]
    for row in range(rows):
        cell_of[row] = 0 if weights[row] > 0.0 else -1
    for column in own:
        most, code = sizes[column], columns[column]
        for row in range(rows):
            # Once below zero, an index stays there.
            missing = code[row] >= most or cell_of[row] < 0
            cell_of[row] = -1 if missing else cell_of[row] * most + code[row]
    for row in range(rows):
        if cell_of[row] >= 0:
            first[child[row] + 1] += 1
    for x in range(1, len(first)):
        first[x] += first[x - 1]
    order, place = np.empty(first[-1], np.int64), first.copy()
    for row in range(rows):
        if cell_of[row] >= 0:
            order[place[child[row]]] = row
            place[child[row]] += 1
    # One more than the number of each cell.
    known, example, times, used = np.zeros(size, np.uint32), order.copy(), np.zeros(rows), 0
    for x in range(len(first) - 1):
        low, first[x] = first[x], used
        for row in order[low : first[x + 1]]:
            index = cell_of[row]
            if known[index] == 0:
                example[used] = row
                used += 1
                known[index] = used
            cell_of[row] = known[index] - np.uint32(1)
            times[cell_of[row]] += weights[row]
    first[-1] = used
    codes = np.empty((count, used), np.uint32)
    for k in range(count):
        code, to = columns[own[k]], codes[k]
        for cell in range(used):
            to[cell] = code[example[cell]]
    return codes, times[:used]


@part
def _with_longest_last(own, sizes):
    """Return the columns of a table, with the largest parent last, and the steps along them.

    Parents are the axes of the table, which is `[*other parents, child, class]`: loops along the
    last one are long. After their steps comes that of the child.
    """
    count, ordered, steps = len(own) - 1, own.copy(), np.empty(len(own), np.int64)
    step, largest = sizes[own[count - 1]] * sizes[own[count]], count - 1
    steps[count], steps[count - 1] = sizes[own[count - 1]], 1
    for k in range(count - 2, -1, -1):
        steps[k] = step
        step *= sizes[own[k]]
        largest = k if sizes[own[k]] > sizes[own[largest]] else largest
    ordered[largest], ordered[count - 1] = own[count - 1], own[largest]
    steps[largest], steps[count - 1] = steps[count - 1], steps[largest]
    return ordered, steps


@part
def _extent(own, sizes, rows, plans):
    """Return how many numbers are stored for a table, at most, and how many its cells have."""
    count = len(own) - 1
    states, stored, largest = sizes[own[count]], 0, 0
    for t in range(plans[0][count]):
        span = 1
        for k in range(count):
            span *= sizes[own[k]] if plans[2][count, t, k] else 1
        cells = min(rows, span * states)
        largest = max(largest, states * cells)
        if t < plans[0][count] - 1:
            stored += states * (span + cells)
    return stored, largest

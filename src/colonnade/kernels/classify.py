"""Log probabilities of all classes at once: each row adds up one vector per family.

Tables are laid out ``[configuration of the other members, class]``, so that what a row adds is
contiguous, and small enough tables hold every configuration. A table adds nothing to a row that
lacks one of its values.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.counting import BLOCK_ROWS, mark_missing, pack
from colonnade.kernels.lookup import look_up, room_for
from colonnade.kernels.special import exponential

# Rows whose configurations are computed before they are used, of all tables.
_DENSE_BLOCK_ROWS = 256
# Rows whose exponentials are taken together, and the least power, which is nothing beside one.
_ROWS_AT_ONCE, _LEAST_POWER = 64, -708.0


@entry
def add_dense(columns, start, offset, tables, gaps, low, high, sums):
    """Add to sums `[row - low, class]` the vectors of the rows low..high in all dense tables.

    Table j has columns start[j]..start[j + 1] and begins at tables[offset[j]]. `gaps` says whether
    rows may lack values.
    """
    count, classes = start.size - 1, sums.shape[1]
    index = np.empty((count, _DENSE_BLOCK_ROWS), np.int64)
    missing = np.empty(_DENSE_BLOCK_ROWS, np.bool_)
    for row in range(low, high, _DENSE_BLOCK_ROWS):
        rows = min(_DENSE_BLOCK_ROWS, high - row)
        for j in range(count):
            _find_rows(columns, start[j], start[j + 1], row, rows, gaps, missing, index[j])
        for i in range(rows):
            total = sums[row - low + i]
            for j in range(count):
                if index[j, i] < 0:
                    continue
                begin = offset[j] + index[j, i] * classes
                vector = tables[begin : begin + classes]
                for c in range(classes):
                    total[c] += vector[c]


@entry
def add_own(columns, start, offset, tables, gaps, label, sums):
    """Add to sums `[row, class]` the entries of all rows in all dense tables, of their own class.

    For the tables see `add_dense`.
    """
    classes, index = sums.shape[1], np.empty(_DENSE_BLOCK_ROWS, np.int64)
    missing = np.empty(_DENSE_BLOCK_ROWS, np.bool_)
    for row in range(0, len(sums), _DENSE_BLOCK_ROWS):
        rows = min(_DENSE_BLOCK_ROWS, len(sums) - row)
        for j in range(start.size - 1):
            _find_rows(columns, start[j], start[j + 1], row, rows, gaps, missing, index)
            for i in range(rows):
                if index[i] >= 0:
                    own = label[row + i]
                    sums[row + i, own] += tables[offset[j] + index[i] * classes + own]


@part
def _find_rows(columns, begin, end, row, rows, gaps, missing, index):
    """Fill the configurations of columns begin..end that rows have, -1 if they lack a value."""
    pack(columns, begin, end, row, rows, index)
    if gaps:
        missing[:rows] = False
        mark_missing(columns, begin, end, row, rows, missing)
        for i in range(rows):
            index[i] = -1 if missing[i] else index[i]


@entry
def add_by_class(columns, child, low, high, starts, slots, keys, begin, label, values, sums):
    """Add to sums `[row - low, class]` the entries of a table that stores some configurations.

    `columns` are the parents without the class, and starts, slots and keys index their
    configurations. The one at position k has the rows begin[k]..begin[k + 1] of `values`: row t is
    that of the class label[t], or of all classes if that is -1. The last row is that of all other
    configurations and classes.
    """
    classes, states = sums.shape[1], values.shape[1]
    room = room_for(starts)
    for row in range(low, high, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, high - row)
        numbers, missing = look_up(columns, starts, slots, keys, row, rows, room)
        for i in range(rows):
            state = child[row + i]
            if missing[i] or state >= states:
                continue
            total, other, k = sums[row - low + i], values[-1, state], numbers[i]
            if k < 0:
                total += other
            elif label[begin[k]] < 0:
                total += values[begin[k], state]
            else:
                # The rows of a configuration are in the order of their classes.
                t, end = begin[k], begin[k + 1]
                for c in range(classes):
                    if t < end and label[t] == c:
                        total[c] += values[t, state]
                        t += 1
                    else:
                        total[c] += other


@entry
def add_class_rows(columns, low, high, starts, slots, keys, values, sums):
    """Add to sums `[row - low, class]` the row of the class given its parents.

    values[position] is the row of the configuration at that position of the index, and the last
    one that of all others.
    """
    room = room_for(starts)
    for row in range(low, high, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, high - row)
        numbers, missing = look_up(columns, starts, slots, keys, row, rows, room)
        for i in range(rows):
            if not missing[i]:
                total = sums[row - low + i]
                total += values[numbers[i]]


@entry
def add_changes(columns, child, label, starts, slots, keys, changes, sums):
    """Add changes `[configuration, state]` to the sums `[row, class]` of the classes of all rows.

    `columns` are all parents, whose configurations are indexed by starts, slots and keys. Rows that
    lack a value of theirs or of the child stay as they are.
    """
    states, room = changes.shape[1], room_for(starts)
    for row in range(0, len(sums), BLOCK_ROWS):
        rows = min(BLOCK_ROWS, len(sums) - row)
        numbers, missing = look_up(columns, starts, slots, keys, row, rows, room)
        for i in range(rows):
            state = child[row + i]
            if not missing[i] and state < states:
                sums[row + i, label[row + i]] += changes[numbers[i], state]


@entry
def normalise(sums):
    """Make the exponentials of each row of sums add up to one; NaN if no class is possible."""
    totals = np.empty(len(sums))
    _add_exponentials(sums, totals)
    for i in range(len(sums)):
        row = sums[i]
        for c in range(len(row)):
            row[c] -= totals[i]


@entry
def own_chances(sums, label, answer):
    """Fill the log probability of the own class of each row, from sums `[row, class]`."""
    _add_exponentials(sums, answer)
    for i in range(len(sums)):
        answer[i] = sums[i, label[i]] - answer[i]


@part
def _add_exponentials(sums, totals):
    """Fill the logarithm of the sum of the exponentials of each row; NaN if that is zero."""
    classes = sums.shape[1]
    room = np.empty(_ROWS_AT_ONCE * classes)
    for low in range(0, len(sums), _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, len(sums) - low)
        parts, tops = room[: rows * classes], totals[low : low + rows]
        for i in range(rows):
            row, top = sums[low + i], -math.inf
            for c in range(classes):
                top = max(top, row[c])
            for c in range(classes):
                parts[i * classes + c] = max(row[c] - top, _LEAST_POWER)
            tops[i] = top
        for k in range(len(parts)):
            parts[k] = exponential(parts[k])
        for i in range(rows):
            total = 0.0
            for c in range(classes):
                total += parts[i * classes + c]
            tops[i] = math.nan if tops[i] == -math.inf else tops[i] + math.log(total)

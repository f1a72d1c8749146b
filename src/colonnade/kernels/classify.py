"""Log probabilities of all classes at once: each row adds up one vector for each family.

Tables are laid out ``[configuration of the other members, class]``, so that what a row adds is
contiguous, and small enough tables hold every configuration. A code that means *missing* has its
own entry, a vector of zeros, so rows that lack values take the same way as the others.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.counting import BLOCK, pack
from colonnade.kernels.lookup import look_up, room_for

__all__ = ["add_class_rows", "add_dense", "add_items", "normalise"]

# Rows whose configurations are computed before they are used.
_ROWS = 256


@njit(nogil=True, cache=True)
def add_dense(columns, start, offset, tables, low, high, sums):
    """Add to sums `[row - low, class]` the vectors of the rows low..high in all dense tables.

    Table j has columns start[j]..start[j + 1] and begins at tables[offset[j]].
    """
    count, classes = start.size - 1, sums.shape[1]
    index = np.empty((count, _ROWS), np.int64)
    for row in range(low, high, _ROWS):
        rows = min(_ROWS, high - row)
        for j in range(count):
            pack(columns, start[j], start[j + 1], row, rows, index[j])
        for i in range(rows):
            total = sums[row - low + i]
            for j in range(count):
                begin = offset[j] + index[j, i] * classes
                vector = tables[begin : begin + classes]
                for c in range(classes):
                    total[c] += vector[c]


@njit(nogil=True, cache=True)
def add_items(columns, word, child, low, high, slots, keys, item, label, values, default, sums):
    """Add to sums `[row - low, class]` the entries of a table that stores some configurations.

    `columns` are the parents but for the class. The configuration keys[k] has the items
    item[k]..item[k + 1]: item t is the row values[t] of the class label[t], or of all classes if
    that is -1. Classes and configurations without an item have the row `default`.
    """
    classes = sums.shape[1]
    room = room_for(word)
    for row in range(low, high, BLOCK):
        rows = min(BLOCK, high - row)
        numbers, missing = look_up(columns, word, row, rows, slots, keys, room)
        for i in range(rows):
            state = child[row + i]
            if missing[i] or state >= default.size:
                continue
            total, usual, k = sums[row - low + i], default[state], numbers[i]
            if k < 0:
                total += usual
            elif label[item[k]] < 0:
                total += values[item[k], state]
            else:
                # Items come in the order of classes: those between them have the usual entry.
                t, end = item[k], item[k + 1]
                for c in range(classes):
                    if t < end and label[t] == c:
                        total[c] += values[t, state]
                        t += 1
                    else:
                        total[c] += usual


@njit(nogil=True, cache=True)
def add_class_rows(columns, word, low, high, slots, keys, values, default, sums):
    """Add to sums `[row - low, class]` the row of the class given its parents, where it has many.

    values[position] belongs to the configuration keys[position], `default` to all others.
    """
    room = room_for(word)
    for row in range(low, high, BLOCK):
        rows = min(BLOCK, high - row)
        numbers, missing = look_up(columns, word, row, rows, slots, keys, room)
        for i in range(rows):
            if not missing[i]:
                total = sums[row - low + i]
                total += default if numbers[i] < 0 else values[numbers[i]]


@njit(nogil=True, cache=True)
def normalise(sums):
    """Make the exponentials of each row of sums `[row, class]` add up to one.

    A row that no class can have becomes NaN.
    """
    for i in range(len(sums)):
        row = sums[i]
        top = row[0]
        for c in range(1, row.size):
            top = max(top, row[c])
        if top == -math.inf or math.isnan(top):
            row[:] = np.nan
            continue
        total = 0.0
        for c in range(row.size):
            total += math.exp(row[c] - top)
        shift = top + math.log(total)
        for c in range(row.size):
            row[c] -= shift

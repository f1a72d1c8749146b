"""Joint counts of one column with many others, and the sums of n ln n that scores are made of.

Structure learning asks the same question thousands of times: how do these configurations (of a
child and its present parents, numbered once) meet the states of one more variable? The
configurations are one column of numbers, so each answer is a single pass with one multiplication
a row.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.counting import BLOCK_ROWS, COPIES

_SMALL = 1 << 14


@njit(cache=True, nogil=True)
def joint_counts(numbers, size, column, states):
    """Counts of (number, state): ``[size * states]``."""
    cells = size * states
    copies = COPIES if cells <= _SMALL else 1
    table = np.zeros(cells * copies, np.int32)
    place = np.empty(BLOCK_ROWS, np.int32)
    rows = numbers.size
    for begin in range(0, rows, BLOCK_ROWS):
        here = min(BLOCK_ROWS, rows - begin)
        for i in range(here):
            place[i] = numbers[begin + i] * states + np.int32(column[begin + i])
        if copies == 1:
            for i in range(here):
                table[place[i]] += 1
            continue
        whole = here - here % COPIES
        for i in range(0, whole, COPIES):
            table[place[i]] += 1
            table[place[i + 1] + cells] += 1
            table[place[i + 2] + 2 * cells] += 1
            table[place[i + 3] + 3 * cells] += 1
        for i in range(whole, here):
            table[place[i]] += 1
    if copies > 1:
        for copy in range(1, COPIES):
            for cell in range(cells):
                table[cell] += table[copy * cells + cell]
    return table[:cells]


@njit(cache=True, nogil=True)
def weighted_joint_counts(numbers, size, column, states, weights):
    """The same with a weight for each row."""
    table = np.zeros(size * states)
    for i in range(numbers.size):
        table[numbers[i] * states + column[i]] += weights[i]
    return table


@njit(cache=True, nogil=True)
def information_sums(numbers, size, child_states, columns, sizes, candidates, logs, sums):
    """For each candidate, the sums of n ln n over the cells and over the rows of the joint table.

    `numbers` is configuration * child_states + child; a row is (configuration, candidate), summed
    over the child. `logs` holds n ln n for every possible n.
    """
    for c in range(candidates.size):
        states = sizes[candidates[c]]
        table = joint_counts(numbers, size, columns[candidates[c]], states)
        cells = 0.0
        rows = 0.0
        for configuration in range(size // child_states):
            begin = configuration * child_states * states
            for z in range(states):
                total = 0
                for x in range(child_states):
                    n = table[begin + x * states + z]
                    total += n
                    cells += logs[n]
                rows += logs[total]
        sums[c, 0] = cells
        sums[c, 1] = rows


@njit(cache=True, nogil=True)
def number_rows(columns, sizes, chosen):
    """One number a row for the joint configuration of the chosen columns, the last fastest."""
    rows = columns.shape[1]
    numbers = np.zeros(rows, np.int32)
    for k in range(chosen.size):
        column = columns[chosen[k]]
        states = np.int32(sizes[chosen[k]])
        for i in range(rows):
            numbers[i] = numbers[i] * states + np.int32(column[i])
    return numbers


@njit(cache=True, nogil=True)
def information(counts):
    """Sum of n ln n over positive counts."""
    total = 0.0
    for n in counts:
        if n > 0:
            total += n * math.log(n)
    return total

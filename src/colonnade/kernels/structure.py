"""Joint codes and counts of columns, and sums of n ln n over counts.

`joint` is one code per row for the configuration of some columns, computed once by `joint_codes`:
counting them with one more column is a single pass with one multiplication per row. It has `size`
possible values. `columns` are the codes ``[variable, row]`` of the table and `sizes` the numbers of
states.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.counting import BLOCK_ROWS, TABLE_COPIES, scatter

# Larger tables are not kept in several copies: they would not fit into the innermost cache.
_MAX_COPIED_CELLS = 1 << 14


@njit(cache=True, nogil=True)
def joint_counts(joint, size, column, states):
    """Counts of (configuration, state): ``[size * states]``."""
    cells = size * states
    copies = TABLE_COPIES if cells <= _MAX_COPIED_CELLS else 1
    table = np.zeros(cells * copies, np.int32)
    place = np.empty(BLOCK_ROWS, np.int32)
    rows = joint.size
    for begin in range(0, rows, BLOCK_ROWS):
        here = min(BLOCK_ROWS, rows - begin)
        for i in range(here):
            place[i] = joint[begin + i] * states + np.int32(column[begin + i])
        if copies > 1:
            scatter(place, here, table)
        else:
            for i in range(here):
                table[place[i]] += 1
    for copy in range(1, copies):
        for cell in range(cells):
            table[cell] += table[copy * cells + cell]
    return table[:cells]


@njit(cache=True, nogil=True)
def weighted_joint_counts(joint, size, column, states, weights):
    """The same with one weight per row."""
    table = np.zeros(size * states)
    for i in range(joint.size):
        table[joint[i] * states + column[i]] += weights[i]
    return table


@njit(cache=True, nogil=True)
def joint_codes(columns, sizes, chosen):
    """One code per row for the joint configuration of the chosen columns, the last fastest."""
    rows = columns.shape[1]
    joint = np.zeros(rows, np.int32)
    for k in range(chosen.size):
        column = columns[chosen[k]]
        states = np.int32(sizes[chosen[k]])
        for i in range(rows):
            joint[i] = joint[i] * states + np.int32(column[i])
    return joint


@njit(cache=True, nogil=True)
def information(counts):
    """Sum of n ln n over positive counts."""
    total = 0.0
    for n in counts:
        if n > 0:
            total += n * math.log(n)
    return total

"""Log probability of rows: one look-up per joint table, in blocks that stay in the inner cache."""

import numpy as np

from colonnade.kernels.compiled import entry
from colonnade.kernels.counting import BLOCK_ROWS, pack
from colonnade.kernels.lookup import look_up, room_for

# Tables looked up before the sum is written: a sum is read and written less often.
TABLES_AT_ONCE = 8
# Rows whose indices are computed before they are used: those of TABLES_AT_ONCE tables stay in the
# innermost cache.
_JOINT_BLOCK_ROWS = BLOCK_ROWS // 2


@entry
def write_joints(columns, start, offset, low, high, tables, sums):
    """Write to sums[low:high] the sum of the entries of several joint tables.

    Table j has columns start[j]..start[j + 1] and its at most 2**16 values in
    tables[offset[j]:offset[j + 1]]. There are a multiple of TABLES_AT_ONCE tables, or none. The
    sums begin here, and not in memory set to zero before: new memory is then touched once.
    """
    index = np.empty((TABLES_AT_ONCE, _JOINT_BLOCK_ROWS), np.uint16)
    for row in range(low, high, _JOINT_BLOCK_ROWS):
        rows = min(_JOINT_BLOCK_ROWS, high - row)
        block = sums[row : row + rows]
        if start.size == 1:
            block[:] = 0.0
        for j in range(0, start.size - 1, TABLES_AT_ONCE):
            for k in range(TABLES_AT_ONCE):
                pack(columns, start[j + k], start[j + k + 1], row, rows, index[k])
            a, b, c, d = index[0], index[1], index[2], index[3]
            e, f, g, h = index[4], index[5], index[6], index[7]
            p, q = tables[offset[j] : offset[j + 1]], tables[offset[j + 1] : offset[j + 2]]
            r, s = tables[offset[j + 2] : offset[j + 3]], tables[offset[j + 3] : offset[j + 4]]
            t, u = tables[offset[j + 4] : offset[j + 5]], tables[offset[j + 5] : offset[j + 6]]
            v, w = tables[offset[j + 6] : offset[j + 7]], tables[offset[j + 7] : offset[j + 8]]
            # Two loops: to read what is not there yet would cost as much as two look-ups.
            if j == 0:
                for i in range(rows):
                    first = (p[a[i]] + q[b[i]]) + (r[c[i]] + s[d[i]])
                    block[i] = first + ((t[e[i]] + u[f[i]]) + (v[g[i]] + w[h[i]]))
            else:
                for i in range(rows):
                    first = (p[a[i]] + q[b[i]]) + (r[c[i]] + s[d[i]])
                    block[i] += first + ((t[e[i]] + u[f[i]]) + (v[g[i]] + w[h[i]]))


@entry
def add_large(columns, low, high, table, sums):
    """Add to sums[low:high] the entries of one joint table of any size below 2**63."""
    index = np.empty(BLOCK_ROWS, np.int64)
    for row in range(low, high, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, high - row)
        pack(columns, 0, len(columns), row, rows, index)
        for i in range(rows):
            sums[row + i] += table[index[i]]


@entry
def add_sparse(columns, child, low, high, starts, slots, keys, values, sums):
    """Add to sums[low:high] the entries of a table that stores some configurations.

    `columns` are the parents; values[position] is the row of the configuration at that position of
    the index (starts, slots, keys), and the last one that of all others. A missing code makes the
    sum NaN.
    """
    states = values.shape[1]
    room = room_for(starts)
    for row in range(low, high, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, high - row)
        numbers, missing = look_up(columns, starts, slots, keys, row, rows, room)
        for i in range(rows):
            state = child[row + i]
            if missing[i] or state >= states:
                sums[row + i] = np.nan
            else:
                sums[row + i] += values[numbers[i], state]

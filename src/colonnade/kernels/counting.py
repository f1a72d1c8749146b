"""Counting and looking up configurations in compact columns of codes.

A joint table of several columns is filled in two steps, a block of rows at a time: the codes become
one index per row (mixed radix, the last column fastest), which the compiler vectorises, and the
indices are then scattered into the table. Small tables are kept `TABLE_COPIES` times and added up
at the end.

Columns are passed as rows `(address, bytes per code, size)` of one array: they have different
widths and there is any number of them, and Numba would compile anew for every combination. The
caller keeps the columns alive, contiguous and free of codes beyond their sizes.
"""

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from colonnade.kernels.compiled import entry, part

# Rows whose indices are computed before they are used: they stay in the innermost cache.
BLOCK_ROWS = 2048
# How often a small table is kept: increments of one cell wait for each other.
TABLE_COPIES = 4


@intrinsic
def pointer(typing_context, address):
    """Take an integer for an address, at no cost."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


@part
def _codes(address, row, rows, width, kind):
    """Rows row..row + rows of the column at an address; its codes have `width` bytes."""
    return carray(pointer(address + width * row), (rows,), kind)


@part
def _append(column, size, first, index):
    """Make one more column the fastest digit of every index."""
    if first:
        for i in range(column.size):
            index[i] = column[i]
    else:
        for i in range(column.size):
            index[i] = index[i] * size + column[i]


@part
def _append_two(one, size, two, next_size, first, index):
    """Append two columns at once: the indices are read and written half as often."""
    if first:
        for i in range(one.size):
            index[i] = one[i] * next_size + two[i]
    else:
        for i in range(one.size):
            index[i] = (index[i] * size + one[i]) * next_size + two[i]


@part
def pack(columns, begin, end, row, rows, index):
    """Write the joint index of columns begin..end for the rows row..row + rows."""
    if begin == end:
        index[:rows] = 0
    k = begin
    while k < end:
        address, width, size = columns[k, 0], columns[k, 1], columns[k, 2]
        first = k == begin
        if width == 1 and k + 1 < end and columns[k + 1, 1] == 1:
            one = _codes(address, row, rows, 1, np.uint8)
            two = _codes(columns[k + 1, 0], row, rows, 1, np.uint8)
            _append_two(one, size, two, columns[k + 1, 2], first, index)
            k += 1
        elif width == 1:
            _append(_codes(address, row, rows, 1, np.uint8), size, first, index)
        elif width == 2:
            _append(_codes(address, row, rows, 2, np.uint16), size, first, index)
        else:
            _append(_codes(address, row, rows, 4, np.uint32), size, first, index)
        k += 1


@part
def scatter(index, rows, table):
    """Count the first `rows` indices in a table kept TABLE_COPIES times."""
    one = table.dtype.type(1)
    cells = table.size // TABLE_COPIES
    a, b = table[:cells], table[cells : 2 * cells]
    c, d = table[2 * cells : 3 * cells], table[3 * cells :]
    whole = rows - rows % TABLE_COPIES
    for i in range(0, whole, TABLE_COPIES):
        a[index[i]] += one
        b[index[i + 1]] += one
        c[index[i + 2]] += one
        d[index[i + 3]] += one
    for i in range(whole, rows):
        a[index[i]] += one


@part
def _scatter_weights(index, rows, weights, table):
    """Add up weights in a table kept TABLE_COPIES times."""
    cells = table.size // TABLE_COPIES
    for i in range(rows):
        table[(i % TABLE_COPIES) * cells + index[i]] += weights[i]


@entry
def count_joints(columns, start, offset, low, high, weights, counts):
    """Count rows low..high in several small joint tables.

    Table j has columns start[j]..start[j + 1] and TABLE_COPIES copies in
    counts[offset[j]:offset[j + 1]], each of at most 2**16 cells. Without `weights` (size 0) every
    row counts once.
    """
    index = np.empty(BLOCK_ROWS, np.uint16)
    for j in range(start.size - 1):
        table = counts[offset[j] : offset[j + 1]]
        for row in range(low, high, BLOCK_ROWS):
            rows = min(BLOCK_ROWS, high - row)
            pack(columns, start[j], start[j + 1], row, rows, index)
            if weights.size == 0:
                scatter(index, rows, table)
            else:
                _scatter_weights(index, rows, weights[row : row + rows], table)


@entry
def count_large(columns, rows_in_all, weights, counts):
    """Count all rows in one dense table of fewer than 2**32 cells, kept once."""
    index = np.empty(BLOCK_ROWS, np.uint32)
    one = counts.dtype.type(1)
    for row in range(0, rows_in_all, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, rows_in_all - row)
        pack(columns, 0, len(columns), row, rows, index)
        if weights.size == 0:
            for i in range(rows):
                counts[index[i]] += one
        else:
            for i in range(rows):
                counts[index[i]] += weights[row + i]


@part
def _mark(column, size, missing):
    for i in range(column.size):
        missing[i] |= column[i] == size


@part
def mark_missing(columns, begin, end, row, rows, missing):
    """Mark those of the rows row..row + rows that lack a value of columns begin..end."""
    for k in range(begin, end):
        address, width, size = columns[k, 0], columns[k, 1], columns[k, 2]
        if width == 1:
            _mark(_codes(address, row, rows, 1, np.uint8), size, missing)
        elif width == 2:
            _mark(_codes(address, row, rows, 2, np.uint16), size, missing)
        else:
            _mark(_codes(address, row, rows, 4, np.uint32), size, missing)


@part
def pack_keys(columns, word, row, rows, index, keys, missing):
    """Write the key `[row, word]` of rows row..row + rows.

    A row is missing if one of its codes equals the size of the column. Word w holds columns
    word[w]..word[w + 1]; `index` is room for one word.
    """
    missing[:rows] = False
    for w in range(word.size - 1):
        pack(columns, word[w], word[w + 1], row, rows, index)
        for i in range(rows):
            keys[i, w] = index[i]
        mark_missing(columns, word[w], word[w + 1], row, rows, missing)


@part
def number_keys(wanted, missing, slots, keys, found, insert, numbers):
    """Write the position in `keys` of every wanted key, -1 if it is missing or not found.

    `slots` is an open-addressing table of positions (-1: free). With `insert`, keys not found are
    added after the first `found` ones, for which there must be room. Returns how many there are
    then. One function does all of it, on a whole block, because passing arrays to a function for
    each row would take longer than the search.
    """
    words = wanted.shape[1]
    mask = slots.size - 1
    for i in range(numbers.size):
        if missing[i]:
            numbers[i] = -1
            continue
        value = np.uint64(0)
        for w in range(words):
            value = (value ^ np.uint64(wanted[i, w])) * np.uint64(0x9E3779B97F4A7C15)
            value ^= value >> np.uint64(32)
        slot = np.int64(value) & mask
        position = slots[slot]
        while position >= 0:
            same = True
            for w in range(words):
                same &= keys[position, w] == wanted[i, w]
            if same:
                break
            slot = (slot + 1) & mask
            position = slots[slot]
        if position < 0 and insert:
            for w in range(words):
                keys[found, w] = wanted[i, w]
            slots[slot] = found
            position = found
            found += 1
        numbers[i] = position
    return found


@entry
def place_keys(keys, room):
    """Copy distinct keys to where there is room for more, and make their half-empty slots."""
    size = 16
    while size < 2 * room:
        size *= 2
    slots = np.full(size, -1, np.int64)
    placed = np.empty((room, keys.shape[1]), np.int64)
    missing = np.zeros(len(keys), np.bool_)
    number_keys(keys, missing, slots, placed, 0, True, np.empty(len(keys), np.int64))
    return slots, placed


@entry
def number_configurations(columns, word, rows_in_all):
    """Number the configurations of all rows, by their keys, in order of appearance.

    Returns the number of each row (-1 if a code is missing) and the keys `[number, word]`.
    """
    words = word.size - 1
    numbers = np.empty(rows_in_all, np.int64)
    slots, keys = place_keys(np.empty((0, words), np.int64), 2 * BLOCK_ROWS)
    found = 0
    index = np.empty(BLOCK_ROWS, np.int64)
    block = np.empty((BLOCK_ROWS, words), np.int64)
    missing = np.empty(BLOCK_ROWS, np.bool_)
    for row in range(0, rows_in_all, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, rows_in_all - row)
        pack_keys(columns, word, row, rows, index, block, missing)
        if found + rows > len(keys):
            slots, keys = place_keys(keys[:found], 2 * len(keys))
        here = numbers[row : row + rows]
        found = number_keys(block, missing, slots, keys, found, True, here)
    return numbers, keys[:found].copy()


@entry
def count_sparse(child, numbers, weights, counts):
    """Count the codes of a child under numbered configurations, `[configuration, state]`."""
    states = counts.shape[1]
    one = counts.dtype.type(1)
    for row in range(numbers.size):
        if numbers[row] >= 0 and child[row] < states:
            counts[numbers[row], child[row]] += one if weights.size == 0 else weights[row]


@entry
def recode(codes, table, recoded):
    """Translate codes by a table; the code -1 takes the table's last entry."""
    for row in range(codes.size):
        recoded[row] = table[codes[row]]


@entry
def shift(values, low, shifted, seen):
    """Write values less the lowest one, and mark which differences occur."""
    for row in range(values.size):
        difference = values[row] - low
        shifted[row] = difference
        seen[difference] = True

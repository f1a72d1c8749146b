"""Sums over the joint tables of some columns and one more, for many candidates for that one.

Structure learning asks the same question thousands of times: how do these configurations (of a
child and its present parents) meet the states of one more variable? A score that is a sum over the
cells and the rows of a table needs no more than the sum of what each adds, a `Term`.

Small tables are counted with one bit per row: the rows that have a configuration and a state are
the common bits of two lists, and a processor counts hundreds of those in the time of one row.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from colonnade.kernels.counting import BLOCK_ROWS, TABLE_COPIES, scatter
from colonnade.kernels.special import minus_log_beta

# Pairs of lists of bits that are compared rather than going through the rows.
_MAX_PAIRS = 192
# Larger tables are not kept in several copies: they would not fit into the innermost cache.
_MAX_COPIED_CELLS = 1 << 14
_BITS = 64


class Term(NamedTuple):
    """What n observations of a cell or a row add to a score: lnGamma(p + n) - lnGamma(p).

    With a parameter p of zero they add n ln n. The table remembers values by n; NaN is unknown.
    """

    parameter: Any
    table: Any


class Members(NamedTuple):
    """The joint configuration of some columns, the last of which is the child.

    `codes` has one per row; `bits` are the rows of every configuration ``[configuration, word]``,
    or empty if there are many; `totals` counts them.
    """

    codes: Any
    totals: Any
    bits: Any
    child_states: Any


class Data(NamedTuple):
    """All columns: codes ``[column, row]``, numbers of states, and the rows of every state.

    The bits of the states of column k are bits[begin[k]:begin[k] + sizes[k]], if begin[k] >= 0.
    """

    codes: Any
    sizes: Any
    bits: Any
    begin: Any


@intrinsic
def _ones(typing_context, word):
    """Count the bits of a word, by one instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def set_bits(codes, bits):
    """Set the bit of every row in the list of its code, ``[code, word]``."""
    for row in range(codes.size):
        bits[codes[row], row // _BITS] |= np.uint64(1) << np.uint64(row % _BITS)


@njit(cache=True, nogil=True)
def _common(left, right):
    """Number of common bits."""
    found = np.uint64(0)
    for k in range(left.size):
        found += _ones(left[k] & right[k])
    return np.int64(found)


@njit(cache=True, nogil=True)
def _count_bits(members, data, column, table):
    """Fill the joint table ``[configuration, state]`` from lists of bits."""
    states = data.sizes[column]
    for c in range(members.totals.size):
        rest = members.totals[c]
        for z in range(states - 1):
            n = 0
            if rest > 0:
                n = _common(members.bits[c], data.bits[data.begin[column] + z])
            table[c * states + z] = n
            rest -= n
        table[c * states + states - 1] = rest


@njit(cache=True, nogil=True)
def _count_rows(members, data, column, table, place):
    """The same, row by row."""
    states = data.sizes[column]
    codes = data.codes[column]
    cells = members.totals.size * states
    copies = TABLE_COPIES if cells <= _MAX_COPIED_CELLS else 1
    table[: cells * copies] = 0
    rows = codes.size
    for begin in range(0, rows, BLOCK_ROWS):
        here = min(BLOCK_ROWS, rows - begin)
        for i in range(here):
            place[i] = members.codes[begin + i] * states + np.int32(codes[begin + i])
        if copies > 1:
            scatter(place, here, table[: cells * copies])
        else:
            for i in range(here):
                table[place[i]] += 1
    for copy in range(1, copies):
        for cell in range(cells):
            table[cell] += table[copy * cells + cell]


@njit(cache=True, nogil=True)
def _value(term, n):
    if n == 0:
        return 0.0
    whole = int(n)
    known = whole == n and whole < term.table.size
    if known and not math.isnan(term.table[whole]):
        return term.table[whole]
    if term.parameter == 0.0:
        value = n * math.log(n)
    else:
        value = minus_log_beta(term.parameter, float(n)) + math.lgamma(n)
    if known:
        term.table[whole] = value
    return value


@njit(cache=True, nogil=True)
def _sum(members, table, states, cell, row, sums):
    """Sum the terms of all cells, and of all rows, which are sums over the child."""
    cells = 0.0
    rows = 0.0
    for configuration in range(members.totals.size // members.child_states):
        begin = configuration * members.child_states * states
        for z in range(states):
            total = table[begin + z]
            cells += _value(cell, total)
            for x in range(1, members.child_states):
                n = table[begin + x * states + z]
                total += n
                cells += _value(cell, n)
            rows += _value(row, total)
    sums[0] = cells
    sums[1] = rows


@njit(cache=True, nogil=True)
def addition_sums(members, data, candidates, cell, row):
    """Sums of the terms of cells and of rows of joint tables, ``[candidate, 2]``.

    Each table is that of the members and one of the candidates; a row is the child's.
    """
    most = 0
    for column in candidates:
        most = max(most, data.sizes[column])
    cells = members.totals.size * most
    table = np.empty(max(cells, TABLE_COPIES * min(cells, _MAX_COPIED_CELLS)), np.int32)
    place = np.empty(BLOCK_ROWS, np.int32)
    sums = np.empty((candidates.size, 2))
    for c in range(candidates.size):
        states = data.sizes[candidates[c]]
        pairs = len(members.bits) * (states - 1)
        if 0 < pairs <= _MAX_PAIRS and data.begin[candidates[c]] >= 0:
            _count_bits(members, data, candidates[c], table)
        else:
            _count_rows(members, data, candidates[c], table, place)
        _sum(members, table, states, cell, row, sums[c])
    return sums


@njit(cache=True, nogil=True)
def weighted_addition_sums(members, data, candidates, cell, row, weights):
    """The same with one weight per row."""
    sums = np.empty((candidates.size, 2))
    for c in range(candidates.size):
        states = data.sizes[candidates[c]]
        codes = data.codes[candidates[c]]
        table = np.zeros(members.totals.size * states)
        for i in range(codes.size):
            table[members.codes[i] * states + codes[i]] += weights[i]
        _sum(members, table, states, cell, row, sums[c])
    return sums

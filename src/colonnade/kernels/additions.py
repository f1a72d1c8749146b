"""Sums over the joint tables of some columns and one more, for many candidates for that one.

Structure learning asks the same question thousands of times: how do these configurations (of a
child and its present parents) meet the states of one more variable? A score that is a sum over the
cells and the rows of a table needs no more than the sum of what each adds, by its count.

Small tables are counted with one bit per row: the rows that have a configuration and a state are
the common bits of two lists, and a processor counts hundreds of those in the time of one row.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from colonnade.kernels.special import minus_log_beta

# Pairs of lists of bits that are compared rather than going through the rows.
_MAX_PAIRS = 192
_BITS = 64


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
def _count(members, data, column):
    """The joint table ``[configuration, state]``."""
    configurations, states = members.totals.size, data.sizes[column]
    table = np.zeros(configurations * states, np.int32)
    listed = members.bits.size > 0 and data.begin[column] >= 0
    if listed and configurations * (states - 1) <= _MAX_PAIRS:
        _count_bits(members, data, column, table)
    else:
        for i in range(members.codes.size):
            table[members.codes[i] * states + data.codes[column, i]] += 1
    return table


@njit(cache=True, nogil=True)
def addition_sums(members, data, candidates, of_cell, of_row):
    """Sums of what cells and what rows of joint tables add to a score, ``[candidate, 2]``.

    Each table is that of the members and one of the candidates. A cell adds of_cell[n], and a row,
    which is a sum over the child, of_row[n].
    """
    child_states = members.child_states
    sums = np.empty((candidates.size, 2))
    for c in range(candidates.size):
        table = _count(members, data, candidates[c])
        states = data.sizes[candidates[c]]
        cells = 0.0
        rows = 0.0
        for y in range(members.totals.size // child_states):
            for z in range(states):
                total = 0
                for x in range(child_states):
                    n = table[(y * child_states + x) * states + z]
                    total += n
                    cells += of_cell[n]
                rows += of_row[total]
        sums[c, 0] = cells
        sums[c, 1] = rows
    return sums


@njit(cache=True, nogil=True)
def addition_tables(members, data, candidates):
    """Joint tables ``[candidate, configuration, state]``, with the candidate as last parent.

    All candidates have the same number of states.
    """
    child_states, states = members.child_states, data.sizes[candidates[0]]
    before = members.totals.size // child_states
    tables = np.empty((candidates.size, before * states, child_states), np.int32)
    for c in range(candidates.size):
        table = _count(members, data, candidates[c])
        for y in range(before):
            for x in range(child_states):
                for z in range(states):
                    tables[c, y * states + z, x] = table[(y * child_states + x) * states + z]
    return tables


@njit(cache=True, nogil=True)
def _value(n, parameter):
    """What a cell or a row adds to a score; see `structure.columns.Terms`."""
    if n == 0.0:
        return 0.0
    if parameter == 0.0:
        return n * math.log(n)
    return minus_log_beta(parameter, n) + math.lgamma(n)


@njit(cache=True, nogil=True)
def weighted_addition_sums(members, data, candidates, weights, cell, row):
    """The same as `addition_sums` with one weight per row, for the parameters of terms."""
    child_states = members.child_states
    sums = np.zeros((candidates.size, 2))
    for c in range(candidates.size):
        states = data.sizes[candidates[c]]
        codes = data.codes[candidates[c]]
        table = np.zeros(members.totals.size * states)
        for i in range(codes.size):
            table[members.codes[i] * states + codes[i]] += weights[i]
        for y in range(members.totals.size // child_states):
            for z in range(states):
                total = 0.0
                for x in range(child_states):
                    n = table[(y * child_states + x) * states + z]
                    total += n
                    sums[c, 0] += _value(n, cell)
                sums[c, 1] += _value(total, row)
    return sums

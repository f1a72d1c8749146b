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
from numba import types
from numba.extending import intrinsic

from colonnade.arrays import Array, Floats, Integers
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.special import minus_log_beta

# Pairs of lists of bits that are compared rather than going through the rows.
_MAX_PAIRS = 192
_BITS = 64


class Members(NamedTuple):
    """The joint configuration of some columns, the last of which is the child.

    `codes` has one per row; `bits` are the rows of every configuration ``[configuration, word]``,
    or empty if there are many; `totals` counts them.
    """

    codes: Array
    totals: Integers
    bits: Array
    child_states: int


class Data(NamedTuple):
    """All columns: codes ``[column, row]``, numbers of states, and the rows of every state.

    The bits of the states of column k are bits[begin[k]:begin[k] + sizes[k]], if begin[k] >= 0.
    """

    codes: Array
    sizes: Integers
    bits: Array
    begin: Integers


@intrinsic
def _ones(typing_context, word):
    """Count the bits of a word, by one instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@entry
def set_bits(codes, bits):
    """Set the bit of every row in the list of its code, ``[code, word]``."""
    for row in range(codes.size):
        bits[codes[row], row // _BITS] |= np.uint64(1) << np.uint64(row % _BITS)


@part
def _common(left, right):
    """Number of common bits."""
    found = np.uint64(0)
    for k in range(left.size):
        found += _ones(left[k] & right[k])
    return np.int64(found)


@part
def _count(joint, totals, bits, data, column, table):
    """Fill the joint table ``[configuration, state]``, from lists of bits if there are some."""
    codes, sizes, state_bits, begin = data
    states = sizes[column]
    cells = totals.size * states
    for k in range(cells):
        table[k] = 0
    if bits.size == 0 or begin[column] < 0 or cells - totals.size > _MAX_PAIRS:
        own = codes[column]
        for i in range(joint.size):
            table[joint[i] * states + own[i]] += 1
        return
    for c in range(totals.size):
        rest = totals[c]
        for z in range(states - 1):
            n = 0
            if rest > 0:
                n = _common(bits[c], state_bits[begin[column] + z])
            table[c * states + z] = n
            rest -= n
        table[c * states + states - 1] = rest


def addition_sums(
    members: Members, data: Data, candidates: Integers, of_cell: Floats, of_row: Floats
) -> Floats:
    """Sums of what cells and what rows of joint tables add to a score, ``[candidate, 2]``.

    Each table is that of the members and one of the candidates. A cell adds of_cell[n], and a row,
    which is a sum over the child, of_row[n].
    """
    sums = np.empty((candidates.size, 2))
    table = _room(members, data, candidates, np.int32)
    _fill_sums(*members, *data, candidates, of_cell, of_row, table, sums)
    return sums


def _room(members: Members, data: Data, candidates: Integers, kind: type[Any]) -> Any:
    """Room for the largest of the joint tables."""
    return np.empty(members.totals.size * int(data.sizes[candidates].max(initial=0)), kind)


@entry
def _fill_sums(
    joint,
    totals,
    bits,
    child_states,
    codes,
    sizes,
    state_bits,
    begin,
    candidates,
    of_cell,
    of_row,
    table,
    sums,
):
    data = codes, sizes, state_bits, begin
    for c in range(candidates.size):
        _count(joint, totals, bits, data, candidates[c], table)
        states = sizes[candidates[c]]
        cells = 0.0
        rows = 0.0
        for y in range(totals.size // child_states):
            for z in range(states):
                total = 0
                for x in range(child_states):
                    n = table[(y * child_states + x) * states + z]
                    total += n
                    cells += of_cell[n]
                rows += of_row[total]
        sums[c, 0] = cells
        sums[c, 1] = rows


def addition_tables(members: Members, data: Data, candidates: Integers) -> Array:
    """Joint tables ``[candidate, configuration, state]``, with the candidate as last parent.

    All candidates have the same number of states.
    """
    before = members.totals.size // members.child_states
    rows = before * int(data.sizes[candidates[0]])
    tables = np.empty((candidates.size, rows, members.child_states), np.int32)
    room = _room(members, data, candidates, np.int32)
    _fill_tables(*members, *data, candidates, room, tables)
    return tables


@entry
def _fill_tables(
    joint, totals, bits, child_states, codes, sizes, state_bits, begin, candidates, table, tables
):
    data = codes, sizes, state_bits, begin
    for c in range(candidates.size):
        _count(joint, totals, bits, data, candidates[c], table)
        states = sizes[candidates[c]]
        for y in range(totals.size // child_states):
            for x in range(child_states):
                for z in range(states):
                    tables[c, y * states + z, x] = table[(y * child_states + x) * states + z]


@entry
def fill_pair_sums(joint, codes, sizes, chosen, of_cell, both, table, sums):
    """Fill sums `[column, column]` with what the cells of the joint tables of pairs add to a score.

    Each is the table of two of the chosen columns, or of one on the diagonal, and of `joint` codes.
    What is below the diagonal stays. `both` and `table` are room for joint codes and counts.
    """
    for i in range(chosen.size):
        own, states = codes[chosen[i]], sizes[chosen[i]]
        configurations = 0
        for row in range(joint.size):
            both[row] = joint[row] * states + own[row]
            configurations = max(configurations, both[row] + 1)
        for j in range(i, chosen.size):
            other, states = codes[chosen[j]], sizes[chosen[j]]
            if i == j:
                states = 1
            for cell in range(configurations * states):
                table[cell] = 0
            for row in range(joint.size):
                table[both[row] * states + (0 if i == j else other[row])] += 1
            total = 0.0
            for cell in range(configurations * states):
                total += of_cell[table[cell]]
            sums[i, j] = total


@part
def _value(n, parameter):
    """What a cell or a row adds to a score; see `structure.columns.Terms`."""
    if n == 0.0:
        return 0.0
    if parameter == 0.0:
        return n * math.log(n)
    return minus_log_beta(parameter, n) + math.lgamma(n)


def weighted_addition_sums(
    members: Members, data: Data, candidates: Integers, weights: Floats, cell: float, row: float
) -> Floats:
    """The same as `addition_sums` with one weight per row, for the parameters of terms."""
    sums = np.zeros((candidates.size, 2))
    table = _room(members, data, candidates, np.float64)
    _fill_weighted_sums(
        *(members.codes, members.totals.size, members.child_states, data.codes, data.sizes),
        *(candidates, weights, float(cell), float(row), table, sums),
    )
    return sums


@entry
def _fill_weighted_sums(
    joint, configurations, child_states, codes, sizes, candidates, weights, cell, row, table, sums
):
    for c in range(candidates.size):
        states = sizes[candidates[c]]
        own = codes[candidates[c]]
        for k in range(configurations * states):
            table[k] = 0.0
        for i in range(own.size):
            table[joint[i] * states + own[i]] += weights[i]
        for y in range(configurations // child_states):
            for z in range(states):
                total = 0.0
                for x in range(child_states + 1):
                    # The last one is the row, so that both are computed in one place.
                    at_end = x == child_states
                    n = total if at_end else table[(y * child_states + x) * states + z]
                    sums[c, 1 if at_end else 0] += _value(n, row if at_end else cell)
                    total += n

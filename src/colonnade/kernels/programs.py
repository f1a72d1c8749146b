"""Writing the steps of eliminations: what is multiplied in which step, without any values.

Orders and programs are laid out as :mod:`colonnade.elimination.layout` says. An *operand* of an
elimination is one of its factors, or the message of one of its steps. The step of the first
variable of an operand takes it; what has no variable that is eliminated is left for the last step.
"""

import numpy as np
from numba import njit

__all__ = ["write_steps"]


@njit(nogil=True, cache=True)
def write_steps(orders, program):
    """Write the steps of all eliminations; return their number, the axis lengths and the strides.

    The other arrays of `program` have room for a step per variable and elimination, and for all
    factors and messages.
    """
    size, stride = np.empty(64, np.int64), np.empty(64, np.int64)
    s = 0
    for e in range(orders.kept.size):
        sizes = orders.size[orders.first_variable[e] : orders.first_variable[e + 1]]
        last = sizes.size - orders.kept[e]
        first, factors = orders.first_factor[e], orders.first_factor[e + 1] - orders.first_factor[e]
        # Of each operand: the stride of each variable, 0 for those it does not have; its cells;
        # where it begins; and the step that takes it.
        strides = np.zeros((factors + last + 1, sizes.size), np.int64)
        cells = np.empty(factors + last + 1, np.int64)
        begin, step, taken = np.empty_like(cells), np.empty_like(cells), np.empty_like(cells)
        end = np.int64(0)
        for k in range(factors):
            low, high = orders.first_member[first + k], orders.first_member[first + k + 1]
            cells[k], step[k] = _lay_out(orders.member[low:high], sizes, last, strides[k])
            begin[k] = end
            end += cells[k]
        program.values[e], program.products[e] = end, 0
        for v in range(last + 1):
            message = factors + v
            if v == last > 0 and _is_table(step[:message], last, cells, sizes):
                break
            number = 0
            for k in range(message):
                if step[k] == v:
                    taken[number] = k
                    number += 1
            axes = _axes(v, last, taken[:number], strides)
            cells[message], step[message] = _lay_out(axes, sizes, last, strides[message])
            begin[message] = _room(cells[message], end, v, message, factors, step, begin, cells)
            states = sizes[v] if v < last else 1
            o, a, t = program.first_operand[s], program.first_axis[s], program.first_stride[s]
            size = _grown(size, a + axes.size + 1)
            for i in range(axes.size):
                size[a + i] = sizes[axes[i]]
            size[a + axes.size] = states
            for k in taken[:number]:
                program.begin[o] = begin[k]
                o += 1
                stride = _grown(stride, t + axes.size + 1)
                for i in range(axes.size):
                    stride[t + i] = strides[k, axes[i]]
                stride[t + axes.size] = strides[k, v] if v < last else 0
                t += axes.size + 1
            program.message[s], program.cells[s] = begin[message], cells[message]
            program.values[e] = max(program.values[e], begin[message] + cells[message])
            program.products[e] += cells[message] * states
            s += 1
            program.first_operand[s], program.first_axis[s] = o, a + axes.size + 1
            program.first_stride[s] = t
        program.first_step[e + 1] = s
    return s, size[: program.first_axis[s]], stride[: program.first_stride[s]]


@njit(nogil=True, cache=True)
def _lay_out(variables, sizes, last, strides):
    """Write the strides of an operand; return its cells and the step that takes it."""
    cells, step = 1, last
    for i in range(variables.size - 1, -1, -1):
        strides[variables[i]] = cells
        cells *= sizes[variables[i]]
        step = min(step, variables[i])
    return cells, step


@njit(nogil=True, cache=True)
def _axes(v, last, taken, strides):
    """The axes of the message of the step of a variable: the first to be eliminated comes last."""
    axes = np.empty(strides.shape[1], np.int64)
    number = 0
    for u in range(axes.size - 1, min(v, last - 1), -1):
        # The last step makes a table of all variables that are kept.
        has = v == last
        for k in taken:
            has |= strides[k, u] > 0
        if has:
            axes[number] = u
            number += 1
    return axes[:number]


@njit(nogil=True, cache=True)
def _is_table(step, last, cells, sizes):
    """Say whether nothing is left but the last message, and it has all variables that are kept."""
    message, kept = step.size - 1, 1
    for k in range(message):
        if step[k] == last:
            return False
    for v in range(last, sizes.size):
        kept *= sizes[v]
    return cells[message] == kept


@njit(nogil=True, cache=True)
def _room(needed, at, v, message, factors, step, begin, cells):
    """The first place, from `at` on, where a message does not overwrite one that is yet needed."""
    k = factors
    while k < message:
        if step[k] >= v and begin[k] < at + needed and at < begin[k] + cells[k]:
            at = begin[k] + cells[k]
            k = factors
        else:
            k += 1
    return at


@njit(nogil=True, cache=True)
def _grown(array, size):
    """The array, or a larger one with the same beginning."""
    if size <= array.size:
        return array
    larger = np.empty(2 * size, np.int64)
    for i in range(array.size):
        larger[i] = array[i]
    return larger

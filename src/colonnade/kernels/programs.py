"""Writing the steps of eliminations: what is multiplied in which step, without any values.

Orders and programs are laid out as :mod:`colonnade.elimination.layout` says. An *operand* of an
elimination is one of its factors, or the message of one of its steps. The step of the first
variable of an operand takes it; what has no variable that is eliminated is left for the last step.
"""

import numpy as np
from numba import njit

from colonnade.kernels.compiled import entry

# Compiled as a part of its caller, which takes less time than to compile it twice.
_inlined = njit(inline="always")


@entry
def write_steps(orders, program):
    """Write the steps of all eliminations into the arrays of `program`, which have enough room."""
    s = 0
    for e in range(orders.kept.size):
        s = _write_program(orders, e, program, s)
        program.first_step[e + 1] = s


@_inlined
def _write_program(orders, e, program, s):
    """Write the steps of elimination e, from step s on; return the step behind them."""
    sizes = orders.size[orders.first_variable[e] : orders.first_variable[e + 1]]
    last = sizes.size - orders.kept[e] - 1
    first, factors = orders.first_factor[e], orders.first_factor[e + 1] - orders.first_factor[e]
    # Of each operand: the stride of each variable, 0 for those it does not have; its cells; where
    # it begins; and the step that takes it.
    strides = np.zeros((factors + last + 1, sizes.size), np.int64)
    cells, begin = np.empty(len(strides), np.int64), np.empty(len(strides), np.int64)
    step, taken = np.empty(len(strides), np.int64), np.empty(len(strides), np.int64)
    end = 0
    for k in range(factors):
        low, high = orders.first_member[first + k], orders.first_member[first + k + 1]
        cells[k], step[k] = _lay_out(orders.member[low:high], sizes, last, strides[k])
        begin[k] = end
        end += cells[k]
    program.values[e], program.products[e] = end, 0
    for v in range(last + 1):
        message = factors + v
        operands = _taken(v, step[:message], taken)
        axes = _axes(v, last, operands, strides)
        cells[message], step[message] = _lay_out(axes, sizes, last, strides[message])
        if v == last > 0 and operands.size == 1 and cells[message - 1] == cells[message]:
            # The message of the step before is all that is left: the table of the kept variables.
            break
        begin[message] = _room(
            cells[message], end, v, step[factors:], begin[factors:message], cells[factors:]
        )
        program.values[e] = max(program.values[e], begin[message] + cells[message])
        program.products[e] += cells[message] * sizes[v]
        program.cells[s], program.columns[s] = cells[message], axes.size + 2
        at = program.first[s]
        program.first[s + 1] = at + (1 + operands.size) * program.columns[s]
        program.numbers[at] = begin[message]
        for i in range(axes.size):
            program.numbers[at + 1 + i] = sizes[axes[i]]
        program.numbers[at + 1 + axes.size] = sizes[v]
        for k in operands:
            at += program.columns[s]
            program.numbers[at] = begin[k]
            for i in range(axes.size):
                program.numbers[at + 1 + i] = strides[k, axes[i]]
            program.numbers[at + 1 + axes.size] = strides[k, v]
        s += 1
    return s


@_inlined
def _lay_out(variables, sizes, last, strides):
    """Write the strides of an operand; return its cells and the step that takes it."""
    cells, step = 1, last
    for i in range(variables.size - 1, -1, -1):
        strides[variables[i]] = cells
        cells *= sizes[variables[i]]
        step = min(step, variables[i])
    return cells, step


@_inlined
def _taken(v, step, taken):
    """The operands that the step of a variable takes."""
    number = 0
    for k in range(step.size):
        if step[k] == v:
            taken[number] = k
            number += 1
    return taken[:number]


@_inlined
def _axes(v, last, operands, strides):
    """The axes of the message of the step of a variable: the first to be eliminated comes last."""
    axes = np.empty(strides.shape[1], np.int64)
    number = 0
    for u in range(axes.size - 1, v, -1):
        # The last step makes a table of all variables that are kept.
        has = v == last
        for k in operands:
            has |= strides[k, u] > 0
        if has:
            axes[number] = u
            number += 1
    return axes[:number]


@_inlined
def _room(needed, at, v, step, begin, cells):
    """The first place from `at` on where a message overwrites none that is needed from now on."""
    k = 0
    while k < begin.size:
        if step[k] >= v and begin[k] < at + needed and at < begin[k] + cells[k]:
            at = begin[k] + cells[k]
            k = 0
        else:
            k += 1
    return at

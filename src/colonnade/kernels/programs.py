"""Writing the steps of eliminations: what is multiplied in which step, without any values.

Orders and programs are laid out as :mod:`colonnade.elimination.layout` says. An *operand* of an
elimination is one of its factors, or the message of one of its steps. The step of the first
variable of an operand takes it; what has no variable that is eliminated is left for the last step.
"""

import numpy as np

from colonnade.kernels.compiled import entry, part


@entry
def write_steps(
    first_variable,
    size,
    kept,
    first_factor,
    first_member,
    member,
    first_step,
    values,
    products,
    message_cells,
    columns,
    first,
    numbers,
    strides,
    room,
):
    """Write the steps of all eliminations into the arrays of a program, which have enough room.

    `strides` ``[operand, variable]`` and `room` ``[5, operand or variable]`` are room for work: the
    stride of each variable of an operand, 0 for those that it does not have; the cells of each
    operand, where it begins, and the step that takes it; the operands that a step takes, and the
    variables of an operand.
    """
    cells, begin, step, taken, axes = room[0], room[1], room[2], room[3], room[4]
    s = 0
    for e in range(kept.size):
        base = first_variable[e]
        variables = first_variable[e + 1] - base
        last = variables - kept[e] - 1
        factors = first_factor[e + 1] - first_factor[e]
        end = 0
        for k in range(factors):
            low, high = first_member[first_factor[e] + k], first_member[first_factor[e] + k + 1]
            for i in range(low, high):
                axes[i - low] = member[i]
            _lay_out(axes, high - low, size, base, variables, last, k, strides, cells, step)
            begin[k] = end
            end += cells[k]
        values[e] = end
        products[e] = 0
        for v in range(last + 1):
            message = factors + v
            number = 0
            for k in range(message):
                if step[k] == v:
                    taken[number] = k
                    number += 1
            # The axes of the message: the first to be eliminated comes last.
            width = np.int64(0)
            for u in range(variables - 1, v, -1):
                # The last step makes a table of all variables that are kept.
                has = v == last
                for i in range(number):
                    has |= strides[taken[i], u] > 0
                if has:
                    axes[width] = u
                    width += 1
            _lay_out(axes, width, size, base, variables, last, message, strides, cells, step)
            if v == last and v > 0 and number == 1 and cells[message - 1] == cells[message]:
                # The message of the step before is all that is left: the table of the kept
                # variables.
                break
            # The first place where a message overwrites none that is needed from now on.
            at = end
            k = factors
            while k < message:
                if step[k] >= v and begin[k] < at + cells[message] and at < begin[k] + cells[k]:
                    at = begin[k] + cells[k]
                    k = factors
                else:
                    k += 1
            begin[message] = at
            if at + cells[message] > values[e]:
                values[e] = at + cells[message]
            products[e] += cells[message] * size[base + v]
            message_cells[s] = cells[message]
            columns[s] = width + 2
            place = first[s]
            for row in range(number + 1):
                k = message if row == 0 else taken[row - 1]
                numbers[place] = begin[k]
                for i in range(width + 1):
                    u = axes[i] if i < width else v
                    numbers[place + 1 + i] = size[base + u] if row == 0 else strides[k, u]
                place += width + 2
            first[s + 1] = place
            s += 1
        first_step[e + 1] = s


@part
def _lay_out(axes, width, size, base, variables, last, k, strides, cells, step):
    """Write the strides of operand k, its cells and the step that takes it."""
    for u in range(variables):
        strides[k, u] = 0
    product, first = 1, last
    for i in range(width - 1, -1, -1):
        u = axes[i]
        strides[k, u] = product
        product *= size[base + u]
        if u < first:
            first = u
    cells[k] = product
    step[k] = first

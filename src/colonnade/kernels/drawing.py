"""States drawn backwards through an elimination, one case at a time.

The forward pass leaves the probabilities of each variable given those eliminated later. Backwards,
the later ones are drawn already: one cell of the message of each step is known, and one state is
drawn from its shares. Everything is laid out as in :mod:`colonnade.kernels.elimination`.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.elimination import LOGS, _forward, _gather


@entry
def draw_cases(
    first_step,
    sizes,
    products,
    cells,
    columns,
    first,
    numbers,
    first_case,
    first_factor,
    rows,
    width,
    begin,
    weight,
    table,
    uniforms,
    values,
    found,
    shares,
    place,
    digit,
    log_total,
    kept,
    counts,
):
    """Draw all cases; where `table` was taken from, the cells drawn are added to `counts`.

    The arguments are those of `run_cases`. `table` has logarithms. One of the `uniforms` is used
    per case and step.
    """
    row, used = np.int64(0), np.int64(0)
    batch, arithmetic, back = np.int64(1), np.int64(LOGS), counts.size > 0
    for p in range(first_step.size - 1):
        steps = first_step[p], first_step[p + 1]
        factors = first_factor[p], first_factor[p + 1]
        in_case = 0
        for f in range(factors[0], factors[1]):
            in_case += rows[f]
        for case in range(first_case[p], first_case[p + 1]):
            _gather(factors, rows, width, begin, row, batch, table, values)
            _forward(
                steps,
                cells,
                columns,
                first,
                numbers,
                batch,
                arithmetic,
                back,
                values,
                shares,
                place,
                digit,
            )
            total = values[numbers[first[steps[1] - 1]]]
            log_total[case] = total
            if total > -math.inf:
                _draw_back(
                    steps,
                    cells,
                    columns,
                    first,
                    numbers,
                    products[p],
                    uniforms,
                    used,
                    found,
                    shares,
                )
                _count(factors, rows, width, begin, row, found, counts)
            used += steps[1] - steps[0]
            row += in_case


@part
def _draw_back(
    steps, message_cells, all_columns, first, numbers, end, uniforms, used, found, shares
):
    """Mark one cell of every factor, from the last step to the first.

    `end` is where the shares of the last step end.
    """
    found[numbers[first[steps[1] - 1]]] = 1.0
    for s in range(steps[1] - 1, steps[0] - 1, -1):
        step, columns = numbers[first[s] : first[s + 1]], all_columns[s]
        rows, last = step.size // columns, columns - 1
        end -= message_cells[s] * step[last]
        cell = 0
        while found[step[0] + cell] == 0.0:
            cell += 1
        found[step[0] + cell] = 0.0
        at = end + cell * step[last]
        x, left = 0, uniforms[used + steps[1] - 1 - s]
        for y in range(step[last]):
            if shares[at + y] > 0.0:
                x = y
                left -= shares[at + y]
                if left < 0.0:
                    break
        for k in range(1, rows):
            where = step[k * columns] + x * step[k * columns + last]
            rest = cell
            for i in range(columns - 2, 0, -1):
                where += (rest % step[i]) * step[k * columns + i]
                rest //= step[i]
            found[where] = 1.0


@part
def _count(factors, rows, width, begin, row, found, counts):
    """Count the marked cells where the values came from; leave zeros behind."""
    at = 0
    for f in range(factors[0], factors[1]):
        for _ in range(rows[f]):
            for x in range(width[f]):
                counts[begin[row] + x] += found[at]
                found[at] = 0.0
                at += 1
            row += 1

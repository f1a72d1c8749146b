"""States drawn backwards through an elimination, one case at a time.

The forward pass leaves the probabilities of each variable given those eliminated later. Backwards,
the later ones are drawn already: one cell of the message of each step is known, and one state is
drawn from its shares. Everything is laid out as in :mod:`colonnade.kernels.elimination`.
"""

import math

from numba import njit

from colonnade.kernels.elimination import LOGS, _forward, _gather


@njit(nogil=True, cache=True)
def draw_cases(program, cases, table, uniforms, work, answers):
    """Draw all cases; where `table` was taken from, the cells drawn are counted in `answers`.

    `table` has logarithms. One of the `uniforms` is used per case and step.
    """
    row, case, used = 0, 0, 0
    for p in range(program.first_step.size - 1):
        factors = cases.first_factor[p], cases.first_factor[p + 1]
        rows = 0
        for f in range(factors[0], factors[1]):
            rows += cases.rows[f]
        steps = program.first_step[p + 1] - program.first_step[p]
        last = program.first_step[p + 1] - 1
        for case in range(cases.first_case[p], cases.first_case[p + 1]):
            _gather(cases, factors, row, 1, table, work.values)
            _forward(program, p, 1, LOGS, True, work)
            total = work.values[program.numbers[program.first[last]]]
            answers.log_total[case] = total
            if total > -math.inf:
                _draw_back(program, p, uniforms[used : used + steps], work)
                _count(cases, factors, row, work.found, answers.counts)
            used += steps
            row += rows


@njit
def _draw_back(program, p, uniforms, work):
    """Mark one cell of every factor, from the last step to the first."""
    found, shares = work.found, work.shares
    first = program.products[p]
    end = program.first_step[p + 1]
    found[program.numbers[program.first[end - 1]]] = 1.0
    for s in range(end - 1, program.first_step[p] - 1, -1):
        step, columns = program.numbers[program.first[s] : program.first[s + 1]], program.columns[s]
        rows, last = step.size // columns, columns - 1
        first -= program.cells[s] * step[last]
        cell = 0
        while found[step[0] + cell] == 0.0:
            cell += 1
        found[step[0] + cell] = 0.0
        at = first + cell * step[last]
        x, left = 0, uniforms[end - 1 - s]
        for y in range(step[last]):
            if shares[at + y] > 0.0:
                x = y
                left -= shares[at + y]
                if left < 0.0:
                    break
        for k in range(1, rows):
            place = step[k * columns] + x * step[k * columns + last]
            rest = cell
            for i in range(columns - 2, 0, -1):
                place += (rest % step[i]) * step[k * columns + i]
                rest //= step[i]
            found[place] = 1.0


@njit
def _count(cases, factors, row, found, counts):
    """Count the marked cells where the values came from; leave zeros behind."""
    at = 0
    for f in range(factors[0], factors[1]):
        for _ in range(cases.rows[f]):
            for x in range(cases.width[f]):
                counts[cases.begin[row] + x] += found[at]
                found[at] = 0.0
                at += 1
            row += 1

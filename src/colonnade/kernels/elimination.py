"""Variable elimination for many cases, forward and backward.

Programs, cases and answers are laid out as :mod:`colonnade.elimination.layout` says.

The cases of a program are taken in batches, and each step is done for a whole batch: cell i of
case b is at i * batch + b, so the innermost loops run over neighbouring numbers. Batches of one
case are common and have loops of their own, because their innermost loops would be too short.

In the forward pass each step leaves the *shares* of the states of its variable, given the others.
In the backward pass they turn the probabilities of a message into those of its operands.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.compiled import entry

# Sums of products of plain numbers; the same of logarithms; the largest product, of logarithms.
PLAIN, LOGS, LARGEST = 0, 1, 2
# Totals of plain numbers are trusted within these bounds. No factor is much larger than one, so
# what underflowed before such a total was too small to matter.
_MIN_PLAIN_TOTAL, _MAX_PLAIN_TOTAL = 1e-200, 1e200
# Rows of products with a smaller sum have no part in such a total, and a reciprocal might overflow.
_MIN_PLAIN_ROW = 1e-300
_MAX_BATCH = 32

# What is called in one place is compiled as a part of its caller, which takes less time than to
# compile it twice; but for `_forward` and `_backward`, whose size would slow the compiler down.
_inlined = njit(inline="always")


@entry
def run_cases(program, cases, table, arithmetic, work, answers):
    """Run the cases whose log total is not a number yet, and write their answers.

    `table` has all tables, as plain numbers or as logarithms. With plain numbers the log total of
    a case that cannot be trusted remains what it is.
    """
    back = answers.counts.size > 0
    # Of this type from the beginning, or what takes it would be compiled twice.
    row = np.int64(0)
    for p in range(program.first_step.size - 1):
        factors = cases.first_factor[p], cases.first_factor[p + 1]
        rows = 0
        for f in range(factors[0], factors[1]):
            rows += cases.rows[f]
        most = min(_MAX_BATCH, work.values.size // program.values[p])
        if back:
            most = min(most, work.shares.size // program.products[p])
        c, end, batch = cases.first_case[p], cases.first_case[p + 1], 0
        while c + batch < end:
            if math.isnan(answers.log_total[c + batch]):
                batch += 1
                if batch < most and c + batch < end:
                    continue
            if batch > 0:
                _gather(cases, factors, row, batch, table, work.values)
                _forward(program, p, batch, arithmetic, back, work)
                _answer(program, p, batch, arithmetic, c, work, answers)
                if back:
                    _backward(program, p, batch, work)
                    _scatter(cases, factors, row, batch, c, work.found, answers)
            step = max(batch, 1)
            c, row, batch = c + step, row + step * rows, 0


@_inlined
def _gather(cases, factors, row, batch, table, values):
    """Collect the values of the factors of the cases whose rows begin at `row`."""
    for b in range(batch):
        at = b
        for f in range(factors[0], factors[1]):
            width = cases.width[f]
            for _ in range(cases.rows[f]):
                begin = cases.begin[row]
                for x in range(width):
                    values[at] = table[begin + x]
                    at += batch
                row += 1


@_inlined
def _scatter(cases, factors, row, batch, c, found, answers):
    """Add the probabilities of cells where `_gather` took the values; leave zeros behind."""
    counts = answers.counts
    for b in range(batch):
        weight, possible = cases.weight[c + b], answers.log_total[c + b] > -math.inf
        at = b
        for f in range(factors[0], factors[1]):
            width = cases.width[f]
            for _ in range(cases.rows[f]):
                begin = cases.begin[row]
                for x in range(width):
                    if possible:
                        counts[begin + x] += weight * found[at]
                    found[at] = 0.0
                    at += batch
                row += 1


@_inlined
def _advance(step, rows, columns, place, digit):
    """Move to the next row of a product; behind the last row, to the first."""
    for i in range(columns - 2, 0, -1):
        digit[i] += 1
        if digit[i] < step[i]:
            for k in range(1, rows):
                place[k] += step[k * columns + i]
            break
        digit[i] = 0
        for k in range(1, rows):
            place[k] -= (step[i] - 1) * step[k * columns + i]


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _forward(program, p, batch, arithmetic, back, work):
    """Write the messages of a batch, and the shares if there is a backward pass."""
    values, shares, place, digit = work.values, work.shares, work.place, work.digit
    row = np.int64(0)
    for s in range(program.first_step[p], program.first_step[p + 1]):
        step, columns = program.numbers[program.first[s] : program.first[s + 1]], program.columns[s]
        rows, last = step.size // columns, columns - 1
        for k in range(rows):
            place[k] = step[k * columns]
        message = place[0] * batch
        for _ in range(program.cells[s]):
            cell = row
            if batch == 1 and arithmetic == PLAIN:
                total = 0.0
                for x in range(step[last]):
                    product = 1.0
                    for k in range(1, rows):
                        product *= values[place[k] + x * step[k * columns + last]]
                    shares[cell] = product
                    total += product
                    cell += 1
                values[message] = total
                if back:
                    scale = 1.0 / total if total > _MIN_PLAIN_ROW else 0.0
                    for i in range(row, cell):
                        shares[i] *= scale
            else:
                for x in range(step[last]):
                    at = (place[1] + x * step[columns + last]) * batch
                    for b in range(batch):
                        shares[cell + b] = values[at + b]
                    for k in range(2, rows):
                        at = (place[k] + x * step[k * columns + last]) * batch
                        if arithmetic == PLAIN:
                            for b in range(batch):
                                shares[cell + b] *= values[at + b]
                        else:
                            for b in range(batch):
                                shares[cell + b] += values[at + b]
                    cell += batch
                _share(shares, row, cell, batch, arithmetic, back, values, message)
            if back:
                row = cell
            message += batch
            _advance(step, rows, columns, place, digit)


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _backward(program, p, batch, work):
    """Write the probabilities of all cells of all factors, given those of the last message."""
    found, shares, place, digit = work.found, work.shares, work.place, work.digit
    first = program.products[p] * batch
    for s in range(program.first_step[p + 1] - 1, program.first_step[p] - 1, -1):
        step, columns = program.numbers[program.first[s] : program.first[s + 1]], program.columns[s]
        rows, last = step.size // columns, columns - 1
        for k in range(rows):
            place[k] = step[k * columns]
        message = place[0] * batch
        first -= program.cells[s] * step[last] * batch
        cell = first
        for _ in range(program.cells[s]):
            for x in range(step[last]):
                if batch == 1:
                    joint = found[message] * shares[cell]
                    for k in range(1, rows):
                        found[place[k] + x * step[k * columns + last]] += joint
                else:
                    for b in range(batch):
                        shares[cell + b] *= found[message + b]
                    for k in range(1, rows):
                        at = (place[k] + x * step[k * columns + last]) * batch
                        for b in range(batch):
                            found[at + b] += shares[cell + b]
                cell += batch
            # An earlier message may have been in the same place.
            for b in range(batch):
                found[message + b] = 0.0
            message += batch
            _advance(step, rows, columns, place, digit)


@_inlined
def _answer(program, p, batch, arithmetic, c, work, answers):
    """Write the answers of a batch; its last message is the table of the variables kept."""
    last = program.first_step[p + 1] - 1
    table, cells = program.numbers[program.first[last]] * batch, program.cells[last]
    end, shared = table + cells * batch, answers.kept.size + work.found.size > 0
    _share(work.values, table, end, batch, arithmetic, shared, answers.log_total, c)
    for b in range(batch):
        total = answers.log_total[c + b]
        if arithmetic == PLAIN:
            trusted = _MIN_PLAIN_TOTAL < total < _MAX_PLAIN_TOTAL
            answers.log_total[c + b] = math.log(total) if trusted else math.nan
        for i in range(min(cells, answers.kept.shape[1])):
            answers.kept[c + b, i] = work.values[table + i * batch + b]
    if work.found.size > 0:
        for i in range(table, end):
            work.found[i] = work.values[i]


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _share(shares, row, end, batch, arithmetic, back, totals, at):
    """Write the total of a row of cells for each case; turn the cells into shares of it."""
    if arithmetic == PLAIN:
        for b in range(batch):
            totals[at + b] = shares[row + b]
        for i in range(row + batch, end, batch):
            for b in range(batch):
                totals[at + b] += shares[i + b]
        for i in range(row, end if back else row, batch):
            for b in range(batch):
                total = totals[at + b]
                shares[i + b] *= 1.0 / total if total > _MIN_PLAIN_ROW else 0.0
        return
    for b in range(batch):
        best = row + b
        for i in range(row + b, end, batch):
            # What is not a number stays so.
            if shares[best] == shares[best] and not shares[i] <= shares[best]:
                best = i
        top, mass = shares[best], 0.0
        for i in range(row + b, end, batch):
            if arithmetic == LARGEST or top == -math.inf:
                shares[i] = 1.0 if i == best else 0.0
            else:
                shares[i] = math.exp(shares[i] - top)
            mass += shares[i]
        # Impossible for all states: no share rather than an undefined one.
        scale = 1.0 / mass if top != -math.inf else 0.0
        for i in range(row + b, end, batch):
            shares[i] *= scale
        totals[at + b] = top + math.log(mass)

"""Variable elimination for many cases, forward and backward.

Programs, cases and answers are laid out as :mod:`colonnade.elimination.layout` says.

The cases of a program are taken in batches, and each step is done for a whole batch: cell i of
case b is at i * batch + b, so the innermost loops run over neighbouring numbers. Batches of one
case are common and have loops of their own, because their innermost loops would be too short.

In the forward pass each step leaves the *shares* of the states of its variable, given the others.
In the backward pass they turn the probabilities of a message into those of its operands.
"""

import math

from colonnade.kernels.compiled import entry, part

# Sums of products of plain numbers; the same of logarithms; the largest product, of logarithms.
PLAIN, LOGS, LARGEST = 0, 1, 2
# Totals of plain numbers are trusted within these bounds. No factor is much larger than one, so
# what underflowed before such a total was too small to matter.
_MIN_PLAIN_TOTAL, _MAX_PLAIN_TOTAL = 1e-200, 1e200
# Rows of products with a smaller sum have no part in such a total, and a reciprocal might overflow.
_MIN_PLAIN_ROW = 1e-300
_MAX_BATCH = 32


@entry
def run_cases(
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
    arithmetic,
    values,
    found,
    shares,
    place,
    digit,
    log_total,
    kept,
    counts,
):
    """Run the cases whose log total is not a number yet, and write their answers.

    The arguments are the arrays of a program, of cases, of a workspace and of answers; but `table`
    has all tables, as plain numbers or as logarithms, and `arithmetic` says which. With plain
    numbers the log total of a case that cannot be trusted remains what it is.
    """
    back = counts.size > 0
    shared = kept.size + found.size > 0
    row = begin.size - begin.size
    for p in range(first_step.size - 1):
        steps = first_step[p], first_step[p + 1]
        factors = first_factor[p], first_factor[p + 1]
        in_case = 0
        for f in range(factors[0], factors[1]):
            in_case += rows[f]
        most = values.size // sizes[p]
        if back and shares.size // products[p] < most:
            most = shares.size // products[p]
        if most > _MAX_BATCH:
            most = _MAX_BATCH
        c, end, batch = first_case[p], first_case[p + 1], 0
        while c + batch < end:
            if math.isnan(log_total[c + batch]):
                batch += 1
                if batch < most and c + batch < end:
                    continue
            if batch > 0:
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
                _share_last(
                    steps,
                    cells,
                    first,
                    numbers,
                    batch,
                    arithmetic,
                    shared,
                    c,
                    values,
                    found,
                    log_total,
                    kept,
                )
                if back:
                    _backward(
                        steps,
                        cells,
                        columns,
                        first,
                        numbers,
                        products[p] * batch,
                        batch,
                        found,
                        shares,
                        place,
                        digit,
                    )
                    _scatter(
                        factors,
                        rows,
                        width,
                        begin,
                        row,
                        batch,
                        c,
                        weight,
                        found,
                        log_total,
                        counts,
                    )
            c += batch if batch > 0 else 1
            row += (batch if batch > 0 else 1) * in_case
            batch = 0


@part
def _gather(factors, rows, width, begin, row, batch, table, values):
    """Collect the values of the factors of the cases whose rows begin at `row`."""
    for b in range(batch):
        at = b
        for f in range(factors[0], factors[1]):
            for _ in range(rows[f]):
                for x in range(begin[row], begin[row] + width[f]):
                    values[at] = table[x]
                    at += batch
                row += 1


@part
def _scatter(factors, rows, width, begin, row, batch, c, weight, found, log_total, counts):
    """Add the probabilities of cells where `_gather` took the values; leave zeros behind."""
    for b in range(batch):
        possible = log_total[c + b] > -math.inf
        at = b
        for f in range(factors[0], factors[1]):
            for _ in range(rows[f]):
                for x in range(begin[row], begin[row] + width[f]):
                    if possible:
                        counts[x] += weight[c + b] * found[at]
                    found[at] = 0.0
                    at += batch
                row += 1


@part
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


@part
def _forward(
    steps,
    message_cells,
    all_columns,
    first,
    numbers,
    batch,
    arithmetic,
    back,
    values,
    shares,
    place,
    digit,
):
    """Write the messages of a batch, and the shares if there is a backward pass."""
    row = batch - batch
    for s in range(steps[0], steps[1]):
        step, columns = numbers[first[s] : first[s + 1]], all_columns[s]
        rows, last = step.size // columns, columns - 1
        for k in range(rows):
            place[k] = step[k * columns]
        message = place[0] * batch
        for _ in range(message_cells[s]):
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


@part
def _backward(
    steps, message_cells, all_columns, first, numbers, end, batch, found, shares, place, digit
):
    """Write the probabilities of all cells of all factors, given those of the last message.

    `end` is where the shares of the last step end.
    """
    for s in range(steps[1] - 1, steps[0] - 1, -1):
        step, columns = numbers[first[s] : first[s + 1]], all_columns[s]
        rows, last = step.size // columns, columns - 1
        for k in range(rows):
            place[k] = step[k * columns]
        message = place[0] * batch
        end -= message_cells[s] * step[last] * batch
        cell = end
        for _ in range(message_cells[s]):
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


@part
def _share_last(
    steps,
    message_cells,
    first,
    numbers,
    batch,
    arithmetic,
    shared,
    c,
    values,
    found,
    log_total,
    kept,
):
    """Write the answers of a batch; its last message is the table of the variables kept."""
    last = steps[1] - 1
    table, cells = numbers[first[last]] * batch, message_cells[last]
    end = table + cells * batch
    _share(values, table, end, batch, arithmetic, shared, log_total, c)
    for b in range(batch):
        total = log_total[c + b]
        if arithmetic == PLAIN:
            trusted = _MIN_PLAIN_TOTAL < total < _MAX_PLAIN_TOTAL
            log_total[c + b] = math.log(total) if trusted else math.nan
        if kept.shape[1] > 0:
            for i in range(cells):
                kept[c + b, i] = values[table + i * batch + b]
    if found.size > 0:
        for i in range(table, end):
            found[i] = values[i]


@part
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

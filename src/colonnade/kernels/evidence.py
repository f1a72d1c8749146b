"""ln Z of many tables of two to four states at one strength s, to about ten digits (docs/exact.md).

f_x(alpha) is alpha^(power - 1) exp(P(alpha)), where the power is alpha0 plus the number of cells
with counts, and P is a sum over the cells of functions that depend on their counts n alone,

    lnGamma(n + s alpha) - lnGamma(n) - lnGamma(1 + s alpha),

analytic for alpha > -1/s. Each is a Chebyshev polynomial on (0, 1) that is computed once for all
tables, so that a table of any number of cells becomes one polynomial per state.

The states are taken two by two, on the two sides of a sum v: the trapezoidal rule in logits
integrates over the shares of the two states of a side, and over v. Arrays are ``[side, state]``; a
state that is not there has power zero.
"""

import math

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.panels import log_logistic, within
from colonnade.kernels.special import log_rise, minus_log_beta

# Terms this far below the largest one are left out (a logarithm).
_NEGLIGIBLE = 26.0
# Nodes farther below the largest term at the mode are not needed elsewhere either.
_OUT_OF_REACH = 50.0
# How much more than its last node a tail may have beyond it, at most (it falls like a power of v).
_TAIL = 10.0
_MAX_ERROR = 1e-9
_MAX_ITERATIONS = 200
_MAX_NODES = 400
# Where states come, as places [side, state] in order: a second one on a side only if need be.
_PLACES = (0, 2, 1, 3)
# Shares of the first state in the sum of two, of the second, and their logarithms.
_SHARE, _REST, _LOG_SHARE, _LOG_REST = range(4)


def fill_curves(counts: Integers, s: float, matrix: Floats, curves: Floats, known: Array) -> None:
    """Make the polynomials of counts not known yet: ``[count, coefficient]``; the last is lnGamma.

    `matrix` turns values at the Chebyshev nodes into coefficients.
    """
    known[0] = True
    fresh = np.unique(counts[~known[counts]]).astype(np.int64)
    if fresh.size:
        size = matrix.shape[0]
        places = 0.5 * s * (1.0 + np.cos(np.pi * (np.arange(size) + 0.5) / size))
        _fill_curves(fresh, places, matrix, np.empty(size), curves)
        known[fresh] = True


@entry
def _fill_curves(counts, places, matrix, values, curves):
    size = places.size
    for i in range(counts.size):
        n = float(counts[i])
        for j in range(size):
            values[j] = log_rise(n, places[j]) - math.lgamma(1.0 + places[j])
        for k in range(size):
            total = 0.0
            for j in range(size):
                total += matrix[k, j] * values[j]
            curves[counts[i], k] = total
        curves[counts[i], size] = math.lgamma(n)


@part
def _slopes(polynomial, alpha):
    """First and second derivative of a polynomial."""
    x = 2.0 * alpha - 1.0
    b1 = b2 = d1 = d2 = e1 = e2 = 0.0
    for k in range(polynomial.size - 1, 0, -1):
        e1, e2 = 2.0 * x * e1 - e2 + 4.0 * d1, e1
        d1, d2 = 2.0 * x * d1 - d2 + 2.0 * b1, d1
        b1, b2 = 2.0 * x * b1 - b2 + polynomial[k], b1
    return 2.0 * (x * d1 - d2 + b1), 4.0 * (x * e1 - e2 + 2.0 * d1)


@part
def _step(deviation):
    """Step in units of the logit for a relative error far below 1e-10.

    Compared with a normal density, one with exponential tails needs shorter steps.
    """
    return 0.88 * deviation / (1.0 + 1.5 * deviation)


@part
def _decay(x):
    """Minus ln |Gamma(p (1 + i x)) / Gamma(p)| / p, roughly: how fast a rule converges."""
    return x * math.atan(x) - 0.5 * math.log1p(x * x)


@part
def _error(difference, deviation, step):
    """Error of a rule from the difference that leaving out every second node makes.

    For a logit whose exponential has a Gamma distribution it is a power of that: the second if the
    distribution is wide, the fourth if it is narrow.
    """
    x = math.pi * deviation * deviation / step
    return abs(difference) ** (_decay(2.0 * x) / _decay(x))


@part
def _mode(power, polynomials, alpha, curvature, slope):
    """Mode of the product of all alpha f(alpha), and minus the second derivative of each logarithm.

    All of them are concave: Newton's method with the sum of all alpha kept at one.
    """
    total = 0.0
    for x in range(4):
        total += power[x]
    for x in range(4):
        alpha[x] = power[x] / total
        curvature[x] = math.inf
    for _ in range(_MAX_ITERATIONS):
        excess = -1.0
        width = 0.0
        pull = 0.0
        for x in range(4):
            if power[x] > 0.0:
                first, second = _slopes(polynomials[x], alpha[x])
                slope[x] = power[x] / alpha[x] + first
                curvature[x] = power[x] / (alpha[x] * alpha[x]) - second
                excess += alpha[x]
                width += 1.0 / curvature[x]
                pull += slope[x] / curvature[x]
        multiplier = (pull + excess) / width
        # The first steps only approach: they keep every alpha positive and change none much.
        change = 0.0
        total = 0.0
        for x in range(4):
            if power[x] > 0.0:
                move = (slope[x] - multiplier) / curvature[x]
                here = move * move * curvature[x]
                change = here if here > change else change
                alpha[x] = within(alpha[x] + move, 0.3 * alpha[x], 3.0 * alpha[x])
                total += alpha[x]
        for x in range(4):
            alpha[x] /= total
        if change < 1e-3:
            return True
    return False


@part
def _largest(terms, nodes):
    top = terms[0]
    for i in range(nodes):
        top = terms[i] if terms[i] > top else top
    return top


@part
def _side(power, polynomials, v, grid, nodes, room):
    """Logarithm of v times the integral over the two parts of v, less that of the step.

    Also the relative difference of the rule with every second node, and the share of the tails that
    are cut off. Leaves the logarithms of all terms in the room.
    """
    log_v = math.log(v)
    terms, places, b1, b2 = room[0], room[1], room[2], room[3]
    for i in range(nodes):
        terms[i] = power[0] * (log_v + grid[_LOG_SHARE, i]) + power[1] * (
            log_v + grid[_LOG_REST, i]
        )
    for state in range(2):
        if power[state] > 0.0:
            # Clenshaw's recurrence, for all nodes at once
            for i in range(nodes):
                places[i] = 2.0 * v * grid[state, i] - 1.0
                b1[i] = 0.0
                b2[i] = 0.0
            for k in range(polynomials.shape[1] - 1, 0, -1):
                coefficient = polynomials[state, k]
                for i in range(nodes):
                    fresh = 2.0 * places[i] * b1[i] - b2[i] + coefficient
                    b2[i] = b1[i]
                    b1[i] = fresh
            for i in range(nodes):
                terms[i] += places[i] * b1[i] - b2[i] + polynomials[state, 0]
    top = _largest(terms, nodes)
    total = 0.0
    alternating = 0.0
    sign = 1.0
    for i in range(nodes):
        if terms[i] > top - _NEGLIGIBLE:
            weight = math.exp(terms[i] - top)
            total += weight
            alternating += sign * weight
        sign = -sign
    tails = math.exp(terms[0] - top) + math.exp(terms[nodes - 1] - top)
    return top + math.log(total), alternating / total, _TAIL * tails / total


@part
def _lay_out(power, centre, deviation, step, grid):
    """Write the nodes for the shares of two states; return their number, 0 if too many."""
    if power[1] == 0.0:
        grid[_SHARE, 0] = 1.0
        grid[_REST, 0] = grid[_LOG_SHARE, 0] = grid[_LOG_REST, 0] = 0.0
        return 1
    left = math.ceil((8.0 * deviation + _OUT_OF_REACH / power[0]) / step)
    nodes = left + math.ceil((8.0 * deviation + _OUT_OF_REACH / power[1]) / step) + 1
    if nodes > _MAX_NODES:
        return 0
    for i in range(nodes):
        y = centre + (i - left) * step
        log_share = log_logistic(y)
        grid[_LOG_SHARE, i] = log_share
        grid[_LOG_REST, i] = log_share - y
        grid[_SHARE, i] = math.exp(log_share)
        grid[_REST, i] = math.exp(log_share - y)
    return nodes


@part
def _trim(grid, nodes, terms):
    """Leave out the nodes whose terms are far below the largest; return how many are left."""
    top = _largest(terms, nodes)
    kept = 0
    for i in range(nodes):
        if terms[i] > top - _OUT_OF_REACH:
            for k in range(4):
                grid[k, kept] = grid[k, i]
            kept += 1
    return kept


@part
def _log_z(power, polynomials, modes, nodes, grids, room):
    """ln Z of one table; NaN if it does not reach its accuracy."""
    alpha, curvature = modes[0], modes[1]
    if not _mode(power, polynomials, alpha, curvature, modes[2]):
        return math.nan
    sums, widths, deviations, steps = modes[3], modes[4], modes[5], modes[6]
    for side in range(2):
        first = 2 * side
        one, two = alpha[first], alpha[first + 1]
        deviations[side] = 0.0
        steps[side] = 1.0
        sums[side] = one + two
        widths[side] = 1.0 / curvature[first] + 1.0 / curvature[first + 1]
        if two > 0.0:
            bend = curvature[first] + curvature[first + 1]
            deviations[side] = sums[side] / (math.sqrt(bend) * one * two)
            steps[side] = _step(deviations[side])
        centre = math.log(one) - math.log(two)
        nodes[side] = _lay_out(
            power[first : first + 2], centre, deviations[side], steps[side], grids[side]
        )
        if nodes[side] == 0:
            return math.nan
    deviation = math.sqrt(widths[0] * widths[1] / (widths[0] + widths[1])) / (sums[0] * sums[1])
    step = _step(deviation)
    middle = math.log(sums[0] / sums[1])
    top = 0.0
    total = 0.0
    alternating = 0.0
    error = 0.0
    k = 0
    direction = 1
    while True:
        value = 0.0
        lost = 0.0
        for side in range(2):
            y = middle + k * step if side == 0 else -middle - k * step
            v = 1.0 / (1.0 + math.exp(-y))
            first = 2 * side
            own, difference, tails = _side(
                power[first : first + 2],
                polynomials[first : first + 2],
                v,
                grids[side],
                nodes[side],
                room,
            )
            if k == 0 and direction > 0:
                nodes[side] = _trim(grids[side], nodes[side], room[0])
            value += own
            if nodes[side] > 1:
                lost += _error(difference, deviations[side], steps[side]) + tails
        if k == 0:
            top = value
        weight = math.exp(value - top)
        total += weight
        alternating += weight if k % 2 == 0 else -weight
        error += weight * lost
        if value < top - _NEGLIGIBLE or abs(k) > _MAX_NODES:
            if direction < 0:
                break
            direction = -1
            k = 0
        k += direction
    error = error / total + _error(alternating / total, deviation, step)
    if not error < _MAX_ERROR:
        return math.nan
    return top + math.log(total * step * steps[0] * steps[1])


@part
def _gather(table, s, alpha0, curves, power, polynomials):
    """Powers and polynomials of the states of a table, and the constant of its evidence.

    All states without counts are one, with the sum of their alpha0. Returns how many states that
    makes; of more than four nothing is of use.
    """
    size = curves.shape[1] - 1
    constant = 0.0
    unseen = 0.0
    pooled = 0
    for place in range(4):
        power[place] = 0.0
        for k in range(size):
            polynomials[place, k] = 0.0
    for x in range(alpha0.size):
        cells = 0
        for y in range(table.shape[0]):
            n = table[y, x]
            if n > 0 and pooled < 4:
                place = _PLACES[pooled]
                cells += 1
                constant += curves[n, size]
                for k in range(size):
                    polynomials[place, k] += curves[n, k]
            elif n > 0:
                return 5, 0.0
        if cells == 0:
            unseen += alpha0[x]
        else:
            constant += cells * math.log(s) - math.lgamma(alpha0[x])
            power[_PLACES[pooled]] = alpha0[x] + cells
            pooled += 1
    if unseen > 0.0:
        if pooled == 4:
            return 5, 0.0
        constant -= math.lgamma(unseen)
        power[_PLACES[pooled]] = unseen
        pooled += 1
    return pooled, constant


def pooled_evidence(
    tables: Array, s: float, alpha0: Floats, curves: Floats, of_rows: Floats
) -> Floats:
    """Log evidence of every table ``[table, configuration, state]`` of whole counts.

    `of_rows` remembers lnGamma(s + n) - lnGamma(s) by n. NaN for tables that are not of two to four
    states and several rows, and for those that do not reach the accuracy.
    """
    found = np.empty(tables.shape[0])
    _fill_evidence(
        *(tables, s, alpha0, math.lgamma(alpha0.sum()), curves, of_rows),
        *(np.empty(4), np.empty((4, curves.shape[1] - 1)), np.empty((7, 4))),
        *(np.empty(2, np.int64), np.empty((2, 4, _MAX_NODES)), np.empty((4, _MAX_NODES)), found),
    )
    return found


@entry
def _fill_evidence(
    tables,
    s,
    alpha0,
    prior,
    curves,
    of_rows,
    power,
    polynomials,
    modes,
    nodes,
    grids,
    room,
    found,
):
    for t in range(tables.shape[0]):
        table = tables[t]
        rows = 0
        constant = prior
        for y in range(table.shape[0]):
            total = 0
            for x in range(alpha0.size):
                total += table[y, x]
            if total > 0:
                rows += 1
                if of_rows[total] != of_rows[total]:
                    n = float(total)
                    of_rows[total] = minus_log_beta(s, n) + math.lgamma(n)
                constant -= of_rows[total]
        states, own = _gather(table, s, alpha0, curves, power, polynomials)
        good = rows > 1 and 2 <= states <= 4
        for x in range(4):
            good &= power[x] == 0.0 or power[x] >= 1.0
        found[t] = math.nan
        if good:
            found[t] = constant + own + _log_z(power, polynomials, modes, nodes, grids, room)

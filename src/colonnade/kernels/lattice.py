"""The exact posterior of alpha as a finite mixture of Dirichlet distributions (docs/exact.md).

m_x is the number of tables of state x. Its weight is w_x[m] = c_x[m] s^m Gamma(m + alpha0_x), where
c_x are the coefficients of prod over cells of the rising factorial; the mixture weight of (m_1,
..., m_R) is prod w_x[m_x] / Gamma(M + A0). All terms are positive and every recurrence below adds
positive numbers only, so nothing cancels.

The functions for Python take `states`, a :class:`~colonnade.kernels.states.States`, and the centre
of their windows: a, the parameters of the variational Dirichlet distribution, and u, its rates. A
*window* is the array of tilted weights w_x[m] for m from `begin[x]` on, scaled to about one at its
centre. The windows of all states follow each other in one array: that of state x is
weights[first[x]:first[x + 1]].
"""

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.kernels.compiled import entry, part, part_in_any_order
from colonnade.kernels.special import digamma
from colonnade.kernels.states import States
from colonnade.kernels.tilt import log_weight, total_of
from colonnade.kernels.trials import convolve, poisson_binomial, rare_trials

# Weights this far below their peak are left out of the windows.
_NEGLIGIBLE = 1e-26
_LARGE = 1e100
_LARGE_SQUARED = 1e200


@part
def _nearest(value, low, high):
    """The whole number nearest to a value, within bounds."""
    value = round(value)
    if value < low:
        return low
    return value if value < high else high


@part
def _copy(source, target):
    for k in range(target.size):
        target[k] = source[k]


@part
def _window(weights, centre, low, high, shift, a):
    """Multiply probabilities by Gamma(m + shift) exp(-psi(a) m), relative to the centre.

    Those from low to high are, in place; returns the first and the last that are not negligible.
    """
    rate = math.exp(-digamma(a))
    top = 0.0
    last = centre
    # Where the factor leaves the range of numbers, the probability is as small as it is large.
    factor, lift = 1.0, 1.0
    for m in range(centre, high + 1):
        if factor > _LARGE:
            factor, lift = factor / _LARGE, lift * _LARGE
        weight = weights[m] * lift * factor
        weights[m] = weight
        last = m
        if weight > top:
            top = weight
        if weight < _NEGLIGIBLE * top or lift > _LARGE_SQUARED:
            break
        factor *= (m + shift) * rate
    first = centre
    factor, lift = 1.0, 1.0
    for m in range(centre - 1, low - 1, -1):
        factor /= (m + shift) * rate
        if factor > _LARGE:
            factor, lift = factor / _LARGE, lift * _LARGE
        weight = weights[m] * lift * factor
        weights[m] = weight
        first = m
        if weight > top:
            top = weight
        if weight < _NEGLIGIBLE * top:
            break
    return first, last


@entry
def table_windows(start, counts, times, alpha0, a, u, split, rare, rare_first, first, begin, at):
    """Windows of the tilted weights of every state, whose rare trials are given (see `trials`).

    Fills in `first`, `begin` and `at`. Returns the windows; the closing weight exp(lambda M) /
    Gamma(M + A0) over the range of the sum M, the same divided by M + A0, and that by M + A0 + 1;
    and the logarithm of the scale of it all.
    """
    weights = np.empty(64 * alpha0.size)
    single = np.empty(1)
    scale = 0.0
    lowest = np.int64(0)
    for x in range(alpha0.size):
        cells = times[start[x] : start[x + 1]]
        placed = int(total_of(cells))
        single[0] = 1.0
        probability, low, high = single, 0, 0
        if cells.size > 0 and counts[start[x + 1] - 1] > 1.0:
            others = rare[rare_first[x] : rare_first[x + 1]]
            probability, low, high = poisson_binomial(
                counts[start[x] : start[x + 1]], cells, u[x], split[x], others
            )
        centre = _nearest(a[x] - alpha0[x], low + placed, high + placed)
        low, high = _window(probability, centre - placed, low, high, placed + alpha0[x], a[x])
        begin[x] = placed + low
        lowest += begin[x]
        # So many numbers of tables can the states before this one have.
        at[x + 1] = at[x] + first[x] - x + 1
        first[x + 1] = first[x] + high - low + 1
        if first[x + 1] > weights.size:
            grown = np.empty(2 * first[x + 1])
            _copy(weights, grown[: weights.size])
            weights = grown
        _copy(probability[low:], weights[first[x] : first[x + 1]])
        scale += log_weight(start, counts, times, x, u[x])
        scale += math.lgamma(centre + alpha0[x]) - centre * digamma(a[x])
    total, tables = total_of(alpha0), total_of(a)
    tilt = digamma(tables)
    rate = math.exp(tilt)
    length = first[alpha0.size] - alpha0.size + 1
    at[alpha0.size + 1] = at[alpha0.size] + length
    centre = _nearest(tables - total, lowest, lowest + length - 1)
    closing = np.empty((3, length))
    closing[0, centre - lowest] = 1.0
    for m in range(centre, lowest + length - 1):
        closing[0, m + 1 - lowest] = closing[0, m - lowest] * rate / (m + total)
    for m in range(centre - 1, lowest - 1, -1):
        closing[0, m - lowest] = closing[0, m + 1 - lowest] * (m + total) / rate
    for i in range(length):
        closing[1, i] = closing[0, i] / (total + lowest + i)
        closing[2, i] = closing[1, i] / (total + lowest + i + 1.0)
    scale += centre * tilt - math.lgamma(centre + total)
    return weights, closing, scale


class _Windows(NamedTuple):
    """Windows and where they begin, the closing weights, and the logarithm of their scale.

    What is still to come before state x is an array of at[x + 1] - at[x] numbers.
    """

    weights: Floats
    first: Integers
    begin: Integers
    at: Integers
    closing: Floats
    scale: float


def _windows(states: States, a: Floats, u: Floats) -> _Windows:
    start, counts, times, alpha0 = states
    first, at = np.zeros((2, a.size + 2), np.int64)
    first, begin = first[:-1], np.empty(a.size, np.int64)
    rare = rare_trials(start, counts, times, u)
    weights, closing, scale = table_windows(
        start, counts, times, alpha0, a, u, *rare, first, begin, at
    )
    return _Windows(weights, first, begin, at, closing, scale)


@part_in_any_order
def _adjoint(window, later, out):
    """What is still to come before the state with this window, by the tables placed so far."""
    for i in range(out.size):
        value = 0.0
        for k in range(window.size):
            value += window[k] * later[i + k]
        out[i] = value


@part_in_any_order
def _dot(left, right):
    value = 0.0
    for i in range(left.size):
        value += left[i] * right[i]
    return value


@part
def _kept(weights):
    """Range of the weights that are not negligible."""
    least = 0.0
    for i in range(weights.size):
        if weights[i] > least:
            least = weights[i]
    least *= _NEGLIGIBLE
    begin = 0
    end = weights.size
    while weights[begin] < least:
        begin += 1
    while weights[end - 1] < least:
        end -= 1
    return begin, end


@entry
def _close(weights, first, at, stop, later):
    """Fill in what is still to come before each state, from the last one down to state `stop`."""
    for row in range(later.shape[0]):
        for x in range(first.size - 2, stop - 1, -1):
            window = weights[first[x] : first[x + 1]]
            _adjoint(window, later[row, at[x + 1] : at[x + 2]], later[row, at[x] : at[x + 1]])


def _still_to_come(found: _Windows, rows: int = 1, stop: int = 0) -> Floats:
    """Return what is still to come before all states from `stop` on.

    One row for each of the first closing weights; what is to come before state x begins at at[x].
    """
    later = np.empty((rows, found.at[-1]))
    later[:, found.at[-2] :] = found.closing[:rows]
    _close(found.weights, found.first, found.at, stop, later)
    return later


def lattice_log_z(states: States, a: Floats, u: Floats) -> float:
    """ln Z alone."""
    found = _windows(states, a, u)
    return math.log(_still_to_come(found)[0, 0]) + found.scale


def lattice_moments(states: States, a: Floats, u: Floats) -> tuple[float, Floats, Floats]:
    """ln Z, and mean and second moments of alpha under the mixture.

    Given the tables, alpha is Dirichlet(alpha0 + m): its moments need E[m_x / (M + A0)] and E[m_x
    m_x' / ((M + A0)(M + A0 + 1))].
    """
    found = _windows(states, a, u)
    later = _still_to_come(found, 3)
    size, length = a.size, found.closing.shape[1]
    mean, second = np.empty(size), np.empty((size, size))
    # Room for sums over the states so far, one by one and of all; and for what is made of them.
    so_far, room = np.empty((size + 1, length)), np.empty((4, max(length, size)))
    _add_moments(
        *(found.weights, found.first, found.begin, later, found.at),
        *(states.alpha0, so_far, room, mean, second),
    )
    return math.log(later[0, 0]) + found.scale, mean, second


@entry
def _add_moments(weights, first, begin, later, at, alpha0, so_far, room, mean, second):
    """Fill in the mean of alpha and the means of products of two of its entries."""
    size = begin.size
    tables = room[3]
    so_far[size, 0] = 1.0
    used = 1
    low = 0
    for x in range(size):
        window = weights[first[x] : first[x + 1]]
        weighted = room[0, : window.size]
        here = room[1, :used]
        prefix = so_far[size, :used]
        ahead = at[x + 1] + low
        reach = ahead + used + window.size - 1
        # E[m_x^2 ...], E[m_x / (M + A0)], E[m_x ...]: a call more would be compiled once more.
        for which in range(3):
            for k in range(window.size):
                weighted[k] = window[k] * (begin[x] + k)
                if which == 0:
                    weighted[k] *= begin[x] + k
            row = 1 if which == 1 else 2
            _adjoint(weighted, later[row, ahead:reach], here)
            value = _dot(prefix, here)
            if which == 0:
                second[x, x] = value
            elif which == 1:
                mean[x] = value
            else:
                tables[x] = value
        for earlier in range(x):
            second[earlier, x] = _dot(so_far[earlier, :used], here)
        if x == size - 1:
            break
        fresh = room[2, : used + window.size - 1]
        begins, ends = 0, 0
        for k in range(-2, x):
            # That of this state, then that of all together, which says what is kept of the others.
            row = k
            if k < 0:
                row = x if k == -2 else size
            factor = weighted if k == -2 else window
            out = so_far[x, : fresh.size] if k == -2 else fresh
            convolve(so_far[row if k >= 0 else size, :used], factor, out)
            if k == -1:
                begins, ends = _kept(fresh)
                _copy(so_far[x, begins:ends], so_far[x, : ends - begins])
            if k >= -1:
                _copy(fresh[begins:ends], so_far[row, : ends - begins])
        used = ends - begins
        low += begins
    z = later[0, 0]
    whole_one, whole_two = later[1, 0] / z, later[2, 0] / z
    for x in range(size):
        mean[x] = mean[x] / z + alpha0[x] * whole_one
        tables[x] /= z
        for e in range(x + 1):
            moment = second[e, x] / z + alpha0[e] * tables[x] + alpha0[x] * tables[e]
            moment += alpha0[e] * alpha0[x] * whole_two
            if e == x:
                moment += tables[x] + alpha0[x] * whole_two
            second[e, x] = moment
            second[x, e] = moment


def others_together(states: States, a: Floats, u: Floats) -> tuple[Floats, int]:
    """Weights of the number of tables of all states but the last, and the first such number."""
    found = _windows(states, a, u)
    together, room = np.ones((2, found.closing.shape[1]))
    lowest, used = _join(found.weights, found.first, found.begin, together, room)
    return together[:used], lowest


@entry
def _join(weights, first, begin, together, room):
    """Convolve all windows but the last one; return the least number and how many there are."""
    used = 1
    lowest = 0
    for x in range(begin.size - 1):
        window = weights[first[x] : first[x + 1]]
        fresh = room[: used + window.size - 1]
        convolve(together[:used], window, fresh)
        begins, ends = _kept(fresh)
        _copy(fresh[begins:ends], together[: ends - begins])
        used = ends - begins
        lowest += begin[x] + begins
    return lowest, used


def lattice_draws(states: States, a: Floats, u: Floats, uniforms: Floats) -> Floats:
    """Independent draws of the table counts (m_1, ..., m_R), one per row of `uniforms`."""
    found = _windows(states, a, u)
    later = _still_to_come(found, stop=1)[0]
    tables = np.empty(uniforms.shape)
    _draw(found.weights, found.first, found.begin, later, found.at, uniforms, tables)
    return tables


@entry
def _draw(weights, first, begin, later, at, uniforms, tables):
    for draw in range(uniforms.shape[0]):
        placed = 0
        for x in range(begin.size):
            window = weights[first[x] : first[x + 1]]
            ahead = later[at[x + 1] + placed : at[x + 2]]
            weight = 0.0
            for k in range(window.size):
                weight += window[k] * ahead[k]
            target = uniforms[draw, x] * weight
            chosen = window.size - 1
            running = 0.0
            for k in range(window.size):
                running += window[k] * ahead[k]
                if running > target:
                    chosen = k
                    break
            tables[draw, x] = begin[x] + chosen
            placed += chosen

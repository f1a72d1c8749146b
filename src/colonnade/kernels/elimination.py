"""Summing products of factors over all variables, and the way back, one case after the other.

The same sums are needed for thousands of cases, each of which is small: what has to be done is
written once as a *tape* of integers, and a tape is run for all cases that share it. Everything is
in logarithms, so a case may be as unlikely as it likes.

The values of a case are one array: the factors given, then one message for each step, in which one
variable is summed out of the product of all factors and messages that have it. A tape has

    a head       number of steps; of values; of the cells of all products
    the steps    states of the variable; cells of the message; factors; where the message begins;
                 the number of its variables, without which no step takes it
    indices      for each cell of the product of each step, the values that are multiplied

The product of a step has its own variable last, so its message has the same order.
"""

import math

import numpy as np
from numba import njit

__all__ = ["run_tapes", "write_tape"]

_HEAD = 3
_STEP = 5


@njit(nogil=True, cache=True)
def write_tape(sizes, start, scope):
    """Write the tape that sums out variables 0, 1, ... in this order.

    Factor k has the variables scope[start[k]:start[k + 1]], the last one fastest; each factor has
    at least one.
    """
    count, given = sizes.size, start.size - 1
    begin = np.zeros(given + count + 1, np.int64)
    # Zero where a factor does not have the variable.
    stride = np.zeros((given + count, count), np.int64)
    for k in range(given):
        begin[k + 1] = begin[k] + _lay_out(scope[start[k] : start[k + 1]], sizes, stride[k])
    # A factor is taken by the step of its first variable.
    taken = np.full(given + count, count)
    steps = np.empty((count, _STEP), np.int64)
    products = indices = 0
    for v in range(count):
        message, factors = given + v, 0
        for k in range(message):
            if taken[k] == count and stride[k, v] > 0:
                taken[k] = v
                factors += 1
        others = _others(v, taken, stride)
        cells = _lay_out(others, sizes, stride[message])
        begin[message + 1] = begin[message] + cells
        step = steps[v]
        step[0], step[1], step[2] = sizes[v], cells, factors
        step[3], step[4] = begin[message], others.size
        products += sizes[v] * cells
        indices += sizes[v] * cells * factors
    at = _HEAD + _STEP * count
    tape = np.empty(at + indices, np.int64)
    tape[0], tape[1], tape[2] = count, begin[-1], products
    for v in range(count):
        for i in range(_STEP):
            tape[_HEAD + _STEP * v + i] = steps[v, i]
        others = _others(v, taken, stride)
        at = _write_indices(v, steps[v, 1], sizes, others, taken, begin, stride, at, tape)
    return tape


@njit(nogil=True, cache=True)
def _lay_out(variables, sizes, stride):
    """Write the strides of a factor, its last variable fastest; return its cells."""
    cells = 1
    for i in range(variables.size - 1, -1, -1):
        stride[variables[i]] = cells
        cells *= sizes[variables[i]]
    return cells


@njit(nogil=True, cache=True)
def _others(variable, taken, stride):
    """The other variables of the factors that the step of a variable takes, in order."""
    others = np.empty(stride.shape[1], np.int64)
    number = 0
    # Variables before it are summed out already.
    for v in range(variable + 1, others.size):
        for k in range(taken.size):
            if taken[k] == variable and stride[k, v] > 0:
                others[number] = v
                number += 1
                break
    return others[:number]


@njit(nogil=True, cache=True)
def _write_indices(variable, cells, sizes, others, taken, begin, stride, at, tape):
    """Write which values are multiplied in each cell of a product, from tape[at] on."""
    for y in range(cells):
        for x in range(sizes[variable]):
            for k in range(taken.size):
                if taken[k] != variable:
                    continue
                place, left = begin[k] + x * stride[k, variable], y
                for i in range(others.size - 1, -1, -1):
                    v = others[i]
                    place += (left % sizes[v]) * stride[k, v]
                    left //= sizes[v]
                tape[at] = place
                at += 1
    return at


@njit(nogil=True, cache=True)
def _share(shares, begin, end):
    """Turn logarithms begin..end into shares of their sum; return the logarithm of the sum."""
    top = -math.inf
    for i in range(begin, end):
        # What is not a number stays so.
        if top == top and not shares[i] <= top:
            top = shares[i]
    if top == -math.inf:
        # Impossible for all states: no share rather than an undefined one.
        for i in range(begin, end):
            shares[i] = 0.0
        return top
    mass = 0.0
    for i in range(begin, end):
        shares[i] = math.exp(shares[i] - top)
        mass += shares[i]
    scale = 1.0 / mass
    for i in range(begin, end):
        shares[i] *= scale
    return top + math.log(mass)


@njit(nogil=True, cache=True)
def _forward(tape, values, shares):
    """Write the messages of one case and the shares of the states; return the log total."""
    total = 0.0
    at, product = _HEAD + _STEP * tape[0], 0
    for step in range(_HEAD, at, _STEP):
        states, cells, factors, message = tape[step], tape[step + 1], tape[step + 2], tape[step + 3]
        for y in range(cells):
            for x in range(states):
                log = 0.0
                for j in range(factors):
                    log += values[tape[at + j]]
                at += factors
                shares[product + x] = log
            values[message + y] = _share(shares, product, product + states)
            product += states
        if tape[step + 4] == 0:
            total += values[message]
    return total


@njit(nogil=True, cache=True)
def _back(tape, shares, found):
    """Write the probabilities of the cells of all factors, given the shares of the way there."""
    found[:] = 0.0
    end, product = tape.size, shares.size
    for step in range(_HEAD + _STEP * (tape[0] - 1), _HEAD - 1, -_STEP):
        states, cells, factors, message = tape[step], tape[step + 1], tape[step + 2], tape[step + 3]
        if tape[step + 4] == 0:
            found[message] = 1.0
        end -= cells * states * factors
        product -= cells * states
        at = end
        for y in range(cells):
            for x in range(states):
                joint = found[message + y] * shares[product + y * states + x]
                for j in range(factors):
                    found[tape[at + j]] += joint
                at += factors


@njit(nogil=True, cache=True)
def run_tapes(tapes, tape, case, run, length, width, begin, logs, weights, totals, counts):
    """Write the log totals of cases; if there is room in `counts`, add the expected counts to it.

    Tape g is tapes[tape[g]:tape[g + 1]]; the cases case[g]..case[g + 1] run it. Their factors are
    run[g]..run[g + 1]: factor r takes length[r] entries from `begin`, and the width[r] values of
    `logs` that begin at each of them. The factors of a case follow each other, as the cases do.
    Probabilities of cells go where the values came from, times the weight of the case.
    """
    at = 0
    for g in range(tape.size - 1):
        own = tapes[tape[g] : tape[g + 1]]
        values, shares = np.empty(own[1]), np.empty(own[2])
        found = np.empty(own[1] if counts.size else 0)
        for c in range(case[g], case[g + 1]):
            first, p = at, 0
            for r in range(run[g], run[g + 1]):
                for _ in range(length[r]):
                    for x in range(width[r]):
                        values[p] = logs[begin[at] + x]
                        p += 1
                    at += 1
            totals[c] = _forward(own, values, shares)
            if counts.size == 0 or totals[c] == -math.inf:
                continue
            _back(own, shares, found)
            at, p = first, 0
            for r in range(run[g], run[g + 1]):
                for _ in range(length[r]):
                    for x in range(width[r]):
                        counts[begin[at] + x] += weights[c] * found[p]
                        p += 1
                    at += 1

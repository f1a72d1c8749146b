"""How well the rows that a tier leans on predict what is left out of it, with each strength."""

import math

import numpy as np

from colonnade.kernels.compiled import part, part_in_any_order, part_with_separate_arrays
from colonnade.kernels.special import logarithm

# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300
# Rows with fewer observations than this are counted by their number.
_FEW = 256
# Numbers of observations have so many binary digits. Of many cells, three are taken as one digit.
_DIGITS = 21
_LARGEST, _MANY, _BITS = 2.0**_DIGITS - 1.0, 64, 3
# Factors that are multiplied at a time, and before the logarithm is taken: each is below 1e5.
_FACTORS, _TOGETHER = 4, 32
# Strengths are filled up to a multiple of this.
_LANES = 8


@part
def logs_of(grid):
    """Return the logarithms of strengths."""
    logs = np.empty(len(grid))
    for g in range(len(grid)):
        logs[g] = math.log(grid[g])
    return logs


@part
def strength_scores(times, beside, values, grid, logs):
    """Return how well each base predicts what is left out, `[base, strength]`, up to a constant.

    That is the sum over cells of n ln((n - 1 + s b) / (N - 1 + s)), with n in `times`, N - 1 in
    `beside`, and b the prediction of the base in values `[base, cell]`. With u = b / (n - 1), the
    numerator is 1 + s u up to a constant; with n <= 1 it is s b. `logs` are those of the strengths.
    """
    number, tried, cells = len(values), len(grid), len(times)
    scores, divisors = np.zeros((number, tried)), np.zeros(tried)
    alone, weights, used = np.empty(cells, np.int64), np.empty(cells), 0
    _add_divisors(times, beside, grid, divisors)
    for cell in range(cells):
        # Others are overwritten.
        alone[used], weights[used] = cell, times[cell]
        used += times[cell] <= 1.0
    few, single = np.empty(number * used), 0.0
    for k in range(used):
        single += weights[k]
    for c in range(number):
        own, some = values[c], few[c * used : (c + 1) * used]
        for k in range(used):
            some[k] = max(own[alone[k]], _SMALLEST)
    for k in range(len(few)):
        few[k] = logarithm(few[k])
    for c in range(number):
        total = _dot(weights[:used], few[c * used : (c + 1) * used])
        for g in range(tried):
            scores[c, g] = total + single * logs[g] - divisors[g]
    _add_products(times, values, grid, scores)
    return scores


@part_in_any_order
def _dot(a, b):
    # The logarithms all have one sign, and so have the weights.
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@part
def _add_products(times, values, grid, scores):
    """Add the sums over cells of n ln(1 + s u), for all those with n > 1.

    Logarithms are those of products. For each digit of n that is not zero, a cell is a factor of a
    product whose logarithm counts so often; numbers without digits have products of their own.
    """
    number, cells, tried = len(values), len(times), len(grid)
    bits = _BITS if cells > _MANY else 1
    last = (1 << bits) - 1
    most, step = _DIGITS // bits * last, 1.0
    length, power = np.zeros(most + cells, np.int64), np.empty(most + cells)
    for first in range(0, most, last):
        for k in range(last):
            power[first + k] = step * (k + 1)
        step *= last + 1
    groups = most
    for cell in range(cells):
        rest, first = _digits(times[cell]), 0
        if rest < 0:
            length[groups], power[groups] = 1, times[cell]
            groups += 1
        while rest > 0:
            length[max(first + (rest & last) - 1, 0)] += rest & last > 0
            rest, first = rest >> bits, first + last
    # Where the factors of a group begin, and those of a product. Missing ones are one.
    place, products, used = np.empty(groups, np.int64), 0, 0
    for k in range(groups):
        place[k] = used
        size = -(-length[k] // _FACTORS) * _FACTORS
        products += -(-size // _TOGETHER)
        used += size
    begin, often, products = np.empty(products + 1, np.int64), np.empty(products), 0
    for k in range(groups):
        for low in range(place[k], place[k] + length[k], _TOGETHER):
            begin[products], often[products] = low, power[k]
            products += 1
    begin[products] = used
    who, rate, groups = np.zeros(used, np.int64), np.zeros(used), most
    for cell in range(cells):
        rest, first = _digits(times[cell]), 0
        while rest:
            group = first + (rest & last) - 1 if rest > 0 else groups
            if rest < 0 or rest & last:
                who[place[group]], rate[place[group]] = cell, 1.0 / (times[cell] - 1.0)
                place[group] += 1
            groups += rest < 0
            rest, first = max(rest, 0) >> bits, first + last
    wide = -(-tried // _LANES) * _LANES
    strengths, found = np.zeros(wide), np.ones(products * number * wide)
    for g in range(tried):
        strengths[g] = grid[g]
    for j in range(products):
        for c in range(number):
            own, to = values[c], (j * number + c) * wide
            for k in range(begin[j], begin[j + 1], _FACTORS):
                one, two = rate[k] * own[who[k]], rate[k + 1] * own[who[k + 1]]
                three, four = rate[k + 2] * own[who[k + 2]], rate[k + 3] * own[who[k + 3]]
                left, right = (one + two, one * two), (three + four, three * four)
                _multiply(left, right, strengths, found[to : to + wide])
    for k in range(len(found)):
        found[k] = logarithm(found[k])
    for j in range(products):
        for c in range(number):
            to = (j * number + c) * wide
            for g in range(tried):
                scores[c, g] += often[j] * found[to + g]


@part
def _digits(n):
    """Return n if it has digits, 0 if it is one or less, and -1 of any other number."""
    whole = int(min(n, _LARGEST))
    return 0 if n <= 1.0 else whole if whole == n else -1


@part_with_separate_arrays
def _multiply(left, right, strengths, products):
    """Multiply products by two factors 1 + s u each, given by the sum and the product of the u."""
    for g in range(len(products)):
        s = strengths[g]
        products[g] *= (1.0 + s * (left[0] + s * left[1])) * (1.0 + s * (right[0] + s * right[1]))


@part
def _add_divisors(times, beside, grid, divisors):
    """Add the sums over cells of n ln(N - 1 + s), for each strength."""
    cells, few = len(times), 1.0
    for k in range(cells):
        few = max(few, min(beside[k], _FEW - 1.0))
    last = np.int64(few) + 1
    powers, rests = np.zeros(last + cells), np.empty(last + cells)
    for k in range(last):
        rests[k] = k
    for k in range(cells):
        rest = int(min(beside[k], _FEW - 1.0))
        if rest == beside[k]:
            powers[rest] += times[k]
        else:
            rests[last], powers[last] = beside[k], times[k]
            last += 1
    used = 0
    for k in range(last):
        rests[used], powers[used] = rests[k], powers[k]
        used += powers[k] > 0.0
    logs = np.empty(len(grid) * used)
    for g in range(len(grid)):
        some = logs[g * used : (g + 1) * used]
        for k in range(used):
            some[k] = rests[k] + grid[g]
    for k in range(len(logs)):
        logs[k] = logarithm(logs[k])
    for g in range(len(grid)):
        divisors[g] += _dot(powers[:used], logs[g * used : (g + 1) * used])


@part
def weigh_bases(scores, grid, logs, mean, weight, strength, chance):
    """Fill weights and strengths of bases, from how they predict what is left out.

    `logs` are those of the strengths, `mean` is their prior mean, and chance[c] becomes their
    distribution for base c.
    """
    number, tried = len(scores), len(grid)
    tops, best = np.full(number, -np.inf), -np.inf
    for c in range(number):
        for g in range(tried):
            scores[c, g] += 2.0 * logs[g] - 2.0 * grid[g] / mean
            tops[c] = max(tops[c], scores[c, g])
        best = max(best, tops[c])
    total = 0.0
    for c in range(number):
        mass, moment = 0.0, 0.0
        for g in range(tried):
            part = math.exp(scores[c, g] - tops[c])
            chance[c, g] = part
            mass += part
            moment += part * logs[g]
        for g in range(tried):
            chance[c, g] /= mass
        strength[c] = math.exp(moment / mass)
        weight[c] = mass * math.exp(tops[c] - best)
        total += weight[c]
    for c in range(number):
        weight[c] /= total

"""How well the rows that a tier leans on predict what is left out of it, with each strength."""

import math

import numpy as np

from colonnade.kernels.compiled import part, part_in_any_order, part_with_fused_sums
from colonnade.kernels.special import logarithm

# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300
# Rows with fewer observations than this are counted by their number.
_FEW = 256
# Whole numbers of observations up to this one are written with digits of so many bits.
_LARGEST, _BITS = 2.0**21 - 1.0, 3
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
def fill_scores(times, beside, values, grid, logs, scores):
    """Fill how well each base predicts what is left out, `[base, strength]`, up to a constant.

    That is the sum over cells of n ln((n - 1 + s b) / (N - 1 + s)), with n in `times`, N - 1 in
    `beside`, and b the prediction of the base in values `[base, cell]`. With u = b / (n - 1), the
    numerator is 1 + s u up to a constant; with n <= 1 it is s b. `logs` are those of the strengths.
    """
    number, tried, cells = len(values), len(grid), len(times)
    divisors = np.zeros(tried)
    _add_divisors(times, beside, grid, divisors)
    alone, many, used, more = np.empty(cells, np.uint32), np.empty(cells, np.uint32), 0, 0
    for cell in range(cells):
        # Others are overwritten.
        alone[used], many[more] = cell, cell
        used += times[cell] <= 1.0
        more += times[cell] > 1.0
    weights, few, single = np.empty(used), np.empty(number * used), 0.0
    for k in range(used):
        weights[k] = times[alone[k]]
    for k in range(used):
        single += weights[k]
    for c in range(number):
        own, some = values[c], few[c * used : (c + 1) * used]
        for k in range(used):
            some[k] = max(own[alone[k]], _SMALLEST)
    for k in range(len(few)):
        few[k] = logarithm(few[k])
    for c in range(number):
        total = _dot(weights, few[c * used : (c + 1) * used])
        for g in range(tried):
            scores[c, g] = total + single * logs[g] - divisors[g]
    _add_products(many[:more], times, values, grid, scores)


@part_in_any_order
def _dot(a, b):
    # The logarithms all have one sign, and so have the weights.
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@part
def _add_products(cells, times, values, grid, scores):
    """Add the sums over some cells of n ln(1 + s u), n > 1.

    Logarithms are those of products. For each digit of n, a cell is a factor of a product whose
    logarithm counts so often; numbers without digits have products of their own.
    """
    number, count, tried = len(values), len(cells), len(grid)
    whole, largest, others = np.empty(count, np.uint32), np.uint32(0), 0
    for k in range(count):
        n = times[cells[k]]
        whole[k] = n if n <= _LARGEST else 0.0
        whole[k] = whole[k] if whole[k] == n else 0
        largest = max(largest, whole[k])
        others += whole[k] == 0
    # There are as many groups of factors as digits, in all their places, and other numbers.
    # Digits that are zero are put aside, after all others.
    digits = 0
    while largest >> np.uint32(_BITS * digits):
        digits += 1
    width, mask = 1 << _BITS, np.uint32((1 << _BITS) - 1)
    length, power = np.zeros(width * digits + others, np.int64), np.ones(width * digits + others)
    for digit in range(digits):
        some, shift = length[width * digit : width * (digit + 1)], np.uint32(_BITS * digit)
        for k in range(count):
            some[(whole[k] >> shift) & mask] += 1
        some[0] = 0
        for k in range(width):
            power[width * digit + k] = np.float64(k << (_BITS * digit))
    length[width * digits :] = 1
    # Where the factors of a group begin, and those of a product. Missing ones are one.
    place, products, used = np.empty(len(length), np.int64), 0, 0
    for k in range(len(length)):
        place[k] = used
        size = -(-length[k] // _FACTORS) * _FACTORS
        products += -(-size // _TOGETHER)
        used += size
    begin, often, products = np.empty(products + 1, np.int64), np.empty(products), 0
    who, rate = np.zeros(used + count, np.uint32), np.zeros(used + count)
    other = width * digits
    for k in range(count):
        if whole[k] == 0:
            power[other] = times[cells[k]]
            who[place[other]], rate[place[other]] = cells[k], 1.0 / (power[other] - 1.0)
            other += 1
    for k in range(len(length)):
        for low in range(place[k], place[k] + length[k], _TOGETHER):
            begin[products], often[products] = low, power[k]
            products += 1
    begin[products] = used
    for digit in range(digits):
        some, shift = place[width * digit : width * (digit + 1)], np.uint32(_BITS * digit)
        some[0] = used
        for k in range(count):
            group = (whole[k] >> shift) & mask
            who[some[group]], rate[some[group]] = cells[k], 1.0 / (times[cells[k]] - 1.0)
            some[group] += 1
    wide = -(-tried // _LANES) * _LANES
    strengths, leans = np.zeros(wide), np.empty(used)
    found = np.ones(number * products * wide)
    for g in range(tried):
        strengths[g] = grid[g]
    _multiply_all(who[:used], rate, values, begin, strengths, leans, found)
    for k in range(len(found)):
        found[k] = logarithm(found[k])
    for c in range(number):
        for j in range(products):
            to = (c * products + j) * wide
            for g in range(tried):
                scores[c, g] += often[j] * found[to + g]


@part
def _multiply_all(who, rate, values, begin, strengths, leans, found):
    """Fill the products `[base, product, strength]` of the factors of cells `who`."""
    products, wide = len(begin) - 1, len(strengths)
    for c in range(len(values)):
        own = values[c]
        for k in range(len(who)):
            leans[k] = rate[k] * own[who[k]]
        for j in range(products):
            to = (c * products + j) * wide
            for k in range(begin[j], begin[j + 1], _FACTORS):
                one, two, three, four = leans[k], leans[k + 1], leans[k + 2], leans[k + 3]
                left, right = (one + two, one * two), (three + four, three * four)
                _multiply(left, right, strengths, found[to : to + wide])


@part_with_fused_sums
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

"""Quantiles of cells whose distribution is a finite mixture of Beta distributions.

Everything is in the logit y of a cell. One evaluation of a mixture gives its distribution function
and, at no further cost, its density and three derivatives of that, so that one step of the search
is right to the fifth order. Sorted cells start from where the cell before ended.
"""

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.panels import within
from colonnade.kernels.special import digamma, log_top_of_beta, trigamma

# A quantile is searched for among these logits; beyond them it is 0 or 1.
LOWEST_LOGIT, HIGHEST_LOGIT = -740.0, 40.0
_MAX_STEPS = 200
_STEPS_BEFORE_BISECTIONS = 12
_ROUNDING = 1e-15
# Steps up to these (relative to the scale on which the density changes) are taken by the series,
# and are the last ones.
_MAX_STEP_OF_SERIES, _LAST_STEP_OF_SERIES = 0.5, 0.01
# Smaller shapes change no probability, and their densities would underflow.
_MIN_SHAPE = 1e-200
# From this total of both shapes on, logarithms are taken relative to the mode: they would cancel.
_MIN_LARGE_TOTAL = 1000.0
# From here on (both shapes) the tail is integrated; below, the continued fraction is quicker.
_MIN_INTEGRATED_SHAPE = 2000.0
_MAX_FRACTION = 10_000
_TAIL_NODES, _TAIL_WEIGHTS = np.polynomial.legendre.leggauss(30)
# The tail is cut where it has fallen by this many nats.
_NEGLIGIBLE_FALL = 40.0


class Rule(NamedTuple):
    """A mixture of Beta(n + first, m + second) for a cell of counts n, and m of the other states.

    Arrays ``[node]``; nodes of one strength, first + second, stand side by side.
    """

    first: Floats
    second: Floats
    weight: Floats


def quantiles(own: Floats, rest: Floats, rule: Rule, levels: Floats) -> Floats:
    """Quantiles ``[level, cell]``; quickest if cells are sorted by own counts."""
    first, second = rule.weight @ rule.first, rule.weight @ rule.second
    # Where the cell before ended, in units of a cell's deviation.
    standard, logits = np.zeros(levels.size), np.empty((levels.size, own.size))
    room = np.empty((4, rule.weight.size))
    _fill_logits(*(own, rest, *rule), first, second, levels, standard, room, np.empty(5), logits)
    odds = np.exp(-np.abs(logits))
    values = np.where(logits > 0.0, 1.0, odds) / (1.0 + odds)
    values[logits <= LOWEST_LOGIT] = 0.0
    values[logits >= HIGHEST_LOGIT] = 1.0
    return values


@entry
def _fill_logits(
    own,
    rest,
    first,
    second,
    weight,
    mean_first,
    mean_second,
    levels,
    standard,
    room,
    sums,
    logits,
):
    """Fill in the logits of the quantiles ``[level, cell]``.

    The room is for both shapes of every node, ln of the scale of its density, and lnGamma of its
    first shape.
    """
    a, b, log_scale, log_gamma = room[0], room[1], room[2], room[3]
    for c in range(own.size):
        # Densities are scaled by 1 / B(a, b), those of large shapes by what they are at the mode.
        strength = -1.0
        log_gamma_total = 0.0
        for k in range(a.size):
            if c == 0 or own[c] != own[c - 1]:
                shape = own[c] + first[k]
                a[k] = shape if shape > _MIN_SHAPE else _MIN_SHAPE
                log_gamma[k] = math.lgamma(a[k])
            shape = rest[c] + second[k]
            b[k] = shape if shape > _MIN_SHAPE else _MIN_SHAPE
            total = a[k] + b[k]
            if total >= _MIN_LARGE_TOTAL:
                log_scale[k] = log_top_of_beta(a[k], b[k])
                continue
            if total != strength:
                strength = total
                log_gamma_total = math.lgamma(total)
            log_scale[k] = log_gamma_total - log_gamma[k] - math.lgamma(b[k])
        # Mean and deviation of the logit at the mean of both shapes.
        centre = 0.0
        variance = 0.0
        for side in range(2):
            shape = own[c] + mean_first if side == 0 else rest[c] + mean_second
            centre += (1 - 2 * side) * digamma(shape)
            variance += trigamma(shape)
        deviation = math.sqrt(variance)
        for i in range(levels.size):
            start = centre + deviation * standard[i]
            y = _quantile(levels[i], start, a, b, log_scale, weight, sums)
            standard[i] = (y - centre) / deviation
            logits[i, c] = y


@part
def _quantile(level, start, a, b, log_scale, weight, sums):
    """Logit of the quantile at a level, from a guess of it."""
    low = LOWEST_LOGIT
    high = HIGHEST_LOGIT
    y = within(start, low, high)
    for step in range(_MAX_STEPS):
        _evaluate(y, a, b, log_scale, weight, sums)
        excess = sums[0] - level
        if excess < 0.0:
            low = y
        else:
            high = y
        if abs(excess) < _ROUNDING or high - low <= 1e-14 * (1.0 + abs(y)):
            return y
        density = sums[1]
        move = math.inf
        last = False
        if density > 0.0:
            scale = abs(sums[2] / density) + math.sqrt(abs(sums[3] / density))
            # Never below 1: odds are exp(y), also where they do not matter yet.
            scale += abs(sums[4] / density) ** (1.0 / 3.0)
            scale = scale if scale > 1.0 else 1.0
            move = -excess / density
            if abs(move) * scale < _MAX_STEP_OF_SERIES:
                move = _series_step(excess, sums, move)
                last = abs(move) * scale < _LAST_STEP_OF_SERIES
            else:
                # Farther out a tail is nearly exponential: its logarithm is nearly straight.
                side = 1.0 if level < 0.5 else -1.0
                tail, wanted = sums[0], level
                if side < 0.0:
                    tail, wanted = 1.0 - tail, 1.0 - wanted
                move = math.log(wanted / tail) * tail / density if tail > 0.0 else math.inf
                move *= side
        fresh = y + move
        if not (low < fresh < high) or (step > _STEPS_BEFORE_BISECTIONS and step % 2):
            fresh = 0.5 * (low + high)
            last = False
        y = fresh
        if last:
            return y
    return y


@part
def _series_step(excess, sums, move):
    """Solve excess + F' x + F'' x^2 / 2 + ... = 0 for x, by Newton's method from a guess."""
    for _ in range(4):
        value = excess + move * (
            sums[1] + move * (sums[2] / 2.0 + move * (sums[3] / 6.0 + move * sums[4] / 24.0))
        )
        slope = sums[1] + move * (sums[2] + move * (sums[3] / 2.0 + move * sums[4] / 6.0))
        if slope <= 0.0:
            break
        move -= value / slope
    return move


@part
def _evaluate(y, a, b, log_scale, weight, sums):
    """Distribution function of a mixture at y, its density, and three derivatives of that."""
    odds = math.exp(-abs(y))
    log_larger = -math.log1p(odds)
    log_t, log_rest = (log_larger, log_larger - y) if y > 0.0 else (log_larger + y, log_larger)
    t, rest = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    if y <= 0.0:
        t, rest = rest, t
    for k in range(sums.size):
        sums[k] = 0.0
    for k in range(a.size):
        total = a[k] + b[k]
        if total < _MIN_LARGE_TOTAL:
            density = math.exp(a[k] * log_t + b[k] * log_rest + log_scale[k])
        else:
            density = math.exp(log_scale[k] - _fall(y - math.log(a[k] / b[k]), a[k], b[k]))
        lower = t * (total + 2.0) <= a[k] + 1.0
        below = 0.0
        if density > 0.0:
            one, two, at, beyond = a[k], b[k], t, rest
            if not lower:
                one, two, at, beyond = two, one, beyond, at
            below = density * _tail(one, two, at, beyond)
        below = below if lower else 1.0 - below
        density *= weight[k]
        slope = a[k] * rest - b[k] * t
        bend = total * t * rest
        sums[0] += weight[k] * below
        sums[1] += density
        sums[2] += density * slope
        sums[3] += density * (slope * slope - bend)
        sums[4] += density * (slope * (slope * slope - 3.0 * bend) - bend * (rest - t))


@part
def _fall(z, a, b):
    """By how many nats the density of the logit has fallen at a distance z from its mode."""
    if abs(z) > 700.0:
        return math.inf
    # Of two equal forms, the one whose terms are as small as the smaller shape.
    if b <= a:
        a, b, z = b, a, -z
    return (a + b) * math.log1p(a / (a + b) * math.expm1(z)) - a * z


@part
def _tail(a, b, t, rest):
    """P(X < t) over the density of the logit at t, X ~ Beta(a, b), t not far above the mean."""
    if a < _MIN_INTEGRATED_SHAPE or b < _MIN_INTEGRATED_SHAPE:
        return _fraction(a, b, t, rest)
    # The density of the logit is log-concave, and nearly Gaussian.
    deviation = math.sqrt(1.0 / a + 1.0 / b)
    distance = (a * rest - b * t) / math.sqrt((a + b) * t * rest)
    inside = distance * distance if distance > 0.0 else 0.0
    length = deviation * (math.sqrt(inside + 2.0 * _NEGLIGIBLE_FALL) - distance)
    value = 0.0
    for i in range(_TAIL_NODES.size):
        u = 0.5 * length * (1.0 + _TAIL_NODES[i])
        value += _TAIL_WEIGHTS[i] * math.exp(b * u - (a + b) * math.log1p(rest * math.expm1(u)))
    return 0.5 * length * value


@part
def _fraction(a, b, t, rest):
    """The same by a continued fraction (every second convergent of DLMF 8.17.22)."""
    top = a * rest - b * t + 1.0
    # All divided by a, which may be tiny and would be lost in the sums.
    value = top / (a + 1.0)
    c = value
    lead = 1.0
    d = 0.0
    for n in range(1, _MAX_FRACTION):
        odd = a + 2.0 * n - 1.0
        upper = n * (b - n) * t / odd
        numerator = lead * (a + b + n - 1.0) * t * upper / odd
        lead = a + n
        denominator = n + upper + (a + n) * (top + n * (2.0 - t)) / (odd + 2.0)
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        value *= c * d
        if abs(c * d - 1.0) < 3e-16:
            break
    return 1.0 / (a * value)

"""The posterior of ln s: its peak, the nodes of its rule, and what is needed at each of them."""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.convolutions import convolved_evidence
from colonnade.kernels.products import product_evidence
from colonnade.kernels.rates import factored, log_phi, settle, tables

# How strongly the steps grow to the left and shrink to the right of the mode.
_STEP_SKEW = 0.7
# Beyond this error of ln Z the integration is repeated with finer steps.
_MAX_ERROR = 3e-6
# Nodes of less weight, relative to the heaviest, are left out (a logarithm).
_NEGLIGIBLE = math.log(1e-8)
# The ends of the rule are sought this far below the mode, in nats: roughly, so a bit farther.
_DEPTH = 20.0


@part
def _slope(table, rows, shape, mean, y, a, u):
    """Derivative of the log posterior density of y = ln s, by the variational bound.

    d ln p(D | s) / d ln s is the expected number of tables less what s alone would lead one to
    expect. a and u go along from call to call.
    """
    s = math.exp(y)
    settle(table, s, a, u, 1e-3)
    slope = shape * (1.0 - s / mean)
    for x in range(a.size):
        slope += a[x] - table[3][x]
    return slope - tables(rows, np.int64(0), s)


@part
def _peak(table, rows, shape, mean, a, u):
    """Mode of ln s and the standard deviation that the curvature there suggests, roughly."""
    y = math.log(mean)
    here = _slope(table, rows, shape, mean, y, a, u)
    step = 1.0 if here > 0.0 else -1.0
    curvature = 0.0
    low = -math.inf
    high = math.inf
    for _ in range(60):
        if here > 0.0:
            low = y
        else:
            high = y
        fresh = y + step
        if not low < fresh < high:
            # The prior bounds the mode on both sides.
            fresh = 0.5 * (low + high)
        there = _slope(table, rows, shape, mean, fresh, a, u)
        curvature = (here - there) / (fresh - y)
        y = fresh
        here = there
        step = 2.0 if here > 0.0 else -2.0
        if curvature > 0.0:
            step = min(max(here / curvature, -2.0), 2.0)
            if abs(step) * math.sqrt(curvature) < 0.1:
                break
    gap = 0.3 / math.sqrt(max(curvature, 0.5))
    there = _slope(table, rows, shape, mean, y - gap, a, u)
    here = _slope(table, rows, shape, mean, y + gap, a, u)
    return y, 1.0 / math.sqrt(max((there - here) / (2.0 * gap), 0.5))


@part
def _skewed(z):
    """ln s relative to its mode, and its derivative, as a function of the rule's variable.

    The density of ln s falls slowly to the left (like s squared) and fast to the right; steps that
    grow to the left and shrink to the right need half the nodes.
    """
    skew = math.exp(-_STEP_SKEW * z)
    return 0.5 * z - 0.5 / _STEP_SKEW * (skew - 1.0), 0.5 + 0.5 * skew


@part
def _end(table, rows, shape, mean, mode, stride, a, u):
    """Where on one side the density becomes negligible, in the rule's variable.

    The slope of its logarithm is integrated by strides from the mode. a and u go along.
    """
    z = 0.0
    depth = 0.0
    slope = 0.0
    for _ in range(100):
        y, rise = _skewed(z + stride)
        ahead = _slope(table, rows, shape, mean, mode + y, a, u) * rise
        ahead -= _STEP_SKEW * (1.0 - 0.5 / rise)
        fall = -0.5 * stride * (slope + ahead)
        if depth + fall > _DEPTH:
            return z + stride * (_DEPTH - depth) / fall
        z += stride
        depth += fall
        slope = ahead
    return z


@part
def _nodes(mode, step, left, right):
    """Nodes of the rule: ln s, and the logarithm of its derivative."""
    log_s = np.empty(left + right + 1)
    logs = np.empty(log_s.size)
    for k in range(log_s.size):
        y, rise = _skewed((k - left) * step)
        log_s[k] = mode + y
        logs[k] = math.log(rise)
    return log_s, logs


@part
def _weigh(log_s, values, rows, prior, constant, logs):
    """Make log weights of `logs`, given ln Z; tell which ends are still heavy."""
    shape, mean = prior
    top = -math.inf
    for k in range(log_s.size):
        s = math.exp(log_s[k])
        logs[k] += values[k] - log_phi(rows, np.int64(0), s) + constant
        # Density of ln s: s times the Gamma density.
        logs[k] += shape * (math.log(shape / mean) + log_s[k] - s / mean)
        logs[k] -= math.lgamma(shape)
        top = max(top, logs[k])
    return logs[0] > top + _NEGLIGIBLE, logs[-1] > top + _NEGLIGIBLE


@part
def _prepared(start, counts, times, alpha0, row_count, row_times):
    """The table and its rows as those of `rates`, and the constant that both leave out."""
    factors, others, constant = factored(start, counts, times)
    table = (start, counts, times, alpha0, factors, others)
    # The rows are like one more state, of the rate s and without a prior.
    one = np.zeros(2, np.int64)
    one[1] = row_count.size
    factors, others, of_rows = factored(one, row_count, row_times)
    return table, (one, row_count, row_times, np.ones(1), factors, others), constant - of_rows


@part
def _rule(table, rows, prior, steps, a, u):
    """Mode of ln s, the step of the rule, and how many nodes it has to the left and right.

    a becomes the variational posterior at the mode.
    """
    shape, mean = prior
    for x in range(a.size):
        a[x] = table[3][x]
        for i in range(table[0][x], table[0][x + 1]):
            a[x] += table[2][i]
    mode, deviation = _peak(table, rows, shape, mean, a, u)
    step = min(steps[0], steps[1] * deviation)
    b = a.copy()
    right = math.ceil(_end(table, rows, shape, mean, mode, 2.0 * deviation, b, u) / step)
    for x in range(a.size):
        b[x] = a[x]
    left = math.ceil(-_end(table, rows, shape, mean, mode, -2.0 * deviation, b, u) / step)
    return mode, step, left, right


@entry
def strengths_by_products(start, counts, times, alpha0, row_count, row_times, prior, steps, means):
    """The posterior of ln s on equidistant nodes of a variable in which it is nearly normal.

    For whole counts, not too many: see `products`. The prior of s is Gamma with shape prior[0] and
    mean prior[1]. The step is at most steps[0], and steps[1] standard deviations.

    Returns ln s at the nodes, the logarithm of their weights (but for the constant of the table),
    the step, the means of alpha ``[node, state]`` if `means`, and the error of ln Z: infinite if
    the range of numbers was exceeded.
    """
    table, rows, constant = _prepared(start, counts, times, alpha0, row_count, row_times)
    a = np.empty(alpha0.size)
    u = np.empty(alpha0.size)
    mode, step, left, right = _rule(table, rows, prior, steps, a, u)
    b = a.copy()
    while True:
        log_s, logs = _nodes(mode, step, left, right)
        values, alpha, good = product_evidence(table, log_s, a, b, u, means)
        on_left, on_right = _weigh(log_s, values, rows, prior, constant, logs)
        if not good or not (on_left or on_right):
            return log_s, logs, step, alpha, 0.0 if good else math.inf
        left += left // 2 + 1 if on_left else 0
        right += right // 2 + 1 if on_right else 0


@entry
def strengths_by_convolutions(
    start, counts, times, alpha0, row_count, row_times, prior, steps, means
):
    """The same for any counts: see `convolutions`."""
    table, rows, constant = _prepared(start, counts, times, alpha0, row_count, row_times)
    a = np.empty(alpha0.size)
    u = np.empty(alpha0.size)
    mode, step, left, right = _rule(table, rows, prior, steps, a, u)
    finer = 1.0
    while True:
        log_s, logs = _nodes(mode, step, left, right)
        values, alpha, error = convolved_evidence(table, log_s, a, u, finer, means)
        if error > _MAX_ERROR and finer > 0.3:
            # A few tables only: their curves have long tails on one side.
            finer *= 0.6
            continue
        on_left, on_right = _weigh(log_s, values, rows, prior, constant, logs)
        if not (on_left or on_right):
            return log_s, logs, step, alpha, error
        left += left // 2 + 1 if on_left else 0
        right += right // 2 + 1 if on_right else 0

"""Distinct counts per state, the only thing the pooling mathematics needs of a table.

The posterior of alpha depends on a table through f_x(a) = a^(alpha0_x - 1) prod_y Gamma(s a +
n[y,x]) / Gamma(s a), so through the *distinct* non-zero counts of each state and how many
configurations have each: a few dozen numbers even for a million configurations.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import minus_log_beta

# Larger counts are tallied by sorting, others by a histogram.
_MAX_HISTOGRAM = 1 << 16
# If a row total reaches this, the constant of the log evidence is taken row by row.
MIN_TOTAL_ROW_BY_ROW = 1e6


@njit(cache=True, nogil=True)
def _distinct(column, whole):
    """Sorted distinct positive values of one column and their multiplicities."""
    top = 0.0
    positive = 0
    for value in column:
        if value > 0:
            positive += 1
            top = max(top, value)
    if whole and top < _MAX_HISTOGRAM and top < 4 * positive + 64:
        histogram = np.zeros(int(top) + 1)
        for value in column:
            histogram[int(value)] += 1.0
        values = np.empty(positive)
        times = np.empty(positive)
        size = 0
        for value in range(1, histogram.size):
            if histogram[value] > 0:
                values[size] = value
                times[size] = histogram[value]
                size += 1
        return values[:size], times[:size]
    ordered = np.empty(positive)
    position = 0
    for value in column:
        if value > 0:
            ordered[position] = value
            position += 1
    ordered.sort()
    times = np.empty(positive)
    size = 0
    for value in ordered:
        if size > 0 and ordered[size - 1] == value:
            times[size - 1] += 1.0
        else:
            ordered[size] = value
            times[size] = 1.0
            size += 1
    return ordered[:size], times[:size]


@njit(cache=True, nogil=True)
def _constant(values, count, times, row_count, row_times):
    """Sum of lnGamma over the cells less the same over the rows: what depends on no s or alpha."""
    constant = 0.0
    # The row totals are in ascending order.
    if row_count.size == 0 or row_count[-1] < MIN_TOTAL_ROW_BY_ROW:
        for i in range(count.size):
            constant += times[i] * math.lgamma(count[i])
        for i in range(row_count.size):
            constant -= row_times[i] * math.lgamma(row_count[i])
        return constant
    # Row by row, so that the large terms of one row never have to cancel.
    for y in range(values.shape[0]):
        running = 0.0
        for n in values[y]:
            if n > 0.0:
                if running > 0.0:
                    constant -= minus_log_beta(running, n)
                running += n
    return constant


@njit(cache=True, nogil=True)
def tally(values, whole):
    """Tally a table `[configuration, state]` of floats; `whole` says that all are integers.

    Returns the fields of :class:`~colonnade.pooling.tally.Tally` from `tallied` to `total`.
    """
    rows, states = values.shape
    totals = np.zeros(states)
    row_totals = np.zeros(rows)
    cells = 0
    for y in range(rows):
        for x in range(states):
            n = values[y, x]
            totals[x] += n
            row_totals[y] += n
            if n > 0.0:
                cells += 1
    order = np.argsort(-totals, kind="mergesort")
    tallied = 0
    while tallied < states and totals[order[tallied]] > 0.0:
        tallied += 1
    start = np.zeros(tallied + 1, np.int64)
    count = np.empty(cells)
    times = np.empty(cells)
    column = np.empty(rows)
    for i in range(tallied):
        for y in range(rows):
            column[y] = values[y, order[i]]
        distinct, multiplicity = _distinct(column, whole)
        begin = start[i]
        start[i + 1] = begin + distinct.size
        # Assigning to slices would take Numba seconds to compile.
        for k in range(distinct.size):
            count[begin + k] = distinct[k]
            times[begin + k] = multiplicity[k]
    used = start[tallied]
    row_count, row_times = _distinct(row_totals, whole)
    constant = _constant(values, count[:used], times[:used], row_count, row_times)
    return (
        order[:tallied].copy(),
        start,
        count[:used].copy(),
        times[:used].copy(),
        row_count.copy(),
        row_times.copy(),
        constant,
        totals.sum(),
    )

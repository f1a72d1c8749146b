"""Distinct counts per state, the only thing the pooling mathematics needs of a table.

The posterior of alpha depends on a table through f_x(a) = a^(alpha0_x - 1) prod_y Gamma(s a +
n[y,x]) / Gamma(s a), so through the *distinct* non-zero counts of each state and how many
configurations have each: a few dozen numbers even for a million configurations.
"""

import math

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.kernels.compiled import entry
from colonnade.kernels.special import minus_log_beta

# Larger counts are tallied by sorting, others by a histogram.
_MAX_HISTOGRAM = 1 << 16
# If a row total reaches this, the constant of the log evidence is taken row by row.
MIN_TOTAL_ROW_BY_ROW = 1e6


def tally(
    values: Floats, whole: bool
) -> tuple[Integers, Integers, Floats, Floats, Floats, Floats, float, float]:
    """Tally a table `[configuration, state]` of floats; `whole` says that all are integers.

    Returns the fields of :class:`~colonnade.pooling.tally.Tally` from `tallied` to `total`.
    """
    rows, states = values.shape
    totals, row_totals = np.zeros(states), np.zeros(rows)
    total = _add_up(values, totals, row_totals)
    order = np.argsort(-totals, kind="stable")
    tallied = order[: np.count_nonzero(totals > 0.0)].copy()
    top = row_totals.max(initial=0.0)
    if whole and top < _MAX_HISTOGRAM and top < 2 * rows + 64:
        histogram, columns, apart, beside = np.zeros(int(top) + 1), values, 1, states
    else:
        # Each column on its own, in ascending order.
        histogram, columns, apart, beside = np.zeros(0), np.sort(values.T), rows, 1
        row_totals.sort()
    start, count, times = _distinct(columns.reshape(-1), tallied * apart, beside, rows, histogram)
    none = np.zeros(1, np.int64)
    _, row_count, row_times = _distinct(row_totals, none, 1, rows, histogram)
    if row_count.size == 0 or row_count[-1] < MIN_TOTAL_ROW_BY_ROW:
        constant = _constant(count, times, row_count, row_times)
    else:
        constant = _constant_row_by_row(values)
    return tallied, start, count, times, row_count, row_times, constant, total


def _distinct(
    columns: Floats, first: Integers, beside: int, rows: int, histogram: Floats
) -> tuple[Integers, Floats, Floats]:
    """Return where the distinct numbers of each column begin, and how often each occurs."""
    start, found = np.zeros(first.size + 1, np.int64), np.empty((2, first.size * rows))
    _fill_distinct(columns, first, beside, rows, histogram, start, found)
    count, times = found[:, : start[-1]]
    return start, count.copy(), times.copy()


@entry
def _add_up(values, totals, row_totals):
    """Add up the columns and the rows; return the sum of all."""
    for y in range(values.shape[0]):
        for x in range(values.shape[1]):
            totals[x] += values[y, x]
            row_totals[y] += values[y, x]
    total = 0.0
    for x in range(totals.size):
        total += totals[x]
    return total


@entry
def _fill_distinct(columns, first, beside, rows, histogram, start, found):
    """Write the distinct positive numbers of all columns and how often each occurs.

    A column has its numbers at first[i], and from there on every `beside` numbers. If there is no
    room for a histogram, they are in ascending order.
    """
    end = 0
    for i in range(first.size):
        at = first[i]
        top = 0
        for _ in range(rows):
            value = columns[at]
            at += beside
            if value > 0.0:
                if histogram.size > 0:
                    place = int(value)
                    histogram[place] += 1.0
                    if place > top:
                        top = place
                elif end > start[i] and found[0, end - 1] == value:
                    found[1, end - 1] += 1.0
                else:
                    found[0, end] = value
                    found[1, end] = 1.0
                    end += 1
        for place in range(1, top + 1):
            if histogram[place] > 0.0:
                found[0, end] = place
                found[1, end] = histogram[place]
                histogram[place] = 0.0
                end += 1
        start[i + 1] = end


@entry
def _constant(count, times, row_count, row_times):
    """Sum of lnGamma over the cells less the same over the rows: what depends on no s or alpha."""
    constant = 0.0
    for i in range(count.size):
        constant += times[i] * math.lgamma(count[i])
    for i in range(row_count.size):
        constant -= row_times[i] * math.lgamma(row_count[i])
    return constant


@entry
def _constant_row_by_row(values):
    """The same, so that the large terms of one row never have to cancel."""
    constant = 0.0
    for y in range(values.shape[0]):
        running = 0.0
        for x in range(values.shape[1]):
            n = values[y, x]
            if n > 0.0:
                if running > 0.0:
                    constant -= minus_log_beta(running, n)
                running += n
    return constant

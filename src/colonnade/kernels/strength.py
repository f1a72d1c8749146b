"""Where the posterior of ln s has its mass, from the variational bound.

The exact engines then work there only. `states` is a :class:`~colonnade.kernels.states.States`;
`row_count` and `row_times` are the distinct row totals and how many configurations have each;
`shape` and `mean` are those of the Gamma prior of s.
"""

import math

from numba import njit

from colonnade.kernels.special import digamma_rise
from colonnade.kernels.tilt import fixed_point


@njit(cache=True, nogil=True)
def strength_slope(states, row_count, row_times, shape, mean, y):
    """Derivative in y = ln s of the bound plus the log density of ln s under its Gamma prior.

    d ln p(D | s) / d ln s is the expected number of tables less what s alone would lead one to
    expect.
    """
    s = math.exp(y)
    a, _, _, _ = fixed_point(states, s, 1e-4, 200)
    slope = a.sum() - states.alpha0.sum() + shape * (1.0 - s / mean)
    for i in range(row_count.size):
        slope -= row_times[i] * s * digamma_rise(s, row_count[i])
    return slope


@njit(cache=True, nogil=True)
def strength_peak(states, row_count, row_times, shape, mean):
    """Mode of ln s and the standard deviation that the curvature there suggests."""
    y = math.log(mean)
    step = 1.0
    here = strength_slope(states, row_count, row_times, shape, mean, y)
    direction = 1.0 if here > 0.0 else -1.0
    low = y
    high = y
    # The prior bounds the mode on both sides.
    for _ in range(60):
        y += direction * step
        there = strength_slope(states, row_count, row_times, shape, mean, y)
        low = min(y, y - direction * step)
        high = max(y, y - direction * step)
        if there * direction <= 0.0:
            break
        step *= 1.5
    for _ in range(12):
        y = 0.5 * (low + high)
        if high - low < 0.02:
            break
        if strength_slope(states, row_count, row_times, shape, mean, y) > 0.0:
            low = y
        else:
            high = y
    gap = 0.1
    right = strength_slope(states, row_count, row_times, shape, mean, y + gap)
    left = strength_slope(states, row_count, row_times, shape, mean, y - gap)
    curvature = max((left - right) / (2.0 * gap), 0.5)
    return y, 1.0 / math.sqrt(curvature)

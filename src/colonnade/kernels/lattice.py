"""The exact posterior of alpha as a finite mixture of Dirichlet distributions (docs/exact.md).

m_x is the number of tables of state x. Its weight is w_x[m] = c_x[m] s^m Gamma(m + alpha0_x), where
c_x are the coefficients of prod over cells of the rising factorial; the mixture weight of (m_1,
..., m_R) is prod w_x[m_x] / Gamma(M + A0). All terms are positive and every recurrence below adds
positive numbers only, so nothing cancels.

The kernels take `states`, a :class:`~colonnade.kernels.states.States`, and the centre of their
windows: a, the parameters of the variational Dirichlet distribution, and u, its rates. A window is
the array of tilted weights w_x[m] for m from `begin[x]` on, scaled to about one at its centre.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import digamma
from colonnade.kernels.tilt import log_weight
from colonnade.kernels.trials import ANY_ORDER, convolve, poisson_binomial

# Weights this far below their peak are left out of the windows.
_NEGLIGIBLE = 1e-26
_LARGE = 1e100


@njit(cache=True, nogil=True)
def _window(probability, lowest, alpha0, a):
    """Multiply by Gamma(m + alpha0) exp(-psi(a) m), relative to its value at the centre.

    Returns the centre, the first m that is not negligible, and the weights from there on.
    """
    rate = math.exp(-digamma(a))
    highest = lowest + probability.size - 1
    centre = min(max(round(a - alpha0), lowest), highest)
    weights = np.zeros(probability.size)
    top = 0.0
    last = centre
    # Where the factor leaves the range of numbers, the probability is as small as it is large.
    factor, lift = 1.0, 1.0
    for m in range(centre, highest + 1):
        if factor > _LARGE:
            factor, lift = factor / _LARGE, lift * _LARGE
        weights[m - lowest] = probability[m - lowest] * lift * factor
        last = m
        top = max(top, weights[m - lowest])
        if weights[m - lowest] < _NEGLIGIBLE * top or lift > _LARGE**2:
            break
        factor *= (m + alpha0) * rate
    first = centre
    factor, lift = 1.0, 1.0
    for m in range(centre - 1, lowest - 1, -1):
        factor /= (m + alpha0) * rate
        if factor > _LARGE:
            factor, lift = factor / _LARGE, lift * _LARGE
        weights[m - lowest] = probability[m - lowest] * lift * factor
        first = m
        top = max(top, weights[m - lowest])
        if weights[m - lowest] < _NEGLIGIBLE * top:
            break
    return centre, first, weights[first - lowest : last - lowest + 1].copy()


@njit(cache=True, nogil=True)
def table_windows(states, a, u):
    """Windows of the tilted weights of every state.

    Returns the windows, the m at which each begins, the closing weight exp(lambda M) / Gamma(M +
    A0) over the range of the sum M, and the logarithm of the scale of it all.
    """
    start, counts, times, alpha0 = states
    windows = [np.empty(0) for _ in range(0)]
    begin = np.empty(alpha0.size, np.int64)
    scale = 0.0
    length = 1
    for x in range(alpha0.size):
        cells = times[start[x] : start[x + 1]]
        lowest = int(cells.sum())
        probability = np.ones(1)
        if cells.size > 0 and counts[start[x + 1] - 1] > 1.0:
            beyond, probability = poisson_binomial(counts[start[x] : start[x + 1]], cells, u[x])
            lowest += beyond
        centre, begin[x], weights = _window(probability, lowest, alpha0[x], a[x])
        windows.append(weights)
        length += weights.size - 1
        scale += log_weight(states, x, u[x])
        scale += math.lgamma(centre + alpha0[x]) - centre * digamma(a[x])
    total = alpha0.sum()
    tilt = digamma(a.sum())
    rate = math.exp(tilt)
    lowest = begin.sum()
    centre = min(max(round(a.sum() - total), lowest), lowest + length - 1)
    closing = np.empty(length)
    closing[centre - lowest] = 1.0
    for m in range(centre, lowest + length - 1):
        closing[m + 1 - lowest] = closing[m - lowest] * rate / (m + total)
    for m in range(centre - 1, lowest - 1, -1):
        closing[m - lowest] = closing[m + 1 - lowest] * (m + total) / rate
    scale += centre * tilt - math.lgamma(centre + total)
    return windows, begin, closing, scale


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _adjoint(window, later):
    """What is still to come before the state with this window, by the tables placed so far."""
    out = np.empty(later.size - window.size + 1)
    for i in range(out.size):
        value = 0.0
        for k in range(window.size):
            value += window[k] * later[i + k]
        out[i] = value
    return out


@njit(cache=True, nogil=True)
def _kept(weights):
    """Range of the weights that are not negligible."""
    least = _NEGLIGIBLE * weights.max()
    begin = 0
    end = weights.size
    while weights[begin] < least:
        begin += 1
    while weights[end - 1] < least:
        end -= 1
    return begin, end


@njit(cache=True, nogil=True)
def lattice_log_z(states, a, u):
    """ln Z alone."""
    windows, _, closing, scale = table_windows(states, a, u)
    for x in range(a.size - 1, -1, -1):
        closing = _adjoint(windows[x], closing)
    return math.log(closing[0]) + scale


@njit(cache=True, nogil=True)
def lattice_moments(states, a, u):
    """ln Z, and mean and second moments of alpha under the mixture.

    Given the tables, alpha is Dirichlet(alpha0 + m): its moments need E[m_x / (M + A0)] and E[m_x
    m_x' / ((M + A0)(M + A0 + 1))].
    """
    alpha0 = states.alpha0
    size = alpha0.size
    windows, begin, closing, scale = table_windows(states, a, u)
    total = alpha0.sum() + begin.sum()
    one = np.empty(closing.size)
    two = np.empty(closing.size)
    for i in range(closing.size):
        one[i] = closing[i] / (total + i)
        two[i] = one[i] / (total + i + 1.0)
    later_one = [one]
    later_two = [two]
    later = closing
    for x in range(size - 1, -1, -1):
        later = _adjoint(windows[x], later)
        later_one.append(_adjoint(windows[x], later_one[-1]))
        later_two.append(_adjoint(windows[x], later_two[-1]))
    z = later[0]
    whole_two = later_two[size][0] / z

    first = np.zeros(size)  # E2[m_x]
    mean = np.zeros(size)
    second = np.zeros((size, size))
    prefix = np.ones(1)
    low = 0
    carried = [np.empty(0) for _ in range(0)]
    for x in range(size):
        window = windows[x]
        ahead_one = later_one[size - 1 - x]
        ahead_two = later_two[size - 1 - x]
        tables = np.empty(window.size)
        weighted = np.empty(window.size)
        squared = np.empty(window.size)
        for k in range(window.size):
            tables[k] = begin[x] + k
            weighted[k] = window[k] * tables[k]
            squared[k] = weighted[k] * tables[k]
        reach = low + prefix.size + window.size - 1
        here = _adjoint(weighted, ahead_two[low:reach])
        mean[x] = np.dot(prefix, _adjoint(weighted, ahead_one[low:reach]))
        first[x] = np.dot(prefix, here)
        second[x, x] = np.dot(prefix, _adjoint(squared, ahead_two[low:reach]))
        for earlier in range(x):
            second[earlier, x] = np.dot(carried[earlier], here)
        if x < size - 1:
            fresh = convolve(prefix, window)
            begins, ends = _kept(fresh)
            for earlier in range(x):
                carried[earlier] = convolve(carried[earlier], window)[begins:ends].copy()
            carried.append(convolve(prefix, weighted)[begins:ends].copy())
            prefix = fresh[begins:ends].copy()
            low += begins
    whole_one = later_one[size][0] / z
    for x in range(size):
        mean[x] = mean[x] / z + alpha0[x] * whole_one
        first[x] /= z
    for x in range(size):
        for e in range(x + 1):
            moment = second[e, x] / z + alpha0[e] * first[x] + alpha0[x] * first[e]
            moment += alpha0[e] * alpha0[x] * whole_two
            if e == x:
                moment += first[x] + alpha0[x] * whole_two
            second[e, x] = moment
            second[x, e] = moment
    return math.log(z) + scale, mean, second


@njit(cache=True, nogil=True)
def others_together(states, a, u):
    """Weights of the number of tables of all states but the last, and the first such number."""
    windows, begin, _, _ = table_windows(states, a, u)
    together = np.ones(1)
    lowest = 0
    for x in range(a.size - 1):
        together = convolve(together, windows[x])
        first, end = _kept(together)
        together = together[first:end].copy()
        lowest += begin[x] + first
    return together, lowest


@njit(cache=True, nogil=True)
def lattice_draws(states, a, u, uniforms):
    """Independent draws of the table counts (m_1, ..., m_R), one per row of `uniforms`."""
    windows, begin, closing, _ = table_windows(states, a, u)
    later = [closing]
    for x in range(a.size - 1, 0, -1):
        later.append(_adjoint(windows[x], later[-1]))
    tables = np.empty(uniforms.shape)
    for draw in range(uniforms.shape[0]):
        placed = 0
        for x in range(a.size):
            window = windows[x]
            ahead = later[a.size - 1 - x]
            weight = 0.0
            for k in range(window.size):
                weight += window[k] * ahead[placed + k]
            target = uniforms[draw, x] * weight
            chosen = window.size - 1
            running = 0.0
            for k in range(window.size):
                running += window[k] * ahead[placed + k]
                if running > target:
                    chosen = k
                    break
            tables[draw, x] = begin[x] + chosen
            placed += chosen
    return tables

"""The exact posterior of alpha as a finite mixture of Dirichlet distributions (docs/exact.md).

m_x is the number of tables of state x. Its weight is w_x[m] = c_x[m] s^m Gamma(m + alpha0_x), where
c_x are the coefficients of prod over cells of the rising factorial; the mixture weight of (m_1,
..., m_R) is prod w_x[m_x] / Gamma(M + A0). All terms are positive and every recurrence below adds
positive numbers only, so nothing cancels.
"""

import math

import numpy as np
from numba import njit

from colonnade.kernels.special import digamma, digamma_rise, log_rise
from colonnade.kernels.tilt import log_weight

# Weights this far below their peak are left out of the windows.
_NEGLIGIBLE = 1e-26
# The Poisson-binomial is followed much further, because Gamma(m + alpha0) lifts its tails.
_UNDERFLOW = 1e-280


# All terms are positive, so the order of summation may be left to the compiler: it can then use
# vector instructions, and no accuracy is lost.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def _convolve(left, right):
    out = np.zeros(left.size + right.size - 1)
    for i in range(left.size):
        for k in range(right.size):
            out[i + k] += left[i] * right[k]
    return out


@njit(cache=True, nogil=True)
def _harmonic(low, high, power):
    """Sum of nu^-power for nu from low to high - 1 (low at least 64), by Euler and Maclaurin."""
    if power == 1:
        return digamma_rise(low, high - low)
    total = 0.0
    for end, sign in ((low, 1.0), (high, -1.0)):
        term = end**-power
        square = 1.0 / (end * end)
        value = term * end / (power - 1.0) + 0.5 * term + power * term / (12.0 * end)
        rise = power * (power + 1.0) * (power + 2.0)
        value -= rise * term * square / (720.0 * end)
        rise *= (power + 3.0) * (power + 4.0)
        value += rise * term * square * square / (30240.0 * end)
        total += sign * value
    return total


@njit(cache=True, nogil=True)
def _reach(mean):
    """How far a sum of rare trials with this mean must be followed to underflow."""
    return int(mean + 36.0 * math.sqrt(mean) + 190.0)


@njit(cache=True, nogil=True)
def _split(count, times, u):
    """Where to stop making trials one by one: from there on they are rare, and made all at once.

    The recurrence of `_rare_trials` has terms that fall by the factor reach / (split * harmonic);
    a third makes it as accurate as adding trials.
    """
    largest = count[-1]
    split = 64.0
    while split < largest:
        harmonic = 0.0
        for i in range(count.size):
            if count[i] > split:
                harmonic += times[i] * digamma_rise(split, count[i] - split)
        if 3.0 * _reach(u * harmonic) <= split * harmonic and u * harmonic < 300.0:
            return split
        split *= 2.0
    return largest


@njit(cache=True, nogil=True)
def _rare_trials(count, times, u, split):
    """Distribution of the successes among all trials nu >= split, from its power sums.

    prod (1 + u z / nu) is exp(sum_j (-1)^(j+1) (u z)^j P_j / j) with P_j the sum of nu^-j, hence
    m c_m = sum_j (-1)^(j+1) u^j P_j c_(m-j).
    """
    terms = 40
    sums = np.zeros(terms + 1)
    scale = 0.0
    for i in range(count.size):
        if count[i] > split:
            scale += times[i] * (log_rise(split, u) - log_rise(count[i], u))
            for j in range(1, terms + 1):
                sums[j] += times[i] * _harmonic(split, count[i], j)
    for j in range(1, terms + 1):
        sums[j] *= u**j if j % 2 else -(u**j)
    out = np.zeros(_reach(sums[1]) + 1)
    out[0] = math.exp(scale)
    used = 1
    for m in range(1, out.size):
        value = 0.0
        for j in range(1, min(m, terms) + 1):
            value += sums[j] * out[m - j]
        if value < _UNDERFLOW and m > sums[1]:
            break
        out[m] = value / m
        used = m + 1
    return out[:used].copy()


@njit(cache=True, nogil=True)
def _poisson_binomial(count, times, u):
    """Distribution of the tables beyond one a cell.

    A factor (s alpha + nu) of the rising factorial is a trial that succeeds with probability
    u / (u + nu).
    """
    split = _split(count, times, u)
    size = 1.0
    for i in range(count.size):
        size += times[i] * (min(count[i], split) - 1.0)
    probability = np.zeros(int(size) + 1)
    fresh = np.zeros(int(size) + 1)
    probability[0] = 1.0
    low = 0
    high = 1
    trials = times.sum()
    first = 0
    for nu in range(1, int(split)):
        while count[first] <= nu:
            trials -= times[first]
            first += 1
        success = u / (u + nu)
        failure = nu / (u + nu)
        for _ in range(int(trials)):
            fresh[low] = probability[low] * failure
            for m in range(low + 1, high):
                fresh[m] = probability[m] * failure + probability[m - 1] * success
            fresh[high] = probability[high - 1] * success
            high += 1
            while fresh[high - 1] < _UNDERFLOW:
                high -= 1
            while fresh[low] < _UNDERFLOW:
                low += 1
            probability, fresh = fresh, probability
    if split < count[-1]:
        return low, _convolve(probability[low:high].copy(), _rare_trials(count, times, u, split))
    return low, probability[low:high].copy()


@njit(cache=True, nogil=True)
def _window(probability, lowest, alpha0, a):
    """Multiply by Gamma(m + alpha0) exp(-psi(a) m), relative to its value at the centre.

    Where it is not negligible.
    """
    rate = math.exp(-digamma(a))
    highest = lowest + probability.size - 1
    centre = min(max(round(a - alpha0), lowest), highest)
    weights = np.zeros(probability.size)
    top = 0.0
    last = centre
    factor = 1.0
    for m in range(centre, highest + 1):
        weights[m - lowest] = probability[m - lowest] * factor
        last = m
        top = max(top, weights[m - lowest])
        if weights[m - lowest] < _NEGLIGIBLE * top:
            break
        factor *= (m + alpha0) * rate
    first = centre
    factor = 1.0
    for m in range(centre - 1, lowest - 1, -1):
        factor /= (m + alpha0) * rate
        weights[m - lowest] = probability[m - lowest] * factor
        first = m
        top = max(top, weights[m - lowest])
        if weights[m - lowest] < _NEGLIGIBLE * top:
            break
    return centre, first, weights[first - lowest : last - lowest + 1].copy()


@njit(cache=True, nogil=True)
def table_windows(start, count, times, alpha0, a, u):
    """Windows of the tilted weights of every state.

    Returns the windows, the m at which each begins, the closing weight exp(lambda M) / Gamma(M +
    A0) over the range of the sum M, and the logarithm of the scale of it all.
    """
    states = alpha0.size
    windows = [np.empty(0) for _ in range(0)]
    begin = np.empty(states, np.int64)
    scale = 0.0
    length = 1
    for x in range(states):
        cells = times[start[x] : start[x + 1]]
        lowest = int(cells.sum())
        probability = np.ones(1)
        if cells.size > 0 and count[start[x + 1] - 1] > 1.0:
            beyond, probability = _poisson_binomial(count[start[x] : start[x + 1]], cells, u[x])
            lowest += beyond
        centre, begin[x], weights = _window(probability, lowest, alpha0[x], a[x])
        windows.append(weights)
        length += weights.size - 1
        scale += log_weight(start, count, times, x, u[x])
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


@njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def _adjoint(window, later):
    """What is still to come, as a function of the tables placed so far.

    Before the state with this window.
    """
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
def lattice_log_z(start, count, times, alpha0, a, u):
    """ln Z alone."""
    windows, _, closing, scale = table_windows(start, count, times, alpha0, a, u)
    for x in range(alpha0.size - 1, -1, -1):
        closing = _adjoint(windows[x], closing)
    return math.log(closing[0]) + scale


@njit(cache=True, nogil=True)
def lattice_moments(start, count, times, alpha0, a, u):
    """ln Z, and mean and second moments of alpha under the mixture.

    Given the tables, alpha is Dirichlet(alpha0 + m): its moments need E[m_x / (M + A0)] and E[m_x
    m_x' / ((M + A0)(M + A0 + 1))].
    """
    states = alpha0.size
    windows, begin, closing, scale = table_windows(start, count, times, alpha0, a, u)
    total = alpha0.sum() + begin.sum()
    one = np.empty(closing.size)
    two = np.empty(closing.size)
    for i in range(closing.size):
        one[i] = closing[i] / (total + i)
        two[i] = one[i] / (total + i + 1.0)
    later_one = [one]
    later_two = [two]
    later = closing
    for x in range(states - 1, -1, -1):
        later = _adjoint(windows[x], later)
        later_one.append(_adjoint(windows[x], later_one[-1]))
        later_two.append(_adjoint(windows[x], later_two[-1]))
    z = later[0]
    whole_two = later_two[states][0] / z

    first = np.zeros(states)  # E2[m_x]
    mean = np.zeros(states)
    second = np.zeros((states, states))
    prefix = np.ones(1)
    low = 0
    carried = [np.empty(0) for _ in range(0)]
    for x in range(states):
        window = windows[x]
        ahead_one = later_one[states - 1 - x]
        ahead_two = later_two[states - 1 - x]
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
        if x < states - 1:
            fresh = _convolve(prefix, window)
            begins, ends = _kept(fresh)
            for earlier in range(x):
                carried[earlier] = _convolve(carried[earlier], window)[begins:ends].copy()
            carried.append(_convolve(prefix, weighted)[begins:ends].copy())
            prefix = fresh[begins:ends].copy()
            low += begins
    whole_one = later_one[states][0] / z
    for x in range(states):
        mean[x] = mean[x] / z + alpha0[x] * whole_one
        first[x] /= z
    for x in range(states):
        for e in range(x + 1):
            moment = second[e, x] / z + alpha0[e] * first[x] + alpha0[x] * first[e]
            moment += alpha0[e] * alpha0[x] * whole_two
            if e == x:
                moment += first[x] + alpha0[x] * whole_two
            second[e, x] = moment
            second[x, e] = moment
    return math.log(z) + scale, mean, second


@njit(cache=True, nogil=True)
def others_together(start, count, times, alpha0, a, u):
    """Weights of the number of tables of all states but the last, and the first such number."""
    windows, begin, _, _ = table_windows(start, count, times, alpha0, a, u)
    together = np.ones(1)
    lowest = 0
    for x in range(alpha0.size - 1):
        together = _convolve(together, windows[x])
        first, end = _kept(together)
        together = together[first:end].copy()
        lowest += begin[x] + first
    return together, lowest


@njit(cache=True, nogil=True)
def lattice_draws(start, count, times, alpha0, a, u, uniforms):
    """Independent draws of the table counts (m_1, ..., m_R).

    One row for each row of uniforms `[draw, state]`.
    """
    states = alpha0.size
    windows, begin, closing, _ = table_windows(start, count, times, alpha0, a, u)
    later = [closing]
    for x in range(states - 1, 0, -1):
        later.append(_adjoint(windows[x], later[-1]))
    tables = np.empty(uniforms.shape)
    for draw in range(uniforms.shape[0]):
        placed = 0
        for x in range(states):
            window = windows[x]
            ahead = later[states - 1 - x]
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

"""The gamma-function differences, against mpmath, from next to nothing to 1e15."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from colonnade.kernels import special as kernels


class Called:
    """The kernels of a module with a way in from Python, which most of them lack."""

    def __init__(self, module):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                setattr(self, name, self._called(getattr(module, name)))

    @staticmethod
    def _called(kernel):
        return njit(lambda *arguments: kernel(*arguments))


special = Called(kernels)

# Tiny, the zero of psi, both sides of the switch to Stirling's series, huge.
POINTS = [
    *(1e-150, 1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.0, 1.4616321449683622, 2.0, 3.7),
    *(11.999, 12.0, 12.5, 50.0, 1e3, 1e6, 1e9, 1e12, 1e15),
]
RISES = [1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 7.0, 40.0, 1e3, 1e6, 1e9, 1e12, 1e15]
PAIRS = [(z, d) for z in POINTS for d in RISES]


@pytest.fixture(autouse=True)
def _many_digits():
    # the differences themselves lose up to 30 digits
    with mpmath.workdps(200):
        yield


def gap(value, reference):
    assert math.isfinite(value)
    return float(abs(mpmath.mpf(value) - reference))


def log_rise(z, d):
    return mpmath.loggamma(mpmath.mpf(z) + mpmath.mpf(d)) - mpmath.loggamma(mpmath.mpf(z))


def psi_rise(order, z, d):
    return mpmath.psi(order, mpmath.mpf(z) + mpmath.mpf(d)) - mpmath.psi(order, mpmath.mpf(z))


@pytest.mark.parametrize("z", POINTS)
def test_digamma_and_trigamma(z):
    first, second = mpmath.psi(0, mpmath.mpf(z)), mpmath.psi(1, mpmath.mpf(z))
    assert gap(special.digamma(z), first) <= 1e-15 * max(1.0, float(abs(first)))
    assert gap(special.trigamma(z), second) <= 1e-15 * float(second)


def test_log_rise():
    for z, d in PAIRS:
        # the promise is for rises that are not much larger than z; beyond, B(u, n) is used
        if d <= 10.0 * max(z, 0.1):
            right = log_rise(z, d)
            bound = 4e-15 * max(1.0, float(abs(right)))
            assert gap(special.log_rise(z, d), right) <= bound, (z, d)


def test_log_rise_by_nothing_is_nothing():
    for z in POINTS:
        assert abs(special.log_rise(z, 0.0)) < 1e-15


def test_minus_log_beta():
    for u, n in PAIRS:
        right = log_rise(u, n) - mpmath.loggamma(mpmath.mpf(n))
        bound = 6e-15 * max(1.0, float(abs(right)))
        assert gap(special.minus_log_beta(u, n), right) <= bound, (u, n)
        assert special.minus_log_beta(u, n) == special.minus_log_beta(n, u)


def test_a_difference_of_log_gammas_would_not_do():
    # Negative control: what the tolerance above is worth where counts are large.
    right = log_rise(0.5, 1e12) - mpmath.loggamma(mpmath.mpf(1e12))
    naive = math.lgamma(0.5 + 1e12) - math.lgamma(0.5) - math.lgamma(1e12)
    assert gap(naive, right) > 1e-5
    assert gap(special.minus_log_beta(0.5, 1e12), right) < 1e-13


def test_digamma_rise():
    for z, d in PAIRS:
        right = psi_rise(0, z, d)
        # below 1e-19 a rise is nothing beside the digamma values it lies between
        bound = 2e-15 * float(right) + 1e-18
        assert gap(special.digamma_rise(z, d), right) <= bound, (z, d)


def test_expected_tables():
    for u, n in PAIRS:
        right = mpmath.mpf(u) * psi_rise(0, u, n)
        bound = 2e-15 * float(right) + 1e-18 * u
        assert gap(special.expected_tables(u, n), right) <= bound, (u, n)


@pytest.mark.parametrize(("u", "n"), [(1e-8, 5), (0.3, 1), (2.5, 3), (40.0, 200), (1e6, 7)])
def test_expected_and_variance_of_the_tables_are_those_of_independent_seats(u, n):
    # Customer i opens a table with probability u / (u + i): a sum of independent indicators.
    chances = [mpmath.mpf(u) / (mpmath.mpf(u) + i) for i in range(n)]
    mean, variance = sum(chances), sum(p * (1 - p) for p in chances)
    assert gap(special.expected_tables(u, float(n)), mean) <= 2e-15 * float(mean)
    assert gap(special.variance_tables(u, float(n)), variance) <= 1e-15 * (1.0 + u)


def test_variance_tables():
    # It only places windows, so the error that cancellation leaves is absolute: one in 1e15 of u.
    for u, n in PAIRS:
        if n <= 1e9:
            w = mpmath.mpf(u)
            right = w * psi_rise(0, u, n) + w**2 * psi_rise(1, u, n)
            bound = 2e-15 * (1.0 + u + float(w * psi_rise(0, u, n)))
            assert gap(special.variance_tables(u, n), right) <= bound, (u, n)


def test_row_constant_adds_up_rows():
    counts, times = np.array([1.0, 2.5, 1e9]), np.array([3.0, 1.0, 2.0])
    right = sum(
        int(k) * (log_rise(0.7, n) - mpmath.loggamma(mpmath.mpf(n)))
        for n, k in zip(counts, times, strict=True)
    )
    assert gap(special.row_constant(counts, times, 0.7), right) <= 1e-14 * float(abs(right))

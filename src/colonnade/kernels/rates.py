"""ln phi_x(u) and its derivative, for the kernels that learn the strength.

A table is (start, counts, times, alpha0, factors, others): the arrays of a
:class:`~colonnade.kernels.states.States` and the two that `factored` adds. Its small whole counts
are taken together, as products of factors (u + nu): that takes a tenth of the time of gamma
functions.
"""

import math

import numpy as np

from colonnade.kernels.compiled import part
from colonnade.kernels.special import digamma, expected_tables, log_rise, minus_log_beta
from colonnade.kernels.tilt import total_of

# Whole counts up to this are taken as products of their factors.
_FEW = 12


@part
def factored(start, counts, times):
    """How often each factor (u + nu) occurs among small whole counts, ``[state, nu]``.

    Also which counts are not among them, and the constant that the factors leave out.
    """
    size = start.size - 1
    factors = np.zeros((size, _FEW))
    others = np.ones(counts.size, np.bool_)
    constant = 0.0
    for x in range(size):
        for i in range(start[x], start[x + 1]):
            n = counts[i]
            if n <= _FEW and n == math.floor(n):
                others[i] = False
                constant -= times[i] * math.lgamma(n)
                for nu in range(int(n)):
                    factors[x, nu] += times[i]
    return factors, others, constant


@part
def tables(table, x, u):
    """Expected tables of one state at rate u."""
    start, counts, times, _, factors, others = table
    value = factors[x, 0]
    for nu in range(1, _FEW):
        if factors[x, nu] == 0.0:
            break
        value += factors[x, nu] * u / (u + nu)
    psi = math.inf
    for i in range(start[x], start[x + 1]):
        if others[i]:
            n = counts[i]
            if n < _FEW:
                value += times[i] * expected_tables(u, n)
            else:
                if psi == math.inf:
                    psi = digamma(u)
                value += times[i] * u * (digamma(u + n) - psi)
    return value


@part
def log_phi(table, x, u):
    """ln phi_x(u), but for a constant."""
    start, counts, times, alpha0, factors, others = table
    value = (alpha0[x] - 1.0) * math.log(u)
    for nu in range(_FEW):
        if factors[x, nu] == 0.0:
            break
        value += factors[x, nu] * math.log(u + nu)
    large = 0.0
    for i in range(start[x], start[x + 1]):
        if others[i]:
            n = counts[i]
            if n < _FEW:
                value += times[i] * minus_log_beta(u, n)
            else:
                value += times[i] * log_rise(n, u)
                large += times[i]
    if large > 0.0:
        value += large * (math.log(u) - math.lgamma(1.0 + u))
    return value


@part
def settle(table, s, a, u, tolerance):
    """The variational fixed point, from a: see `tilt.fixed_point`. Changes a and u."""
    alpha0 = table[3]
    for _ in range(200):
        total = digamma(total_of(a))
        change = 0.0
        for x in range(a.size):
            u[x] = max(s * math.exp(digamma(a[x]) - total), 1e-300)
        for x in range(a.size):
            fresh = alpha0[x] + tables(table, x, u[x])
            change = max(change, abs(fresh - a[x]) / a[x])
            a[x] = fresh
        if change < tolerance:
            break

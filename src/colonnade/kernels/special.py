"""Gamma-function differences that keep their digits.

`lnGamma(u + n) - lnGamma(u)` computed as written loses every digit that matters when n is large (at
n = 1e12 each term is 3e13, so the difference is known to 4e-3 only). Everything here is arranged so
that no large terms cancel.
"""

import math

from colonnade.kernels.compiled import entry, part

# Stirling's series for lnGamma is used from here on; its first neglected term is below 1e-17 there.
_STIRLING_FROM = 12.0


@part
def _stirling_tail(z: float) -> float:
    """lnGamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2] for z >= 12."""
    x = 1.0 / (z * z)
    last = 1 / 1260 + x * (-1 / 1680 + x * (1 / 1188 + x * (-691 / 360360 + x / 156)))
    return (1 / 12 + x * (-1 / 360 + x * last)) / z


@part
def _digamma_tail(z: float) -> float:
    """Ln z - 1/(2 z) - psi(z) for z >= 12."""
    x = 1.0 / (z * z)
    last = 1 / 252 - x * (1 / 240 - x * (1 / 132 - x * (691 / 32760 - x / 12)))
    return x * (1 / 12 - x * (1 / 120 - x * last))


@part
def digamma(z: float) -> float:
    """psi(z), z > 0."""
    shift = 0.0
    while z < _STIRLING_FROM:
        shift -= 1.0 / z
        z += 1.0
    return shift + math.log(z) - 0.5 / z - _digamma_tail(z)


@part
def trigamma(z: float) -> float:
    """psi'(z), z > 0."""
    shift = 0.0
    while z < _STIRLING_FROM:
        shift += 1.0 / (z * z)
        z += 1.0
    x = 1.0 / (z * z)
    tail = x * (1 / 6 - x * (1 / 30 - x * (1 / 42 - x * (1 / 30 - x * (5 / 66 - x * 691 / 2730)))))
    return shift + (1.0 + 0.5 / z + tail) / z


@part
def log_rise(z: float, d: float) -> float:
    """lnGamma(z + d) - lnGamma(z) for z > 0, d >= 0; exact if d is not much larger than z."""
    ratio = 1.0
    while z < _STIRLING_FROM:
        # the same shift on both sides keeps their difference d exact
        ratio *= z / (z + d)
        z += 1.0
    w = z + d
    value = (w - 0.5) * math.log1p(d / z) + d * (math.log(z) - 1.0)
    value += _stirling_tail(w) - _stirling_tail(z)
    if ratio != 1.0:
        value += math.log(ratio)
    return value


@entry
def minus_log_beta(u: float, n: float) -> float:
    """-ln B(u, n) = lnGamma(u + n) - lnGamma(u) - lnGamma(n) for u, n > 0."""
    small, large = (u, n) if u < n else (n, u)
    # -lnGamma(small) = ln(small) - lnGamma(1 + small): right down to the smallest positive number
    return log_rise(large, small) + math.log(small) - math.lgamma(1.0 + small)


@part
def log_top_of_beta(a: float, b: float) -> float:
    """Ln of the largest density of the logit of a Beta(a, b) variable, at ln(a / b)."""
    if a < _STIRLING_FROM or b < _STIRLING_FROM:
        return minus_log_beta(a, b) - a * math.log1p(b / a) - b * math.log1p(a / b)
    narrow = 0.5 * math.log(a / (a + b) * b / (2.0 * math.pi))
    return narrow + _stirling_tail(a + b) - _stirling_tail(a) - _stirling_tail(b)


@part
def digamma_rise(z: float, d: float) -> float:
    """psi(z + d) - psi(z) for z > 0, d >= 0."""
    value = 0.0
    while z < _STIRLING_FROM:
        value += d / (z * (z + d))
        z += 1.0
    w = z + d
    return value + math.log1p(d / z) + 0.5 * d / (z * w) - _digamma_tail(w) + _digamma_tail(z)


@part
def expected_tables(u: float, n: float) -> float:
    """u (psi(u + n) - psi(u)): mean tables of n customers in a Chinese restaurant of strength u."""
    return u * digamma_rise(u, n)


@part
def variance_tables(u: float, n: float) -> float:
    """Derivative of `expected_tables` in ln u; for whole n the variance of the number of tables."""
    first = u * digamma_rise(u + 1.0, n - 1.0) if n >= 1.0 else u * digamma_rise(u, n) - 1.0
    return first + u * u * (trigamma(u + n) - trigamma(u + 1.0))


@entry
def row_constant(row_count, row_times, s):
    """Sum over configurations of -ln B(s, n_y)."""
    value = 0.0
    for i in range(row_count.size):
        value += row_times[i] * minus_log_beta(s, row_count[i])
    return value

"""Gamma-function differences that keep their digits.

`lnGamma(u + n) - lnGamma(u)` computed as written loses every digit that matters when n is large (at
n = 1e12 each term is 3e13, so the difference is known to 4e-3 only). Everything here is arranged so
that no large terms cancel.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part

# Stirling's series for lnGamma is used from here on; its first neglected term is below 1e-17 there.
_STIRLING_FROM = 12.0
# Numbers whose logarithms are taken in vectors, if all of them can be.
_BLOCK = 1024


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


@part
def logarithm(value):
    """Return the natural logarithm of a number from 1e-300 to 1e300, in vectors where it can.

    It is that of a power of two and of a number m near one, of which the series of
    2 artanh((m - 1) / (m + 1)) is summed, with the coefficients that fdlibm has for it; right to
    about a unit of the last digit.
    """
    bits = np.float64(value).view(np.uint64)
    # Numbers from sqrt(1/2) to sqrt(2) get the exponent 1024.
    exponent = (bits + np.uint64(0x00195F6200000000)) >> np.uint64(52)
    shift = (np.uint64(1024) - exponent) << np.uint64(52)
    m = np.uint64(bits + shift).view(np.float64)
    # An integer in the last digits of 2^52 is a number at no cost.
    power = np.uint64(exponent | np.uint64(0x4330000000000000)).view(np.float64)
    power -= 4503599627371520.0  # 2^52 + 1024
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
    even = 0.6666666666666735130 + w * (
        0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)
    )
    half = 0.5 * f * f
    rest = s * (half + odd + z * even) + power * 1.90821492927058770002e-10
    return power * 6.93147180369123816490e-01 - ((half - rest) - f)


@part
def exponential(value):
    """Return e to a power from -708 to 708, in vectors where it can.

    It is a power of two times the series of what is left, at most half of ln 2; right to about a
    unit of the last digit.
    """
    # An integer in the last digits of 1.5 * 2^52 is a number at no cost.
    shifted = value * 1.44269504088896338700 + 6755399441055744.0
    power = shifted - 6755399441055744.0
    r = (value - power * 6.93147180369123816490e-01) - power * 1.90821492927058770002e-10
    z = r * r
    low = 1 / 2 + r / 6 + z * (1 / 24 + r / 120)
    middle = 1 / 720 + r / 5040 + z * (1 / 40320 + r / 362880)
    high = 1 / 3628800 + r / 39916800 + z * (1 / 479001600 + r / 6227020800)
    rise = 1.0 + (r + z * (low + z * z * (middle + z * z * high)))
    exponent = np.float64(shifted).view(np.uint64) << np.uint64(52)
    return np.uint64(np.float64(rise).view(np.uint64) + exponent).view(np.float64)


@entry
def take_logs(values):
    """See `replace_by_logs`."""
    replace_by_logs(values)


@part
def replace_by_logs(values):
    """Replace numbers of zero or more, `[...]` in one row, by their logarithms; NaN stays NaN."""
    for low in range(0, values.size, _BLOCK):
        # Loops from zero over a view become vectors, others do not.
        some, plain = values[low : min(low + _BLOCK, values.size)], 0
        for i in range(len(some)):
            plain += some[i] > 1e-300
        if plain == len(some):
            for i in range(len(some)):
                some[i] = logarithm(some[i])
            continue
        for i in range(len(some)):
            if some[i] > 0.0:
                some[i] = math.log(some[i])
            elif some[i] == 0.0:
                some[i] = -math.inf

"""References of sixty digits for the posterior of alpha, written apart from the package.

Nothing here imports ``colonnade``: a mistake in an engine cannot hide in its own reference.
Two unrelated routes are kept, and ``test_oracle.py`` holds them against each other:

* ``exact_reference`` expands every rising factorial into its integer polynomial and sums the
  finite mixture of Dirichlets in ball arithmetic (python-flint).  Every rounding error is
  carried as a rigorous radius, and the precision is doubled until the radius is small enough.
* ``quadrature_reference`` integrates the density itself by the trapezoidal rule in
  double-exponential coordinates, for two or three states.  It never uses that counts are whole
  numbers, so it also serves fractional counts and tables too large to expand
  (``fractional_reference``, ``large_reference``).

``total_probability`` sums the evidence over every data set of given row totals: it is one.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from flint import arb, arb_poly, ctx, fmpz, fmpz_poly
from scipy.special import gammaln

__all__ = [
    "Reference",
    "exact_reference",
    "fractional_reference",
    "large_reference",
    "quadrature_reference",
    "total_probability",
]

_MAX_BITS = 1 << 16
# A node this many e-folds below the last digit kept is left out: 1e-8 of that digit.
_SPARE_NATS = 18.0


@dataclass(frozen=True)
class Reference:
    """Mean and covariance of alpha and the log evidence, as decimal numbers of many digits.

    ``mean``, ``covariance`` and ``log_evidence`` are the nearest float64 values; the
    ``precise_*`` fields hold the mpmath numbers they were rounded from.
    """

    precise_mean: tuple[Any, ...]
    precise_covariance: tuple[tuple[Any, ...], ...]
    precise_log_evidence: Any

    @property
    def mean(self) -> np.ndarray:
        return np.array([float(value) for value in self.precise_mean])

    @property
    def covariance(self) -> np.ndarray:
        return np.array([[float(value) for value in row] for row in self.precise_covariance])

    @property
    def log_evidence(self) -> float:
        return float(self.precise_log_evidence)


def exact_reference(
    counts: Any, s: float, alpha0: float | Sequence[float] = 1.0, digits: int = 60
) -> Reference:
    """Posterior of alpha for whole-number counts ``[configuration, state]``.

    The floats ``s`` and ``alpha0`` are taken as the binary numbers they are.  The result is
    right to ``digits`` digits after the point (means, covariances, log evidence alike).
    """
    table = _table(counts)
    if not np.all(table == np.round(table)):
        raise ValueError("exact_reference wants whole-number counts; see fractional_reference")
    prior = _prior(alpha0, table.shape[1])
    polynomials = [_table_polynomial(table[:, x]) for x in range(table.shape[1])]
    totals = Counter(int(total) for total in table.sum(axis=1))
    bits = 4 * digits + 260
    while bits <= _MAX_BITS:
        with _Precision(bits):
            balls = _mixture(polynomials, totals, arb(float(s)), [arb(a) for a in prior])
            if max(float(ball.rad()) for ball in _flatten(balls)) < 10.0 ** -(digits + 1):
                return _reference(*balls, digits=digits)
        bits *= 2
    raise ArithmeticError("exact_reference did not reach the wanted digits")


def _table_polynomial(column: np.ndarray) -> fmpz_poly:
    """prod_y t (t+1) ... (t + n_y - 1) as an integer polynomial in t = s * alpha_x."""
    factors = [
        fmpz_poly([j, 1]) ** int(np.count_nonzero(column > j))
        for j in range(int(column.max(initial=0)))
    ]
    while len(factors) > 1:  # a balanced product keeps the big multiplications few
        factors = [
            math.prod(factors[i + 1 : i + 2], start=factors[i]) for i in range(0, len(factors), 2)
        ]
    return factors[0] if factors else fmpz_poly([1])


def _mixture(
    polynomials: list[fmpz_poly], totals: Counter[int], s: arb, prior: list[arb]
) -> tuple[list[arb], list[list[arb]], arb]:
    """Sum the mixture; Gamma(m + a) is carried as Gamma(m + a)/Gamma(a), a rising factorial."""
    r = len(prior)
    leaves = []
    for x, (polynomial, a) in enumerate(zip(polynomials, prior, strict=True)):
        weights, term = [], arb(1)
        for m, c in enumerate(polynomial.coeffs()):
            weights.append(arb(c) * term)
            term = term * s * (a + m)
        first = [w * (a + m) for m, w in enumerate(weights)]
        second = [w * (a + m + 1) for m, w in enumerate(first)]
        leaves.append(({x}, {(): weights, (x,): first, (x, x): second}))
    nodes = [(states, {k: arb_poly(v) for k, v in terms.items()}) for states, terms in leaves]
    while len(nodes) > 1:
        nodes = [_join(*nodes[i : i + 2]) for i in range(0, len(nodes), 2)]
    terms = nodes[0][1]

    strength = sum(prior, arb(0))
    length = len(terms[()].coeffs())
    inverse, rising = [], arb(1)
    for m in range(length):
        inverse.append(1 / rising)
        rising = rising * (strength + m)
    one = [v / (strength + m) for m, v in enumerate(inverse)]
    two = [v / (strength + m + 1) for m, v in enumerate(one)]

    z = _dot(terms[()], inverse)
    mean = [_dot(terms[(x,)], one) / z for x in range(r)]
    covariance = [[arb(0)] * r for _ in range(r)]
    for x, x2 in itertools.combinations_with_replacement(range(r), 2):
        value = _dot(terms[(x, x2)], two) / z - mean[x] * mean[x2]
        covariance[x][x2] = covariance[x2][x] = value
    log_evidence = z.log()
    for total, times in totals.items():
        log_evidence -= times * _log_rising(s, total)
    return mean, covariance, log_evidence


_Node = tuple[set[int], dict[tuple[int, ...], arb_poly]]


def _join(left: _Node, right: _Node | None = None) -> _Node:
    """Convolve two groups of states, keeping the marked versions needed for the moments."""
    if right is None:
        return left
    states, terms = left[0] | right[0], {}
    for (key, p), (key2, p2) in itertools.product(left[1].items(), right[1].items()):
        if len(key) + len(key2) <= 2:
            terms[tuple(sorted(key + key2))] = p * p2
    return states, terms


def _dot(polynomial: arb_poly, weights: list[arb]) -> arb:
    return sum((c * w for c, w in zip(polynomial.coeffs(), weights, strict=False)), arb(0))


def _log_rising(s: arb, count: int) -> arb:
    """log of s (s+1) ... (s + count - 1)."""
    return (s + count).lgamma() - s.lgamma()


# --- quadrature -----------------------------------------------------------------------------


def fractional_reference(
    counts: Any, s: float, alpha0: float | Sequence[float] = 1.0, digits: int = 30
) -> Reference:
    """Posterior of alpha for any non-negative counts; two or three states."""
    return quadrature_reference(counts, s, alpha0, digits)


def large_reference(
    counts: Any, s: float, alpha0: float | Sequence[float] = 1.0, digits: int = 20
) -> Reference:
    """Posterior of alpha for tables with many configurations; two or three states."""
    return quadrature_reference(counts, s, alpha0, digits)


def quadrature_reference(
    counts: Any, s: float, alpha0: float | Sequence[float] = 1.0, digits: int = 30
) -> Reference:
    """Posterior of alpha by the double-exponential trapezoidal rule, for two or three states.

    The number of nodes grows by half until two successive answers agree to ``digits`` digits
    after the point; convergence is geometric, so the finer answer, returned, is better still.
    """
    table = _table(counts)
    if table.shape[1] not in (2, 3):
        raise ValueError("quadrature_reference handles two or three states")
    prior = _prior(alpha0, table.shape[1])
    states = [_State(table[:, x], s, a) for x, a in enumerate(prior)]
    bits = 4 * digits + 160
    with _Precision(bits):
        strength = [arb(a) for a in prior]
        constant = sum(strength, arb(0)).lgamma() - sum((a.lgamma() for a in strength), arb(0))
        for total, times in _row_totals(table).items():
            ball = arb(fmpz(total.numerator)) / fmpz(total.denominator)
            constant -= times * ((arb(s) + ball).lgamma() - arb(s).lgamma())
        goal = arb(10) ** (-digits)
        previous = None
        for level in range(12):
            balls = _moments(states, round(20 * 1.5**level), digits)
            balls = (balls[0], balls[1], balls[2] + constant)
            values = _flatten(balls)
            if previous is not None and all(
                abs(v.mid() - p.mid()) + v.rad() < goal
                for v, p in zip(values, previous, strict=True)
            ):
                return _reference(*balls, digits=digits)
            previous = values
    raise ArithmeticError("quadrature_reference did not settle")


class _State:
    """log of a * f_x(a): the extra factor a belongs to the Jacobian of the coordinates."""

    def __init__(self, column: np.ndarray, s: float, alpha0: float) -> None:
        found = Counter(column[column > 0].tolist())
        self.values = np.array(list(found), dtype=float)
        self.times = np.array(list(found.values()), dtype=float)
        self.s, self.alpha0 = float(s), float(alpha0)

    def rough(self, log_a: np.ndarray) -> np.ndarray:
        """Float64 values, only ever used to find where the integrand matters."""
        t = np.maximum(self.s * np.exp(log_a), 1e-300)
        result = self.alpha0 * log_a
        lowest = gammaln(t)
        for value, times in zip(self.values, self.times, strict=True):
            result = result + times * (gammaln(t + value) - lowest)
        return result

    def precise(self, a: arb) -> arb:
        t = arb(self.s) * a
        result = arb(self.alpha0) * a.log()
        for value, times in zip(self.values, self.times, strict=True):
            result += int(times) * (t + arb(value)).lgamma()
        return result - int(self.times.sum()) * t.lgamma()


def _split(t: arb) -> tuple[arb, arb, arb]:
    """A fraction, its complement and the log of the remaining Jacobian, at coordinate t.

    fraction = 1/(1 + exp(-pi sinh t)), so both ends keep full relative accuracy and an
    algebraic singularity there becomes a doubly exponential decay.
    """
    u = arb.pi() * t.sinh()
    return 1 / (1 + (-u).exp()), 1 / (1 + u.exp()), (arb.pi() * t.cosh()).log()


def _rough_split(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u = np.pi * np.sinh(t)
    return -np.logaddexp(0.0, -u), -np.logaddexp(0.0, u), np.log(np.pi * np.cosh(t))


def _window(
    log_density: Callable[[np.ndarray], np.ndarray], nats: float
) -> tuple[float, float, float]:
    """Peak height and the interval outside which a unimodal log density is ``nats`` lower."""
    low, high = -8.0, 8.0
    for _ in range(40):
        grid = np.linspace(low, high, 161)
        heights = log_density(grid)
        keep = np.flatnonzero(heights > heights.max() - nats)
        low2 = grid[max(keep[0] - 1, 0)]
        high2 = grid[min(keep[-1] + 1, grid.size - 1)]
        if high2 - low2 > 0.5 * (high - low):
            return float(heights.max()), float(low2), float(high2)
        low, high = low2, high2
    raise ArithmeticError("the peak of the density was not found")


def _nodes(low: float, high: float, n: int) -> Iterator[tuple[arb, arb]]:
    """Trapezoidal nodes and their common step."""
    step = (arb(high) - arb(low)) / n
    for i in range(n + 1):
        yield arb(low) + step * i, step


def _moments(
    states: list[_State], nodes: int, digits: int
) -> tuple[list[arb], list[list[arb]], arb]:
    nats = digits * math.log(10.0) + _SPARE_NATS
    points = _line(states, nodes, nats) if len(states) == 2 else _triangle(states, nodes, nats)
    r = len(states)
    pairs = list(itertools.combinations_with_replacement(range(r), 2))
    z, first, second = arb(0), [arb(0)] * r, {pair: arb(0) for pair in pairs}
    shift = None
    for alpha, log_weight in points:
        if shift is None:  # any point will do: arb's exponent has no bounds to overflow
            shift = log_weight.mid()
        weight = (log_weight - shift).exp()
        z += weight
        marked = [weight * a for a in alpha]
        first = [f + w for f, w in zip(first, marked, strict=True)]
        for x, x2 in pairs:
            second[x, x2] += marked[x] * alpha[x2]
    mean = [f / z for f in first]
    covariance = [[arb(0)] * r for _ in range(r)]
    for x, x2 in pairs:
        covariance[x][x2] = covariance[x2][x] = second[x, x2] / z - mean[x] * mean[x2]
    return mean, covariance, z.log() + shift


def _line(states: list[_State], nodes: int, nats: float) -> Iterator[tuple[list[arb], arb]]:
    def rough(t: np.ndarray) -> np.ndarray:
        a, b, jacobian = _rough_split(t)
        return states[0].rough(a) + states[1].rough(b) + jacobian

    _, low, high = _window(rough, nats)
    for t, step in _nodes(low, high, nodes):
        a, b, jacobian = _split(t)
        yield [a, b], states[0].precise(a) + states[1].precise(b) + jacobian + step.log()


def _triangle(states: list[_State], nodes: int, nats: float) -> Iterator[tuple[list[arb], arb]]:
    """alpha = (a, (1-a) b, (1-a)(1-b)): the first state outside, the split of the rest inside."""

    def inner(log_rest: float) -> Callable[[np.ndarray], np.ndarray]:
        def rough(t: np.ndarray) -> np.ndarray:
            b, c, jacobian = _rough_split(t)
            return states[1].rough(log_rest + b) + states[2].rough(log_rest + c) + jacobian

        return rough

    def outer(t: np.ndarray) -> np.ndarray:
        a, rest, jacobian = _rough_split(t)
        peaks = np.array([_window(inner(value), nats)[0] for value in rest])
        return states[0].rough(a) + peaks + jacobian

    _, low, high = _window(outer, nats)
    for t, step in _nodes(low, high, nodes):
        a, rest, jacobian = _split(t)
        base = states[0].precise(a) + jacobian + step.log()
        _, low2, high2 = _window(inner(float(rest.log().mid())), nats)
        for t2, step2 in _nodes(low2, high2, nodes):
            b, c, jacobian2 = _split(t2)
            inside = states[1].precise(rest * b) + states[2].precise(rest * c)
            yield [a, rest * b, rest * c], base + inside + jacobian2 + step2.log()


# --- laws -----------------------------------------------------------------------------------


def total_probability(
    row_totals: Sequence[int], r: int, log_evidence: Callable[[np.ndarray], float]
) -> float:
    """Sum of exp(log evidence) over every data set with these row totals: must be one.

    ``log_evidence`` maps a table ``[configuration, state]`` to the log probability of one
    ordered data set; a table stands for multinomially many of them.
    """
    rows = [list(_compositions(total, r)) for total in row_totals]
    terms = []
    for table in itertools.product(*rows):
        orders = math.prod(
            math.factorial(sum(row)) // math.prod(map(math.factorial, row)) for row in table
        )
        terms.append(orders * math.exp(log_evidence(np.array(table, dtype=float))))
    return math.fsum(terms)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


# --- shared small parts ---------------------------------------------------------------------


class _Precision:
    """Set flint's working precision for a block and put the old one back."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.old, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.old


def _table(counts: Any) -> np.ndarray:
    table = np.asarray(counts, dtype=float)
    if table.ndim != 2 or not np.all(np.isfinite(table)) or np.any(table < 0):
        raise ValueError("counts must be a finite, non-negative [configuration, state] array")
    return table[table.sum(axis=1) > 0]


def _row_totals(table: np.ndarray) -> Counter[Fraction]:
    """How often each row total occurs; fractional counts are added without rounding."""
    if np.all(table == np.round(table)):
        return Counter(Fraction(int(total)) for total in table.sum(axis=1))
    return Counter(sum(map(Fraction, row), Fraction(0)) for row in table.tolist())


def _prior(alpha0: float | Sequence[float], r: int) -> list[float]:
    return [float(a) for a in np.broadcast_to(np.asarray(alpha0, dtype=float), (r,))]


def _flatten(balls: tuple[list[arb], list[list[arb]], arb]) -> list[arb]:
    return [*balls[0], *itertools.chain.from_iterable(balls[1]), balls[2]]


def _reference(
    mean: list[arb], covariance: list[list[arb]], log_evidence: arb, digits: int
) -> Reference:
    def number(ball: arb) -> Any:
        mantissa, exponent = ball.mid().man_exp()
        with mpmath.workdps(digits + 15):
            return mpmath.ldexp(mpmath.mpf(int(fmpz(mantissa))), int(fmpz(exponent)))

    return Reference(
        tuple(number(ball) for ball in mean),
        tuple(tuple(number(ball) for ball in row) for row in covariance),
        number(log_evidence),
    )

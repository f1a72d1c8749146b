"""Convolutions of curves on aligned panels, by rules that are known beforehand.

With few counts peaks are wide and tails long: the convolutions of `simplex` then have many points,
but the same steps serve all of them. So here the panels of all curves have one width, and edges at
multiples of it. A point of the rule, seen from the k-th node of a panel, is then at the same place
of a panel as far away for all panels, curves and tables: what the values at the nodes there
contribute to it is looked up (:class:`Rule`), and takes no logarithm and no polynomial.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry, part
from colonnade.kernels.panels import NODES as PANEL_NODES
from colonnade.kernels.states import States
from colonnade.kernels.tilt import log_weight

# Nodes of a panel and its width in ln v. What a polynomial leaves out of a curve that is analytic
# for |Im ln v| < pi falls by ten with each node. Sixteen numbers fill vectors.
NODES, WIDTH = 16, 1.25
_NEGLIGIBLE = -42.0  # logarithm, relative to the peak: below rounding
# The logit is its centre plus _BEND sinh(z / _BEND): steps in z are short at the peak and long in
# the tails.
_BEND, _FARTHEST = 4.0, 120.0
# Steps in z, longest first, and the longest in widths of a peak; centres are multiples of a number.
_STEPS = tuple(0.21 * 2.0 ** (-0.5 * i) for i in range(7))
_STEP_IN_WIDTHS, _BETWEEN_CENTRES = 0.45, 2.0
# What is known of a curve at its ends.
_VALUE, _SLOPE, _CURVATURE, _UPPER, _UPPER_SLOPE = range(5)


def _interpolation() -> tuple[Floats, Floats, Floats]:
    """Nodes on (-1, 1), ascending; from values there to coefficients and to ends."""
    angles = np.pi * (np.arange(NODES) + 0.5) / NODES
    k = np.arange(NODES, dtype=np.float64)[:, None]
    coefficients = np.cos(k * angles[::-1]) * np.where(k == 0.0, 1.0, 2.0) / NODES
    # T_k(1) = 1, T_k'(1) = k^2, T_k''(1) = k^2 (k^2 - 1) / 3; at -1 with alternating signs.
    sign, slope, curvature = (-1.0) ** k, k**2, k**2 * (k**2 - 1.0) / 3.0
    per = 2.0 / WIDTH
    ends = [sign, -per * sign * slope, per**2 * sign * curvature, np.ones_like(k), per * slope]
    return -np.cos(angles), coefficients, np.hstack(ends).T @ coefficients


_PLACES, _COEFFICIENTS, _ENDS = _interpolation()
_NODES_OF_PANEL = 0.5 * WIDTH * (_PLACES + 1.0)
# Of a function of v: its value and slope at the lower end, its value at the upper end.
_BEYOND = _ENDS[[_VALUE, _SLOPE, _UPPER]].copy()


class Curve(NamedTuple):
    """Values at the nodes ``[panel, node]``, what is known at the ends, and the first panel.

    Panel p reaches from p to p + 1 times the width. Above its panels a curve goes on as a straight
    line. Below, its slope falls as it does where the first two terms of a power series are left:
    mistakes there would creep up, a panel at a time, from sum to sum.
    """

    values: Floats
    ends: Floats
    low: int

    @classmethod
    def through(cls, values: Floats, low: int) -> "Curve":
        """The curve with some values at the nodes."""
        lower, upper = _ENDS[:_UPPER] @ values[0], _ENDS[_UPPER:] @ values[-1]
        return cls(values, np.concatenate([lower, upper]), low)

    @property
    def coefficients(self) -> Floats:
        """Coefficients of the Chebyshev polynomials of all panels, ``[panel, coefficient]``."""
        return np.asarray(self.values @ _COEFFICIENTS.T)

    @property
    def left_out(self) -> Floats:
        """Size of the last coefficients of each panel."""
        return np.asarray(np.abs(self.values @ _COEFFICIENTS[-2:].T).sum(axis=1))

    def panels(self, shift: float, power: float) -> tuple[Floats, Floats]:
        """The same as a curve of `panels` and its domain, all of it moved by a shift of ln v.

        `power` is that of v at zero: the slope below is exactly that, less one, where it is nearly.
        """
        curve = np.zeros((len(self.values), PANEL_NODES))
        curve[:, :NODES] = self.coefficients
        slope, limit = float(self.ends[_SLOPE]), power - 1.0
        pure = abs(slope - limit) < 1e-6 * (1.0 + abs(limit))
        below, above = limit if pure else slope, self.ends[_UPPER_SLOPE]
        low = WIDTH * self.low + shift
        return curve, np.array([low, WIDTH, len(self.values), below, above])


class Rule(NamedTuple):
    """The trapezoidal rule for some places of a panel, ``[place, point]`` or ``[point]``.

    f is taken at w + ln t and G at w + ln (1 - t), each in a panel so many above that of the place,
    with the weights ``[place, point, node]`` of the values there. `logs` has ln (t (1 - t)) and the
    step. Points are ascending in t, and every second one is a rule of its own.
    """

    f_panel: NDArray[np.int64]
    f_weights: Floats
    g_panel: NDArray[np.int64]
    g_weights: Floats
    logs: Floats
    t: Floats
    rest: Floats


def _interpolated(w: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Panels of some w, and the weights of the values at the nodes there."""
    panel = np.floor(w / WIDTH)
    away = (2.0 * (w / WIDTH - panel) - 1.0)[..., None] - _PLACES
    at_node = away == 0.0
    weights = (-1.0) ** np.arange(NODES) * np.sqrt(1.0 - _PLACES**2) / np.where(at_node, 1.0, away)
    weights = np.where(at_node.any(axis=-1, keepdims=True), at_node, weights)
    return panel.astype(np.int64), weights / weights.sum(axis=-1, keepdims=True)


def _rule(centre: float, step: float, places: Floats) -> Rule:
    half = math.ceil(_BEND * math.asinh(_FARTHEST / _BEND) / step)
    z = step * np.arange(-half, half + 1)
    y = centre + _BEND * np.sinh(z / _BEND)
    log_t, log_rest = -np.logaddexp(0.0, -y), -np.logaddexp(0.0, y)
    f, g = (_interpolated(places[:, None] + log) for log in (log_t, log_rest))
    logs = log_t + log_rest + np.log(step * np.cosh(z / _BEND))
    return Rule(*f, *g, logs, np.exp(log_t), np.exp(log_rest))


@lru_cache(maxsize=24)
def _rule_of_nodes(centre: float, step: float) -> Rule:
    return _rule(centre, step, _NODES_OF_PANEL)


class Convolution(NamedTuple):
    """What is known at some places of the sum S of a state and of a sum R before it.

    With t the share of the state in S: ln of the density of S ``[place]``; the matrix that turns a
    function of R, given at its nodes, into its mean given S, weighted by 1 - t = R / S; the means
    of t and of its square, and the error of the rule, ``[place]`` each.
    """

    values: Floats
    matrix: Floats
    share: Floats
    square: Floats
    error: Floats


class Shape(NamedTuple):
    """About the logit of the share t of a state, or of some, in a sum, and the step of its rule."""

    logit: float
    step: float

    @classmethod
    def of(cls, logit: float, width: float, finer: float) -> "Shape":
        """For a logit with some deviation; steps are `finer` times those that mostly suffice."""
        fit = (step for step in _STEPS if step <= finer * _STEP_IN_WIDTHS * width)
        return cls(logit, next(fit, _STEPS[-1]))

    @property
    def centre(self) -> float:
        """The centre of the rule."""
        return _BETWEEN_CENTRES * round(self.logit / _BETWEEN_CENTRES)


def convolved(f: Curve, g: Curve, shape: Shape, panels: range, moments: bool) -> Convolution:
    """Convolve the curves of a state and of a sum, at all nodes of some panels."""
    rule = _rule_of_nodes(shape.centre, shape.step)
    return _convolution(f, g, rule, _NODES_OF_PANEL, panels, moments)


def convolved_at(f: Curve, g: Curve, shape: Shape, places: Floats) -> Convolution:
    """Convolve the same at any places."""
    rule = _rule(shape.centre, shape.step, places)
    return _convolution(f, g, rule, places, range(1), True)


def _convolution(
    f: Curve, g: Curve, rule: Rule, places: Floats, panels: range, moments: bool
) -> Convolution:
    size = len(panels) * places.size
    values, known, room = np.empty(size), np.empty((3, size)), np.empty(rule.logs.size)
    matrix = np.zeros((size if moments else 0, len(g.values), NODES))
    _convolve(*f, *g, *rule, places, panels.start, _BEYOND, room, values, known, matrix)
    return Convolution(values, matrix.reshape(len(matrix), g.values.size), *known)


def state_curve(states: States, x: int, scale: float, panels: range) -> Curve:
    """The curve ln f_x at strength `scale`, but for a constant."""
    start, counts, times, alpha0 = states
    values = np.empty((len(panels), NODES))
    _fill(start, counts, times, float(alpha0[x]), x, scale, _NODES_OF_PANEL, panels.start, values)
    return Curve.through(values, panels.start)


@entry
def _fill(start, counts, times, alpha0, x, scale, places, low, values):
    for i in range(values.shape[0]):
        for m in range(values.shape[1]):
            w = places[m] + WIDTH * (low + i)
            weight = log_weight(start, counts, times, x, scale * math.exp(w))
            values[i, m] = (alpha0 - 1.0) * w + weight


def nodes_of(panels: range) -> Floats:
    """ln v at all nodes of some panels."""
    return (_NODES_OF_PANEL + WIDTH * np.array(panels)[:, None]).reshape(-1)


def _sum_of_products(weights, place, point, values, panel, nodes):
    value = 0.0
    for m in range(nodes):
        value += weights[place, point, m] * values[panel, m]
    return value


# A call takes as long as the sum. A loop of known length would be unrolled, and not be vectors.
_looked_up = part(_sum_of_products, fastmath={"reassoc", "contract", "nsz"}, forceinline=True)


@part
def _value(values, ends, weights, place, point, panel, nodes, w):
    """Value of a curve that may be beyond its panels, where w is relative to the first of them."""
    if panel < 0:
        rest = ends[_SLOPE] - ends[_CURVATURE]
        return ends[_VALUE] + rest * w + ends[_CURVATURE] * math.expm1(w)
    if panel >= values.shape[0]:
        return ends[_UPPER] + ends[_UPPER_SLOPE] * (w - WIDTH * values.shape[0])
    value = 0.0
    for m in range(nodes):
        value += weights[place, point, m] * values[panel, m]
    return value


@entry
def _convolve(
    f, f_ends, f_low, g, g_ends, g_low, f_panel, f_weights, g_panel, g_weights, logs, t, rest,
    places, low, beyond, room, values, known, matrix,
):  # fmt: skip
    """Fill in ln G at the places of all panels, what is known of t, and the matrix."""
    size, nodes, last = logs.size, g.shape[1], g.shape[0] - 1
    for place in range(places.size):
        peak = size // 2
        for i in range(values.size // places.size):
            panel = low + i
            w = places[place] + WIDTH * panel
            top = -math.inf
            begin, end, first = peak, peak, peak
            # The integrand has one peak: from any point, both ways, until it is negligible.
            for side in range(2):
                k = first - side
                while 0 <= k < size:
                    in_f, in_g = (
                        panel + f_panel[place, k] - f_low,
                        panel + g_panel[place, k] - g_low,
                    )
                    value = logs[k]
                    if 0 <= in_f < f.shape[0] and 0 <= in_g <= last:
                        value += _looked_up(f_weights, place, k, f, in_f, nodes)
                        value += _looked_up(g_weights, place, k, g, in_g, nodes)
                    else:
                        above = w + math.log(t[k]) - WIDTH * f_low
                        value += _value(f, f_ends, f_weights, place, k, in_f, nodes, above)
                        above = w + math.log(rest[k]) - WIDTH * g_low
                        value += _value(g, g_ends, g_weights, place, k, in_g, nodes, above)
                    room[k] = value
                    if value > top:
                        top, peak = value, k
                    if side == 0:
                        end = k + 1
                    else:
                        begin = k
                    if value < top + _NEGLIGIBLE:
                        break
                    k += 1 - 2 * side
            total, even = 0.0, 0.0
            for k in range(begin, end):
                room[k] = math.exp(room[k] - top)
                total += room[k]
                if k % 2 == 0:
                    even += room[k]
            row = i * places.size + place
            values[row] = top + math.log(total) + w
            # With every second point the error is about the root of what it is with all of them.
            known[2, row] = (2.0 * even / total - 1.0) ** 2
            if matrix.shape[0] == 0:
                continue
            share, square = 0.0, 0.0
            for k in range(begin, end):
                weight = room[k] / total
                share += weight * t[k]
                square += weight * t[k] * t[k]
                weight *= rest[k]
                in_g = panel + g_panel[place, k] - g_low
                if in_g < 0:
                    # Such functions are nearly linear in v where it is small.
                    less = math.expm1(w + math.log(rest[k]) - WIDTH * g_low)
                    for m in range(nodes):
                        matrix[row, 0, m] += weight * (beyond[0, m] + less * beyond[1, m])
                elif in_g > last:
                    for m in range(nodes):
                        matrix[row, last, m] += weight * beyond[2, m]
                else:
                    for m in range(nodes):
                        matrix[row, in_g, m] += weight * g_weights[place, k, m]
            known[0, row] = share
            known[1, row] = square

"""Functions of ln v as Chebyshev panels, and the trapezoidal rule over a product of two of them.

The working parts of `simplex`: there ln f and ln G are such functions, and each convolution
integral is one call of `march`. Two layouts are used throughout:

domain, 5 numbers
    Lowest ln v, width of a panel, number of panels, and the slopes below and above: outside its
    panels the function is continued as a straight line, which below is its true behaviour once v is
    smaller than every scale of the table.
buffer, [point, 5]
    The points of a trapezoidal rule: y, ln of the integrand, ln t, ln (1 - t) with t =
    logistic(y), and 1 for every second point from the peak, else 0. The last point of a side that
    ends in a pure power stands for all beyond it: its value is their sum, its ln t (below) or
    ln (1 - t) (above) that of their mean, and every second point is a fraction of them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

NODES = 18  # Chebyshev nodes on a panel, which is at most one unit of ln v wide
_MAX_STEP = 0.27  # of the trapezoidal rule in logit(a / v): error exp(-pi^2 / step) = 1e-16
_MAX_STEP_IN_WIDTHS = 0.5  # the same relative to the width of a peak
_NEGLIGIBLE = -50.0  # logarithm, relative to the peak
_MAX_POINTS_PER_SIDE = 1_000_000
_PURE_LOGIT = 40.0  # beyond it (to either side) ln t or ln (1 - t) is the logit itself
GUESSED_WIDTH = 0.3  # of a peak, before the first one is known
# Columns of a domain and of a buffer.
LOW, WIDTH, PANELS, SLOPE_BELOW, SLOPE_ABOVE = range(5)
Y, LOG_VALUE, LOG_T, LOG_REST, ODD = range(5)


class Curve(NamedTuple):
    """A function of ln v: Chebyshev coefficients ``[panel, NODES]`` and their domain."""

    coefficients: Any
    domain: Any


@njit(cache=True, nogil=True)
def curve(stack, k):
    """The k-th of several curves, whose coefficients and domains are stacked."""
    return Curve(stack.coefficients[k], stack.domain[k])


@njit(cache=True, nogil=True)
def new_buffer():
    """Room for the points of most rules; `march` lets it grow."""
    return np.empty((256, 5))


@njit(cache=True, nogil=True)
def chebyshev_nodes():
    """Nodes on (-1, 1) and the matrix that turns values at the nodes into coefficients."""
    nodes = np.empty(NODES)
    matrix = np.empty((NODES, NODES))
    for i in range(NODES):
        angle = math.pi * (i + 0.5) / NODES
        nodes[i] = math.cos(angle)
        for k in range(NODES):
            matrix[k, i] = (1.0 if k == 0 else 2.0) / NODES * math.cos(k * angle)
    return nodes, matrix


@njit(cache=True, nogil=True)
def evaluate(curve, w):
    """Value of a curve at w = ln v."""
    domain = curve.domain
    position = (w - domain[LOW]) / domain[WIDTH]
    panels = int(domain[PANELS])
    panel = min(max(int(position), 0), panels - 1)
    place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
    c = curve.coefficients[panel]
    twice = 2.0 * place
    b1 = 0.0
    b2 = 0.0
    for k in range(NODES - 1, 0, -1):
        b1, b2 = c[k] + twice * b1 - b2, b1
    value = c[0] + place * b1 - b2
    if position < 0.0:
        value += domain[SLOPE_BELOW] * position * domain[WIDTH]
    elif position > panels:
        value += domain[SLOPE_ABOVE] * (position - panels) * domain[WIDTH]
    return value


@njit(cache=True, nogil=True)
def node(nodes, domain, i):
    """ln v at node i of all panels."""
    return domain[LOW] + domain[WIDTH] * (i // NODES + 0.5 * (nodes[i % NODES] + 1.0))


@njit(cache=True, nogil=True)
def fit_panels(matrix, values, domain, coefficients):
    """Fill in the coefficients, and the slopes of the domain, from the values at all nodes."""
    panels = int(domain[PANELS])
    for panel in range(panels):
        for k in range(NODES):
            coefficients[panel, k] = np.dot(matrix[k], values[panel * NODES : (panel + 1) * NODES])
    low = 0.0
    high = 0.0
    sign = 1.0
    for k in range(1, NODES):
        # T_k'(-1) = (-1)^(k+1) k^2, T_k'(1) = k^2
        low += sign * k * k * coefficients[0, k]
        high += k * k * coefficients[panels - 1, k]
        sign = -sign
    domain[SLOPE_BELOW] = 2.0 * low / domain[WIDTH]
    domain[SLOPE_ABOVE] = 2.0 * high / domain[WIDTH]


@njit(cache=True, nogil=True)
def log_logistic(y):
    """Ln of 1 / (1 + exp(-y))."""
    if y > 0.0:
        return -math.log1p(math.exp(-y))
    return y - math.log1p(math.exp(y))


@njit(cache=True, nogil=True)
def evaluate_integrand(f, g, w, y):
    """ln of f(v t) G(v (1 - t)) v t (1 - t) at t = logistic(y), v = e^w; and ln t, ln (1 - t)."""
    if y > 0.0:
        log_t = -math.log1p(math.exp(-y))
        log_rest = log_t - y
    else:
        log_rest = -math.log1p(math.exp(y))
        log_t = log_rest + y
    value = evaluate(f, w + log_t) + evaluate(g, w + log_rest)
    return value + w + log_t + log_rest, log_t, log_rest


@njit(cache=True, nogil=True)
def _uphill(f, g, w, y, step):
    """Climb the integrand, which has one peak, by growing steps; then halve the step at the peak.

    Returns y near the peak, and a step over which the integrand falls by less than one nat.
    """
    here = evaluate_integrand(f, g, w, y)[0]
    direction = 1.0
    turns = 0
    while turns < 200 and step > 1e-12:
        turns += 1
        ahead = evaluate_integrand(f, g, w, y + direction * step)[0]
        if ahead > here:
            y += direction * step
            gain = ahead - here
            here = ahead
            if gain > 2.0:
                step *= 2.0
            continue
        behind = evaluate_integrand(f, g, w, y - direction * step)[0]
        if behind > here:
            y -= direction * step
            here = behind
            direction = -direction
            continue
        if 2.0 * here - ahead - behind < 1.0:
            break
        step *= 0.5
    return y, step


@njit(cache=True, nogil=True)
def _peak(f, g, w, y, step):
    """Place and width of the peak of the integrand, roughly, from a guess."""
    for _ in range(6):
        here = evaluate_integrand(f, g, w, y)[0]
        right = evaluate_integrand(f, g, w, y + step)[0]
        left = evaluate_integrand(f, g, w, y - step)[0]
        curvature = (2.0 * here - right - left) / (step * step)
        if curvature > 0.0:
            width = 1.0 / math.sqrt(curvature)
            move = (right - left) / (2.0 * step) / curvature
            if abs(move) < 0.3 * width and step <= 0.6 * width:
                return y, width
            if abs(move) < 2.0 * width and step <= 1.5 * width:
                y += move
                step = min(0.3, 0.5 * width)
                continue
        y, step = _uphill(f, g, w, y, step)
    return y, step


@njit(cache=True, nogil=True)
def tail_fall(f, g, w, y, direction):
    """How fast the integrand falls per unit of y from here to the end; 0 if it is no power yet."""
    if direction * y < _PURE_LOGIT:
        return 0.0
    domain = g.domain if direction > 0 else f.domain
    if w - abs(y) > domain[LOW]:
        return 0.0
    return max(domain[SLOPE_BELOW] + 1.0, 0.0)


@njit(cache=True, nogil=True)
def march(f, g, w, y, width, buffer, finest=1.0):
    """The trapezoidal rule for G_j(e^w), from the peak to both sides until negligible.

    Starts from a guess of the peak's place y and width. Returns the buffer (it may have grown), the
    number of its points, the step, the peak's place and width, and the largest ln value. A side
    that is not yet negligible where its curve has become a straight line is summed to its end.
    """
    y, width = _peak(f, g, w, y, 0.5 * width)
    step = min(_MAX_STEP, _MAX_STEP_IN_WIDTHS * width, finest)
    used = 0
    top = -math.inf
    for direction in (1, -1):
        k = 0 if direction > 0 else 1
        while k < _MAX_POINTS_PER_SIDE:
            point = y + direction * k * step
            value, log_t, log_rest = evaluate_integrand(f, g, w, point)
            odd = float(k % 2)
            fall = tail_fall(f, g, w, point, direction)
            if fall > 0.0:
                beyond = -math.expm1(-fall * step)
                value -= math.log(beyond)
                nearer = math.log(beyond / -math.expm1(-(fall + 1.0) * step))
                if direction > 0:
                    log_rest += nearer
                else:
                    log_t += nearer
                next_one = math.exp(-fall * step)
                odd = (odd + (1.0 - odd) * next_one) / (1.0 + next_one)
            if used == buffer.shape[0]:
                grown = np.empty((2 * used, 5))
                grown[:used] = buffer
                buffer = grown
            buffer[used, Y] = point
            buffer[used, LOG_VALUE] = value
            buffer[used, LOG_T] = log_t
            buffer[used, LOG_REST] = log_rest
            buffer[used, ODD] = odd
            used += 1
            top = max(top, value)
            if fall > 0.0 or value < top + _NEGLIGIBLE:
                break
            k += 1
    return buffer, used, step, y, width, top

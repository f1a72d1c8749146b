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

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry, part

NODES = 18  # Chebyshev nodes on a panel, about one unit of ln v wide (see `domains`)
_MAX_STEP = 0.27  # of the trapezoidal rule in logit(a / v): error exp(-pi^2 / step) = 1e-16
_MAX_STEP_IN_WIDTHS = 0.5  # the same relative to the width of a peak
_NEGLIGIBLE = -50.0  # logarithm, relative to the peak
_MAX_POINTS_PER_SIDE = 1_000_000
_PURE_LOGIT = 40.0  # beyond it (to either side) ln t or ln (1 - t) is the logit itself
GUESSED_WIDTH = 0.3  # of a peak, before the first one is known
# Columns of a domain and of a buffer.
LOW, WIDTH, PANELS, SLOPE_BELOW, SLOPE_ABOVE = range(5)
Y, LOG_VALUE, LOG_T, LOG_REST, ODD = range(5)


def _interpolation() -> tuple[Floats, Floats]:
    """Nodes on (-1, 1) and the matrix that turns values at the nodes into coefficients."""
    angles = [math.pi * (i + 0.5) / NODES for i in range(NODES)]
    nodes = np.array([math.cos(angle) for angle in angles])
    rows = [
        [(1.0 if k == 0 else 2.0) / NODES * math.cos(k * a) for a in angles] for k in range(NODES)
    ]
    return nodes, np.array(rows)


PLACES, MATRIX = _interpolation()


def new_buffer() -> Floats:
    """Room for the points of most rules; `march` lets it grow."""
    return np.empty((256, 5))


@part
def within(value, low, high):
    """The value, or the bound that it is beyond."""
    if value < low:
        return low
    return value if value < high else high


@part
def evaluate(curve, domain, w):
    """Value of a curve at w = ln v."""
    position = (w - domain[LOW]) / domain[WIDTH]
    panels = int(domain[PANELS])
    panel = within(int(position), 0, panels - 1)
    place = within(2.0 * (position - panel) - 1.0, -1.0, 1.0)
    c = curve[panel]
    # Even and odd terms by themselves, by the recurrence of T_k(2 place^2 - 1): neither waits for
    # the other. In each, what is known first comes first.
    twice = 4.0 * place * place - 2.0
    even, even_before, odd, odd_before = 0.0, 0.0, 0.0, 0.0
    for k in range(NODES - 2, 0, -2):
        odd, odd_before = (c[k + 1] - odd_before) + twice * odd, odd
        even, even_before = (c[k] - even_before) + twice * even, even
    odd, odd_before = (c[1] - odd_before) + twice * odd, odd
    value = c[0] + 0.5 * twice * even - even_before + place * (odd - odd_before)
    if position < 0.0:
        value += domain[SLOPE_BELOW] * position * domain[WIDTH]
    elif position > panels:
        value += domain[SLOPE_ABOVE] * (position - panels) * domain[WIDTH]
    return value


@part
def node(nodes, domain, i):
    """ln v at node i of all panels."""
    return domain[LOW] + domain[WIDTH] * (i // NODES + 0.5 * (nodes[i % NODES] + 1.0))


@part
def fit_panels(matrix, values, domain, coefficients):
    """Fill in the coefficients, and the slopes of the domain, from the values at all nodes."""
    panels = int(domain[PANELS])
    for panel in range(panels):
        for k in range(NODES):
            value = 0.0
            for i in range(NODES):
                value += matrix[k, i] * values[panel * NODES + i]
            coefficients[panel, k] = value
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


@part
def log_logistic(y):
    """Ln of 1 / (1 + exp(-y))."""
    if y > 0.0:
        return -math.log1p(math.exp(-y))
    return y - math.log1p(math.exp(y))


@part
def evaluate_integrand(pair, w, y):
    """ln of f(v t) G(v (1 - t)) v t (1 - t) at t = logistic(y), v = e^w; and ln t, ln (1 - t).

    `pair` has the curve of f and its domain, then those of G.
    """
    f, f_domain, g, g_domain = pair
    if y > 0.0:
        log_t = -math.log1p(math.exp(-y))
        log_rest = log_t - y
    else:
        log_rest = -math.log1p(math.exp(y))
        log_t = log_rest + y
    value = evaluate(f, f_domain, w + log_t) + evaluate(g, g_domain, w + log_rest)
    return value + w + log_t + log_rest, log_t, log_rest


@part
def _uphill(pair, w, y, step):
    """Climb the integrand, which has one peak, by growing steps; then halve the step at the peak.

    Returns y near the peak, and a step over which the integrand falls by less than one nat.
    """
    here = evaluate_integrand(pair, w, y)[0]
    direction = 1.0
    turns = 0
    while turns < 200 and step > 1e-12:
        turns += 1
        ahead = evaluate_integrand(pair, w, y + direction * step)[0]
        if ahead > here:
            y += direction * step
            gain = ahead - here
            here = ahead
            if gain > 2.0:
                step *= 2.0
            continue
        behind = evaluate_integrand(pair, w, y - direction * step)[0]
        if behind > here:
            y -= direction * step
            here = behind
            direction = -direction
            continue
        if 2.0 * here - ahead - behind < 1.0:
            break
        step *= 0.5
    return y, step


@part
def _peak(pair, w, y, step):
    """Place and width of the peak of the integrand, roughly, from a guess."""
    for _ in range(6):
        here = evaluate_integrand(pair, w, y)[0]
        right = evaluate_integrand(pair, w, y + step)[0]
        left = evaluate_integrand(pair, w, y - step)[0]
        curvature = (2.0 * here - right - left) / (step * step)
        if curvature > 0.0:
            width = 1.0 / math.sqrt(curvature)
            move = (right - left) / (2.0 * step) / curvature
            if abs(move) < 0.3 * width and step <= 0.6 * width:
                return y, width
            if abs(move) < 2.0 * width and step <= 1.5 * width:
                y += move
                step = 0.5 * width if width < 0.6 else 0.3
                continue
        y, step = _uphill(pair, w, y, step)
    return y, step


@part
def tail_fall(pair, w, y, direction):
    """How fast the integrand falls per unit of y from here to the end; 0 if it is no power yet."""
    if direction * y < _PURE_LOGIT:
        return 0.0
    domain = pair[3] if direction > 0 else pair[1]
    if w - abs(y) > domain[LOW]:
        return 0.0
    fall = domain[SLOPE_BELOW] + 1.0
    return fall if fall > 0.0 else 0.0


@part
def march(pair, w, y, width, buffer, finest):
    """The trapezoidal rule for G_j(e^w), from the peak to both sides until negligible.

    Starts from a guess of the peak's place y and width. Returns the buffer (it may have grown), the
    number of its points, the step, the peak's place and width, and the largest ln value. A side
    that is not yet negligible where its curve has become a straight line is summed to its end. No
    step is longer than `finest`.
    """
    y, width = _peak(pair, w, y, 0.5 * width)
    step = within(_MAX_STEP_IN_WIDTHS * width, 0.0, _MAX_STEP)
    step = within(finest, 0.0, step)
    used = 0
    top = -math.inf
    for side in range(2):
        direction = 1 - 2 * side
        k = side
        while k < _MAX_POINTS_PER_SIDE:
            point = y + direction * k * step
            value, log_t, log_rest = evaluate_integrand(pair, w, point)
            odd = float(k % 2)
            fall = tail_fall(pair, w, point, direction)
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
                for i in range(used):
                    for column in range(5):
                        grown[i, column] = buffer[i, column]
                buffer = grown
            buffer[used, Y] = point
            buffer[used, LOG_VALUE] = value
            buffer[used, LOG_T] = log_t
            buffer[used, LOG_REST] = log_rest
            buffer[used, ODD] = odd
            used += 1
            if value > top:
                top = value
            if fall > 0.0 or value < top + _NEGLIGIBLE:
                break
            k += 1
    return buffer, used, step, y, width, top


@entry
def march_along(f, f_domain, g, g_domain, w, y, width, buffer, finest):
    """`march` for Python, with the pair taken apart: the buffer and the number of its points."""
    buffer, used, _, _, _, _ = march((f, f_domain, g, g_domain), w, y, width, buffer, finest)
    return buffer, used

"""Functions of ln v as Chebyshev panels, and the trapezoidal rule over a product of two of them.

The working parts of `simplex`: there ln f and ln G are such functions, and each convolution
integral is one call of `march`.
"""

import math

import numpy as np
from numba import njit

NODES = 18  # Chebyshev nodes on a panel, which is at most one unit of ln v wide
_STEP = 0.27  # of the trapezoidal rule in logit(a / v): error exp(-pi^2 / step) = 1e-16
_STEP_IN_DEVIATIONS = 0.5  # the same relative to the width of a peak
_NEGLIGIBLE = -50.0  # logarithm, relative to the peak


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
def evaluate(coefficients, domain, w):
    """Value at w of a function given by Chebyshev panels.

    `domain` is (lowest w, panel width, number of panels, slope below, slope above): outside its
    panels the function goes on as a straight line, which below is its true behaviour once v is
    smaller than every scale of the table.
    """
    position = (w - domain[0]) / domain[1]
    panels = int(domain[2])
    panel = min(max(int(position), 0), panels - 1)
    place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
    c = coefficients[panel]
    twice = 2.0 * place
    b1 = 0.0
    b2 = 0.0
    for k in range(NODES - 1, 0, -1):
        b1, b2 = c[k] + twice * b1 - b2, b1
    value = c[0] + place * b1 - b2
    if position < 0.0:
        value += domain[3] * position * domain[1]
    elif position > panels:
        value += domain[4] * (position - panels) * domain[1]
    return value


@njit(cache=True, nogil=True)
def node(nodes, domain, i):
    """ln v at node i of all panels."""
    return domain[0] + domain[1] * (i // NODES + 0.5 * (nodes[i % NODES] + 1.0))


@njit(cache=True, nogil=True)
def fit_panels(matrix, values, domain, out):
    """Chebyshev coefficients from values at all nodes.

    And the slopes at both edges into `domain`.
    """
    panels = int(domain[2])
    for panel in range(panels):
        for k in range(NODES):
            out[panel, k] = np.dot(matrix[k], values[panel * NODES : (panel + 1) * NODES])
    low = 0.0
    high = 0.0
    sign = 1.0
    for k in range(1, NODES):
        # T_k'(-1) = (-1)^(k+1) k^2, T_k'(1) = k^2
        low += sign * k * k * out[0, k]
        high += k * k * out[panels - 1, k]
        sign = -sign
    domain[3] = 2.0 * low / domain[1]
    domain[4] = 2.0 * high / domain[1]


@njit(cache=True, nogil=True)
def evaluate_integrand(f, f_domain, g, g_domain, w, y):
    """ln of f(v t) G(v (1 - t)) v t (1 - t) at t = logistic(y), v = e^w; and ln t, ln (1 - t)."""
    if y > 0.0:
        log_t = -math.log1p(math.exp(-y))
        log_u = log_t - y
    else:
        log_u = -math.log1p(math.exp(y))
        log_t = log_u + y
    value = evaluate(f, f_domain, w + log_t) + evaluate(g, g_domain, w + log_u)
    return value + w + log_t + log_u, log_t, log_u


@njit(cache=True, nogil=True)
def _uphill(f, f_domain, g, g_domain, w, y, step):
    """Climb the integrand, which has one peak, with growing steps.

    Then halve the step until the peak is held closely.
    """
    here = evaluate_integrand(f, f_domain, g, g_domain, w, y)[0]
    direction = 1.0
    turns = 0
    while turns < 200 and step > 1e-12:
        turns += 1
        ahead = evaluate_integrand(f, f_domain, g, g_domain, w, y + direction * step)[0]
        if ahead > here:
            y += direction * step
            gain = ahead - here
            here = ahead
            if gain > 2.0:
                step *= 2.0
            continue
        behind = evaluate_integrand(f, f_domain, g, g_domain, w, y - direction * step)[0]
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
def _peak(f, f_domain, g, g_domain, w, y, step):
    """Place and width of the peak of the integrand, from a guess.

    The trapezoidal rule needs them only roughly.
    """
    for _ in range(6):
        here = evaluate_integrand(f, f_domain, g, g_domain, w, y)[0]
        right = evaluate_integrand(f, f_domain, g, g_domain, w, y + step)[0]
        left = evaluate_integrand(f, f_domain, g, g_domain, w, y - step)[0]
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
        y, step = _uphill(f, f_domain, g, g_domain, w, y, step)
    return y, step


@njit(cache=True, nogil=True)
def march(f, f_domain, g, g_domain, w, y, width, buffer, finest=1.0):
    """The trapezoidal rule for G_j(e^w), from the peak to both sides until negligible.

    Writes rows (y, ln value, ln t, ln (1 - t)) to `buffer` and returns it (it may have grown), the
    number of rows, the step, the peak's place and width and the largest value. Heavy tails simply
    take more steps.
    """
    y, width = _peak(f, f_domain, g, g_domain, w, y, 0.5 * width)
    step = min(_STEP, _STEP_IN_DEVIATIONS * width, finest)
    used = 0
    top = -math.inf
    for direction in (1, -1):
        k = 0 if direction > 0 else 1
        while k < 1_000_000:
            point = y + direction * k * step
            value, log_t, log_u = evaluate_integrand(f, f_domain, g, g_domain, w, point)
            if used == buffer.shape[0]:
                grown = np.empty((2 * used, 5))
                grown[:used] = buffer
                buffer = grown
            buffer[used, 0] = point
            buffer[used, 1] = value
            buffer[used, 2] = log_t
            buffer[used, 3] = log_u
            buffer[used, 4] = k % 2
            used += 1
            top = max(top, value)
            if value < top + _NEGLIGIBLE:
                break
            k += 1
    return buffer, used, step, y, width, top

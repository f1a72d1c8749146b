"""The posterior of alpha by positive quadrature on the simplex (docs/exact.md).

p(alpha | D) is proportional to prod f_x(alpha_x) on the simplex. Take the states one after the
other: with S_j = alpha_1 + ... + alpha_j,

    G_1 = f_1,     G_j(v) = integral over a in (0, v) of f_j(a) G_{j-1}(v - a),     Z = G_R(1).

Every integrand is positive and, in y = logit(a / v), analytic in a strip around the real line, so
the trapezoidal rule converges geometrically. ln f and ln G are analytic in w = ln v for |Im w| < pi
(the singularities sit on the negative axis), so a Chebyshev polynomial on each unit of w carries
them to the last digit, however sharp the peak of f and G themselves.

Given S_j the earlier sums do not depend on later states: S_R = 1, S_{R-1}, ..., S_1 is a Markov
chain. The same pass that computes G_j therefore gives, as a matrix on the nodes, the transition S_j
-> S_{j-1}; mean and covariance of alpha are products of these matrices, and exact draws follow the
chain.

The kernels take `states`, a :class:`~colonnade.kernels.states.States`, the strength s, and where
the mass of alpha is: a and u, parameters and rates of the variational posterior. Curves, their
domains and the buffer of a rule are laid out as `panels` says.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from colonnade.kernels.domains import domains
from colonnade.kernels.panels import (
    GUESSED_WIDTH,
    LOG_REST,
    LOG_T,
    LOG_VALUE,
    LOW,
    NODES,
    ODD,
    PANELS,
    SLOPE_BELOW,
    WIDTH,
    Curve,
    chebyshev_nodes,
    curve,
    fit_panels,
    march,
    new_buffer,
    node,
)
from colonnade.kernels.special import expected_tables
from colonnade.kernels.tilt import log_weight


class Panels(NamedTuple):
    """ln f_x and ln G_j of all states, stacked; and `share`, an approximate mean of alpha."""

    f: Any
    g: Any
    share: Any


class Transition(NamedTuple):
    """From S_j at some places to the nodes of S_{j-1}, and what is placed on the way, a_j - share.

    `kept` is the transition ``[place, node]``, `moved` the same weighted by a_j - share; `once` and
    `twice` are the conditional moments of a_j - share ``[place]``.
    """

    kept: Any
    moved: Any
    once: Any
    twice: Any


@njit(cache=True, nogil=True)
def fit_state(states, x, s, nodes, matrix, f):
    """Fit the curve ln f_x."""
    lift = states.alpha0[x] - 1.0
    values = np.empty(int(f.domain[PANELS]) * NODES)
    for i in range(values.size):
        w = node(nodes, f.domain, i)
        values[i] = lift * w + log_weight(states, x, s * math.exp(w))
    fit_panels(matrix, values, f.domain, f.coefficients)


@njit(cache=True, nogil=True)
def _level(f, g, places, share, guess, matrix, moments):
    """Values of ln G_j at the places w, the transition from there, and the error of the rule.

    Without `moments` the transition is left empty.
    """
    size = places.size
    panels = int(g.domain[PANELS])
    columns = panels * NODES if moments else 0
    values = np.empty(size)
    kept = np.zeros((size, columns))
    moved = np.zeros((size, columns))
    once = np.zeros(size)
    twice = np.zeros(size)
    row = np.empty((2, panels, NODES))
    buffer = new_buffer()
    width = GUESSED_WIDTH
    error = 0.0
    for i in range(size):
        w = places[i]
        buffer, used, step, guess, width, top = march(f, g, w, guess, width, buffer)
        total = 0.0
        even = 0.0
        for p in range(used):
            weight = math.exp(buffer[p, LOG_VALUE] - top)
            buffer[p, LOG_VALUE] = weight
            total += weight
            even += weight * (1.0 - buffer[p, ODD])
        # With every second point the error is about the root of what it is with all of them.
        error = max(error, (2.0 * even / total - 1.0) ** 2)
        values[i] = top + math.log(total * step)
        if not moments:
            continue
        row[:] = 0.0
        for p in range(used):
            weight = buffer[p, LOG_VALUE] / total
            offset = math.exp(w + buffer[p, LOG_T]) - share
            here = weight * offset
            once[i] += here
            twice[i] += here * offset
            position = (w + buffer[p, LOG_REST] - g.domain[LOW]) / g.domain[WIDTH]
            panel = min(max(int(position), 0), panels - 1)
            place = min(max(2.0 * (position - panel) - 1.0, -1.0), 1.0)
            t0 = 1.0
            t1 = place
            row[0, panel, 0] += weight
            row[1, panel, 0] += here
            for k in range(1, NODES):
                row[0, panel, k] += weight * t1
                row[1, panel, k] += here * t1
                t0, t1 = t1, 2.0 * place * t1 - t0
        for panel in range(panels):
            if row[0, panel, 0] > 0.0:
                for k in range(NODES):
                    stay = row[0, panel, k]
                    shift = row[1, panel, k]
                    for n in range(NODES):
                        kept[i, panel * NODES + n] += stay * matrix[k, n]
                        moved[i, panel * NODES + n] += shift * matrix[k, n]
    return values, Transition(kept, moved, once, twice), error


@njit(cache=True, nogil=True)
def _levels(states, s, a, u, moments):
    """The curves ln f_x and ln G_j, the transition to every level, ln Z, and the error of the rule.

    Moments are centred at the share, to lose no digits.
    """
    share, f_domain, g_domain = domains(states, s, a, u)
    start, counts, times, alpha0 = states
    nodes, matrix = chebyshev_nodes()
    size = share.size
    power = np.empty(size)
    f = Curve(np.zeros((size, int(f_domain[:, PANELS].max()), NODES)), f_domain)
    g = Curve(np.zeros((size, int(g_domain[:, PANELS].max()), NODES)), g_domain)
    for x in range(size):
        fit_state(states, x, s, nodes, matrix, curve(f, x))
        # The slope below is known; differentiating the panels would lose six digits of it.
        slope = alpha0[x] - 1.0
        power[x] = alpha0[x]
        for i in range(start[x], start[x + 1]):
            slope += times[i] * expected_tables(s * math.exp(f_domain[x, LOW]), counts[i])
            power[x] += times[i]
        f_domain[x, SLOPE_BELOW] = slope
    panels = int(f_domain[0, PANELS])
    g.coefficients[0, :panels] = f.coefficients[0, :panels]
    g_domain[0] = f_domain[0]
    # The first state needs no transition; an empty one keeps the places of the others.
    transitions = [Transition(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1), np.zeros(1))]
    error = 0.0
    log_z = 0.0
    before = share[0]
    for j in range(1, size):
        last = j == size - 1
        places = np.zeros(1 if last else int(g_domain[j, PANELS]) * NODES)
        if not last:
            for i in range(places.size):
                places[i] = node(nodes, g_domain[j], i)
        guess = math.log(share[j] / before)
        values, transition, step_error = _level(
            curve(f, j), curve(g, j - 1), places, share[j], guess, matrix, moments
        )
        transitions.append(transition)
        before += share[j]
        error = max(error, step_error)
        if last:
            log_z = values[0]
        else:
            fit_panels(matrix, values, g_domain[j], g.coefficients[j])
            limit = power[: j + 1].sum() - 1.0
            if abs(g_domain[j, SLOPE_BELOW] - limit) < 1e-6 * (1.0 + abs(limit)):
                g_domain[j, SLOPE_BELOW] = limit
    return Panels(f, g, share), transitions, log_z, error


@njit(cache=True, nogil=True)
def _moments(g, transitions, share):
    """Mean and covariance of alpha, and the error of interpolating ln G where its mass lies."""
    nodes, _ = chebyshev_nodes()
    size = share.size
    start = np.empty(int(g.domain[0, PANELS]) * NODES)
    for i in range(start.size):
        start[i] = math.exp(node(nodes, g.domain[0], i)) - share[0]
    # law[size - 1 - j] integrates a function of S_j, given on the nodes, against its posterior.
    law = [np.ones(1)]
    for j in range(size - 1, 0, -1):
        law.append(np.dot(law[-1], transitions[j].kept))
    offset = np.empty(size)
    covariance = np.zeros((size, size))
    earlier = [start]
    offset[0] = np.dot(law[size - 1], start)
    covariance[0, 0] = np.dot(law[size - 1], start * start)
    error = 0.0
    for j in range(size):
        here = law[size - 1 - j]
        if j < size - 1:
            for panel in range(int(g.domain[j, PANELS])):
                mass = abs(here[panel * NODES : (panel + 1) * NODES].sum())
                tail = g.coefficients[j, panel, NODES - 2 :]
                error += mass * (abs(tail[1]) + abs(tail[0]))
        if j == 0:
            continue
        offset[j] = np.dot(here, transitions[j].once)
        covariance[j, j] = np.dot(here, transitions[j].twice)
        weights = np.dot(here, transitions[j].moved)
        for x in range(j):
            covariance[x, j] = np.dot(weights, earlier[x])
            covariance[j, x] = covariance[x, j]
        if j < size - 1:
            for x in range(j):
                earlier[x] = np.dot(transitions[j].kept, earlier[x])
            earlier.append(transitions[j].once)
    for x in range(size):
        for z in range(size):
            covariance[x, z] -= offset[x] * offset[z]
    return share + offset, covariance, error


@njit(cache=True, nogil=True)
def simplex_solve(states, s, a, u):
    """Compute ln Z, mean and covariance of alpha, and the errors of the rule and of the panels."""
    panels, transitions, log_z, step_error = _levels(states, s, a, u, True)
    mean, covariance, panel_error = _moments(panels.g, transitions, panels.share)
    return log_z, mean, covariance, step_error, panel_error


@njit(cache=True, nogil=True)
def simplex_panels(states, s, a, u):
    """Compute ln Z, and the panels that the marginals and the draws need."""
    panels, _, log_z, _ = _levels(states, s, a, u, False)
    return log_z, panels

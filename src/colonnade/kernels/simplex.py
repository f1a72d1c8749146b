"""The posterior of alpha by positive quadrature on the simplex (docs/exact.md).

p(alpha | D) is proportional to prod f_x(alpha_x) on the simplex. Take the states one after the
other: with S_j = alpha_1 + ... + alpha_j,

    G_1 = f_1,     G_j(v) = integral over a in (0, v) of f_j(a) G_{j-1}(v - a),     Z = G_R(1).

Every integrand is positive and, in y = logit(a / v), analytic in a strip around the real line, so
the trapezoidal rule converges geometrically. ln f and ln G are analytic in w = ln v for |Im w| < pi
(the singularities sit on the negative axis), so a Chebyshev polynomial on each unit of w or so
carries them to the last digit, however sharp the peak of f and G themselves.

Given S_j the earlier sums do not depend on later states: S_R = 1, S_{R-1}, ..., S_1 is a Markov
chain. The same pass that computes G_j therefore gives, as a matrix on the nodes, the transition S_j
-> S_{j-1}; mean and covariance of alpha are products of these matrices, and exact draws follow the
chain.

The functions for Python take `states`, a :class:`~colonnade.kernels.states.States`, the strength s,
and where the mass of alpha is: a and u, parameters and rates of the variational posterior. Curves,
their domains and the buffer of a rule are laid out as `panels` says.
"""

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.compiled import entry
from colonnade.kernels.domains import domains
from colonnade.kernels.panels import (
    GUESSED_WIDTH,
    LOG_REST,
    LOG_T,
    LOG_VALUE,
    LOW,
    MATRIX,
    NODES,
    ODD,
    PANELS,
    PLACES,
    SLOPE_BELOW,
    WIDTH,
    fit_panels,
    march,
    new_buffer,
    node,
    within,
)
from colonnade.kernels.special import expected_tables
from colonnade.kernels.states import States
from colonnade.kernels.tilt import log_weight


class Panels(NamedTuple):
    """ln f_x and ln G_j of all states, stacked; and `share`, an approximate mean of alpha.

    Curves are ``[state, panel, NODES]``, and domains ``[state, 5]``.
    """

    f: Floats
    f_domain: Floats
    g: Floats
    g_domain: Floats
    share: Floats


class Transition(NamedTuple):
    """From S_j at some places to S_{j-1}, and what is placed on the way, a_j - share.

    `kept` is the transition ``[place, coefficient]``: it integrates a function of S_{j-1}, given by
    the coefficients of its polynomials (those of `MATRIX`, panel by panel). `moved` is the same
    weighted by a_j - share; `once` and `twice` are the conditional moments of a_j - share
    ``[place]``.
    """

    kept: Floats
    moved: Floats
    once: Floats
    twice: Floats


@entry
def fit_state(start, counts, times, alpha0, x, s, nodes, matrix, values, domain, curve):
    """Fit the curve ln f_x; `values` is room for it at all nodes."""
    lift = alpha0[x] - 1.0
    for i in range(values.size):
        w = node(nodes, domain, i)
        values[i] = lift * w + log_weight(start, counts, times, x, s * math.exp(w))
    fit_panels(matrix, values, domain, curve)
    # The slope below is known; differentiating the panels would lose six digits of it.
    slope = lift
    for i in range(start[x], start[x + 1]):
        slope += times[i] * expected_tables(s * math.exp(domain[LOW]), counts[i])
    domain[SLOPE_BELOW] = slope


@entry
def level(f, f_domain, g, g_domain, places, share, guess, buffer, values, kept, moments):
    """Fill in ln G_j at the places w, and the transition from there; return the error of the rule.

    kept[0] and kept[1] are `kept` and `moved` of the transition, and `moments` its other two. An
    empty transition is not wanted.
    """
    pair = f, f_domain, g, g_domain
    panels = int(g_domain[PANELS])
    wanted = kept.shape[1] > 0
    width = GUESSED_WIDTH
    error = 0.0
    for i in range(places.size):
        w = places[i]
        buffer, used, step, guess, width, top = march(pair, w, guess, width, buffer, 1.0)
        total = 0.0
        even = 0.0
        for p in range(used):
            weight = math.exp(buffer[p, LOG_VALUE] - top)
            buffer[p, LOG_VALUE] = weight
            total += weight
            even += weight * (1.0 - buffer[p, ODD])
        # With every second point the error is about the root of what it is with all of them.
        here = (2.0 * even / total - 1.0) ** 2
        if here > error:
            error = here
        values[i] = top + math.log(total * step)
        if not wanted:
            continue
        for p in range(used):
            weight = buffer[p, LOG_VALUE] / total
            offset = math.exp(w + buffer[p, LOG_T]) - share
            here = weight * offset
            moments[0, i] += here
            moments[1, i] += here * offset
            position = (w + buffer[p, LOG_REST] - g_domain[LOW]) / g_domain[WIDTH]
            panel = within(int(position), 0, panels - 1)
            place = within(2.0 * (position - panel) - 1.0, -1.0, 1.0)
            first = panel * NODES
            # T_k(place), the even ones and the odd ones by themselves: neither wait for the other.
            twice = 4.0 * place * place - 2.0
            even, even_before, odd, odd_before = 1.0, 0.5 * twice, place, place
            for k in range(first, first + NODES, 2):
                kept[0, i, k] += weight * even
                kept[1, i, k] += here * even
                kept[0, i, k + 1] += weight * odd
                kept[1, i, k + 1] += here * odd
                even, even_before = twice * even - even_before, even
                odd, odd_before = twice * odd - odd_before, odd
    return error


@entry
def fit_level(values, matrix, domain, curve):
    """Fit the curve ln G_j to its values at all nodes."""
    fit_panels(matrix, values, domain, curve)


def _levels(
    states: States, s: float, a: Floats, u: Floats, moments: bool
) -> tuple[Panels, list[Transition], float, float]:
    """The curves ln f_x and ln G_j, the transition to every level, ln Z, and the error of the rule.

    Moments are centred at the share, to lose no digits.
    """
    start, counts, times, alpha0 = states
    share, f_domain, g_domain = domains(states, s, a, u)
    size = share.size
    f, g = (np.zeros((size, int(each[:, PANELS].max()), NODES)) for each in (f_domain, g_domain))
    buffer = new_buffer()
    for x in range(size):
        values = np.empty(int(f_domain[x, PANELS]) * NODES)
        fit_state(start, counts, times, alpha0, x, s, PLACES, MATRIX, values, f_domain[x], f[x])
    power = alpha0 + np.array([times[start[x] : start[x + 1]].sum() for x in range(size)])
    panels = int(f_domain[0, PANELS])
    g[0, :panels], g_domain[0] = f[0, :panels], f_domain[0]
    # The first state needs no transition; an empty one keeps the places of the others.
    transitions = [Transition(*np.zeros((2, 1, 1)), *np.zeros((2, 1)))]
    error, before = 0.0, share[0]
    for j in range(1, size):
        last = j == size - 1
        places = np.zeros(1) if last else all_nodes(g_domain[j])
        columns = int(g_domain[j - 1, PANELS]) * NODES
        kept = np.zeros((2, places.size, columns) if moments else (2, 0, 0))
        once_twice, values = np.zeros((2, places.size)), np.empty(places.size)
        guess = math.log(share[j] / before)
        step_error = level(
            *(f[j], f_domain[j], g[j - 1], g_domain[j - 1], places, float(share[j]), guess),
            *(buffer, values, kept, once_twice),
        )
        transitions.append(Transition(*kept, *once_twice))
        before += share[j]
        error = max(error, step_error)
        if not last:
            fit_level(values, MATRIX, g_domain[j], g[j])
            limit = power[: j + 1].sum() - 1.0
            if abs(g_domain[j, SLOPE_BELOW] - limit) < 1e-6 * (1.0 + abs(limit)):
                g_domain[j, SLOPE_BELOW] = limit
    return Panels(f, f_domain, g, g_domain, share), transitions, float(values[0]), error


def all_nodes(domain: Floats) -> Floats:
    """ln v at all nodes of all panels of a domain."""
    panels = np.arange(int(domain[PANELS]))
    return (domain[LOW] + domain[WIDTH] * (panels[:, None] + 0.5 * (PLACES + 1.0))).reshape(-1)


def _on_nodes(integral: Floats) -> Floats:
    """Rewrite an integral of coefficients as one of values at all nodes of all panels."""
    return (integral.reshape(-1, NODES) @ MATRIX).reshape(-1)


def _coefficients(values: Floats) -> Floats:
    """Coefficients ``[coefficient, .]`` of the polynomials with these values at all nodes."""
    return (MATRIX @ values.reshape(-1, NODES, values.shape[1])).reshape(values.shape)


def _moments(panels: Panels, transitions: list[Transition]) -> tuple[Floats, Floats, float]:
    """Mean and covariance of alpha, and the error of interpolating ln G where its mass lies."""
    size = panels.share.size
    start = np.exp(all_nodes(panels.g_domain[0])) - panels.share[0]
    # law[size - 1 - j] integrates a function of S_j, given on the nodes, against its posterior.
    law = [np.ones(1)]
    for j in range(size - 1, 0, -1):
        law.append(_on_nodes(law[-1] @ transitions[j].kept))
    offset, covariance = np.empty(size), np.zeros((size, size))
    offset[0] = law[-1] @ start
    covariance[0, 0] = law[-1] @ (start * start)
    # What was placed in each earlier state, as a function of S_j.
    earlier = start[:, None]
    error = 0.0
    for j in range(size):
        here = law[size - 1 - j]
        if j < size - 1:
            mass = np.abs(here.reshape(-1, NODES).sum(axis=1))
            error += mass @ np.abs(panels.g[j, : mass.size, NODES - 2 :]).sum(axis=1)
        if j == 0:
            continue
        offset[j] = here @ transitions[j].once
        covariance[j, j] = here @ transitions[j].twice
        covariance[:j, j] = covariance[j, :j] = _on_nodes(here @ transitions[j].moved) @ earlier
        if j < size - 1:
            carried = transitions[j].kept @ _coefficients(earlier)
            earlier = np.concatenate([carried, transitions[j].once[:, None]], axis=1)
    return panels.share + offset, covariance - np.outer(offset, offset), error


def simplex_solve(
    states: States, s: float, a: Floats, u: Floats
) -> tuple[float, Floats, Floats, float, float]:
    """Compute ln Z, mean and covariance of alpha, and the errors of the rule and of the panels."""
    panels, transitions, log_z, step_error = _levels(states, s, a, u, True)
    mean, covariance, panel_error = _moments(panels, transitions)
    return log_z, mean, covariance, step_error, panel_error


def simplex_panels(states: States, s: float, a: Floats, u: Floats) -> tuple[float, Panels]:
    """Compute ln Z, and the panels that the marginals and the draws need."""
    panels, _, log_z, _ = _levels(states, s, a, u, False)
    return log_z, panels

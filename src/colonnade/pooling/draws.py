"""Dirichlet draws that stay proper when parameters are tiny, and Gauss rules."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Floats


def dirichlet(parameters: ArrayLike, rng: np.random.Generator) -> Floats:
    """One draw per row of parameters (last axis: states)."""
    logs = _log_gammas(np.asarray(parameters, dtype=np.float64), rng)
    logs -= logs.max(axis=-1, keepdims=True)
    draws = np.exp(logs)
    draws /= draws.sum(axis=-1, keepdims=True)
    return np.asarray(draws)


def log_dirichlet(parameters: Floats, rng: np.random.Generator, axis: int = -1) -> Floats:
    """Logarithms of Dirichlet draws, with the states along `axis`.

    Finite where the draws themselves underflow: with small parameters nearly all mass is on one
    state, and the data may show another.
    """
    logs = _log_gammas(parameters, rng)
    top = logs.max(axis=axis, keepdims=True)
    logs -= top + np.log(np.exp(logs - top).sum(axis=axis, keepdims=True))
    return logs


def _log_gammas(shape: Floats, rng: np.random.Generator) -> Floats:
    """Logarithms of Gamma draws. Gamma(a) is Gamma(a + 1) U^(1/a), whose log never underflows."""
    # A parameter of zero is the limit: that state never occurs.
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.standard_gamma(shape + 1.0))
        logs -= rng.standard_exponential(shape.shape) / shape
    return np.asarray(logs)


def gauss_rule(points: Floats, weights: Floats, size: int) -> tuple[Floats, Floats]:
    """Compress a measure on many points into a Gauss rule of few.

    Lanczos with full reorthogonalisation. The rule integrates every polynomial of degree
    2 size - 1 exactly as the points do; all weights are positive.
    """
    weights = weights / weights.sum()
    basis = np.empty((size + 1, points.size))
    basis[0] = np.sqrt(weights)
    diagonal: list[float] = []
    beside: list[float] = []
    # What is left below this is rounding: the measure has no more points.
    rounding = 1e-13 * max(1e-300, float(np.ptp(points)))
    for i in range(min(size, int((weights > 0).sum()))):
        vector = points * basis[i]
        diagonal.append(float(vector @ basis[i]))
        known = basis[: i + 1]
        for _ in range(2):
            vector = vector - (known @ vector) @ known
        norm = math.sqrt(float(vector @ vector))
        if norm < rounding:
            break
        beside.append(norm)
        basis[i + 1] = vector / norm
    k = len(diagonal)
    matrix = np.diag(diagonal) + np.diag(beside[: k - 1], 1) + np.diag(beside[: k - 1], -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return np.clip(nodes, points.min(), points.max()), vectors[0] ** 2

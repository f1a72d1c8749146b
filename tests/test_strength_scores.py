"""How bases predict what is left out, with each strength, against the sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from colonnade.kernels import strength_scores as kernels
from colonnade.kernels.classify import normalise, own_chances
from colonnade.kernels.special import exponential

_fill_scores, _logs = kernels.fill_scores, kernels.logs_of


@njit
def scored(times, beside, values, grid):
    scores = np.full((len(values), len(grid)), np.nan)
    _fill_scores(times, beside, values, grid, _logs(grid), scores)
    return scores


@njit
def exponentials(powers):
    found = np.empty(len(powers))
    for k in range(len(powers)):
        found[k] = exponential(powers[k])
    return found


def written_out(times, beside, values, grid):
    """The sums, without the constant ln(n - 1) of cells with more than one observation."""
    many = times > 1.0
    found = np.empty((len(values), len(grid)))
    for c, base in enumerate(np.maximum(values, 1e-300)):
        for g, s in enumerate(grid):
            alone = times[~many] @ np.log(s * base[~many])
            others = times[many] @ np.log1p(s * base[many] / (times[many] - 1.0))
            found[c, g] = alone + others - times @ np.log(beside + s)
    return found


def observed(kind, cells, rng):
    few = rng.geometric(0.3, cells).astype(float)
    return {
        "few": few,
        "many": rng.geometric(0.01, cells).astype(float),
        "single": np.ones(cells),
        "fractions": few * rng.random(cells) + 0.01,
        "mixed": np.where(rng.random(cells) < 0.5, few, few + 0.5),
        "huge": rng.integers(1, 1 << 23, cells).astype(float),
    }[kind]


@pytest.mark.parametrize("cells", [0, 1, 31, 33, 700])
@pytest.mark.parametrize("kind", ["few", "many", "single", "fractions", "mixed", "huge"])
def test_scores_are_the_sums_written_out(kind, cells):
    rng = np.random.default_rng(cells)
    times = observed(kind, cells, rng)
    beside = times - np.minimum(times, 1.0) + rng.integers(0, 400, cells)
    values = rng.random((5, cells + 3))
    values[0, : cells // 2] = 0.0
    grid = 3.0 * 2.0 ** np.arange(-5, 8)
    wanted = written_out(times, beside, values[:, :cells], grid)
    np.testing.assert_allclose(scored(times, beside, values, grid), wanted, rtol=1e-12, atol=1e-12)


def test_exponentials_are_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    ends = [0.0, -0.0, 1e-300, -708.0, 708.0, 0.5 * np.log(2.0), -0.5 * np.log(2.0)]
    powers = np.concatenate([rng.uniform(-708, 708, 5000), rng.uniform(-2, 2, 5000), ends])
    np.testing.assert_allclose(exponentials(powers), np.exp(powers), rtol=5e-16)


@pytest.mark.parametrize("classes", [1, 2, 26])
@pytest.mark.parametrize("rows", [0, 1, 64, 150])
def test_chances_of_classes_add_up_to_one_however_unlikely_rows_are(rows, classes):
    rng = np.random.default_rng(rows)
    sums = rng.normal(size=(rows, classes)) * 300.0 - rng.choice([0.0, 1e5], (rows, 1))
    sums[rng.random(sums.shape) < 0.2] = -np.inf
    label = rng.integers(0, classes, rows)
    with np.errstate(invalid="ignore"):
        wanted = sums - np.logaddexp.reduce(sums, axis=1, keepdims=True)
    own = np.empty(rows)
    own_chances(sums, label, own)
    normalise(sums)
    np.testing.assert_allclose(sums, wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(own, wanted[np.arange(rows), label], rtol=1e-13, atol=1e-13)

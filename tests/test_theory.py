"""Theorem 2 against exact enumeration, against simulation, and against its printed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, norm

from colonnade.exceptions import InputError
from colonnade.theory import mse_bayesian, mse_ideal, mse_maximum_likelihood

ALPHA = np.array([0.6, 0.3, 0.1])
CASES = [(3.0, 1), (3.0, 10), (0.5, 40), (50.0, 5)]
REPEATS = 150_000
# All comparisons of this file together raise a false alarm once in a million seeds.
COMPARISONS = len(CASES) * 2 * 3 * ALPHA.size
LIMIT = norm.isf(1e-6 / (2 * COMPARISONS))


def simulate(s, n, estimate):
    """Mean and standard error of the squared error per state."""
    rng = np.random.default_rng([20170917, n])
    theta = rng.dirichlet(s * ALPHA, size=REPEATS)
    counts = rng.multinomial(n, theta)
    squares = (estimate(counts) - theta) ** 2
    return squares.mean(axis=0), squares.std(axis=0, ddof=1) / np.sqrt(REPEATS)


def deviations(formula, s, n, estimate):
    mean, error = simulate(s, n, estimate)
    return np.abs(mean - formula) / error


@pytest.mark.parametrize("weight", [None, 0.3])
@pytest.mark.parametrize(("s", "n"), CASES)
def test_simulation_agrees(s, n, weight):
    w = n / (n + s) if weight is None else weight

    def towards(target):
        return lambda counts: w * counts / n + (1 - w) * target

    pairs = [
        (mse_maximum_likelihood(ALPHA, s, n), lambda counts: counts / n),
        (mse_ideal(ALPHA, s, n, weight), towards(ALPHA)),
        (mse_bayesian(ALPHA, s, n, weight), towards(1 / 3)),
    ]
    for formula, estimate in pairs:
        assert np.all(deviations(formula, s, n, estimate) < LIMIT)


def test_simulation_rejects_the_printed_forms():
    s, n = 3.0, 10
    w = n / (n + s)
    printed = mse_ideal(ALPHA, s, n) + (1 - w**2) * (ALPHA - 1 / 3) ** 2
    found = deviations(printed, s, n, lambda counts: (counts + s / 3) / (n + s))
    # The middle state has alpha_x close to 1/r: there the two forms nearly agree.
    assert np.all(found[[0, 2]] > LIMIT)
    found = deviations(mse_ideal(ALPHA, s, n), s, n, lambda counts: (counts + ALPHA) / (n + s))
    # The rare state is hardly drawn too low by the missing factor s; the others are.
    assert np.all(found[:2] > LIMIT)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0, None])
@pytest.mark.parametrize(("s", "n"), [(0.01, 3), (2.0, 1), (2.0, 30), (1000.0, 12)])
def test_two_states_by_enumeration(s, n, weight):
    # Average over the beta-binomial sample: posterior variance plus squared distance.
    alpha = np.array([0.85, 0.15])
    k = np.arange(n + 1)
    probability = betabinom.pmf(k, n, s * alpha[0], s * alpha[1])
    center = (k + s * alpha[0]) / (n + s)
    variance = center * (1 - center) / (n + s + 1)
    w = n / (n + s) if weight is None else weight
    for formula, target in [(mse_ideal, alpha[0]), (mse_bayesian, 0.5)]:
        estimate = w * k / n + (1 - w) * target
        total = np.sum(probability * (variance + (estimate - center) ** 2))
        assert formula(alpha, s, n, weight)[0] == pytest.approx(total, rel=1e-10)
    if weight == 1.0:
        assert np.array_equal(mse_ideal(alpha, s, n, 1.0), mse_maximum_likelihood(alpha, s, n))


def test_the_default_weight_is_the_best_one():
    weights = np.linspace(0.0, 1.0, 201)
    best = mse_ideal(ALPHA, 3.0, 7)
    assert np.all(mse_ideal(ALPHA, 3.0, 7, weights) >= best - 1e-15)
    assert np.all(best <= mse_bayesian(ALPHA, 3.0, 7))
    assert np.all(best < mse_maximum_likelihood(ALPHA, 3.0, 7))


def test_uniform_alpha_makes_ideal_and_bayesian_equal():
    uniform = np.full(4, 0.25)
    assert np.array_equal(mse_ideal(uniform, 2.0, 9), mse_bayesian(uniform, 2.0, 9))


def test_arrays_broadcast_over_configurations():
    n = np.array([[1], [10], [100]])
    s = np.array([0.5, 5.0])
    result = mse_bayesian(ALPHA, s, n)
    assert result.shape == (3, 2, 3)
    assert result[1, 0] == pytest.approx(mse_bayesian(ALPHA, 0.5, 10), rel=1e-15)
    several = np.stack([ALPHA, ALPHA[::-1]])
    assert mse_ideal(several, s, 4, weight=[0.2, 0.9]).shape == (2, 3)
    assert mse_maximum_likelihood(ALPHA, s, n).shape == (3, 2, 3)


def test_no_observations():
    spread = ALPHA * (1 - ALPHA) / 4.0
    assert mse_ideal(ALPHA, 3.0, 0) == pytest.approx(spread, rel=1e-15)
    assert mse_ideal(ALPHA, 3.0, 0, weight=0.0) == pytest.approx(spread, rel=1e-15)
    assert mse_bayesian(ALPHA, 3.0, 0) == pytest.approx(spread + (ALPHA - 1 / 3) ** 2, rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (([0.5, 0.6], 1.0, 1), "alpha"),
        (([1.5, -0.5], 1.0, 1), "alpha"),
        ((0.5, 1.0, 1), "alpha"),
        (([], 1.0, 1), "alpha"),
        ((["a", "b"], 1.0, 1), "alpha"),
        (([np.nan, 1.0], 1.0, 1), "alpha"),
        (([0.5, 0.5], 0.0, 1), "s"),
        (([0.5, 0.5], np.inf, 1), "s"),
        (([0.5, 0.5], 1.0, -1), "n"),
        (([0.5, 0.5], 1.0, 1.5), "n"),
        (([0.5, 0.5], 1.0, 1, 1.5), "weight"),
        (([0.5, 0.5], 1.0, [0, 3], 0.5), "weight"),
        (([0.5, 0.5], [1.0, 2.0], [1, 2, 3]), None),
        (([0.5, 0.5], 1.0, [1, 2, 3], [0.1, 0.2]), None),
    ],
)
def test_bad_input_is_refused(arguments, parameter):
    with pytest.raises(InputError, match="Expected") as caught:
        mse_bayesian(*arguments)
    assert caught.value.parameter == parameter


def test_frequencies_need_an_observation():
    with pytest.raises(InputError, match="at least 1 for `n`"):
        mse_maximum_likelihood([0.5, 0.5], 1.0, 0)

"""The curves that few counts share: against other engines, and against themselves."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from colonnade import Exact, Hierarchical, Quadrature
from colonnade.kernels.chains import Centre, Chain
from colonnade.kernels.simplex import simplex_solve
from colonnade.pooling import strength as learning
from colonnade.pooling.chains import Chains
from colonnade.pooling.exact import ChainAlpha, SimplexAlpha
from colonnade.pooling.tally import Pool, Tally

# Rows, states, strength and alpha0.
SHAPES = [
    (1, 3, 3.0, 1.0),
    (2, 12, 12.0, 1.0),
    (3, 8, 0.2, 0.5),
    (6, 10, 20.0, 2.0),
    (2, 50, 50.0, 1.0),
    (10, 40, 40.0, 1.0),
]


def drawn(rows, states, whole, seed=0):
    rng = np.random.default_rng([seed, rows, states])
    cells = rng.gamma(1.0, 3.0, (rows, states))
    return rng.poisson(cells) if whole else cells


def chains_of(counts, s, alpha0=1.0):
    pool = Pool.of(Tally.of(counts), s, np.full(counts.shape[1], alpha0))
    chains = Chains.at(pool)
    assert chains is not None
    return pool, chains


@pytest.mark.parametrize(("rows", "states", "s", "alpha0"), SHAPES)
def test_whole_counts_have_the_moments_of_the_finite_mixture(rows, states, s, alpha0):
    tally, alpha0 = Tally.of(drawn(rows, states, whole=True)), np.full(states, alpha0)
    right, answer = Exact().solve(tally, s, alpha0), Quadrature().solve(tally, s, alpha0)
    assert isinstance(answer, ChainAlpha)
    np.testing.assert_allclose(answer.mean, right.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(answer.covariance, right.covariance, rtol=0, atol=1e-13)
    assert answer.log_evidence == pytest.approx(right.log_evidence, abs=1e-11)


@pytest.mark.parametrize(("rows", "states", "s", "alpha0"), SHAPES)
def test_fractions_have_the_moments_of_other_panels(rows, states, s, alpha0):
    pool, chains = chains_of(drawn(rows, states, whole=False), s, alpha0)
    log_z, mean, covariance, _, _ = chains.moments(s)
    right = simplex_solve(pool.states, s, *pool.centre(pool.states))
    assert log_z == pytest.approx(right[0], abs=1e-10)
    np.testing.assert_allclose(mean, right[1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(covariance, right[2], rtol=0, atol=1e-12)


def test_curves_for_many_strengths_are_those_for_each():
    counts = drawn(2, 12, whole=False)
    pool = Pool.of(Tally.of(counts), 5.0, np.ones(12))
    shared = Chains.between(pool, [1.0, 5.0, 60.0])
    assert shared is not None
    for s in (1.0, 2.7, 5.0, 31.0, 60.0):
        assert shared.covers(s)
        answer, right = shared.moments(s), chains_of(counts, s)[1].moments(s)
        assert answer.log_z == pytest.approx(right.log_z, abs=1e-12)
        np.testing.assert_allclose(answer.mean, right.mean, rtol=0, atol=1e-13)
        np.testing.assert_allclose(answer.covariance, right.covariance, rtol=0, atol=1e-14)
    assert not shared.covers(0.9)
    assert not shared.covers(61.0)


@pytest.mark.parametrize(("rows", "states", "s", "alpha0"), SHAPES)
def test_marginals_have_the_moments(rows, states, s, alpha0):
    counts = drawn(rows, states, whole=False)
    answer = Quadrature().solve(Tally.of(counts), s, np.full(states, alpha0))
    for state in range(states):
        points, weights = answer.points(state, 1.0)
        mean = weights @ points
        assert mean == pytest.approx(answer.mean[state], abs=1e-11)
        variance = weights @ (points - mean) ** 2
        assert variance == pytest.approx(answer.covariance[state, state], rel=1e-9)


def test_draws_have_the_moments():
    counts, n = drawn(3, 5, whole=False), 20_000
    answer = Quadrature().solve(Tally.of(counts), 5.0, np.ones(5))
    draws = answer.sample(n, rng=1)
    deviation = np.sqrt(np.diag(answer.covariance))
    assert (np.abs(draws.mean(axis=0) - answer.mean) < 4.5 * deviation / np.sqrt(n)).all()
    np.testing.assert_allclose(np.cov(draws.T), answer.covariance, atol=5e-4)


def test_the_errors_that_are_stated_hold_for_a_coarse_rule(monkeypatch):
    from colonnade.kernels import aligned

    counts = drawn(5, 8, whole=False)
    pool, chains = chains_of(counts, 8.0)
    right = chains.moments(8.0)
    monkeypatch.setattr(aligned, "_STEPS", (0.42,))
    centre = Centre(8.0, *pool.centre(pool.states))
    coarse = Chain.of(pool.states, [centre]).at(8.0)
    lost = abs(coarse.log_z - right.log_z)
    assert 1e-12 < lost < coarse.step_error


def test_other_panels_serve_what_the_rules_do_not():
    narrow = np.full((400, 4), 20.5)
    assert type(Quadrature().solve(Tally.of(narrow), 4.0, np.ones(4))) is SimplexAlpha
    long_tails = np.array([[1e-3, 0.5, 2.0], [1e-4, 1.5, 0.5]])
    assert type(Quadrature().solve(Tally.of(long_tails), 4.0, np.full(3, 0.1))) is SimplexAlpha
    # A large count beside a small alpha0: the curve of the sum is not smooth enough.
    steep = np.array([[1999.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    alpha0 = np.array([0.1, 10.0, 70.7])
    assert type(Quadrature().solve(Tally.of(steep), 16.0, alpha0)) is SimplexAlpha


@pytest.mark.parametrize("shape", [(2, 12), (3, 5)])
def test_a_learned_strength_has_the_posterior_of_every_node(shape):
    counts = drawn(*shape, whole=False)
    posterior = Hierarchical(s="learn").posterior(counts)
    for part in posterior.components[::6]:
        right = Quadrature().solve(Tally.of(counts), part.s, np.ones(shape[1]))
        assert isinstance(part.alpha, ChainAlpha)
        np.testing.assert_allclose(part.alpha.mean, right.mean, rtol=0, atol=1e-13)
        np.testing.assert_allclose(part.alpha.covariance, right.covariance, rtol=0, atol=1e-14)
        assert part.alpha.log_evidence == pytest.approx(right.log_evidence, abs=1e-11)
        (points, weights), others = part.alpha.points(1, 0.1), right.points(1, 0.1)
        assert weights @ points**2 == pytest.approx(others[1] @ others[0] ** 2, rel=1e-11)


@pytest.mark.parametrize("shape", [(2, 12), (3, 9), (2, 30)])
def test_a_learned_strength_is_that_of_other_convolutions(shape):
    tally, alpha0 = Tally.of(drawn(*shape, whole=False)), np.ones(shape[1])
    found = learning._learn_by_chains(tally, alpha0, float(shape[1]))
    assert found is not None
    answer, right = found[0], learning.learn(tally, alpha0)
    lost = right.error + right.strength.error + answer.strength.error
    assert abs(answer.strength.log_evidence - right.strength.log_evidence) < lost < 1e-5
    assert answer.strength.mean == pytest.approx(right.strength.mean, rel=lost)
    means = [each.strength.weights @ each.alpha for each in (answer, right)]
    np.testing.assert_allclose(*means, rtol=0, atol=lost)
    assert answer.strength.weights[[0, -1]].max() < 1e-8


def test_a_rule_that_ends_too_early_is_continued(monkeypatch):
    tally, alpha0 = Tally.of(drawn(2, 12, whole=False)), np.ones(12)
    right = learning._learn_by_chains(tally, alpha0, 12.0)
    monkeypatch.setattr(learning, "_DEPTH", 6.0)
    answer = learning._learn_by_chains(tally, alpha0, 12.0)
    assert right is not None
    assert answer is not None
    gap = answer[0].strength.log_evidence - right[0].strength.log_evidence
    assert abs(gap) < answer[0].strength.error


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn")])
def test_posteriors_travel_with_curves_that_were_made(prior):
    posterior = prior.posterior(drawn(2, 12, whole=False))
    ends, spread = posterior.interval(), posterior.covariance(0)
    travelled = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(travelled.interval(), ends)
    np.testing.assert_array_equal(travelled.covariance(0), spread)


@pytest.mark.parametrize("scale", [1.0, 1e-8])
@pytest.mark.parametrize("s", [None, "learn"])
def test_posteriors_keep_no_matrices(s, scale):
    # There may be a thousand such tables: the matrices of one take megabytes, or, for tiny counts
    # with a learned strength, more than a hundred.
    counts = scale * drawn(8, 10, whole=False)
    Hierarchical(s=s).posterior(counts).covariance(0)
    tracemalloc.start()
    try:
        posterior = Hierarchical(s=s).posterior(1.01 * counts)
        kept = [tracemalloc.get_traced_memory()[0]]
        assert posterior.covariance(0).shape == (10, 10)
        kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(kept) < (3e6 if scale < 1.0 and s else 5e5)

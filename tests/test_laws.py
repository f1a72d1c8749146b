"""The laws of the model, held by every prior through the public names alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from colonnade import (
    BDeu,
    Exact,
    FamilyCounts,
    Hierarchical,
    MaximumLikelihood,
    Quadrature,
    SymmetricDirichlet,
)

ENGINES = [Exact(), Quadrature()]
HIERARCHICAL = [
    Hierarchical(s=s, alpha0=alpha0, engine=engine)
    for s, alpha0 in [(None, 1.0), (0.2, (0.1, 2.0, 0.7)), (40.0, 10.0)]
    for engine in ENGINES
]
INDEPENDENT = [BDeu(1.0), BDeu(12.5), SymmetricDirichlet(), SymmetricDirichlet(0.3)]
LEARNED = Hierarchical(s="learn", alpha0=(0.5, 1.0, 2.0))
FIXED = HIERARCHICAL + INDEPENDENT
TABLE = np.array([[4, 0, 1], [2, 0, 0], [0, 0, 0], [1, 1, 7]])


def unit(shape, *cells):
    result = np.zeros(shape, dtype=int)
    for cell in cells:
        result[cell] += 1
    return result


@st.composite
def tables(draw, states=(2, 3, 5)):
    r, q = draw(st.sampled_from(states)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([0.3, 3.0, 30.0]))
    return rng.poisson(size * rng.gamma(0.5, 2.0, (q, r)) * (rng.random((q, 1)) < 0.8))


@st.composite
def priors(draw):
    s = 10.0 ** draw(st.floats(-2, 2))
    kind = draw(st.sampled_from(["exact", "quadrature", "bdeu", "symmetric"]))
    if kind in ("bdeu", "symmetric"):
        return BDeu(s) if kind == "bdeu" else SymmetricDirichlet(s)
    alpha0 = 10.0 ** draw(st.floats(-1, 1))
    return Hierarchical(s=s, alpha0=alpha0, engine=ENGINES[kind == "quadrature"])


# ----------------------------------------------------------------- evidence


@pytest.mark.parametrize("prior", FIXED, ids=repr)
@pytest.mark.parametrize("totals", [(2, 1, 0), (3,)])
def test_evidence_sums_to_one_over_all_data_sets(prior, totals):
    def log_evidence(table):
        return prior.log_evidence(table.astype(int))

    total = oracle.total_probability(totals, 3, log_evidence)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_evidence_with_learned_strength_sums_to_one():
    errors = []

    def log_evidence(table):
        posterior = LEARNED.posterior(table.astype(int))
        errors.append(posterior.alpha.error.log_evidence)
        return posterior.log_evidence

    total = oracle.total_probability((2, 2, 0), 3, log_evidence)
    assert abs(total - 1.0) <= max(errors) < 1e-4


def test_a_wrong_normaliser_does_not_sum_to_one():
    # Negative control: the normaliser of the rows once instead of once a configuration.
    def printed(table):
        totals = table.sum(axis=1)
        right = Hierarchical(s=3.0).log_evidence(table.astype(int))
        return right + sum(math.lgamma(3.0 + n) - math.lgamma(3.0) for n in totals[1:])

    assert oracle.total_probability((2, 1, 0), 3, printed) > 1.5


@pytest.mark.parametrize("prior", [*FIXED, LEARNED], ids=repr)
def test_evidence_is_the_product_of_predictions_in_any_order(prior):
    order = [(y, x) for y, x in np.ndindex(TABLE.shape) for _ in range(TABLE[y, x])]
    whole = prior.posterior(TABLE).log_evidence
    tolerance = 1e-4 if prior is LEARNED else 1e-11
    for seed in (0, 1):
        counts, log_probability = np.zeros_like(TABLE), 0.0
        for place in np.random.default_rng(seed).permutation(len(order)):
            cell = order[place]
            log_probability += math.log(prior.estimate(counts)[cell])
            counts[cell] += 1
        assert log_probability == pytest.approx(whole, abs=tolerance)


@settings(max_examples=60)
@given(tables(), priors())
def test_one_more_observation_multiplies_the_evidence_by_its_prediction(counts, prior):
    posterior = prior.posterior(counts)
    predictive = posterior.predictive()
    for y, x in itertools.product(range(min(2, len(counts))), range(2)):
        after = prior.log_evidence(counts + unit(counts.shape, (y, x)))
        ratio = math.exp(after - posterior.log_evidence)
        assert predictive[y, x] == pytest.approx(ratio, abs=1e-11, rel=1e-9)


@settings(max_examples=40)
@given(tables(), priors())
def test_two_more_observations_show_the_second_moments(counts, prior):
    posterior = prior.posterior(counts)
    mean, last = posterior.mean, len(counts) - 1
    for y, y2 in {(0, 0), (0, last)}:
        second = posterior.covariance(y, y2) + np.outer(mean[y], mean[y2])
        for x, x2 in [(0, 0), (0, 1), (1, 1)]:
            more = counts + unit(counts.shape, (y, x), (y2, x2))
            ratio = math.exp(prior.log_evidence(more) - posterior.log_evidence)
            assert second[x, x2] == pytest.approx(ratio, abs=1e-11, rel=1e-8)


def test_learned_strength_obeys_the_same_ratios():
    posterior = LEARNED.posterior(TABLE)
    mean = posterior.mean
    for y, x in np.ndindex(TABLE.shape):
        once = LEARNED.log_evidence(TABLE + unit(TABLE.shape, (y, x)))
        assert mean[y, x] == pytest.approx(math.exp(once - posterior.log_evidence), abs=1e-5)
    for (y, x), (y2, x2) in [((0, 0), (0, 0)), ((0, 0), (3, 2)), ((2, 1), (2, 2))]:
        second = posterior.covariance(y, y2)[x, x2] + mean[y, x] * mean[y2, x2]
        twice = LEARNED.log_evidence(TABLE + unit(TABLE.shape, (y, x), (y2, x2)))
        assert second == pytest.approx(math.exp(twice - posterior.log_evidence), abs=1e-5)


# ------------------------------------------------------------- permutations


@pytest.mark.parametrize("prior", [*FIXED, LEARNED], ids=repr)
def test_permuting_configurations_permutes_the_answer(prior):
    order = [2, 0, 3, 1]
    one, two = prior.posterior(TABLE), prior.posterior(TABLE[order])
    assert two.mean == pytest.approx(one.mean[order], abs=1e-13)
    assert two.variance == pytest.approx(one.variance[order], abs=1e-13)
    assert two.covariance(0, 1) == pytest.approx(one.covariance(2, 0), abs=1e-13)
    assert two.borrowed == pytest.approx(one.borrowed[order], abs=1e-13)
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=1e-11)


@settings(max_examples=40)
@given(tables(), priors(), st.randoms(use_true_random=False))
def test_permuting_states_permutes_the_answer(counts, prior, random):
    order = random.sample(range(counts.shape[1]), counts.shape[1])
    one, two = prior.posterior(counts), prior.posterior(counts[:, order])
    assert two.mean == pytest.approx(one.mean[:, order], abs=1e-11)
    assert two.covariance(0) == pytest.approx(one.covariance(0)[np.ix_(order, order)], abs=1e-11)
    assert two.log_evidence == pytest.approx(one.log_evidence, rel=1e-12, abs=1e-11)


def test_states_keep_their_own_alpha0_when_permuted():
    order, alpha0 = [2, 0, 1], (0.1, 1.0, 5.0)
    turned = tuple(alpha0[x] for x in order)
    for engine in ENGINES:
        for s in (3.0, "learn"):
            one = Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(TABLE)
            two = Hierarchical(s=s, alpha0=turned, engine=engine).posterior(TABLE[:, order])
            assert two.mean == pytest.approx(one.mean[:, order], abs=1e-12)
            assert not np.allclose(two.mean, one.mean, atol=1e-3)


@pytest.mark.parametrize("prior", [*FIXED, LEARNED], ids=repr)
def test_merging_counts_equals_counting_the_union(prior):
    part = np.minimum(TABLE, 1)
    merged = FamilyCounts.from_array(part) + FamilyCounts.from_array(TABLE - part)
    again = merged + FamilyCounts.from_array(part) - FamilyCounts.from_array(part)
    whole = prior.posterior(TABLE)
    for counts in (merged, again):
        posterior = prior.posterior(counts)
        assert np.array_equal(posterior.mean, whole.mean)
        assert posterior.log_evidence == whole.log_evidence


@pytest.mark.parametrize("prior", HIERARCHICAL, ids=repr)
def test_configurations_without_data_change_nothing(prior):
    one = prior.posterior(TABLE)
    many = prior.posterior(np.vstack([TABLE, np.zeros((50, 3), int)]))
    assert np.array_equal(many.mean[:4], one.mean)
    assert np.array_equal(many.mean[30], one.default)
    assert many.log_evidence == one.log_evidence


# ------------------------------------------------------------------- limits


def test_large_alpha0_is_the_symmetric_dirichlet():
    for engine in ENGINES:
        pooled = Hierarchical(s=2.5, alpha0=1e7, engine=engine).posterior(TABLE)
        alone = SymmetricDirichlet(2.5).posterior(TABLE)
        assert pooled.mean == pytest.approx(alone.mean, abs=1e-6)
        assert pooled.variance == pytest.approx(alone.variance, abs=1e-6)
        assert pooled.log_evidence == pytest.approx(alone.log_evidence, abs=1e-5)


def test_bdeu_is_the_symmetric_dirichlet_with_its_share_of_the_sample_size():
    bdeu, rows = BDeu(6.0).posterior(TABLE), SymmetricDirichlet(1.5).posterior(TABLE)
    assert np.array_equal(bdeu.mean, rows.mean)
    assert bdeu.log_evidence == rows.log_evidence
    assert bdeu.mean == pytest.approx((TABLE + 6.0 / 12) / (TABLE.sum(axis=1)[:, None] + 1.5))


def test_small_s_is_maximum_likelihood_where_observed():
    observed = TABLE.sum(axis=1) > 0
    for engine in ENGINES:
        estimate = Hierarchical(s=1e-9, engine=engine).estimate(TABLE)
        likely = MaximumLikelihood().estimate(TABLE)
        assert estimate[observed] == pytest.approx(likely[observed], abs=1e-8)
        assert np.isfinite(estimate).all()
        # each row is then one table for each state seen in it: alpha ~ Dirichlet(1 + rows seen)
        assert estimate[~observed][0] == pytest.approx(np.array([4, 2, 3]) / 9, abs=1e-7)


def test_large_s_makes_all_rows_equal_to_the_pooled_counts():
    pooled = (TABLE.sum(axis=0) + 1.0) / (TABLE.sum() + 3.0)
    for engine in ENGINES:
        estimate = Hierarchical(s=1e8, engine=engine).estimate(TABLE)
        assert np.abs(estimate - pooled).max() < 1e-6


# -------------------------------------------------------- shape of an answer


@settings(max_examples=60)
@given(tables(states=(2, 3, 7)), priors())
def test_rows_are_distributions_and_covariances_are_covariances(counts, prior):
    posterior = prior.posterior(counts)
    mean = posterior.mean
    assert mean.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert mean.min() > 0.0
    assert mean.max() < 1.0
    for y in range(min(3, len(counts))):
        own = posterior.covariance(y)
        assert np.abs(own - own.T).max() < 1e-15
        assert np.abs(own.sum(axis=0)).max() < 1e-12
        assert np.linalg.eigvalsh(own).min() > -1e-13
        assert np.diag(own) == pytest.approx(posterior.variance[y], abs=1e-14)
        other = posterior.covariance(y, 0)
        assert np.abs(other.sum(axis=0)).max() < 1e-12
        assert other == pytest.approx(posterior.covariance(0, y).T, abs=1e-14)
    # all cells together
    q, r = counts.shape
    whole = np.block([[posterior.covariance(y, y2) for y2 in range(q)] for y in range(q)])
    assert whole.shape == (q * r, q * r)
    assert np.linalg.eigvalsh(whole).min() > -1e-13


@pytest.mark.parametrize("engine", [None, *ENGINES], ids=repr)
@pytest.mark.parametrize("s", [0.5, "learn"])
def test_an_empty_table_is_the_prior(engine, s):
    alpha0 = np.array([0.3, 1.0, 2.7])
    posterior = Hierarchical(s=s, alpha0=tuple(alpha0), engine=engine).posterior(np.zeros((2, 3)))
    assert posterior.alpha.mean == pytest.approx(alpha0 / 4.0, abs=1e-15)
    assert posterior.mean == pytest.approx(np.tile(alpha0 / 4.0, (2, 1)), abs=1e-15)
    assert posterior.log_evidence == pytest.approx(0.0, abs=0.0 if s == 0.5 else 1e-7)
    variance = alpha0 / 4.0 * (1.0 - alpha0 / 4.0) / 5.0
    assert np.diag(posterior.alpha.covariance) == pytest.approx(variance, abs=1e-15)


def test_one_configuration_does_not_confuse_theta_and_alpha():
    # One row with n observations of state 0, s = 2, alpha0 = 1: by hand for n = 1 and n = 2.
    for engine in ENGINES:
        one = Hierarchical(s=2.0, engine=engine).posterior([[1, 0]])
        # p(alpha | D) is 2a: E[alpha] = 2/3, E[theta] = (1 + 4/3) / 3
        assert one.alpha.mean[0] == pytest.approx(2 / 3, abs=1e-14)
        assert one.mean[0, 0] == pytest.approx(7 / 9, abs=1e-14)
        assert one.default[0] == pytest.approx(2 / 3, abs=1e-14)
        two = Hierarchical(s=2.0, engine=engine).posterior([[2, 0]])
        # p(alpha | D) is proportional to 2a (2a + 1)
        alpha = (4 / 4 + 2 / 3) / (4 / 3 + 2 / 2)
        assert two.alpha.mean[0] == pytest.approx(alpha, abs=1e-14)
        assert two.mean[0, 0] == pytest.approx((2 + 2 * alpha) / 4, abs=1e-14)
        assert math.exp(two.log_evidence) == pytest.approx((4 / 3 + 2 / 2) / 6, abs=1e-14)

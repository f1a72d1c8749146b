"""Numbers at the edge of what is accepted: right, as quick as others, or refused."""

import numpy as np
import pytest
from scipy import stats

from colonnade import (
    BDeu,
    Dag,
    Exact,
    Hierarchical,
    Quadrature,
    SymmetricDirichlet,
    Variational,
    fit,
)
from colonnade.exceptions import CountsError, DataError, InputError
from colonnade.pooling import quantiles

TABLE = np.array([[19, 18, 13], [0, 0, 0], [2, 0, 1]])
HUGE = [1e10, 1e12]


@pytest.mark.parametrize("engine", [None, Exact(), Quadrature()], ids=repr)
@pytest.mark.parametrize("s", HUGE)
def test_with_a_huge_strength_every_row_is_the_pool(s, engine):
    # as s grows, theta_y = alpha ~ Dirichlet(alpha0 + all counts)
    posterior = Hierarchical(s=s, engine=engine).posterior(TABLE)
    a = TABLE.sum(axis=0) + 1.0
    limit = stats.beta(a, a.sum() - a)
    assert posterior.mean == pytest.approx(np.tile(limit.mean(), (3, 1)), abs=1e-8)
    assert posterior.variance == pytest.approx(np.tile(limit.var(), (3, 1)), abs=1e-8)
    for end, level in zip(posterior.interval(0.9), (0.05, 0.95), strict=True):
        assert end == pytest.approx(np.tile(limit.ppf(level), (3, 1)), abs=1e-7)
    draws = posterior.sample(2000, rng=1)
    assert draws.mean(axis=0) == pytest.approx(posterior.mean, abs=0.01)
    assert posterior.log_evidence == pytest.approx(
        stats.dirichlet_multinomial([1, 1, 1], 53).logpmf(TABLE.sum(axis=0))
        - stats.multinomial(53, [1 / 3] * 3).logpmf(TABLE.sum(axis=0))
        - 53 * np.log(3),
        abs=1e-6,
    )


@pytest.mark.parametrize("alpha0", [1.0, 0.02])
@pytest.mark.parametrize("counts", [TABLE, [[30, 0], [5, 0], [0, 0]], [[3, 0, 0, 0]]], ids=str)
def test_a_density_of_alpha_gives_the_quantiles_of_many_points(counts, alpha0, monkeypatch):
    posterior = Hierarchical(s=1e5, alpha0=alpha0).posterior(counts)
    density = posterior.interval()
    monkeypatch.setattr(quantiles, "_MIN_RATIO_OF_DENSITY", np.inf)
    # the points leave out what weighs less than 1e-7
    assert np.abs(np.array(density) - np.array(posterior.interval())).max() < 1e-5


@pytest.mark.parametrize("alpha0", [1e-6, 1e-4])
@pytest.mark.parametrize("counts", [[[5, 0]], [[5, 0, 0], [3, 2, 0]]], ids=str)
def test_tails_of_a_tiny_alpha0_are_summed_to_their_end(counts, alpha0):
    exact = Hierarchical(s=2.0, alpha0=alpha0, engine=Exact()).posterior(counts)
    integrated = Hierarchical(s=2.0, alpha0=alpha0, engine=Quadrature()).posterior(counts)
    assert integrated.alpha.mean == pytest.approx(exact.alpha.mean, rel=1e-9)
    gap = abs(integrated.log_evidence - exact.log_evidence)
    assert gap <= integrated.alpha.error.log_evidence < 1e-8
    # a state that was never seen is nearly always impossible, in the draws as well
    seen = integrated.sample_alpha(2000, rng=3)[0][:, -1] > 1e-3
    assert seen.mean() == pytest.approx(0.0, abs=0.005)


def test_draws_follow_the_tail_that_is_summed():
    # with alpha0 = 0.05, a third of the mass of an unseen alpha is below 1e-12
    counts = [[5, 0], [2, 0]]
    draws = {
        engine: np.log10(
            np.maximum(
                Hierarchical(alpha0=0.05, engine=engine)
                .posterior(counts)
                .sample_alpha(20_000, 5)[0][:, 1],
                1e-300,
            )
        )
        for engine in (Exact(), Quadrature())
    }
    assert stats.ks_2samp(draws[Exact()], draws[Quadrature()]).pvalue > 0.001


def test_variational_intervals_with_a_tiny_alpha0():
    lower, upper = (
        Hierarchical(alpha0=1e-6, engine=Variational()).posterior([[5, 0], [3, 0]]).interval()
    )
    assert (lower[:, 0] > 0.5).all()
    assert (upper[:, 1] < 0.5).all()


def test_learned_strength_with_a_hundred_million_million_observations():
    posterior = Hierarchical(s="learn").posterior(
        np.array([[19, 18, 13], [2, 0, 0], [5, 9, 1]]) * 10**13
    )
    assert posterior.mean[0] == pytest.approx([0.38, 0.36, 0.26], abs=1e-9)
    assert 0.1 < posterior.strength.mean < 3.0


@pytest.mark.parametrize("prior", [SymmetricDirichlet, BDeu])
@pytest.mark.parametrize("strength", [1e-100, 1e12])
def test_strengths_without_pooling(prior, strength):
    posterior = prior(strength).posterior(TABLE)
    uniform = np.full(3, 1 / 3)
    wanted = uniform if strength > 1.0 else TABLE[0] / 50
    assert posterior.mean[0] == pytest.approx(wanted, abs=1e-9)
    assert np.isfinite(posterior.variance).all()
    lower, upper = posterior.interval()
    assert ((lower <= posterior.mean + 1e-12) & (posterior.mean <= upper + 1e-12))[0].all()


@pytest.mark.parametrize("value", [1e-101, 1.1e12, 1e13, 1e300, 10**400])
def test_parameters_outside_their_range_are_refused(value):
    for make in (lambda: Hierarchical(s=value), lambda: SymmetricDirichlet(value)):
        with pytest.raises(InputError, match=r"from 1e-100 to 1e\+12 for `s`"):
            make()
    with pytest.raises(InputError, match="for `ess`"):
        BDeu(value)
    with pytest.raises(InputError, match=r"from 1e-06 to 1e\+12 for `alpha0`"):
        Hierarchical(alpha0=(1.0, value))


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), BDeu()], ids=repr)
@pytest.mark.parametrize("counts", [[[1e300, 1.0]], [[1e19, 1.0]]])
def test_counts_too_large_to_add_one_are_refused(prior, counts):
    with pytest.raises(CountsError, match=r"at most 2\*\*(53|63) for `counts`"):
        prior.posterior(counts)
    if prior.score_name and isinstance(prior, Hierarchical):
        with pytest.raises(CountsError, match="at most"):
            prior.log_evidence(counts)


def test_weights_too_large_to_count_are_refused_by_their_name():
    table = {"a": ["u", "v"]}
    with pytest.raises(DataError, match=r"`weights`: the weights add up to 1e\+300, too much"):
        fit(table, Dag([], ["a"]), weights=[1e300, 1.0])

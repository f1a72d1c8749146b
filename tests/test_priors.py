"""What users hand over: bad input gives one clear error, extreme input a sane answer."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import colonnade
from colonnade import (
    BDeu,
    Cpt,
    Exact,
    Family,
    FamilyCounts,
    Hierarchical,
    MaximumLikelihood,
    Quadrature,
    SymmetricDirichlet,
    Variable,
    Variational,
)
from colonnade.exceptions import ColonnadeError, CountsError, InputError, NotSupportedError
from colonnade.pooling import ENGINES
from colonnade.priors import PRIORS as REGISTERED
from colonnade.priors import prior_named, restored, saved

NAN, INF = float("nan"), float("inf")
BAYESIAN = [Hierarchical(), Hierarchical(s="learn"), BDeu(), SymmetricDirichlet()]
PRIORS = [*BAYESIAN, MaximumLikelihood()]


def refused(call, kind, parameter):
    """The error of a call, which must be of a kind and name the parameter as the user wrote it."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert isinstance(error, ColonnadeError)
    assert error.parameter == parameter
    assert f"`{parameter}`" in str(error)
    assert str(error).endswith(".")
    return error


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize(
    "counts",
    [
        [[3, -1], [0, 2]],
        [[3.0, -1e-9]],
        [[3, NAN]],
        [[INF, 1.0]],
        [[1e308, 1e308]],
        [3, 1],
        5,
        [[3, 1], [2]],
        [[], []],
        np.zeros((0, 2)),
        np.zeros((3, 0)),
        [["a", "b"]],
        [[1 + 2j, 0]],
        [[None, 1]],
        None,
        [[2**62, 2**62]],
    ],
    ids=repr,
)
def test_bad_counts_are_refused(prior, counts):
    refused(lambda: prior.estimate(counts), CountsError, "counts")


def test_a_bad_count_is_shown_with_its_place():
    error = refused(lambda: Hierarchical().estimate([[1, 2], [3, -4]]), CountsError, "counts")
    assert (error.configuration, error.state, error.value) == (1, 1, -4)
    assert "configuration 1, state 1" in str(error)


BAD_POSITIVE = [0, 0.0, -1.0, -INF, INF, NAN, "a", True, 1j, [2.0], object]


@pytest.mark.parametrize("value", BAD_POSITIVE, ids=repr)
def test_strengths_must_be_positive_numbers(value):
    refused(lambda: Hierarchical(s=value), InputError, "s")
    refused(lambda: SymmetricDirichlet(value), InputError, "s")
    refused(lambda: BDeu(value), InputError, "ess")


@pytest.mark.parametrize("value", [*BAD_POSITIVE[:-2], None, [1.0, 0.0], (1.0, NAN), ["a", 1.0]])
def test_alpha0_must_be_positive_numbers(value):
    refused(lambda: Hierarchical(alpha0=value), InputError, "alpha0")


@pytest.mark.parametrize("alpha0", [(), (1.0,), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize("s", [2.0, "learn"])
def test_alpha0_of_the_wrong_length_is_refused(alpha0, s):
    prior = Hierarchical(s=s, alpha0=alpha0)
    error = refused(lambda: prior.posterior([[3, 1]]), InputError, "alpha0")
    assert "2 values, one for each state" in str(error)
    refused(lambda: prior.log_evidence([[3, 1]]), InputError, "alpha0")


@pytest.mark.parametrize(
    "engine",
    ["exact", "nuts", 3, object(), SimpleNamespace(solve=print)],
    ids=["exact", "nuts", "3", "object", "namespace"],
)
def test_unknown_engines_are_refused(engine):
    error = refused(lambda: Hierarchical(engine=engine), InputError, "engine")
    for name in ENGINES:
        assert f"{name}()" in str(error)


@pytest.mark.parametrize("engine", [Exact, Quadrature, Variational])
def test_an_engine_class_is_refused_with_the_remedy(engine):
    error = refused(lambda: Hierarchical(engine=engine), InputError, "engine")
    assert f"write {engine.__name__}()" in str(error)


def test_s_in_words_is_learn_only():
    error = refused(lambda: Hierarchical(s="Learn"), InputError, "s")
    assert '"learn"' in str(error)


def test_maximum_likelihood_has_no_posterior():
    for call in (MaximumLikelihood().posterior, MaximumLikelihood().log_evidence):
        with pytest.raises(NotSupportedError, match=r"MaximumLikelihood\(\).*no prior.*Hint"):
            call([[3, 1]])


def test_what_maximum_likelihood_does_with_unobserved_configurations():
    counts = [[3, 1], [0, 0]]
    assert np.array_equal(
        MaximumLikelihood().estimate(counts), [[0.75, 0.25], [NAN, NAN]], equal_nan=True
    )
    uniform = MaximumLikelihood("uniform").estimate(counts)
    assert np.array_equal(uniform, [[0.75, 0.25], [0.5, 0.5]])
    with pytest.raises(CountsError, match=r"1 of 2 configurations has no counts.*Hint"):
        MaximumLikelihood("raise").estimate(counts)
    assert np.array_equal(MaximumLikelihood("raise").estimate([[3, 1]]), [[0.75, 0.25]])
    for bad in ("zero", None, 0.0):
        refused(lambda bad=bad: MaximumLikelihood(bad), InputError, "unobserved")


@pytest.mark.parametrize("unobserved", ["nan", "uniform"])
def test_a_single_state_is_certain_without_any_prior(unobserved):
    counts, prior = FamilyCounts.from_array([[3], [0]]), MaximumLikelihood(unobserved)
    assert prior.estimate(counts).tolist() == [[1.0], [1.0]]
    family = Family(Variable("x", ["a"]), (Variable("y", [0, 1]),))
    assert Cpt.of(family, counts, prior).probabilities.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    "prior",
    [
        *PRIORS,
        Hierarchical(s=8.0),
        Hierarchical(s=1 / 3),
        BDeu(10),
        BDeu(0.1),
        SymmetricDirichlet(2.5),
        MaximumLikelihood("uniform"),
    ],
    ids=repr,
)
def test_the_word_for_a_prior_is_read_back(prior):
    assert prior_named(prior.word) == prior
    assert restored(json.loads(json.dumps(saved(prior)))) == prior


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("bdue:1", "did you mean bdeu:1?"),
        ("Hierarchical", "did you mean hierarchical?"),
        ("hierarchical:lern", "did you mean hierarchical:learn?"),
        ("hierarchical:8:9", ""),
        ("symmetric:x", ""),
        ("bdeu:", "did you mean bdeu?"),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest(word: str, hint: str) -> None:
    with pytest.raises(InputError, match="a prior such as") as caught:
        prior_named(word)
    assert caught.value.hint == hint


def test_a_wrong_number_is_named_by_what_it_is() -> None:
    with pytest.raises(InputError, match=r"for the strength in `prior`, got -2\.$"):
        prior_named("hierarchical:-2")
    with pytest.raises(InputError, match=r"equivalent sample size in `prior`, got -0\.5\.$"):
        prior_named("bdeu:-0.5")


@pytest.mark.parametrize("options", [{"alpha0": (1.0, 2.0)}, {"engine": Variational()}], ids=repr)
def test_a_prior_without_a_word_is_written_in_full_and_saved(options):
    prior = Hierarchical(**options)
    assert prior.word == repr(prior)
    assert restored(json.loads(json.dumps(saved(prior)))) == prior


def test_nobody_asks_which_prior_it_is():
    """What differs between priors is a method of theirs, so that a new one is known everywhere."""
    source = Path(colonnade.__file__).parent
    for path in source.rglob("*.py"):
        if path.parent == source / "priors":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                assert not names & set(REGISTERED), f"{path.name}, line {node.lineno}"


def test_priors_are_values():
    assert Hierarchical(alpha0=[1, 2]) == Hierarchical(alpha0=np.array([1.0, 2.0]))
    assert Hierarchical(alpha0=[1, 2]).alpha0 == (1.0, 2.0)
    assert len({Hierarchical(), Hierarchical(), BDeu(), BDeu(2)}) == 3
    assert Hierarchical(s=np.int64(3)) == Hierarchical(s=3.0)
    assert repr(BDeu(2)) == "BDeu(ess=2.0)"
    with pytest.raises(AttributeError):
        BDeu().ess = 3.0


def test_any_array_like_is_a_table():
    counts = [[8, 2], [0, 0], [7, 1]]
    right = Hierarchical().estimate(counts)
    for other in (
        np.array(counts, dtype=np.uint8),
        np.array(counts, dtype=np.float32),
        np.asfortranarray(counts),
        np.array(counts, dtype=object),
        tuple(map(tuple, counts)),
        FamilyCounts.from_array(counts),
    ):
        assert np.array_equal(Hierarchical().estimate(other), right)
    stacked = Hierarchical().estimate(np.arange(12).reshape(2, 3, 2))
    assert np.array_equal(stacked, Hierarchical().estimate(np.arange(12).reshape(6, 2)))


def test_the_default_strength_is_the_number_of_states():
    counts = [[4, 0, 1], [2, 0, 0]]
    for prior in (Hierarchical, SymmetricDirichlet):
        assert np.array_equal(prior().estimate(counts), prior(s=3.0).estimate(counts))


# ------------------------------------------------------------ extreme input


def sane(posterior):
    """Finite, distributions, ordered intervals around or near the mean, draws that are rows."""
    mean, variance = posterior.mean, posterior.variance
    lower, upper = posterior.interval(0.9)
    draws = posterior.sample(3, rng=1)
    for array in (mean, variance, lower, upper, draws, posterior.covariance(0)):
        assert np.isfinite(array).all()
    assert math.isfinite(posterior.log_evidence)
    assert posterior.log_evidence <= 1e-9 * (1.0 + abs(posterior.log_evidence))
    assert mean.sum(axis=1) == pytest.approx(1.0, abs=1e-11)
    assert draws.sum(axis=2) == pytest.approx(1.0, abs=1e-12)
    assert mean.min() >= 0.0
    assert variance.min() >= -1e-15
    assert variance.max() <= 0.25
    # both ends may be one or its neighbour
    assert np.all((lower >= 0.0) & (lower <= upper + 3e-16) & (upper <= 1.0))
    return mean


@pytest.mark.parametrize("prior", BAYESIAN, ids=repr)
def test_a_single_state_is_certain(prior):
    posterior = prior.posterior([[3], [0], [7]])
    assert sane(posterior) == pytest.approx(1.0, abs=1e-14)
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-7)
    assert posterior.variance == pytest.approx(0.0, abs=1e-14)
    for end in posterior.interval():
        assert end == pytest.approx(1.0, abs=3e-16)


@pytest.mark.parametrize("prior", BAYESIAN, ids=repr)
@pytest.mark.parametrize("shape", [(1, 2), (4, 3)])
def test_a_table_of_zeros_is_the_prior(prior, shape):
    posterior = prior.posterior(np.zeros(shape, int))
    assert sane(posterior) == pytest.approx(1.0 / shape[1], abs=1e-14)
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-7)
    assert posterior.borrowed == pytest.approx(1.0)


@pytest.mark.parametrize(
    "prior",
    [Hierarchical(), Hierarchical(s=0.01), Hierarchical(s="learn"), Hierarchical(alpha0=0.1)],
    ids=repr,
)
def test_a_million_million_observations_in_one_cell(prior):
    for rest in ([[0, 0]], [[3, 1]], [[0, 5 * 10**11]]):
        mean = sane(prior.posterior([[10**12, 7], *rest]))
        assert mean[0, 1] == pytest.approx(7e-12, rel=0.5)
    # the same law as for small counts: one more observation
    counts = np.array([[10**12, 7], [3, 1]])
    more = np.array([[10**12, 7], [3, 2]])
    before, after = prior.posterior(counts), prior.posterior(more)
    ratio = math.exp(after.log_evidence - before.log_evidence)
    assert ratio == pytest.approx(before.mean[1, 1], abs=1e-5 if prior.s == "learn" else 1e-9)


@pytest.mark.parametrize("engine", [None, Exact(), Quadrature()], ids=repr)
@pytest.mark.parametrize("alpha0", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("s", [1e-6, 1e6])
def test_tiny_and_huge_strengths(s, alpha0, engine):
    counts = np.array([[40, 0, 3], [0, 0, 0], [7, 7, 0], [1, 0, 0]])
    mean = sane(Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(counts))
    if s > 1.0:
        pooled = counts.sum(axis=0) + alpha0
        assert mean == pytest.approx(np.tile(pooled / pooled.sum(), (4, 1)), abs=1e-4)
    else:
        observed = counts.sum(axis=1) > 0
        likely = MaximumLikelihood().estimate(counts)
        assert mean[observed] == pytest.approx(likely[observed], abs=1e-5)
        # in the limit every cell that was seen is one table: alpha ~ Dirichlet(alpha0 + cells)
        cells = (counts > 0).sum(axis=0) + alpha0
        assert mean[1] == pytest.approx(cells / cells.sum(), abs=1e-4)


@pytest.mark.parametrize("engine", [Exact(), Quadrature()], ids=repr)
def test_many_states(engine):
    counts = np.zeros((3, 1500), int)
    counts[0, :3], counts[2, 1499] = [5, 1, 2], 4
    prior = Hierarchical(engine=engine)
    posterior = prior.posterior(counts)
    assert posterior.mean.sum(axis=1) == pytest.approx(1.0, abs=1e-11)
    assert posterior.mean.min() > 0.0
    assert posterior.mean[0, 100] == posterior.mean[0, 200]
    more = counts.copy()
    more[1, 77] += 1
    ratio = math.exp(prior.log_evidence(more) - posterior.log_evidence)
    assert posterior.mean[1, 77] == pytest.approx(ratio, rel=1e-7)


def test_a_million_observed_configurations():
    rng = np.random.default_rng(8)
    size = 10**6
    codes, values = np.arange(size)[:, None], rng.poisson([1.5, 0.7, 2.0], (size, 3))
    values[:, 0] += values.sum(axis=1) == 0
    counts = FamilyCounts.from_observed((10**12,), codes, values)
    prior = Hierarchical()
    posterior = prior.posterior(counts)
    assert counts.observed == size
    assert posterior.alpha.error.mean < 1e-9
    mean = posterior.observed_mean
    assert mean.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert posterior.row(3) == pytest.approx(mean[3], abs=1e-15)
    assert posterior.row(10**11) == pytest.approx(posterior.alpha.mean, abs=1e-15)
    values[3, 1] += 1
    more = FamilyCounts.from_observed((10**12,), codes, values)
    # the evidence is near -5e6, known to about 1e-8
    ratio = math.exp(prior.log_evidence(more) - posterior.log_evidence)
    assert mean[3, 1] == pytest.approx(ratio, abs=1e-6)


@pytest.mark.parametrize("counts", [[[1e-9, 0.0]], [[1e-300, 1.0]], [[0.5, 1e15], [1e-3, 2.5]]])
def test_fractions_from_next_to_nothing_to_huge(counts):
    for s in (0.5, 2.0, "learn"):
        sane(Hierarchical(s=s).posterior(counts))


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda p: p.sample(2.5), "n"),
        (lambda p: p.sample("x"), "n"),
        (lambda p: p.sample_alpha(0), "n"),
        (lambda p: p.with_limit("a"), "limit"),
        (lambda p: p.with_limit(float("nan")), "limit"),
        (lambda p: p.strength.interval("x"), "level"),
        (lambda p: p.interval(True), "level"),
        (lambda p: Hierarchical(s=10**400), "s"),
    ],
)
def test_wrong_arguments_of_a_posterior_are_named(call, parameter):
    posterior = Hierarchical(s="learn").posterior([[3, 1], [0, 2]])
    with pytest.raises(InputError) as caught:
        call(posterior)
    assert caught.value.parameter == parameter


def test_numbers_of_numpy_are_numbers():
    posterior = Hierarchical(alpha0=np.array(1.0)).posterior([[3, 1], [0, 2]])
    assert posterior.prior == Hierarchical()
    assert posterior.interval(np.float32(0.5)).lower.shape == (2, 2)
    assert np.array_equal(
        posterior.covariance(np.array([0]), np.array([1])), posterior.covariance(0, 1)
    )


def test_tiny_alpha0_and_dust_do_not_underflow():
    posterior = Hierarchical(alpha0=1e-3).posterior([[1e-9, 1.0], [1e-9, 0.5]])
    assert np.isfinite(posterior.mean).all()
    assert posterior.alpha.error.mean < 1e-9

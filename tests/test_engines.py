"""Every engine against sixty digits, against its own claim of error, and against the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
import oracle
from colonnade import Exact, FamilyCounts, Hierarchical, Quadrature, Reference, Variational
from colonnade.exceptions import ConvergenceWarning, InputError, NotSupportedError
from colonnade.pooling.draws import gauss_rule, log_dirichlet
from colonnade.pooling.tally import Tally

CASES = golden.load()
EPSILON = float(np.finfo(float).eps)


def is_small(case):
    return bool(np.all(case.counts == np.floor(case.counts))) and case.counts.sum() <= 2000


SMALL = [case for case in CASES if is_small(case)]


def solve(engine, case):
    return engine.solve(Tally.of(case.counts), case.s, case.alpha0)


def gaps(answer, case):
    """Worst error of the mean, of the covariance, and of the log evidence."""
    return (
        np.abs(answer.mean - case.mean).max(),
        np.abs(answer.covariance - case.covariance).max(),
        abs(answer.log_evidence - case.log_evidence),
    )


# ------------------------------------------------------------- sixty digits


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_exact_has_every_digit(case):
    mean, covariance, evidence = gaps(solve(Exact(), case), case)
    assert mean < 1e-14
    assert covariance < 1e-14
    assert evidence < 2e-11


# Large cells cost little; what Exact refuses is many observations in many cells.
LARGE = [
    "spread-r2-q2-n10000000-s2-1-equal",
    "spread-r2-q1000-n100000-s0.01-0.1-equal",
    "single-r2-q2-n1000000000000-s2-1-equal",
    "spread-r3-q5-n1000000-s3-0.1-equal",
]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in LARGE], ids=str)
def test_exact_has_every_digit_of_large_cells(case):
    answer = solve(Exact(), case)
    mean, covariance, evidence = gaps(answer, case)
    assert mean < 1e-14
    assert covariance < 1e-14
    assert evidence < 1e-13 * (1.0 + abs(case.log_evidence))
    assert mean <= answer.error.mean
    assert evidence <= answer.error.log_evidence


@pytest.mark.parametrize("case", CASES, ids=str)
def test_quadrature_has_nearly_every_digit(case):
    mean, covariance, evidence = gaps(solve(Quadrature(), case), case)
    assert mean < 5e-12
    assert covariance < 5e-13
    # a log evidence of 1e6 holds no digit beyond the tenth decimal
    assert evidence < (1e-10 if case.counts.sum() <= 2000 else 1e-13 * abs(case.log_evidence))


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_exact_is_not_further_off_than_it_says(case):
    answer = solve(Exact(), case)
    mean, _, evidence = gaps(answer, case)
    assert mean <= answer.error.mean < 1e-12
    assert evidence <= answer.error.log_evidence < 1e-10


# One or two observations among many states: the terms of the prior outweigh those of the data.
FEW = [(16, 1, 8.96, 0.994), (16, 1, 5.18, 0.028), (16, 1, 6.73, 0.012), (16, 1, 7.27, 26.451)]


def test_exact_is_not_further_off_than_it_says_with_few_observations():
    for r, n, alpha0, s in FEW:
        counts = np.zeros((1, r))
        counts[0, -1] = n
        right = oracle.exact_reference(counts, s, alpha0)
        answer = Exact().solve(Tally.of(counts), s, np.full(r, alpha0))
        assert abs(answer.log_evidence - right.log_evidence) <= answer.error.log_evidence


@pytest.mark.parametrize("case", CASES, ids=str)
def test_quadrature_is_not_further_off_than_it_says(case):
    answer = solve(Quadrature(), case)
    mean, _, evidence = gaps(answer, case)
    assert mean <= answer.error.mean < 1e-9
    scale = 1.0 if case.counts.sum() <= 2000 else abs(case.log_evidence)
    assert evidence <= answer.error.log_evidence < 1e-8 * scale


@pytest.mark.parametrize("case", CASES, ids=str)
def test_evidence_alone_is_the_same_number(case):
    for engine in [Exact(), Quadrature()] if is_small(case) else [Quadrature()]:
        answer = solve(engine, case)
        alone = engine.log_evidence(Tally.of(case.counts), case.s, case.alpha0)
        assert alone == pytest.approx(answer.log_evidence, rel=4 * EPSILON, abs=1e-14)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_automatic_choice_has_the_same_digits(case):
    prior = Hierarchical(s=case.s, alpha0=tuple(case.alpha0))
    answer = prior.posterior(case.counts).alpha
    mean, covariance, evidence = gaps(answer, case)
    assert mean < 5e-12
    assert covariance < 5e-13
    assert evidence < (1e-10 if case.counts.sum() <= 2000 else 1e-13 * abs(case.log_evidence))
    assert isinstance(answer.engine, Exact | Quadrature)


# The quick choice of a user: one table, no settings. Eight observations, exact rationals.
def test_a_posterior_worked_by_hand():
    # r = 2, one row with one observation of each state, s = 2, alpha0 = 1:
    # p(alpha | D) is proportional to a (1 - a), so alpha ~ Beta(2, 2); p(D) = E[(2a)(2b)] / 6.
    for engine in (Exact(), Quadrature()):
        answer = engine.solve(Tally.of(np.array([[1, 1]])), 2.0, np.ones(2))
        assert answer.mean == pytest.approx([0.5, 0.5], abs=1e-15)
        assert answer.covariance[0, 0] == pytest.approx(0.05, abs=1e-15)
        assert np.exp(answer.log_evidence) == pytest.approx((4 / 6) / 6, abs=1e-15)


# ---------------------------------------------------------------- agreement


@st.composite
def tables(draw, whole=True):
    """The catalogue: r, q, sparse or even rows, empty rows, unseen states, s and alpha0."""
    r, q = draw(st.sampled_from([2, 3, 7])), draw(st.sampled_from([1, 2, 50]))
    n = draw(st.sampled_from([1, 3, 20, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(r, draw(st.sampled_from([0.1, 1.0, 10.0]))), size=q)
    if draw(st.booleans()):
        rows[:, r // 2 + 1 :] = 0.0
    weight = rng.dirichlet(np.ones(q)) * (rng.random(q) < draw(st.sampled_from([0.4, 1.0])))
    weight = weight / weight.sum() if weight.any() else np.full(q, 1 / q)
    chances = (weight[:, None] * (rows + 1e-300)).ravel()
    counts = rng.multinomial(n, chances / chances.sum()).reshape(q, r).astype(float)
    if not whole:
        counts *= 1.0 + rng.random(counts.shape)
    s = 10.0 ** draw(st.floats(-3, 3))
    alpha0 = 10.0 ** rng.uniform(-1, 1, r if draw(st.booleans()) else 1) * np.ones(r)
    return counts, s, alpha0


def agree(one, two):
    assert np.abs(one.mean - two.mean).max() < 1e-11
    assert np.abs(one.covariance - two.covariance).max() < 1e-11
    scale = 1.0 + abs(one.log_evidence)
    assert abs(one.log_evidence - two.log_evidence) < 1e-12 * scale + 1e-11


@settings(max_examples=120)
@given(tables())
def test_quadrature_and_exact_agree(table):
    counts, s, alpha0 = table
    tally = Tally.of(counts)
    one, two = Exact().solve(tally, s, alpha0), Quadrature().solve(tally, s, alpha0)
    agree(one, two)
    assert np.abs(one.mean - two.mean).max() <= one.error.mean + two.error.mean
    assert two.error.mean < 1e-8


@settings(max_examples=80)
@given(tables())
def test_the_variational_bound_is_one_and_never_falls(table):
    counts, s, alpha0 = table
    tally = Tally.of(counts)
    answer = Variational().solve(tally, s, alpha0)
    exact = Exact().solve(tally, s, alpha0)
    rounding = 1e-12 * (1.0 + abs(exact.log_evidence))
    assert answer.log_evidence <= exact.log_evidence + rounding
    assert np.all(np.diff(answer.bounds) >= -rounding)
    assert answer.log_evidence == answer.bounds[-1]
    assert answer.log_evidence > exact.log_evidence - 1.0 - 0.5 * counts.shape[1]
    # close, and its own measure of how close is right
    away = np.abs(answer.mean - exact.mean).max()
    assert away < 0.1
    assert abs(answer.error.mean - away) < 1e-8
    gap = exact.log_evidence - answer.log_evidence
    assert abs(answer.error.log_evidence - gap) < 1e-8


def test_the_variational_engine_is_close_where_the_paper_used_it():
    for name in ("sparse-r5-q25-n320-s5-1-equal", "sparse-r5-q125-n1280-s5-1-equal"):
        case = next(case for case in CASES if case.name == name)
        mean, covariance, evidence = gaps(solve(Variational(), case), case)
        assert mean < 1e-3
        assert covariance < 2e-3
        assert 0.0 < evidence < 1.0


@settings(max_examples=25)
@given(tables(whole=False))
def test_fractional_counts_obey_the_chain_rule(table):
    # No other engine takes fractions, but one more observation in a new configuration must
    # multiply the evidence by E[alpha_x], and the second moments must be those after it.
    counts, s, alpha0 = table
    before = Quadrature().solve(Tally.of(counts), s, alpha0)
    for x in range(min(3, alpha0.size)):
        fresh = np.vstack([counts, np.eye(alpha0.size)[x]])
        after = Quadrature().solve(Tally.of(fresh), s, alpha0)
        ratio = np.exp(after.log_evidence - before.log_evidence)
        assert ratio == pytest.approx(before.mean[x], abs=1e-10)
        second = before.covariance[x] + before.mean[x] * before.mean
        assert after.mean * before.mean[x] == pytest.approx(second, abs=1e-10)


DUST = [
    (20, 2, 1e-3, 455.0, 0.05),
    (20, 2, 1e-4, 10.0, 0.1),
    (200, 2, 1e-4, 1.0, 0.1),
    (20, 3, 1e-3, 10.0, 0.1),
    (200, 2, 1e-10, 10.0, 1.0),
]


@pytest.mark.parametrize(("q", "r", "size", "s", "alpha0"), DUST)
def test_counts_far_below_one_are_as_exact_as_any(q, r, size, s, alpha0):
    counts = np.full((q, r), size)
    counts[0, 0] += 1.0
    right = oracle.fractional_reference(counts, s, alpha0, digits=12)
    answer = Quadrature().solve(Tally.of(counts), s, np.full(r, alpha0))
    mean, covariance, evidence = gaps(answer, right)
    assert mean < 1e-9
    assert covariance < 1e-9
    assert evidence < 1e-9
    assert mean <= answer.error.mean
    assert evidence <= answer.error.log_evidence


def test_whole_numbers_stored_as_floats_are_whole():
    counts = np.array([[3, 1, 0], [2, 0, 0]])
    agree(*(Exact().solve(Tally.of(c), 2.0, np.ones(3)) for c in (counts, counts.astype(float))))


@pytest.mark.parametrize("engine", [Exact(), Quadrature(), Variational()], ids=repr)
def test_unseen_states_cost_nothing_and_share_by_their_prior(engine):
    # a thousand states, three of them seen
    alpha0 = np.full(1000, 0.02)
    alpha0[500:] *= 3.0
    counts = np.zeros((4, 1000))
    counts[:, :3] = [[5, 1, 0], [2, 2, 0], [0, 0, 1], [7, 0, 0]]
    answer = engine.solve(Tally.of(counts), 10.0, alpha0)
    few = engine.solve(
        Tally.of(counts[:, :5]), 10.0, np.array([0.02, 0.02, 0.02, 497 * 0.02, 500 * 0.06])
    )
    assert answer.mean.sum() == pytest.approx(1.0, abs=1e-13)
    assert answer.mean[:3] == pytest.approx(few.mean[:3], abs=1e-13)
    assert answer.mean[3:500].sum() == pytest.approx(few.mean[3], abs=1e-13)
    assert answer.mean[700] == pytest.approx(3.0 * answer.mean[300], rel=1e-12)
    assert answer.covariance[3:500, 3:500].sum() == pytest.approx(few.covariance[3, 3], abs=1e-13)
    assert answer.log_evidence == pytest.approx(few.log_evidence, abs=1e-11)


# ------------------------------------------------------------------- choice


@pytest.fixture
def _no_samplers(monkeypatch):
    def refuse(*_):
        raise AssertionError("an approximate engine was chosen silently")

    for engine in (Reference, Variational):
        monkeypatch.setattr(engine, "solve", refuse)
        monkeypatch.setattr(engine, "log_evidence", refuse)


@pytest.mark.usefixtures("_no_samplers")
@pytest.mark.parametrize("s", [None, 0.01, 50.0, "learn"])
def test_no_approximation_is_chosen_silently(s):
    rng = np.random.default_rng(5)
    large = FamilyCounts.from_observed(
        (3000,), np.arange(3000)[:, None], rng.integers(0, 60, (3000, 4))
    )
    for counts in ([[3, 1], [0, 0]], [[0.5, 2.25], [1.0, 0.0]], rng.poisson(9, (40, 16)), large):
        posterior = Hierarchical(s=s).posterior(counts)
        assert isinstance(posterior.alpha.engine, Exact | Quadrature)
        assert posterior.alpha.error.mean < (1e-4 if s == "learn" else 1e-10)
        assert Hierarchical(s=s).log_evidence(counts) == pytest.approx(
            posterior.log_evidence, rel=1e-13
        )


def test_the_faster_of_the_exact_engines_is_chosen():
    for counts, engine in (
        ([[3, 1]], Exact()),
        ([[3.5, 1.0]], Quadrature()),
        (np.full((64, 4), 100), Quadrature()),
    ):
        assert Hierarchical().posterior(counts).alpha.engine == engine


def test_a_gauss_rule_integrates_polynomials_as_its_points_do():
    points, weights = np.linspace(0.0, 1.0, 101), np.arange(1.0, 102.0)
    nodes, masses = gauss_rule(points, weights, 3)
    assert nodes.size == 3
    for degree in range(6):
        wanted = (weights @ points**degree) / weights.sum()
        assert masses @ nodes**degree == pytest.approx(wanted, rel=1e-12)


def test_logarithms_of_draws_are_finite_where_draws_underflow():
    logs = log_dirichlet(np.full((1000, 3), 1e-4), np.random.default_rng(0))
    assert np.isfinite(logs).all()
    assert (np.exp(logs) == 0.0).any()
    assert np.exp(logs).sum(axis=1) == pytest.approx(1.0)


def test_exact_refuses_fractions_and_very_large_tables():
    with pytest.raises(NotSupportedError, match=r"fractional counts.*Quadrature\(\)"):
        Hierarchical(engine=Exact()).posterior([[0.5, 1.0]])
    with pytest.raises(NotSupportedError, match=r"1000000 observations.*Quadrature\(\)"):
        Hierarchical(s=100.0, engine=Exact()).posterior(np.full((500, 2), 1000))
    with pytest.raises(NotSupportedError, match="fractional"):
        Hierarchical(engine=Exact()).log_evidence([[0.5, 1.0]])


def test_variational_options():
    for options, parameter in (
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": "x"}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"iterations": 0}, "iterations"),
    ):
        with pytest.raises(InputError) as caught:
            Variational(**options)
        assert caught.value.parameter == parameter
    with pytest.warns(ConvergenceWarning, match="2 iterations"):
        Hierarchical(engine=Variational(iterations=2)).posterior([[9, 1], [3, 3]])


@pytest.mark.parametrize("engine", [Exact(), Quadrature(), Variational()], ids=repr)
def test_answers_cannot_be_changed(engine):
    answer = engine.solve(Tally.of(np.array([[3, 1], [2, 2]])), 2.0, np.ones(2))
    for array in (answer.mean, answer.covariance):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(AttributeError):
        answer.mean = np.ones(2)
    assert repr(engine) in repr(answer)


@pytest.mark.parametrize("s", [0.1, 3.0, 1000.0])
@pytest.mark.parametrize("alpha0", [0.05, 1.0])
@pytest.mark.parametrize("rows", [2, 3, 30])
def test_few_tables_of_many_states(rows, alpha0, s):
    """Where partial sums lie far apart, or close together."""
    rng = np.random.default_rng(rows)
    counts = rng.poisson(rng.gamma(0.3, 5.0, (rows, 12)))
    exact, integrated = (
        Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(counts).alpha
        for engine in (Exact(), Quadrature())
    )
    assert integrated.mean == pytest.approx(exact.mean, abs=1e-12)
    assert integrated.covariance == pytest.approx(exact.covariance, abs=1e-13)
    assert integrated.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)

"""The posterior of s against a fine grid of sixty-digit evidences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import oracle
from colonnade import Exact, Hierarchical, Quadrature, Variational
from colonnade.exceptions import InputError, NotSupportedError
from colonnade.pooling import strength as learning
from colonnade.pooling.alpha import Component, DirichletAlpha, Engine
from colonnade.pooling.exact import choose
from colonnade.pooling.tally import Tally
from colonnade.priors.posterior import CptPosterior

# counts, alpha0: alike rows, unlike rows, three states, an unseen state, one row, many alike
TABLES = {
    "alike": ([[9, 1], [8, 2], [9, 0]], 1.0),
    "unlike": ([[5, 0], [0, 5], [5, 0], [0, 5]], 1.0),
    "three": ([[3, 0, 1], [0, 0, 0], [2, 2, 0]], (0.5, 1.0, 2.0)),
    "unseen": ([[7, 3, 0], [1, 9, 0]], 0.1),
    "single": ([[1, 0]], 1.0),
    "strong": ([[15, 15]] * 8, 1.0),
}
STEP = 0.1


@dataclass
class Grid:
    """Posterior of ln s on a fine grid, from the oracle and the documented prior."""

    logs: np.ndarray
    weights: np.ndarray
    log_evidence: float
    alpha: np.ndarray

    def cdf(self, s: float) -> float:
        # third-order rule of the smooth density, integrated from the left
        from scipy.interpolate import CubicSpline

        return float(
            CubicSpline(self.logs, self.weights / STEP).integrate(self.logs[0], math.log(s))
        )


@pytest.fixture(scope="module")
def grids():
    """s is Gamma with shape 2 and mean r: ln s has density s^2 exp(-2 s / r) (2 / r)^2."""
    found = {}
    for name, (counts, alpha0) in TABLES.items():
        r = len(counts[0])
        logs = np.arange(-11.0, math.log(r) + 3.2, STEP)
        references = [
            oracle.exact_reference(counts, float(s), alpha0, digits=20) for s in np.exp(logs)
        ]
        heights = np.array([reference.log_evidence for reference in references])
        heights += stats.gamma(2.0, scale=r / 2.0).logpdf(np.exp(logs)) + logs
        weights = np.exp(heights - heights.max())
        total = weights.sum()
        alpha = sum(w * ref.mean for w, ref in zip(weights / total, references, strict=True))
        evidence = heights.max() + math.log(total * STEP)
        found[name] = Grid(logs, weights / total, evidence, alpha)
    return found


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("engine", [None, Exact(), Quadrature()], ids=repr)
def test_the_posterior_of_s(grids, name, engine):
    counts, alpha0 = TABLES[name]
    grid = grids[name]
    posterior = Hierarchical(s="learn", alpha0=alpha0, engine=engine).posterior(counts)
    strength = posterior.strength
    claim = posterior.alpha.error
    # honest, and small
    assert abs(posterior.log_evidence - grid.log_evidence) <= claim.log_evidence < 1e-4
    assert np.abs(posterior.alpha.mean - grid.alpha).max() <= claim.mean < 1e-5
    s = np.exp(grid.logs)
    mean = grid.weights @ s
    spread = math.sqrt(grid.weights @ (s - mean) ** 2)
    assert abs(strength.mean - mean) <= 10.0 * strength.error * spread
    assert strength.error < 1e-4
    assert strength.log_evidence == posterior.log_evidence == posterior.alpha.log_evidence
    assert strength.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(strength.nodes) > 0.0)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_interval_of_s(grids, name, level):
    counts, alpha0 = TABLES[name]
    strength = Hierarchical(s="learn", alpha0=alpha0).posterior(counts).strength
    low, high = strength.interval(level)
    cdf = grids[name].cdf
    assert cdf(low) == pytest.approx((1.0 - level) / 2.0, abs=5e-4)
    assert cdf(high) == pytest.approx((1.0 + level) / 2.0, abs=5e-4)
    # Negative control: the ends of another level are told apart, and by far.
    low, high = strength.interval(0.9 * level)
    assert cdf(low) - (1.0 - level) / 2.0 > 40 * 5e-4
    assert (1.0 + level) / 2.0 - cdf(high) > 40 * 5e-4


@pytest.mark.parametrize("r", [1, 2, 5])
def test_without_data_s_keeps_its_prior(r):
    posterior = Hierarchical(s="learn").posterior(np.zeros((3, r), int))
    prior = stats.gamma(2.0, scale=r / 2.0)
    assert posterior.strength.mean == pytest.approx(r, rel=1e-6)
    assert posterior.strength.interval(0.9) == pytest.approx(prior.ppf([0.05, 0.95]), rel=2e-3)
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-7)


def test_data_move_s_the_right_way():
    def mean(counts):
        return Hierarchical(s="learn").posterior(counts).strength.mean

    alike, unlike = [[50, 50]] * 6, [[100, 0], [0, 100]] * 3
    assert mean(unlike) < 0.7 < 2.0 < 4.0 < mean(alike)


@pytest.mark.parametrize(("q", "n"), [(2, 4000), (400, 3), (3000, 40)])
def test_larger_tables_have_the_same_peak_as_their_evidence(q, n):
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(6.0 * np.array([0.5, 0.3, 0.2]), size=q)
    counts = np.array([rng.multinomial(n, row) for row in rows])
    posterior = Hierarchical(s="learn").posterior(counts)

    def height(log_s):
        s = math.exp(log_s)
        return (
            Hierarchical(s=s).log_evidence(counts) + stats.gamma(2.0, scale=1.5).logpdf(s) + log_s
        )

    # first where it matters, then finely there
    rough = np.linspace(-3.0, 5.0, 81)
    heights = np.array([height(log_s) for log_s in rough])
    kept = np.flatnonzero(heights > heights.max() - 35.0)
    logs = np.linspace(rough[max(kept[0] - 1, 0)], rough[min(kept[-1] + 1, 80)], 101)
    heights = np.array([height(log_s) for log_s in logs])
    weights = np.exp(heights - heights.max())
    mean = weights @ np.exp(logs) / weights.sum()
    assert posterior.strength.mean == pytest.approx(mean, rel=1e-4)
    evidence = heights.max() + math.log(weights.sum() * (logs[1] - logs[0]))
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-4)


def test_with_s_fixed_there_is_no_posterior_of_it():
    assert Hierarchical(s=2.0).posterior([[3, 1]]).strength is None


def test_an_engine_without_evidence_cannot_learn_s():
    class Blind(Engine):
        """Like a sampler: moments, but no evidence."""

        def _solved(self, pool):
            return DirichletAlpha.of(pool.alpha0 + 1.0, None, self)

        def __repr__(self):
            return "Blind()"

    with pytest.raises(NotSupportedError, match=r'"learn" with Blind\(\).*no log evidence.*Exact'):
        Hierarchical(s="learn", engine=Blind()).posterior([[3, 1]])
    with pytest.raises(NotSupportedError, match=r"log evidence of .*Blind\(\)"):
        Hierarchical(s=2.0, engine=Blind()).log_evidence([[3, 1]])
    assert Hierarchical(s=2.0, engine=Blind()).posterior([[3, 1]]).log_evidence is None


def test_the_variational_bound_can_stand_in_for_the_evidence():
    counts = [[9, 1], [8, 2], [9, 0]]
    bound = Hierarchical(s="learn", engine=Variational()).posterior(counts)
    exact = Hierarchical(s="learn").posterior(counts)
    assert bound.log_evidence < exact.log_evidence
    assert bound.strength.mean == pytest.approx(exact.strength.mean, rel=0.2)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_level_outside_zero_and_one_is_refused(level):
    strength = Hierarchical(s="learn").posterior([[3, 1]]).strength
    with pytest.raises(InputError, match="`level`"):
        strength.interval(level)


def drawn_table(rng, kind):
    """Counts of some kind, with empty rows and unseen states among them."""
    r, q = int(rng.integers(2, 7)), int(rng.choice([1, 3, 12]))
    n = int(rng.choice([1, 20, 200, 2000]))
    alpha = rng.dirichlet(np.full(r, 0.7))
    rows = rng.dirichlet(float(rng.choice([0.3, 3.0, 300.0])) * alpha + 1e-6, size=q)
    sizes = rng.multinomial(n, rng.dirichlet(np.ones(q)))
    counts = np.array([rng.multinomial(size, row) for size, row in zip(sizes, rows, strict=True)])
    if kind == "fractional":
        return counts * rng.uniform(0.2, 2.0, counts.shape)
    if kind == "mixed":
        return counts + 0.5 * (rng.random(counts.shape) < 0.2)
    if kind == "huge":
        return np.floor(counts[:, :2] * 10.0 ** rng.uniform(4.0, 9.0))
    if kind == "tiny":
        return counts[:, :3] * 10.0 ** rng.uniform(-3.0, -1.0)
    return counts


def finely(tally, alpha0, mean, monkeypatch):
    """The same posterior from the engines at one s after the other, with steps half as long."""
    monkeypatch.setattr(learning, "_MAX_STEP_OF_ENGINE", 0.25)
    monkeypatch.setattr(learning, "_MAX_STEP_OF_ENGINE_IN_DEVIATIONS", 0.5)
    return learning._node_by_node(tally, alpha0, None, mean)


@pytest.mark.parametrize(
    ("kind", "tables"),
    [("whole", 60), ("fractional", 5), ("mixed", 3), ("huge", 6), ("tiny", 3)],
)
def test_all_strengths_together_are_as_good_as_one_after_the_other(kind, tables, monkeypatch):
    rng = np.random.default_rng(len(kind))
    for _ in range(tables):
        counts = drawn_table(rng, kind)
        tally = Tally.of(counts)
        if tally.total == 0.0:
            continue
        r = tally.states
        alpha0 = np.full(r, float(rng.choice([0.5, 1.0, 3.0])))
        mean = r * float(rng.choice([1.0, 4.0]))
        learned = learning.learn(tally, alpha0, mean)
        strength, parts = finely(tally, alpha0, mean, monkeypatch)
        claim = learned.error + learned.strength.error
        assert claim < 3e-5
        gap = abs(learned.strength.log_evidence - strength.log_evidence)
        own = max(part.alpha.error.log_evidence for part in parts)
        assert gap <= claim + own
        assert gap <= 1e-6 + own
        alpha = strength.weights @ np.array([part.mean for part in parts])
        assert np.abs(learned.strength.weights @ learned.alpha - alpha).max() < 1e-6
        assert learned.strength.mean == pytest.approx(strength.mean, rel=1e-5)
        assert learned.alpha.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
        alone = learning.learned_log_evidence(tally, alpha0, mean)
        assert alone == pytest.approx(learned.strength.log_evidence, rel=1e-13)


@pytest.mark.parametrize("most", [0.0, 1e9], ids=["integrated", "multiplied out"])
def test_both_ways_to_all_strengths_agree_with_the_engines_at_each(most, monkeypatch):
    monkeypatch.setattr(learning, "_MAX_MULTIPLIED_OUT", most)
    rng = np.random.default_rng(8)
    for _ in range(25):
        counts = drawn_table(rng, "whole")
        tally = Tally.of(counts)
        alpha0 = np.full(tally.states, float(rng.choice([0.5, 1.0, 3.0])))
        learned = learning.learn(tally, alpha0)
        assert learned.error < 1e-5
        for s, alpha in zip(learned.strength.nodes[::6], learned.alpha[::6], strict=True):
            exact = choose(tally, float(s)).solve(tally, float(s), alpha0)
            assert np.abs(alpha - exact.mean).max() <= learned.error + exact.error.mean


def test_numbers_of_tables_beyond_the_range_of_floats_are_integrated(monkeypatch):
    # Many tables at the largest s: their weights cannot be tilted for the smallest as well.
    tally = Tally.of(np.array([[900, 700, 500, 300, 200, 100]]))
    way = {}
    for most in (0.0, 1e9):
        monkeypatch.setattr(learning, "_MAX_MULTIPLIED_OUT", most)
        way[most] = learning.learn(tally, np.ones(6), mean=240.0).strength
    assert way[0.0].log_evidence == pytest.approx(way[1e9].log_evidence, abs=1e-7)
    assert way[0.0].mean == pytest.approx(way[1e9].mean, rel=1e-6)


def test_only_what_is_asked_for_is_computed(monkeypatch):
    solved = []
    solve = Engine.solve
    monkeypatch.setattr(Engine, "solve", lambda *given: solved.append(1) or solve(*given))
    prior = Hierarchical(s="learn")
    counts = [[9, 1, 0], [8, 2, 0], [9, 0, 3]]
    posterior = prior.posterior(counts)
    assert prior.log_evidence(counts) == posterior.log_evidence == posterior.alpha.log_evidence
    before = posterior.mean
    assert posterior.alpha.mean == pytest.approx(posterior.default)
    assert posterior.alpha.error.mean < 1e-6
    assert not solved
    # Variances take fewer values of s than there are, and once.
    assert posterior.variance.min() > 0.0
    assert 5 < len(solved) < len(posterior.components)
    variance, once = np.diag(posterior.covariance(0)), len(solved)
    assert posterior.variance[0] == pytest.approx(variance, rel=1e-12)
    assert len(solved) == once
    assert np.array_equal(posterior.mean, before)
    for part in posterior.components:
        assert np.abs(part.mean - part.alpha.mean).max() < 1e-7


@pytest.mark.parametrize("counts", [[[9, 1, 0], [8, 2, 0], [0, 0, 0]], [[40, 2], [35, 1], [2, 0]]])
def test_few_values_of_s_are_enough_for_variances_and_intervals(counts):
    posterior = Hierarchical(s="learn").posterior(counts)
    known = tuple(Component(part.weight, part.s, part.alpha) for part in posterior.components)
    slow = CptPosterior(posterior.counts, posterior.prior, known, posterior.strength)
    assert posterior.variance == pytest.approx(slow.variance, rel=1e-5)
    assert posterior.covariance(0, 1) == pytest.approx(slow.covariance(0, 1), abs=1e-7)
    for quick, right in zip(posterior.interval(0.9), slow.interval(0.9), strict=True):
        assert quick == pytest.approx(right, abs=1e-5)


def test_the_prior_mean_of_s_is_a_parameter():
    tally, alpha0 = Tally.of(np.array([[3, 1], [2, 2]])), np.ones(2)
    default, same, larger = (learning.learn(tally, alpha0, m).strength for m in (None, 2.0, 8.0))
    assert default.log_evidence == same.log_evidence
    assert larger.mean > 2.0 * same.mean
    slow, _ = learning.learn_strength(tally, alpha0, Exact(), 8.0)
    assert slow.mean == pytest.approx(larger.mean, rel=1e-4)
    assert slow.log_evidence == pytest.approx(larger.log_evidence, abs=1e-5)

"""Simulation-based calibration: if the posterior is right, the truth is one more of its draws.

Tables are simulated from the prior; the rank of the true value among independent draws of its
posterior is then uniform, and an interval of level 0.9 holds the truth nine times in ten. Seeds
are fixed. All tests that must pass share a false-alarm budget of 1e-6, so a change of the random
stream does not turn them red; each has a wrong sampler or interval beside it that must fail.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from colonnade import Exact, Hierarchical, Quadrature, Variational
from colonnade.pooling.draws import dirichlet

# 4 x 5 quantities with fixed s, 2, 4, 5 with learned s, 4 x 3 coverages: 43 tests.
THRESHOLD = 1e-6 / 43
DRAWS, BINS = 39, 10
ALPHA0 = (0.6, 1.0, 2.0)
PAIR = (0.8, 1.5)
S = 5.0
# rows of few and many observations, and one without any
TOTALS = (6, 2, 0, 12)
CELLS = [(0, 0), (1, -1), (2, 1)]


def simulate(rng, s=S, alpha0=ALPHA0, totals=TOTALS):
    """A truth and a table from it."""
    alpha = dirichlet(np.array(alpha0), rng)
    theta = dirichlet(np.tile(s * alpha, (len(totals), 1)), rng)
    counts = np.array([rng.multinomial(n, p) for n, p in zip(totals, theta, strict=True)])
    return alpha, theta, counts


def p_value(ranks):
    """Of the hypothesis that ranks from 0 to DRAWS are uniform."""
    found = np.bincount(np.asarray(ranks) * BINS // (DRAWS + 1), minlength=BINS)
    return float(stats.chisquare(found).pvalue)


def ranks_of(posterior, alpha, theta, rng):
    """Ranks of three cells of theta and of two of alpha."""
    drawn_alpha, strength = posterior.sample_alpha(DRAWS, rng)
    rows = posterior.counts.to_array()
    drawn = dirichlet(rows[None] + (strength[:, None] * drawn_alpha)[:, None, :], rng)
    cells = [int((drawn[:, y, x] < theta[y, x]).sum()) for y, x in CELLS]
    return cells + [int((drawn_alpha[:, x] < alpha[x]).sum()) for x in (0, -1)]


def calibrate(engine, tables, seed, alpha0=ALPHA0, totals=TOTALS):
    rng = np.random.default_rng(seed)
    prior = Hierarchical(s=S, alpha0=alpha0, engine=engine)
    ranks = []
    for _ in range(tables):
        alpha, theta, counts = simulate(rng, S, alpha0, totals)
        ranks.append(ranks_of(prior.posterior(counts), alpha, theta, rng))
    return [p_value(column) for column in np.array(ranks).T]


@pytest.mark.parametrize(
    ("engine", "alpha0", "totals", "tables"),
    [
        (Exact(), ALPHA0, TOTALS, 3000),
        (Exact(), PAIR, TOTALS, 3000),
        (Quadrature(), PAIR, TOTALS, 1500),
        (Quadrature(), ALPHA0, (30, 10, 0, 60), 250),
    ],
    ids=["exact-3", "exact-2", "quadrature-2", "quadrature-3"],
)
def test_exact_draws_are_calibrated(engine, alpha0, totals, tables):
    assert min(calibrate(engine, tables, 20, alpha0, totals)) > THRESHOLD


def test_the_posterior_sample_itself_is_calibrated():
    # the same through the one call a user makes, all rows of a draw at once
    rng = np.random.default_rng(21)
    prior = Hierarchical(s=S, alpha0=ALPHA0)
    ranks = []
    for _ in range(1500):
        _, theta, counts = simulate(rng)
        drawn = prior.posterior(counts).sample(DRAWS, rng)
        # a quantity of two rows together is wrong unless they share their alpha
        apart = np.abs(drawn[:, 0, 0] - drawn[:, 2, 0])
        below = drawn[:, 2, 1] < theta[2, 1], apart < abs(theta[0, 0] - theta[2, 0])
        ranks.append([int(rank.sum()) for rank in below])
    assert min(p_value(column) for column in np.array(ranks).T) > THRESHOLD


def test_learned_strength_is_calibrated():
    rng = np.random.default_rng(22)
    prior = Hierarchical(s="learn", alpha0=ALPHA0)
    ranks = []
    for _ in range(600):
        # the documented prior of s: Gamma with shape 2 and mean r
        alpha, theta, counts = simulate(rng, s=rng.gamma(2.0, 3.0 / 2.0))
        ranks.append(ranks_of(prior.posterior(counts), alpha, theta, rng))
    assert min(p_value(column) for column in np.array(ranks).T) > THRESHOLD


def chances(counts, s, alpha0, draws):
    """CDF of the posterior of the first alpha of two, at draws of it, by a fine grid in logits."""
    y = np.linspace(-60.0, 60.0, 240_001)
    logs = np.zeros(y.size)
    for x, log_a in enumerate((-np.logaddexp(0.0, -y), -np.logaddexp(0.0, y))):
        t = s * np.exp(log_a)
        logs += alpha0[x] * log_a
        for n in counts[:, x][counts[:, x] > 0]:
            logs += log_a + gammaln(t + n) - gammaln(t + 1.0)
    weights = np.exp(logs - logs.max())
    cumulative = np.cumsum(weights) - 0.5 * weights
    return np.interp(np.log(draws) - np.log1p(-draws), y, cumulative / weights.sum())


@pytest.mark.parametrize("engine", [Exact(), Quadrature()], ids=repr)
@pytest.mark.parametrize("s", [0.5, 20.0])
def test_draws_of_alpha_follow_the_density_finely(engine, s):
    # Many draws of one posterior see what calibration over few draws of many cannot.
    counts = np.array([[8, 2], [0, 5], [3, 3], [60, 20]])
    alpha = Hierarchical(s=s, alpha0=PAIR, engine=engine).posterior(counts).alpha
    draws = alpha.sample(60_000, rng=29)[:, 0]
    found = np.bincount((chances(counts, s, PAIR, draws) * 100).astype(int), minlength=100)
    assert stats.chisquare(found).pvalue > THRESHOLD
    # Negative control: the same in steps of half a deviation, as from a sampler without rejection.
    places = np.log(draws) - np.log1p(-draws)
    step = 0.5 * places.std()
    places = (np.floor(places / step) + np.random.default_rng(30).random(places.size)) * step
    blurred = 1.0 / (1.0 + np.exp(-places))
    found = np.bincount((chances(counts, s, PAIR, blurred) * 100).astype(int), minlength=100)
    assert stats.chisquare(found).pvalue < THRESHOLD


# -------------------------------------------------------- negative controls


def test_a_plug_in_sampler_is_rejected():
    # theta drawn at E[alpha], as if alpha were known: too narrow
    rng = np.random.default_rng(23)
    ranks = []
    for _ in range(1500):
        _, theta, counts = simulate(rng)
        posterior = Hierarchical(s=S, alpha0=ALPHA0).posterior(counts)
        drawn = dirichlet(np.tile(counts + S * posterior.alpha.mean, (DRAWS, 1, 1)), rng)
        ranks.append([int((drawn[:, y, x] < theta[y, x]).sum()) for y, x in CELLS])
    assert min(p_value(column) for column in np.array(ranks).T) < THRESHOLD


def test_alpha_and_theta_confused_is_rejected():
    # the pooled counts as the posterior of alpha, as if every row were alpha itself
    rng = np.random.default_rng(24)
    ranks = []
    for _ in range(1500):
        alpha, _, counts = simulate(rng)
        drawn = dirichlet(np.tile(counts.sum(axis=0) + np.array(ALPHA0), (DRAWS, 1)), rng)
        ranks.append([int((drawn[:, x] < alpha[x]).sum()) for x in (0, -1)])
    assert min(p_value(column) for column in np.array(ranks).T) < THRESHOLD


def test_the_wrong_strength_is_rejected():
    rng = np.random.default_rng(25)
    ranks = []
    for _ in range(1500):
        alpha, theta, counts = simulate(rng, s=S / 3.0)
        posterior = Hierarchical(s=S, alpha0=ALPHA0).posterior(counts)
        ranks.append(ranks_of(posterior, alpha, theta, rng))
    assert min(p_value(column) for column in np.array(ranks).T) < THRESHOLD


def test_the_variational_draws_are_told_apart():
    # Its Dirichlet has the wrong spread, by a little: with enough tables that is seen.
    assert min(calibrate(Variational(), 12_000, seed=26)) < THRESHOLD


# ----------------------------------------------------------------- coverage


LEVELS = (0.5, 0.9)


def intervals(prior, tables, seed, strength):
    """True cells and the ends of their intervals, each ``[level, table, cell]``."""
    rng = np.random.default_rng(seed)
    found = np.empty((3, len(LEVELS), tables, len(CELLS)))
    for i, level in enumerate(LEVELS):
        for k in range(tables):
            _, theta, counts = simulate(rng, strength(rng), PAIR)
            ends = prior.posterior(counts).interval(level, [y for y, _ in CELLS])
            for j, (y, x) in enumerate(CELLS):
                found[:, i, k, j] = theta[y, x], ends.lower[j, x], ends.upper[j, x]
    return found


def coverage_p(truth, lower, upper):
    """Smallest p-value of the hypotheses that each cell is held as often as its level says."""
    inside = ((lower <= truth) & (truth <= upper)).sum(axis=1)
    return min(
        stats.binomtest(int(hits), truth.shape[1], level).pvalue
        for level, cells in zip(LEVELS, inside, strict=True)
        for hits in cells
    )


@pytest.fixture(scope="module")
def fixed():
    return intervals(Hierarchical(s=S, alpha0=PAIR), 160, 27, lambda rng: S)


def test_intervals_cover_as_often_as_they_say(fixed):
    assert coverage_p(*fixed) > THRESHOLD


def test_intervals_of_half_the_width_are_rejected(fixed):
    truth, lower, upper = fixed
    assert coverage_p(truth, 0.75 * lower + 0.25 * upper, 0.25 * lower + 0.75 * upper) < THRESHOLD


def test_intervals_with_learned_strength_cover_as_often_as_they_say():
    prior = Hierarchical(s="learn", alpha0=PAIR)
    # the documented prior of s: Gamma with shape 2 and mean r
    found = intervals(prior, 30, 28, lambda rng: rng.gamma(2.0, 2.0 / 2.0))
    assert coverage_p(*found) > THRESHOLD

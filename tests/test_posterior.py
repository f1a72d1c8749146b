"""CptPosterior against plain numerical integration, and everything a user asks of it.

The reference here is its own: the density of alpha on a trapezoidal grid in logits (or by
SciPy's quad), with the gamma functions of SciPy; nothing of the package takes part.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate
from scipy.special import betainc, gammaln

from colonnade import (
    BDeu,
    CptPosterior,
    Exact,
    FamilyCounts,
    Hierarchical,
    Quadrature,
    SymmetricDirichlet,
    Variational,
)
from colonnade.exceptions import InputError, NotSupportedError, TooLargeError

EXACT, QUADRATURE = Exact(), Quadrature()
TABLE = np.array([[8, 2], [0, 0], [7, 1], [1, 0]])
TRIPLE = np.array([[3, 0, 1], [0, 0, 0], [2, 2, 0]])


# ---------------------------------------------------------------- reference


def log_power(column, s, alpha0, log_a):
    """log of a f(a), with t = s a: Gamma(t + n) / Gamma(t) = t Gamma(t + n) / Gamma(t + 1)."""
    total = alpha0 * log_a
    for n in column[column > 0]:
        t = s * np.exp(log_a)
        total = total + np.log(s) + log_a + gammaln(t + n) - gammaln(t + 1.0)
    return total


def marginal(counts, s, alpha0, state, step=0.1, reach=600.0):
    """Points and weights of the posterior of one alpha (2 or 3 states), and the log evidence."""
    counts = np.asarray(counts, dtype=float)
    r = counts.shape[1]
    alpha0 = np.full(r, 1.0) * alpha0
    order = [state, *(x for x in range(r) if x != state)]
    columns, prior = counts[:, order].T, alpha0[order]
    y = np.arange(-reach, reach, step)
    log_t, log_u = -np.logaddexp(0.0, -y), -np.logaddexp(0.0, y)
    outer = log_power(columns[0], s, prior[0], log_t)
    if r == 2:
        logs = outer + log_power(columns[1], s, prior[1], log_u)
    else:
        rough = outer + (prior[1] + prior[2]) * log_u
        kept = np.flatnonzero(rough > rough.max() - 300.0)
        logs = np.full(y.size, -np.inf)
        for i in kept:
            rest = log_u[i]
            inner = log_power(columns[1], s, prior[1], rest + log_t)
            inner = inner + log_power(columns[2], s, prior[2], rest + log_u)
            logs[i] = outer[i] + np.logaddexp.reduce(inner) + np.log(step)
    top = logs.max()
    weights = np.exp(logs - top)
    constant = gammaln(alpha0.sum()) - gammaln(alpha0).sum()
    constant -= sum(gammaln(s + n) - gammaln(s) for n in counts.sum(axis=1))
    log_evidence = top + np.log(weights.sum() * step) + constant
    kept = weights > 1e-22 * weights.max()
    return np.exp(log_t[kept]), weights[kept] / weights[kept].sum(), log_evidence


def distribution(counts, s, points, weights, y, x):
    """CDF of theta_yx."""
    n, total = float(counts[y][x]), float(np.sum(counts[y]))
    tiny = np.finfo(float).tiny
    first = np.maximum(n + s * points, tiny)
    second = np.maximum(total - n + s * (1.0 - points), tiny)
    return lambda t: float(weights @ betainc(first, second, t))


def holds(cdf, end, level, close=1e-9, slack=1e-6):
    """Whether `end` is the quantile: within 1e-9 of it, or within 1e-6 in probability."""
    below, above = max(end - close, 0.0), min(end + close, 1.0)
    too_high = end > close and cdf(below) > level + slack
    too_low = end < 1.0 - close and cdf(above) < level - slack
    return not (too_high or too_low)


# ------------------------------------------------------------------ moments


@pytest.mark.parametrize(("s", "alpha0"), [(2.0, 1.0), (0.3, (0.5, 3.0)), (30.0, 1.0)])
@pytest.mark.parametrize("engine", [EXACT, QUADRATURE], ids=repr)
def test_moments_by_adaptive_quadrature_over_alpha(engine, s, alpha0):
    prior = np.ones(2) * alpha0

    def density(a):
        logs = log_power(TABLE[:, 0], s, prior[0], np.log(a))
        logs = logs + log_power(TABLE[:, 1], s, prior[1], np.log1p(-a))
        return np.exp(logs - np.log(a) - np.log1p(-a) + 14.0)

    def integral(f):
        parts = [(0.0, 0.5), (0.5, 0.9), (0.9, 1.0)]
        options = {"epsabs": 1e-14, "epsrel": 1e-11, "limit": 400}
        return sum(integrate.quad(lambda a: f(a) * density(a), *p, **options)[0] for p in parts)

    scale = integral(lambda a: 1.0)
    posterior = Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(TABLE)
    totals = TABLE.sum(axis=1)
    for y in range(len(TABLE)):
        # E[theta | alpha] and E[theta^2 | alpha] of a Beta variable, integrated over alpha
        size, n = totals[y] + s, TABLE[y, 0]
        first = integral(lambda a, n=n, size=size: (n + s * a) / size) / scale
        second = integral(
            lambda a, n=n, size=size: (n + s * a) * (n + s * a + 1.0) / (size * (size + 1.0))
        )
        assert posterior.mean[y, 0] == pytest.approx(first, abs=1e-9)
        assert posterior.variance[y, 0] == pytest.approx(second / scale - first**2, abs=1e-9)
        assert posterior.covariance(y)[0, 1] == pytest.approx(-posterior.variance[y, 0], abs=1e-14)
    size, size2 = totals[0] + s, totals[2] + s
    both = integral(lambda a: (8 + s * a) * (1 + s * (1 - a)) / (size * size2)) / scale
    expected = both - posterior.mean[0, 0] * posterior.mean[2, 1]
    assert posterior.covariance(0, 2)[0, 1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("engine", [EXACT, QUADRATURE], ids=repr)
def test_three_states_by_a_grid(engine):
    for s, alpha0 in [(3.0, 1.0), (20.0, (0.5, 1.0, 2.0))]:
        posterior = Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(TRIPLE)
        for x in range(3):
            points, weights, evidence = marginal(TRIPLE, s, alpha0, x, step=0.25, reach=150.0)
            mean = weights @ points
            assert posterior.alpha.mean[x] == pytest.approx(mean, abs=1e-11)
            spread = weights @ (points - mean) ** 2
            assert posterior.alpha.covariance[x, x] == pytest.approx(spread, abs=1e-11)
            assert posterior.log_evidence == pytest.approx(evidence, abs=1e-10)


@pytest.fixture(scope="module")
def learned():
    """alpha of the first state, s and their joint weights when s is learned, by a fine grid."""
    y = np.arange(-12.0, 4.5, 0.1)
    parts = []
    for s in np.exp(y):
        points, weights, evidence = marginal(TABLE, s, 1.0, 0, reach=80.0)
        # density of ln s under the Gamma prior of shape 2 and mean 2: s times s exp(-s)
        parts.append((points, weights, s, evidence + 2.0 * np.log(s) - s))
    logs = np.array([part[3] for part in parts])
    share = np.exp(logs - logs.max())
    evidence = logs.max() + np.log(share.sum() * 0.1)
    share /= share.sum()
    points = np.concatenate([part[0] for part in parts])
    weights = np.concatenate([part[1] * w for part, w in zip(parts, share, strict=True)])
    strength = np.concatenate([np.full(part[0].size, part[2]) for part in parts])
    return points, weights, strength, evidence


def test_learned_strength_mixes_the_moments(learned):
    a, weights, s, evidence = learned
    posterior = Hierarchical(s="learn").posterior(TABLE)
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-5)
    assert posterior.strength.mean == pytest.approx(weights @ s, rel=1e-5)
    assert posterior.alpha.mean[0] == pytest.approx(weights @ a, abs=1e-6)
    spread = weights @ (a - weights @ a) ** 2
    assert posterior.alpha.covariance[0, 0] == pytest.approx(spread, abs=1e-6)
    rows = [((n + s * a) / (total + s), total + s) for n, total in [(8, 10), (0, 0), (7, 8)]]
    for y, (own, size) in enumerate(rows):
        mean = weights @ own
        variance = weights @ (own * (1.0 - own) / (size + 1.0) + (own - mean) ** 2)
        assert posterior.mean[y, 0] == pytest.approx(mean, abs=1e-6)
        assert posterior.variance[y, 0] == pytest.approx(variance, abs=1e-6)
        borrowed = weights @ (s / size)
        assert posterior.borrowed[y] == pytest.approx(borrowed, abs=1e-6)
    (first, _), (second, _) = rows[0], rows[2]
    both = weights @ (first * second) - (weights @ first) * (weights @ second)
    assert posterior.covariance(0, 2)[0, 0] == pytest.approx(both, abs=1e-6)


@pytest.mark.parametrize(
    "prior",
    [
        Hierarchical(s=4.0, alpha0=0.7, engine=EXACT),
        Hierarchical(s=4.0, alpha0=0.7, engine=QUADRATURE),
        Hierarchical(s="learn"),
        SymmetricDirichlet(2.0),
        Hierarchical(s=4.0, engine=Variational()),
    ],
    ids=repr,
)
def test_draws_have_the_moments_and_the_quantiles(prior):
    n = 20_000
    posterior = prior.posterior(TRIPLE)
    draws = posterior.sample(n, rng=11)
    assert draws.shape == (n, 3, 3)
    assert draws.sum(axis=2) == pytest.approx(1.0, abs=1e-12)
    deviation = np.sqrt(posterior.variance)
    assert np.abs(draws.mean(axis=0) - posterior.mean).max() < 5.5 * deviation.max() / n**0.5
    # rows of one draw belong together: covariances between rows, not only within
    for y, y2 in [(0, 0), (0, 1), (1, 2)]:
        found = np.cov(draws[:, y].T, draws[:, y2].T)[:3, 3:]
        assert found == pytest.approx(posterior.covariance(y, y2), abs=0.08 * 5.5 / n**0.5 + 1e-4)
    lower, upper = posterior.interval(0.8)
    below, above = (draws < lower).mean(axis=0), (draws > upper).mean(axis=0)
    assert np.abs(below - 0.1).max() < 5.5 * 0.3 / n**0.5
    assert np.abs(above - 0.1).max() < 5.5 * 0.3 / n**0.5


@pytest.mark.parametrize("engine", [EXACT, QUADRATURE], ids=repr)
@pytest.mark.parametrize("alpha0", [1.0, (0.1, 5.0, 0.1)])
def test_draws_of_alpha_have_its_moments(engine, alpha0):
    n = 20_000
    alpha = Hierarchical(s=3.0, alpha0=alpha0, engine=engine).posterior(TRIPLE).alpha
    draws = alpha.sample(n, rng=3)
    assert draws.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    deviation = np.sqrt(np.diag(alpha.covariance))
    assert np.all(np.abs(draws.mean(axis=0) - alpha.mean) < 5.5 * deviation / n**0.5)
    assert np.cov(draws.T) == pytest.approx(alpha.covariance, abs=0.1 * 5.5 / n**0.5)


def test_draws_of_alpha_and_s_belong_together_and_come_in_no_order():
    posterior = Hierarchical(s="learn").posterior(TRIPLE)
    n = 20_000
    alpha, s = posterior.sample_alpha(n, rng=6)
    # The mean of alpha depends on s: their covariance tells pairs from two shuffled columns.
    products = (alpha[:, 0] - posterior.alpha.mean[0]) * (s - posterior.strength.mean)
    exact = sum(
        part.weight * (part.s - posterior.strength.mean) * part.alpha.mean[0]
        for part in posterior.components
    )
    error = products.std() / n**0.5
    assert abs(products.mean() - exact) < 5 * error
    assert abs(exact) > 10 * error
    # Any part of the draws is a sample, too.
    assert abs(np.corrcoef(np.arange(n), s)[0, 1]) < 5 / n**0.5


def test_draws_repeat_with_the_seed_and_differ_without():
    posterior = Hierarchical().posterior(TABLE)
    assert np.array_equal(posterior.sample(5, rng=1), posterior.sample(5, rng=1))
    assert not np.array_equal(posterior.sample(5, rng=1), posterior.sample(5, rng=2))
    rng = np.random.default_rng(1)
    assert not np.array_equal(posterior.sample(5, rng), posterior.sample(5, rng))


# ---------------------------------------------------------------- intervals

# counts, s, alpha0: plain; unseen state with alpha0 0.1; weak and strong rows; large counts
INTERVALS = [
    (TABLE, 2.0, 1.0),
    (TABLE, 0.05, (0.1, 1.0)),
    (TABLE, 60.0, 1.0),
    (np.array([[8, 0], [0, 0], [7, 0]]), 2.0, 0.1),
    (np.array([[8, 0], [0, 0], [7, 0]]), 40.0, 0.1),
    (np.array([[900, 500], [0, 1], [20, 5]]), 10.0, 1.0),
    (np.zeros((1, 2), int), 2.0, 0.5),
]


@pytest.mark.parametrize(("counts", "s", "alpha0"), INTERVALS)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_an_interval_holds_its_level(counts, s, alpha0, level):
    posterior = Hierarchical(s=s, alpha0=alpha0).posterior(counts)
    lower, upper = posterior.interval(level)
    assert lower.shape == upper.shape == counts.shape
    # both may be one or its neighbour
    assert np.all(lower <= upper + 3e-16)
    points, weights, _ = marginal(counts, s, alpha0, 0, step=0.04, reach=700.0)
    for y, x in np.ndindex(counts.shape):
        own = points if x == 0 else 1.0 - points
        cdf = distribution(counts, s, own, weights, y, x)
        assert holds(cdf, lower[y, x], (1.0 - level) / 2.0), (y, x)
        assert holds(cdf, upper[y, x], (1.0 + level) / 2.0), (y, x)
        # Negative control: a quantile two hundredths away is seen to be wrong.
        if 1e-6 < lower[y, x] < 1.0 - 1e-6:
            assert not holds(cdf, lower[y, x], (1.0 - level) / 2.0 - 0.02)


@pytest.mark.parametrize("engine", [EXACT, QUADRATURE], ids=repr)
def test_an_interval_holds_its_level_with_three_states(engine):
    counts, s, alpha0 = np.array([[3, 0, 1], [0, 0, 0], [2, 0, 0]]), 3.0, 0.3
    lower, upper = Hierarchical(s=s, alpha0=alpha0, engine=engine).posterior(counts).interval(0.9)
    for x in range(3):
        points, weights, _ = marginal(counts, s, alpha0, x, step=0.3, reach=250.0)
        for y in range(3):
            cdf = distribution(counts, s, points, weights, y, x)
            assert holds(cdf, lower[y, x], 0.05)
            assert holds(cdf, upper[y, x], 0.95)


@pytest.mark.parametrize("s", [300.0, 1e4, 1e6])
def test_an_interval_holds_its_level_with_a_strong_pool(s):
    # each row is then nearly alpha, far narrower than alpha itself is known
    lower, upper = Hierarchical(s=s).posterior(TABLE).interval(0.9)
    points, weights, _ = marginal(TABLE, s, 1.0, 0, step=0.1 / s**0.5, reach=25.0)
    cdf = distribution(TABLE, s, points, weights, 0, 0)
    assert holds(cdf, lower[0, 0], 0.05, slack=1e-5)
    assert holds(cdf, upper[0, 0], 0.95, slack=1e-5)


def test_an_interval_with_learned_strength(learned):
    a, weights, s, _ = learned
    posterior = Hierarchical(s="learn").posterior(TABLE)
    for level in (0.5, 0.9):
        lower, upper = posterior.interval(level)
        for y in range(3):
            n, total = TABLE[y, 0], TABLE[y].sum()

            def cdf(t, n=n, total=total):
                return weights @ betainc(n + s * a, total - n + s * (1.0 - a), t)

            assert cdf(lower[y, 0]) == pytest.approx((1.0 - level) / 2.0, abs=2e-5)
            assert cdf(upper[y, 0]) == pytest.approx((1.0 + level) / 2.0, abs=2e-5)


def test_intervals_of_chosen_configurations():
    posterior = Hierarchical().posterior(TABLE)
    lower, upper = posterior.interval(0.9)
    some = posterior.interval(0.9, configurations=[2, (1,)])
    assert some.lower == pytest.approx(lower[[2, 1]], abs=1e-12)
    assert some.upper == pytest.approx(upper[[2, 1]], abs=1e-12)


def test_rows_that_do_not_pool_have_beta_intervals():
    from scipy.stats import beta

    lower, upper = SymmetricDirichlet(2.0).posterior(TABLE).interval(0.9)
    assert lower == pytest.approx(beta.ppf(0.05, TABLE + 1.0, TABLE[:, ::-1] + 1.0), abs=1e-10)
    assert upper == pytest.approx(beta.ppf(0.95, TABLE + 1.0, TABLE[:, ::-1] + 1.0), abs=1e-10)


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.5, 95, float("nan"), "0.9", None])
def test_a_level_outside_zero_and_one_is_refused(level):
    with pytest.raises(InputError, match="`level`"):
        Hierarchical().posterior(TABLE).interval(level)


# -------------------------------------------------------------------- sizes


def test_rows_and_what_they_borrow():
    posterior = Hierarchical(s=2.0).posterior(TABLE)
    mean = posterior.mean
    assert np.array_equal(posterior.predictive(), mean)
    assert np.array_equal(posterior.row(0), mean[0])
    assert np.array_equal(posterior.row(1), posterior.default)
    assert np.array_equal(posterior.observed_mean, mean[[0, 2, 3]])
    assert posterior.default == pytest.approx(posterior.alpha.mean, abs=1e-15)
    assert posterior.borrowed == pytest.approx([2 / 12, 1.0, 2 / 10, 2 / 3], abs=1e-15)
    # Theorem 1 of the paper
    weight = posterior.borrowed[:, None]
    shares = TABLE / np.maximum(TABLE.sum(axis=1, keepdims=True), 1)
    assert mean == pytest.approx((1 - weight) * shares + weight * posterior.alpha.mean, abs=1e-14)
    for bad in (4, -1, 1.5, (0, 0)):
        with pytest.raises(InputError, match="`configuration`"):
            posterior.row(bad)


def test_configurations_by_index_and_by_codes_are_the_same():
    posterior = Hierarchical().posterior(FamilyCounts.from_array(np.arange(12).reshape(2, 3, 2)))
    for index, codes in enumerate(itertools.product(range(2), range(3))):
        assert np.array_equal(posterior.row(index), posterior.row(codes))
        assert np.array_equal(posterior.covariance(index), posterior.covariance(codes, index))
        assert np.array_equal(posterior.covariance(0, index), posterior.covariance((0, 0), codes))


@pytest.fixture
def sparse():
    """Ten parents of twenty states: 1e13 configurations, three of them observed."""
    codes = [[0] * 10, [19] * 10, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]]
    return FamilyCounts.from_observed((20,) * 10, codes, [[8, 2], [1, 0], [7, 1]])


@pytest.mark.parametrize("s", [2.0, "learn"])
def test_a_table_of_ten_million_million_rows(sparse, s):
    prior = Hierarchical(s=s)
    posterior, small = prior.posterior(sparse), prior.posterior([[8, 2], [0, 0], [7, 1], [1, 0]])
    assert posterior.log_evidence == pytest.approx(small.log_evidence, abs=1e-12)
    assert prior.log_evidence(sparse) == pytest.approx(small.log_evidence, abs=1e-12)
    assert posterior.default == pytest.approx(small.default, abs=1e-14)
    assert posterior.row((0,) * 10) == pytest.approx(small.row(0), abs=1e-14)
    assert posterior.row(20**10 - 1) == pytest.approx(small.row(3), abs=1e-14)
    assert posterior.row(12345) == pytest.approx(small.default, abs=1e-14)
    assert posterior.observed_mean == pytest.approx(small.mean[[0, 2, 3]], abs=1e-14)
    assert posterior.covariance(0, 1) == pytest.approx(small.covariance(0, 1), abs=1e-14)
    one, two = posterior.interval(0.9, [0, 7]), small.interval(0.9, [0, 1])
    assert one.lower == pytest.approx(two.lower, abs=1e-12)
    draws = posterior.sample_rows(np.array([[8, 2], [0, 0]]), 3, rng=1)
    assert draws.shape == (3, 2, 2)
    assert "1.02e13 configurations (3 observed)" in repr(posterior)


def test_dense_answers_are_refused_with_their_size(sparse):
    posterior = Hierarchical().posterior(sparse)
    for ask in (
        lambda: posterior.mean,
        lambda: posterior.predictive(),
        lambda: posterior.variance,
        lambda: posterior.borrowed,
        lambda: posterior.interval(0.9),
        lambda: posterior.sample(1),
        lambda: posterior.to_arviz(1),
        lambda: Hierarchical().estimate(sparse),
    ):
        with pytest.raises(TooLargeError, match=r"would have \d\.\d+e1\d cells") as caught:
            ask()
        assert caught.value.size >= 2 * 20**10
        assert caught.value.limit == posterior.limit


def test_the_limit_can_be_moved():
    posterior = Hierarchical().posterior(TABLE)
    with pytest.raises(TooLargeError, match=r"8 cells, more than the limit of 7.*with_limit"):
        _ = posterior.with_limit(7).mean
    assert np.array_equal(posterior.with_limit(8).mean, posterior.mean)
    with pytest.raises(TooLargeError, match="80 cells"):
        posterior.with_limit(79).sample(10)
    assert posterior.with_limit(80).sample(10, 1).shape == (10, 4, 2)
    with pytest.raises(TooLargeError, match="16 cells"):
        posterior.with_limit(15).interval()
    with pytest.raises(InputError, match="`limit`"):
        posterior.with_limit(0)
    with pytest.raises(InputError, match="`n`"):
        posterior.sample(0)


def test_bdeu_with_more_configurations_than_machine_integers():
    codes = [[19] * 30, [0] * 30]
    counts = FamilyCounts.from_observed((20,) * 30, codes, [[3, 0], [0, 2]])
    assert counts.configurations > 2**63
    posterior = BDeu(1.0).posterior(counts)
    # with no strength to speak of, the first observation of a row is a coin and the rest certain
    assert posterior.log_evidence == pytest.approx(2.0 * np.log(0.5), abs=1e-12)
    assert posterior.row((19,) * 30) == pytest.approx([1.0, 0.0], abs=1e-15)
    assert posterior.default == pytest.approx([0.5, 0.5])
    with pytest.raises(TooLargeError):
        _ = posterior.mean
    endless = FamilyCounts.from_observed((20,) * 300, [[0] * 300], [[1, 1]])
    with pytest.raises(NotSupportedError, match=r"2\.04e390 configurations"):
        BDeu(1.0).posterior(endless)
    assert np.isfinite(Hierarchical().log_evidence(endless))


# ------------------------------------------------------------------ outside


@pytest.mark.parametrize("s", [2.0, "learn"])
def test_to_arviz(s):
    pytest.importorskip("arviz", reason="the extra `arviz` is not installed")
    data = Hierarchical(s=s).posterior(TRIPLE).to_arviz(draws=50, rng=4)
    theta, alpha = data.posterior["theta"], data.posterior["alpha"]
    assert theta.dims == ("chain", "draw", "configuration", "state")
    assert theta.shape == (1, 50, 3, 3)
    assert alpha.shape == (1, 50, 3)
    assert data.posterior["s"].shape == (1, 50)
    assert theta.values.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(theta.values[0], Hierarchical(s=s).posterior(TRIPLE).sample(50, rng=4))
    if s == 2.0:
        assert np.all(data.posterior["s"].values == 2.0)


@pytest.mark.parametrize(
    "prior",
    [
        *(Hierarchical(engine=engine) for engine in (EXACT, QUADRATURE, Variational())),
        Hierarchical(s="learn"),
        BDeu(),
    ],
    ids=repr,
)
def test_a_posterior_survives_pickling(prior):
    posterior = prior.posterior(TABLE)
    again = pickle.loads(pickle.dumps(posterior))
    assert isinstance(again, CptPosterior)
    assert np.array_equal(again.mean, posterior.mean)
    assert np.array_equal(again.variance, posterior.variance)
    assert again.log_evidence == posterior.log_evidence
    assert np.array_equal(again.sample(3, 1), posterior.sample(3, 1))
    assert np.array_equal(again.interval(0.9).lower, posterior.interval(0.9).lower)
    assert again.prior == prior


def test_reprs_say_what_they_are():
    posterior = Hierarchical(s="learn").posterior(TABLE)
    text = repr(posterior)
    for part in ("4 configurations (3 observed) x 2 states", "n=19", "s='learn'", "log_evidence"):
        assert part in text
    assert f"s={posterior.strength.mean:.4g} (learned)" in text
    assert "Exact()" in repr(posterior.alpha)
    assert "95% interval" in repr(posterior.strength)
    single = BDeu().posterior([[3]])
    assert "1 configuration (1 observed) x 1 state, n=3" in repr(single)
    assert "(1 of 1 configuration x 1 state" in repr(single.table)


def test_a_posterior_cannot_be_changed():
    posterior = Hierarchical().posterior(TABLE)
    with pytest.raises(AttributeError):
        posterior.limit = 3
    for array in (posterior.alpha.mean, posterior.alpha.covariance, posterior.counts.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    # what is handed out dense is the caller's own
    mean = posterior.mean
    mean[:] = 0.0
    assert posterior.mean.sum() == pytest.approx(4.0)

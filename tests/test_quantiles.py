"""Quantiles of cells: against SciPy's Beta distribution, and against a plain search.

And the marginals of alpha that they need, against those of a chain that ends in the state.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc, expit

from colonnade import BDeu, Hierarchical, SymmetricDirichlet
from colonnade.kernels.cells import Rule, quantiles
from colonnade.kernels.marginals import rule
from colonnade.pooling.marginals import Marginals, _last
from colonnade.pooling.quantiles import _Cells, _laws_of, cell_quantiles
from colonnade.pooling.tally import Pool, Tally

LEVELS = np.array([0.0005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.9995])
SHAPES = [1e-3, 0.3, 1.0, 7.5, 400.0, 1999.0, 2001.0, 1e6, 1e12]


@pytest.mark.parametrize("b", SHAPES)
@pytest.mark.parametrize("a", SHAPES)
def test_one_beta_distribution(a, b):
    rule = Rule(np.array([a]), np.array([b]), np.ones(1))
    found = quantiles(np.zeros(1), np.zeros(1), rule, LEVELS)
    wanted = stats.beta(a, b).ppf(LEVELS)
    deviation = stats.beta(a, b).std()
    assert found[:, 0] == pytest.approx(wanted, rel=1e-9, abs=1e-9 * deviation + 2e-16)


def test_a_shape_that_vanishes_is_a_point():
    # one part in four is at 0, and two parts in four are at 1
    rule = Rule(np.array([0.0, 2.0, 3.0]), np.array([3.0, 2.0, 0.0]), np.array([0.25, 0.25, 0.5]))
    found = quantiles(np.zeros(1), np.zeros(1), rule, np.array([0.2, 0.375, 0.6]))
    assert found[:, 0] == pytest.approx([0.0, 0.5, 1.0], abs=1e-15)


def searched(mixture, cells, level):
    """Bisect the distribution function, as SciPy gives it."""
    low, high = np.full(cells.own.size, -740.0), np.full(cells.own.size, 40.0)
    for _ in range(70):
        y = 0.5 * (low + high)
        below = np.zeros(y.size)
        for weight, law in mixture:
            first = np.maximum(cells.own[:, None] + law.s * law.nodes, 1e-300)
            second = np.maximum(cells.rest[:, None] + law.s * (1.0 - law.nodes), 1e-300)
            below += weight * (betainc(first, second, expit(y)[:, None]) @ law.weight)
        low, high = np.where(below < level, y, low), np.where(below < level, high, y)
    return expit(high)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "prior",
    [
        Hierarchical(),
        Hierarchical(s="learn"),
        Hierarchical(s=1e-4),
        Hierarchical(s=300.0, alpha0=0.1),
        Hierarchical(alpha0=1e-6),
        SymmetricDirichlet(),
        BDeu(1e-3),
    ],
    ids=repr,
)
def test_mixtures_against_a_plain_search(prior, whole):
    rng = np.random.default_rng(5)
    rows = rng.gamma(0.3, 20.0, (12, 3)) * np.logspace(0, 6, 12)[:, None]
    rows = np.vstack([np.floor(rows) if whole else rows, np.zeros(3)])
    posterior = prior.posterior(rows[:6])
    levels = [0.0005, 0.25, 0.975]
    found = cell_quantiles(rows, posterior.components, levels)
    parts = _laws_of(posterior.components, 3)
    for state in range(3):
        mixture = [(weight, laws[state]) for weight, laws in parts]
        own = rows[:, state]
        cells = _Cells(own, rows.sum(axis=1) - own)
        for level, answer in zip(levels, found, strict=True):
            wanted = searched(mixture, cells, level)
            assert answer[:, state] == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("alpha0", [1.0, 0.01])
@pytest.mark.parametrize("s", [1e-3, 5.0, 1e4])
@pytest.mark.parametrize("whole", [True, False])
def test_marginals_from_two_chains_are_those_of_one_chain(whole, s, alpha0):
    rng = np.random.default_rng(2)
    counts = np.floor(rng.gamma(0.4, 1.0, (7, 6)) * [300.0, 30.0, 30.0, 3.0, 2.0, 0.0])
    counts = counts if whole else counts * rng.random(counts.shape)
    pool = Pool.of(Tally.of(counts), s, np.full(6, alpha0))
    marginals = Marginals.of(pool)
    for state in range(6):
        points, weights = rule(*marginals.at(state), 1.0)
        wanted_points, wanted_weights = rule(*_last(pool, state), 1.0)
        for power in (1.0, 2.0, 0.1):
            wanted = wanted_weights @ wanted_points**power
            assert weights @ points**power == pytest.approx(wanted, rel=1e-9)


# Ends of 90 % intervals of the first rows, as the search by distribution functions alone gave them.
FEW = ((12, 3, 0), (2, 5, 1), (0, 4, 9), (7, 0, 2))
RECORDED = (
    (FEW, 3.0, (0.547714275886, 0.0813528150961, 0.000417867670712)),
    (FEW, 3.0, (0.886773070163, 0.397806814154, 0.151524326722)),
    (FEW, 50.0, (0.389821822606, 0.144504087499, 0.0895316860652)),
    (FEW, 50.0, (0.678070051362, 0.400004260885, 0.332459207196)),
    (((1.5, 3.0, 0.0), (2.0, 0.25, 1.0)), 0.5, (0.0638137553038, 0.281227256682, 0.0)),
    (((1.5, 3.0, 0.0), (2.0, 0.25, 1.0)), 0.5, (0.694235474869, 0.923353733912, 0.148638795981)),
    (((900, 30, 0), (20, 50, 1)), 3.0, (0.956373318138, 0.0241058815186, 0.0)),
    (((900, 30, 0), (20, 50, 1)), 3.0, (0.975701013478, 0.0433665848461, 0.00120298870521)),
)


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_intervals_are_what_they_were(case):
    counts, s, ends = RECORDED[case]
    found = Hierarchical(s=s).posterior(counts).interval(0.9)[case % 2]
    assert found[0] == pytest.approx(ends, abs=1e-8)

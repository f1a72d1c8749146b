"""Leaving one observation out, from the counts, against doing it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.exceptions import NotSupportedError
from colonnade.pooling import Exact, Quadrature, Variational
from colonnade.pooling.leave_one_out import left_out, left_out_score
from colonnade.priors import BDeu, Hierarchical, SymmetricDirichlet

PRIORS = [
    (Hierarchical(), 1e-9),
    (Hierarchical(engine=Exact()), 1e-9),
    (Hierarchical(engine=Quadrature()), 1e-9),
    (Hierarchical(s=0.2, alpha0=0.5), 1e-9),
    (Hierarchical(s=40.0), 1e-9),
    (SymmetricDirichlet(), 1e-12),
    (SymmetricDirichlet(0.3), 1e-12),
    (BDeu(1), 1e-12),
    (BDeu(10), 1e-12),
    # The integral over s is good to a few parts in a million.
    (Hierarchical(s="learn"), 1e-5),
]
TABLES = {
    "two states": [[5, 1], [0, 3]],
    "one row": [[1, 4, 2]],
    "one observation": [[0, 1, 0]],
    "unseen state": [[3, 0, 1], [2, 0, 0], [1, 0, 1]],
    "single counts": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]],
    "one state": [[3], [1]],
    "many rows": np.random.default_rng(5).integers(0, 5, (12, 3)),
}


def by_removing(prior, counts):
    """Estimate the table anew without each observation."""
    answer = np.full(counts.shape, np.nan)
    for y, x in np.argwhere(counts > 0):
        fewer = counts.copy()
        fewer[y, x] -= min(1, counts[y, x])
        answer[y, x] = np.log(prior.posterior(fewer).row(int(y))[x])
    return answer


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("prior", "tolerance"), PRIORS, ids=lambda p: repr(p)[:40])
def test_equals_removing_each_observation(prior, tolerance, name) -> None:
    counts = np.array(TABLES[name])
    posterior = prior.posterior(counts)
    found = left_out(counts, posterior.components)
    np.testing.assert_allclose(found, by_removing(prior, counts), atol=tolerance)
    total = left_out_score(counts, posterior.components)
    assert total == pytest.approx(np.nansum(counts * found), abs=1e-9)


@pytest.mark.parametrize(
    ("prior", "tolerance"),
    [(Hierarchical(), 1e-9), (Hierarchical(s="learn"), 1e-5), (BDeu(2), 1e-12)],
)
def test_fractional_counts(prior, tolerance) -> None:
    counts = np.array([[0.5, 2.5, 0.0], [1.25, 0.75, 3.0]])
    found = left_out(counts, prior.posterior(counts).components)
    np.testing.assert_allclose(found, by_removing(prior, counts), atol=tolerance)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 5), st.floats(0.05, 30.0))
def test_both_ways_of_computing_agree(seed, states, rows, s) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, (rows, states))
    exact, quadrature = (
        Hierarchical(s=s, engine=engine).posterior(counts) for engine in (Exact(), Quadrature())
    )
    if exact.counts.observed:
        np.testing.assert_allclose(
            left_out(exact.counts.values, exact.components),
            left_out(quadrature.counts.values, quadrature.components),
            atol=1e-8,
        )


def test_an_approximate_engine_is_refused() -> None:
    posterior = Hierarchical(engine=Variational()).posterior([[3, 1]])
    with pytest.raises(NotSupportedError, match="does not compute the posterior exactly"):
        left_out(posterior.counts.values, posterior.components)

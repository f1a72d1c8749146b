"""NUTS and ADVI against the exact posterior; slow engines, so few tables and few draws."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import golden
import oracle
from colonnade.exceptions import ConvergenceWarning, InputError, MissingExtraError
from colonnade.pooling.reference import Reference
from colonnade.pooling.tally import Tally

CASES = {case.name: case for case in golden.load() if case.counts.size < 1000}
# Plain, fractional, and the hard one: unseen states with alpha0 from 0.1 to 10.
NAMES = [
    "sparse-r5-q25-n320-s5-1-equal",
    "fractional-r3-q8-n40-s3-1-equal",
    "unseen-r7-q8-n15-s1-0.1-unequal",
]
SAMPLER = Reference(kind="nuts", draws=1600, warmup=400, seed=1)
FITTER = Reference(kind="advi", draws=4000, warmup=3000, seed=1)


@pytest.fixture
def numpyro():
    return pytest.importorskip("numpyro", reason="the extra `reference` is not installed")


def run(engine, case):
    answer = engine.solve(Tally.of(case.counts), case.s, case.alpha0)
    return answer.draws, answer.log_evidence, answer.diagnostics


@pytest.mark.usefixtures("numpyro")
@pytest.mark.parametrize("name", NAMES[1:])
def test_nuts_is_within_its_monte_carlo_error(name):
    case = CASES[name]
    draws, log_evidence, diagnostics = run(SAMPLER, case)
    assert draws.shape == (1600, case.alpha0.size)
    assert log_evidence is None
    assert diagnostics.converged
    assert diagnostics.divergences == 0
    assert diagnostics.error.max() < 0.01
    distance = np.abs(draws.mean(axis=0) - case.mean)
    assert np.all(distance < 4 * diagnostics.error)
    assert draws.std(axis=0) == pytest.approx(np.sqrt(np.diag(case.covariance)), rel=0.2)
    # Negative control: pooling all rows into one, a usual confusion, is told apart.
    pooled = case.counts.sum(axis=0) + case.alpha0
    assert np.any(np.abs(draws.mean(axis=0) - pooled / pooled.sum()) > 4 * diagnostics.error)


@pytest.mark.usefixtures("numpyro")
@pytest.mark.parametrize("name", NAMES[:1])
def test_advi_is_close_and_its_bound_below_the_evidence(name):
    case = CASES[name]
    draws, bound, diagnostics = run(FITTER, case)
    assert diagnostics.converged
    assert np.all(np.abs(draws.mean(axis=0) - case.mean) < 0.01)
    assert np.all(np.abs(draws.mean(axis=0) - case.mean) < 4 * diagnostics.error)
    assert case.log_evidence - 0.1 < bound < case.log_evidence


@pytest.mark.usefixtures("numpyro")
def test_runs_repeat_and_leave_the_callers_precision_alone():
    import jax

    counts, alpha0 = np.array([[4.0, 1.0], [0.0, 3.0]]), np.ones(2)
    before = jax.config.jax_enable_x64
    engine = Reference(kind="advi", draws=50, warmup=1000)
    first, again = (engine.solve(Tally.of(counts), 2.0, alpha0).draws for _ in range(2))
    assert jax.config.jax_enable_x64 == before
    assert np.array_equal(first, again)
    assert first.dtype == np.float64
    assert not first.flags.writeable
    # Sums right to more digits than float32 has show the precision actually used.
    assert np.abs(first.sum(axis=1) - 1.0).max() < 1e-14
    exact = oracle.exact_reference(counts, 2.0, alpha0)
    assert first.mean(axis=0) == pytest.approx(exact.mean, abs=0.15)


@pytest.mark.usefixtures("numpyro")
@pytest.mark.parametrize(
    "engine",
    [Reference(kind="nuts", draws=64, warmup=1), Reference(kind="advi", draws=100, warmup=3)],
)
def test_an_unconverged_run_warns_and_says_so(engine):
    with pytest.warns(ConvergenceWarning, match=f"kind='{engine.kind}'"):
        _, _, diagnostics = run(engine, CASES[NAMES[0]])
    assert not diagnostics.converged
    assert diagnostics.doubts


def test_without_numpyro_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[reference\]\""):
        Reference().solve(Tally.of(np.ones((1, 2))), 1.0, np.ones(2))


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"kind": "gibbs"}, "kind"),
        ({"draws": 0}, "draws"),
        ({"draws": 10.5}, "draws"),
        ({"draws": 1001}, "draws"),
        ({"draws": 16, "chains": 4}, "draws"),
        ({"warmup": 0}, "warmup"),
        ({"chains": 0}, "chains"),
        ({"seed": -1}, "seed"),
        ({"kind": "advi", "chains": 4}, "chains"),
    ],
)
def test_bad_options_are_refused(options, parameter):
    with pytest.raises(InputError) as caught:
        Reference(**options)
    assert caught.value.parameter == parameter

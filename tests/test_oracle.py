"""The references are held to the laws of the model, and two unrelated routes to each other."""

from __future__ import annotations

import itertools
import json
import math

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln

import golden
import oracle

PRIORS = [(0.5, 1.0), (3.0, [0.1, 2.0, 0.7]), (100.0, 10.0), (0.01, 0.1)]


def gap(one, two):
    """Largest absolute difference between two references, in high precision."""
    with mpmath.workdps(80):
        pairs = [
            *zip(one.precise_mean, two.precise_mean, strict=True),
            *zip(
                itertools.chain.from_iterable(one.precise_covariance),
                itertools.chain.from_iterable(two.precise_covariance),
                strict=True,
            ),
            (one.precise_log_evidence, two.precise_log_evidence),
        ]
        return max(abs(a - b) for a, b in pairs)


@pytest.mark.parametrize(("s", "alpha0"), PRIORS)
@pytest.mark.parametrize("totals", [(3, 1, 0), (2, 2)])
def test_evidence_sums_to_one_over_all_data_sets(totals, s, alpha0):
    def log_evidence(table):
        return oracle.exact_reference(table, s, alpha0).log_evidence

    assert oracle.total_probability(totals, 3, log_evidence) == pytest.approx(1.0, abs=1e-13)


def test_the_sum_notices_a_normaliser_counted_once():
    # The posterior as printed has Gamma(s)/prod Gamma(s alpha) once, whatever the number of rows.
    def printed(table):
        totals = table.sum(axis=1)
        right = oracle.exact_reference(table, 2.0, 1.0).log_evidence
        return right - gammaln(2.0) * (totals.size - 1) + np.sum(gammaln(2.0 + totals[1:]))

    assert oracle.total_probability((2, 2), 2, printed) > 1.5


@pytest.mark.parametrize(("s", "alpha0"), PRIORS)
def test_one_more_observation_multiplies_by_the_predictive(s, alpha0):
    counts = np.array([[4, 0, 1], [2, 0, 0], [0, 0, 0]])
    before = oracle.exact_reference(counts, s, alpha0)
    with mpmath.workdps(70):
        for y, x in itertools.product(range(3), range(3)):
            after = oracle.exact_reference(counts + _unit(counts.shape, y, x), s, alpha0)
            predictive = (int(counts[y, x]) + mpmath.mpf(s) * before.precise_mean[x]) / (
                int(counts[y].sum()) + mpmath.mpf(s)
            )
            ratio = mpmath.exp(after.precise_log_evidence - before.precise_log_evidence)
            assert abs(ratio - predictive) < mpmath.mpf(10) ** -55


@pytest.mark.parametrize(("s", "alpha0"), PRIORS)
def test_two_fresh_rows_show_the_second_moment(s, alpha0):
    # One observation in each of two new rows has probability E[alpha_x alpha_x'].
    counts = np.array([[4, 0, 1], [2, 0, 0], [0, 0, 0], [0, 0, 0]])
    before = oracle.exact_reference(counts, s, alpha0)
    with mpmath.workdps(70):
        for x, x2 in itertools.product(range(3), range(3)):
            more = counts + _unit(counts.shape, 2, x) + _unit(counts.shape, 3, x2)
            after = oracle.exact_reference(more, s, alpha0)
            ratio = mpmath.exp(after.precise_log_evidence - before.precise_log_evidence)
            second = (
                before.precise_covariance[x][x2] + before.precise_mean[x] * before.precise_mean[x2]
            )
            assert abs(ratio - second) < mpmath.mpf(10) ** -55


@pytest.mark.parametrize(
    ("counts", "s", "alpha0", "digits"),
    [
        ([[3, 1], [0, 2]], 2.0, 1.0, 40),
        ([[3, 0], [7, 0]], 0.01, 0.1, 40),
        ([[3, 1], [0, 2], [100, 50]], 100.0, [0.1, 10.0], 40),
        ([[2000, 0], [1, 0]], 0.01, 0.1, 40),
        ([[0, 0]], 1.0, 0.3, 40),
        ([[3, 1, 2], [0, 2, 0]], 2.0, 1.0, 20),
        ([[3, 0, 0], [7, 0, 0]], 0.01, 0.1, 20),
    ],
)
def test_quadrature_and_polynomials_agree(counts, s, alpha0, digits):
    exact = oracle.exact_reference(counts, s, alpha0)
    assert gap(exact, oracle.quadrature_reference(counts, s, alpha0, digits)) < 10.0**-digits


@pytest.mark.parametrize("counts", [[[0.3, 1.7], [2.5, 0.0]], [[2.0**-30, 3.2], [2.0**-14, 0.5]]])
def test_fractional_counts_obey_the_chain_rule(counts):
    counts, s, alpha0 = np.array(counts), 1.5, [0.4, 2.0]
    before = oracle.fractional_reference(counts, s, alpha0)
    after = oracle.fractional_reference(counts + _unit((2, 2), 1, 0), s, alpha0)
    with mpmath.workdps(50):
        ratio = mpmath.exp(after.precise_log_evidence - before.precise_log_evidence)
        predictive = (mpmath.mpf(counts[1, 0]) + s * before.precise_mean[0]) / (
            mpmath.fsum(map(mpmath.mpf, counts[1])) + s
        )
        assert abs(ratio - predictive) < 1e-28


def test_empty_table_is_the_prior():
    reference = oracle.exact_reference(np.zeros((4, 3)), 2.0, [1.0, 2.0, 5.0])
    assert reference.mean == pytest.approx([0.125, 0.25, 0.625], abs=1e-16)
    assert reference.covariance[0, 1] == pytest.approx(-0.125 * 0.25 / 9, abs=1e-17)
    assert reference.log_evidence == 0.0


def test_exact_reference_refuses_fractions():
    with pytest.raises(ValueError, match="whole-number"):
        oracle.exact_reference([[0.5, 1.0]], 1.0)


def test_golden_file_holds_the_catalogue():
    entries = json.loads(golden.FILE.read_text(encoding="utf-8"))
    assert len(entries) == len(golden.SPECS)
    assert golden.FILE.stat().st_size < 400_000
    for entry, (source, seed, kind, r, q, n, s, _) in zip(entries, golden.SPECS, strict=True):
        assert (entry["source"], entry["s"], len(entry["mean"])) == (source, s, r)
        if "counts" in entry:
            remade = golden.make_table(kind, seed, r, q, n).ravel()
            assert np.array_equal(remade, entry["counts"])


def test_golden_values_are_the_references():
    checked = 0
    for case in golden.load():
        assert math.isclose(case.mean.sum(), 1.0, abs_tol=1e-15)
        assert np.abs(case.covariance.sum(axis=0)).max() < 1e-16
        if case.source == "exact" and case.counts.sum() <= 500:
            reference = oracle.exact_reference(case.counts, case.s, case.alpha0)
        elif case.source == "quadrature" and case.counts.shape[1] == 2 and case.counts.size < 999:
            reference = oracle.quadrature_reference(case.counts, case.s, case.alpha0)
        else:
            continue
        checked += 1
        assert np.array_equal(reference.mean, case.mean)
        assert np.array_equal(reference.covariance, case.covariance)
        assert reference.log_evidence == case.log_evidence
    assert checked > 40


def _unit(shape, y, x):
    result = np.zeros(shape, dtype=int)
    result[y, x] = 1
    return result

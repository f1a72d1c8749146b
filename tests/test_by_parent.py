"""Whole tables with the states of one parent last, and the logarithms taken of them."""

from __future__ import annotations

import numpy as np
import pytest

import colonnade as cn
from colonnade import FamilyCounts, Hierarchical, Smoothed, SymmetricDirichlet, Tiered
from colonnade.classifier._features import Ordered
from colonnade.configurations import all_codes
from colonnade.exceptions import DataError
from colonnade.kernels.special import take_logs
from colonnade.pooling import tiers
from colonnade.priors import NoisyMax
from colonnade.sparse import SparseTable
from colonnade.tables import Cuts
from colonnade.tables.cuts import Ranked, Values


def drawn_counts(seed, sizes, states):
    """Few observations: most configurations are not observed."""
    rng = np.random.default_rng(seed)
    values = rng.poisson(0.4, (int(np.prod(sizes)), states))
    return FamilyCounts.from_array(values, sizes)


PRIORS = [
    SymmetricDirichlet(),
    Hierarchical(),
    Tiered(),
    Tiered(one_parent="left_out"),
    Smoothed(Tiered(one_parent="left_out"), 0.3),
    Smoothed(Hierarchical(), 0.3),
    NoisyMax(),
]


@pytest.mark.parametrize("sizes", [(4,), (3, 4), (1, 3, 2), (2, 1, 3, 4)])
@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_a_table_by_parent_has_the_rows_of_all_configurations(prior, sizes):
    counts = drawn_counts(len(sizes), sizes, 3)
    table = prior.table(counts)
    axes = table.rows_of(all_codes(sizes)).reshape(*sizes, 3)
    for parent in range(len(sizes)):
        found = table.by_parent(parent)
        np.testing.assert_allclose(found, np.moveaxis(axes, parent, -1), rtol=1e-13)
        assert found.flags.c_contiguous
        found[:] = 0.0  # it is nobody else's
    np.testing.assert_array_equal(table.rows_of(all_codes(sizes)).reshape(*sizes, 3), axes)


def test_stored_rows_come_before_computed_ones():
    counts = drawn_counts(0, (3, 4), 3)
    rows = np.tile([0.2, 0.3, 0.5], (counts.observed, 1))
    table = SparseTable.beside(counts, rows, None, Tiered().table(counts).fallback)
    found = np.moveaxis(table.by_parent(1), -1, 1)
    for codes in counts.codes:
        np.testing.assert_array_equal(found[tuple(codes)], [0.2, 0.3, 0.5])


def test_too_many_rows_for_one_array_are_computed_one_by_one(monkeypatch):
    counts = drawn_counts(1, (3, 4, 2), 3)
    table = Tiered().table(counts)
    expected = table.by_parent(0)
    monkeypatch.setattr(tiers, "_MAX_DENSE_CELLS", 10)
    again = Tiered().table(counts).by_parent(0)
    np.testing.assert_allclose(again, expected, rtol=1e-13)


def test_logarithms_are_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [10.0 ** rng.uniform(-290, 290, 5000), 1.0 + rng.normal(size=5000) * 1e-6, rng.random(5000)]
    )
    logs = values.copy()
    take_logs(logs)
    np.testing.assert_allclose(logs, np.log(values), rtol=5e-16, atol=1e-18)


def test_logarithms_of_nothing_and_next_to_nothing():
    values = np.array([0.0, 5e-324, 1e-308, 1e-300, 0.5, 1.0])
    logs = values.copy()
    take_logs(logs)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(logs, np.log(values), rtol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_may_be_sorted_before_they_are_cut(weighted):
    rng = np.random.default_rng(2)
    numbers = np.round(rng.normal(size=60), 2)
    numbers[:5] = np.nan
    weights = rng.integers(0, 3, 60) if weighted else None
    ordered = Values.of(numbers, weights)
    for levels in ([0.5], [0.1, 0.4, 0.8], [0.05, 0.3, 0.31, 0.99]):
        found = Cuts.at_quantiles("x", ordered, levels)
        assert found == Cuts.at_quantiles("x", numbers, levels, weights)


def test_quantiles_that_fall_on_one_value_are_one_point():
    # Six of ten numbers are zero; 0.15 lies a quarter of the way to one, and 0.45 three quarters.
    numbers = np.array([0.0] * 6 + [1.0, 2.0, 3.0, 4.0])
    found = Cuts.at_quantiles("x", numbers, [0.15, 0.45, 0.75])
    assert found.points == (0.5, 2.5)
    assert Cuts.at_quantiles("x", numbers, [0.3, 0.75]).points == (0.5, 2.5)


@pytest.mark.parametrize("kind", ["many", "few", "constant", "missing"])
def test_codes_by_ranks_are_those_of_the_numbers(kind):
    rng = np.random.default_rng(4)
    numbers = {
        "many": rng.normal(size=400),  # more than a byte has ranks for
        "few": rng.integers(-3, 4, 90) / 2.0,
        "constant": np.full(20, 2.5),
        "missing": np.full(20, np.nan),
    }[kind]
    numbers[:5] = np.nan
    weights = rng.integers(1, 3, len(numbers))
    # Points between numbers, on some of them, and beyond all.
    several = [Cuts("x", ()), Cuts("x", (-9.0,)), Cuts("x", (0.0, 0.5)), Cuts("x", (-0.25, 2.5, 9))]
    union = np.unique([point for cuts in several for point in cuts.points])
    whole = Cuts("x", tuple(union.tolist()))
    for ranked in (
        Ordered.of("x", numbers, None).ranked,
        Ordered.of("x", numbers, weights).ranked,
        Ranked.of("x", union, numbers),
        Ranked.by_interval(whole, whole.coded(numbers)),
    ):
        for cuts in several:
            found = ranked.coded(cuts)
            known = cuts.codes(numbers)
            assert found.tolist() == np.where(known < 0, len(cuts.states), known).tolist()
            assert found.dtype == np.uint8
            assert not found.flags.writeable
            assert ranked.part(slice(3, 9)).coded(cuts).tolist() == found[3:9].tolist()


def test_infinity_has_no_rank():
    with pytest.raises(DataError, match="infinity, or a number too large to be cut, in row 2"):
        Ranked.of("x", np.array([0.5]), np.array([1.0, np.inf]))


def test_rows_with_gaps_read_dense_tables_and_others_alike(monkeypatch):
    from colonnade.classifier import _families

    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 120)
    columns = {name: (rng.integers(0, 4, 120) + y) % 4 * 1.0 for name in "abcde"}
    columns["a"][rng.random(120) < 0.2] = np.nan
    columns["c"][rng.random(120) < 0.2] = np.nan
    table = np.column_stack(list(columns.values()))
    found = []
    for cells in (1 << 18, 1):
        monkeypatch.setattr(_families, "MAX_FILLED_CELLS", cells)
        model = cn.BayesianNetworkForest(n_members=2, random_state=0).fit(table, y)
        found.append(model.predict_proba(table))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)

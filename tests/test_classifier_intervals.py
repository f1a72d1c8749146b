"""Intervals of class probabilities: right, reproducible, and steady."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import numpy as np
import pandas as pd
import pytest

from colonnade import threads
from colonnade.classifier import (
    BayesianNetworkClassifier,
    BayesianNetworkForest,
    _drawn,
    _intervals,
)
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import ConvergenceWarning, InputError, NotSupportedError
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.tables.coded import CodedTable
from colonnade.variables import Family, Variable
from labelled_tables import letters, with_gaps


def test_interval_of_a_class_alone_is_that_of_its_table() -> None:
    y = np.array(["a"] * 7 + ["b"] * 2 + ["c"])
    X = np.zeros((10, 1), dtype=int)
    model = BayesianNetworkClassifier(Dag([], ["class"])).fit(X, y)
    lower, upper = model.predict_interval(X[:1], level=0.9, draws=40_000, rng=1)
    wanted = model.network_["class"].posterior.interval(0.9)
    np.testing.assert_allclose(lower, wanted.lower, atol=0.01)
    np.testing.assert_allclose(upper, wanted.upper, atol=0.01)


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), BDeu(1)], ids=repr)
@pytest.mark.parametrize("structure", ["tan", "kdb"])
def test_intervals_agree_with_those_of_a_query(structure, prior) -> None:
    X, y = letters(rows=30, features=4, states=3, classes=2)
    model = BayesianNetworkClassifier(structure, prior).fit(X, y)
    rows = with_gaps(X[:4], 0.4, seed=8)
    lower, upper = model.predict_interval(rows, level=0.8, draws=4000, rng=2)
    for k, row in enumerate(rows):
        names = [f"x{j}" for j in range(4) if not np.isnan(row[j])]
        observed = {name: int(row[int(name[1])]) for name in names}
        wanted = model.network_.query("class", observed, draws=4000, level=0.8, rng=3)
        np.testing.assert_allclose(lower[k], wanted.lower, atol=0.04)
        np.testing.assert_allclose(upper[k], wanted.upper, atol=0.04)


def truth_and_training(rng, rows):
    """Tables drawn from the prior of adding one, and rows drawn from them."""
    share = rng.dirichlet(np.ones(2))
    tables = rng.dirichlet(np.ones(3), (2, 2))
    y = (rng.random(rows) < share[1]).astype(int)
    X = np.column_stack(
        [(rng.random(rows)[:, None] > tables[j, y].cumsum(axis=1)).sum(axis=1) for j in (0, 1)]
    ).clip(0, 2)
    return share, tables, X, y


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(12)
    inside = narrow = 0
    for _ in range(300):
        share, tables, X, y = truth_and_training(rng, 25)
        if len(set(y)) < 2:
            continue
        frame = pd.DataFrame(X, columns=["a", "b"]).astype(pd.CategoricalDtype([0, 1, 2]))
        model = BayesianNetworkClassifier("naive", SymmetricDirichlet()).fit(frame, y)
        lower, upper = model.predict_interval(frame.iloc[:1], level=0.8, draws=400, rng=rng)
        chance = share * tables[0, :, X[0, 0]] * tables[1, :, X[0, 1]]
        chance /= chance.sum()
        inside += lower[0, 1] <= chance[1] <= upper[0, 1]
        middle, half = (lower + upper)[0, 1] / 2, (upper - lower)[0, 1] / 4
        narrow += abs(chance[1] - middle) <= half
    # 300 trials at 80 %: four standard deviations are 28. Half as wide must be seen to fail.
    assert abs(inside - 240) < 30
    assert narrow < 200


def test_interval_is_reproducible_and_in_blocks(monkeypatch) -> None:
    X, y = letters(rows=60)
    model = BayesianNetworkClassifier().fit(X, y)
    first = model.predict_interval(X, rng=5)
    second = model.predict_interval(X, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(first, second)
    assert first.lower.shape == (60, 3)
    assert (first.lower <= first.upper).all()
    # Neither the size of blocks nor the number of threads makes a difference.
    monkeypatch.setattr(_intervals, "_BLOCK_CELLS", 2000)
    monkeypatch.setattr(threads, "worker_count", lambda _: 1)
    np.testing.assert_array_equal(model.predict_interval(X, rng=5), first)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_MAX_DRAWN", 1 << 18),
        ("_MANY_OBSERVATIONS", 0),
        ("_COMBINATIONS", 1),
        ("_MAX_GROUPS", 2),
        ("_MAX_GROUPS", 1000),
    ],
    ids=str,
)
def test_saving_work_does_not_move_the_ends(name, value, monkeypatch) -> None:
    X, y = letters(rows=60)
    X = with_gaps(X, 0.1)
    model = BayesianNetworkClassifier("tan").fit(X, y)
    usual = model.predict_interval(X, level=0.5, draws=2000, rng=6)
    home = _intervals if hasattr(_intervals, name) else _drawn
    monkeypatch.setattr(home, name, value)
    other = model.predict_interval(X, level=0.5, draws=2000, rng=5)
    np.testing.assert_allclose(other, usual, atol=0.1)
    assert 0.0 < np.abs(np.subtract(other, usual)).mean() < 0.005


def test_putting_draws_together_makes_ends_steadier(monkeypatch) -> None:
    X, y = letters(rows=60)
    model = BayesianNetworkClassifier("naive").fit(X, y)

    def unrest():
        ends = [model.predict_interval(X[:20], draws=200, rng=seed) for seed in range(30)]
        return np.std(ends, axis=0).mean()

    usual = unrest()
    monkeypatch.setattr(_intervals, "_COMBINATIONS", 1)
    assert usual < 0.8 * unrest()


def test_single_cells_are_drawn_from_the_margins_of_rows() -> None:
    counts = np.array([[3, 0, 1, 0, 0], [0, 0, 0, 2, 9]])
    child, parent = Variable("x", list("abcde")), Variable("y", [0, 1, 2])
    cpt = Cpt.of(Family(child, (parent,)), FamilyCounts.from_array([*counts, [0] * 5]), BDeu(3))
    drawn = _intervals.DrawnLogs(cpt, 20_000, np.random.default_rng(0))
    wanted = np.array([[0], [1], [2]])
    whole = drawn.rows(wanted)
    np.testing.assert_allclose(np.exp(whole).sum(axis=1), 1.0)
    for state in range(5):
        single = drawn.margins(wanted, np.full(3, state))
        assert single.shape == (3, 20_000)
        for values in (single, whole[:, state]):
            np.testing.assert_allclose(
                np.exp(values).mean(axis=1), cpt.probabilities[:, state], atol=0.01
            )
        tails = [np.quantile(np.exp(v), [0.1, 0.5, 0.9], axis=1) for v in (single, whole[:, state])]
        np.testing.assert_allclose(*tails, atol=0.02)


def test_few_rows_get_more_draws_than_many() -> None:
    X, y = letters(rows=400)
    tables = BayesianNetworkClassifier().fit(X, y)._fitted.tables
    coded = CodedTable(tables.network.variables[:-1], tuple(X.T))
    found = [_intervals._affordable(tables, coded, rows) for rows in (1, 10_000, 100_000)]
    assert found[0] == 1000
    assert 200 < found[1] < 1000
    assert found[2] == 200
    gaps = CodedTable(tables.network.variables[:-1], (np.full(400, 4), *X.T[1:]))
    assert _intervals._affordable(tables, gaps, 10_000) < found[1]


@pytest.mark.parametrize(
    "options", [{"level": 1.0}, {"level": True}, {"draws": 1}, {"draws": 2.5}], ids=str
)
def test_interval_refuses(options) -> None:
    X, y = letters(rows=20)
    with pytest.raises(InputError, match=f"for `{next(iter(options))}`"):
        BayesianNetworkClassifier().fit(X, y).predict_interval(X, **options)


def test_no_interval_without_a_prior() -> None:
    X, y = letters(rows=20)
    model = BayesianNetworkClassifier(prior=MaximumLikelihood("uniform")).fit(X, y)
    with pytest.raises(NotSupportedError, match="predict_interval with MaximumLikelihood"):
        model.predict_interval(X)


def test_quantiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(3).random((3, 2, 50))
    tails = [0.0, 0.025, 0.5, 1.0]
    wanted = np.quantile(values, tails, axis=-1)
    np.testing.assert_allclose(_intervals._quantiles(values, tails), wanted, rtol=1e-14)


@pytest.mark.parametrize("kind", [BayesianNetworkClassifier, BayesianNetworkForest])
def test_levels_that_draws_cannot_tell_are_told(kind) -> None:
    X, y = letters(rows=30, features=2, states=3, classes=2)
    model = kind().fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match=r"200 draws are too few .* 0\.995: too narrow.*4,000"
    ):
        model.predict_interval(X[:1], level=0.995, draws=200, rng=0)
    model.predict_interval(X[:1], level=0.99, draws=200, rng=0)
    with pytest.warns(ConvergenceWarning, match="too few"):
        model.predict_interval(X[:1], level=0.9999, rng=0)

"""The choice of a prior: by which scores, and that it is a good one."""

# ruff: noqa: N803, N806 (scikit-learn calls the features X)

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from colonnade.classifier import BayesianNetworkClassifier, _choice
from colonnade.classifier._choice import CANDIDATES
from colonnade.dag import Dag
from colonnade.network import fit
from colonnade.priors import BDeu, Hierarchical, SymmetricDirichlet, Tiered
from colonnade.tables import CodedTable, encode
from colonnade.variables import Variable
from labelled_tables import letters, table_of, with_gaps

# Without a learned strength.
EXACT = (Hierarchical(), SymmetricDirichlet(), BDeu(1), BDeu(10))
TREE = Dag([("class", "x0"), ("class", "x1"), ("class", "x2"), ("x1", "x0"), ("x1", "x2")])


@pytest.mark.parametrize("structure", ["naive", TREE], ids=["naive", "dag"])
def test_automatic_prior_equals_leaving_rows_out(structure) -> None:
    X, y = letters(rows=24, features=3, states=3, classes=2)
    model = BayesianNetworkClassifier(structure, prior="auto").fit(X, y)
    fair = [prior for prior in CANDIDATES if structure == "naive" or prior != Tiered()]
    assert list(model.prior_scores_) == fair
    assert model.prior_scores_[model.prior_] == max(model.prior_scores_.values())
    assert set(model.network_.priors.values()) == {model.prior_}
    rows = pd.DataFrame(table_of(X, y))
    for prior, score in model.prior_scores_.items():
        total = 0.0
        for k in range(len(rows)):
            others = fit(
                rows.drop(index=k), model.network_.dag, prior, variables=model.network_.variables
            )
            total += others.log_likelihood(rows.iloc[[k]])[0]
        assert score == pytest.approx(total, abs=1e-8 if prior in EXACT else 1e-4)


def test_structures_are_learned_from_complete_rows_if_half_of_them_are() -> None:
    x, y = Variable("x", ["a", "missing"]), Variable("y", [0, 1])
    half = _choice.filled(CodedTable([x, y], [[0, 2, 1, 2], [1, 0, 0, 0]], [3, 2, 3, 4]))
    assert [column.tolist() for column in half.codes] == [[0, 1], [1, 0]]
    assert half.weights.tolist() == [3, 3]
    # Weights count rows.
    less = _choice.filled(CodedTable([x, y], [[0, 2, 1, 2], [1, 0, 0, 0]], [3, 2, 3, 5]))
    assert [column.tolist() for column in less.codes] == [[0, 2, 1, 2], [1, 0, 0, 0]]
    few = _choice.filled(CodedTable([x, y], [[0, 2, 2], [1, 0, 0]]))
    assert few.variables == (Variable("x", ["a", "missing", "missing'"]), y)
    assert few.missing == (0, 0)


LEARNED = ["tan", "kdb", "hill_climb"]


def with_doubt(logs, y, total):
    """Log score of labels, of which the share 1 / (total + 2) counts as if they were others."""
    doubt = 1 / (total + 2)
    rest = (logs.shape[1] - 1) / doubt
    return sum(
        (1 - doubt) * row[c] + sum(np.delete(row, c)) / rest for row, c in zip(logs, y, strict=True)
    )


def cross_validated(model, X, y, enough=1000):
    """Log score of the classes of all folds (of the first ones, if these have enough rows)."""
    fold = _choice._folds(encode({**X, "class": y}), "class")
    total, done = 0.0, 0
    for k in range(max(fold) + 1):
        known, hidden = fold != k, fold == k
        if done < enough:
            model.fit(X[known], y[known])
            total += with_doubt(model.predict_log_proba(X[hidden]), y[hidden], len(y))
            done += hidden.sum()
    return total


@pytest.mark.parametrize("enough", [1000, 9])
@pytest.mark.parametrize("structure", LEARNED)
def test_automatic_prior_of_a_learned_structure_is_cross_validated(
    structure, enough, monkeypatch
) -> None:
    monkeypatch.setattr(_choice, "_MIN_ROWS_LEFT_OUT", enough)
    X, y = letters(rows=23, features=3, states=3, classes=2)
    X = pd.DataFrame(with_gaps(X, 0.1)).astype(pd.CategoricalDtype([0.0, 1.0, 2.0]))
    X = X.rename(columns="x{}".format).apply(lambda c: c.cat.rename_categories([0, 1, 2]))
    model = BayesianNetworkClassifier(structure, "auto").fit(X, y)
    assert list(model.prior_scores_) == list(CANDIDATES)
    assert model.prior_scores_[model.prior_] == max(model.prior_scores_.values())
    for prior, score in model.prior_scores_.items():
        total = cross_validated(BayesianNetworkClassifier(structure, prior), X, y, enough)
        assert score == pytest.approx(total, abs=1e-9)


def test_folds_hold_equal_rows_together_and_classes_apart() -> None:
    X, y = letters(rows=200, features=3, states=3)
    table = encode({**table_of(X), "class": y})
    fold = _choice._folds(table, "class")
    rows = np.column_stack([X, y])
    places = [set(fold[(rows == row).all(axis=1)]) for row in rows]
    assert all(len(place) == 1 for place in places)
    distinct = np.unique(rows, axis=0, return_index=True)[1]
    for label in range(3):
        sizes = np.bincount(fold[distinct][y[distinct] == label], minlength=5)
        assert np.ptp(sizes) <= 1
    order = np.random.default_rng(0).permutation(200)
    shuffled = encode({**table_of(X[order]), "class": y[order]})
    np.testing.assert_array_equal(_choice._folds(shuffled, "class"), fold[order])


def test_a_fold_is_no_state_of_a_feature() -> None:
    """All combinations once, in order: every fifth row would have the same last feature."""
    X = np.array([(a, b) for a in range(5) for b in range(5)])
    fold = _choice._folds(encode({**table_of(X), "class": np.zeros(25, int)}), "class")
    assert max(np.bincount(fold[X[:, 1] == b]).max() for b in range(5)) < 5


@pytest.mark.parametrize("structure", LEARNED)
def test_weights_count_rows_for_the_automatic_prior(structure) -> None:
    X, y = letters(rows=60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    weighted = BayesianNetworkClassifier(structure, "auto").fit(X, y, sample_weight=weights)
    repeated = BayesianNetworkClassifier(structure, "auto").fit(
        np.repeat(X, weights, 0), np.repeat(y, weights)
    )
    assert weighted.prior_scores_ == pytest.approx(repeated.prior_scores_)
    assert weighted.network_ == repeated.network_


@pytest.mark.parametrize("structure", ["tan", "kdb"])
def test_automatic_prior_is_strong_where_the_structure_fits_few_rows_by_chance(structure) -> None:
    X, y = load_digits(return_X_y=True)
    train, test, known, hidden = train_test_split(X, y, train_size=20, stratify=y, random_state=0)
    bins = {f"x{k}": 5 for k in range(64)}
    model = BayesianNetworkClassifier(structure, "auto", bins).fit(train, known)
    assert log_loss(hidden, model.predict_proba(test)) < 2.5


def test_automatic_prior_of_later_rows_is_by_how_they_are_predicted() -> None:
    X, y = letters(rows=90)
    model = BayesianNetworkClassifier("tan", "auto").fit(X[:40], y[:40])
    before, dag = model.prior_scores_, model.network_.dag
    model.partial_fit(X[40:], y[40:])
    for prior, score in model.prior_scores_.items():
        known = BayesianNetworkClassifier(dag, prior).fit(X[:40], y[:40])
        more = with_doubt(known.predict_log_proba(X[40:]), y[40:], 90)
        assert score - before[prior] == pytest.approx(more, abs=1e-9)
    assert model.prior_scores_[model.prior_] == max(model.prior_scores_.values())
    # It may also be asked for when the structure is there already.
    late = BayesianNetworkClassifier("tan").fit(X[:40], y[:40]).set_params(prior="auto")
    late.partial_fit(X[40:], y[40:])
    for prior, score in late.prior_scores_.items():
        assert score == pytest.approx(model.prior_scores_[prior] - before[prior])


@pytest.mark.parametrize("structure", LEARNED)
def test_automatic_prior_of_a_single_row_is_the_first(structure) -> None:
    X, y = letters(rows=1)
    model = BayesianNetworkClassifier(structure, "auto", classes=[0, 1, 2]).fit(X, y)
    assert set(model.prior_scores_.values()) == {0.0}
    assert model.prior_ == Hierarchical()


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("structure", LEARNED)
def test_automatic_prior_of_very_few_rows(structure, rows) -> None:
    X, y = letters(rows=rows)
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    X = X.astype(pd.CategoricalDtype(range(4)))
    model = BayesianNetworkClassifier(structure, "auto", classes=[0, 1, 2]).fit(X, y)
    for prior, score in model.prior_scores_.items():
        alone = BayesianNetworkClassifier(structure, prior, classes=[0, 1, 2])
        assert score == pytest.approx(cross_validated(alone, X, y), abs=1e-9)
    top = max(model.prior_scores_.values())
    assert model.prior_scores_[model.prior_] == pytest.approx(top, abs=1e-9)


@pytest.mark.parametrize("X", [[[1], [2]], [[0, 1], [2, 1]], [[1, 0], [1, 2]]])
def test_of_priors_that_differ_by_rounding_the_first_is_chosen(X) -> None:
    model = BayesianNetworkClassifier("tan", "auto").fit(np.array(X), [0, 1])
    scores = model.prior_scores_
    assert scores[BDeu(1)] == pytest.approx(scores[BDeu(10)], abs=1e-12)
    assert model.prior_ == BDeu(1)


def test_automatic_prior_is_not_always_the_same() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    clear = np.column_stack([y, 1 - y, y])
    vague = rng.integers(0, 4, (60, 3))
    chosen = {
        BayesianNetworkClassifier("naive", "auto").fit(X, labels).prior_
        for X, labels in ((clear, y), (vague, y[:60]), letters(rows=60))
    }
    assert len(chosen) > 1
    model = BayesianNetworkClassifier("naive", "auto").fit(clear, y)
    assert not hasattr(model.set_params(prior=None).fit(clear, y), "prior_scores_")

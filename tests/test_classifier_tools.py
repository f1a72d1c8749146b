"""What people of scikit-learn expect of a classifier: grids, weights of classes, sparse rows."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import colonnade as cn
from colonnade.classifier import BayesianNetworkClassifier, BayesianNetworkForest, _input
from colonnade.exceptions import DataWarning, InputError, TooLargeError
from labelled_tables import letters


def numbers(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=rows)
    X = rng.integers(3, size=(rows, 4))
    X[:, 1] = np.where(rng.random(rows) < 0.8, y, X[:, 1])
    X[:, 2] = np.where(rng.random(rows) < 0.4, y, X[:, 2])
    return X, y


def test_options_of_a_prior_work_in_a_grid():
    X, y = numbers()
    model = Pipeline([("net", BayesianNetworkClassifier("naive", cn.Hierarchical()))])
    grid = GridSearchCV(model, {"net__prior__s": [0.1, 4, "learn"]}, cv=3, error_score="raise")
    grid.fit(X, y)
    assert {each["net__prior__s"] for each in grid.cv_results_["params"]} == {0.1, 4, "learn"}
    chosen = grid.best_params_["net__prior__s"]
    assert grid.best_estimator_["net"].prior_ == cn.Hierarchical(s=chosen)
    both = {"prior": [cn.BDeu(), cn.SymmetricDirichlet()]}
    plain = GridSearchCV(BayesianNetworkClassifier("naive"), both, cv=3, error_score="raise")
    assert plain.fit(X, y).best_params_["prior"] in both["prior"]


def test_priors_have_parameters_and_never_change():
    prior = cn.Hierarchical(s=4)
    assert prior.get_params()["s"] == 4.0
    assert prior.set_params(s="learn") == cn.Hierarchical(s="learn")
    assert prior.s == 4.0
    assert clone(prior) == prior
    model = BayesianNetworkClassifier(prior=prior, structure="hill_climb")
    assert model.get_params()["prior__s"] == 4.0
    copy = clone(model).set_params(prior__s=9, structure_score=cn.BDeu())
    assert copy.set_params(structure_score__ess=3).structure_score == cn.BDeu(3)
    assert (copy.prior.s, model.prior.s) == (9.0, 4.0)
    with pytest.raises(InputError, match="one of 's', 'alpha0'"):
        model.set_params(prior__ess=3)
    with pytest.raises(InputError, match="a prior for the option 's' for `prior`, got None"):
        BayesianNetworkClassifier().set_params(prior__s=3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(depth=3)


def test_a_grid_over_structure_and_k_has_no_failed_fits():
    X, y = numbers()
    options = {"structure": ["naive", "tan", "kdb", "hill_climb"], "k": [1, 2, 3]}
    model = BayesianNetworkClassifier(prior=cn.BDeu())
    grid = GridSearchCV(model, options, cv=3, error_score="raise").fit(X, y)
    scores = grid.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(scores) == 12
    with pytest.raises(InputError, match="`k`"):
        BayesianNetworkClassifier("kdb", k=-1).fit(X, y)


def test_weights_of_classes_are_weights_of_rows():
    X, y = numbers()
    weights = {0: 1.0, 1: 5.0}
    model = BayesianNetworkClassifier("naive", class_weight=weights).fit(X, y)
    rows = BayesianNetworkClassifier("naive").fit(X, y, np.where(y == 1, 5.0, 1.0))
    np.testing.assert_array_equal(model.predict_proba(X), rows.predict_proba(X))
    both = BayesianNetworkClassifier("naive", class_weight=weights).fit(X, y, np.full(len(y), 2.0))
    twice = BayesianNetworkClassifier("naive").fit(X, y, np.where(y == 1, 10.0, 2.0))
    np.testing.assert_array_equal(both.predict_proba(X), twice.predict_proba(X))
    keep = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:10]]
    even = BayesianNetworkClassifier("naive", cn.BDeu(), class_weight="balanced")
    shares = even.fit(X[keep], y[keep]).network_["class"].probabilities
    np.testing.assert_allclose(shares, [[0.5, 0.5]], atol=1e-12)
    later = BayesianNetworkClassifier("naive", class_weight=weights).partial_fit(X[:60], y[:60])
    later.partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(later.predict_proba(X), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "'balanced' or a mapping of labels for `class_weight`, got 'even'"),
        ({0: -1.0}, "weights of 0 or more for `class_weight`, got -1.0 for 0"),
        ({1: "x"}, "weights of 0 or more for `class_weight`, got 'x' for 1"),
    ],
)
def test_weights_of_classes_that_cannot_be(weight, message):
    X, y = numbers()
    with pytest.raises(InputError, match=message):
        BayesianNetworkClassifier(class_weight=weight).fit(X, y)


def test_rows_of_weight_zero_do_not_count_when_classes_are_balanced():
    X, y = numbers()
    weights = np.where(np.arange(len(y)) < 80, 1.0, 0.0)
    even = BayesianNetworkClassifier("naive", class_weight="balanced")
    zeros = clone(even).fit(X, y, weights).predict_proba(X)
    np.testing.assert_allclose(zeros, even.fit(X[:80], y[:80]).predict_proba(X), atol=1e-12)


def test_a_class_without_weight_is_not_learned():
    X, y = numbers()
    with pytest.warns(DataWarning, match="`class_weight` is 0 for 1: these rows are left out"):
        model = BayesianNetworkClassifier("naive", class_weight={1: 0.0}).fit(X, y)
    assert model.classes_.tolist() == [0]
    with pytest.raises(InputError, match="a positive weight of some class"):
        BayesianNetworkClassifier("naive", class_weight={0: 0, 1: 0}).fit(X, y)


def forest(**options):
    return BayesianNetworkForest(n_members=2, random_state=0, **options)


def test_a_forest_takes_weights_of_classes_grids_and_sparse_rows():
    X, y = numbers()
    model = forest(class_weight={1: 5.0}).fit(X, y)
    rows = forest().fit(X, y, np.where(y == 1, 5.0, 1.0))
    np.testing.assert_array_equal(model.predict_proba(X), rows.predict_proba(X))
    even = forest(class_weight="balanced").fit(sparse.csr_array(X), y)
    shares = even.networks_[0]["class"].counts.values
    np.testing.assert_allclose(shares[0, 0], shares[0, 1])
    assert even.predict(X[:0]).shape == (0,)
    assert even.predict_interval(X[:0], draws=100, rng=0).lower.shape == (0, 2)
    grid = {"prior__s": [1, 4], "max_parents": [0, 1]}
    found = GridSearchCV(forest(prior=cn.Hierarchical()), grid, cv=2, error_score="raise")
    assert found.fit(X, y).best_estimator_.prior.s in (1, 4)


@pytest.mark.parametrize("weight", [None, "balanced", {0: 1, 1: 2.5}, {np.int64(1): 3}])
def test_a_saved_forest_keeps_weights_of_classes(weight, tmp_path):
    X, y = numbers()
    forest(class_weight=weight).fit(X, y).save(tmp_path / "f.json")
    assert BayesianNetworkForest.load(tmp_path / "f.json").class_weight == weight


def test_importances_go_by_the_name_of_the_class():
    X, y = numbers()
    labels = pd.Series(y, name="ill")
    model = BayesianNetworkClassifier("naive", cn.BDeu()).fit(X, labels)
    plain = BayesianNetworkClassifier("naive", cn.BDeu()).fit(X, y)
    assert model.target_name_ == "ill"
    np.testing.assert_allclose(model.feature_importances_, plain.feature_importances_)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_rows_are_dense_ones(form, monkeypatch):
    X, y = numbers()
    dense = BayesianNetworkClassifier().fit(X, y)
    model = BayesianNetworkClassifier().fit(form(X), y)
    np.testing.assert_array_equal(model.predict_proba(form(X)), dense.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), dense.predict(X))
    monkeypatch.setattr(_input, "_MAX_SPARSE_CELLS", 100)
    with pytest.raises(TooLargeError, match="sparse matrix `X` would have 480 cells"):
        model.predict(form(X))


@pytest.mark.parametrize("structure", ["naive", "tan", "kdb", "hill_climb"])
@pytest.mark.parametrize("frame", [False, True])
def test_no_rows_have_no_classes(structure, frame):
    X, y = numbers()
    X = pd.DataFrame(X, columns=list("abcd")) if frame else X
    model = BayesianNetworkClassifier(structure).fit(X, y)
    none = X[:0]
    assert model.predict(none).shape == (0,)
    assert model.predict(none).dtype == y.dtype
    assert model.predict_proba(none).shape == (0, 2)
    assert model.predict_log_proba(none).shape == (0, 2)
    assert model.predict_joint_log_proba(none).shape == (0, 2)
    assert model.predict_interval(none, draws=100, rng=0).lower.shape == (0, 2)
    with pytest.raises(ValueError, match=r"0 sample|at least one row"):
        BayesianNetworkClassifier(structure).fit(none, y[:0])


def test_importances_are_shares_of_information():
    X, y = numbers(2000)
    model = BayesianNetworkClassifier("naive", cn.BDeu()).fit(X, y)
    found = model.feature_importances_
    assert found.sum() == pytest.approx(1.0)
    assert found.argmax() == 1
    assert found[1] > found[2] > 10 * max(found[0], found[3])
    pair = model.network_.query(["x1", "class"]).probabilities
    own = pair * np.log(pair / (pair.sum(axis=1)[:, None] * pair.sum(axis=0)))
    other = model.network_.query(["x2", "class"]).probabilities
    second = other * np.log(other / (other.sum(axis=1)[:, None] * other.sum(axis=0)))
    assert found[1] / found[2] == pytest.approx(own.sum() / second.sum())
    kept = SelectFromModel(model, threshold="mean").fit(X, y)
    assert kept.get_support().tolist() == [False, True, False, False]


def test_importances_of_what_says_nothing():
    X = letters(rows=40)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianNetworkClassifier("naive").fit(X, np.zeros(40, int))
    assert (model.feature_importances_ == 0.0).all()


def test_importances_that_would_take_too_large_sums_are_not_there():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    X = rng.normal(size=(60, 150)) + y[:, None]
    model = BayesianNetworkClassifier().fit(X, y)
    with pytest.raises(TooLargeError, match=r"`feature_importances_` needs .* structure='tan'"):
        _ = model.feature_importances_
    assert not hasattr(model, "feature_importances_")
    assert hasattr(model.set_params(structure="tan").fit(X, y), "feature_importances_")


@pytest.mark.parametrize("kind", [BayesianNetworkClassifier, BayesianNetworkForest])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_fit_that_fails_changes_nothing(kind, method):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = kind(random_state=0) if kind is BayesianNetworkForest else kind()
    wrong = frame.add_prefix("p").assign(pa=np.inf)
    with pytest.raises(ValueError, match=r"infinity|[Ii]nfinite"):
        getattr(model, method)(wrong, y)
    assert not vars(model).keys() & {"classes_", "feature_names_in_", "n_features_in_"}
    before = vars(model.fit(frame, y)).copy()
    chances = model.predict_proba(frame)
    with pytest.raises(ValueError, match=r"infinity|[Ii]nfinite|feature names"):
        getattr(model, method)(wrong, y)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict_proba(frame), chances)


def test_a_prior_that_is_set_later_holds_for_a_forest():
    X, y = numbers()
    model = BayesianNetworkForest(2, random_state=0).fit(X[:60], y[:60])
    model.partial_fit(X[60:90], y[60:90])
    assert isinstance(model.networks_[0].priors["x0"], cn.Tiered)
    model.set_params(prior=cn.BDeu(1)).partial_fit(X[90:], y[90:])
    other = BayesianNetworkForest(2, prior=cn.BDeu(1), random_state=0).fit(X[:60], y[:60])
    other.partial_fit(X[60:], y[60:])
    assert model.networks_ == other.networks_

"""The classifier among scikit-learn's tools, and its own checks."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import itertools
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import colonnade as cn
from colonnade.classifier import BayesianNetworkClassifier
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from labelled_tables import STRUCTURES, letters

# ------------------------------------------------------------------------- scikit-learn's world


# What is fitted is compared with another fit, or is fitted to next to nothing: here a structure and
# a prior may fail together that do not fail alone. All other checks are about arguments, and every
# structure and every prior passes them once.
TOGETHER = {
    *("check_sample_weight_equivalence_on_dense_data", "check_classifiers_one_label"),
    *("check_classifiers_one_label_sample_weights", "check_classifiers_train"),
    *("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    *("check_fit2d_1sample", "check_fit2d_1feature", "check_fit_idempotent"),
}


# The check gives one class a weight of 1e-4 and the other 1000. With these priors the tables of the
# first are then uniform, and rows that the second never had are nearly impossible in it, so that
# the first is right to win.
UNPOOLED = (BDeu(1), MaximumLikelihood("uniform"))


def checks():
    """All of scikit-learn's own checks, for every structure and every kind of prior."""
    from sklearn.utils.estimator_checks import estimator_checks_generator

    plain = [Hierarchical(), SymmetricDirichlet(), BDeu(1), MaximumLikelihood("uniform")]
    priors = [*plain, Hierarchical(s="learn"), "auto"]
    found = set()
    for structure, prior in itertools.product(STRUCTURES, priors):
        model = BayesianNetworkClassifier(structure, prior)
        alone = structure == "tan" or prior == priors[0]
        for number, (estimator, check) in enumerate(estimator_checks_generator(model)):
            name = getattr(check, "func", check).__name__
            found.add(name)
            # The first needs another way of starting Python.
            if name == "check_array_api_input" or not (alone or name in TOGETHER):
                continue
            if name == "check_class_weight_classifiers" and prior in UNPOOLED:
                continue
            kind = prior if isinstance(prior, str) else repr(prior)
            yield pytest.param(estimator, check, id=f"{structure}-{kind}-{name}-{number}")
    assert found >= TOGETHER


@pytest.mark.filterwarnings("ignore::colonnade.classifier.ImpossibleRowWarning")
@pytest.mark.filterwarnings("ignore::colonnade.exceptions.ColumnWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_clone_and_pickle(structure) -> None:
    X, y = letters()
    model = BayesianNetworkClassifier(structure, prior=BDeu(3)).fit(X, y)
    chances = model.predict_proba(X)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), chances)
    assert copy.network_ == model.network_
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "network_")


def test_pipeline_and_search() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(FunctionTransformer(), BayesianNetworkClassifier())
    assert cross_val_score(pipeline, X, y).mean() > 0.88
    grid = {"structure": ["naive", "tan"], "prior": [None, BDeu(1)], "bins": [3, 5]}
    search = GridSearchCV(BayesianNetworkClassifier(), grid, scoring="neg_log_loss", cv=3)
    search.fit(X, y)
    # What the search sets is what it scores, and the best of it is what it keeps.
    scores = [
        cross_val_score(BayesianNetworkClassifier(**options), X, y, scoring="neg_log_loss", cv=3)
        for options in search.cv_results_["params"]
    ]
    means = np.mean(scores, axis=1)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means)
    assert len(set(means.round(6))) == 8
    assert search.best_params_ == search.cv_results_["params"][means.argmax()]
    kept = search.best_estimator_
    assert {name: kept.get_params()[name] for name in grid} == search.best_params_
    assert kept.feature_names_in_.tolist() == X.columns.tolist()
    pipeline.set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == X.columns.tolist()


def test_calibration_of_a_class_that_a_fold_lacks() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifierCV(BayesianNetworkClassifier("naive"), cv=3).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    raw = BayesianNetworkClassifier("naive").fit(X, y).predict_proba(X)
    own = np.arange(len(y)), y
    assert -np.log(chances[own]).mean() < -np.log(raw[own]).mean()


def test_sample_weight_is_routed() -> None:
    X, y = letters(rows=90)
    weights = np.random.default_rng(0).integers(1, 4, 90)
    with sklearn.config_context(enable_metadata_routing=True):
        model = BayesianNetworkClassifier().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        result = cross_validate(
            model, X, y, params={"sample_weight": weights}, cv=3, return_estimator=True
        )
    total = sum(e.network_["class"].counts.total for e in result["estimator"])
    assert total == 2 * weights.sum()


def test_public_names() -> None:
    assert cn.BayesianNetworkClassifier is BayesianNetworkClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianNetworkClassifier().fit(*load_iris(return_X_y=True)).predict(np.zeros((1, 4)))

"""The forest among scikit-learn's tools, and its own checks."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import colonnade as cn

# One member is as good as many here, and quick. Options that take another way are all there.
OPTIONS = [
    {},
    {"average": "arithmetic", "n_members": 2, "n_jobs": 2},
    {"prior": cn.Tiered(), "max_parents": 1},
    {"prior": cn.BDeu(1), "bins": 3, "max_parents": 0},
]


def checks():
    """All of scikit-learn's own checks, for every option."""
    for number, options in enumerate(OPTIONS):
        given = {"n_members": 1, "prior": cn.SymmetricDirichlet(), "random_state": 0, **options}
        model = cn.BayesianNetworkForest(**given)
        for place, (estimator, check) in enumerate(estimator_checks_generator(model)):
            name = getattr(check, "func", check).__name__
            if name != "check_array_api_input":  # needs another way of starting Python
                yield pytest.param(estimator, check, id=f"{number}-{name}-{place}")


@pytest.mark.filterwarnings("ignore::colonnade.exceptions.ColumnWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_pipeline_and_search() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    quick = cn.BayesianNetworkForest(2, prior=cn.Hierarchical(), random_state=0)
    assert cross_val_score(make_pipeline(FunctionTransformer(), quick), X, y).mean() > 0.88
    grid = {"average": ["geometric", "arithmetic"], "max_parents": [0, 2]}
    search = GridSearchCV(quick, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"].round(6))) == 4
    assert search.best_estimator_.feature_names_in_.tolist() == X.columns.tolist()

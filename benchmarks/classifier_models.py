"""The classifiers that are compared, each with the defaults of its package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from benchmarks.labelled_data import Labelled
from colonnade import BayesianNetworkClassifier, BayesianNetworkForest, Hierarchical, Tiered
from colonnade.classifier._members import most_cuts


def _one_hot(data: Labelled, numbers: Any) -> Any:
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((numbers, list(data.numeric)), (hot, data.categorical))


def _naive(data: Labelled) -> BaseEstimator:
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    coded = make_column_transformer((bins, list(data.numeric)), (codes, data.categorical))
    # A category that did not occur has the code after the last.
    sizes = [5] * len(data.numeric)
    sizes += [data.features[name].nunique() + 1 for name in data.categorical]
    last = np.array(sizes) - 1
    moved = FunctionTransformer(lambda codes: np.where(codes < 0, last, codes))
    return make_pipeline(coded, moved, CategoricalNB(min_categories=sizes))


def _boosted(data: Labelled) -> BaseEstimator:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    parts = (("passthrough", list(data.numeric)), (codes, data.categorical))
    first = len(data.numeric)
    marked = [k >= first for k in range(first + len(data.categorical))]
    model = HistGradientBoostingClassifier(categorical_features=marked, random_state=0)
    return make_pipeline(make_column_transformer(*parts), model)


def _single(data: Labelled, **options: Any) -> BaseEstimator:
    return BayesianNetworkClassifier(bins=dict.fromkeys(data.numeric, 5), **options)


def _forest(data: Labelled, size: int) -> BaseEstimator:
    # Measurements are declared as such, whatever values a small sample has.
    most = dict.fromkeys(data.numeric, most_cuts(size))
    return BayesianNetworkForest(bins=most, random_state=0)


MODELS: dict[str, Callable[[Labelled, int], BaseEstimator]] = {
    "forest of networks": _forest,
    "k-DB, tiers": lambda data, size: _single(data, structure="kdb", prior=Tiered()),
    "TAN, tiers": lambda data, size: _single(data, structure="tan", prior=Tiered()),
    "TAN": lambda data, size: _single(data, structure="tan", prior=Hierarchical()),
    "random forest": lambda data, size: make_pipeline(
        _one_hot(data, "passthrough"), RandomForestClassifier(random_state=0)
    ),
    "boosted trees": lambda data, size: _boosted(data),
    "logistic regression": lambda data, size: make_pipeline(
        _one_hot(data, StandardScaler()), LogisticRegression()
    ),
    "CategoricalNB": lambda data, size: _naive(data),
}

"""Scikit-learn classifiers that are Bayesian networks: a single one, and a forest of them."""

from colonnade.classifier._base import Predicted
from colonnade.classifier._input import (
    ImpossibleRowWarning,
    SmallWeightWarning,
    UnknownStateWarning,
)
from colonnade.classifier.estimator import BayesianNetworkClassifier
from colonnade.classifier.forest import BayesianNetworkForest

__all__ = [
    "BayesianNetworkClassifier",
    "BayesianNetworkForest",
    "ImpossibleRowWarning",
    "Predicted",
    "SmallWeightWarning",
    "UnknownStateWarning",
]

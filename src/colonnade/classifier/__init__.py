"""A scikit-learn classifier that is a Bayesian network."""

from colonnade.classifier._input import ImpossibleRowWarning, UnknownStateWarning
from colonnade.classifier.estimator import BayesianNetworkClassifier

__all__ = ["BayesianNetworkClassifier", "ImpossibleRowWarning", "UnknownStateWarning"]

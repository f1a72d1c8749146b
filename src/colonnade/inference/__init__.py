"""Questions to a network, answered exactly and with the uncertainty of its tables."""

from colonnade.inference.actions import association, do, effect
from colonnade.inference.effects import Contrast, Effect, Estimates
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.filling import anomaly, impute, predict
from colonnade.inference.modes import most_probable
from colonnade.inference.predictions import Anomalies, Predictions
from colonnade.inference.queries import query
from colonnade.inference.results import MostProbable, QueryResult
from colonnade.inference.sampling import sample

__all__ = [
    "Anomalies",
    "Contrast",
    "Effect",
    "Estimates",
    "Evidence",
    "MostProbable",
    "Observed",
    "Predictions",
    "QueryResult",
    "anomaly",
    "association",
    "do",
    "effect",
    "impute",
    "most_probable",
    "predict",
    "query",
    "sample",
]

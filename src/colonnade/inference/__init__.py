"""Questions to a network, answered exactly and with the uncertainty of its tables."""

from colonnade.inference.actions import association, do, effect
from colonnade.inference.effects import Contrast, Effect, Estimates
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.explaining import Entry, Explanation, Moved, explain, sensitivity
from colonnade.inference.filling import anomaly, impute, predict
from colonnade.inference.information import (
    Estimate,
    entropy,
    informative,
    kl,
    mutual_information,
)
from colonnade.inference.modes import most_probable
from colonnade.inference.predictions import Anomalies, Predictions
from colonnade.inference.queries import query
from colonnade.inference.results import MostProbable, QueryResult
from colonnade.inference.sampling import sample

__all__ = [
    "Anomalies",
    "Contrast",
    "Effect",
    "Entry",
    "Estimate",
    "Estimates",
    "Evidence",
    "Explanation",
    "MostProbable",
    "Moved",
    "Observed",
    "Predictions",
    "QueryResult",
    "anomaly",
    "association",
    "do",
    "effect",
    "entropy",
    "explain",
    "impute",
    "informative",
    "kl",
    "most_probable",
    "mutual_information",
    "predict",
    "query",
    "sample",
    "sensitivity",
]

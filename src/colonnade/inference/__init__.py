"""Questions to a network, answered exactly and with the uncertainty of its tables."""

from colonnade.inference.actions import association, do, effect
from colonnade.inference.derivatives import joint_sensitivity, sensitivity
from colonnade.inference.effects import Contrast, Effect, Estimates
from colonnade.inference.entries import Entry, EntryPair, Sensitivity
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.explaining import Explanation, Moved, explain
from colonnade.inference.filling import anomaly, impute, predict
from colonnade.inference.information import (
    Estimate,
    Informative,
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
    "EntryPair",
    "Estimate",
    "Estimates",
    "Evidence",
    "Explanation",
    "Informative",
    "MostProbable",
    "Moved",
    "Observed",
    "Predictions",
    "QueryResult",
    "Sensitivity",
    "anomaly",
    "association",
    "do",
    "effect",
    "entropy",
    "explain",
    "impute",
    "informative",
    "joint_sensitivity",
    "kl",
    "most_probable",
    "mutual_information",
    "predict",
    "query",
    "sample",
    "sensitivity",
]

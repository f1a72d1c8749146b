"""Questions to a network, answered exactly and with the uncertainty of its tables."""

from colonnade.inference.actions import association, do, effect
from colonnade.inference.effects import Contrast, Effect, Estimates
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.modes import most_probable
from colonnade.inference.queries import query
from colonnade.inference.results import MostProbable, QueryResult
from colonnade.inference.sampling import sample

__all__ = [
    "Contrast",
    "Effect",
    "Estimates",
    "Evidence",
    "MostProbable",
    "Observed",
    "QueryResult",
    "association",
    "do",
    "effect",
    "most_probable",
    "query",
    "sample",
]

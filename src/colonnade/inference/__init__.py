"""Questions to a network, answered exactly and with the uncertainty of its tables."""

from colonnade.inference.queries import most_probable, query
from colonnade.inference.results import MostProbable, QueryResult

__all__ = ["MostProbable", "QueryResult", "most_probable", "query"]

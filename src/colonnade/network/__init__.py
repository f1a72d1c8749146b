"""The fitted network: tables and a graph, made from data, scored, sampled and updated."""

from colonnade.network.counts import NetworkCounts
from colonnade.network.learning import count, fit
from colonnade.network.model import BayesianNetwork
from colonnade.network.origin import Origin

__all__ = ["BayesianNetwork", "NetworkCounts", "Origin", "count", "fit"]

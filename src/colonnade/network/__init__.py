"""The fitted network: tables and a graph, made from data, scored, sampled and updated."""

from colonnade.network.learning import fit
from colonnade.network.model import BayesianNetwork

__all__ = ["BayesianNetwork", "fit"]

"""The fitted network: tables and a graph, made from data, scored, sampled and updated."""

from colonnade.network.model import BayesianNetwork, fit

__all__ = ["BayesianNetwork", "fit"]

"""Graphs: directed acyclic ones, what follows from them, and how they are written."""

from colonnade.dag.equivalence import compelled
from colonnade.dag.graph import Dag
from colonnade.dag.mixed import MixedGraph

__all__ = ["Dag", "MixedGraph", "compelled"]

"""Pdag: a graph of which some directions are open, such as a class of equivalent graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.dag import Arc, Dag
from colonnade.exceptions import NotSupportedError, expected
from colonnade.structure.mixed import Mixed
from colonnade.tables.tabular import Tabular


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pdag(Tabular):
    """A partially directed graph: arcs, and edges whose direction is open.

    Two are equal if they have the same variables, arcs and edges, in any order.

    Parameters
    ----------
    arcs : iterable of (str, str)
        Parent and child of each arc.
    edges : iterable of (str, str)
        Pairs of variables that are adjacent, in any order.
    variables : iterable of str, optional
        Names that come first, in this order; those without arcs stand alone.

    Examples
    --------
    >>> graph = Pdag([("a", "b")], [("b", "c")])
    >>> graph.variables
    ('a', 'b', 'c')
    >>> graph.extension()
    Dag([('a', 'b'), ('b', 'c')])
    """

    arcs: tuple[Arc, ...]
    edges: tuple[Arc, ...] = ()
    variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # A Dag of each part checks what its pairs are; together they must not repeat a pair.
        arcs = Dag(self.arcs, self.variables).arcs
        edges = _checked_edges(self.edges)
        pairs = [frozenset(pair) for pair in (*arcs, *edges)]
        repeated = [pair for k, pair in enumerate(pairs) if pair in pairs[:k]]
        if repeated:
            raise expected("each pair once, in arcs or in edges", "edges", tuple(repeated[0]))
        names = dict.fromkeys(self.variables)
        names.update(dict.fromkeys(name for arc in (*arcs, *edges) for name in arc))
        object.__setattr__(self, "arcs", arcs)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "variables", tuple(names))

    @classmethod
    def of(cls, dag: Dag) -> Pdag:
        """The class of all graphs with the same independences as this one (its CPDAG).

        An arc is in all of them, an edge has one direction in some and the other in others.

        Examples
        --------
        >>> Pdag.of(Dag([("a", "b"), ("b", "c")]))
        Pdag([], edges=[('a', 'b'), ('b', 'c')])
        >>> Pdag.of(Dag([("a", "c"), ("b", "c"), ("c", "d")]))
        Pdag([('a', 'c'), ('b', 'c'), ('c', 'd')])
        """
        if not isinstance(dag, Dag):
            raise expected("a Dag", "dag", dag, "write Dag([('parent', 'child')])")
        position = {name: k for k, name in enumerate(dag.variables)}
        matrix = np.zeros((len(dag), len(dag)), bool)
        for parent, child in dag.arcs:
            matrix[position[parent], position[child]] = True
        return named(Mixed.of(matrix).essential(), dag.variables)

    def extension(self) -> Dag:
        """A graph with these arcs and a direction for each edge, without another collider.

        Refused where there is none.
        """
        position = {name: k for k, name in enumerate(self.variables)}
        matrix = np.zeros((len(position), len(position)), bool)
        for a, b in self.arcs:
            matrix[position[a], position[b]] = True
        for a, b in self.edges:
            matrix[position[a], position[b]] = matrix[position[b], position[a]] = True
        found = Mixed.of(matrix).extension()
        if found is None:
            reason = "every direction of its edges makes a cycle or another collider"
            raise NotSupportedError(f"An extension of {self!r}", reason)
        return named_dag(found, self.variables)

    def _columns(self) -> dict[str, list[Any]]:
        pairs = [*self.arcs, *self.edges]
        return {
            "from": [a for a, _ in pairs],
            "to": [b for _, b in pairs],
            "directed": [k < len(self.arcs) for k in range(len(pairs))],
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pdag):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[frozenset[Any], ...]:
        edges = frozenset(frozenset(edge) for edge in self.edges)
        return frozenset(self.variables), frozenset(self.arcs), edges

    def __repr__(self) -> str:
        shown = dict.fromkeys(name for arc in (*self.arcs, *self.edges) for name in arc)
        rest = f", edges={list(self.edges)}" if self.edges else ""
        rest += "" if tuple(shown) == self.variables else f", variables={list(self.variables)}"
        return f"Pdag({list(self.arcs)}{rest})"


def named(graph: Mixed, names: tuple[str, ...]) -> Pdag:
    """A graph with the names of its variables."""
    arcs = tuple((names[a], names[b]) for a, b in graph.arcs())
    return Pdag(arcs, tuple((names[a], names[b]) for a, b in graph.edges()), names)


def named_dag(graph: Mixed, names: tuple[str, ...]) -> Dag:
    """A graph without edges, with the names of its variables."""
    return Dag(tuple((names[a], names[b]) for a, b in graph.arcs()), names)


def _checked_edges(edges: Any) -> tuple[Arc, ...]:
    hint = "give pairs of variables, such as [('a', 'b')]"
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise expected("a list of pairs", "edges", edges, hint)
    checked = []
    for edge in edges:
        pair = isinstance(edge, tuple | list) and len(edge) == 2
        if not pair or not all(isinstance(name, str) and name for name in edge):
            raise expected("pairs of variables", "edges", edge, hint)
        if edge[0] == edge[1]:
            raise expected("pairs of two variables", "edges", tuple(edge), hint)
        checked.append((edge[0], edge[1]))
    return tuple(checked)

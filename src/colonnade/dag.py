"""Dag: a directed acyclic graph of named variables."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from colonnade.exceptions import (
    InputError,
    checked_list,
    expected,
    listing,
    not_among,
    require,
)

__all__ = ["Dag"]

Arc = tuple[str, str]

# Variables of a cycle that a message names, in all and at its two ends.
_MAX_SHOWN_CYCLE, _SHOWN_BEGINNING, _SHOWN_END = 20, 10, 9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dag:
    """A directed acyclic graph of named variables.

    Two graphs are equal if they have the same variables, in any order, and every variable has the
    same parents, in the same order: that of the configurations in a table.

    Parameters
    ----------
    arcs : iterable of (str, str)
        Parent and child of each arc, all different. The parents of a variable keep this order.
    variables : iterable of str, optional
        Names that come first, in this order; those without arcs stand alone. The other names
        follow as they appear in `arcs`.

    Attributes
    ----------
    arcs : tuple of (str, str)
    variables : tuple of str
        All names.
    order : tuple of str
        All names, parents before their children; of several possible orders the one that keeps
        closest to `variables`.

    Examples
    --------
    >>> dag = Dag([("smoker", "cancer"), ("age", "cancer")], variables=["age", "sex"])
    >>> dag.variables
    ('age', 'sex', 'smoker', 'cancer')
    >>> dag.parents("cancer"), dag.children("age")
    (('smoker', 'age'), ('cancer',))
    >>> Dag([("a", "b"), ("b", "c"), ("c", "a")])
    Traceback (most recent call last):
    colonnade.exceptions.InputError: Expected no cycle for `arcs`, got a -> b -> c -> a.
    Hint: remove or turn one of these arcs.
    """

    arcs: tuple[Arc, ...]
    variables: tuple[str, ...] = ()
    order: tuple[str, ...] = field(init=False)
    _parents: dict[str, tuple[str, ...]] = field(init=False)
    _children: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        arcs = _checked_arcs(self.arcs)
        # A dictionary is a set that keeps its order.
        names = dict.fromkeys(_checked_variables(self.variables))
        names.update(dict.fromkeys(name for arc in arcs for name in arc))
        parents: dict[str, list[str]] = {name: [] for name in names}
        children: dict[str, list[str]] = {name: [] for name in names}
        for parent, child in arcs:
            parents[child].append(parent)
            children[parent].append(child)
        object.__setattr__(self, "arcs", arcs)
        object.__setattr__(self, "variables", tuple(names))
        for attribute, found in (("_parents", parents), ("_children", children)):
            object.__setattr__(self, attribute, {name: tuple(found[name]) for name in names})
        object.__setattr__(self, "order", self._sorted())

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of the arcs.

        Examples
        --------
        >>> Dag([("b", "x"), ("a", "x")]).parents("x")
        ('b', 'a')
        """
        return self._parents[self._known(name, "name")]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a variable, in the order of the arcs.

        Examples
        --------
        >>> Dag([("a", "x"), ("a", "y")]).children("a")
        ('x', 'y')
        """
        return self._children[self._known(name, "name")]

    def ancestors(self, names: Iterable[str]) -> frozenset[str]:
        """Return some variables together with all that lead to them.

        Examples
        --------
        >>> sorted(Dag([("a", "b"), ("b", "c"), ("d", "c")]).ancestors(["b"]))
        ['a', 'b']
        """
        found: set[str] = set()
        listed = checked_list(names, "a sequence of names", "names")
        waiting = [self._known(name, "names") for name in listed]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._parents[name]
        return frozenset(found)

    def with_arc(self, parent: str, child: str) -> Dag:
        """Return the graph with one more arc between two of its variables.

        Examples
        --------
        >>> Dag([("a", "b")], variables=["a", "b", "c"]).with_arc("c", "b").parents("b")
        ('a', 'c')
        """
        arc = self._known(parent, "parent"), self._known(child, "child")
        return Dag((*self.arcs, arc), self.variables)

    def without_arc(self, parent: str, child: str) -> Dag:
        """Return the graph without one of its arcs; the variables stay.

        Examples
        --------
        >>> Dag([("a", "b"), ("b", "c")]).without_arc("a", "b")
        Dag([('b', 'c')], variables=['a', 'b', 'c'])
        """
        arc = self._known(parent, "parent"), self._known(child, "child")
        if arc not in self.arcs:
            raise expected(f"a parent of {child!r}", "parent", parent, "see `parents`")
        return Dag(tuple(other for other in self.arcs if other != arc), self.variables)

    def to_networkx(self) -> Any:
        """Return the graph as a ``networkx.DiGraph``, nodes and arcs in the same order.

        Examples
        --------
        >>> list(Dag([("a", "b")]).to_networkx().edges)
        [('a', 'b')]
        """
        networkx = require("networkx", feature="Dag.to_networkx", extra="interop")
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from(self.arcs)
        return graph

    @classmethod
    def from_networkx(cls, graph: Any) -> Dag:
        """Take over a directed graph of networkx whose nodes are strings, without attributes.

        Examples
        --------
        >>> import networkx
        >>> Dag.from_networkx(networkx.DiGraph([("b", "a"), ("c", "a")]))
        Dag([('b', 'a'), ('c', 'a')])
        """
        if not (hasattr(graph, "is_directed") and hasattr(graph, "pred") and graph.is_directed()):
            hint = "give its arcs a direction first"
            raise expected("a directed graph of networkx", "graph", graph, hint)
        if graph.is_multigraph() and len({arc[:2] for arc in graph.edges}) < len(graph.edges):
            hint = "use networkx.DiGraph, which keeps one"
            raise expected("different arcs", "graph", graph, hint)
        # The arcs of networkx come node by node; only `pred` remembers the order of parents.
        arcs = ((parent, child) for child in graph.nodes for parent in graph.pred[child])
        return cls(tuple(arcs), tuple(graph.nodes))

    def __len__(self) -> int:
        return len(self.variables)

    def __contains__(self, name: object) -> bool:
        return name in self._parents

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dag):
            return NotImplemented
        return self._parents == other._parents

    def __hash__(self) -> int:
        return hash(frozenset(self._parents.items()))

    def __repr__(self) -> str:
        named = tuple(dict.fromkeys(name for arc in self.arcs for name in arc))
        rest = "" if named == self.variables else f", variables={list(self.variables)}"
        return f"Dag({list(self.arcs)}{rest})"

    def _known(self, name: str, parameter: str) -> str:
        if not isinstance(name, str) or name not in self._parents:
            raise not_among(self.variables, parameter, name)
        return name

    def _sorted(self) -> tuple[str, ...]:
        """Sort the names topologically, or raise the error that names a cycle."""
        position = {name: k for k, name in enumerate(self.variables)}
        waiting = {name: len(found) for name, found in self._parents.items()}
        ready = [position[name] for name, left in waiting.items() if not left]
        order = []
        while ready:
            name = self.variables[heapq.heappop(ready)]
            order.append(name)
            for child in self._children[name]:
                waiting[child] -= 1
                if not waiting[child]:
                    heapq.heappush(ready, position[child])
        if len(order) < len(self.variables):
            raise self._cycle({name for name, left in waiting.items() if left})
        return tuple(order)

    def _cycle(self, stuck: set[str]) -> InputError:
        """Word the error; every name in `stuck` has a parent in it, so going back must repeat."""
        name = next(name for name in self.variables if name in stuck)
        path: dict[str, int] = {}
        while name not in path:
            path[name] = len(path)
            name = next(parent for parent in self._parents[name] if parent in stuck)
        cycle = list(path)[path[name] :][::-1]
        # Start where the user would: at the variable that comes first.
        start = min(range(len(cycle)), key=lambda k: self.variables.index(cycle[k]))
        cycle = cycle[start:] + cycle[: start + 1]
        named = cycle
        if len(cycle) > _MAX_SHOWN_CYCLE:
            named = [*cycle[:_SHOWN_BEGINNING], "...", *cycle[-_SHOWN_END:]]
        hint = "remove or turn one of these arcs"
        return expected("no cycle", "arcs", tuple(cycle), hint, got=" -> ".join(named))


def _checked_arcs(arcs: Any) -> tuple[Arc, ...]:
    hint = "give pairs (parent, child), such as [('a', 'b')]"
    if isinstance(arcs, str | bytes) or not isinstance(arcs, Iterable):
        raise expected("a sequence of arcs", "arcs", arcs, hint)
    checked: dict[Arc, None] = {}
    for arc in arcs:
        if isinstance(arc, str) or not isinstance(arc, Sequence) or len(arc) != 2:
            raise expected("pairs (parent, child)", "arcs", arc, hint)
        parent, child = (_checked_name(name, "arcs") for name in arc)
        if parent == child:
            got = f"{parent} -> {child}"
            raise expected("arcs between two variables", "arcs", arc, "remove this arc", got=got)
        if (parent, child) in checked:
            got = f"{parent} -> {child} twice"
            raise expected("different arcs", "arcs", arc, "give this one once", got=got)
        checked[parent, child] = None
    return tuple(checked)


def _checked_variables(variables: Any) -> list[str]:
    if isinstance(variables, str | bytes) or not isinstance(variables, Iterable):
        raise expected("a sequence of names", "variables", variables, "give a list")
    names = [_checked_name(name, "variables") for name in variables]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise expected("different names", "variables", names, f"give {listing(repeated)} once")
    return names


def _checked_name(name: Any, parameter: str) -> str:
    if not isinstance(name, str) or not name:
        raise expected("non-empty strings as names of variables", parameter, name)
    return str(name)

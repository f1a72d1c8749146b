"""Dag: a directed acyclic graph of named variables."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from colonnade.dag.equivalence import colliders, compelled, distance, refuse_other_variables
from colonnade.dag.mixed import MixedGraph
from colonnade.dag.names import Arc, checked_arcs, checked_variables
from colonnade.dag.separation import (
    backdoor_graph,
    contracted,
    minimal_separator,
    minimal_separators,
    moral_neighbours,
    separated,
)
from colonnade.exceptions import (
    InputError,
    checked_list,
    expected,
    not_among,
    require,
)

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
        arcs = checked_arcs(self.arcs)
        # A dictionary is a set that keeps its order.
        names = dict.fromkeys(checked_variables(self.variables))
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

    def ancestors(self, names: str | Iterable[str]) -> frozenset[str]:
        """Return the variables that lead to one; or several, together with all that lead to them.

        Examples
        --------
        >>> dag = Dag([("a", "b"), ("b", "c"), ("d", "c")])
        >>> sorted(dag.ancestors("b")), sorted(dag.ancestors(["b"]))
        (['a'], ['a', 'b'])
        """
        return self._closure(names, self._parents)

    def descendants(self, names: str | Iterable[str]) -> frozenset[str]:
        """Return the variables that one leads to; or several, together with all they lead to.

        Examples
        --------
        >>> dag = Dag([("a", "b"), ("b", "c"), ("d", "c")])
        >>> sorted(dag.descendants("a")), sorted(dag.descendants(["b", "d"]))
        (['b', 'c'], ['b', 'c', 'd'])
        """
        return self._closure(names, self._children)

    def markov_blanket(self, name: str) -> frozenset[str]:
        """Return parents, children and other parents of the children of a variable.

        Given these, it is independent of all others.

        Examples
        --------
        >>> sorted(Dag([("a", "b"), ("b", "c"), ("d", "c"), ("c", "e")]).markov_blanket("b"))
        ['a', 'c', 'd']
        """
        children = self.children(name)
        near = {*self.parents(name), *children}
        return frozenset(near.union(*map(self._parents.__getitem__, children)) - {name})

    def d_separated(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Whether the graph makes variables independent of others, given some.

        Parameters
        ----------
        x, y, given : str or iterable of str
            No variable may be in two of them.

        Examples
        --------
        >>> dag = Dag([("a", "c"), ("b", "c"), ("c", "d")])
        >>> dag.d_separated("a", "b"), dag.d_separated("a", "b", "d")
        (True, False)
        >>> dag.d_separated("a", "d", given=["c"])
        True
        """
        sets = [self._named(x, "x"), self._named(y, "y"), self._named(given, "given", least=0)]
        for k, parameter in enumerate(("x", "y", "given")):
            for earlier in sets[:k]:
                if both := [name for name in sets[k] if name in earlier]:
                    what = "variables that are not asked for elsewhere"
                    raise expected(what, parameter, both[0], "name every variable once")
        return separated(self, *sets)

    def backdoor_sets(self, cause: str, effect: str) -> tuple[frozenset[str], ...]:
        """Return all minimal sets to adjust for in the effect of one variable on another.

        Such a set has no descendant of `cause`, and blocks every path between the two that enters
        `cause` (the back-door criterion of Pearl 1993). The graph is taken as causal and complete:
        no common cause is absent from it. Smaller sets come first.

        Examples
        --------
        >>> dag = Dag([("age", "smoker"), ("age", "ill"), ("smoker", "tar"), ("tar", "ill")])
        >>> [sorted(each) for each in dag.backdoor_sets("smoker", "ill")]
        [['age']]
        """
        return tuple(minimal_separators(*self._doors(cause, effect)))

    def backdoor_set(self, cause: str, effect: str) -> frozenset[str] | None:
        """Return one minimal set to adjust for; None if `effect` leads to `cause`.

        See :meth:`backdoor_sets`, of which there may be many.

        Examples
        --------
        >>> Dag([("age", "smoker"), ("age", "ill"), ("smoker", "ill")]).backdoor_set(
        ...     "smoker", "ill"
        ... )
        frozenset({'age'})
        """
        if self._known(effect, "effect") in self.ancestors(self._known(cause, "cause")):
            return None
        return minimal_separator(*self._doors(cause, effect))

    def is_backdoor_set(self, cause: str, effect: str, given: str | Iterable[str] = ()) -> bool:
        """Whether adjusting for some variables is valid by the back-door criterion.

        See :meth:`backdoor_sets`; the set need not be minimal.

        Examples
        --------
        >>> dag = Dag([("age", "smoker"), ("age", "ill"), ("smoker", "tar"), ("tar", "ill")])
        >>> dag.is_backdoor_set("smoker", "ill"), dag.is_backdoor_set("smoker", "ill", "age")
        (False, True)
        >>> dag.is_backdoor_set("smoker", "ill", ["age", "tar"])
        False
        """
        self._effect_possible(cause, effect)
        names = self._named(given, "given", least=0)
        if both := [name for name in names if name in (cause, effect)]:
            what = "variables besides `cause` and `effect`"
            raise expected(what, "given", both[0], "leave it out")
        if not self.descendants([cause]).isdisjoint(names):
            return False
        return separated(backdoor_graph(self, [cause]), [cause], [effect], names)

    def skeleton(self) -> MixedGraph:
        """Return the graph with edges in place of arcs.

        Examples
        --------
        >>> Dag([("a", "c"), ("b", "c")]).skeleton().edges
        (('a', 'c'), ('b', 'c'))
        """
        return MixedGraph((), self.arcs, self.variables)

    def moral(self) -> MixedGraph:
        """Return the moral graph: the skeleton, with an edge between any two parents of a child.

        Examples
        --------
        >>> Dag([("a", "c"), ("b", "c")]).moral().edges
        (('a', 'c'), ('b', 'c'), ('a', 'b'))
        """
        edges = {frozenset(arc): arc for arc in self.arcs}
        for child in self.variables:
            for pair in combinations(self._parents[child], 2):
                edges.setdefault(frozenset(pair), pair)
        return MixedGraph((), tuple(edges.values()), self.variables)

    def cpdag(self) -> MixedGraph:
        """Return what all equivalent graphs have in common: an edge where directions differ.

        Equivalent graphs have the same independences. Their completed partially directed graph
        is also called essential graph.

        Examples
        --------
        >>> graph = Dag([("a", "c"), ("b", "c"), ("d", "a")]).cpdag()
        >>> graph.arcs, graph.edges
        ((('a', 'c'), ('b', 'c')), (('d', 'a'),))
        """
        certain = compelled(self)
        arcs = tuple(arc for arc in self.arcs if certain[arc])
        return MixedGraph(arcs, tuple(arc for arc in self.arcs if not certain[arc]), self.variables)

    def is_equivalent(self, other: Dag) -> bool:
        """Whether another graph has the same independences.

        It has if it connects the same variables and has the same unshielded colliders (Verma and
        Pearl 1990).

        Examples
        --------
        >>> chain, fork = Dag([("a", "b"), ("b", "c")]), Dag([("b", "a"), ("b", "c")])
        >>> chain.is_equivalent(fork), chain.is_equivalent(Dag([("a", "b"), ("c", "b")]))
        (True, False)
        """
        _check_comparable(self, other)
        pairs, others = self._marks().keys(), other._marks().keys()
        return pairs == others and colliders(self) == colliders(other)

    def shd(self, other: Dag) -> int:
        """Structural Hamming distance: how many arcs are to be added, removed or turned.

        For the distance between the classes of equivalent graphs, as bnlearn has it, write
        ``dag.cpdag().shd(other.cpdag())``.

        Examples
        --------
        >>> Dag([("a", "b"), ("b", "c")]).shd(Dag([("b", "a"), ("a", "c")]))
        3
        """
        _check_comparable(self, other)
        return distance(self, other)

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

    def to_string(self) -> str:
        """Write the graph as a model string: each variable with its parents, as bnlearn does.

        Names that contain one of ``[]|:`` cannot be written so.

        Examples
        --------
        >>> Dag([("a", "c"), ("b", "c")]).to_string()
        '[a][b][c|a:b]'
        """
        from colonnade.dag.strings import write_string

        return write_string(self)

    @classmethod
    def from_string(cls, text: str) -> Dag:
        """Read a model string: ``[a][b|a]`` has an arc from a to b.

        Every variable has its own brackets, in any order.

        Examples
        --------
        >>> Dag.from_string("[a][b][c|b:a]").parents("c")
        ('b', 'a')
        """
        from colonnade.dag.strings import read_string

        names, arcs = read_string(text)
        return cls(arcs, names)

    def to_dot(self) -> str:
        """Write the graph in the language of Graphviz.

        Examples
        --------
        >>> print(Dag([("a", "b")]).to_dot())
        digraph {
          "a";
          "b";
          "a" -> "b";
        }
        """
        from colonnade.dag.dot import write_dot

        # The parents of each variable in their order, which is that of the rows of its table.
        arcs = [(parent, name) for name in self.variables for parent in self._parents[name]]
        return write_dot(self.variables, arcs)

    @classmethod
    def from_dot(cls, text: str) -> Dag:
        """Read a graph in the language of Graphviz.

        Nodes are named by their identifiers. Of all attributes only ``dir`` counts: an arc with
        ``dir=back`` is turned, and one without a direction is refused.

        Examples
        --------
        >>> Dag.from_dot("digraph g { age -> {smoker ill}; smoker -> ill; }").parents("ill")
        ('age', 'smoker')
        """
        from colonnade.dag.dot import read_dot

        names, arcs = read_dot(text)
        return cls(arcs, names)

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph (extra ``plot``), in given matplotlib axes or in a new figure.

        Examples
        --------
        >>> sorted(text.get_text() for text in Dag([("a", "b")]).plot().texts if text.get_text())
        ['a', 'b']
        """
        from colonnade.report.graph import draw

        return draw(self, ax)

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

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

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

    def _named(self, names: str | Iterable[str], parameter: str, least: int = 1) -> list[str]:
        """Return one name or several as a list of different ones."""
        listed = [names] if isinstance(names, str) else names
        listed = checked_list(listed, "a name or a sequence of names", parameter)
        if len(listed) < least:
            raise expected("at least one name", parameter, names)
        return list(dict.fromkeys(self._known(name, parameter) for name in listed))

    def _closure(
        self, names: str | Iterable[str], near: Mapping[str, tuple[str, ...]]
    ) -> frozenset[str]:
        found: set[str] = set()
        waiting = self._named(names, "names", least=0)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += near[name]
        return frozenset(found - {names} if isinstance(names, str) else found)

    def _effect_possible(self, cause: str, effect: str) -> None:
        """Refuse to look for the effect of a variable on itself, or on what leads to it."""
        self._known(cause, "cause")
        if self._known(effect, "effect") == cause:
            raise expected("another variable than `cause`", "effect", effect)
        if effect in self.ancestors(cause):
            got = f"{effect!r}, which leads to {cause!r}"
            hint = "an action on `cause` does not change it; exchange the two?"
            what = "a variable that does not lead to `cause`"
            raise expected(what, "effect", effect, hint, got=got)

    def _doors(self, cause: str, effect: str) -> tuple[dict[str, set[str]], str, str]:
        """Who is near to whom on paths into `cause`, without what must not be adjusted for."""
        self._effect_possible(cause, effect)
        doors = backdoor_graph(self, [cause])
        near = moral_neighbours(doors, doors.ancestors([cause, effect]))
        barred = self.descendants(cause) - {effect}
        return contracted(near, [name for name in near if name in barred]), cause, effect

    def _marks(self) -> dict[frozenset[str], Arc | None]:
        """Which arc connects each pair of variables that is connected."""
        return {frozenset(arc): arc for arc in self.arcs}

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


def _check_comparable(dag: Dag, other: Any) -> None:
    if not isinstance(other, Dag):
        raise expected("a Dag", "other", other)
    refuse_other_variables(dag, other)

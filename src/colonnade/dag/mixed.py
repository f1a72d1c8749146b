"""MixedGraph: arcs and edges without direction, such as a skeleton or an equivalence class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from colonnade.dag.equivalence import distance, refuse_other_variables
from colonnade.dag.names import Arc, checked_arcs, checked_variables
from colonnade.exceptions import NotSupportedError, expected, not_among, require
from colonnade.tables.tabular import Tabular

if TYPE_CHECKING:
    from colonnade.dag.graph import Dag


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MixedGraph(Tabular):
    """A graph of named variables with arcs and with edges that have no direction.

    Made by :meth:`Dag.skeleton` and :meth:`Dag.moral`, which have edges only, and by
    :meth:`Dag.cpdag`; searches among classes of graphs find such graphs, too. Two graphs are equal
    if they have the same variables, arcs and edges, in any order.

    Parameters
    ----------
    arcs : iterable of (str, str)
        Parent and child of each arc.
    edges : iterable of (str, str)
        The two ends of each edge. A pair of variables has at most one arc or edge.
    variables : iterable of str, optional
        Names that come first, as for :class:`Dag`.

    Examples
    --------
    >>> graph = MixedGraph([("a", "b")], [("b", "c")])
    >>> graph
    MixedGraph(arcs=[('a', 'b')], edges=[('b', 'c')], variables=['a', 'b', 'c'])
    >>> graph.neighbours("b")
    ('c',)
    """

    arcs: tuple[Arc, ...] = ()
    edges: tuple[Arc, ...] = ()
    variables: tuple[str, ...] = ()
    _near: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        arcs = checked_arcs(self.arcs)
        with_edges = checked_arcs(self.edges, "edges")
        seen: set[frozenset[str]] = set()
        for pair in (*arcs, *with_edges):
            if frozenset(pair) in seen:
                got = f"two between {pair[0]!r} and {pair[1]!r}"
                raise expected("one arc or edge per pair of variables", "edges", pair, got=got)
            seen.add(frozenset(pair))
        names = dict.fromkeys(checked_variables(self.variables))
        names.update(dict.fromkeys(name for pair in (*arcs, *with_edges) for name in pair))
        near: dict[str, list[str]] = {name: [] for name in names}
        for a, b in with_edges:
            near[a].append(b)
            near[b].append(a)
        object.__setattr__(self, "arcs", arcs)
        object.__setattr__(self, "edges", with_edges)
        object.__setattr__(self, "variables", tuple(names))
        object.__setattr__(self, "_near", {name: tuple(near[name]) for name in names})

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the variables that edges connect with one; arcs do not count.

        Examples
        --------
        >>> MixedGraph([], [("a", "b"), ("c", "a")]).neighbours("a")
        ('b', 'c')
        """
        if not isinstance(name, str) or name not in self._near:
            raise not_among(self.variables, "name", name)
        return self._near[name]

    def shd(self, other: MixedGraph) -> int:
        """Structural Hamming distance: the pairs of variables that are connected differently.

        An arc, an arc the other way, an edge and nothing are four ways. Between the results of
        :meth:`Dag.cpdag` it is the distance of Tsamardinos, Brown and Aliferis (2006), and that of
        bnlearn.

        Examples
        --------
        >>> from colonnade import Dag
        >>> chain, fork = Dag([("a", "b"), ("b", "c")]), Dag([("b", "a"), ("b", "c")])
        >>> chain.shd(fork), chain.cpdag().shd(fork.cpdag())
        (1, 0)
        """
        if not isinstance(other, MixedGraph):
            raise expected("a MixedGraph", "other", other, "use dag.cpdag() or dag.skeleton()")
        refuse_other_variables(self, other)
        return distance(self, other)

    def to_dag(self) -> Dag:
        """Give every edge a direction, without a cycle and without a new unshielded collider.

        The algorithm is that of Dor and Tarsi (1992). For a graph made by :meth:`Dag.cpdag` the
        result is one of the equivalent graphs. Arcs go from earlier to later variables where they
        can.

        Examples
        --------
        >>> MixedGraph([("a", "b")], [("b", "c")]).to_dag()
        Dag([('a', 'b'), ('b', 'c')])
        """
        from colonnade.dag.graph import Dag

        parents = {name: {a for a, b in self.arcs if b == name} for name in self.variables}
        near = {name: set(found) for name, found in self._near.items()}
        left, directed = dict.fromkeys(self.variables), set(self.arcs)
        while left:
            sink = next(
                (name for name in reversed(left) if _is_sink(name, left, parents, near)), None
            )
            if sink is None:
                raise NotSupportedError(
                    "A Dag of this graph",
                    "whatever directions its edges get, there is a cycle or a new collider",
                    "direct one of its edges yourself",
                )
            directed |= {(other, sink) for other in near[sink]}
            del left[sink]
            for other in near.pop(sink):
                near[other].discard(sink)
        ordered = [pair for a, b in (*self.arcs, *self.edges) for pair in ((a, b), (b, a))]
        return Dag(tuple(pair for pair in ordered if pair in directed), self.variables)

    def to_networkx(self) -> Any:
        """Return a graph of networkx (extra ``interop``).

        It is a ``networkx.Graph`` if there are no arcs; else a ``DiGraph`` in which an edge is a
        pair of arcs, one in each direction.

        Examples
        --------
        >>> sorted(MixedGraph([("a", "b")], [("b", "c")]).to_networkx().edges)
        [('a', 'b'), ('b', 'c'), ('c', 'b')]
        """
        networkx = require("networkx", feature="MixedGraph.to_networkx", extra="interop")
        graph = networkx.DiGraph() if self.arcs else networkx.Graph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from(self.arcs)
        graph.add_edges_from(self.edges)
        if self.arcs:
            graph.add_edges_from((b, a) for a, b in self.edges)
        return graph

    def to_dot(self) -> str:
        """Write the graph in the language of Graphviz; edges are arcs without heads.

        Examples
        --------
        >>> print(MixedGraph([("a", "b")], [("b", "c")]).to_dot())
        digraph {
          "a";
          "b";
          "c";
          "a" -> "b";
          "b" -> "c" [dir=none];
        }
        """
        from colonnade.dag.dot import write_dot

        return write_dot(self.variables, self.arcs, self.edges)

    def _columns(self) -> dict[str, list[Any]]:
        pairs = [*self.arcs, *self.edges]
        return {
            "from": [a for a, _ in pairs],
            "to": [b for _, b in pairs],
            "directed": [k < len(self.arcs) for k in range(len(pairs))],
        }

    def _marks(self) -> dict[frozenset[str], Arc | None]:
        """How each connected pair is connected: by an arc, or by an edge."""
        arcs: dict[frozenset[str], Arc | None] = {frozenset(arc): arc for arc in self.arcs}
        # No pair at all is None as well in `dict.get`, so an edge is something else.
        return arcs | {frozenset(edge): ("", "") for edge in self.edges}

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __contains__(self, name: object) -> bool:
        return name in self._near

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MixedGraph):
            return NotImplemented
        return set(self.variables) == set(other.variables) and self._marks() == other._marks()

    def __hash__(self) -> int:
        return hash((frozenset(self.variables), frozenset(self._marks().items())))

    def __repr__(self) -> str:
        arcs, edges, names = list(self.arcs), list(self.edges), list(self.variables)
        return f"MixedGraph(arcs={arcs}, edges={edges}, variables={names})"


def _is_sink(
    name: str, left: dict[str, None], parents: dict[str, set[str]], near: dict[str, set[str]]
) -> bool:
    """Whether all edges of a variable may point to it: no arc leaves it, none becomes a collider.

    Only variables that are `left` count.
    """
    if any(name in parents[other] for other in left):
        return False
    around = near[name] | {parent for parent in parents[name] if parent in left}
    return all(
        far == other or far in near[other] or far in parents[other] or other in parents[far]
        for other in near[name]
        for far in around
    )

"""Mixed: a graph of arcs and undirected edges while it is searched, as sets of bits.

Bit k of a set stands for the k-th variable. Python's integers hold any number of them, and the
questions of a search (is this a clique, is there a path) are a few operations on whole sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from colonnade.dag import Dag, MixedGraph
from colonnade.structure.paths import Adjacency


def bits(members: int) -> Iterator[int]:
    """Positions in a set, ascending.

    Examples
    --------
    >>> list(bits(0b1010))
    [1, 3]
    """
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


class Mixed:
    """Arcs and edges: the parents, children and neighbours of each variable.

    Examples
    --------
    >>> chain = Mixed(3)
    >>> chain.connect(0, 1), chain.connect(1, 2), chain.direct(0, 1)
    (None, None, None)
    >>> chain.close()
    >>> list(bits(chain.parents[2]))  # another collider is not meant
    [1]
    """

    def __init__(self, size: int) -> None:
        self.parents = [0] * size
        self.children = [0] * size
        self.neighbours = [0] * size

    @classmethod
    def of(cls, adjacency: Adjacency) -> Mixed:
        """The graph of a matrix ``[parent, child]``; what is there both ways is an edge."""
        graph = cls(len(adjacency))
        for a, b in np.argwhere(adjacency | adjacency.T).tolist():
            if a < b:
                graph.connect(a, b)
                if not adjacency[b, a]:
                    graph.direct(a, b)
                elif not adjacency[a, b]:
                    graph.direct(b, a)
        return graph

    def __len__(self) -> int:
        return len(self.parents)

    def same_as(self, other: Mixed) -> bool:
        """Whether two graphs of the same variables have the same arcs and edges."""
        return self.parents == other.parents and self.neighbours == other.neighbours

    def copy(self) -> Mixed:
        """Another graph with the same arcs and edges."""
        fresh = Mixed(0)
        fresh.parents, fresh.children = self.parents[:], self.children[:]
        fresh.neighbours = self.neighbours[:]
        return fresh

    def adjacent(self, k: int) -> int:
        """Variables with an arc or edge to this one."""
        return self.parents[k] | self.children[k] | self.neighbours[k]

    def connect(self, a: int, b: int) -> None:
        """Add an edge."""
        self.neighbours[a] |= 1 << b
        self.neighbours[b] |= 1 << a

    def direct(self, a: int, b: int) -> None:
        """Make an edge an arc from the first to the second."""
        self.neighbours[a] &= ~(1 << b)
        self.neighbours[b] &= ~(1 << a)
        self.children[a] |= 1 << b
        self.parents[b] |= 1 << a

    def release(self, a: int, b: int) -> None:
        """Make the arc from the first to the second an edge."""
        self.children[a] &= ~(1 << b)
        self.parents[b] &= ~(1 << a)
        self.connect(a, b)

    def disconnect(self, a: int, b: int) -> None:
        """Remove the arc or edge between two variables."""
        for one, other in ((a, b), (b, a)):
            self.parents[one] &= ~(1 << other)
            self.children[one] &= ~(1 << other)
            self.neighbours[one] &= ~(1 << other)

    def edges(self) -> Iterator[tuple[int, int]]:
        """Undirected edges, the smaller position first."""
        for a in range(len(self)):
            for b in bits(self.neighbours[a] >> (a + 1)):
                yield a, a + 1 + b

    def arcs(self) -> Iterator[tuple[int, int]]:
        """Arcs (parent, child), in the order of the children."""
        for child, parents in enumerate(self.parents):
            for parent in bits(parents):
                yield parent, child

    def is_clique(self, members: int) -> bool:
        """Whether all pairs of a set are adjacent."""
        return all(not members & ~(1 << k) & ~self.adjacent(k) for k in bits(members))

    def leads(self, begin: int, end: int, without: int) -> bool:
        """Whether a path along arcs and edges goes from one to the other around some variables."""
        seen = reached = 1 << begin
        while reached:
            ahead = 0
            for k in bits(reached):
                ahead |= self.children[k] | self.neighbours[k]
            if ahead >> end & 1:
                return True
            reached = ahead & ~seen & ~without
            seen |= reached
        return False

    def reaches(self, begin: int, end: int) -> bool:
        """Whether a path along arcs goes from one to the other."""
        seen = reached = 1 << begin
        while reached:
            ahead = 0
            for k in bits(reached):
                ahead |= self.children[k]
            reached = ahead & ~seen
            seen |= reached
        return bool(seen >> end & 1)

    def close(self, undecided: Collection[tuple[int, int, int]] = ()) -> None:
        """Direct every edge that the arcs decide (the four rules of Meek 1995).

        No other collider and no cycle may come of it. The fourth rule is needed only where arcs
        come from somewhere else than colliders. Triples that are undecided may be colliders:
        nothing is concluded from them.
        """
        changed = True
        while changed:
            changed = False
            for a, b in list(self.edges()):
                if not self.parents[a] and not self.parents[b]:
                    continue  # every rule needs an arc into one of the two
                for one, other in ((a, b), (b, a)):
                    if self._decided(one, other, undecided) and not self.reaches(other, one):
                        self.direct(one, other)
                        changed = True
                        break

    def _decided(self, a: int, b: int, undecided: Collection[tuple[int, int, int]]) -> bool:
        """Whether the edge a - b must be a -> b."""
        # c -> a - b would be a collider
        if any((c, a, b) not in undecided for c in bits(self.parents[a] & ~self.adjacent(b))):
            return True
        if self.children[a] & self.parents[b]:  # a -> c -> b
            return True
        # a - c -> b and a - d -> b, where c and d are not adjacent
        both = self.neighbours[a] & self.parents[b]
        for c in bits(both):
            if any((c, a, d) not in undecided for d in bits(both & ~self.adjacent(c) & ~(1 << c))):
                return True
        # a - c -> d -> b, where c and b are not adjacent and a and d are
        between = self.adjacent(a) & self.parents[b]
        begun = self.neighbours[a] & ~self.adjacent(b) & ~(1 << b)
        return any(self.children[c] & between and (c, a, b) not in undecided for c in bits(begun))

    def extension(self) -> Mixed | None:
        """A graph of arcs only, without a cycle or another collider (Dor and Tarsi 1992), if any.

        Of several the one whose arcs go from earlier to later variables where they can.
        """
        whole, left = self.copy(), (1 << len(self)) - 1
        # Those that may be sinks: who is none becomes one only when an adjacent one is taken away.
        waiting = left
        while waiting:
            sink = waiting.bit_length() - 1
            waiting &= ~(1 << sink)
            if self._is_sink(sink, left):
                for k in bits(self.neighbours[sink] & left):
                    whole.direct(k, sink)
                left &= ~(1 << sink)
                waiting |= self.adjacent(sink) & left
        return None if left else whole

    def _is_sink(self, k: int, left: int) -> bool:
        """Whether all arcs and edges of a variable among those left may point to it."""
        if self.children[k] & left:
            return False
        around = self.adjacent(k) & left
        return all(
            not around & ~(1 << n) & ~self.adjacent(n) for n in bits(self.neighbours[k] & left)
        )

    def essential(self) -> Mixed:
        """Of a graph without edges: the class of equivalent graphs, by its essential graph.

        An arc is directed if it is in all of them; all others are edges.
        """
        graph = Mixed(len(self))
        for a, b in self.arcs():
            graph.connect(a, b)
        for child, parents in enumerate(self.parents):
            for k in bits(parents):
                if parents & ~(1 << k) & ~self.adjacent(k):
                    graph.direct(k, child)
        graph.close()
        return graph

    def matrix(self) -> Adjacency:
        """Arcs and edges as a matrix ``[parent, child]``; an edge is there both ways."""
        matrix = np.zeros((len(self), len(self)), bool)
        for a, b in self.arcs():
            matrix[a, b] = True
        for a, b in self.edges():
            matrix[a, b] = matrix[b, a] = True
        return matrix


def named(graph: Mixed, names: tuple[str, ...]) -> MixedGraph:
    """A graph with the names of its variables."""
    arcs = tuple((names[a], names[b]) for a, b in graph.arcs())
    return MixedGraph(arcs, tuple((names[a], names[b]) for a, b in graph.edges()), names)


def named_dag(graph: Mixed, names: tuple[str, ...]) -> Dag:
    """A graph without edges, with the names of its variables."""
    return Dag(tuple((names[a], names[b]) for a, b in graph.arcs()), names)

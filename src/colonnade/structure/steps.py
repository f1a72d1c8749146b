"""Steps of a search: what may be done to which arc, and the gain of each possible step."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.structure.paths import Adjacency, Paths

Operation = Literal["add", "delete", "reverse"]
# Gains closer than this are ties: equivalent graphs differ by rounding only.
TIE_TOLERANCE = 1e-9


class Move(NamedTuple):
    """A possible step: what is done to the arc from one column to another, and its gain."""

    operation: Operation
    parent: int
    child: int
    gain: float

    def applied(self, adjacency: Adjacency) -> Adjacency:
        """The graph after it."""
        fresh = adjacency.copy()
        fresh[self.parent, self.child] = self.operation == "add"
        if self.operation == "reverse":
            fresh[self.child, self.parent] = True
        return fresh


class _Arcs(NamedTuple):
    """The arcs of a graph in the order of parents, and what deleting or reversing each gains."""

    parents: Integers
    children: Integers
    deletions: Floats
    reversals: Floats

    def move(self, operation: Operation, k: int) -> Move:
        """What is done to the k-th arc."""
        gains = self.deletions if operation == "delete" else self.reversals
        return Move(operation, int(self.parents[k]), int(self.children[k]), float(gains[k]))


class Gains:
    """Gain of every possible step; impossible ones have minus infinity.

    Attributes
    ----------
    adding, deleting : arrays [child, parent]
        Written by the search. Parents that would close a cycle have a gain, too: that of reversing
        an arc is that of deleting it and adding the opposite one.
    paths : Paths
        Of the present graph.
    """

    def __init__(self, paths: Paths) -> None:
        size = len(paths.reach)
        self.paths = paths
        self.adding = np.full((size, size), -np.inf)
        self.deleting = np.full((size, size), -np.inf)
        self._best = np.full(size, -np.inf)  # addition to each child

    def update(self, children: Integers) -> None:
        """Find the best new parent again of children whose gains or paths have changed."""
        from colonnade.kernels.steps import best_additions

        best_additions(self.adding, self.paths.reach, children, self._best)

    def best(self, visited: Collection[bytes]) -> Move | None:
        """The step that gains most and leads to no graph that was visited.

        Ties go to the first operation, then to the first parent and the first child.
        """
        arcs = self._arcs()
        closed: list[Move] = []
        move = self._first(arcs)
        while move is not None and visited and self._after(move) in visited:
            if move.operation == "add":
                closed.append(move)
                self._set_addition(move, -np.inf)
            else:
                gains = arcs.deletions if move.operation == "delete" else arcs.reversals
                gains[(arcs.parents == move.parent) & (arcs.children == move.child)] = -np.inf
            move = self._first(arcs)
        for each in closed:
            self._set_addition(each, each.gain)
        return move

    def _arcs(self) -> _Arcs:
        parents, children = np.divmod(np.flatnonzero(self.paths.adjacency), max(1, len(self._best)))
        deletions = self.deleting[children, parents]
        # Whether reversing an arc closes a cycle is seen to when it is about to be the best step.
        return _Arcs(parents, children, deletions, deletions + self.adding[parents, children])

    def _first(self, arcs: _Arcs) -> Move | None:
        """The first of the steps that gain most."""
        while True:
            tops = [g.max(initial=-np.inf) for g in (self._best, arcs.deletions, arcs.reversals)]
            top = float(max(tops))
            if not np.isfinite(top):
                return None
            least = top - TIE_TOLERANCE * (1.0 + abs(top))
            if tops[2] == top and self._excluded(arcs, int(np.argmax(arcs.reversals))):
                continue
            if tops[0] >= least:
                return self._first_addition(least)
            if tops[1] >= least:
                return arcs.move("delete", int(np.argmax(arcs.deletions >= least)))
            k = int(np.argmax(arcs.reversals >= least))
            if not self._excluded(arcs, k):
                return arcs.move("reverse", k)

    def _excluded(self, arcs: _Arcs, k: int) -> bool:
        """Whether reversing an arc closes a cycle, by another path from its parent to its child."""
        parent, child = int(arcs.parents[k]), int(arcs.children[k])
        others = self.paths.reach[parent] & self.paths.adjacency[:, child]
        others[parent] = False
        if others.any():
            arcs.reversals[k] = -np.inf
            return True
        return False

    def _first_addition(self, least: float) -> Move:
        children = np.flatnonzero(self._best >= least)
        gains = np.where(self.paths.reach[children], -np.inf, self.adding[children])
        parent, k = np.argwhere((gains >= least).T)[0].tolist()
        return Move("add", parent, int(children[k]), float(gains[k, parent]))

    def _after(self, move: Move) -> bytes:
        return move.applied(self.paths.adjacency).tobytes()

    def _set_addition(self, move: Move, gain: float) -> None:
        self.adding[move.child, move.parent] = gain
        self.update(np.array([move.child]))

"""Operators of a search over classes of equivalent graphs: insert and delete (Chickering 2002).

Each adds or deletes one adjacency, and moves a set of neighbours: an insertion directs them to the
child, a deletion directs what connected them with both ends away. Sets are bits (see `mixed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from colonnade.exceptions import Advice, TooLargeError
from colonnade.structure.mixed import Mixed, bits
from colonnade.structure.rules import Rules
from colonnade.structure.scores import FamilyScores, Parents
from colonnade.structure.steps import Operation

# Subsets of neighbours to be tried for one child. They are few unless many variables are all
# adjacent to each other, which a limit of the number of parents excludes.
_MAX_OPERATORS = 1 << 18


class Operator(NamedTuple):
    """One adjacency more or less: between which variables, what it moves, and its gain."""

    gain: float
    parent: int
    child: int
    moved: int


class Insertions:
    """Operators that add an adjacency."""

    operation: Operation = "add"

    def __init__(self, families: FamilyScores, rules: Rules) -> None:
        self.families, self.rules = families, rules
        self._pairs = rules.allowed | rules.allowed.T

    def may_join(self, a: int, b: int) -> bool:
        """Whether the rules allow an arc between two variables, in some direction."""
        return bool(self._pairs[a, b])

    def of(self, graph: Mixed, child: int) -> list[Operator]:
        """All that gain and have a child, but for paths; see :meth:`is_valid`."""
        around = graph.adjacent(child)
        others = np.flatnonzero(self._pairs[child]).tolist()
        found = self.between(graph, [k for k in others if not around >> k & 1], child)
        return [operator for operator in found if operator.gain > 0.0]

    def between(self, graph: Mixed, parents: list[int], child: int) -> list[Operator]:
        """All that add an arc from some variables to a child, which are not adjacent to it."""
        near, above = graph.neighbours[child], graph.parents[child]
        bases: dict[int, list[tuple[int, int]]] = {}
        known: dict[tuple[int, int], list[int]] = {}
        for parent in parents:
            shared = near & graph.adjacent(parent)
            free = near & ~shared
            if (shared, free) not in known:
                room = self.rules.limit - 1 - (above | shared).bit_count()
                known[shared, free] = list(_cliques(graph, shared, free, room))
            for moved in known[shared, free]:
                bases.setdefault(above | shared | moved, []).append((parent, moved))
        _refuse_excess(sum(map(len, bases.values())))
        found = []
        for base, some in bases.items():
            given = _positions(base)
            own = self.families.family(child, given)
            scores = self.families.additions(child, given, [parent for parent, _ in some])
            found += [
                Operator(gain, parent, child, moved)
                for gain, (parent, moved) in zip((scores - own).tolist(), some, strict=True)
            ]
        return found

    def is_valid(self, graph: Mixed, operator: Operator) -> bool:
        """Whether every path from the child to the parent meets what would block it."""
        _, parent, child, moved = operator
        block = graph.neighbours[child] & graph.adjacent(parent) | moved
        return not graph.leads(child, parent, block)

    def applied(self, graph: Mixed, operator: Operator) -> Mixed:
        """The graph after it; which of its edges are arcs is found by its extension."""
        _, parent, child, moved = operator
        fresh = graph.copy()
        fresh.connect(parent, child)
        fresh.direct(parent, child)
        for k in bits(moved):
            fresh.direct(k, child)
        return fresh


class Deletions:
    """Operators that delete an adjacency."""

    operation: Operation = "delete"

    def __init__(self, families: FamilyScores, rules: Rules) -> None:
        self.families, self.rules = families, rules

    def of(self, graph: Mixed, child: int) -> list[Operator]:
        """All that gain and have a child."""
        return [operator for operator in self.every(graph, child) if operator.gain > 0.0]

    def every(self, graph: Mixed, child: int) -> Iterator[Operator]:
        """All that have a child, whatever they gain."""
        near, above = graph.neighbours[child], graph.parents[child]
        tried = 0
        for parent in bits(near | above):
            if self.rules.required[parent, child] or self.rules.required[child, parent]:
                continue
            shared = near & graph.adjacent(parent)
            for kept in _cliques(graph, 0, shared, len(graph)):
                tried += 1
                _refuse_excess(tried)
                rest = (above | kept) & ~(1 << parent)
                before = self.families.family(child, _positions(rest | 1 << parent))
                gain = self.families.family(child, _positions(rest)) - before
                yield Operator(gain, parent, child, shared & ~kept)

    def is_valid(self, graph: Mixed, operator: Operator) -> bool:
        """Every one is: what stays with both ends is a clique."""
        return True

    def applied(self, graph: Mixed, operator: Operator) -> Mixed:
        """The graph after it; which of its edges are arcs is found by its extension."""
        _, parent, child, moved = operator
        fresh = graph.copy()
        fresh.disconnect(parent, child)
        for k in bits(moved):
            fresh.direct(child, k)
            if fresh.neighbours[parent] >> k & 1:
                fresh.direct(parent, k)
        return fresh


class Turn(NamedTuple):
    """An arc deleted and inserted the other way round: its ends, its gain, and the graph after."""

    gain: float
    parent: int
    child: int
    after: Mixed


def turns(
    graph: Mixed, insertions: Insertions, deletions: Deletions, least: float
) -> Iterator[Turn]:
    """All ways to reverse an arc of some graph of the class that gain more than a little.

    Every such step is a deletion and an insertion, and each of the two finds all classes (Hauser
    and Bühlmann 2012 have one operator for both).
    """
    for child in range(len(graph)):
        for deletion in deletions.every(graph, child):
            parent = deletion.parent
            less = deletions.applied(graph, deletion).extension()
            if less is None or not insertions.may_join(parent, child):
                continue
            between = less.essential()
            for insertion in insertions.between(between, [child], parent):
                gain = deletion.gain + insertion.gain
                if gain > least and insertions.is_valid(between, insertion):
                    yield Turn(gain, parent, child, insertions.applied(between, insertion))


Operators = Insertions | Deletions


def _cliques(graph: Mixed, given: int, free: int, room: int) -> Iterator[int]:
    """Subsets of the free variables that are a clique with the given ones, of limited size."""
    if not graph.is_clique(given):
        return
    for k in bits(given):
        free &= graph.adjacent(k)
    waiting = [(0, free)] if room >= 0 else []
    tried = 0
    while waiting:
        chosen, left = waiting.pop()
        yield chosen
        tried += 1
        _refuse_excess(tried)
        if chosen.bit_count() < room:
            for k in bits(left):
                left &= ~(1 << k)
                waiting.append((chosen | 1 << k, left & graph.adjacent(k)))


def _refuse_excess(operators: int) -> None:
    if operators > _MAX_OPERATORS:
        hint = Advice.LIMIT_PARENTS
        what = "One step of the search"
        raise TooLargeError(what, size=operators, limit=_MAX_OPERATORS, hint=hint, unit="operators")


def _positions(members: int) -> Parents:
    return tuple(bits(members))

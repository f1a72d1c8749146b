"""Rules: which arcs a search may add or delete; graphs are adjacency matrices [parent, child]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.dag import Dag
from colonnade.exceptions import (
    checked_whole,
    counted,
    did_you_mean,
    expected,
    not_among,
    renamed,
)
from colonnade.structure.mixed import Mixed
from colonnade.structure.paths import Adjacency, Paths
from colonnade.wording import arrows


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Which graphs are allowed."""

    names: tuple[str, ...]
    required: Adjacency  # arcs that must be there
    allowed: Adjacency  # arcs that may
    limit: int  # largest number of parents

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        required: Iterable[Any],
        forbidden: Iterable[Any],
        max_parents: int | None,
        tiers: Iterable[Any] = (),
    ) -> Rules:
        """Check that some graph obeys the rules."""
        limit = len(names)
        if max_parents is not None:
            limit = min(limit, checked_whole(max_parents, "max_parents", least=0))
        needed = _matrix(names, required, "required")
        allowed = ~_matrix(names, forbidden, "forbidden")
        np.fill_diagonal(allowed, False)
        backwards = _backwards(names, tiers)
        for parent, child in np.argwhere(needed & backwards):
            arc = names[parent], names[child]
            what = "arcs from earlier to later tiers"
            hint = (
                f"leave it out, or put {names[parent]!r} in an earlier tier than {names[child]!r}"
            )
            raise expected(what, "required", arc, hint, got=arrows([arc]))
        allowed &= ~backwards
        rules = cls(names, needed, allowed, limit)
        for parent, child in np.argwhere(needed & ~allowed):
            arc = names[parent], names[child]
            hint = "take it out of one of the two lists"
            raise expected("arcs that are not forbidden", "required", arc, hint, got=arrows([arc]))
        rules.refuse_cycle(needed, "required")
        for child in np.flatnonzero(needed.sum(axis=0) > limit):
            what = f"at least {needed[:, child].sum()}, the required parents of {names[child]!r},"
            raise expected(what, "max_parents", limit, "require fewer arcs, or allow more parents")
        return rules

    def starting(self, start: Dag | None) -> Adjacency:
        """The starting graph, with the required arcs."""
        if start is None:
            return self.required.copy()
        if not isinstance(start, Dag):
            raise expected("a Dag", "start", start, "write Dag([('parent', 'child')])")
        for name in start.variables:
            if name not in self.names:
                raise expected("a graph over columns of the table", "start", name)
        adjacency = self.required | _matrix(self.names, start.arcs, "start")
        if (adjacency & ~self.allowed).any():
            bad = [
                (self.names[a], self.names[b]) for a, b in np.argwhere(adjacency & ~self.allowed)
            ]
            hint = "take these arcs out of it, or allow them"
            raise expected("a graph without forbidden arcs", "start", start, hint, got=arrows(bad))
        if (adjacency.sum(axis=0) > self.limit).any():
            raise expected(
                f"a graph with at most {counted(self.limit, 'parent')} each", "start", start
            )
        self.refuse_cycle(adjacency, "start")
        return adjacency

    @property
    def free(self) -> bool:
        """Whether every arc may be there, and none must."""
        forbidden = self.allowed.size - len(self.names) - int(self.allowed.sum())
        return not forbidden and not self.required.any()

    def admitted(self, graph: Mixed) -> Mixed | None:
        """A class of equivalent graphs less those that break a rule, or None if all of them do.

        The arcs of what is returned are in all graphs of the class that obey the rules. How many
        parents a variable has is not asked: the largest number is the same in the whole class.
        """
        if self.free:
            return graph
        for a, b in np.argwhere(self.required).tolist():
            if not (graph.children[a] | graph.neighbours[a]) >> b & 1:
                return None
        if any(not self.allowed[arc] for arc in graph.arcs()):
            return None
        kept = graph.copy()
        for a, b in graph.edges():
            forward = self.allowed[a, b] and not self.required[b, a]
            backward = self.allowed[b, a] and not self.required[a, b]
            if not (forward or backward):
                return None
            if not backward:
                kept.direct(a, b)
            elif not forward:
                kept.direct(b, a)
        kept.close()
        member = kept.extension()
        # Two arcs that the rules direct may meet in a collider that the class has not.
        return kept if member is not None and member.essential().same_as(graph) else None

    def refuse_cycle(self, adjacency: Adjacency, parameter: str) -> None:
        """Raise if there is a cycle, which the error names, and the parameter it comes from."""
        with renamed(arcs=parameter):
            self.dag(adjacency)

    def perturbed(self, adjacency: Adjacency, rng: np.random.Generator) -> Adjacency:
        """A graph some random steps away that obeys the rules."""
        paths = Paths(adjacency)
        fresh = paths.adjacency
        if len(self.names) < 2:
            return fresh
        for _ in range(max(3, int(fresh.sum()) // 3)):
            a, b = rng.choice(len(self.names), size=2, replace=False)
            if fresh[a, b]:
                if not self.required[a, b]:
                    paths.delete(a, b)
            elif self.allowed[a, b] and fresh[:, b].sum() < self.limit and not paths.reach[b, a]:
                paths.add(a, b)
        return fresh

    def dag(self, adjacency: Adjacency) -> Dag:
        """The graph with names, arcs in the order of the columns of their children."""
        arcs = ((self.names[a], self.names[b]) for b, a in np.argwhere(adjacency.T))
        return Dag(tuple(arcs), self.names)


def _matrix(names: tuple[str, ...], arcs: Iterable[Any], parameter: str) -> Adjacency:
    position = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), bool)
    if not isinstance(arcs, Iterable):
        raise expected("a list of pairs (parent, child)", parameter, arcs)
    for arc in arcs:
        if not isinstance(arc, tuple | list) or len(arc) != 2:
            raise expected("pairs (parent, child)", parameter, arc)
        unknown = [name for name in arc if not isinstance(name, str) or name not in position]
        if unknown:
            hint = did_you_mean(unknown[0], names) if isinstance(unknown[0], str) else ""
            got = arrows([(arc[0], arc[1])])
            raise expected(
                "arcs between columns of the table", parameter, tuple(arc), hint, got=got
            )
        matrix[position[arc[0]], position[arc[1]]] = True
    return matrix


def _backwards(names: tuple[str, ...], tiers: Any) -> Adjacency:
    """Arcs from a later tier to an earlier one; variables that no tier names are free."""
    hint = "write [['age'], ['smoker', 'diet'], ['disease']]"
    if isinstance(tiers, str | bytes | Mapping) or not isinstance(tiers, Iterable):
        raise expected("a list of lists of names", "tiers", tiers, hint)
    place = np.full(len(names), -1)
    for k, tier in enumerate(tiers):
        if isinstance(tier, str | bytes | Mapping) or not isinstance(tier, Iterable):
            raise expected("a list of lists of names", "tiers", tier, hint)
        for name in tier:
            if not isinstance(name, str) or name not in names:
                raise not_among(names, "tiers", name)
            at = names.index(name)
            if place[at] >= 0:
                got, hint = f"{name!r} twice", "leave it in one of them"
                raise expected("each variable in one tier", "tiers", name, hint, got=got)
            place[at] = k
    listed = place >= 0
    later = place[:, None] > place[None, :]
    return np.asarray(later & listed[:, None] & listed[None, :])

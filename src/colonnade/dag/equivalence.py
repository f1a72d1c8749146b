"""Graphs that have the same independences: what they have in common, and how two graphs differ."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from colonnade.exceptions import Advice, expected, listing

if TYPE_CHECKING:
    from colonnade.dag.graph import Dag
    from colonnade.dag.mixed import MixedGraph
    from colonnade.dag.names import Arc


def compelled(dag: Dag) -> dict[Arc, bool]:
    """Whether each arc is compelled: no graph with the same independences has it reversed.

    The algorithm is that of Chickering (1995).

    Examples
    --------
    >>> from colonnade import Dag
    >>> compelled(Dag([("a", "c"), ("b", "c"), ("c", "d")]))
    {('a', 'c'): True, ('b', 'c'): True, ('c', 'd'): True}
    >>> compelled(Dag([("a", "b"), ("b", "c")]))
    {('a', 'b'): False, ('b', 'c'): False}
    """
    from colonnade.dag.graph import Dag

    if not isinstance(dag, Dag):
        raise expected("a Dag", "dag", dag, "write Dag([('parent', 'child')])")
    place = {name: k for k, name in enumerate(dag.order)}
    parents = {name: sorted(dag.parents(name), key=place.__getitem__) for name in dag.order}
    label: dict[Arc, bool] = {}
    # Children in order, and the latest parent of each first: then every arc that could decide the
    # next one is labelled already.
    for child in dag.order:
        for parent in reversed(parents[child]):
            if (parent, child) in label or _settles_all(parent, child, parents, label):
                continue
            collides = any(z != parent and z not in parents[parent] for z in parents[child])
            for z in parents[child]:
                label.setdefault((z, child), collides)
    return {arc: label[arc] for arc in dag.arcs}


def _settles_all(
    parent: str, child: str, parents: dict[str, list[str]], label: dict[Arc, bool]
) -> bool:
    """Label what compelled arcs into the parent compel; return whether it settles the child."""
    for w in parents[parent]:
        if not label[(w, parent)]:
            continue
        if w not in parents[child]:
            for z in parents[child]:
                label[(z, child)] = True
            return True
        label[(w, child)] = True
    return False


def colliders(dag: Dag) -> set[tuple[frozenset[str], str]]:
    """Return the unshielded colliders: two parents that no arc connects, and their child."""
    near = {name: {*dag.parents(name), *dag.children(name)} for name in dag.variables}
    return {
        (frozenset((a, b)), child)
        for child in dag.variables
        for a, b in combinations(dag.parents(child), 2)
        if b not in near[a]
    }


def distance(mine: Dag | MixedGraph, other: Dag | MixedGraph) -> int:
    """Count the pairs of variables that two graphs connect differently."""
    marks, others = mine._marks(), other._marks()
    return sum(marks.get(pair) != others.get(pair) for pair in marks.keys() | others.keys())


def refuse_other_variables(mine: Dag | MixedGraph, other: Dag | MixedGraph) -> None:
    """Refuse to compare graphs of different variables."""
    here, there = set(mine.variables), set(other.variables)
    if here != there:
        lacking = [name for name in mine.variables if name not in there]
        surplus = [name for name in other.variables if name not in here]
        parts = ["lacks " + listing(lacking)] * bool(lacking)
        parts += ["also has " + listing(surplus)] * bool(surplus)
        hint = Advice.SAME_VARIABLES
        what, got = "a graph of the same variables", f"one that {' and '.join(parts)}"
        raise expected(what, "other", other, hint, got=got)

"""Independence read off a graph: d-separation, and sets that close all back doors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from colonnade.exceptions import TooLargeError

if TYPE_CHECKING:
    from colonnade.dag.graph import Dag

Neighbours = dict[str, set[str]]

# A graph may have exponentially many.
_MAX_SEPARATORS = 10_000


def moral_neighbours(dag: Dag, names: Iterable[str]) -> Neighbours:
    """Return who is near to whom in the moral graph of an ancestral set of variables."""
    near: Neighbours = {name: set() for name in names}
    for child in near:
        family = {child, *dag.parents(child)}
        for member in family:
            near[member] |= family
    for name, others in near.items():
        others.discard(name)
    return near


def separated(dag: Dag, x: Collection[str], y: Collection[str], given: Collection[str]) -> bool:
    """Whether `given` blocks every path between `x` and `y`.

    It does if it separates them in the moral graph of what leads to any of the three
    (Lauritzen et al. 1990).
    """
    near = moral_neighbours(dag, dag.ancestors([*x, *y, *given]))
    return reached(near, x, given).isdisjoint(y)


def reached(near: Neighbours, start: Collection[str], blocked: Collection[str]) -> set[str]:
    """Return what paths from `start` that avoid `blocked` lead to, the beginnings included."""
    found: set[str] = set()
    waiting = [name for name in start if name not in blocked]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [other for other in near[name] if other not in blocked]
    return found


def backdoor_graph(dag: Dag, cause: Collection[str]) -> Dag:
    """Return the graph without the arcs that leave the variables acted on."""
    arcs = tuple(arc for arc in dag.arcs if arc[0] not in cause)
    return type(dag)(arcs, dag.variables)


def contracted(near: Neighbours, removed: Collection[str]) -> Neighbours:
    """Return a graph without variables that paths may pass: their neighbours meet instead."""
    left = {name: set(others) for name, others in near.items()}
    for name in removed:
        around = left.pop(name)
        for other in around:
            left[other] |= around
            left[other] -= {other, name}
    return left


def minimal_separator(near: Neighbours, x: str, y: str) -> frozenset[str] | None:
    """Return the minimal set next to `x` that separates two variables; None if they touch."""
    return None if y in near[x] else _closer(near, near[x], x, y)


def minimal_separators(near: Neighbours, x: str, y: str) -> list[frozenset[str]]:
    """List all minimal sets that separate two variables in a graph, the smallest first.

    Each follows from the one next to `x` by steps towards `y` (Berry, Bordat and Cogis 2000).
    """
    if y in near[x]:
        return []
    found: dict[frozenset[str], None] = {}
    waiting = [_closer(near, near[x], x, y)]
    while waiting:
        separator = waiting.pop()
        if separator in found:
            continue
        found[separator] = None
        if len(found) > _MAX_SEPARATORS:
            raise TooLargeError(
                f"The list of minimal sets that separate {x!r} and {y!r}",
                size=len(found),
                limit=_MAX_SEPARATORS,
                hint="test a set of your own with `is_backdoor_set`",
                unit="sets",
            )
        for name in separator:
            around = separator | near[name]
            if y not in around:
                waiting.append(_closer(near, around - {x}, x, y))
    return sorted(found, key=lambda each: (len(each), sorted(each)))


def _closer(near: Neighbours, removed: Collection[str], x: str, y: str) -> frozenset[str]:
    """Return the part of a separator that the component of `y` touches, made minimal from `x`."""
    behind = reached(near, [y], removed)
    edge = frozenset(other for name in behind for other in near[name]) - behind
    ahead = reached(near, [x], edge)
    return frozenset(name for name in edge if not near[name].isdisjoint(ahead))

"""Which arcs of a graph point the same way in every equivalent graph (Chickering 1995)."""

from __future__ import annotations

from colonnade.dag import Dag


def compelled(dag: Dag) -> dict[tuple[str, str], bool]:
    """Whether each arc is compelled: no graph with the same independences has it reversed.

    Examples
    --------
    >>> compelled(Dag([("a", "c"), ("b", "c"), ("c", "d")]))
    {('a', 'c'): True, ('b', 'c'): True, ('c', 'd'): True}
    >>> compelled(Dag([("a", "b"), ("b", "c")]))
    {('a', 'b'): False, ('b', 'c'): False}
    """
    place = {name: k for k, name in enumerate(dag.order)}
    parents = {name: sorted(dag.parents(name), key=place.__getitem__) for name in dag.order}
    label: dict[tuple[str, str], bool] = {}
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
    parent: str,
    child: str,
    parents: dict[str, list[str]],
    label: dict[tuple[str, str], bool],
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

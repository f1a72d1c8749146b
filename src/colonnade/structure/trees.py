"""Trees from mutual information: Chow-Liu, tree-augmented naive Bayes, k-dependence classifiers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.dag import Dag
from colonnade.exceptions import expected, listing
from colonnade.structure.families import Columns, prepare
from colonnade.threads import run

__all__ = ["chow_liu", "kdb", "naive_bayes", "tan"]

Floats = NDArray[np.float64]


def naive_bayes(table: Any, target: str) -> Dag:
    """Every other variable has the target as its only parent.

    Examples
    --------
    >>> naive_bayes({"class": [0, 1], "a": [0, 1], "b": [1, 0]}, "class").arcs
    (('class', 'a'), ('class', 'b'))
    """
    columns = prepare(table)
    target_position = _position(columns, target, "target")
    features = [name for k, name in enumerate(columns.names) if k != target_position]
    return Dag(tuple((target, name) for name in features), columns.names)


def chow_liu(table: Any, root: str | None = None) -> Dag:
    """The tree with the largest sum of mutual informations, directed away from its root.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes, without missing values.
    root : str, optional
        By default the first variable.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 0, 1, 1]}
    >>> chow_liu(table, root="c").arcs
    (('c', 'a'), ('c', 'b'))
    """
    columns = prepare(table)
    start = 0 if root is None else _position(columns, root, "root")
    weights = pair_information(columns, list(range(len(columns.names))), None)
    arcs = _spanning_tree(weights, start)
    return Dag(tuple((columns.names[a], columns.names[b]) for a, b in arcs), columns.names)


def tan(table: Any, target: str, root: str | None = None) -> Dag:
    """Tree-augmented naive Bayes: the target and one other feature as parents of every feature.

    The tree over the features has the largest sum of mutual informations given the target.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes, without missing values.
    target : str
        The class.
    root : str, optional
        Feature at the root of the tree; by default the first one.

    Examples
    --------
    >>> table = {"class": [0, 0, 1, 1], "a": [0, 1, 0, 1], "b": [0, 1, 0, 1]}
    >>> tan(table, target="class").arcs
    (('class', 'a'), ('class', 'b'), ('a', 'b'))
    """
    columns = prepare(table)
    features = _features(columns, target)
    start = 0
    if root is not None:
        if root == target:
            raise expected("a feature, not the target", "root", root)
        start = features.index(_position(columns, root, "root"))
    weights = pair_information(columns, features, columns.names.index(target))
    arcs = [(target, columns.names[k]) for k in features]
    arcs += [
        (columns.names[features[a]], columns.names[features[b]])
        for a, b in _spanning_tree(weights, start)
    ]
    return Dag(tuple(arcs), columns.names)


def kdb(table: Any, target: str, k: int = 2) -> Dag:
    """k-dependence classifier: every feature leans on the target and up to k earlier features.

    Features are taken in the order of their mutual information with the target; each gets the
    earlier ones with the largest mutual information given the target.

    Examples
    --------
    >>> table = {"class": [0, 0, 1, 1], "a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> kdb(table, target="class", k=1).arcs
    (('class', 'a'), ('class', 'b'), ('a', 'b'))
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise expected("a whole number of at least 0", "k", k)
    columns = prepare(table)
    features = _features(columns, target)
    position = columns.names.index(target)
    own = pair_information(columns, [position, *features], None)[0, 1:]
    given = pair_information(columns, features, position)
    order = sorted(range(len(features)), key=lambda i: (-round(float(own[i]), 12), i))
    arcs = []
    for place, i in enumerate(order):
        arcs.append((target, columns.names[features[i]]))
        earlier = sorted(order[:place], key=lambda j: (-round(float(given[i, j]), 12), j))[:k]
        arcs += [(columns.names[features[j]], columns.names[features[i]]) for j in earlier]
    return Dag(tuple(arcs), columns.names)


def pair_information(columns: Columns, chosen: list[int], given: int | None) -> Floats:
    """Mutual information of all pairs of columns, given another one if asked, ``[column, column]``.

    n I(x; y | c) is S(xyc) - S(xc) - S(yc) + S(c), where S is the sum of n ln n over the joint
    counts.
    """
    from colonnade.kernels.structure import information

    condition = () if given is None else (given,)

    def total(members: tuple[int, ...]) -> float:
        counts = columns.counts(members[-1], members[:-1]).values if members else None
        return (
            columns.total * np.log(columns.total)
            if counts is None
            else float(information(counts.ravel().astype(np.float64)))
        )

    base = total(condition)
    single = [total((*condition, k)) for k in chosen]
    joint = np.zeros((len(chosen), len(chosen)))

    def fill(i: int) -> None:
        if i + 1 < len(chosen):
            joint[i, i + 1 :] = _joint_sums(columns, (*condition, chosen[i]), chosen[i + 1 :])

    run([partial(fill, i) for i in range(len(chosen))])
    pairs = joint + joint.T
    alone = np.array(single)
    weights = (pairs - alone[:, None] - alone[None, :] + base) / columns.total
    np.fill_diagonal(weights, 0.0)
    return np.asarray(np.maximum(weights, 0.0))


def _joint_sums(columns: Columns, members: tuple[int, ...], others: list[int]) -> Floats:
    """Sums of n ln n over the joint counts of some columns with each of the others."""
    from colonnade.kernels.structure import information, information_sums

    size = columns.size(members)
    widest = max(int(columns.sizes[k]) for k in others)
    if columns.weights is not None or size * widest > 1 << 22:
        return np.array(
            [
                float(information(columns.counts(k, members).values.ravel().astype(np.float64)))
                for k in others
            ]
        )
    sums = np.empty((len(others), 2))
    information_sums(
        columns.numbers(members),
        size,
        1,
        columns.codes,
        columns.sizes,
        np.array(others, np.int64),
        columns.logs,
        sums,
    )
    return sums[:, 0]


def _spanning_tree(weights: Floats, root: int) -> list[tuple[int, int]]:
    """Arcs of the maximum spanning tree, away from the root (Prim); ties: first columns."""
    size = len(weights)
    inside = np.zeros(size, bool)
    best = np.full(size, -np.inf)
    link = np.full(size, root)
    inside[root] = True
    best[:] = weights[root]
    arcs = []
    for _ in range(size - 1):
        reach = np.where(inside, -np.inf, best)
        top = reach.max()
        node = int(np.argmax(reach >= top - 1e-12 * (1.0 + abs(top))))
        arcs.append((int(link[node]), node))
        inside[node] = True
        closer = (weights[node] > best + 1e-12) & ~inside
        best[closer] = weights[node][closer]
        link[closer] = node
    return arcs


def _position(columns: Columns, name: str, parameter: str) -> int:
    if name not in columns.names:
        raise expected(f"one of {listing(list(columns.names))}", parameter, name)
    return columns.names.index(name)


def _features(columns: Columns, target: str) -> list[int]:
    position = _position(columns, target, "target")
    features = [k for k in range(len(columns.names)) if k != position]
    if not features:
        raise expected("a table with at least one feature besides the target", "table", target)
    return features

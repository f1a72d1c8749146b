"""Trees from mutual information: Chow-Liu, tree-augmented naive Bayes, k-dependence classifiers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.dag import Dag
from colonnade.exceptions import checked_whole, expected, not_among
from colonnade.missing.treatment import Missing
from colonnade.structure.columns import Columns, prepare, read_rows
from colonnade.tables.bounds import Allowed

# Mutual informations closer than this are ties, which go to the first columns.
_TIE_TOLERANCE = 1e-12


def naive_bayes(table: Any, target: str, *, memory: Allowed = None) -> Dag:
    """Every other variable has the target as its only parent.

    The graph does not depend on the rows, which may lack values; `memory` is that of
    :func:`hill_climb`.

    Examples
    --------
    >>> naive_bayes({"class": [0, 1], "a": [0, 1], "b": [1, 0]}, "class").arcs
    (('class', 'a'), ('class', 'b'))
    """
    names = read_rows(table, memory=memory).names
    target_position = _position(names, target, "target")
    features = [name for k, name in enumerate(names) if k != target_position]
    return Dag(tuple((target, name) for name in features), names)


def chow_liu(
    table: Any, root: str | None = None, *, missing: Missing = "raise", memory: Allowed = None
) -> Dag:
    """The tree with the largest sum of mutual informations, directed away from its root.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    root : str, optional
        By default the first variable.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 0, 1, 1]}
    >>> chow_liu(table, root="c").arcs
    (('c', 'a'), ('c', 'b'))
    """
    coded = read_rows(table, memory=memory)
    start = 0 if root is None else _position(coded.names, root, "root")
    columns = prepare(coded, missing)
    weights = pair_information(columns, list(range(len(columns.names))), None)
    arcs = _spanning_tree(weights, start)
    return Dag(tuple((columns.names[a], columns.names[b]) for a, b in arcs), columns.names)


def tan(
    table: Any,
    target: str,
    root: str | None = None,
    *,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> Dag:
    """Tree-augmented naive Bayes: the target and one other feature as parents of every feature.

    The tree over the features has the largest sum of mutual informations given the target.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    target : str
        The class.
    root : str, optional
        Feature at the root of the tree; by default the first one.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Examples
    --------
    >>> table = {"class": [0, 0, 1, 1], "a": [0, 1, 0, 1], "b": [0, 1, 0, 1]}
    >>> tan(table, target="class").arcs
    (('class', 'a'), ('class', 'b'), ('a', 'b'))
    """
    coded = read_rows(table, memory=memory)
    features = _features(coded.names, target)
    start = 0
    if root is not None:
        start = _position(tuple(coded.names[k] for k in features), root, "root")
    columns = prepare(coded, missing)
    weights = pair_information(columns, features, columns.names.index(target))
    arcs = [(target, columns.names[k]) for k in features]
    arcs += [
        (columns.names[features[a]], columns.names[features[b]])
        for a, b in _spanning_tree(weights, start)
    ]
    return Dag(tuple(arcs), columns.names)


def kdb(
    table: Any,
    target: str,
    k: int = 2,
    *,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> Dag:
    """k-dependence classifier: the target and up to k earlier features as parents of every feature.

    Features are taken in the order of their mutual information with the target; each gets the
    earlier ones with the largest mutual information given the target.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    target : str
        The class.
    k : int
        Largest number of features among the parents of a feature.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Examples
    --------
    >>> table = {"class": [0, 0, 1, 1], "a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> kdb(table, target="class", k=1).arcs
    (('class', 'a'), ('class', 'b'), ('a', 'b'))
    """
    checked_whole(k, "k", least=0)
    coded = read_rows(table, memory=memory)
    features = _features(coded.names, target)
    columns = prepare(coded, missing)
    position = columns.names.index(target)
    own = pair_information(columns, [position, *features], None)[0, 1:]
    given = pair_information(columns, features, position)
    order = _largest_first(range(len(features)), own)
    names = [columns.names[feature] for feature in features]
    arcs = []
    for place, i in enumerate(order):
        arcs.append((target, names[i]))
        arcs += [(names[j], names[i]) for j in _largest_first(order[:place], given[i])[:k]]
    return Dag(tuple(arcs), columns.names)


def pair_information(columns: Columns, chosen: list[int], given: int | None) -> Floats:
    """Mutual information of all pairs of columns, or given another one, ``[column, column]``.

    n I(x; y | c) is S(xyc) - S(xc) - S(yc) + S(c), where S is the sum of n ln n over the joint
    counts.
    """
    condition = () if given is None else (given,)
    sums = columns.pair_sums(chosen, condition)
    alone, base = sums.diagonal(), columns.information(condition)
    # Below the diagonal are zeros.
    weights = (sums + sums.T - alone[:, None] - alone[None, :] + base) / columns.total
    np.fill_diagonal(weights, 0.0)
    return np.asarray(np.maximum(weights, 0.0))


def _spanning_tree(weights: Floats, root: int) -> list[tuple[int, int]]:
    """Arcs of the maximum spanning tree, away from the root (Prim)."""
    inside = np.arange(len(weights)) == root
    best = weights[root].copy()
    link = np.full(len(weights), root)
    arcs = []
    for _ in range(len(weights) - 1):
        reach = np.where(inside, -np.inf, best)
        top = reach.max()
        node = int(np.argmax(reach >= top - _TIE_TOLERANCE * (1.0 + abs(top))))
        arcs.append((int(link[node]), node))
        inside[node] = True
        closer = (weights[node] > best + _TIE_TOLERANCE) & ~inside
        best[closer] = weights[node][closer]
        link[closer] = node
    return arcs


def _largest_first(positions: Iterable[int], information: Floats) -> list[int]:
    return sorted(positions, key=lambda i: (-round(float(information[i]), 12), i))


def _position(names: tuple[str, ...], name: str, parameter: str) -> int:
    if not isinstance(name, str) or name not in names:
        raise not_among(names, parameter, name)
    return names.index(name)


def _features(names: tuple[str, ...], target: str) -> list[int]:
    position = _position(names, target, "target")
    features = [k for k in range(len(names)) if k != position]
    if not features:
        raise expected("a table with at least one feature besides the target", "table", target)
    return features

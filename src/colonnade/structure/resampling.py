"""Bootstrap: how often an arc is found in tables of resampled rows, and in which direction."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.dag import Dag
from colonnade.exceptions import checked_generator, checked_whole, counted, expected, listing
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.structure.columns import prepare
from colonnade.structure.rules import reachable
from colonnade.structure.search import Found
from colonnade.tables.coded import CodedTable

Learner = Callable[[Any], Dag | Found]
_MAX_RESAMPLES = 10**6


@dataclass(frozen=True, eq=False)
class ArcStrengths:
    """How often arcs were found in resampled tables.

    Attributes
    ----------
    names : tuple of str
    directed : array [parent, child]
        Share of the resamples with this arc in this direction. A direction that the data cannot
        tell (the reversed arc is in an equivalent graph) counts half each way.
    resamples : int
    """

    names: tuple[str, ...]
    directed: Floats
    resamples: int

    @property
    def strength(self) -> Floats:
        """Share of the resamples with an arc between two variables, in either direction."""
        return self.directed + self.directed.T

    @property
    def threshold(self) -> float:
        """The least strength of a significant arc (Scutari and Nagarajan 2013).

        Without any doubt all strengths would be zeros and ones; the threshold is that of the step
        function nearest to the observed strengths.
        """
        values = np.sort(self.strength[np.triu_indices(len(self.names), 1)])
        if not values.size:
            return 0.5
        steps = np.unique(np.concatenate([[0.0], values, [1.0]]))
        levels = np.searchsorted(values, steps[:-1], side="right") / values.size
        widths = np.diff(steps)

        def distance(height: float) -> float:
            return float(np.sum(widths * np.abs(levels - height)))

        height = min(np.unique(np.concatenate([[0.0], levels])), key=distance)
        return float(np.quantile(values, height, method="inverted_cdf")) if height > 0 else 0.0

    def averaged(self, threshold: float | None = None) -> Dag:
        """The graph of the arcs at or above a threshold, strongest first, without closing a cycle.

        Parameters
        ----------
        threshold : float, optional
            Between 0 and 1; by default :attr:`threshold`.

        Examples
        --------
        >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
        >>> from colonnade.structure import hill_climb
        >>> arc_strength(table, hill_climb, resamples=10, rng=0).averaged(0.9).arcs
        (('a', 'b'),)
        """
        least = self.threshold if threshold is None else threshold
        if not isinstance(least, numbers.Real) or not 0.0 <= least <= 1.0:
            raise expected("a number from 0 to 1", "threshold", threshold)
        strength = self.strength
        size = len(self.names)
        pairs = [
            (a, b) if self.directed[a, b] >= self.directed[b, a] else (b, a)
            for a in range(size)
            for b in range(a + 1, size)
            if strength[a, b] >= least and strength[a, b] > 0
        ]
        pairs.sort(key=lambda arc: (-strength[arc], -self.directed[arc], arc))
        adjacency = np.zeros((size, size), bool)
        for a, b in pairs:
            if not reachable(adjacency)[b, a]:
                adjacency[a, b] = True
        arcs = ((self.names[a], self.names[b]) for a, b in np.argwhere(adjacency))
        return Dag(tuple(arcs), self.names)

    def __repr__(self) -> str:
        strongest = np.argwhere(np.triu(self.strength, 1) >= max(self.threshold, 1e-12))
        return (
            f"ArcStrengths({counted(len(self.names), 'variable')}, "
            f"{counted(self.resamples, 'resample')}, "
            f"{counted(len(strongest), 'arc')} at or above {self.threshold:.2f})"
        )


def arc_strength(
    table: Any,
    learner: Learner,
    resamples: int = 200,
    rng: Seed = None,
    *,
    missing: Missing = "raise",
) -> ArcStrengths:
    """Learn a graph from many tables of rows drawn with replacement, and count the arcs.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    learner : callable
        Takes a table and returns a Dag or what :func:`hill_climb` returns; give options by
        ``functools.partial`` or a lambda.
    resamples : int
        Number of tables.
    rng : Generator or int, optional
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`; the learner gets tables without gaps.

    Returns
    -------
    ArcStrengths

    Examples
    --------
    >>> from colonnade.structure import chow_liu
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> strengths = arc_strength(table, chow_liu, resamples=20, rng=0)
    >>> float(strengths.strength[0, 1])
    1.0
    """
    checked_whole(resamples, "resamples", most=_MAX_RESAMPLES)
    if not callable(learner):
        raise expected("a function of a table", "learner", learner, "for example hill_climb")
    generator = checked_generator(rng)
    coded = prepare(table, missing).coded
    position = {name: k for k, name in enumerate(coded.names)}
    directed = np.zeros((len(position), len(position)))
    with Progress("Resampling", total=resamples) as progress:
        for _ in range(resamples):
            rows = generator.integers(coded.rows, size=coded.rows)
            dag = learned(learner, coded.take(rows))
            for (a, b), certain in compelled(dag).items():
                share = 1.0 if certain else 0.5
                directed[position[a], position[b]] += share
                directed[position[b], position[a]] += 1.0 - share
            progress.advance()
    return ArcStrengths(coded.names, directed / resamples, resamples)


def learned(learner: Learner | Dag, coded: CodedTable, parameter: str = "learner") -> Dag:
    """The graph that a learner finds; a graph stands for itself."""
    found = learner if isinstance(learner, Dag) else learner(coded)
    dag = found.dag if isinstance(found, Found) else found
    if not isinstance(dag, Dag):
        raise expected("a function that returns a Dag", parameter, found)
    strange = [name for name in dag.variables if name not in coded.names]
    if strange:
        what = f"a graph of {listing(coded.names)}, the columns of the table,"
        raise expected(what, parameter, dag, got=f"{listing(strange)} as well")
    return dag


def compelled(dag: Dag) -> dict[tuple[str, str], bool]:
    """Whether each arc is compelled: no graph with the same independences has it reversed.

    The algorithm is that of Chickering (1995).

    Examples
    --------
    >>> compelled(Dag([("a", "c"), ("b", "c"), ("c", "d")]))
    {('a', 'c'): True, ('b', 'c'): True, ('c', 'd'): True}
    >>> compelled(Dag([("a", "b"), ("b", "c")]))
    {('a', 'b'): False, ('b', 'c'): False}
    """
    if not isinstance(dag, Dag):
        raise expected("a Dag", "dag", dag, "write Dag([('parent', 'child')])")
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
    parent: str, child: str, parents: dict[str, list[str]], label: dict[tuple[str, str], bool]
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

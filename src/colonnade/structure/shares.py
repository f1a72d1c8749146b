"""Shares of arcs: how probable, or how often found, each arc is in either direction."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.dag import Dag
from colonnade.exceptions import expected
from colonnade.structure.paths import Paths
from colonnade.tables.tabular import Tabular

# Strengths closer than this are equal: the shares of two directions are rounded before they add up.
TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ArcShares(Tabular):
    """A share between 0 and 1 of every possible arc.

    Attributes
    ----------
    names : tuple of str
    directed : array [parent, child]
        Share of the arc in this direction.
    """

    names: tuple[str, ...]
    directed: Floats

    @property
    def strength(self) -> Floats:
        """Share of an arc between two variables, in either direction."""
        return self.directed + self.directed.T

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The strength that an arc of :meth:`averaged` exceeds by default."""

    def _significant(self, threshold: float) -> NDArray[np.bool_]:
        """Pairs of variables with an arc above a threshold, or certain; upper half."""
        strength = np.triu(self.strength, 1)
        certain = strength >= 1.0 - TIE_TOLERANCE
        return np.asarray((strength > threshold + TIE_TOLERANCE) | certain)

    def averaged(self, threshold: float | None = None) -> Dag:
        """The graph of the arcs above a threshold, strongest first, without closing a cycle.

        An arc whose share is one is above any threshold.

        Parameters
        ----------
        threshold : float, optional
            From 0 to 1; by default :attr:`threshold`.

        Examples
        --------
        >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
        >>> from colonnade.structure import arc_strength, hill_climb
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
            for a, b in np.argwhere(self._significant(least)).tolist()
        ]
        pairs.sort(key=lambda arc: (-strength[arc], -self.directed[arc], arc))
        paths = Paths(np.zeros((size, size), bool))
        for a, b in pairs:
            if not paths.reach[b, a]:
                paths.add(a, b)
        arcs = ((self.names[a], self.names[b]) for a, b in np.argwhere(paths.adjacency))
        return Dag(tuple(arcs), self.names)

    def plot(self, ax: Any = None, *, columns: int = 1) -> Any:
        """Draw the strongest arcs as bars, divided by direction (extra ``plot``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        columns : {1, 2}
            Width of a new figure, in columns of a journal page.

        Returns
        -------
        matplotlib Axes
        """
        from colonnade.report.arcs import draw_strengths

        return draw_strengths(self.names, self.directed, self.threshold, ax, columns)

    def _columns(self) -> dict[str, list[Any]]:
        strength = self.strength
        arcs = [(a, b) for a, b in np.argwhere(self.directed > 0.0).tolist()]
        arcs.sort(key=lambda arc: (-strength[arc], -self.directed[arc], arc))
        return {
            "from": [self.names[a] for a, _ in arcs],
            "to": [self.names[b] for _, b in arcs],
            "strength": [float(strength[arc]) for arc in arcs],
            "directed": [float(self.directed[arc]) for arc in arcs],
        }

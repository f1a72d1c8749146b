"""Paths: which variables can be reached from which, kept up to date while arcs come and go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Integers

Adjacency = NDArray[np.bool_]


class Paths:
    """Paths of a graph without cycles; ``reach[a, b]`` says whether one leads from a to b.

    Each variable reaches itself. Adding or deleting an arc costs time only for the variables that
    reach it, which both methods return.

    Examples
    --------
    >>> paths = Paths(np.zeros((3, 3), bool))
    >>> paths.add(1, 2), paths.add(0, 1)
    (array([1]), array([0]))
    >>> paths.reach[0]
    array([ True,  True,  True])
    """

    def __init__(self, adjacency: Adjacency) -> None:
        self.adjacency = np.zeros_like(adjacency)
        self.reach = np.eye(len(adjacency), dtype=bool)
        for parent, child in np.argwhere(adjacency).tolist():
            self.add(parent, child)

    def add(self, parent: int, child: int) -> Integers:
        """Add an arc; return the variables that may reach others by it."""
        self.adjacency[parent, child] = True
        above = np.flatnonzero(self.reach[:, parent])
        self.reach[above] |= self.reach[child]
        return above

    def delete(self, parent: int, child: int) -> Integers:
        """Delete an arc; return the variables that may no longer reach others by it."""
        self.adjacency[parent, child] = False
        above = np.flatnonzero(self.reach[:, parent])
        # Who reaches fewer variables comes later in the graph.
        for k in above[np.argsort(self.reach[above].sum(axis=1), kind="stable")].tolist():
            self.reach[k] = self.reach[self.adjacency[k]].any(axis=0)
            self.reach[k, k] = True
        return above

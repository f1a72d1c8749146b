"""Gains of the steps of a search, ``[child, parent]``; see `structure.steps`."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_additions(adding, reach, children, best):
    """Write the largest gain of a new parent of some children that closes no cycle."""
    for child in children:
        top = -np.inf
        for parent in range(adding.shape[1]):
            # A cycle is closed by a parent that the child reaches.
            if adding[child, parent] > top and not reach[child, parent]:
                top = adding[child, parent]
        best[child] = top


@njit(cache=True, nogil=True)
def reversal_gains(parents, children, adding, deleting, reach):
    """Gain of reversing every arc; minus infinity where that would close a cycle."""
    arcs = parents.size
    # The arcs into each child, one list after the other.
    begin = np.zeros(reach.shape[0] + 1, np.int64)
    for k in range(arcs):
        begin[children[k] + 1] += 1
    for child in range(reach.shape[0]):
        begin[child + 1] += begin[child]
    place = begin.copy()
    into = np.empty(arcs, np.int64)
    for k in range(arcs):
        into[place[children[k]]] = parents[k]
        place[children[k]] += 1
    gains = np.empty(arcs)
    for k in range(arcs):
        parent, child = parents[k], children[k]
        gains[k] = deleting[child, parent] + adding[parent, child]
        for i in range(begin[child], begin[child + 1]):
            # Another path from the parent to the child would close a cycle with child -> parent.
            if into[i] != parent and reach[parent, into[i]]:
                gains[k] = -np.inf
    return gains

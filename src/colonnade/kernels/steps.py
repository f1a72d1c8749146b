"""Gains of the steps of a search, ``[child, parent]``; see `structure.steps`."""

import math

from colonnade.kernels.compiled import entry


@entry
def best_additions(adding, reach, children, best):
    """Write the largest gain of a new parent of some children that closes no cycle."""
    for i in range(children.size):
        child = children[i]
        top = -math.inf
        for parent in range(adding.shape[1]):
            # A cycle is closed by a parent that the child reaches.
            if adding[child, parent] > top and not reach[child, parent]:
                top = adding[child, parent]
        best[child] = top

"""All graphs without cycles of a few variables, and what a search may be held against."""

from functools import cache, lru_cache
from itertools import combinations

import numpy as np


@lru_cache
def all_dags(size):
    """Every graph without a cycle, as tuples of parents, each a frozenset of positions."""
    found = [()]
    for child in range(size):
        others = [z for z in range(size) if z != child]
        sets = [frozenset(c) for k in range(size) for c in combinations(others, k)]
        found = [(*before, some) for before in found for some in sets]
        found = [parents for parents in found if _is_acyclic(parents)]
    return found


def _is_acyclic(parents):
    """Whether variables can be taken away, parents first; of those without parents yet as well."""
    left = set(range(len(parents)))
    while left:
        ready = {k for k in left if not parents[k] & left}
        if not ready:
            return False
        left -= ready
    return True


@cache
def orders(parents, left=None):
    """Number of orders of the variables in which parents come first."""
    left = frozenset(range(len(parents))) if left is None else left
    if not left:
        return 1
    return sum(orders(parents, left - {k}) for k in left if not parents[k] & left)


def adjacency(parents):
    matrix = np.zeros((len(parents), len(parents)), bool)
    for child, some in enumerate(parents):
        matrix[list(some), child] = True
    return matrix


def markov_class(parents):
    """What all equivalent graphs have in common: adjacencies and colliders (Verma and Pearl)."""
    pairs = frozenset(frozenset((a, b)) for b, some in enumerate(parents) for a in some)
    colliders = frozenset(
        (frozenset((a, b)), child)
        for child, some in enumerate(parents)
        for a, b in combinations(sorted(some), 2)
        if frozenset((a, b)) not in pairs
    )
    return pairs, colliders

"""Counts of a family whose variables got more states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.counts import FamilyCounts
from colonnade.variables import Family, Variable

__all__ = ["grown_counts"]


def grown_counts(counts: FamilyCounts, old: Family, new: Family) -> FamilyCounts:
    """Put counts where their states are in the larger variables of the same family.

    Parameters
    ----------
    counts : FamilyCounts
        Of `old`.
    old, new : Family
        States with counts in `old` must be states in `new`.

    Examples
    --------
    >>> old = Family(Variable("x", ["b", "c"]), (Variable("y", [1]),))
    >>> new = Family(Variable("x", ["a", "b", "c"]), (Variable("y", [0, 1]),))
    >>> grown_counts(FamilyCounts.from_array([[3, 4]]), old, new).to_array().tolist()
    [[0, 0, 0], [0, 3, 4]]
    """
    if old == new:
        return counts
    codes = counts.codes.astype(np.int64)
    for k, (parent, larger) in enumerate(zip(old.parents, new.parents, strict=True)):
        codes[:, k] = _places(parent, larger)[codes[:, k]]
    values = np.zeros((counts.observed, new.cardinality), dtype=counts.values.dtype)
    places = _places(old.child, new.child)
    kept = places >= 0
    values[:, places[kept]] = counts.values[:, kept]
    return FamilyCounts.from_observed(new.parent_sizes, codes, values)


def _places(old: Variable, new: Variable) -> NDArray[Any]:
    """Position of each old state among the new ones; -1 for one that never had a count."""
    known = {(isinstance(state, bool), state): k for k, state in enumerate(new.states)}
    return np.array([known.get((isinstance(s, bool), s), -1) for s in old.states], dtype=np.int64)

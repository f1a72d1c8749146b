"""Rows of counts with the parent codes they belong to: merging and subtracting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.configurations import sort_keys
from colonnade.exceptions import ShortfallError

# Fractional counts that were added and are taken away again may miss zero by rounding.
_ROUNDING = 1e-9
# Integers up to this one add and subtract exactly as floating-point numbers.
_MAX_EXACT_INTEGER = 2**53


def merged(
    codes: NDArray[Any], values: NDArray[Any], sizes: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort configurations, add up repeated ones, drop those without any count.

    Examples
    --------
    >>> codes, values = merged(np.array([[2], [0], [2]]), np.array([[1], [4], [2]]), (3,))
    >>> codes.tolist(), values.tolist()
    ([[0], [2]], [[4], [3]])
    """
    keys = sort_keys(codes, sizes)
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    starts = first.nonzero()[0]
    codes, values = codes[order[starts]], values[order]
    if len(starts) < len(values):
        values = np.add.reduceat(values, starts, axis=0)
    observed = values.any(axis=1)
    return (codes, values) if observed.all() else (codes[observed], values[observed])


def difference(codes: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Subtract aligned counts; a negative result beyond rounding is an error."""
    values: NDArray[Any] = left - right
    if values.dtype.kind == "f":
        larger = np.maximum(left, right)
        whole = (left == np.floor(left)) & (right == np.floor(right))
        tiny = np.abs(values) <= _ROUNDING * larger
        values[tiny & ~(whole & (larger <= _MAX_EXACT_INTEGER))] = 0.0
    if (values < 0).any():
        row, state = np.argwhere(values < 0)[0].tolist()
        raise ShortfallError(
            taken=right[row, state].item(),
            held=left[row, state].item(),
            configuration=tuple(codes[row].tolist()),
            state=state,
        )
    return values

"""Rows of parent codes with their counts: from positions to codes, merging, subtracting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import CountsError
from colonnade.variables import sort_keys

__all__ = ["codes_of", "difference", "merged"]

# Fractional counts that were added and are taken away again may miss zero by rounding.
_DUST = 1e-9


def codes_of(index: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[Any]:
    """Return the parent codes of configurations given by position."""
    dtype = np.int32 if max(sizes, default=0) < 2**31 else np.int64
    if len(sizes) == 1:
        return index.astype(dtype)[:, None]
    codes = np.empty((len(index), len(sizes)), dtype=dtype)
    for column, code in enumerate(np.unravel_index(index, sizes) if sizes else ()):
        codes[:, column] = code
    return codes


def merged(
    sizes: tuple[int, ...], codes: NDArray[Any], values: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort configurations, add up repeated ones, drop those without any count."""
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
    """Subtract aligned counts; a negative result that is no rounding is an error."""
    values: NDArray[Any] = left - right
    if values.dtype.kind == "f":
        # Whole numbers up to 2**53 add and subtract exactly: what they leave is never rounding.
        larger = np.maximum(left, right)
        whole = (left == np.floor(left)) & (right == np.floor(right)) & (larger <= 2**53)
        dust = np.abs(values) <= _DUST * larger
        values[dust & ~whole] = 0.0
    if (values < 0).any():
        row, state = np.argwhere(values < 0)[0].tolist()
        configuration = tuple(codes[row].tolist())
        error = CountsError(
            f"Configuration {configuration}: cannot take {right[row, state]} from "
            f"{left[row, state]} counts of state {state}. "
            "Hint: only take away counts that were added.",
            parameter="counts",
            value=values[row, state].item(),
        )
        error.configuration, error.state = configuration, state
        raise error
    return values

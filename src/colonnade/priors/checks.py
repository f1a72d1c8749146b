"""What makes an option of a prior, and a table for it, acceptable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.exceptions import TooLargeError, expected

# Beyond this many states a table takes minutes and gigabytes.
_MAX_POOLED_STATES = 5000


def checked_positive(value: Any, parameter: str, hint: str = "") -> float:
    """Return a finite number above 0, or say what is wrong.

    Examples
    --------
    >>> checked_positive(np.int64(3), "s")
    3.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise expected("a positive number", parameter, value, hint)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0.0):
        raise expected("a finite number above 0", parameter, value, hint)
    return number


def checked_states(counts: FamilyCounts) -> FamilyCounts:
    """Refuse too many states: the covariance of alpha has a cell for each pair of them."""
    if counts.states > _MAX_POOLED_STATES:
        raise TooLargeError(
            f"The covariance of a pool of {counts.states:,} states",
            size=counts.states**2,
            limit=_MAX_POOLED_STATES**2,
            hint="is this column an identifier? Leave it out, or put states together",
        )
    return counts

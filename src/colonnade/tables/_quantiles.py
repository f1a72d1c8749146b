"""Quantiles of numbers that may have weights, exact where weights are whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Values", "between", "quantiles"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The finite numbers of a column.

    Parameters
    ----------
    distinct : array [value]
        Increasing.
    mass : array [value]
        How often each occurs; positive.
    weighted : bool
        Whether that is something else than the number of rows.

    Examples
    --------
    >>> Values.of(np.array([2.0, np.nan, 1.0, 2.0]), None)
    Values(distinct=array([1., 2.]), mass=array([1, 2]), weighted=False)
    >>> Values.of(np.array([2.0, 3.0, 1.0, 2.0]), np.array([1, 0, 1, 4])).mass
    array([1, 5])
    """

    distinct: Floats
    mass: NDArray[Any]
    weighted: bool

    @classmethod
    def of(cls, numbers: Floats, weights: NDArray[Any] | None) -> Values:
        """Put numbers in order; those that are not finite or have no weight are left out."""
        there = np.isfinite(numbers)
        if weights is None:
            distinct, mass = np.unique(numbers[there], return_counts=True)
            return cls(distinct, mass, False)
        there &= weights > 0
        distinct, back = np.unique(numbers[there], return_inverse=True)
        # Whole weights are added up as whole numbers.
        mass = np.zeros(len(distinct), dtype=weights.dtype)
        np.add.at(mass, back, weights[there])
        return cls(distinct, mass, True)


def between(distinct: Floats) -> Floats:
    """Points halfway between increasing numbers.

    Examples
    --------
    >>> between(np.array([1.0, 2.0, 4.0]))
    array([1.5, 3. ])
    """
    # Halves first, so that the sum of two huge numbers is finite.
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    # Between neighbouring floats there is no number: then the lower one is the point.
    inside = (distinct[:-1] <= middle) & (middle < distinct[1:])
    return np.where(inside, middle, distinct[:-1])


def quantiles(values: Values, bins: int) -> Floats:
    """Points between `bins` shares of about the same mass; equal ones and the largest value occur.

    A quantile that falls between two values is halfway between them.

    Parameters
    ----------
    values : Values
        At least two different ones.
    bins : int

    Examples
    --------
    >>> quantiles(Values.of(np.array([1.0, 2.0, 3.0, 4.0]), None), 2)
    array([2.5])
    >>> quantiles(Values.of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3, 1, 1, 1])), 2)
    array([1.5])
    """
    middle = between(values.distinct)
    mass = np.cumsum(values.mass)
    # Products instead of fractions: with whole weights a tie is a tie, not a matter of rounding.
    level = np.arange(1, bins) * mass[-1]
    at = np.searchsorted(mass * bins, level, side="left")
    tie = mass[at] * bins == level
    return np.asarray(np.where(tie, middle[np.minimum(at, len(middle) - 1)], values.distinct[at]))

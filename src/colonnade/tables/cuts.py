"""Cuts: where one numeric column is cut into intervals, and how the points are chosen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.exceptions import Advice, expected
from colonnade.tables.levels import column_error
from colonnade.tables.sources import StateColumn

Strategy: TypeAlias = Literal["quantile", "uniform", "kmeans"]

STRATEGIES = ("quantile", "uniform", "kmeans")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where one numeric column is cut, and what the intervals are called.

    The interval between two points is open below and closed above: a value equal to a point lies
    below it. The first and the last interval have no end, so every number has its interval.

    Parameters
    ----------
    name : str
        The column.
    points : iterable of float
        Finite and increasing; empty for a column that is not divided.
    states : iterable of str, optional
        Names of the intervals, one more than there are points. By default the ends of the
        interval, with as few digits as tell the points apart.

    Examples
    --------
    >>> cuts = Cuts("age", [18, 65.5])
    >>> cuts.states
    ('(-inf, 18]', '(18, 65.5]', '(65.5, inf)')
    >>> cuts.codes(np.array([18.0, 18.1, 99.0, np.nan])).tolist()
    [0, 1, 2, -1]
    """

    name: str
    points: tuple[float, ...]
    states: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise expected("a non-empty string", "name", self.name)
        points = _checked_points(self.points)
        states = tuple(self.states) or _interval_names(points)
        different = all(isinstance(s, str) for s in states) and len(set(states)) == len(states)
        if not different or len(states) != len(points) + 1:
            what = f"{len(points) + 1} different strings, one per interval of {self.name!r},"
            raise expected(what, "states", states)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "states", states)

    @classmethod
    def learn(
        cls,
        name: str,
        numbers: Floats,
        bins: int,
        strategy: Strategy = "quantile",
        weights: NDArray[Any] | None = None,
    ) -> Cuts:
        """Choose the points from the finite numbers of a column as :func:`discretize` says.

        Examples
        --------
        >>> Cuts.learn("x", np.array([1.0, 2.0, 7.0, 9.0]), bins=2).points
        (4.5,)
        """
        values = _Values.of(numbers, weights)
        if not values.distinct.size:
            problem = "no finite number to learn cuts from."
            raise column_error(name, problem, Advice.DECLARE_STATES)
        return cls(name, _points(values, bins, strategy))

    def codes(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the position of the interval of each number, -1 for NaN."""
        codes = np.searchsorted(np.array(self.points), numbers, side="left")
        codes = codes.astype(np.int16 if len(self.points) < 2**15 else np.int64)
        codes[np.isnan(numbers)] = -1
        return codes

    def column(self, numbers: Floats) -> StateColumn:
        """Return numbers as a column of intervals."""
        return StateColumn(self.name, self.states, self.codes(numbers))


def _checked_points(points: Any) -> tuple[float, ...]:
    try:
        checked = tuple(float(point) for point in points)
    except (TypeError, ValueError, OverflowError):
        checked = (math.nan,)
    pairs = pairwise(checked)
    if not all(map(math.isfinite, checked)) or any(low >= high for low, high in pairs):
        raise expected("increasing finite numbers", "points", points)
    return checked


def _interval_names(points: Sequence[float]) -> tuple[str, ...]:
    """Write the intervals with as few digits, but at least three, as tell the points apart."""
    texts: list[str] = []
    for digits in range(3, 18):
        texts = [format(point, f".{digits}g") for point in points]
        if len(set(texts)) == len(texts):
            break
    ends = ["-inf", *texts]
    return (*(f"({low}, {high}]" for low, high in pairwise(ends)), f"({ends[-1]}, inf)")


# ------------------------------------------------------------ choosing the points


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """The finite numbers of a column: distinct ones, increasing, and how often each occurs.

    `weighted` says whether the mass is a sum of weights and not a number of rows.
    """

    distinct: Floats
    mass: NDArray[Any]
    weighted: bool

    @classmethod
    def of(cls, numbers: Floats, weights: NDArray[Any] | None) -> _Values:
        """Sort numbers; those that are not finite or have no weight are left out."""
        there = np.isfinite(numbers)
        if weights is None:
            distinct, mass = np.unique(numbers[there], return_counts=True)
            return cls(distinct, mass, False)
        there &= weights > 0
        distinct, back = np.unique(numbers[there], return_inverse=True)
        # Integer weights are added up as integers.
        mass = np.zeros(len(distinct), dtype=weights.dtype)
        np.add.at(mass, back, weights[there])
        return cls(distinct, mass, True)


def _points(values: _Values, bins: int, strategy: Strategy) -> tuple[float, ...]:
    """Choose at most bins - 1 points below the largest value."""
    distinct = values.distinct
    if len(distinct) == 1:
        return ()
    if strategy != "uniform" and len(distinct) <= bins:
        points = _between(distinct)
    elif strategy == "quantile":
        points = _quantiles(values, bins)
    else:
        points = _edges(values, bins, strategy)
    inside = (distinct[0] <= points) & (points < distinct[-1])
    return tuple(np.unique(points[inside]).tolist())


def _between(distinct: Floats) -> Floats:
    """Points halfway between increasing numbers."""
    # Halves first, so that the sum of two huge numbers is finite.
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    # Between neighbouring floats there is no number: then the lower one is the point.
    inside = (distinct[:-1] <= middle) & (middle < distinct[1:])
    return np.where(inside, middle, distinct[:-1])


def _quantiles(values: _Values, bins: int) -> Floats:
    """Points between `bins` shares of about the same mass; equal ones and the largest value occur.

    A quantile that falls between two values is halfway between them.
    """
    middle = _between(values.distinct)
    mass = np.cumsum(values.mass)
    # Products instead of fractions: with integer weights a tie is exact, never lost to rounding.
    level = np.arange(1, bins) * mass[-1]
    at = np.searchsorted(mass * bins, level, side="left")
    tie = mass[at] * bins == level
    return np.asarray(np.where(tie, middle[np.minimum(at, len(middle) - 1)], values.distinct[at]))


def _edges(values: _Values, bins: int, strategy: Strategy) -> Floats:
    """Points of equal widths or around cluster centres, by scikit-learn."""
    from sklearn.preprocessing import KBinsDiscretizer

    # Without subsampling the cut points depend on the data alone.
    binning = KBinsDiscretizer(n_bins=bins, encode="ordinal", strategy=strategy, subsample=None)
    rows, weights = values.distinct, None
    if strategy == "kmeans":
        if values.weighted:
            weights = values.mass
        else:
            rows = np.repeat(rows, values.mass)
    with warnings.catch_warnings():
        # It warns of merged intervals, which are what we ask for.
        warnings.simplefilter("ignore")
        fitted = binning.fit(rows[:, None], sample_weight=weights)
    edges: Floats = fitted.bin_edges_[0][1:-1]
    return edges

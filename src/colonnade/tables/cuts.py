"""Cuts: where one numeric column is cut into intervals, and how the points are chosen."""

from __future__ import annotations

import math
import operator
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, expected, row_at
from colonnade.tables.coded import code_type
from colonnade.tables.levels import column_error
from colonnade.tables.sources import StateColumn

Strategy: TypeAlias = Literal["quantile", "uniform", "kmeans"]

STRATEGIES = ("quantile", "uniform", "kmeans")

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?"
_INTERVAL = re.compile(
    rf"any number|up to {_NUMBER}|(?P<low>{_NUMBER}) to {_NUMBER}|above (?P<above>{_NUMBER})"
)
# Numbers between these are written without an exponent.
_LEAST_PLAIN, _FIRST_NOT_PLAIN = 1e-6, 1e16
# Points with more digits than the first are shortened where the data allow it, but not below the
# second.
_MAX_DIGITS, _MIN_DIGITS = 9, 3


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where one numeric column is cut, and what the intervals are called.

    A value equal to a point lies below it, and the names say so: ``up to 18``, then ``18 to 65.5``
    (above 18, up to and including 65.5), then ``above 65.5``. They hold all digits of the points,
    so every number lies in the interval whose name contains it.

    Parameters
    ----------
    name : str
        The column.
    points : iterable of float
        Finite and increasing; empty for a column that is not divided.
    states : iterable of str, optional
        Names of the intervals, one more than there are points; by default as above.

    Examples
    --------
    >>> cuts = Cuts("age", [18, 65.5])
    >>> cuts.states
    ('up to 18', '18 to 65.5', 'above 65.5')
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
        states = tuple(self.states)
        different = all(isinstance(s, str) for s in states) and len(set(states)) == len(states)
        if states and (not different or len(states) != len(points) + 1):
            what = f"{len(points) + 1} different strings, one per interval of {self.name!r},"
            raise expected(what, "states", states)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "states", states or _interval_names(points))

    @classmethod
    def learn(
        cls,
        name: str,
        numbers: Floats,
        bins: int,
        strategy: Strategy = "quantile",
        weights: NDArray[Any] | None = None,
    ) -> Cuts:
        """Choose the points from the numbers of a column as :func:`discretize` says.

        Missing ones are NaN; infinity is an error.

        Examples
        --------
        >>> Cuts.learn("x", np.array([1.0, 2.0, 7.0, 9.0]), bins=2).points
        (4.5,)
        """
        values = Values.of(refuse_infinite(name, numbers), weights)
        if not values.distinct.size:
            problem = "no number to learn cuts from."
            raise column_error(name, problem, Advice.DECLARE_STATES)
        return cls(name, tuple(_points(values, bins, strategy)))

    @classmethod
    def at_quantiles(
        cls,
        name: str,
        numbers: Floats | Values,
        levels: Sequence[float],
        weights: NDArray[Any] | None = None,
    ) -> Cuts:
        """Cut at given quantiles, increasing shares of the finite numbers of a column.

        Whoever cuts a column more than once sorts its numbers before, with their weights.

        A quantile that falls on a value lies between it and the next, the further the more of the
        rows with that value it includes. Of several that fall on one value, the middle is taken. A
        column with no more different values than there are levels is cut between all of them.

        Examples
        --------
        >>> Cuts.at_quantiles("x", np.array([1.0, 2.0, 7.0, 9.0]), [0.4, 0.9]).points
        (5.0,)
        """
        values = numbers if isinstance(numbers, Values) else Values.of(numbers, weights)
        if not values.distinct.size:
            problem = "no finite number to learn cuts from."
            raise column_error(name, problem, Advice.DECLARE_STATES)
        distinct = values.distinct
        if len(distinct) == 1:
            return cls(name, ())
        if len(distinct) <= len(levels):
            points = _between(distinct).tolist()
        else:
            points = _within_steps(values, levels)
        return cls(name, tuple(_below_largest(points, values)))

    def codes(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the position of the interval of each number, -1 for NaN."""
        codes = np.searchsorted(np.array(self.points), numbers, side="left")
        codes = codes.astype(np.int16 if len(self.points) < 2**15 else np.int64)
        codes[np.isnan(numbers)] = -1
        return codes

    def coded(self, numbers: Floats) -> NDArray[Any]:
        """Return the same for a coded table: NaN gets the code after all others.

        Infinity is an error.
        """
        codes: NDArray[Any] = np.array(self.points).searchsorted(numbers)
        if not np.isfinite(numbers).all():
            codes += np.isnan(refuse_infinite(self.name, numbers))  # which come after all points
        return codes

    def column(self, numbers: Floats) -> StateColumn:
        """Return numbers as a column of intervals; infinity is an error."""
        return StateColumn(self.name, self.states, self.codes(refuse_infinite(self.name, numbers)))


class NumberCuts(Cuts):
    """Cuts of a column that has to be one of numbers: texts are none, whatever they look like."""

    __slots__ = ()


class Ranked(NamedTuple):
    """The numbers of a column by their rank, for cutting it more than once.

    The numbers of one rank are on the same side of every point, so that one of them stands for all.

    Attributes
    ----------
    standing : array [rank]
        Increasing; infinity, which no row has, and NaN are the last two.
    ranks : array of unsigned integers [row]
    """

    standing: Floats
    ranks: Array

    @classmethod
    def of(cls, name: str, ends: Floats, numbers: Floats) -> Ranked:
        """Take a column that is cut at some of the `ends`, or between them if all numbers are."""
        standing = np.append(ends, [np.inf, np.nan])
        ranks = standing.searchsorted(refuse_infinite(name, numbers))
        return cls(standing, ranks.astype(code_type(len(standing))))

    @classmethod
    def by_interval(cls, cuts: Cuts, codes: Array) -> Ranked:
        """Take a column that is cut already, in more places than it will be."""
        return cls(np.array([*cuts.points, np.inf, np.nan]), codes)

    def coded(self, cuts: Cuts) -> Array:
        """Return the codes of all rows for a coded table, as `Cuts.coded` does."""
        interval = np.array(cuts.points).searchsorted(self.standing)
        interval[-1] += 1  # what is missing comes after the last interval
        codes: Array = interval.astype(code_type(len(cuts.states))).take(self.ranks)
        codes.setflags(write=False)
        return codes

    def part(self, rows: slice) -> Ranked:
        """Return some of the rows."""
        return Ranked(self.standing, self.ranks[rows])


def refuse_infinite(name: str, numbers: Floats, by_row: bool = True) -> Floats:
    """Return the numbers of a column, or raise if one of them is infinite.

    They are not those of all rows, one by one, unless they are `by_row`.
    """
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax()) if by_row else None
        where = "" if row is None else f", in {row_at(row)}"
        problem = f"infinity, or a number too large to be cut{where}."
        raise column_error(name, problem, "correct it, or mark it as missing", row=row)
    return numbers


def _checked_points(points: Any) -> tuple[float, ...]:
    try:
        checked = tuple(map(float, points))
    except (TypeError, ValueError, OverflowError):
        checked = (math.nan,)
    checked = tuple([point + 0.0 for point in checked])  # no negative zero
    if not all(map(math.isfinite, checked)) or not _increase(checked):
        hint = ""
        if all(map(math.isfinite, checked)):
            hint = f"write {[float(f'{point:.15g}') for point in sorted(set(checked))]}"
        raise expected("increasing finite numbers", "points", points, hint)
    return checked


def _increase(points: Sequence[float]) -> bool:
    return all(map(operator.lt, points, points[1:]))


def _interval_names(points: Sequence[float]) -> tuple[str, ...]:
    """Name the intervals by their ends, written so that nothing is rounded."""
    if not points:
        return ("any number",)
    texts = [_written(point) for point in points]
    between = (f"{low} to {high}" for low, high in pairwise(texts))
    return (f"up to {texts[0]}", *between, f"above {texts[-1]}")


def lower_end(name: Any) -> float | None:
    """Return where an interval of that name begins, or None if it is not one of our names.

    Examples
    --------
    >>> lower_end("up to 18"), lower_end("18 to 65.5"), lower_end("above 65.5"), lower_end("old")
    (-inf, 18.0, 65.5, None)
    """
    found = _INTERVAL.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return None
    return float(found["above"] or found["low"] or -math.inf)


def brief_names(states: Sequence[Any]) -> list[str]:
    r"""Name states in few letters: consecutive intervals by their ends, others as they are.

    The ends are rounded to as few digits as tell them apart, but not to fewer than three.

    Examples
    --------
    >>> ascii(brief_names(["up to 18.5", "18.5 to 25", "above 25"])[1])
    "'18.5\\u201325'"
    >>> brief_names(["young", "old"])
    ['young', 'old']
    """
    begins = [lower_end(state) for state in states]
    points = [begin for begin in begins[1:] if begin is not None]
    if not points or begins[0] != -math.inf or list(_interval_names(points)) != list(states):
        return [str(state) for state in states]
    for digits in range(_MIN_DIGITS, 18):
        texts = [_written(float(f"{point:.{digits}g}")) for point in points]
        if len(set(texts)) == len(texts):
            break
    # The upper end alone would look like a cumulative probability.
    between = [f"{low}\u2013{high}" for low, high in pairwise(texts)]
    return [f"≤ {texts[0]}", *between, f"> {texts[-1]}"]


def _written(point: float) -> str:
    """Write a number with as few digits as give it back; an exponent is for unusual sizes."""
    if 1e-3 <= abs(point) < _FIRST_NOT_PLAIN:
        return repr(point).removesuffix(".0")
    if point == 0.0 or _LEAST_PLAIN <= abs(point) < _FIRST_NOT_PLAIN:
        return np.format_float_positional(point, trim="-")
    return repr(point)


# ------------------------------------------------------------ choosing the points


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers of a column: distinct ones, increasing, and how often each occurs.

    `weighted` says whether the mass is a sum of weights and not a number of rows.
    """

    distinct: Floats
    mass: NDArray[Any]
    weighted: bool

    @classmethod
    def of(cls, numbers: Floats, weights: NDArray[Any] | None) -> Values:
        """Sort numbers; those that are missing or have no weight are left out."""
        there = ~np.isnan(numbers)
        if weights is None:
            distinct, mass = np.unique(numbers[there], return_counts=True)
            return cls(distinct, mass, False)
        there &= weights > 0
        distinct, back = np.unique(numbers[there], return_inverse=True)
        # Integer weights are added up as integers.
        mass = np.zeros(len(distinct), dtype=weights.dtype)
        np.add.at(mass, back, weights[there])
        return cls(distinct, mass, True)

    @cached_property
    def decimals(self) -> int | None:
        """Number of decimals of the numbers; None if they have too many to be written so."""
        return _decimals(self.distinct)

    @cached_property
    def plain(self) -> tuple[memoryview, memoryview, memoryview]:
        """Distinct numbers, their mass, and the mass up to each, to be read one by one."""
        return self.distinct.data, self.mass.data, np.cumsum(self.mass).data


def _points(values: Values, bins: int, strategy: Strategy) -> Sequence[float]:
    """Choose at most bins - 1 points below the largest value, and one at least if there are two."""
    distinct = values.distinct
    if len(distinct) == 1:
        return ()
    if strategy != "uniform" and len(distinct) <= bins:
        points = _between(distinct)
    elif strategy == "quantile":
        points = _quantiles(values, bins)
    else:
        points = _edges(values, bins, strategy)
    return _below_largest(points.tolist(), values)


# There are few points and many columns: plain numbers are faster than arrays of them.


def _below_largest(points: Sequence[float], values: Values) -> Sequence[float]:
    """Return readable points among those that divide two values or more, one at least."""
    distinct = values.plain[0]
    least, largest = distinct[0], distinct[-1]
    inside = {point for point in points if least <= point < largest}
    return _readable(sorted(inside or {distinct[-2]}), values)


def _between(distinct: Floats) -> Floats:
    """Points halfway between increasing numbers."""
    # Halves first, so that the sum of two huge numbers is finite.
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    # Between neighbouring floats there is no number: then the lower one is the point.
    inside = (distinct[:-1] <= middle) & (middle < distinct[1:])
    return np.where(inside, middle, distinct[:-1])


def _quantiles(values: Values, bins: int) -> Floats:
    """Points between `bins` shares of about the same mass; some may be equal.

    A quantile that falls between two values is halfway between them. One that falls on the largest
    value is moved below it: so a value that fills a share has an interval of its own at either end.
    """
    middle = _between(values.distinct)
    mass = np.cumsum(values.mass)
    # Products instead of fractions: with integer weights a tie is exact, never lost to rounding.
    level = np.arange(1, bins) * mass[-1]
    at = np.searchsorted(mass * bins, level, side="left")
    tie = mass[at] * bins == level
    at = np.minimum(at, len(middle) - 1)
    return np.asarray(np.where(tie, middle[at], values.distinct[at]))


def _within_steps(values: Values, levels: Sequence[float]) -> list[float]:
    """Points at quantiles, each as far from its value to the next as it is in the value's share.

    Of several that fall on one value only the middle is a point: no number is between them.
    """
    distinct, mass, reached = values.plain
    last = len(distinct) - 1
    parts: dict[int, list[float]] = {}
    for level in levels:
        share = level * reached[-1]
        at = min(bisect_left(reached, share), last)
        part = 1.0 - min(max((reached[at] - share) / mass[at], 0.0), 1.0)
        parts.setdefault(at, []).append(part)
    points = []
    for at, own in parts.items():
        low, high, part = distinct[at], distinct[min(at + 1, last)], sum(own) / len(own)
        # Two products, so that the difference of two huge numbers is never taken.
        point = (1.0 - part) * low + part * high
        points.append(point if low <= point < high else low)
    return points


def _edges(values: Values, bins: int, strategy: Strategy) -> Floats:
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


# ---------------------------------------------------------- points that read well


def _readable(exact: Sequence[float], values: Values) -> Sequence[float]:
    """Return points with few digits that leave every value of the column where it is.

    Halfway between 2.34 and 2.36, for example, is 2.3499999999999996 to a computer.
    """
    distinct, decimals = values.plain[0], values.decimals
    places = [bisect_right(distinct, point) for point in exact]

    def equivalent(changed: Sequence[float]) -> bool:
        """Whether changed points increase as well, and divide the values of the column alike."""
        return _increase(changed) and [bisect_right(distinct, point) for point in changed] == places

    tidied = []
    for point in exact:
        tidied.append(_tidied(point, decimals))
        if float(f"{tidied[-1]:.{_MAX_DIGITS}g}") != tidied[-1]:
            break
    else:
        if equivalent(tidied):
            return tidied
    # Numbers with many digits, such as the output of a computation: any point between the same two
    # values will do.
    for digits in range(_MIN_DIGITS, 17):
        rounded = [float(f"{point:.{digits}g}") for point in exact]
        if equivalent(rounded):
            return rounded
    return exact


def _tidied(point: float, decimals: int | None) -> float:
    """Remove errors of rounding in the last digits of a point.

    A new value with no more decimals than the column has must not change sides either. If it is
    just above the point, the point moves down by half a unit of the last decimal.
    """
    near = float(f"{point:.15g}")
    if decimals is not None and point < near == round(near, decimals):
        near = float(f"{near - 0.5 * 10.0**-decimals:.15g}")
    return near


def _decimals(distinct: Floats) -> int | None:
    """Return the number of decimals of numbers, or None if they have too many to be written so."""
    if np.abs(distinct).max() >= 2**53:
        return None
    for decimals in range(_MAX_DIGITS):
        if (np.round(distinct, decimals) == distinct).all():
            return decimals
    return None

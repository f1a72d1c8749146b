"""Cutting numbers into intervals, and keeping the cut points for the data that come later."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.exceptions import Advice, DataError, expected, listing
from colonnade.tables._quantiles import Values, between, quantiles
from colonnade.tables.coded import checked_weights
from colonnade.tables.levels import place, turned_float
from colonnade.tables.sources import Source, absent, read

__all__ = ["Cuts", "Discretized", "Discretizer", "discretize"]

Floats = NDArray[np.float64]
Strategy: TypeAlias = Literal["quantile", "uniform", "kmeans"]

_STRATEGIES = ("quantile", "uniform", "kmeans")


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
        Finite and increasing; empty for a column that is left whole.
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
        fits = all(isinstance(state, str) for state in states) and len(set(states)) == len(states)
        if not fits or len(states) != len(points) + 1:
            what = f"{len(points) + 1} different strings"
            raise expected(
                what, "states", states, f"the column {self.name!r} has so many intervals"
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "states", states)

    def codes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the position of the interval of each value, -1 for NaN."""
        codes = np.searchsorted(np.array(self.points), values, side="left")
        codes = codes.astype(np.int16 if len(self.points) < 2**15 else np.int64)
        codes[np.isnan(values)] = -1
        return codes


@dataclass(frozen=True, slots=True)
class Discretizer:
    """Cut points of some columns, learned once and used for every later table.

    Usually made by :meth:`fit` or :func:`discretize`.

    Parameters
    ----------
    columns : iterable of Cuts

    Examples
    --------
    >>> cutter = Discretizer.fit({"x": [0.1, 0.2, 0.7, 0.9], "y": ["a", "b", "a", "b"]}, bins=2)
    >>> cutter.columns[0].states
    ('(-inf, 0.45]', '(0.45, inf)')
    >>> cutter.apply({"x": [-5.0, 5.0], "y": ["a", "a"]})["x"].tolist()
    ['(-inf, 0.45]', '(0.45, inf)']
    >>> Discretizer.from_dict(cutter.to_dict()) == cutter
    True
    """

    columns: tuple[Cuts, ...]

    def __post_init__(self) -> None:
        columns = tuple(self.columns)
        for column in columns:
            if not isinstance(column, Cuts):
                raise expected("only Cuts objects", "columns", column)
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise expected("different columns", "columns", names)
        object.__setattr__(self, "columns", columns)

    @classmethod
    def fit(
        cls,
        table: Any,
        bins: int = 5,
        strategy: Strategy = "quantile",
        columns: Iterable[str] | None = None,
        weights: str | ArrayLike | None = None,
    ) -> Discretizer:
        """Choose cut points from a table; see :func:`discretize` for the parameters.

        Returns
        -------
        Discretizer
        """
        if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 2:
            raise expected("an integer of at least 2", "bins", bins)
        if strategy not in _STRATEGIES:
            raise expected(f"one of {listing(_STRATEGIES)}", "strategy", strategy)
        source = read(table)
        counted = None if weights is None else _counted(source, columns, weights)
        kept = weights if isinstance(weights, str) else None
        return cls(
            tuple(
                Cuts(name, _points(_finite(name, numbers, counted), int(bins), strategy))
                for name, numbers in _chosen(source, columns)
                if name != kept
            )
        )

    def get(self, name: str) -> Cuts | None:
        """Return the cuts of a column, or None if it is left as it is.

        Examples
        --------
        >>> Discretizer([Cuts("x", [0.5])]).get("y") is None
        True
        """
        return next((column for column in self.columns if column.name == name), None)

    def apply(self, table: Any) -> Any:
        """Cut a table at the points kept.

        Parameters
        ----------
        table : table
            All columns of the discretizer must be there and be numeric.

        Returns
        -------
        table of the same kind
            Cut columns are ordered categories (pandas, Modin), enums (Polars) or ordered
            dictionaries (PyArrow) with all intervals; from dictionaries and arrays comes a
            dictionary, and the cut columns hold the names of the intervals.
        """
        source = read(table)
        error = absent([column.name for column in self.columns], source.names)
        if error:
            raise error
        return source.replaced(
            {c.name: (c.codes(_numbers(source, c.name)), c.states) for c in self.columns}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is kept, for JSON; nothing is lost.

        Examples
        --------
        >>> Discretizer([Cuts("x", [0.5])]).to_dict()
        {'x': {'points': [0.5], 'states': ['(-inf, 0.5]', '(0.5, inf)']}}
        """
        return {
            column.name: {"points": list(column.points), "states": list(column.states)}
            for column in self.columns
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Discretizer:
        """Restore what :meth:`to_dict` returned, and check it.

        Examples
        --------
        >>> Discretizer.from_dict({"x": {"points": [2.0, 1.0], "states": []}})
        Traceback (most recent call last):
        colonnade.exceptions.InputError: Expected increasing finite numbers for `points`, ...
        """
        if not isinstance(kept, Mapping):
            raise expected("a mapping of columns", "kept", kept)
        columns = []
        for name, column in kept.items():
            if not isinstance(column, Mapping) or set(column) != {"points", "states"}:
                raise expected("'points' and 'states' of each column", "kept", column)
            if not isinstance(column["points"], list) or not isinstance(column["states"], list):
                raise expected("lists of points and states", "kept", column)
            columns.append(Cuts(name, tuple(column["points"]), tuple(column["states"])))
        return cls(tuple(columns))


class Discretized(NamedTuple):
    """A table that was cut, together with how.

    Functions that take a table take this as well, and keep the discretizer with what they make.
    """

    table: Any
    discretizer: Discretizer


def discretize(
    table: Any,
    bins: int = 5,
    strategy: Strategy = "quantile",
    columns: Iterable[str] | None = None,
    weights: str | ArrayLike | None = None,
) -> Discretized:
    """Cut the numeric columns of a table into intervals.

    Parameters
    ----------
    table : table
        As for :func:`encode`.
    bins : int
        Largest number of intervals of a column. Where many values are equal there are fewer, and
        a column with a single value has one interval.
    strategy : {"quantile", "uniform", "kmeans"}
        Intervals with about the same number of rows, of the same width, or around the centres of
        clusters (by scikit-learn's ``KBinsDiscretizer``). A column with no more different values
        than `bins` is cut between them, except under ``"uniform"``; a smallest value that alone
        fills a quantile interval has its own.
    columns : iterable of str, optional
        Which columns to cut. By default those of floating-point numbers, except integers that
        became floats by missing values; integers are only cut when named here.
    weights : str or array_like, optional
        How often each row counts; one of weight zero is as good as not there. One weight a row, or
        the name of a column, which is not cut then.

    Returns
    -------
    Discretized
        The pair ``(table, discretizer)``: a table of the same kind whose cut columns have the
        intervals as states, and the :class:`Discretizer` that cuts other tables the same way.

    Examples
    --------
    >>> table, discretizer = discretize({"x": [1.5, 2.5, 2.5, 9.0], "n": [1, 2, 3, 4]}, bins=2)
    >>> table["x"].tolist()
    ['(-inf, 2.5]', '(-inf, 2.5]', '(-inf, 2.5]', '(2.5, inf)']
    >>> [column.name for column in discretizer.columns]
    ['x']
    >>> discretize({"x": [1.0, 2.0, 3.0]}, 2, weights=[4, 1, 1]).table["x"].tolist()
    ['(-inf, 1]', '(1, inf)', '(1, inf)']
    """
    discretizer = Discretizer.fit(table, bins, strategy, columns, weights)
    return Discretized(discretizer.apply(table), discretizer)


def _chosen(source: Source, columns: Iterable[str] | None) -> list[tuple[str, Floats]]:
    """Return the columns to cut and their numbers."""
    if columns is None:
        floating = [name for name in source.names if source.floating(name)]
        pairs = [(name, _numbers(source, name)) for name in floating]
        return [(name, numbers) for name, numbers in pairs if not turned_float(numbers)]
    if isinstance(columns, str):
        raise expected("a list of column names", "columns", columns, f"write [{columns!r}]")
    names = list(columns)
    if len(set(names)) < len(names):
        raise expected("different columns", "columns", names)
    error = absent(names, source.names)
    if error:
        raise error
    return [(name, _numbers(source, name)) for name in names]


def _numbers(source: Source, name: str) -> Floats:
    numbers = source.numbers(name)
    if numbers is None:
        hint = "only integers and floating-point numbers are cut"
        raise DataError(place(name), "not a column of numbers.", hint, column=name)
    return numbers


def _counted(source: Source, columns: Iterable[str] | None, weights: Any) -> NDArray[Any]:
    """How often each row counts."""
    if not isinstance(weights, str):
        return checked_weights(weights, source.rows, "`weights`")
    error = absent([weights], source.names)
    if error:
        raise error
    if columns is not None and weights in columns:
        raise expected("a column that is not one of `columns`", "weights", weights)
    return checked_weights(source.weights(weights), source.rows, place(weights))


def _finite(name: str, numbers: Floats, weights: NDArray[Any] | None) -> Values:
    values = Values.of(numbers, weights)
    if not values.distinct.size:
        problem = "no finite number to learn cuts from."
        raise DataError(place(name), problem, Advice.DECLARE_STATES, column=name)
    return values


def _points(values: Values, bins: int, strategy: Strategy) -> tuple[float, ...]:
    """Choose at most bins - 1 points below the largest value."""
    distinct = values.distinct
    if len(distinct) == 1:
        return ()
    if strategy == "uniform":
        points = _edges(values, bins, strategy)
    elif len(distinct) <= bins:
        points = between(distinct)
    elif strategy == "quantile":
        points = quantiles(values, bins)
    else:
        points = _edges(values, bins, strategy)
    inside = (distinct[0] <= points) & (points < distinct[-1])
    return tuple(np.unique(points[inside]).tolist())


def _edges(values: Values, bins: int, strategy: Strategy) -> Floats:
    """The points of scikit-learn."""
    from sklearn.preprocessing import KBinsDiscretizer

    # Without subsampling the cut points depend on the data alone.
    binning = KBinsDiscretizer(n_bins=bins, encode="ordinal", strategy=strategy, subsample=None)
    rows, weights = values.distinct, None
    if values.weighted and strategy == "kmeans":
        weights = values.mass
    elif strategy == "kmeans":
        rows = np.repeat(rows, values.mass)
    with warnings.catch_warnings():
        # It warns of merged intervals, which are what we ask for.
        warnings.simplefilter("ignore")
        fitted = binning.fit(rows[:, None], sample_weight=weights)
    edges: Floats = fitted.bin_edges_[0][1:-1]
    return edges


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
    ends = ["-inf", *texts, "inf"]
    pairs = list(pairwise(ends))
    closed = [f"({low}, {high}]" for low, high in pairs[:-1]]
    return (*closed, f"({pairs[-1][0]}, inf)")

"""Cutting the numeric columns of a table, and keeping the cut points for later tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from colonnade.arrays import Floats, Weights
from colonnade.exceptions import (
    checked_list,
    checked_whole,
    expected,
    is_word,
    listing,
)
from colonnade.tables.coded import checked_weights
from colonnade.tables.cuts import STRATEGIES, Cuts, Strategy
from colonnade.tables.levels import place, refuse_absent, turned_float
from colonnade.tables.sources import Source, numbers_of, source_of


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
        weights: Weights = None,
    ) -> Discretizer:
        """Choose cut points from a table; see :func:`discretize` for the parameters.

        Returns
        -------
        Discretizer
        """
        bins = checked_whole(bins, "bins", least=2)
        if not is_word(strategy, *STRATEGIES):
            raise expected(f"one of {listing(STRATEGIES)}", "strategy", strategy)
        source = source_of(table)
        counted = None if weights is None else _row_weights(source, columns, weights)
        chosen = _chosen(source, columns)
        if isinstance(weights, str):
            chosen.pop(weights, None)
        cuts = (Cuts.learn(name, chosen[name], bins, strategy, counted) for name in chosen)
        return cls(tuple(cuts))

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
        return self.cut(table).table

    def cut(self, table: Any) -> Discretized:
        """Cut a table as :meth:`apply` does, and keep the points with it.

        Examples
        --------
        >>> from colonnade.tables import encode
        >>> encode(Discretizer([Cuts("x", [0.5])]).cut({"x": [0.2, 0.9]})).codes[0].tolist()
        [0, 1]
        """
        source = source_of(table)
        refuse_absent([column.name for column in self.columns], source.names)
        cut = [column.column(_numbers(source, column.name)) for column in self.columns]
        return Discretized(source.replaced(cut), self)

    def only(self, names: Iterable[str]) -> Discretizer | None:
        """Return the cuts of some columns, or None if there are none.

        Examples
        --------
        >>> Discretizer([Cuts("x", [0.5]), Cuts("y", [2])]).only(["y", "z"])
        Discretizer(columns=(Cuts(name='y', points=(2.0,), states=('(-inf, 2]', '(2, inf)')),))
        """
        chosen = set(names)
        columns = tuple(column for column in self.columns if column.name in chosen)
        return Discretizer(columns) if columns else None

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


@dataclass(frozen=True, eq=False, repr=False)
class Discretized:
    """A table that was cut, together with how: unpacks as the pair ``(table, discretizer)``.

    Functions that take a table take this as well, and keep the discretizer with what they make.

    Parameters
    ----------
    source : Source
        Its cut columns have their intervals as states.
    discretizer : Discretizer
    """

    source: Source
    discretizer: Discretizer

    @property
    def table(self) -> Any:
        """The table, of the kind that was cut."""
        return self.source.table

    def __iter__(self) -> Iterator[Any]:
        return iter((self.table, self.discretizer))

    def __repr__(self) -> str:
        return f"Discretized(table={self.table!r}, discretizer={self.discretizer!r})"


def discretize(
    table: Any,
    bins: int = 5,
    strategy: Strategy = "quantile",
    columns: Iterable[str] | None = None,
    weights: Weights = None,
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
        How often each row counts; a row of weight zero has no influence. One weight per row, or
        the name of a column, which then is not cut.

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
    source = source_of(table)
    return Discretizer.fit(source, bins, strategy, columns, weights).cut(source)


def _chosen(source: Source, columns: Iterable[str] | None) -> dict[str, Floats]:
    """Return the columns to cut and their numbers."""
    if columns is None:
        floating = [name for name, column in source.columns.items() if column.floating]
        numbers = {name: _numbers(source, name) for name in floating}
        return {name: each for name, each in numbers.items() if not turned_float(each)}
    names = checked_list(columns, "a list of column names", "columns")
    if len(set(names)) < len(names):
        raise expected("different columns", "columns", names)
    refuse_absent(names, source.names)
    return {name: _numbers(source, name) for name in names}


def _numbers(source: Source, name: str) -> Floats:
    return numbers_of(source.columns[name], "only integers and floating-point numbers are cut")


def _row_weights(source: Source, columns: Iterable[str] | None, weights: Any) -> NDArray[Any]:
    """How often each row counts."""
    if not isinstance(weights, str):
        return checked_weights(weights, source.rows, "`weights`")
    refuse_absent([weights], source.names)
    if columns is not None and weights in columns:
        raise expected("a column that is not one of `columns`", "weights", weights)
    return checked_weights(source.columns[weights].weights(), source.rows, place(weights))

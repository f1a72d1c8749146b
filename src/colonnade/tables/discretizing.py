"""Cutting the numeric columns of a table, and keeping the cut points for later tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from colonnade.arrays import Floats, Weights
from colonnade.exceptions import Advice, checked_list, expected, is_word, listing
from colonnade.tables.bins import DEFAULT_BINS, Bins, Measured, Wanted, warn_of_cuts
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import checked_weights
from colonnade.tables.countable import bounded, scanned_of
from colonnade.tables.cuts import STRATEGIES, Cuts, Strategy
from colonnade.tables.identifiers import identifier, warn_of_identifiers
from colonnade.tables.levels import place, refuse_absent
from colonnade.tables.sources import Source, numbers_of, source_of

if TYPE_CHECKING:
    from colonnade.tables.engines import Engine
    from colonnade.tables.scanning import Scanned


@dataclass(frozen=True, slots=True, eq=False)
class Discretizer:
    """Cut points of some columns, learned once and used for every later table.

    Usually made by :meth:`fit` or :func:`discretize`. Two are equal if they cut the same columns
    in the same way, in any order.

    Parameters
    ----------
    columns : iterable of Cuts

    Examples
    --------
    >>> cutter = Discretizer.fit({"x": [0.1, 0.2, 0.7, 0.9], "y": ["a", "b", "a", "b"]}, bins=2)
    >>> cutter.columns[0].states
    ('up to 0.45', 'above 0.45')
    >>> cutter.apply({"x": [-5.0, 5.0], "y": ["a", "a"]})["x"].tolist()
    ['up to 0.45', 'above 0.45']
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
        bins: int | Mapping[str, Wanted] | Bins = DEFAULT_BINS,
        strategy: Strategy = "quantile",
        columns: Iterable[str] | None = None,
        weights: Weights = None,
    ) -> Discretizer:
        """Choose cut points from a table; see :func:`discretize` for the parameters.

        Returns
        -------
        Discretizer
        """
        wanted = Bins.of(bins)
        if not is_word(strategy, *STRATEGIES):
            raise expected(f"one of {listing(STRATEGIES)}", "strategy", strategy)
        if (scanned := scanned_of(table)) is not None:
            wanted = wanted if columns is None else _only(wanted, columns)
            return cls(scanned.cut_points(wanted, strategy, weights))
        source = source_of(table)
        counted = None if weights is None else _row_weights(source, columns, weights)
        wanted = wanted if columns is None else _only(wanted, columns)
        refuse_absent(list(wanted.columns), source.names, Advice.NAMED_BY_BINS)
        chosen = _chosen(source, wanted, counted, weights if isinstance(weights, str) else None)
        cuts = tuple(each.cuts(name, strategy, counted) for name, each in chosen.items())
        warn_of_cuts({name: each.guessed for name, each in chosen.items() if each.guessed})
        excess = [identifier(source.columns[name], each) for name, each in chosen.items()]
        warn_of_identifiers([each for each in excess if each])
        return cls(cuts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Discretizer):
            return NotImplemented
        return set(self.columns) == set(other.columns)

    def __hash__(self) -> int:
        return hash(frozenset(self.columns))

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
        if (scanned := scanned_of(table)) is not None:
            refuse_absent([column.name for column in self.columns], scanned.names)
            return Discretized(scanned, self)
        source = source_of(table)
        refuse_absent([column.name for column in self.columns], source.names)
        cut = [column.column(_numbers(source, column.name)) for column in self.columns]
        return Discretized(source.replaced(cut), self)

    def only(self, names: Iterable[str]) -> Discretizer | None:
        """Return the cuts of some columns, or None if there are none.

        Examples
        --------
        >>> Discretizer([Cuts("x", [0.5]), Cuts("y", [2])]).only(["y", "z"])
        Discretizer(columns=(Cuts(name='y', points=(2.0,), states=('up to 2', 'above 2')),))
        """
        chosen = set(names)
        columns = tuple(column for column in self.columns if column.name in chosen)
        return Discretizer(columns) if columns else None

    def to_dict(self) -> dict[str, Any]:
        """Return what is kept, for JSON; nothing is lost.

        Examples
        --------
        >>> Discretizer([Cuts("x", [0.5])]).to_dict()
        {'x': {'points': [0.5], 'states': ['up to 0.5', 'above 0.5']}}
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
    source : Source, Scanned or Engine
        Its cut columns have their intervals as states; rows elsewhere are cut when they are read.
    discretizer : Discretizer
    """

    source: Source | Scanned | Engine
    discretizer: Discretizer

    @property
    def table(self) -> Any:
        """The table, of the kind that was cut; rows that are not in memory stay as they are."""
        return self.source.table if isinstance(self.source, Source) else self.source

    def __iter__(self) -> Iterator[Any]:
        return iter((self.table, self.discretizer))

    def __repr__(self) -> str:
        return f"Discretized(table={self.table!r}, discretizer={self.discretizer!r})"


def discretize(
    table: Any,
    bins: int | Mapping[str, Wanted] | Bins = DEFAULT_BINS,
    strategy: Strategy = "quantile",
    columns: Iterable[str] | None = None,
    weights: Weights = None,
    *,
    memory: Allowed = None,
) -> Discretized:
    """Cut the numeric columns of a table into intervals.

    Columns of whole numbers are cut if they have more than 10 different values, which a
    ``ColumnWarning`` tells, and hold states if they have no more; whether they are integers,
    floating-point numbers or decimals does not matter. Numbers with fractions are always cut. The
    classifier and the command line follow the same rule.

    Parameters
    ----------
    table : table
        As for :func:`encode`. Files are passed over once; quantiles are exact for up to 1,048,576
        different values of a column, and off by less than 4e-5 of the rows beyond.
    bins : int, or mapping of str to int, cut points or None
        Largest number of intervals of a column. Where many values are equal there are fewer, but
        only a column with a single value has one interval. A mapping says it of single columns,
        which then are cut whatever values they have, or with None keep their values as states;
        others have up to 5. A list of numbers says where to cut a column, and
        :class:`colonnade.tables.Cuts` names the intervals as well. See also
        :class:`colonnade.tables.Bins`.
    strategy : {"quantile", "uniform", "kmeans"}
        Intervals with about the same number of rows, of the same width, or around the centres of
        clusters (by scikit-learn's ``KBinsDiscretizer``). A column with no more different values
        than `bins` is cut between them, except under ``"uniform"``; a smallest or
        largest value that alone fills a quantile interval has its own.
    columns : iterable of str, optional
        The only columns to cut, whatever values they have; by default those that the rule above
        and `bins` say.
    weights : str or array_like, optional
        How often each row counts; a row of weight zero has no influence. One weight per row, or
        the name of a column, which then is not cut.
    memory : int or str, optional
        Bytes that blocks of files and lazy tables may take; as for :func:`scan`. The numbers that
        are kept of each column come on top, at most 16 MB.

    Returns
    -------
    Discretized
        The pair ``(table, discretizer)``: a table of the same kind whose cut columns have the
        intervals as states, and the :class:`Discretizer` that cuts other tables the same way.

    Examples
    --------
    >>> rows = {"x": [1.5, 2.5, 2.5, 9.0], "n": [1, 2, 3, 4]}
    >>> table, discretizer = discretize(rows, bins=2)
    >>> table["x"].tolist()
    ['up to 2.5', 'up to 2.5', 'up to 2.5', 'above 2.5']
    >>> [column.name for column in discretizer.columns]
    ['x']
    >>> discretize(rows, bins={"n": 2}).table["n"].tolist()
    ['up to 2.5', 'up to 2.5', 'above 2.5', 'above 2.5']
    >>> discretize(rows, bins={"x": [2.0, 5.0]}).table["x"].tolist()
    ['up to 2', '2 to 5', '2 to 5', 'above 5']
    >>> discretize({"x": [1.5, 2.5, 3.5]}, 2, weights=[4, 1, 1]).table["x"].tolist()
    ['up to 1.5', 'above 1.5', 'above 1.5']
    """
    table = bounded(table, memory)
    source = scanned_of(table) or source_of(table)
    return Discretizer.fit(source, bins, strategy, columns, weights).cut(source)


def _only(wanted: Bins, columns: Iterable[str]) -> Bins:
    """Cut the columns named and no others."""
    names = checked_list(columns, "a list of column names", "columns")
    repeated = [name for k, name in enumerate(names) if name in names[:k]]
    if repeated:
        raise expected("different columns", "columns", names, got=f"{repeated[0]!r} twice")
    own = {name: wanted.columns.get(name, wanted.default) for name in names}
    kept = [name for name, bins in own.items() if bins is None]
    if kept:
        raise expected("columns that `bins` does not keep as they are", "columns", kept)
    return Bins(None, own)


def _chosen(
    source: Source, wanted: Bins, counted: NDArray[Any] | None, weights: str | None
) -> dict[str, Measured]:
    """Return the columns to cut; the one with the weights stays."""
    read = {
        name: wanted.read(column, counted)
        for name, column in source.columns.items()
        if name != weights and wanted.cuts(column)
    }
    return {name: each for name, each in read.items() if isinstance(each, Measured)}


def _numbers(source: Source, name: str) -> Floats:
    return numbers_of(source.columns[name], "only integers and floating-point numbers are cut")


def _row_weights(source: Source, columns: Iterable[str] | None, weights: Any) -> NDArray[Any]:
    """How often each row counts."""
    if not isinstance(weights, str):
        return checked_weights(weights, source.rows, "`weights`")
    refuse_absent([weights], source.names, Advice.NAMED_BY_WEIGHTS)
    if columns is not None and weights in columns:
        raise expected("a column that is not one of `columns`", "weights", weights)
    return checked_weights(source.columns[weights].weights(), source.rows, place(weights))

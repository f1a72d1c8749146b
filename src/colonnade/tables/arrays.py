"""Tables without a data-frame package: dictionaries of columns, NumPy arrays with names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import DataError, expected, listing
from colonnade.tables.levels import (
    Levels,
    float_levels,
    integer_levels,
    object_floating,
    object_levels,
    object_numbers,
    place,
    unusable,
)

__all__ = ["ArraySource", "array_levels", "columns_of"]


class ArraySource:
    """Named columns: lists, tuples, arrays, or series of a data-frame package.

    Parameters
    ----------
    columns : mapping of str to column
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = {name: _column(name, values) for name, values in columns.items()}
        self.names = list(self.columns)
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise expected("columns of one length", "table", lengths)
        self.rows = next(iter(lengths.values()), 0)

    def levels(self, name: str, declared: bool) -> Levels:
        """Return labels and codes of a column."""
        column = self.columns[name]
        if isinstance(column, list):
            return object_levels(name, column, declared)
        if isinstance(column, np.ndarray):
            return array_levels(name, column, declared)
        from colonnade.tables.frames import series_levels

        return series_levels(name, column, declared)

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """Return a numeric column as floats, missing ones NaN; None if it is not numeric."""
        column = self.columns[name]
        if isinstance(column, list):
            return object_numbers(column)
        if isinstance(column, np.ndarray):
            if column.dtype.kind not in "iuf":
                return None
            floats = np.ma.getdata(column).astype(np.float64)
            floats[np.ma.getmaskarray(column)] = np.nan
            return floats
        from colonnade.tables.frames import series_numbers

        return series_numbers(column)

    def floating(self, name: str) -> bool:
        """Whether the column holds floating-point numbers."""
        column = self.columns[name]
        if isinstance(column, list):
            return object_floating(column)
        kind = column.dtype
        return bool(kind.kind == "f" if isinstance(kind, np.dtype) else kind.is_float())

    def text(self, name: str) -> bool:
        """Whether the column holds strings of a package that works on them outside Python."""
        return False

    def weights(self, name: str) -> NDArray[Any]:
        """Return a column to be used as weights."""
        column = self.columns[name]
        if isinstance(column, list | np.ndarray):
            if np.ma.is_masked(column):
                raise DataError(place(name), "weights are missing.", column=name)
            return np.asarray(column)
        from colonnade.tables.frames import series_weights

        return series_weights(name, column)

    def replaced(self, cut: Mapping[str, tuple[NDArray[Any], Sequence[str]]]) -> dict[str, Any]:
        """Return the columns with some replaced by the states at codes (-1 for missing)."""
        columns = dict(self.columns)
        for name, (codes, states) in cut.items():
            columns[name] = np.array([*states, None], dtype=object)[codes]
        return columns


def columns_of(table: Any) -> Mapping[str, Any] | None:
    """Take a dictionary, a structured array or a pair (array, names) apart, or return None.

    Examples
    --------
    >>> sorted(columns_of((np.array([[1, 2], [3, 4]]), ["x", "y"])))
    ['x', 'y']
    """
    if isinstance(table, Mapping):
        return table
    if isinstance(table, np.ndarray):
        if table.dtype.names is not None and table.ndim == 1:
            return {name: table[name] for name in table.dtype.names}
        hint = "give the array with its names: (array, ['a', 'b'])"
        got = f"an array of shape {table.shape} without names"
        raise expected("a table with named columns", "table", table, hint, got=got)
    if isinstance(table, tuple) and len(table) == 2 and isinstance(table[0], np.ndarray):
        return _named(*table)
    return None


def _named(array: NDArray[Any], names: Any) -> dict[str, Any]:
    if array.ndim != 2:
        what = "an array [row, column] and its names"
        raise expected(what, "table", array, got=f"an array of shape {array.shape}")
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise expected("a list of column names", "table", names)
    names = list(names)
    if len(names) != array.shape[1]:
        what = f"{array.shape[1]} column names"
        raise expected(what, "table", names, got=f"{len(names)}: {listing(names)}")
    for name in names:
        if names.count(name) > 1:
            problem = f"the name occurs {names.count(name)} times."
            raise DataError(place(name), problem, "rename or drop columns", column=name)
    return {name: array[:, k] for k, name in enumerate(names)}


def _column(name: Any, values: Any) -> Any:
    """Return a column as a list, an array of one dimension, or a narwhals series."""
    if isinstance(values, list):
        return values
    if isinstance(values, tuple | range):
        return list(values)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            problem = f"an array of shape {values.shape} is not a column."
            raise DataError(place(name), problem, "give one value a row", column=name)
        return values if values.dtype.kind != "O" else _objects(values)
    import narwhals as nw

    series = nw.from_native(values, series_only=True, allow_series=True, pass_through=True)
    if not isinstance(series, nw.Series):
        got = f"an object of type {type(values).__name__}"
        raise expected("lists or arrays as columns", "table", values, got=f"{got} for {name!r}")
    return series


def array_levels(name: str, column: NDArray[Any], declared: bool) -> Levels:
    """Return labels and codes of a NumPy array.

    Examples
    --------
    >>> array_levels("x", np.array(["b", "a", "b"]), declared=False).labels
    ['b', 'a']
    """
    missing = np.ma.getmaskarray(column) if np.ma.is_masked(column) else None
    values = np.ma.getdata(column)
    kind = values.dtype.kind
    if kind in "biu":
        return integer_levels(values, missing)
    if kind == "f":
        floats = values.astype(np.float64)
        if missing is not None:
            floats[missing] = np.nan
        return float_levels(name, floats, declared)
    if kind in "UT":
        return object_levels(name, _objects(column), declared)
    raise unusable(name, f"values of type {values.dtype}")


def _objects(column: NDArray[Any]) -> list[Any]:
    """Return an array as Python objects, masked ones None."""
    objects: list[Any] = np.ma.getdata(column).tolist()
    if np.ma.is_masked(column):
        gaps = np.ma.getmaskarray(column)
        objects = [None if gap else v for v, gap in zip(objects, gaps, strict=True)]
    return objects

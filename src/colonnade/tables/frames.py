"""Tables of data-frame packages, through narwhals.

narwhals speaks for all of them, except where a column already is, or quickly becomes, integer
codes: there each package has its own way, and decoding would cost more than all the counting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from colonnade.exceptions import DataError, NotSupportedError, expected
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

__all__ = ["FrameSource", "series_levels", "series_numbers", "series_weights"]


class FrameSource:
    """A table of pandas, Polars, PyArrow, Modin or whatever else narwhals knows.

    Parameters
    ----------
    table : data frame
        In memory, not lazy.
    """

    def __init__(self, table: Any) -> None:
        try:
            self.frame: nw.DataFrame[Any] = nw.from_native(table, eager_only=True)
        except DuplicateError:
            names = list(getattr(table, "column_names", None) or table.columns)
            repeated = next(name for name in names if names.count(name) > 1)
            problem = f"the name occurs {names.count(repeated)} times."
            hint = "rename or drop columns"
            raise DataError(place(repeated), problem, hint, column=repeated) from None
        except TypeError:
            got = f"an object of type {type(table).__module__}.{type(table).__qualname__}"
            hint = "give a data frame, a dictionary of lists, or a pair (array, names)"
            if isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame):
                hint = "collect the lazy table first"
            raise expected("a table in memory", "table", table, hint, got=got) from None
        self.names = list(self.frame.columns)
        self.rows = len(self.frame)
        self.kinds = dict(self.frame.schema)

    def levels(self, name: str, declared: bool) -> Levels:
        """Return labels and codes of a column."""
        return series_levels(name, self.frame[name], declared)

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """Return a numeric column as floats, missing ones NaN; None if it is not numeric."""
        return series_numbers(self.frame[name])

    def floating(self, name: str) -> bool:
        """Whether the column holds floating-point numbers."""
        series = self.frame[name]
        if series.dtype in (nw.Object, nw.Unknown):
            return object_floating(series.to_list())
        return bool(series.dtype.is_float())

    def text(self, name: str) -> bool:
        """Whether the column holds strings of a package that works on them outside Python."""
        return bool(self.kinds[name] == nw.String)

    def weights(self, name: str) -> NDArray[Any]:
        """Return a column to be used as weights."""
        return series_weights(name, self.frame[name])

    def replaced(self, cut: Mapping[str, tuple[NDArray[Any], Sequence[str]]]) -> Any:
        """Return a table of the same kind with some columns made ordered categories."""
        native = self.frame.to_native()
        kind = self.frame.implementation
        if kind.is_pandas_like():
            import pandas as pd

            made = {
                name: pd.Categorical.from_codes(codes, categories=list(states), ordered=True)
                for name, (codes, states) in cut.items()
            }
            return native.assign(**made)
        if kind.is_polars():
            return native.with_columns([_enum(name, *column) for name, column in cut.items()])
        if kind.is_pyarrow():
            import pyarrow as pa

            for name, (codes, states) in cut.items():
                index = pa.array(codes, mask=codes < 0)
                column = pa.DictionaryArray.from_arrays(index, pa.array(states), ordered=True)
                native = native.set_column(native.column_names.index(name), name, column)
            return native
        raise NotSupportedError(f"Cutting a table of {kind}", "it has no known categories")


def series_levels(name: str, series: nw.Series[Any], declared: bool) -> Levels:
    """Return labels and codes of a column of any package."""
    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum):
        return _category_levels(name, series)
    if kind == nw.String:
        return _string_levels(series)
    if kind.is_integer() or kind == nw.Boolean:
        return _integer_series(name, series, declared)
    if kind.is_float():
        return float_levels(name, _floats(series), declared)
    if kind in (nw.Object, nw.Unknown):
        return _object_series(name, series, declared)
    raise unusable(name, f"values of type {kind}")


def series_numbers(series: nw.Series[Any]) -> NDArray[np.float64] | None:
    """Return a numeric column as floats, missing ones NaN; None if it is not numeric."""
    kind = series.dtype
    if kind.is_float() or kind.is_integer():
        return _floats(series)
    return object_numbers(series.to_list()) if kind in (nw.Object, nw.Unknown) else None


def series_weights(name: str, series: nw.Series[Any]) -> NDArray[Any]:
    """Return a column to be used as weights."""
    gaps = series.is_null()
    if gaps.any():
        row = int(gaps.to_numpy().argmax())
        problem = f"the weight in row {row} is missing."
        raise DataError(place(name), problem, "use 0 for rows to leave out", column=name, row=row)
    return np.asarray(series.to_numpy())


def _floats(series: nw.Series[Any]) -> NDArray[np.float64]:
    floats: NDArray[np.float64] = series.cast(nw.Float64).to_numpy()
    if floats.dtype != np.float64:
        floats = np.array([np.nan if v is None or v != v else v for v in series.to_list()], float)
    return floats


def _integer_series(name: str, series: nw.Series[Any], declared: bool) -> Levels:
    missing = None
    if series.null_count():
        missing = series.is_null().to_numpy()
        series = series.fill_null(False if series.dtype == nw.Boolean else 0)
    values = series.to_numpy()
    if values.dtype.kind not in "biu":  # wider than 64 bits
        objects = values.tolist()
        if missing is not None:
            objects = [None if gap else v for v, gap in zip(objects, missing, strict=True)]
        return object_levels(name, objects, declared)
    return integer_levels(values, missing)


def _object_series(name: str, series: nw.Series[Any], declared: bool) -> Levels:
    if series.implementation.is_pandas_like() and series.dtype == nw.Object:
        try:
            codes, labels = series.to_pandas().factorize()
        except TypeError:  # unhashable: worded below
            labels = [None]
        # Strings equal nothing but strings; 1, 1.0 and True are one label to pandas.
        if all(isinstance(label, str) for label in labels):
            return Levels(list(labels), codes)
    return object_levels(name, series.to_list(), declared)


def _string_levels(series: nw.Series[Any]) -> Levels:
    kind = series.implementation
    if kind.is_polars():
        import polars as pl

        native = series.to_native()
        labels = native.unique().drop_nulls().sort()
        codes = native.cast(pl.Enum(labels)).to_physical()
        return Levels(labels.to_list(), _polars_codes(codes))
    if kind.is_pyarrow():
        return _arrow_levels(series.to_native().dictionary_encode(), closed=False)
    codes, labels = series.to_pandas().factorize()
    return Levels(labels.tolist(), codes)


def _category_levels(name: str, series: nw.Series[Any]) -> Levels:
    kind = series.implementation
    if kind.is_polars():
        return _polars_categories(series.to_native())
    if kind.is_pyarrow():
        return _arrow_levels(series.to_native(), closed=True)
    values = series.to_pandas().array
    if not hasattr(values, "codes"):  # an Arrow dictionary inside pandas
        return _arrow_levels(series.to_arrow(), closed=True)
    return Levels([_label(name, c) for c in values.categories.tolist()], values.codes, closed=True)


def _label(name: str, category: Any) -> Any:
    """Return a category of pandas as a state."""
    if isinstance(category, float) and category.is_integer():
        return int(category)  # integers among which there was a NaN
    if type(category).__name__ == "Interval":
        return str(category)  # as pandas.cut makes them
    if not isinstance(category, str | int | np.integer | np.bool_):
        raise unusable(name, f"categories of type {type(category).__name__}")
    return category


def _polars_categories(native: Any) -> Levels:
    import polars as pl

    if native.dtype == pl.Enum:
        labels = native.dtype.categories.to_list()
        return Levels(labels, _polars_codes(native.to_physical()), closed=True)
    # A Categorical shares its categories with all other columns: only those seen are its own.
    seen = native.unique().drop_nulls()
    places = seen.to_physical().to_list()
    labels = [None] * (max(places, default=-1) + 1)
    for position, label in zip(places, seen.cast(pl.String).to_list(), strict=True):
        labels[position] = label
    return Levels(labels, _polars_codes(native.to_physical()))


def _polars_codes(physical: Any) -> NDArray[Any]:
    """Return physical codes as an array, -1 for missing."""
    import polars as pl

    if physical.null_count():
        physical = physical.cast(pl.Int64).fill_null(-1)
    codes: NDArray[Any] = physical.to_numpy()
    return codes


def _arrow_levels(column: Any, closed: bool) -> Levels:
    """Return labels and codes of a dictionary array, which may come in chunks."""
    if hasattr(column, "unify_dictionaries"):
        column = column.unify_dictionaries().combine_chunks()
    if hasattr(column, "chunks"):  # no rows: nothing to combine
        column = column.chunk(0)
    labels = column.dictionary.to_pylist()
    codes = column.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(-1)
    return Levels(labels, codes.to_numpy(zero_copy_only=False), closed)


def _enum(name: str, codes: NDArray[Any], states: Sequence[str]) -> Any:
    import polars as pl

    kind = pl.Enum(list(states))
    index = pl.Series(codes)
    # A row without an index has no state.
    return pl.Series(name, list(states), dtype=kind).gather(index.set(index < 0, None))

"""Tables of data-frame packages, through narwhals.

narwhals speaks for all of them, except where a column is integer codes already, or becomes so
quickly: there each package has its own way, and decoding would take longer than all the counting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, NotSupportedError, expected
from colonnade.tables.levels import (
    Levels,
    float_levels,
    integer_levels,
    missing_weight,
    place,
    repeated_names,
    unusable,
)
from colonnade.tables.sources import ListColumn, Source, StateColumn, Times, UnsoundColumn

_OBJECTS = (nw.Object, nw.Unknown)


@dataclass(frozen=True, eq=False)
class SeriesColumn:
    """A column of a data-frame package."""

    name: str
    series: nw.Series[Any]

    @classmethod
    def of(cls, name: str, values: Any) -> SeriesColumn:
        """Take a native series."""
        series = nw.from_native(values, series_only=True, allow_series=True, pass_through=True)
        if not isinstance(series, nw.Series):
            got = f"an object of type {type(values).__name__} for {name!r}"
            raise expected("lists or arrays as columns", "table", values, got=got)
        return cls(name, series)

    def levels(self, declared: bool) -> Levels:
        kind = self._kind
        if kind in (nw.Categorical, nw.Enum):
            return _category_levels(self.name, self.series)
        if kind == nw.String:
            return _string_levels(self.series)
        if kind.is_integer() or kind == nw.Boolean:
            return self._integer_levels(declared)
        if kind.is_float() or kind.is_decimal():
            return float_levels(self.name, _floats(self.series), declared)
        refuse_unusable(self.name, kind)
        return _object_string_levels(self.series) or self._objects.levels(declared)

    @property
    def numbers(self) -> Floats | None:
        kind = self._kind
        if kind.is_numeric():
            return _floats(self.series)
        return self._objects.numbers if kind in _OBJECTS else None

    @property
    def number_type(self) -> type[int] | type[float] | None:
        kind = self._kind
        if kind in _OBJECTS:
            return self._objects.number_type
        if kind.is_integer():
            return int
        return float if kind.is_numeric() else None

    @property
    def times(self) -> Times | None:
        kind = self._kind
        if kind in _OBJECTS:
            return self._objects.times
        if not kind.is_temporal():
            return None
        present = self.series.drop_nulls()
        return Times(present.n_unique(), len(present), kind == nw.Duration)

    @property
    def text(self) -> bool:
        return bool(self._kind == nw.String)

    @property
    def values(self) -> Any:
        return self.series.to_native()

    def weights(self) -> Array:
        gaps = self.series.is_null()
        if gaps.any():
            raise missing_weight(place(self.name), int(gaps.to_numpy().argmax()))
        return np.asarray(self.series.to_numpy())

    @cached_property
    def _kind(self) -> nw.dtypes.DType:
        # Asked for again and again, and worked out anew each time.
        return self.series.dtype

    @cached_property
    def _objects(self) -> ListColumn:
        return ListColumn(self.name, self.series.to_list())

    def _integer_levels(self, declared: bool) -> Levels:
        series, missing = self.series, None
        if series.null_count():
            missing = series.is_null().to_numpy()
            series = series.fill_null(False if series.dtype == nw.Boolean else 0)
        # NumPy has no integers of 128 bits.
        values = None if series.dtype in (nw.Int128, nw.UInt128) else series.to_numpy()
        if values is not None and values.dtype.kind in "biu":
            return integer_levels(values, missing)
        return self._objects.levels(declared)


def refuse_unusable(name: str, kind: Any) -> None:
    """Raise if values of some type cannot be states."""
    if kind.is_temporal():
        if kind == nw.Duration:
            hint = "leave the column out, or turn it into numbers of days"
            raise unusable(name, "durations", hint)
        what = "times of day" if kind == nw.Time else "dates"
        raise unusable(name, what, Advice.LEAVE_OUT_DATES)
    usable = (nw.Categorical, nw.Enum, nw.String, nw.Boolean, *_OBJECTS)
    if kind not in usable and not kind.is_numeric():
        raise unusable(name, f"values of type {kind}")


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table of a data-frame package, and the package."""

    native: Any
    kind: nw.Implementation


def frame_source(table: Any) -> Source:
    """Take apart a table of pandas, Polars, PyArrow, Modin or whatever else narwhals knows.

    Columns that share a name, which narwhals refuses, do no harm until they are needed.
    """
    try:
        frame: nw.DataFrame[Any] = nw.from_native(table, eager_only=True)
        shared: dict[str, UnsoundColumn] = {}
    except DuplicateError:
        frame, shared = _with_different_names(table)
    except TypeError:
        got = f"an object of type {type(table).__module__}.{type(table).__qualname__}"
        hint = "give a data frame, a dictionary of lists, or a pair (array, names)"
        if isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame):
            hint = "collect the lazy table first"
        raise expected("a table in memory", "table", table, hint, got=got) from None
    columns = {series.name: SeriesColumn(series.name, series) for series in frame.iter_columns()}
    return Source({**columns, **shared}, len(table), Frame(table, frame.implementation))


def series_of(table: Any) -> list[nw.Series[Any]]:
    """Return the columns of a data frame, or none if narwhals does not know what it is.

    A table is recognised faster than each of its columns.
    """
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return list(frame.iter_columns()) if isinstance(frame, nw.DataFrame) else []


def _with_different_names(table: Any) -> tuple[nw.DataFrame[Any], dict[str, UnsoundColumn]]:
    """Return the columns that have a name of their own, and apart from them all others."""
    arrow = hasattr(table, "column_names")
    names = list(table.column_names if arrow else table.columns)
    errors = repeated_names(names)
    own = [k for k, name in enumerate(names) if name not in errors]
    frame: nw.DataFrame[Any] = nw.from_native(
        table.select(own) if arrow else table.iloc[:, own], eager_only=True
    )
    return frame, {name: UnsoundColumn(name, None, error) for name, error in errors.items()}


def categorised(frame: Frame, cut: Sequence[StateColumn]) -> Any:
    """Return a native table of the same kind with some columns made ordered categories."""
    native, kind = frame.native, frame.kind
    if kind.is_pandas_like():
        import pandas as pd

        made = pd.Categorical.from_codes
        return native.assign(
            **{each.name: made(each.codes, list(each.states), ordered=True) for each in cut}
        )
    if kind.is_polars():
        return native.with_columns([_enum(each) for each in cut])
    if not kind.is_pyarrow():
        raise NotSupportedError(f"Cutting a table of {kind}", "it has no known categories")
    import pyarrow as pa

    for each in cut:
        index = pa.array(each.codes, mask=each.codes < 0)
        column = pa.DictionaryArray.from_arrays(index, pa.array(each.states), ordered=True)
        native = native.set_column(native.column_names.index(each.name), each.name, column)
    return native


def refilled(frame: Frame, columns: Mapping[str, Array]) -> Any:
    """Return a native table of the same kind with columns of states replaced, or added at the end.

    Texts and categories keep their type, if all states have a place in it.
    """
    native, kind = frame.native, frame.kind
    if kind.is_pandas_like():
        made = {name: _typed_pandas(native, name, own) for name, own in columns.items()}
        return native.assign(**made)
    if kind.is_polars():
        return native.with_columns([_typed_polars(native, *each) for each in columns.items()])
    if not kind.is_pyarrow():
        raise NotSupportedError(f"Completing a table of {kind}", "its columns cannot be replaced")
    for name, own in columns.items():
        if name in native.column_names:
            place = native.column_names.index(name)
            native = native.set_column(place, name, [_typed_arrow(native[name].type, own)])
        else:
            native = native.append_column(name, [own.tolist()])
    return native


def _typed_pandas(native: Any, name: str, values: Array) -> Any:
    import pandas as pd

    kind = native[name].dtype if name in native else None
    if isinstance(kind, pd.CategoricalDtype):
        fits = set(values.tolist()) <= set(kind.categories)
        return pd.Categorical(values, dtype=kind) if fits else values
    return pd.array(values, dtype=kind) if isinstance(kind, pd.StringDtype) else values


def _typed_polars(native: Any, name: str, values: Array) -> Any:
    import polars as pl

    series = pl.Series(name, values.tolist())
    kind = native.schema.get(name)
    if kind is None or kind not in (pl.Categorical, pl.Enum, pl.String):
        return series
    same = series.cast(kind, strict=False)
    return series if same.null_count() else same


def _typed_arrow(kind: Any, values: Array) -> Any:
    import pyarrow as pa

    array = pa.array(values.tolist())
    text = pa.types.is_string(array.type)
    return array.dictionary_encode() if text and pa.types.is_dictionary(kind) else array


def _floats(series: nw.Series[Any]) -> Floats:
    if series.dtype != nw.Float64:
        series = series.cast(nw.Float64)
    floats: Floats = np.ascontiguousarray(series.to_numpy())
    if floats.dtype != np.float64:
        floats = np.array([np.nan if v is None or v != v else v for v in series.to_list()], float)
    return floats


def _object_string_levels(series: nw.Series[Any]) -> Levels | None:
    """Return the levels of Python strings in pandas, which tells them apart fastest; else None."""
    if not series.implementation.is_pandas_like() or series.dtype != nw.Object:
        return None
    try:
        codes, labels = series.to_pandas().factorize()
    except TypeError:  # something unhashable
        return None
    # Strings equal nothing but strings; 1, 1.0 and True are one label to pandas.
    return Levels(list(labels), codes) if all(isinstance(v, str) for v in labels) else None


def _string_levels(series: nw.Series[Any]) -> Levels:
    kind = series.implementation
    if kind.is_polars():
        import polars as pl

        native = series.to_native()
        labels = native.unique().drop_nulls().sort()
        codes = native.cast(pl.Enum(labels)).to_physical()
        return Levels(labels.to_list(), _polars_codes(codes))
    if kind.is_pyarrow():
        return arrow_levels(series.to_native().dictionary_encode(), closed=False)
    codes, labels = series.to_pandas().factorize()
    return Levels(labels.tolist(), codes)


def _category_levels(name: str, series: nw.Series[Any]) -> Levels:
    kind = series.implementation
    if kind.is_polars():
        return _polars_categories(series.to_native())
    if kind.is_pyarrow():
        return arrow_levels(series.to_native(), closed=True)
    values = series.to_pandas().array
    if not hasattr(values, "codes"):  # an Arrow dictionary inside pandas
        return arrow_levels(series.to_arrow(), closed=True)
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


def _polars_codes(physical: Any) -> Array:
    """Return physical codes as an array, -1 for missing."""
    import polars as pl

    if physical.null_count():
        physical = physical.cast(pl.Int64).fill_null(-1)
    codes: Array = physical.to_numpy()
    return codes


def arrow_levels(column: Any, closed: bool) -> Levels:
    """Return labels and codes of a dictionary array, which may come in chunks."""
    if hasattr(column, "unify_dictionaries") and column.num_chunks != 1:
        column = column.unify_dictionaries().combine_chunks()
    if hasattr(column, "chunks"):  # no rows: nothing to combine
        column = column.chunk(0)
    labels = column.dictionary.to_pylist()
    codes = column.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(-1)
    return Levels(labels, codes.to_numpy(zero_copy_only=False), closed)


def _enum(column: StateColumn) -> Any:
    import polars as pl

    index = pl.Series(column.codes)
    states = pl.Series(column.name, list(column.states), dtype=pl.Enum(list(column.states)))
    # A row without an index has no state.
    return states.gather(index.set(index < 0, None))

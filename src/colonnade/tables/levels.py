"""Levels: the labels of one column, and which of them each row has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import Advice, DataError, counted, did_you_mean, listing

# Integers within a range this wide are told apart by a table, others by sorting.
_MAX_TABLE_RANGE = 1 << 16
_MAX_SHOWN_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Levels:
    """A column as distinct labels, and the position of the label of each row.

    A label None means missing, or that no row has this position; the codes -1 and the number of
    labels mean missing as well. `closed` says that the labels are all possible states, in order.
    """

    labels: Sequence[Any]
    codes: NDArray[Any]
    closed: bool = False

    @property
    def present(self) -> list[Any]:
        """The labels without None; none at all in a column without values."""
        return [label for label in self.labels if label is not None]


def place(name: str) -> str:
    """Name a column for a message."""
    return f"Column {name!r}"


def column_error(name: str, problem: str, hint: str = "", **facts: Any) -> DataError:
    """Word what is wrong with a column."""
    return DataError(place(name), problem, hint, column=name, **facts)


def refuse_absent(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise unless a table with the columns `known` has all those wanted."""
    there = set(known)
    lost = tuple(dict.fromkeys(name for name in wanted if name not in there))
    if lost:
        problem = f"not in the table, which has {listing(known)}."
        hint = did_you_mean(lost[0], known)
        raise DataError(", ".join(map(place, lost)), problem, hint, columns=lost)


def refuse_missing(missing: Mapping[str, int], rows: int, hint: str) -> None:
    """Raise if columns of a table lack values; `missing` says how many, by name."""
    lacking = {name: n for name, n in missing.items() if n}
    if not lacking:
        return
    if len(lacking) == 1:
        (name, n), *_ = lacking.items()
        where, problem = place(name), f"the value is missing in {n:,} of {counted(rows, 'row')}."
    else:
        shown = [f"{name!r} ({n:,})" for name, n in lacking.items()]
        more = [f"... {len(shown) - _MAX_SHOWN_COLUMNS} more"] * (len(shown) > _MAX_SHOWN_COLUMNS)
        where = f"Columns {', '.join(shown[:_MAX_SHOWN_COLUMNS] + more)}"
        problem = f"values are missing in some of {counted(rows, 'row')}."
    raise DataError(where, problem, hint, columns=lacking, rows=rows)


def refuse_repeated(names: Sequence[Any]) -> None:
    """Raise unless all columns of a table have different names."""
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise column_error(name, f"the name occurs {times} times.", "rename or drop columns")


def unusable(name: str, kind: str, hint: str = "convert it to strings or integers") -> DataError:
    """Word the error for a column whose values cannot be states."""
    return column_error(name, f"{kind} are not states.", hint)


def integer_levels(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Levels:
    """Find the levels of a column of integers or booleans.

    Booleans always have both states, also in a sample without any True.
    """
    if values.dtype.kind == "b":
        codes = values.astype(np.int8)
        if missing is not None:
            codes[missing] = -1
        return Levels([False, True], codes, closed=True)
    if missing is not None:
        if missing.all():
            return Levels([], np.full(len(values), -1, dtype=np.int8))
        # Any value that is there will do: which rows are missing is restored below.
        values = np.where(missing, values[np.argmin(missing)], values)
    labels, codes = _integer_codes(values)
    if missing is not None:
        codes = np.where(missing, -1, codes)
    return Levels(labels, codes)


def _integer_codes(values: NDArray[Any]) -> tuple[list[int], NDArray[Any]]:
    if not values.size:
        return [], np.empty(0, dtype=np.int8)
    low, high = int(values.min()), int(values.max())
    if high - low >= _MAX_TABLE_RANGE:
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct.tolist(), codes
    from colonnade.kernels.counting import shift

    shifted = np.empty(len(values), dtype=np.int32)
    seen = np.zeros(high - low + 1, dtype=bool)
    shift(np.ascontiguousarray(values), values.dtype.type(low), shifted, seen)
    labels = (np.flatnonzero(seen).astype(object) + low).tolist()
    if len(labels) == len(seen):
        return labels, shifted
    ranks = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return labels, ranks[shifted]


def turned_float(values: NDArray[Any]) -> bool:
    """Whether floats are integers that lack some values, so that only NaN made them floats."""
    gaps = np.isnan(values)
    if not gaps.any():
        return False
    present = values[~gaps]
    return bool((np.abs(present) < 2**53).all() and (present == np.floor(present)).all())


def float_levels(name: str, values: NDArray[Any], declared: bool) -> Levels:
    """Find the levels of a column of floats, if it may have any.

    Floats are not states, with two exceptions: integers among which a missing value was written
    as NaN, and whole numbers for which states are declared.
    """
    values = values.astype(np.float64, copy=False)
    if not values.size:
        return Levels([], np.empty(0, dtype=np.int8))  # the type of an empty column means nothing
    gaps = np.isnan(values)
    if not declared and not turned_float(values):
        whole = np.isfinite(values).all() and (values == np.floor(values)).all()
        hint = Advice.CUT_OR_CONVERT if whole else Advice.CUT
        raise unusable(name, "floating-point numbers", hint)
    present, inverse = np.unique(values[~gaps], return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[~gaps] = inverse
    labels = [int(v) if math.isfinite(v) and v == int(v) else v for v in present.tolist()]
    return Levels(labels, codes)


def object_levels(name: str, values: Sequence[Any], declared: bool) -> Levels:
    """Find the levels of a column of Python objects; None, NaN and the like are missing."""
    kinds = set(map(type, values))
    boolean = bool({bool, np.bool_} & kinds)
    try:
        distinct = dict.fromkeys(values)
    except TypeError:
        raise unusable(name, f"values such as {_unhashable(values)}") from None
    present = [value for value in distinct if not _is_missing(value)]
    floats = any(isinstance(value, float | np.floating) for value in present)
    # By their types, because equal values such as True, 1 and 1.0 are one key of `distinct`.
    integers = any(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    if boolean and (floats or integers):
        raise unusable(name, "booleans mixed with numbers", "use strings for all of them")
    if floats:
        if not all(isinstance(value, int | float | np.number) for value in present):
            raise unusable(name, "floating-point numbers mixed with other values")
        return float_levels(name, np.array([_float(value) for value in values]), declared)
    numbers = dict.fromkeys(distinct, -1)
    numbers.update({value: code for code, value in enumerate(present)})
    codes = np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))
    labels = [value.item() if isinstance(value, np.generic) else value for value in present]
    if labels and all(isinstance(label, bool) for label in labels):
        table = np.array([*labels, -1], dtype=np.int8)
        return Levels([False, True], table[codes], closed=True)
    return Levels(labels, codes)


def object_numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return Python numbers as floats, missing ones NaN; None if there is anything else."""
    kinds = set(map(type, values))
    if any(issubclass(kind, str | bool | np.bool_) for kind in kinds):
        return None
    try:
        return np.array([_float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _float(value: Any) -> float:
    return math.nan if _is_missing(value) else float(value)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str | int):
        return False
    # pandas.NA refuses to say whether it differs from itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _unhashable(values: Sequence[Any]) -> str:
    for value in values:
        try:
            hash(value)
        except TypeError:
            return f"{value!r:.60}"
    return "these"

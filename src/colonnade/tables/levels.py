"""Levels: the labels of one column, and which of them each row has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import (
    Advice,
    DataError,
    FileFormatError,
    counted,
    did_you_mean,
    listing,
    row_at,
)
from colonnade.wording import joined

# Integers within a range this wide are told apart by a table, others by sorting.
_MAX_TABLE_RANGE = 1 << 16
_MAX_SHOWN_COLUMNS = 10
_MAX_SHOWN_VALUES = 5
# From here on a float may stand for several integers.
_FIRST_INEXACT = 2.0**53
# Python numbers that may have a fraction.
FRACTIONAL = (float, np.floating, Decimal, Fraction)


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


class Labelled(Protocol):
    """Labels, with or without rows that have them; see `Levels`."""

    @property
    def closed(self) -> bool:
        """Whether the labels are all possible states, in order."""

    @property
    def present(self) -> list[Any]:
        """The labels without None."""


def place(name: str) -> str:
    """Name a column for a message."""
    return f"Column {name!r}"


def places(columns: Iterable[str]) -> str:
    """Name columns, written already, for a message; of many only the first."""
    each = list(columns)
    more = [f"... {len(each) - _MAX_SHOWN_COLUMNS} more"] * (len(each) > _MAX_SHOWN_COLUMNS)
    noun = "Column" if len(each) == 1 else "Columns"
    return f"{noun} {', '.join(each[:_MAX_SHOWN_COLUMNS] + more)}"


def column_error(name: str, problem: str, hint: str = "", **facts: Any) -> DataError:
    """Word what is wrong with a column."""
    return DataError(place(name), problem, hint, column=name, **facts)


def no_rows() -> DataError:
    """Word the error for a table without rows, of which nothing can be learned."""
    return DataError("Table", "it has no rows.", "give at least one row")


def missing_weight(where: str, row: int) -> DataError:
    """Word the error for a row, given by its position, that has no weight."""
    problem = f"the weight in {row_at(row)} is missing."
    return DataError(where, problem, "use 0 for rows to leave out", row=row)


def refuse_absent(wanted: Sequence[str], known: Sequence[str], hint: str = "") -> None:
    """Raise unless a table with the columns `known` has all those wanted.

    The hint, which says who wants them, is for names that look like none of those known.
    """
    there = set(known)
    lost = tuple(dict.fromkeys(name for name in wanted if name not in there))
    if lost:
        problem = f"not in the table, which has {listing(known)}."
        hints = dict.fromkeys(filter(None, (_meant(name, known) for name in lost)))
        hint = " ".join(hints) or hint
        noun = "Column" if len(lost) == 1 else "Columns"
        where = f"{noun} {joined(map(repr, lost))}"
        raise DataError(where, problem, hint, columns=lost, absent=lost)


def _meant(name: str, known: Collection[str]) -> str:
    """Say what somebody may mean by a column that is not there."""
    several = {f"{name}.1", f"{name}.2"} <= set(known)
    own = f"several columns are called {name!r}: give each a name of its own" if several else ""
    return did_you_mean(name, known) or own


def refuse_missing(missing: Mapping[str, int], rows: int, hint: str) -> None:
    """Raise if columns of a table lack values; `missing` says how many, by name."""
    lacking = {name: n for name, n in missing.items() if n}
    if not lacking:
        return
    if len(lacking) == 1:
        (name, n), *_ = lacking.items()
        where, problem = place(name), f"the value is missing in {n:,} of {counted(rows, 'row')}."
    else:
        where = places(f"{name!r} ({n:,})" for name, n in lacking.items())
        problem = f"values are missing in some of {counted(rows, 'row')}."
    raise DataError(where, problem, hint, columns=lacking, rows=rows)


def repeated_names(names: Sequence[Any]) -> dict[Any, DataError]:
    """Return an error for each name that several columns of a table have."""
    hint = "rename or drop columns"
    return {
        name: column_error(name, f"the name occurs {times} times.", hint)
        for name, times in Counter(names).items()
        if times > 1
    }


def refuse_repeated(names: Sequence[Any], wanted: Iterable[Any] | None = None) -> None:
    """Raise unless columns of a table, all or those wanted, have names of their own."""
    errors = repeated_names(names)
    for name in names if wanted is None else wanted:
        if name in errors:
            raise errors[name]


def refuse_repeated_in(
    file: Path, names: Sequence[str], wanted: Iterable[str] | None = None
) -> None:
    """Raise unless columns of a file, all or those wanted, have names of their own."""
    times = Counter(names)
    for name in names if wanted is None else wanted:
        if times[name] > 1:
            problem = f"{times[name]} columns are called {name!r}."
            raise FileFormatError(str(file), "", problem, "give each column a name of its own")


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


def are_whole(values: NDArray[Any]) -> bool:
    """Whether floats are integers; missing ones, which make pandas use floats, are NaN."""
    present = values[~np.isnan(values)]
    return bool((np.abs(present) < _FIRST_INEXACT).all() and (present == np.floor(present)).all())


def float_levels(name: str, values: NDArray[Any], declared: bool = False) -> Levels:
    """Find the levels of a column of floats: whole numbers are integers, and others no states.

    Where states are declared, other numbers are levels that will not be among them.
    """
    values = values.astype(np.float64, copy=False)
    if not values.size:
        return Levels([], np.empty(0, dtype=np.int8))  # the type of an empty column means nothing
    if not declared and not are_whole(values):
        raise unusable(name, "floating-point numbers", Advice.CUT)
    gaps = np.isnan(values)
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
    present = [value for value in distinct if not is_missing(value)]
    floats = any(isinstance(value, FRACTIONAL) for value in present)
    # By their types, because equal values such as True, 1 and 1.0 are one key of `distinct`.
    integers = any(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    if boolean and (floats or integers):
        raise unusable(name, "booleans mixed with numbers", "use strings for all of them")
    if floats:
        others = [v for v in present if not isinstance(v, (int, np.number, *FRACTIONAL))]
        if others:
            shown = ", ".join(map(repr, others[:_MAX_SHOWN_VALUES]))
            more = len(others) - _MAX_SHOWN_VALUES
            shown += f" and {more} more" if more > 0 else ""
            problem = f"floating-point numbers mixed with other values ({shown})"
            raise unusable(name, problem, "correct them, or replace what means missing by None")
        return float_levels(name, np.array([as_float(value) for value in values]), declared)
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
        return np.array([as_float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def as_float(value: Any) -> float:
    """Return a Python number as a float: NaN if it is missing, infinite if it is too large."""
    if is_missing(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a value that is not there: None, NaN and the like."""
    if isinstance(value, str | int):
        return False
    # pandas.NA refuses to say whether it differs from itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False
    except ArithmeticError:  # a signaling NaN among decimals
        return True


def _unhashable(values: Sequence[Any]) -> str:
    for value in values:
        try:
            hash(value)
        except TypeError:
            return f"{value!r:.60}"
    return "these"

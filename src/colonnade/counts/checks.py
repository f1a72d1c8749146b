"""What makes an array a table of counts."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.exceptions import CountsError, InputError, amount, expected

_MAX_INT64 = 2**63 - 1
_HINT_ONE_ROW = "write [[3, 1]] for the counts of a single configuration"


def checked_values(counts: ArrayLike, parameter: str) -> Array:
    """Return a private int64 or float64 copy of an array of counts ``[..., state]``."""
    raw = _as_array(counts, parameter)
    if raw.ndim == 0:
        what = "an array [configuration, state]"
        raise expected(what, parameter, counts, _HINT_ONE_ROW, kind=CountsError)
    if raw.shape[-1] == 0:
        what = "at least one state in the last axis"
        raise expected(what, parameter, counts, got=f"shape {raw.shape}", kind=CountsError)
    return _floats(raw, parameter) if raw.dtype.kind == "f" else _integers(raw, parameter)


def checked_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the parent sizes of a dense table whose axes but the last are `shape`."""
    if not shape:
        what, got = "an array [configuration, state]", "one dimension"
        raise expected(what, "counts", shape, _HINT_ONE_ROW, got=got, kind=CountsError)
    if 0 in shape:
        hint = "give a row of zeros for a configuration without data"
        what, got = "at least one configuration", f"shape {shape} before the states"
        raise expected(what, "counts", shape, hint, got=got, kind=CountsError)
    return shape


def _as_array(counts: ArrayLike, parameter: str) -> Array:
    """Return counts as an array of bool, integers or floats."""
    if isinstance(counts, np.ma.MaskedArray) and np.ma.is_masked(counts):
        hint = "fill the masked cells first"
        raise expected("counts without masked cells", parameter, counts, hint, kind=CountsError)
    try:
        raw = np.asarray(counts)
    except (TypeError, ValueError):
        what = "rows of one length"
        raise expected(what, parameter, counts, kind=CountsError) from None
    if raw.dtype.kind == "O" and raw.ndim > 0:
        raw = _from_objects(raw, parameter)
    if raw.dtype.kind not in "biuf":
        raise expected("numbers", parameter, counts, kind=CountsError)
    return raw


def _from_objects(raw: Array, parameter: str) -> Array:
    """Turn an array of Python numbers into one of integers or floats; leave any other."""
    if all(isinstance(value, numbers.Integral) for value in raw.flat):
        try:
            return raw.astype(np.int64)
        except OverflowError:
            raise _too_large(parameter, max(raw.flat, key=abs)) from None
    if all(isinstance(value, numbers.Real) for value in raw.flat):
        return raw.astype(np.float64)
    return raw


def _integers(raw: Array, parameter: str) -> Integers:
    values: Integers = raw.astype(np.int64, order="C")
    # As unsigned numbers, negative ones are huge: one pass finds both kinds of errors.
    if values.size and values.view(np.uint64).max() > _MAX_INT64 // values.size:
        if raw.dtype.kind == "u" and raw.max() > _MAX_INT64:
            raise _too_large(parameter, raw.max())
        if values.min() < 0:
            raise _bad_cell("counts of 0 or more", parameter, values, values < 0)
        total = sum(values.ravel().tolist())
        if total > _MAX_INT64:
            raise _too_large(parameter, total)
    return values


def _floats(raw: Array, parameter: str) -> Floats:
    with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is refused below
        values: Floats = raw.astype(np.float64, order="C")
        total = values.sum()
    if values.size and not (values.min() >= 0 and math.isfinite(total)):
        if not np.isfinite(values).all():
            raise _bad_cell("finite counts", parameter, values, ~np.isfinite(values))
        if values.min() < 0:
            raise _bad_cell("counts of 0 or more", parameter, values, values < 0)
        raise expected("counts with a finite total", parameter, total.item(), kind=CountsError)
    return values


def _too_large(parameter: str, value: Any) -> InputError:
    what, hint = "integer counts with a total below 2**63", "give them as floating-point numbers"
    return expected(what, parameter, value, hint, got=amount(abs(int(value))), kind=CountsError)


def _bad_cell(what: str, parameter: str, values: Array, bad: NDArray[np.bool_]) -> CountsError:
    """Word the error for the first bad cell."""
    cell = tuple(np.argwhere(bad)[0].tolist())
    *codes, state = cell
    configuration = codes[0] if len(codes) == 1 else tuple(codes)
    value = values[cell].item()
    error = CountsError(
        f"Expected {what} for `{parameter}`, got {value} at "
        f"configuration {configuration}, state {state}.",
        parameter=parameter,
        value=value,
    )
    error.configuration, error.state = configuration, state
    return error

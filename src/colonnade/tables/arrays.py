"""Columns without a data-frame package: lists, NumPy arrays, and codes of known states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.exceptions import DataError
from colonnade.tables.levels import (
    Levels,
    float_levels,
    integer_levels,
    object_levels,
    object_numbers,
    place,
    unusable,
)


@dataclass(frozen=True, eq=False)
class ListColumn:
    """A column of Python objects; None, NaN and the like are missing."""

    name: str
    values: list[Any]
    text = False

    def levels(self, declared: bool) -> Levels:
        return object_levels(self.name, self.values, declared)

    @cached_property
    def numbers(self) -> Floats | None:
        return object_numbers(self.values)

    @property
    def floating(self) -> bool:
        kinds = set(map(type, self.values))
        floats = any(issubclass(kind, float | np.floating) for kind in kinds)
        return floats and self.numbers is not None

    def weights(self) -> Array:
        return np.asarray(self.values)


@dataclass(frozen=True, eq=False)
class ArrayColumn:
    """A NumPy array of numbers, booleans or strings; masked entries are missing."""

    name: str
    values: Array
    text = False

    def levels(self, declared: bool) -> Levels:
        kind = self.values.dtype.kind
        if kind in "biu":
            return integer_levels(np.ma.getdata(self.values), self._missing)
        if kind == "f":
            return float_levels(self.name, self._floats, declared)
        if kind in "UT":
            return object_levels(self.name, objects(self.values), declared)
        raise unusable(self.name, f"values of type {self.values.dtype}")

    @property
    def numbers(self) -> Floats | None:
        return self._floats if self.values.dtype.kind in "iuf" else None

    @property
    def floating(self) -> bool:
        return self.values.dtype.kind == "f"

    def weights(self) -> Array:
        if self._missing is not None:
            raise DataError(place(self.name), "weights are missing.", column=self.name)
        return np.asarray(self.values)

    @property
    def _missing(self) -> NDArray[np.bool_] | None:
        return np.ma.getmaskarray(self.values) if np.ma.is_masked(self.values) else None

    @property
    def _floats(self) -> Floats:
        floats = np.ma.getdata(self.values).astype(np.float64, copy=False)
        return floats if self._missing is None else np.where(self._missing, np.nan, floats)


@dataclass(frozen=True, eq=False)
class StateColumn:
    """States whose codes are known already: intervals of numbers, or a column of a CodedTable.

    The codes are positions of states; -1 and the number of states both mean missing.
    """

    name: str
    states: Sequence[Any]
    codes: Array
    text = False
    floating = False
    numbers = None

    def levels(self, declared: bool) -> Levels:
        return Levels(self.states, self.codes, closed=True)

    @cached_property
    def values(self) -> Array:
        states: Array = np.array([*self.states, None], dtype=object)[self.codes]
        return states

    def weights(self) -> Array:
        return self.values


def objects(array: Array) -> list[Any]:
    """Return an array as Python objects, masked ones None."""
    values: list[Any] = np.ma.getdata(array).tolist()
    if np.ma.is_masked(array):
        gaps = np.ma.getmaskarray(array)
        values = [None if gap else v for v, gap in zip(values, gaps, strict=True)]
    return values

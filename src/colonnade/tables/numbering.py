"""TextNumbers: the distinct texts of one column of a file, numbered as they pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array

_FIRST_TEXTS, _FIRST_BYTES = 64, 1 << 10


class TextNumbers:
    """Distinct texts, with their numbers and the rows of each; blocks of rows are added to it.

    Examples
    --------
    >>> numbers = TextNumbers()
    >>> data = np.frombuffer(b"yesnoyes", np.uint8)
    >>> ends = np.array([0, 3, 5, 8], np.int32)
    >>> numbers.add(ends[:-1], ends[1:], data).tolist()
    [0, 1, 0]
    >>> numbers.texts, numbers.rows.tolist()
    (['yes', 'no'], [2, 1])
    """

    def __init__(self) -> None:
        self._slots = np.full(2 * _FIRST_TEXTS, -1, np.int32)
        self._words = np.empty(_FIRST_TEXTS, np.uint64)
        self._spans = np.empty((_FIRST_TEXTS, 2), np.int64)
        self._rows = np.zeros(_FIRST_TEXTS, np.int64)
        self._arena = np.empty(_FIRST_BYTES, np.uint8)
        self._found = np.zeros(2, np.int64)
        self._texts: list[str] = []

    def add(
        self, begins: NDArray[np.int32], ends: NDArray[np.int32], data: NDArray[np.uint8]
    ) -> NDArray[np.int32]:
        """Return the number of the text of each row, given by where it is in the data."""
        from colonnade.kernels.texts import number_texts

        begins, ends, data = read_only(begins), read_only(ends), read_only(data)
        numbers = np.empty(len(begins), np.int32)
        done = 0
        while True:
            done = number_texts(
                begins, ends, data, done, self._slots, self._words, self._spans, self._arena,
                self._found, numbers, self._rows,
            )  # fmt: skip
            if done == len(numbers):
                return numbers
            self._grow(int(ends[done] - begins[done]))

    @property
    def texts(self) -> list[str]:
        """The distinct texts, in the order of their numbers."""
        for number in range(len(self._texts), len(self)):
            begin, length = self._spans[number].tolist()
            self._texts.append(self._arena[begin : begin + length].tobytes().decode())
        return self._texts

    @property
    def rows(self) -> NDArray[np.int64]:
        """Number of rows of each text."""
        return self._rows[: len(self)]

    def __len__(self) -> int:
        return int(self._found[0])

    def _grow(self, length: int) -> None:
        """Make room for twice as many texts, and for one of this length."""
        from colonnade.kernels.texts import place_texts

        found, used = self._found.tolist()
        if found == len(self._words):
            self._words = _enlarged(self._words, 2 * found)
            self._spans = _enlarged(self._spans, 2 * found)
            self._rows = _enlarged(self._rows, 2 * found)
            self._rows[found:] = 0
            self._slots = np.full(4 * found, -1, np.int32)
            place_texts(self._words, self._spans, self._found, self._slots)
        if used + length > len(self._arena):
            self._arena = _enlarged(self._arena, 2 * (used + length))


def read_only(array: Array) -> Array:
    """Return an array as one that cannot be changed: kernels are compiled for one of both kinds."""
    found = array.view()
    found.setflags(write=False)
    return found


def _enlarged(array: Array, size: int) -> Array:
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger

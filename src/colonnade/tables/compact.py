"""CompactColumns: codes of all rows, a byte each where that fits, in memory or on disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from colonnade.arrays import Array
from colonnade.exceptions import DataError
from colonnade.tables.coded import code_type
from colonnade.tables.coding import translated

_ZEROS = np.zeros(1 << 20, np.uint8)


class CompactColumns:
    """Columns of codes that come in blocks; more than `memory` bytes of them go to disk.

    Files on disk have no name from the moment they are opened: nobody else sees them, and the
    system removes them when the process ends, however it does. They are written and read block by
    block, and mapped into memory only when they are complete.

    Examples
    --------
    >>> with CompactColumns(memory=0) as store:
    ...     store.add([np.array([0, 1], np.uint8)])
    ...     store.add([np.array([1, 2, 1], np.uint16)])
    ...     [column.tolist() for column in store.recoded([np.array([1, 0, 2], np.uint8)], [3])]
    [[1, 0, 0, 2, 0]]
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._blocks: deque[list[Array | _Spilled]] = deque()
        self._bytes = self._rows = 0
        self._spill: IO[bytes] | None = None

    def add(self, codes: Sequence[Array]) -> None:
        """Add a block of rows."""
        self._rows += len(codes[0])
        self._bytes += sum(column.nbytes for column in codes)
        self._blocks.append(list(codes))
        if self._bytes > self._memory:
            if self._spill is None:
                self._spill = _nameless()
                for k, block in enumerate(self._blocks):
                    self._blocks[k] = [_spilled(self._spill, column) for column in block]
            else:
                self._blocks[-1] = [_spilled(self._spill, column) for column in codes]

    def recoded(self, places: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
        """Return the columns with other codes, each in the narrowest type, not writeable.

        `places` has the new code of every old one, from 0 to the size of the column. The blocks
        are given up on the way, so that no row is kept twice.
        """
        kinds = [np.dtype(code_type(size)) for size in sizes]
        widths = [-(-kind.itemsize * self._rows // 4) * 4 for kind in kinds]  # all aligned
        if sum(widths) <= self._memory or not self._rows:
            columns = [np.empty(self._rows, kind) for kind in kinds]
            for low, block in self._taken():
                for column, old, table in zip(columns, block, places, strict=True):
                    column[low : low + len(old)] = translated(old, table)
        else:
            begins = np.cumsum([0, *widths])[:-1].tolist()
            with _nameless() as file:
                _reserve(file, sum(widths))
                for low, block in self._taken():
                    for k, (old, table) in enumerate(zip(block, places, strict=True)):
                        fresh = np.ascontiguousarray(translated(old, table), dtype=kinds[k])
                        with _room():
                            file.seek(begins[k] + low * kinds[k].itemsize)
                            _write(file, fresh)
                whole = np.memmap(file, np.uint8, "r", shape=(sum(widths),))
            columns = [
                whole[low : low + self._rows * kind.itemsize].view(kind)
                for low, kind in zip(begins, kinds, strict=True)
            ]
        for column in columns:
            column.setflags(write=False)
        return columns

    def _taken(self) -> Iterator[tuple[int, list[Array]]]:
        """Yield the blocks, each with the number of its first row, and forget them."""
        low = 0
        while self._blocks:
            block = [
                each.read(self._spill) if isinstance(each, _Spilled) else each
                for each in self._blocks.popleft()
            ]
            yield low, block
            low += len(block[0])

    def __enter__(self) -> CompactColumns:
        return self

    def __exit__(self, *error: object) -> None:
        """Give up the blocks."""
        self._blocks.clear()
        if self._spill is not None:
            self._spill.close()


class _Spilled(NamedTuple):
    """A part of a column that was written to a file."""

    begin: int
    rows: int
    kind: np.dtype[Any]

    def read(self, file: IO[bytes] | None) -> Array:
        assert file is not None  # it was written there
        file.seek(self.begin)
        return np.fromfile(file, self.kind, self.rows)


def _spilled(file: IO[bytes], column: Array | _Spilled) -> _Spilled:
    """Write a part of a column to the end of a file."""
    if isinstance(column, _Spilled):
        return column
    with _room():
        begin = file.seek(0, os.SEEK_END)
        _write(file, np.ascontiguousarray(column))
    return _Spilled(begin, len(column), column.dtype)


def _nameless() -> IO[bytes]:
    with _room():
        # Without a buffer, which would be written again when the file is closed for lack of room.
        return tempfile.TemporaryFile(buffering=0)


def _write(file: IO[bytes], column: Array) -> None:
    left = column.view(np.uint8)
    while left.size:
        left = left[file.write(left.data) :]


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file so large, now: where a mapped file finds no room later, the process dies."""
    with _room():
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        for low in range(0, size, len(_ZEROS)):
            _write(file, _ZEROS[: size - low])


@contextmanager
def _room() -> Iterator[None]:
    """Let the error of a full disk say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        where = f"Folder {tempfile.gettempdir()!r}"
        hint = "name another folder by the environment variable TMPDIR, or allow more memory"
        raise DataError(where, "no room for the columns of the table.", hint) from error

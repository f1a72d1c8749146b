"""CompactColumns: codes of all rows, a byte each where that fits, in memory or on disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from colonnade.arrays import Array
from colonnade.exceptions import DataError
from colonnade.tables.coded import code_type
from colonnade.tables.coding import translated

# Bytes that a table may take in memory before its columns are kept on disk.
DEFAULT_MEMORY = 1_000_000_000
_ZEROS = bytes(1 << 20)


class CompactColumns:
    """Columns of codes that come in blocks; more than `memory` bytes of them go to disk.

    Files on disk have no name from the moment they are opened: nobody else sees them, and the
    system removes them when the process ends, however it does.

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
        self._blocks: list[list[Array]] = []
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
                self._blocks = [_spilled(self._spill, block) for block in self._blocks]
            else:
                self._blocks[-1] = _spilled(self._spill, self._blocks[-1])

    def recoded(self, places: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
        """Return the columns with other codes, each in the narrowest type, not writeable.

        `places` has the new code of every old one, from 0 to the size of the column.
        """
        kinds = [np.dtype(code_type(size)) for size in sizes]
        columns = _columns(kinds, self._rows, self._memory)
        low = 0
        for block in self._blocks:
            high = low + len(block[0])
            for column, old, table in zip(columns, block, places, strict=True):
                column[low:high] = translated(old, table)
            low = high
        for column in columns:
            column.setflags(write=False)
        return columns

    def __enter__(self) -> CompactColumns:
        return self

    def __exit__(self, *error: object) -> None:
        """Give up the blocks."""
        self._blocks = []
        if self._spill is not None:
            self._spill.close()


def _columns(kinds: Sequence[np.dtype[Any]], rows: int, memory: int) -> list[Array]:
    """Make empty columns, in memory or in a file without a name."""
    widths = [-(-kind.itemsize * rows // 4) * 4 for kind in kinds]  # aligned for every width
    if sum(widths) <= memory or not rows:
        return [np.empty(rows, kind) for kind in kinds]
    with _nameless() as file:
        _reserve(file, sum(widths))
        whole = np.memmap(file, np.uint8, "r+", shape=(sum(widths),))
    begins = np.cumsum([0, *widths]).tolist()
    pairs = zip(begins, kinds, strict=False)
    return [whole[low : low + rows * kind.itemsize].view(kind) for low, kind in pairs]


def _spilled(file: IO[bytes], block: Sequence[Array]) -> list[Array]:
    """Write a block to the end of a file, and return it as it is there."""
    begin = file.seek(0, os.SEEK_END)
    with _room():
        for column in block:
            file.write(np.ascontiguousarray(column).data)
        file.flush()
    there = []
    size = sum(column.nbytes for column in block)
    whole = np.memmap(file, np.uint8, "r", begin, (size,)) if size else np.empty(0, np.uint8)
    low = 0
    for column in block:
        there.append(whole[low : low + column.nbytes].view(column.dtype))
        low += column.nbytes
    return there


def _nameless() -> IO[bytes]:
    with _room():
        return tempfile.TemporaryFile()


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file so large, now: where a mapped file finds no room later, the process dies."""
    with _room():
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        for low in range(0, size, len(_ZEROS)):
            file.write(_ZEROS[: size - low])
        file.flush()


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

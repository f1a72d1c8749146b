"""Numbers of new rows that may stand for a missing value, where cut points say what is usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, DataWarning, warn
from colonnade.tables.countable import scanned_of
from colonnade.tables.cuts import Cuts
from colonnade.tables.engines import Engine
from colonnade.tables.levels import place
from colonnade.tables.remarks import number_code
from colonnade.tables.sources import Column, source_of
from colonnade.tables.weighing import weighted


class _Ends:
    """The two least and the two largest numbers so far, with their rows.

    Cut points are numbers that no row has: so one row is enough to tell what is far from them.
    """

    def __init__(self, points: Iterable[float]) -> None:
        self._numbers: Floats = np.array([*points], np.float64)
        self._rows: Array = np.zeros(len(self._numbers), np.int64)

    def add(self, numbers: Floats) -> None:
        """Add the numbers of some rows; missing ones are NaN."""
        found, rows = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
        # Of a number at either end no row was dropped before.
        values, back = np.unique(np.concatenate([self._numbers, found]), return_inverse=True)
        times = np.bincount(back, np.concatenate([self._rows, rows]), len(values))
        ends = np.unique(np.r_[0:2, -2:0] % max(1, len(values)))[: len(values)]
        self._numbers, self._rows = values[ends], times[ends].astype(np.int64)

    @property
    def doubt(self) -> str:
        """What number may stand for a missing value, in words; empty if none looks like it."""
        return number_code(self._numbers, self._rows)


def warn_of_codes(table: Any, cuts: Iterable[Cuts]) -> None:
    """Say which numbers of columns that are to be cut may stand for a missing value.

    Rows that are not in memory pass by for it.
    """
    ends = {cut.name: _Ends(cut.points) for cut in cuts}
    for columns in _columns(table, ends):
        for column in columns:
            if (numbers := column.numbers) is not None:
                ends[column.name].add(numbers)
    doubts = [f"{place(name)}: {each.doubt}." for name, each in ends.items() if each.doubt]
    if doubts:
        warn(DataWarning(" ".join(doubts), Advice.CHOOSE_CODES))


def _columns(table: Any, wanted: Iterable[str]) -> Iterator[list[Column]]:
    """Yield the wanted columns that a table has, block by block."""
    scanned = scanned_of(table)
    if scanned is None:
        columns = source_of(table).columns
        yield [columns[name] for name in wanted if name in columns]
        return
    names = [name for name in scanned.names if name in wanted]
    if names:
        parts = scanned if isinstance(scanned, Engine) else scanned.parts
        for block, _ in weighted(parts, names, None, "Reading"):
            yield [block.columns[name] for name in names]

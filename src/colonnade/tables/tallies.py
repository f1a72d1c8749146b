"""Tallies: the different values of the columns of a table that is not in memory, with their rows.

That is all that `inspect` asks of a column. Files and engines in this process pass by once, and
other engines are asked for the groups of each column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import ColonnadeError
from colonnade.tables.countable import scanned_of
from colonnade.tables.cuts import Cuts
from colonnade.tables.engines import ROWS, Engine
from colonnade.tables.frames import SeriesColumn
from colonnade.tables.levels import Levels, as_float, float_levels
from colonnade.tables.parts import LabelTrack, Track
from colonnade.tables.scanning import Scanned
from colonnade.tables.sketches import MAX_EXACT
from colonnade.tables.sources import Column, Times
from colonnade.tables.states import Seen
from colonnade.tables.text_files import TextTrack
from colonnade.tables.weighing import weighted

# What is kept of one value takes so many bytes, and of each column at least so many values are.
_BYTES_PER_VALUE, _LEAST_KEPT = 128, 1 << 14


@dataclass(frozen=True, eq=False)
class DistinctColumn:
    """A column with one row for each of its different values, of which `times` says how many.

    The codes are positions of labels; -1 is the row of all that is missing.
    """

    name: str
    labels: Sequence[Any]
    codes: Array
    closed: bool = False
    number_type: type[int] | type[float] | None = None
    times: Times | None = None
    unread: bool = True
    text = False

    @property
    def values(self) -> list[Any]:
        """The different values."""
        return [*self.labels]

    @property
    def numbers(self) -> Floats | None:
        """Numbers as floats, a missing one NaN; None if it is not numeric."""
        if self.number_type is None:
            return None
        numbers: Floats = np.array([*map(as_float, self.labels), np.nan])[self.codes]
        return numbers

    def levels(self, declared: bool) -> Levels:
        """Return labels and codes; numbers with fractions are levels only if declared."""
        if self.number_type is float:
            assert self.numbers is not None
            return float_levels(self.name, self.numbers, declared)
        return Levels(self.labels, self.codes, self.closed)

    def weights(self) -> Array:
        """Not asked: values that stand for many rows are no weights."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Tally:
    """One column: its different values, the rows of each, and texts that stood for missing ones.

    `more` says that there are more values than are kept. What is wrong with the column is `error`.
    """

    column: Column
    rows: Array
    codes: Mapping[str, int] = field(default_factory=dict)
    more: bool = False
    error: ColonnadeError | None = None


@dataclass(frozen=True, eq=False)
class Tallies:
    """The columns of a table, which stays where it is; of each no more than `most` values."""

    table: Scanned | Engine
    rows: int
    columns: Mapping[str, Tally]
    most: int

    def cut(self, wanted: Mapping[str, int | Cuts]) -> dict[str, tuple[Cuts, list[int]]]:
        """Cut columns of more numbers than are kept; return the rows of each interval, too."""
        from colonnade.tables.bins import Bins
        from colonnade.tables.countable import countable
        from colonnade.tables.discretizing import Discretizer

        if not wanted:
            return {}
        cuts = self.table.cut_points(Bins(None, wanted), "quantile", None)
        names = [each.name for each in cuts]
        rows = countable(Discretizer(cuts).cut(self.table), columns=names)
        counts = rows.counts([(name,) for name in names], "available")
        totals = [each.state_totals.tolist() for each in counts]
        return dict(zip(names, zip(cuts, totals, strict=True), strict=True))


def tallies_of(table: Any) -> Tallies | None:
    """Look at a table whose rows are not in memory, unless that was done; None of all others."""
    if isinstance(table, Tallies):
        return table
    scanned = scanned_of(table)
    return None if scanned is None else tallied(scanned)


def tallied(table: Scanned | Engine, but: Collection[str] = (), tell: bool = True) -> Tallies:
    """Find the different values of all columns, `but` for some, in one pass or one request.

    What was guessed about texts is told, unless it is going to be when the rows are counted.
    """
    names = [name for name in table.names if name not in but]
    fitting = table.memory.size // (_BYTES_PER_VALUE * max(1, len(names)))
    most = min(MAX_EXACT, max(_LEAST_KEPT, fitting))
    counting = {name: _Counting(name, _track(table, name), most) for name in names}
    if isinstance(table, Scanned) or table.embedded:
        found = _passed(table, names)
    else:
        found = _asked(table, names)
    for column, times in found:
        counting[column.name].add(column, times)
    if tell and isinstance(table, Scanned):
        tracks = {name: each.track for name, each in counting.items() if each.error is None}
        table.parts.remark(tracks)
    rows = counting[names[0]].total if names else 0
    return Tallies(table, rows, {name: each.tally for name, each in counting.items()}, most)


def _track(table: Scanned | Engine, name: str) -> Track:
    if isinstance(table, Scanned):
        return table.parts.track(name, True, None)
    return LabelTrack(name, True)


def _passed(table: Scanned | Engine, names: Sequence[str]) -> Iterator[tuple[Column, int | Array]]:
    """Yield the columns of all blocks, with the number of their rows."""
    parts = table.parts if isinstance(table, Scanned) else table
    for block, _ in weighted(parts, names, None, "Reading"):
        for name in names:
            yield block.columns[name], block.rows


def _asked(engine: Engine, names: Sequence[str]) -> Iterator[tuple[Column, int | Array]]:
    """Yield the groups of each column, with the rows of each."""
    inside = {name: f"c{k}" for k, name in enumerate(names)}
    frame = engine.frame.select(*(nw.col(name).alias(own) for name, own in inside.items()))
    with engine.answering():
        found = engine.grouped(frame, [[own] for own in inside.values()], weighted=False)
    for (name, own), groups in zip(inside.items(), found, strict=True):
        times = np.asarray(groups[ROWS].to_numpy(), dtype=np.int64)
        yield SeriesColumn.of(name, groups[own].to_native()), times


class _Counting:
    """The values of one column so far, up to as many as are kept."""

    def __init__(self, name: str, track: Track, most: int) -> None:
        self.name, self.track, self._most = name, track, most
        self.error: ColonnadeError | None = None
        self.total = 0
        self._rows = np.zeros(0, np.int64)
        self._more = False
        self._dates: set[Any] = set()
        self._dated = 0

    def add(self, column: Column, rows: int | Array) -> None:
        """Add some rows, or groups of rows with the number of each."""
        times = None if isinstance(rows, int) else rows
        self.total += int(np.sum(rows))
        if self.error is not None or self._more:
            return
        try:
            if column.times is not None:
                self._add_dates(column.values, times)
            else:
                self._add(self.track.codes(column), times)
        except ColonnadeError as error:
            self.error = error

    def _add(self, codes: Array, times: Array | None) -> None:
        found = np.bincount(codes, times, minlength=len(self.track)).astype(np.int64)
        found[: len(self._rows)] += self._rows
        self._rows = found
        self._more = len(found) > self._most

    def _add_dates(self, values: Any, times: Array | None) -> None:
        dates = nw.from_native(values, series_only=True)
        there = ~dates.is_null().to_numpy()
        self._dated += int(there.sum() if times is None else times[there].sum())
        self._dates.update(dates.drop_nulls().unique().to_list())

    @property
    def tally(self) -> Tally:
        """All that was found."""
        nothing = np.zeros(0, np.int64)
        if self.error is not None or self._dates:
            times = Times(len(self._dates), self._dated) if self._dates else None
            column = DistinctColumn(self.name, (), nothing, times=times)
            return Tally(column, nothing, error=self.error)
        seen = self.track.seen(self._rows.tolist())
        codes = self.track.reading.missing if isinstance(self.track, TextTrack) else {}
        return Tally(*_distinct(seen), codes, self._more)


def _distinct(seen: Seen) -> tuple[DistinctColumn, Array]:
    """Return the labels of a column, each once, and the rows of those that have any."""
    rows: dict[Any, int] = {}
    for label, own in zip(seen.labels, seen.rows, strict=True):
        # True and 1 are equal to Python, but not the same state.
        key = (isinstance(label, bool), label)
        rows[key] = rows.get(key, 0) + own
    missing = rows.pop((False, None), 0)
    if rows and all(boolean for boolean, _ in rows):
        rows = {key: rows.get(key, 0) for key in ((True, False), (True, True))}
    closed = seen.closed or (True, False) in rows
    times = np.array([*rows.values(), missing], np.int64)
    there = np.flatnonzero(times)
    codes = np.where(there == len(rows), -1, there)
    labels = [label for _, label in rows]
    column = DistinctColumn(seen.name, labels, codes, closed, seen.number_type, unread=seen.unread)
    return column, times[there]

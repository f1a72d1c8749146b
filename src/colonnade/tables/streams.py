"""Streamed: a table that passes by in parts, counted on the way.

Counting does not wait for the states. Labels are numbered as they come, families are counted in
these numbers, block by block, and when all rows have passed `Coding` says what each label is. So
states and counts take one pass together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from colonnade.arrays import Array
from colonnade.counts import FamilyCounts
from colonnade.tables.asked import Asked
from colonnade.tables.bounds import Memory
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import translated
from colonnade.tables.compact import CompactColumns
from colonnade.tables.countable import Countable, Members
from colonnade.tables.counting import count_families
from colonnade.tables.elsewhere import Elsewhere, Known
from colonnade.tables.parts import Parts, Track
from colonnade.tables.states import Coding
from colonnade.tables.weighing import weighted
from colonnade.variables import Family, Variable

# Counts of blocks that wait to be added up: adding sorts them.
_MAX_WAITING = 16
# Smaller blocks are put together: planning what to count takes as long as some thousand rows.
_MIN_ROWS = 1 << 17


class Streamed(Elsewhere[Known]):
    """Rows of files: nothing is read before something is asked, and then block by block.

    Parameters
    ----------
    parts : Parts
    asked : Asked
    memory : Memory
        Bytes that the table may take here.
    """

    def __init__(self, parts: Parts, asked: Asked, memory: Memory) -> None:
        super().__init__(parts.names, asked)
        self._parts, self.memory = parts, memory

    # ------------------------------------------------------------------------ verbs

    def only_complete(self) -> Countable:
        """Return the rows that have all their values: those of the compact columns."""
        return self.settled().only_complete()

    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families in one pass, which finds the states as well."""
        chosen = self._positions(families)
        tally = _Tally(self.names, chosen, self.memory.waiting)
        tracks = self._tracks()
        rows, total = 0, 0.0
        for codes, weights in self._coded_parts(tracks):
            tally.add(codes, [len(track) for track in tracks.values()], weights)
            rows += len(codes[0])
            total += len(codes[0]) if weights is None else float(weights.sum())
        self._settle(tracks, tally.rows_of_labels(len(self.names)), rows, total)
        if missing == "raise":
            self._refuse_gaps(chosen)
        coding = self._coding
        return [tally.counts(f, coding) for f in range(len(families))]

    def settled(self) -> CodedTable:
        """Return the table as compact columns, in memory or on disk, made in one pass."""
        tracks, tally = self._tracks(), _Tally(self.names, [], self.memory.waiting)
        weights: list[Array] = []
        rows = 0
        with CompactColumns(self.memory.size) as store:
            for codes, own in self._coded_parts(tracks):
                store.add(codes)
                tally.add(codes, [len(track) for track in tracks.values()], None)
                rows += len(codes[0])
                weights += [] if own is None else [own]
            total = float(sum(own.sum() for own in weights)) if self.weighted else float(rows)
            self._settle(tracks, tally.rows_of_labels(len(self.names)), rows, total)
            coding = self._coding
            sizes = [variable.cardinality for variable in coding.variables]
            columns = store.recoded(coding.places, sizes)
        joined = np.concatenate(weights) if weights else None
        variables, cuts = coding.variables, self.discretizer
        return CodedTable(variables, tuple(columns), joined, cuts, coding.unknown, self.memory)

    def _blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in order; their states were found by a pass before."""
        coding = self._coding
        tracks = self._tracks()
        for codes, weights in self._coded_parts(tracks):
            # A second pass meets the labels in the order of the first.
            columns = map(translated, codes, coding.places)
            yield CodedTable(coding.variables, tuple(columns), weights, self.discretizer)

    # ---------------------------------------------------------------------- private

    def _again(self, asked: Asked) -> Streamed:
        return Streamed(self._parts, asked, self.memory)

    def _tracks(self) -> dict[str, Track]:
        cutter = self.discretizer
        tracks: dict[str, Track] = {}
        for name in self.names:
            declared = name in self._declared
            cut = cutter.get(name) if cutter else None
            tracks[name] = self._parts.track(name, declared, cut)
        return tracks

    def _coded_parts(
        self, tracks: Mapping[str, Track]
    ) -> Iterator[tuple[list[Array], Array | None]]:
        """Yield numbers of labels, column by column, and weights, enough rows at a time."""
        columns: list[list[Array]] = []
        weights: list[Array] = []
        rows = 0
        enough = min(_MIN_ROWS, self.memory.block_rows(len(self.names)))
        for codes, own in self._small_parts(tracks):
            columns.append(codes)
            weights += [] if own is None else [own]
            rows += len(codes[0])
            if rows >= enough:
                yield _joined(columns, weights)
                columns, weights, rows = [], [], 0
        if columns:
            yield _joined(columns, weights)

    def _small_parts(
        self, tracks: Mapping[str, Track]
    ) -> Iterator[tuple[list[Array], Array | None]]:
        for block, weights in weighted(self._parts, self.names, self._asked.weights, "Reading"):
            yield [track.codes(block.columns[name]) for name, track in tracks.items()], weights

    def _settle(
        self, tracks: Mapping[str, Track], times: Sequence[Sequence[int]], rows: int, total: float
    ) -> None:
        """Find the states after a pass."""
        if not self._told:
            self._parts.remark(tracks)
        seen = [track.seen(own) for track, own in zip(tracks.values(), times, strict=True)]
        self._found = Known(self._settled_coding(seen, rows), rows, total)


def _joined(columns: list[list[Array]], weights: list[Array]) -> tuple[list[Array], Array | None]:
    if len(columns) == 1:
        return columns[0], weights[0] if weights else None
    together = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    return together, np.concatenate(weights) if weights else None


def _widened(values: Array, states: int) -> Array:
    """Add columns of zeros for states that were found later."""
    more = states - values.shape[1]
    return np.pad(values, ((0, 0), (0, more))) if more else values


class _Tally:
    """Counts of families in numbers of labels, added up block by block."""

    def __init__(
        self, names: Sequence[str], families: Sequence[tuple[int, ...]], most_bytes: int
    ) -> None:
        self._names, self._asked, self._most_bytes = names, families, most_bytes
        # The rows of each label are margins of the families: counted with them they cost nothing.
        self._families = [*families, *((k,) for k in range(len(names)))]
        self._waiting: list[list[FamilyCounts]] = [[] for _ in self._families]
        self._sizes = [1] * len(names)
        self._bytes = 0  # of counts that came since all were added up

    def add(self, codes: Sequence[Array], sizes: Sequence[int], weights: Array | None) -> None:
        """Count a block."""
        self._sizes = [max(1, size) for size in sizes]
        variables = [
            Variable(name, range(size))  # type: ignore[arg-type]
            for name, size in zip(self._names, self._sizes, strict=True)
        ]
        families = [
            Family(variables[child], tuple(variables[k] for k in parents))
            for *parents, child in self._families
        ]
        own, rest = families, list[Family]()
        if weights is not None:
            own, rest = families[: len(self._asked)], families[len(self._asked) :]
        found = count_families(CodedTable(tuple(variables), tuple(codes), weights), own)
        if rest:  # labels are counted by rows
            found += count_families(CodedTable(tuple(variables), tuple(codes)), rest)
        for f, counts in enumerate(found):
            self._waiting[f].append(counts)
            self._bytes += counts.codes.nbytes + counts.values.nbytes
            if len(self._waiting[f]) >= _MAX_WAITING:
                self._add_up(f)
        if self._bytes > self._most_bytes:
            for f in range(len(self._waiting)):
                self._add_up(f)
            self._bytes = 0  # sums stay, however large they are: they are what was asked for

    def _add_up(self, f: int) -> None:
        self._waiting[f] = [self._summed(f)]

    def rows_of_labels(self, columns: int) -> list[list[int]]:
        """Return the number of rows of each label of each column."""
        first = len(self._asked)
        return [self._summed(first + k).state_totals.tolist() for k in range(columns)]

    def counts(self, f: int, coding: Coding) -> FamilyCounts:
        """Counts of a family by its states."""
        counts = self._summed(f)
        rows, states = np.nonzero(counts.values)
        cells = np.column_stack([counts.codes[rows], states])
        return coding.counts(self._families[f], cells, counts.values[rows, states])

    def _summed(self, f: int) -> FamilyCounts:
        """Add up what waits, with as many labels as there are by now."""
        *parents, child = (self._sizes[k] for k in self._families[f])
        waiting = self._waiting[f]
        sizes = (tuple(parents), child)
        if len(waiting) == 1 and (waiting[0].parent_sizes, waiting[0].states) == sizes:
            return waiting[0]
        values = [_widened(counts.values, child) for counts in waiting]
        codes = [counts.codes for counts in waiting]
        return FamilyCounts(
            tuple(parents),
            np.concatenate([np.empty((0, len(parents)), np.int32), *codes]),
            np.concatenate([np.empty((0, child), np.int64), *values]),
        )

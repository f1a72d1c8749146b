"""Parts: a table that passes by in blocks of rows, and what is remembered of each column."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from colonnade.arrays import Array
from colonnade.tables.bounds import Memory
from colonnade.tables.coded import code_type
from colonnade.tables.coding import translated
from colonnade.tables.cuts import Cuts
from colonnade.tables.memory import levels_of
from colonnade.tables.sources import Column
from colonnade.tables.states import Seen

Item = TypeVar("Item")
# Blocks that wait while one is counted.
_AHEAD = 2


class Block(NamedTuple):
    """Some rows of a table, by column."""

    rows: int
    columns: Mapping[str, Column]


class Track(Protocol):
    """The labels of one column so far; each label keeps its number for the whole pass."""

    def codes(self, column: Column) -> Array:
        """Return the number of the label of each row of a block."""

    def __len__(self) -> int:
        """How many labels there are."""

    def seen(self, rows: Sequence[int]) -> Seen:
        """Say what was seen, given the number of rows of each label."""


class Passed(Protocol):
    """A table that can be passed over any number of times, in blocks of rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def rows(self) -> int | None:
        """Number of rows, where it is known without a pass."""

    def passed(self, columns: Sequence[str]) -> Iterator[Block]:
        """Yield all rows in order, with the columns named."""


class Parts(Passed, Protocol):
    """A table that is counted as it passes."""

    def within(self, memory: Memory) -> Self:
        """Return the same table in blocks that take no more memory."""

    def track(self, name: str, declared: bool, cut: Cuts | None) -> Track:
        """Begin to remember the labels of a column."""

    def remark(self, tracks: Mapping[str, Track]) -> None:
        """Warn of what was read in a doubtful way; called once, after a whole pass."""


class LabelTrack:
    """Labels of a column of any kind."""

    def __init__(self, name: str, declared: bool, cut: Cuts | None = None) -> None:
        self.name, self.declared, self.cut = name, declared, cut
        self.labels: list[Any] = []
        self.closed = True
        self.number_type: type[int] | type[float] | None = None
        self._positions: dict[Any, int] = {}
        self._last: list[Any] | None = None
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self.labels)

    def codes(self, column: Column) -> Array:
        levels = levels_of(column, self.declared, self.cut)
        self.closed &= levels.closed
        if (kind := column.number_type) is not None:
            self.number_type = float if float in (kind, self.number_type) else int
        # Most blocks have the labels of the one before.
        if levels.labels != self._last:
            self._last = list(levels.labels)
            self._places = [-1 if label is None else self._position(label) for label in self._last]
        gaps = -1 in self._places or bool(levels.codes.size and levels.codes.min() < 0)
        nowhere = self._position(None) if gaps else 0
        places = [nowhere if place < 0 else place for place in self._places]
        table = np.array([*places, nowhere], dtype=code_type(len(self)))
        return translated(levels.codes, table)

    def seen(self, rows: Sequence[int]) -> Seen:
        if self.cut is not None and not self.labels:  # the intervals are known without any row
            states = self.cut.states
            return Seen(self.name, states, [0] * len(states), closed=True, settled=True)
        return Seen(
            self.name,
            self.labels,
            rows,
            self.closed and bool(self.labels),
            None if self.cut is not None else self.number_type,
            settled=self.cut is not None,
        )

    def _position(self, label: Any) -> int:
        # True and 1 are equal to Python, but not the same state.
        key = (isinstance(label, bool | np.bool_), label)
        position = self._positions.setdefault(key, len(self.labels))
        if position == len(self.labels):
            self.labels.append(label)
        return position


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items that another thread makes meanwhile, a few of them in advance."""
    made: queue.Queue[Any] = queue.Queue(_AHEAD)
    stop = threading.Event()
    end = object()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                made.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((end, None))
        except BaseException as error:  # whoever waits for the items gets it
            put((end, error))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is end:
                return
            yield item
    finally:
        stop.set()
        worker.join()

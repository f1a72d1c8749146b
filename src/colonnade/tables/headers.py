"""Names of the columns of a CSV file: what its first line says, and whether these are names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from colonnade.exceptions import Advice, DataError, DataWarning, counted
from colonnade.tables.texts import is_number
from colonnade.wording import joined

# A column without a name, or as pandas calls one when it writes it again.
_NAMELESS = re.compile(r"(?:Unnamed: [0-9]+)?")
_MAX_SHOWN = 5
_ALSO_VALUES = "also occur as values of their columns"
KEEP_INDEX = "give it a name in the file to keep it"
KEEP_INDICES = "give them names in the file to keep them"


def numbered(position: int) -> str:
    """Name the column at a position that has no name of its own."""
    return f"column{position + 1}"


@dataclass(frozen=True)
class Header:
    """The first line of a file, taken as names, and the distinct texts in each column below it.

    `sure` says that a user knows it to be names.
    """

    where: str
    line: Sequence[str]
    texts: Sequence[Collection[str]]
    sure: bool

    @cached_property
    def names(self) -> dict[int, str]:
        """Different names of the columns that are kept, by their positions."""
        kept = range(self._index, len(self.line))
        names = {k: self.line[k] or numbered(k) for k in kept if k not in self._empty}
        return _different(names)

    def warnings(self) -> Iterator[DataWarning]:
        """Say what was left out, named or guessed."""
        if self._index:
            some = "column 1 has" if self._index == 1 else f"columns 1 to {self._index} have"
            what = f"{some} no name: read as an index of the rows, and left out"
            yield self._warning(what, KEEP_INDEX if self._index == 1 else KEEP_INDICES)
        if self._empty:
            some = counted(len(self._empty), "column")
            yield self._warning(f"{some} with neither a name nor values left out")
        if fresh := [repr(name) for k, name in self.names.items() if not self.line[k]]:
            some = "column" if len(fresh) == 1 else "columns"
            hint = "name all columns in the first line"
            yield self._warning(f"{some} without a name called {joined(fresh)}", hint)
        renamed = list(self._renamed())
        if not self.sure and (doubts := [*self._doubts(), *renamed]):
            names = _shown([self.line[k] for k in self.names])
            taken = f"the first line was taken as names of columns ({names})"
            yield self._warning(f"{taken}, but {joined(doubts)}", Advice.NO_HEADER)
        elif renamed:
            yield self._warning(joined(renamed), "give every column a name of its own")

    @cached_property
    def _index(self) -> int:
        """How many columns come before the first with a name: they number or name the rows."""
        for k, name in enumerate(self.line):
            if not _NAMELESS.fullmatch(name):
                return k
        raise DataError(self.where, "no column has a name.", Advice.FIRST_LINE_IS_DATA)

    @cached_property
    def _empty(self) -> list[int]:
        """Columns after the index with neither a name nor a value, as a comma too many makes."""
        after = range(self._index, len(self.line))
        return [k for k in after if not self.line[k] and not any(map(str.strip, self.texts[k]))]

    def _doubts(self) -> Iterator[str]:
        """Why the first line may be data."""
        names = [self.line[k] for k in self.names if self.line[k]]
        if numbers := [name for name in names if is_number(name)]:
            verb = "is a number" if len(numbers) == 1 else "are numbers"
            yield f"{_shown(numbers)} {verb}"
        values = [
            self.line[k]
            for k in self.names
            if self.line[k] and self.line[k] not in numbers and self.line[k] in self.texts[k]
        ]
        if values:
            one = "also occurs as a value of its column"
            yield f"{_shown(values)} {one if len(values) == 1 else _ALSO_VALUES}"

    def _renamed(self) -> Iterator[str]:
        """Names that several columns had."""
        times = Counter(self.line[k] for k in self.names)
        for name in (name for name, n in times.items() if name and n > 1):
            fresh = [repr(each) for k, each in self.names.items() if self.line[k] == name]
            yield f"{name!r} occurs {times[name]} times (called {joined(fresh)} now)"

    def _warning(self, statement: str, hint: str = "") -> DataWarning:
        return DataWarning(f"{self.where}: {statement}.", hint)


def _different(names: Mapping[int, str]) -> dict[int, str]:
    """Number the names that occur several times, so that none of them is taken for another."""
    times = Counter(names.values())
    taken, last = set(times), Counter[str]()
    different = {}
    for k, name in names.items():
        fresh = name
        while times[name] > 1 and fresh in taken:
            last[name] += 1
            fresh = f"{name}.{last[name]}"
        taken.add(fresh)
        different[k] = fresh
    return different


def _shown(names: Sequence[str]) -> str:
    more = len(names) - _MAX_SHOWN
    return joined([*map(repr, names[:_MAX_SHOWN]), *([f"{more} more"] if more > 0 else [])])

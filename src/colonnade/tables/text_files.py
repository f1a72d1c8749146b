"""Text files as parts: the texts of each column are numbered as they pass.

What the texts mean is decided on all of them, by `Reading`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, DataError, DataWarning, counted, warn
from colonnade.tables.bounds import Memory
from colonnade.tables.coded import code_type
from colonnade.tables.cuts import Cuts
from colonnade.tables.levels import Levels, are_whole, missing_weight, place, unusable
from colonnade.tables.numbering import TextNumbers, read_only
from colonnade.tables.opened_text import Dialect, OpenedText
from colonnade.tables.opening import of_encoding
from colonnade.tables.parts import Block, LabelTrack, Track, ahead
from colonnade.tables.remarks import of_dialect, of_readings
from colonnade.tables.separators import named
from colonnade.tables.sources import Column
from colonnade.tables.states import Seen
from colonnade.tables.texts import Codes, Decimal, Reading


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts of a block: `data` from where each begins to where it ends."""

    name: str
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    data: NDArray[np.uint8]
    codes: Codes
    decimal: Decimal
    text = False
    times = None

    @property
    def values(self) -> list[str]:
        """The texts of all rows."""
        numbers = TextNumbers()
        rows = numbers.add(self.begins, self.ends, self.data)
        return [numbers.texts[k] for k in rows.tolist()]

    @cached_property
    def _read(self) -> tuple[Reading, list[str], Array]:
        """What the texts of the block mean, which they are, and which one each row has."""
        numbers = TextNumbers()
        rows = numbers.add(self.begins, self.ends, self.data)
        times = dict(zip(numbers.texts, numbers.rows.tolist(), strict=True))
        return Reading.of(times, times.__getitem__, self.codes, self.decimal), numbers.texts, rows

    @cached_property
    def _numbers(self) -> tuple[Floats | None, type[int] | type[float] | None]:
        """The numbers of the block, and their type."""
        if (found := _plain_numbers(self)) is not None:
            return found
        reading, texts, rows = self._read
        kind = {np.int64: int, np.float64: float}.get(reading.kind)
        values = [reading.meaning[text] for text in texts]
        if kind is None and any(value is not None for value in values):
            return None, None
        table = np.array([np.nan if value is None else float(value) for value in values])
        return np.asarray(table[rows], dtype=np.float64), kind

    @property
    def missing_codes(self) -> Counter[str]:
        """The codes of the block that mean missing among its numbers, with their rows."""
        numbers = self.numbers
        if numbers is None or not np.isnan(numbers).any():
            return Counter()
        reading, _, _ = self._read
        return Counter(reading.missing)

    @property
    def numbers(self) -> Floats | None:
        """Numbers as floats, missing ones NaN; None if the texts of the block are no numbers."""
        return self._numbers[0]

    @property
    def number_type(self) -> type[int] | type[float] | None:
        """Type of the numbers of the block, or None."""
        return self._numbers[1]

    def levels(self, declared: bool) -> Levels:
        """Return the states of the block by themselves."""
        reading, texts, rows = self._read
        return Levels([reading.meaning[text] for text in texts], rows)

    def weights(self) -> Array:
        """Return the values, to be used as weights."""
        reading, texts, rows = self._read
        values = reading.values(texts)
        table = np.asarray(values, dtype=object if isinstance(values, list) else None)
        found: Array = table[rows]
        gaps = [value is None or value != value for value in table.tolist()]
        if any(gaps):
            raise missing_weight(place(self.name), int(np.array(gaps)[rows].argmax()))
        return found


class TextTrack:
    """The texts of a column so far, as they are in the file."""

    def __init__(self, name: str, declared: bool, dialect: Dialect, decimal: Decimal) -> None:
        self.name, self.declared = name, declared
        self._dialect, self._decimal = dialect, decimal
        self._numbers = TextNumbers()

    def __len__(self) -> int:
        return len(self._numbers)

    def codes(self, column: Column) -> Array:
        assert isinstance(column, TextColumn)
        numbers = self._numbers.add(column.begins, column.ends, column.data)
        return numbers.astype(code_type(len(self)))

    @property
    def texts(self) -> list[str]:
        """The distinct texts."""
        return self._numbers.texts

    @property
    def reading(self) -> Reading:
        """What the texts mean, by all of them, without blanks before them."""
        times = Counter[str]()
        for text, rows in zip(self.texts, self._numbers.rows.tolist(), strict=True):
            times[text.lstrip(" ")] += rows
        return Reading.of(times, times.__getitem__, self._dialect.codes, self._decimal)

    def seen(self, rows: Sequence[int]) -> Seen:
        reading = self.reading
        labels = [reading.meaning[text.lstrip(" ")] for text in self.texts]
        times = [*rows]
        kind = {np.int64: int, np.float64: float}.get(reading.kind)
        if kind is float:
            labels = self._whole(labels)
        elif reading.kind is np.bool_:
            # Booleans always have both states.
            labels, times = [*labels, False, True], [*times, 0, 0]
        return Seen(self.name, labels, times, number_type=kind, unread=False)

    def _whole(self, labels: list[Any]) -> list[Any]:
        """Return floating-point numbers as integers; others are states only if declared."""
        numbers = np.array([np.nan if label is None else label for label in labels], np.float64)
        if not self.declared and not are_whole(numbers):
            raise unusable(self.name, "floating-point numbers", Advice.CUT)
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
        return [
            None if label is None else int(label) if is_whole else label
            for label, is_whole in zip(labels, whole.tolist(), strict=True)
        ]


class CutTrack(LabelTrack):
    """The intervals of a column of numbers, and the codes that were read as missing."""

    def __init__(self, name: str, declared: bool, cut: Cuts) -> None:
        super().__init__(name, declared, cut)
        self._missing = Counter[str]()

    def codes(self, column: Column) -> Array:
        assert isinstance(column, TextColumn)
        self._missing += column.missing_codes
        return super().codes(column)

    @property
    def reading(self) -> Reading:
        """What is worth a word about the texts."""
        return Reading(np.float64, {}, self._missing)


@dataclass(frozen=True)
class TextFiles:
    """Text files with the same columns, read one after the other."""

    files: tuple[Path, ...]
    dialect: Dialect
    bytes_at_once: int
    # Files that are not UTF-8, as far as they were opened: all of them share one warning.
    guesses: dict[str, tuple[str, str]] = field(default_factory=dict, compare=False, repr=False)
    rows = None

    @cached_property
    def _first(self) -> OpenedText:
        """The first file with rows: by them, names and signs are judged."""
        for path in self.files:
            opened = OpenedText.of(path, self.dialect, self.guesses)
            if opened.has_rows:
                return opened
        more = len(self.files) - 1
        some = f"it and {counted(more, 'more file')} have" if more else "it has"
        problem = f"{some} names of columns but no rows."
        raise DataError(f"File {str(self.files[0])!r}", problem, Advice.FIRST_LINE_IS_DATA)

    @cached_property
    def _decimal(self) -> Decimal:
        return Decimal.of(self.dialect.decimal, self._first.separator)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the first file that has rows."""
        return tuple(self._first.names.values())

    @property
    def where(self) -> str:
        """Name the files for a message."""
        more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
        return f"{self._first.file.where}{more}"

    def within(self, memory: Memory) -> TextFiles:
        """Return the same files, read in blocks that take no more memory."""
        return replace(self, bytes_at_once=memory.block_bytes)

    def passed(self, columns: Sequence[str]) -> Iterator[Block]:
        """Yield all rows in order, with the columns named."""
        return ahead(self._passed(columns))

    def _passed(self, columns: Sequence[str]) -> Iterator[Block]:
        first = self._first
        for path in self.files:
            known = str(path) == first.file.path
            opened = first if known else OpenedText.of(path, self.dialect, self.guesses)
            for block in opened.blocks(columns, self.bytes_at_once):
                pairs = zip(columns, block, strict=True)
                yield Block(
                    len(block[0].begins),
                    {
                        name: TextColumn(name, *texts, self.dialect.codes, self._decimal)
                        for name, texts in pairs
                    },
                )

    def track(self, name: str, declared: bool, cut: Cuts | None) -> Track:
        """Begin to remember the texts of a column."""
        if cut is not None:
            return CutTrack(name, declared, cut)
        return TextTrack(name, declared, self.dialect, self._decimal)

    def remark(self, tracks: Mapping[str, Track]) -> None:
        """Warn of what was guessed, named or left out, and of what texts were taken for."""
        own = {name: track for name, track in tracks.items() if isinstance(track, TextTrack)}
        cut = {name: track for name, track in tracks.items() if isinstance(track, CutTrack)}
        readings = {name: track.reading for name, track in own.items()}
        readings |= {name: track.reading for name, track in cut.items()}
        first = self._first
        guessed = named(first.separator) if first.guessed else None
        warnings = [of_dialect(self.where, guessed, readings, self._decimal is Decimal.COMMA)]
        if first.header is not None:
            texts = [
                own[name].texts if (name := first.names.get(k, "")) in own else sample
                for k, sample in enumerate(first.header.texts)
            ]
            warnings.append(replace(first.header, where=self.where, texts=texts).warnings())
        warnings.append(of_readings(self.where, readings, self.dialect.codes))
        for warning in chain(self._of_encodings(), *warnings):
            warn(warning)

    def _of_encodings(self) -> Iterator[DataWarning]:
        """Say which files are not UTF-8, each encoding once."""
        for called in dict.fromkeys(called for called, _ in self.guesses.values()):
            files = [path for path, guess in self.guesses.items() if guess[0] == called]
            more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            yield of_encoding(f"File {files[0]!r}{more}", called, self.guesses[files[0]][1])


# Numbers that Arrow and `read` take for the same; others are left to `Reading`.
_WHOLE = r"^(?:0|-?[1-9][0-9]{0,14})$"
_PLAIN = r"^(?:0|-?[1-9][0-9]{0,14}|-?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?)$"


def _plain_numbers(column: TextColumn) -> tuple[Floats, type[int] | type[float]] | None:
    """Return numbers that are written plainly, and their type, or None if there is any other text.

    It takes a tenth of the time that each text by itself would take.
    """
    if column.decimal is Decimal.COMMA:
        return None
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
    except ImportError:
        return None
    from colonnade.kernels.fields import join_texts

    offsets = np.empty(len(column.begins) + 1, np.int32)
    joined = np.empty(int((column.ends - column.begins).sum()), np.uint8)
    texts = [read_only(column.begins), read_only(column.ends), read_only(column.data)]
    join_texts(*texts, offsets, joined)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(joined)]
    whole = pa.Array.from_buffers(pa.string(), len(column.begins), buffers)
    trimmed = pc.ascii_trim(whole, " \t")
    missing = pa.array(["", *column.codes.always, *column.codes.among_numbers])
    present = pc.if_else(pc.is_in(trimmed, value_set=missing), None, trimmed)
    if present.null_count == len(present):
        return None
    if not pc.all(pc.match_substring_regex(present, _PLAIN)).as_py():
        return None
    whole = pc.all(pc.match_substring_regex(present, _WHOLE)).as_py()
    numbers = present.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers, int if whole else float

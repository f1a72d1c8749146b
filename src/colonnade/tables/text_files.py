"""Text files as parts: the texts of each column are numbered as they pass.

PyArrow reads the lines, and where it cannot, or may read them in another way than `read` does, the
standard library goes on from there. What the texts mean is decided on all of them, by `Reading`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, DataError, FileFormatError, counted, warn
from colonnade.tables.bounds import Memory
from colonnade.tables.coded import code_type
from colonnade.tables.cuts import Cuts
from colonnade.tables.files import (
    TEXT,
    checked_separator,
    ending_of,
    of_one_column,
    of_width,
    read_lines,
    separator_in,
)
from colonnade.tables.headers import Header, numbered
from colonnade.tables.levels import Levels, are_whole, missing_weight, place, unusable
from colonnade.tables.numbering import TextNumbers, read_only
from colonnade.tables.opening import TextFile
from colonnade.tables.parts import Block, LabelTrack, Track, ahead
from colonnade.tables.remarks import of_dialect, of_readings
from colonnade.tables.separators import named
from colonnade.tables.sources import Column
from colonnade.tables.states import Seen
from colonnade.tables.texts import Codes, Decimal, Reading

# Lines that names and empty columns are judged by, and rows of a block of the slow way.
_SAMPLE_ROWS, _SLOW_ROWS = 1 << 12, 1 << 16


@dataclass(frozen=True)
class Dialect:
    """How text files are read: what a user said, or None."""

    codes: Codes = field(default_factory=Codes)
    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None


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
class _Opened:
    """One file: its separator, the line where its rows begin, and where its columns are."""

    file: TextFile
    separator: str
    guessed: bool
    skipped_lines: int
    line: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    header: Header | None
    names: Mapping[int, str]
    quoted: bool

    @classmethod
    def of(cls, path: Path, dialect: Dialect) -> _Opened:
        file = TextFile.of(str(path), dialect.encoding or _sampled_encoding(path))
        usual = TEXT[ending_of(path)]
        if dialect.separator is None:
            separator = separator_in(file, usual)
        else:
            separator = checked_separator(dialect.separator)
        with closing(read_lines(file, separator)) as lines:
            first = next((each for each in lines if each[1]), None)
            if first is None:
                hint = "the first line holds the names of the columns"
                raise DataError(file.where, "it is empty.", hint)
            number, texts = first
            line = tuple(name.strip() for name in texts)
            rows = chain([first] * (dialect.header is False), lines)
            some = list(islice(of_width(file.where, rows, len(line)), _SAMPLE_ROWS))
        sample = tuple(map(tuple, zip(*some, strict=True))) if some else ((),) * len(line)
        header, names = None, dict(enumerate(map(numbered, range(len(line)))))
        if dialect.header is not False:
            header = Header(file.where, line, list(map(set, sample)), sure=dialect.header is True)
            names = header.names
        return cls(
            file,
            separator,
            dialect.separator is None and separator != usual,
            number if header else number - 1,
            line,
            sample,
            header,
            names,
            _has_quotes(file),
        )

    @property
    def has_rows(self) -> bool:
        """Whether there is anything below the names."""
        return any(self.sample)

    def blocks(self, columns: Sequence[str], bytes_at_once: int) -> Iterator[list[_Texts]]:
        """Yield the texts of columns, block by block."""
        positions = {name: k for k, name in self.names.items()}
        for name in columns:
            if name not in positions:
                problem = f"no column {name!r}, which the first file has."
                hint = "leave the file out, or give only files with the same columns"
                raise FileFormatError(self.file.path, "", problem, hint)
        if not self.has_rows:
            return
        chosen = [positions[name] for name in columns]
        done = 0
        for way in (self._split, self._parsed) if len(self.line) > 1 else ():
            try:
                for block in way(chosen, bytes_at_once, done):
                    yield block
                    done += len(block[0].begins)
                return
            except _CannotTellError:
                continue
        yield from self._slow(chosen, done)

    def _split(
        self, chosen: Sequence[int], bytes_at_once: int, done: int
    ) -> Iterator[list[_Texts]]:
        """Read plain text without any package, up to what is not that plain."""
        from colonnade.kernels.fields import PADDING, SPLITS, split_fields, what_is_in

        plain = self.file.encoding in ("utf-8", "utf-8-sig", _ASSUMED)
        if not SPLITS or not plain or not self.separator.isascii():
            raise _CannotTellError
        wanted = list(dict.fromkeys(chosen))
        places = np.full(len(self.line), -1, np.int64)
        places[wanted] = np.arange(len(wanted))
        sign = np.uint8(ord(self.separator))
        padding = bytes(PADDING)
        for lines in self.file.whole_lines(self.skipped_lines, bytes_at_once):
            data, size = np.frombuffer(lines + padding, np.uint8), len(lines)
            kinds = what_is_in(data, size)
            if kinds & 2:
                _check_utf8(lines)
            shape = (len(wanted), lines.count(b"\n"))
            begins, ends = np.empty(shape, np.int32), np.empty(shape, np.int32)
            rows = split_fields(data, size, sign, places, bool(kinds & 1), begins, ends)
            if rows < 0:
                raise _CannotTellError
            if rows:
                found = (places[k] for k in chosen)
                yield [_Texts(begins[k, :rows], ends[k, :rows], data) for k in found]

    def _parsed(
        self, chosen: Sequence[int], bytes_at_once: int, done: int
    ) -> Iterator[list[_Texts]]:
        """Read by PyArrow, from a row up to the first block that `read` may read otherwise."""
        try:
            import pyarrow as pa
            import pyarrow.csv as reader
        except ImportError:
            raise _CannotTellError from None
        names = [str(k) for k in range(len(self.line))]
        options = {
            "read_options": reader.ReadOptions(
                block_size=bytes_at_once,
                skip_rows=self.skipped_lines,
                skip_rows_after_names=done,
                column_names=names,
                encoding=self.file.encoding.removesuffix("-sig"),
            ),
            "parse_options": reader.ParseOptions(
                delimiter=self.separator, newlines_in_values=self.quoted
            ),
            "convert_options": reader.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=[names[k] for k in dict.fromkeys([*chosen, len(names) - 1])],
                strings_can_be_null=False,
            ),
        }
        with self.file.source() as source:
            try:
                block: list[_Texts] = []
                for batch in reader.open_csv(source, **options):
                    if block:
                        yield block
                    block = [_texts_of(batch.column(names[k])) for k in chosen]
                    if any(texts.is_doubtful for texts in block):
                        raise _CannotTellError
                    last = batch.column(names[-1])
                # Whatever follows a quote that is not closed would be its value.
                if block and _has_breaks(last):
                    raise _CannotTellError
                if block:
                    yield block
            except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError):
                raise _CannotTellError from None

    def _slow(self, chosen: Sequence[int], done: int) -> Iterator[list[_Texts]]:
        """Read by the standard library, from a row on."""
        file = replace(self.file, asked=None) if _guessable(self.file) else self.file
        lines: Iterator[tuple[int, list[str]]]
        with closing(read_lines(file, self.separator)) as all_lines:
            lines = dropwhile(self._before_rows, all_lines)
            if len(self.line) == 1:
                lines = of_one_column(file.where, lines)
            rows = islice(of_width(file.where, lines, len(self.line)), done, None)
            while some := list(islice(rows, _SLOW_ROWS)):
                columns = list(zip(*some, strict=True))
                yield [_Texts.joined(columns[k]) for k in chosen]

    def _before_rows(self, line: tuple[int, list[str]]) -> bool:
        return line[0] <= self.skipped_lines


class _CannotTellError(Exception):
    """The fast way may not read what follows as `read` does."""


class _Texts(NamedTuple):
    """Texts among bytes: where they begin and end."""

    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    data: NDArray[np.uint8]

    @classmethod
    def joined(cls, texts: Sequence[str]) -> _Texts:
        raw = [text.encode() for text in texts]
        offsets = np.zeros(len(raw) + 1, np.int32)
        np.cumsum([len(each) for each in raw], out=offsets[1:])
        return cls(offsets[:-1], offsets[1:], np.frombuffer(b"".join(raw), np.uint8))

    @property
    def is_doubtful(self) -> bool:
        """Whether a text has a NUL byte or a quote: after a blank it would be one around it."""
        from colonnade.kernels.fields import has_quote_or_nul

        if not len(self.begins):
            return False
        return bool(has_quote_or_nul(self.data[self.begins[0] : self.ends[-1]]))


@dataclass(frozen=True)
class TextFiles:
    """Text files with the same columns, read one after the other."""

    files: tuple[Path, ...]
    dialect: Dialect
    bytes_at_once: int
    rows = None

    @cached_property
    def _first(self) -> _Opened:
        """The first file with rows: by them, names and signs are judged."""
        for path in self.files:
            opened = _Opened.of(path, self.dialect)
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
            opened = first if str(path) == first.file.path else _Opened.of(path, self.dialect)
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
        for warning in chain(*warnings):
            warn(warning)


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


def _texts_of(column: Any) -> _Texts:
    """Take a column of strings of Arrow apart."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return _Texts(ends[:-1], ends[1:], np.frombuffer(data if data is not None else b"", np.uint8))


def _check_utf8(lines: bytes) -> None:
    try:
        lines.decode()
    except UnicodeDecodeError:
        raise _CannotTellError from None


def _has_breaks(texts: Any) -> bool:
    """Whether the last text of a column of Arrow has line breaks."""
    return len(texts) > 0 and not {"\n", "\r"}.isdisjoint(texts[-1].as_py())


def _guessable(file: TextFile) -> bool:
    """Whether an encoding was taken from the beginning of a file, and not from a user."""
    return file.asked == _ASSUMED


# Written so, it is told from what a user says.
_ASSUMED = "UTF_8"


def _sampled_encoding(path: Path) -> str | None:
    """Take a file for UTF-8 until something else is found, which spares a pass over it."""
    return _ASSUMED if TextFile(str(path)).begins_as_utf8 else None


def _has_quotes(file: TextFile) -> bool:
    with file.lines() as stream:
        return '"' in stream.read(1 << 18)

"""One text file, opened: its separator and its names, and the texts of its columns in blocks.

There are three ways to the texts, each for what the one before cannot tell: a kernel splits plain
text, PyArrow parses values with quotes and line breaks in them, and the standard library reads
whatever PyArrow may read otherwise than `read` does, and names the line that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import DataError, FileFormatError
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
from colonnade.tables.opening import TextFile
from colonnade.tables.texts import Codes

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


@dataclass(frozen=True)
class OpenedText:
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
    def of(
        cls, path: Path, dialect: Dialect, guesses: dict[str, tuple[str, str]] | None = None
    ) -> OpenedText:
        """Look at a file; `guesses` collects encodings that are not UTF-8."""
        encoding = dialect.encoding or _sampled_encoding(path)
        file = TextFile.of(str(path), encoding, guesses)
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

    def blocks(self, columns: Sequence[str], bytes_at_once: int) -> Iterator[list[Texts]]:
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
            except CannotTellError:
                continue
        yield from self._slow(chosen, done)

    def _split(self, chosen: Sequence[int], bytes_at_once: int, done: int) -> Iterator[list[Texts]]:
        """Read plain text without any package, up to what is not that plain."""
        from colonnade.kernels.fields import PADDING, SPLITS, split_fields, what_is_in

        plain = self.file.encoding in ("utf-8", "utf-8-sig", _ASSUMED)
        if not SPLITS or not plain or not self.separator.isascii():
            raise CannotTellError
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
                raise CannotTellError
            if rows:
                found = (places[k] for k in chosen)
                yield [Texts(begins[k, :rows], ends[k, :rows], data) for k in found]

    def _parsed(
        self, chosen: Sequence[int], bytes_at_once: int, done: int
    ) -> Iterator[list[Texts]]:
        """Read by PyArrow, from a row up to the first block that `read` may read otherwise."""
        try:
            import pyarrow as pa
            import pyarrow.csv as reader
        except ImportError:
            raise CannotTellError from None
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
                block: list[Texts] = []
                for batch in reader.open_csv(source, **options):
                    if block:
                        yield block
                    block = [_texts_of(batch.column(names[k])) for k in chosen]
                    if any(texts.is_doubtful for texts in block):
                        raise CannotTellError
                    last = batch.column(names[-1])
                # Whatever follows a quote that is not closed would be its value.
                if block and _has_breaks(last):
                    raise CannotTellError
                if block:
                    yield block
            except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError):
                raise CannotTellError from None

    def _slow(self, chosen: Sequence[int], done: int) -> Iterator[list[Texts]]:
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
                yield [Texts.joined(columns[k]) for k in chosen]

    def _before_rows(self, line: tuple[int, list[str]]) -> bool:
        return line[0] <= self.skipped_lines


class CannotTellError(Exception):
    """The fast way may not read what follows as `read` does."""


class Texts(NamedTuple):
    """Texts among bytes: where they begin and end."""

    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    data: NDArray[np.uint8]

    @classmethod
    def joined(cls, texts: Sequence[str]) -> Texts:
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


def _texts_of(column: Any) -> Texts:
    """Take a column of strings of Arrow apart."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return Texts(ends[:-1], ends[1:], np.frombuffer(data if data is not None else b"", np.uint8))


def _check_utf8(lines: bytes) -> None:
    try:
        lines.decode()
    except UnicodeDecodeError:
        raise CannotTellError from None


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

"""From a file, or from standard input, to text: what it is compressed with, and its encoding."""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib.util
import io
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from colonnade.exceptions import (
    Advice,
    DataWarning,
    FileFormatError,
    expected,
    no_such_file,
    require,
    warn,
)
from colonnade.wording import listing

# What stands for standard input.
STANDARD_INPUT = "-"
# Endings that a name may have after the one that says what the file holds.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip", ".zst")

# What helps with a file that is damaged, or cut off.
COPY_AGAIN = "copy the file again, or give it the ending that says what it holds"

# Byte order marks; the four bytes of UTF-32 begin with the two of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE_MARKS = tuple(mark for mark, encoding in _MARKS if encoding != "utf-8-sig")
# What the first bytes of files are that hold no text.
_NO_TEXT = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\x89HDF": "HDF5", b"%PDF": "PDF"}
_CHUNK_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 12
_MAX_LINE_BYTES = 1 << 28
# Of every other byte, at least this share is zero where letters take two bytes.
_MIN_ZEROS = 0.7
# Bytes that Windows-1252 leaves undefined.
_UNDEFINED = tuple(b"\x81\x8d\x8f\x90\x9d")
_DAMAGED = (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError)


@dataclass(frozen=True)
class TextFile:
    """A file of text, compressed or not; `path` is ``-`` for standard input.

    `asked` is the encoding that a user named, or None. One that is guessed is told at once, unless
    `guesses` collects those of several files: the file, what it is read as, and an example.
    """

    path: str
    asked: str | None = None
    guesses: dict[str, tuple[str, str]] | None = None

    @classmethod
    def of(
        cls,
        path: Any,
        encoding: str | None = None,
        guesses: dict[str, tuple[str, str]] | None = None,
    ) -> TextFile:
        """Check that a file exists, and that an encoding is one."""
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except (LookupError, TypeError):
                hint = "such as utf-8, utf-16, cp1252 or latin-1"
                raise expected("an encoding", "encoding", encoding, hint) from None
        return cls(path if is_standard_input(path) else str(existing(path)), encoding, guesses)

    @property
    def where(self) -> str:
        """Name it for a message."""
        return "Standard input" if self.path == STANDARD_INPUT else f"File {self.path!r}"

    @contextmanager
    def lines(self) -> Iterator[IO[str]]:
        """Open it as text; what is not text is an error that names the file."""
        encoding = self.encoding
        try:
            with (
                self._bytes() as stream,
                io.TextIOWrapper(stream, encoding, newline="") as text,
            ):
                yield text
        except UnicodeDecodeError as error:
            if self._has_zeros:
                raise self._no_text() from None
            problem = f"not {encoding.removesuffix('-sig').upper()} text ({error.reason})."
            hint = Advice.NAME_ENCODING if self.asked is None else "name another encoding, or none"
            raise FileFormatError(self.path, "", problem, hint) from None

    @cached_property
    def encoding(self) -> str:
        """Encoding that was asked for, or marked, or that fits all bytes; a guess is told."""
        if self.asked is not None:
            # A mark at the beginning is no part of the first name.
            return "utf-8-sig" if codecs.lookup(self.asked).name == "utf-8" else self.asked
        with self._bytes() as stream:
            start = stream.read(_SAMPLE_BYTES)
            _refuse_no_text(self.path, start)
            for mark, encoding in _MARKS:
                if start.startswith(mark):
                    return encoding
            if guess := _utf16(start):
                return guess
            return self._fitting(start, stream)

    @property
    def begins_as_utf8(self) -> bool:
        """Whether its first bytes are text in UTF-8, as far as they go."""
        with self._bytes() as stream:
            start = stream.read(_SAMPLE_BYTES)
        _refuse_no_text(self.path, start)
        if _utf16(start) or any(start.startswith(mark) for mark, _ in _MARKS[1:]):
            return False
        try:
            codecs.getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError:
            return False
        return True

    @contextmanager
    def source(self) -> Iterator[str | IO[bytes]]:
        """Yield what other packages read: its path, or its bytes if they are compressed.

        Others go by the name: they would decompress a file that is only called so.
        """
        path = Path(self.path)
        if self._compression is None and path.is_file() and path.suffix.lower() not in COMPRESSIONS:
            yield self.path
            return
        with self._bytes() as stream:
            yield stream

    def whole_lines(self, skipped: int, size: int) -> Iterator[bytes]:
        """Yield its bytes, without a mark and the first lines, in blocks of whole lines.

        Each ends in a line break; a line longer than `size` makes a block larger.
        """
        with self._bytes() as stream:
            fresh = stream.read(len(codecs.BOM_UTF8) + size).removeprefix(codecs.BOM_UTF8)
            while skipped and fresh:
                _, found, after = fresh.partition(b"\n")
                fresh, skipped = after or stream.read(size), skipped - len(found)
            rest = b""
            while fresh:
                end = fresh.rfind(b"\n") + 1
                if end:
                    yield rest + fresh[:end]
                    rest = b""
                rest += fresh[end:]
                if len(rest) > _MAX_LINE_BYTES:
                    problem = f"a line has more than {_MAX_LINE_BYTES:,} bytes."
                    raise FileFormatError(self.path, "", problem, COPY_AGAIN)
                fresh = stream.read(size)
            if rest:
                yield rest + b"\n"

    def _fitting(self, start: bytes, stream: IO[bytes]) -> str:
        """Return UTF-8 if all bytes are that, else a Western encoding with one byte per letter."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        chunk, first, undefined, zeros = start, b"", False, False
        while chunk:
            zeros |= 0 in chunk
            undefined |= any(byte in chunk for byte in _UNDEFINED)  # by memory, not one by one
            if not first:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError as error:
                    low = max(0, error.start - 30)
                    first = error.object[low : error.end + 30]
            chunk = stream.read(_CHUNK_BYTES)
        if not first:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError as error:
                first = error.object[-30:]
        if not first:
            return "utf-8"
        if zeros:
            raise self._no_text()
        encoding, called = ("latin-1", "Latin-1") if undefined else ("cp1252", "Windows-1252")
        # The word around the byte, as it is read now.
        words = first.decode(encoding).replace(";", " ").replace(",", " ").split()
        example = next((word for word in words if not word.isascii()), "")
        if self.guesses is None:
            warn(of_encoding(self.where, called, example))
        else:
            self.guesses[self.path] = called, example
        return encoding

    def _no_text(self) -> FileFormatError:
        return FileFormatError(self.path, "", "it holds no text, but NUL bytes.", COPY_AGAIN)

    # ------------------------------------------------------------------- bytes

    @property
    def _has_zeros(self) -> bool:
        """Whether it begins with bytes that no text has, in none of the encodings with marks."""
        with self._bytes() as stream:
            start = stream.read(_SAMPLE_BYTES)
        return 0 in start and not _utf16(start) and not any(map(start.startswith, _WIDE_MARKS))

    @cached_property
    def _content(self) -> bytes:
        """All bytes of what can be read only once: standard input, or another pipe."""
        if self.path == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        return Path(self.path).read_bytes()

    def _raw(self) -> IO[bytes]:
        if self.path == STANDARD_INPUT or not Path(self.path).is_file():
            return io.BytesIO(self._content)
        return Path(self.path).open("rb")

    @cached_property
    def _compression(self) -> str | None:
        with self._raw() as stream:
            start = stream.read(8)
        return next((name for mark, name in _COMPRESSED.items() if start.startswith(mark)), None)

    @contextmanager
    def _bytes(self) -> Iterator[IO[bytes]]:
        """Open it, decompressed; damaged data are an error that names the file."""
        try:
            with self._raw() as raw:
                if self._compression is None:
                    yield raw
                elif self._compression == "zip":
                    with _zip(self.path, raw) as stream:
                        yield stream
                else:
                    with _OPENERS[self._compression](raw) as stream:
                        yield stream
        except _DAMAGED as error:
            if self._compression is None or isinstance(error, FileNotFoundError):
                raise
            problem = f"damaged {self._compression} data ({error})."
            raise FileFormatError(self.path, "", problem, COPY_AGAIN) from None


def of_encoding(where: str, called: str, example: str) -> DataWarning:
    """Say in which encoding a file is read, or several of them, that are not UTF-8."""
    statement = f"{where}: not UTF-8; read as {called}, for example {example!r}."
    return DataWarning(statement, Advice.NAME_ENCODING)


def is_standard_input(path: Any) -> bool:
    """Whether a path stands for standard input."""
    return isinstance(path, str) and path == STANDARD_INPUT


def existing(path: Any) -> Path:
    """Return the path of a file that is there, or say what was expected."""
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise expected("a path", "path", path)
    file = Path(path)
    if not file.exists():
        raise no_such_file(path)
    if file.is_dir():
        raise expected("a file", "path", str(path), got=f"the folder {str(path)!r}")
    return file


def _utf16(start: bytes) -> str | None:
    """Return UTF-16 without a mark: in Western text every other byte is zero."""
    if len(start) < 4 or 0 not in start:
        return None
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if (
            start[offset::2].count(0) > 0.7 * len(start[offset::2])
            and 0 not in start[1 - offset :: 2]
        ):
            return encoding
    return None


def _refuse_no_text(path: str, start: bytes) -> None:
    for mark, name in _NO_TEXT.items():
        if start.startswith(mark):
            problem = f"it holds {name}, not text."
            hint = "save it to a file whose name says so" if path == STANDARD_INPUT else ""
            raise FileFormatError(path, "", problem, hint)


# ------------------------------------------------------------------ decompression


def _zip(path: str, raw: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(raw)
    names = [
        name
        for name in archive.namelist()
        # What macOS adds to every archive.
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if any(name.startswith("xl/") for name in names):
        problem = "it is an Excel workbook."
        raise FileFormatError(path, "", problem, "give it the ending .xlsx")
    if len(names) != 1:
        problem = f"Expected one file in the archive, got {len(names)}: {listing(names, 5)}."
        raise FileFormatError(path, "", problem, "extract the one to be read")
    return archive.open(names[0])


def _zst(raw: IO[bytes]) -> IO[bytes]:
    if importlib.util.find_spec("zstandard") is None and importlib.util.find_spec("pyarrow"):
        import pyarrow

        stream: IO[bytes] = pyarrow.CompressedInputStream(raw, "zstd")
        return stream
    zstandard = require("zstandard", feature="Reading a .zst file", extra="formats")
    found: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(raw)
    return found


_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
    "Zstandard": _zst,
}

"""Reading files with a limit, and writing them so that a failure leaves nothing half done."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from colonnade.exceptions import Advice, TooLargeError, expected, no_such_file

# Files that are being written, under their temporary names; who ends the process removes them.
unfinished: set[Path] = set()

# The files of `together`, which wait for their names: as the user knows them, where they will be,
# under which name they are, and whether they replace others.
_waiting: ContextVar[list[tuple[Path, Path, Path, bool]] | None] = ContextVar(
    "waiting", default=None
)

# Bytes of the largest file that is read or written; parsed, it may take twenty times as much.
MAX_BYTES = 1 << 27


def as_path(path: Any) -> Path:
    """Return a path, or say what was expected."""
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise expected("a path", "path", path)
    return Path(path)


@contextmanager
def _named(path: Path, instead: Collection[str | None]) -> Iterator[None]:
    """Let errors of the system name the file that the user knows, not a temporary one or none."""
    try:
        yield
    except OSError as error:
        of_file = error.filename if error.filename is None else os.fspath(error.filename)
        if error.errno is not None and of_file in instead:
            error.filename = str(path)
            del error.filename2  # of a file that was to be renamed
        raise


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that exists and is not too large."""
    if not path.exists():
        raise no_such_file(path)
    if not path.is_file():
        raise expected("a file", "path", str(path), got=f"the folder {str(path)!r}")
    with _named(path, {None, str(path)}), path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _too_large(path, max(len(content), path.stat().st_size))
    return content


def write_bytes(path: Path, content: bytes, overwrite: bool, smaller: str = "") -> None:
    """Write a file under another name first, so that it is there as a whole or not at all.

    `smaller` is a hint how to make it so, for a file that is too large.
    """
    if len(content) > MAX_BYTES:
        raise _too_large(path, len(content), smaller)
    if not isinstance(overwrite, bool):
        raise expected("True or False", "overwrite", overwrite)
    with replacing(path, overwrite) as stream:
        stream.write(content)


@contextmanager
def replacing(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    """Open a file under another name; it gets its own when all is written, and else is removed.

    Inside of `together` it gets it with the others.
    """
    target, waiting = writable(path, overwrite), _waiting.get()
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    # Opened by hand, because the helpers for temporary files make them private to the user.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    unfinished.add(temporary)
    try:
        with _named(path, {None, str(temporary)}):
            number = os.open(temporary, flags, 0o666)
            with os.fdopen(number, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            if waiting is None:
                writable(path, overwrite)
                os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        unfinished.discard(temporary)
        raise
    if waiting is None:
        unfinished.discard(temporary)
    else:
        waiting.append((path, target, temporary, overwrite))


@contextmanager
def together() -> Iterator[None]:
    """Let the files written inside get their names at the end: all of them, or none."""
    waiting: list[tuple[Path, Path, Path, bool]] = []
    made: set[Path] = set()
    token = _waiting.set(waiting)
    try:
        yield
        for path, target, temporary, overwrite in waiting:
            with _named(path, {None, str(temporary)}):
                writable(path, overwrite)
                # One that was not there goes again, if the next one cannot be made.
                made |= set() if target.exists() else {target}
                unfinished.update(made)
                os.replace(temporary, target)
    except BaseException:
        for file in (*made, *(temporary for _, _, temporary, _ in waiting)):
            file.unlink(missing_ok=True)
        raise
    finally:
        _waiting.reset(token)
        unfinished.difference_update(made, [temporary for _, _, temporary, _ in waiting])


def _too_large(path: Path, size: int, hint: str = "") -> TooLargeError:
    what = f"The file {path.name!r}"
    return TooLargeError(what, size=size, limit=MAX_BYTES, unit="bytes", hint=hint)


def writable(path: Path, overwrite: bool) -> Path:
    """Return the file that would be written, or say why it cannot be."""
    target = Path(os.path.realpath(path))  # a link stays one; what it points to is replaced
    if not target.parent.is_dir():
        raise expected("a path in an existing folder", "path", str(path), "create the folder first")
    if target.is_dir():
        raise expected("the name of a file", "path", str(path), got=f"the folder {str(path)!r}")
    if target.exists() and not overwrite:
        raise expected("a name that is not taken", "path", str(path), Advice.OVERWRITE)
    if not os.access(target.parent, os.W_OK):
        what, hint = "a path in a folder that can be written to", "choose another folder"
        raise expected(what, "path", str(path), hint)
    return target

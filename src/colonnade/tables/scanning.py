"""scan: files as a table that is read when it is counted."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from colonnade.arrays import Weights
from colonnade.exceptions import InputError, expected, inapplicable, listing, no_such_file
from colonnade.tables.arrow_files import ARROW, PARQUET, ArrowFiles
from colonnade.tables.asked import Asked
from colonnade.tables.bins import Bins
from colonnade.tables.compact import DEFAULT_MEMORY
from colonnade.tables.cuts import Cuts, Strategy
from colonnade.tables.engines import Engine, engine_of
from colonnade.tables.files import TEXT
from colonnade.tables.opening import COMPRESSIONS
from colonnade.tables.parts import Parts
from colonnade.tables.streams import Streamed
from colonnade.tables.text_files import Dialect, TextFiles
from colonnade.tables.texts import Codes, Decimal

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)b?", re.IGNORECASE)
# A block is read, translated and counted: it has so many bytes a row and column at a time.
_BYTES_PER_VALUE = 16
_MIN_BLOCK_BYTES, _MAX_BLOCK_BYTES = 1 << 16, 1 << 23
_MIN_BLOCK_ROWS, _MAX_BLOCK_ROWS = 1 << 12, 1 << 19


@dataclass(frozen=True, eq=False)
class Scanned:
    """Files as one table, not read yet; made by :func:`scan`.

    Attributes
    ----------
    files : tuple of Path
    parts : Parts
        The blocks of columns that the files hold.
    memory : int
        Bytes that reading may take, more or less.
    """

    files: tuple[Path, ...]
    parts: Parts
    memory: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.parts.names

    def opened(self, asked: Asked) -> Streamed:
        """Return the table with its states declared or to be found."""
        return Streamed(self.parts, asked, self.memory)

    def cut_points(self, bins: Bins, strategy: Strategy, weights: Weights) -> tuple[Cuts, ...]:
        """Choose cut points in one pass, as :meth:`Discretizer.fit` says."""
        from colonnade.tables.sketches import passed_cuts

        return passed_cuts(self.parts, bins, strategy, weights)

    def __repr__(self) -> str:
        return f"Scanned(files=[{listing(list(map(str, self.files)), 3)}])"


def are_paths(table: Any) -> bool:
    """Whether something names files: a path, or a list of them."""
    if isinstance(table, str | os.PathLike):
        return True
    several = isinstance(table, list | tuple) and len(table) > 0
    return several and all(isinstance(each, str | os.PathLike) for each in table)


def is_pattern(path: str) -> bool:
    """Whether a name stands for all files that it fits, and not for one."""
    return glob.has_magic(path) and not Path(path).exists()


def can_be_scanned(path: Path) -> bool:
    """Whether the name of a file is of a kind that is read block by block."""
    try:
        return bool(_kind(path))
    except InputError:
        return False


def scan(
    paths: Any,
    na: Collection[str] | None = None,
    header: bool | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory: int | str | None = None,
) -> Scanned | Engine:
    r"""Take files as one table that is read when it is counted, block by block.

    Wherever a table is expected, paths may be given as they are; `scan` is for what has to be said
    about them.

    Parameters
    ----------
    paths : path, list of paths or lazy table
        Of Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``) or text files, perhaps
        compressed, as for :func:`read`. Names with ``*``, ``?`` or ``[`` stand for all files that
        they fit, in the order of their names. All files have the same columns. Or a table of a
        database, a cluster or a lazy data frame, to say how much memory it may take here.
    na, header, separator, decimal, encoding
        As for :func:`read`, of text files. Types of columns are decided on all rows of all files.
    memory : int or str, optional
        Bytes that reading may take, such as ``"500 MB"``, and that compact columns of the rows may
        take before they are kept on disk; by default 1 GB. What is counted needs memory of its own.

    Returns
    -------
    Scanned or Engine
        A table for :func:`fit` and all other functions that take one.

    Examples
    --------
    >>> import tempfile
    >>> from colonnade.tables import encode
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, rows in (("a.csv", "yes\nno\n"), ("b.csv", "yes\n?\n")):
    ...         _ = Path(folder, name).write_text("smoker,id\n" + rows.replace("\n", ",1\n"))
    ...     encode(scan(f"{folder}/*.csv", na=["?"]), columns=["smoker"])
    CodedTable(variables=['smoker'], rows=4, missing=1)
    """
    if header is not None and not isinstance(header, bool):
        raise expected("True, False or None", "header", header)
    of_text = {
        "na": na, "header": header, "separator": separator, "decimal": decimal, "encoding": encoding
    }  # fmt: skip
    limit = _bytes(memory)
    if (engine := engine_of(paths)) is not None:
        _refuse_text_options(of_text)
        return replace(engine, memory=limit)
    files = _files(paths)
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        raise expected("files of one kind", "paths", paths, got=f"{listing(sorted(kinds))} files")
    if kinds != {"text"}:
        _refuse_text_options(of_text)
        names = ArrowFiles(files, 1).names
        return Scanned(files, ArrowFiles(files, _block_rows(limit, len(names))), limit)
    Decimal.of(decimal, ",")  # a wrong word is told at once
    dialect = Dialect(Codes.of(na), header, separator, decimal, encoding)
    at_once = max(_MIN_BLOCK_BYTES, min(_MAX_BLOCK_BYTES, limit // 32))
    return Scanned(files, TextFiles(files, dialect, at_once), limit)


def _refuse_text_options(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise inapplicable(name, value, "CSV files")


def _files(paths: Any) -> tuple[Path, ...]:
    """Return the files that paths stand for; there must be some."""
    if not are_paths(paths):
        raise expected("a path or a list of paths", "paths", paths)
    several = paths if isinstance(paths, list | tuple) else [paths]
    found: list[Path] = []
    for path in map(os.fspath, several):
        if Path(path).is_file():
            found.append(Path(path))
        elif glob.has_magic(path):
            fitting = [Path(each) for each in sorted(glob.glob(path, recursive=True))]
            found += [each for each in fitting if each.is_file()]
            if not fitting:
                raise no_such_file(path)
        elif Path(path).is_dir():
            got, hint = f"the folder {path!r}", f"write {path.rstrip('/')}/*.parquet, for example"
            raise expected("files", "paths", path, hint, got=got)
        else:
            _kind(Path(path))
            raise no_such_file(path)
    return tuple(found)


def _kind(path: Path) -> str:
    """Return what kind of file a name is of."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    last = suffixes[-1] if suffixes else ""
    if last in PARQUET:
        return "Parquet"
    if last in ARROW:
        return "Arrow"
    if last in TEXT or (last in COMPRESSIONS and (suffixes[0] in TEXT or last == ".zip")):
        return "text"
    what = f"a table, or files ending in {', '.join((*PARQUET, *ARROW, *TEXT))}"
    raise expected(what, "table", str(path), "read other files with read(path)")


def _bytes(memory: Any) -> int:
    if memory is None:
        return DEFAULT_MEMORY
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = _SIZE.fullmatch(memory.strip()) if isinstance(memory, str) else None
    size = int(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
    if size < 1:
        raise expected("a number of bytes, such as '500 MB',", "memory", memory)
    return size


def _block_rows(memory: int, columns: int) -> int:
    fitting = memory // (4 * _BYTES_PER_VALUE * max(1, columns))
    return max(_MIN_BLOCK_ROWS, min(_MAX_BLOCK_ROWS, fitting))

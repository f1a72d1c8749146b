"""scan: files as a table that is read when it is counted."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from colonnade.arrays import Weights
from colonnade.exceptions import (
    AbsentFileError,
    Advice,
    InputError,
    expected,
    inapplicable,
    listing,
    no_such_file,
)
from colonnade.tables.arrow_files import ARROW, PARQUET, ArrowFiles
from colonnade.tables.asked import Asked
from colonnade.tables.bins import Bins
from colonnade.tables.bounds import Allowed, Memory
from colonnade.tables.cuts import Cuts, Strategy
from colonnade.tables.engines import Engine, engine_of
from colonnade.tables.files import TEXT
from colonnade.tables.opened_text import Dialect
from colonnade.tables.opening import COMPRESSIONS
from colonnade.tables.parts import Parts
from colonnade.tables.streams import Streamed
from colonnade.tables.text_files import TextFiles
from colonnade.tables.texts import Codes, Decimal

# How many times larger tables may be in memory than in their files: texts, and codes that become
# texts again.
_TIMES_LARGER = {"text": 4, "Arrow": 16, "Parquet": 128}
_TIMES_PACKED = 8


@dataclass(frozen=True, eq=False)
class Scanned:
    """Files as one table, not read yet; made by :func:`scan`.

    Attributes
    ----------
    files : tuple of Path
    parts : Parts
        The blocks of columns that the files hold.
    memory : Memory
        Bytes that the table may take here.
    """

    files: tuple[Path, ...]
    parts: Parts
    memory: Memory

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.parts.names

    def within(self, memory: Memory) -> Scanned:
        """Return the same table, to be read with another bound."""
        return replace(self, parts=self.parts.within(memory), memory=memory)

    def fits(self, copies: int = 1) -> bool:
        """Whether so many copies of it could be in the memory allowed, as far as sizes tell."""
        times = copies * _TIMES_LARGER[_kind(self.files[0])]
        packed = self.files[0].suffix.lower() in COMPRESSIONS
        size = sum(file.stat().st_size for file in self.files) * (_TIMES_PACKED if packed else 1)
        if size * times <= self.memory.size:
            return True
        rows = self.parts.rows
        return rows is not None and self.memory.holds_values(copies * rows * len(self.names))

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
    memory: Allowed = None,
) -> Scanned | Engine:
    r"""Take files as one table that is read when it is counted, block by block.

    Wherever a table is expected, paths may be given as they are; `scan` is for what has to be said
    about them.

    Parameters
    ----------
    paths : path, list of paths or lazy table
        Of Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``) or text files, perhaps
        compressed, as for :func:`read`. Names with ``*``, ``?`` or ``[`` stand for all files that
        they fit, in the order of their names. All files have the columns that are used. Or a table
        of a database, a cluster or a lazy data frame, to say how much memory it may take here.
    na, header, separator, decimal, encoding
        As for :func:`read`, of text files. Types of columns are decided on all rows of all files.
    memory : int or str, optional
        Bytes that the table may take here, such as ``"500 MB"``; by default 1 GB. It bounds the
        blocks that are read, the counts of blocks that wait to be added up, the compact columns of
        the rows, which are kept on disk beyond it, and what searches keep of them. The package
        itself, and results such as counts and one number per row, come on top. Functions that take
        a table have `memory` as well, which is short for giving them ``scan(table, memory=...)``.

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
    limit = Memory.of(memory)
    if (engine := engine_of(paths)) is not None:
        _refuse_text_options(of_text)
        return engine.within(limit)
    files = _files(paths)
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        raise expected("files of one kind", "paths", paths, got=f"{listing(sorted(kinds))} files")
    if kinds != {"text"}:
        _refuse_text_options(of_text)
        return Scanned(files, ArrowFiles(files, 1).within(limit), limit)
    Decimal.of(decimal, ",")  # a wrong word is told at once
    dialect = Dialect(Codes.of(na), header, separator, decimal, encoding)
    return Scanned(files, TextFiles(files, dialect, limit.block_bytes), limit)


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
            files = [each for each in fitting if each.is_file()]
            if not files:
                raise _fits_nothing(path, folders=bool(fitting))
            found += files
        elif Path(path).is_dir():
            got, hint = f"the folder {path!r}", f"write {path.rstrip('/')}/*.parquet, for example"
            raise expected("files", "paths", path, hint, got=got)
        else:
            _kind(Path(path))
            raise no_such_file(path)
    return tuple(found)


def _fits_nothing(pattern: str, folders: bool) -> InputError:
    """Word the error for a pattern that fits no file."""
    what = "a pattern that fits at least one file"
    got, hint = f"{pattern!r}, which fits none", "see that folder and ending are right"
    if folders:
        got = f"{pattern!r}, which fits only folders"
        hint = f"write {pattern.rstrip('/')}/*.parquet, for example"
    return expected(what, "paths", pattern, hint, got=got, kind=AbsentFileError)


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
    raise expected(what, "paths", str(path), Advice.READ_FIRST)

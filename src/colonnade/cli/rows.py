"""Rows of a table in the states of a network, and rows that are shown or written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli.models import check_output
from colonnade.cli.output import fits, grid, say, say_rest, write_table
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import DataWarning, counted, did_you_mean, listing, warn

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.tables import CodedTable
    from colonnade.tables.countable import Countable

_ROWS_SHOWN = 20

RowsFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        parser=file_that(ending_in((".csv", ".tsv", ".parquet"), "-")),
        help="File to write: .csv, .tsv or .parquet, or - for CSV on standard output; by "
        "default the first rows are shown.",
    ),
]


def check_rows_file(
    output: Path | None, overwrite: bool, json: bool, data: Path | None = None
) -> None:
    """Refuse, before the work, a file that could not be written, and one beside --json.

    Nor are the data written over that are read.
    """
    if output is not None and json:
        raise Misuse("Expected --output or --json, got both.", hint="leave out one of them")
    if output is not None and str(output) != "-":
        check_output(output, overwrite)
        if data is not None and output.exists():
            _refuse_own_data(output, data)


def _refuse_own_data(output: Path, data: Path) -> None:
    read = [path for path in (*glob(str(data)), str(data)) if os.path.exists(path)]
    if any(os.path.samefile(output, path) for path in read):
        raise Misuse(
            f"--output: {str(output)!r} is a file of the data.", hint="choose another name"
        )


def with_absent(
    network: BayesianNetwork, table: Mapping[str, Any], target: str | None = None
) -> dict[str, Any]:
    """Add empty columns for the variables that a table lacks, and say which; not of a target."""
    from colonnade.network.new_rows import tell_absent

    lacking = [name for name in network.dag.variables if name not in table]
    if absent := [name for name in lacking if name != target]:
        tell_absent(absent, list(table), network, target)
    rows = len(next(iter(table.values())))
    return {**table, **{name: [None] * rows for name in lacking}}


def coded_rows(
    network: BayesianNetwork,
    table: Mapping[str, Any],
    target: str | None = None,
    treated: str = "taken as missing",
) -> CodedTable:
    """Encode rows with the states of a network; say which values are new."""
    from colonnade.network.learning import coded_for_network
    from colonnade.network.new_rows import advising_rows

    warn_of_numbers(network, table)
    with advising_rows(network):
        coded = coded_for_network(table, network, None, "missing")
    warn_of_unknown(coded, target, treated)
    return coded


def warn_of_numbers(network: BayesianNetwork, table: Any) -> None:
    """Say which numbers that a network cuts may be codes for missing values."""
    from colonnade.tables.doubts import warn_of_codes

    if network.discretizer is not None:
        warn_of_codes(table, network.discretizer.columns)


def warn_of_unknown(rows: Countable, target: str | None, treated: str = "taken as missing") -> None:
    """Say which values of rows are no states, and how they are treated; those of a target apart."""
    for name, values in rows.unknown.items():
        times = sum(values.values())
        new = f"{counted(len(values), 'value')} that the network does not know"
        statement = f"Column {name!r}: {new} ({listing(values, 5)}) in {counted(times, 'row')}"
        own = ", which are not compared with their predictions" if name == target else f" {treated}"
        states = next(each.states for each in rows.variables if each.name == name)
        hints = (did_you_mean(value, states) for value in values)
        warn(DataWarning(f"{statement}{own}.", next(filter(None, hints), "")))


def records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows as dictionaries, for JSON."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def deliver(
    columns: Mapping[str, Sequence[Any]],
    statement: str,
    output: Path | None,
    overwrite: bool,
    shown: Mapping[str, Sequence[Any]] | None = None,
) -> bool:
    """Write rows, or show the first of them; return whether more may be said after them.

    Standard output has nothing but the rows if they are written to it. What is shown may have
    other columns than what is written.
    """
    if output is None:
        say(statement)
        _show(shown or columns)
        return True
    write_table(output, columns, overwrite)
    if str(output) == "-":
        return False
    say(statement)
    say(f"Saved {output}")
    return True


def _show(columns: Mapping[str, Sequence[Any]]) -> None:
    """Print the first rows, each with its number, as far as their columns fit the terminal."""
    rows = list(zip(*columns.values(), strict=True))
    lines = [[str(k + 1), *map(_shown, row)] for k, row in enumerate(rows[:_ROWS_SHOWN])]
    head = ["row", *columns]
    width = len(head)
    while width > 2 and not fits([line[:width] for line in (head, *lines)]):
        width -= 1
    grid(head[:width], [line[:width] for line in lines], numbers=["row"])
    more = "-o OUT.csv saves all"
    say_rest(len(head) - width, "column", more)
    say_rest(len(rows) - len(lines), "row", more)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)

"""`colonnade impute`: the gaps of a table filled in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.carried import has_types, taken
from colonnade.cli.data import FileOptions
from colonnade.cli.models import load
from colonnade.cli.output import listed, say_json
from colonnade.cli.rows import (
    RowsFile,
    check_rows_file,
    coded_rows,
    deliver,
    records,
    with_absent,
)
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import counted

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.tables import CodedTable

# The column that numbers several completed tables.
_NUMBER = "table"


class How(StrEnum):
    """How gaps are filled."""

    PROBABLE = "probable"
    SAMPLE = "sample"
    MEAN = "mean"


def impute(
    model: options.Model,
    data: FileOptions,
    how: Annotated[
        How,
        typer.Option(
            parser=choice(How),
            metavar="HOW",
            help="By the states that are most probable together (probable), by states drawn given "
            "the rest of the row (sample), or by the mean of states that are whole numbers, and "
            "elsewhere the single most probable state (mean).",
        ),
    ] = How.PROBABLE,
    tables: Annotated[
        int | None,
        options.number(
            1,
            help="Completed tables for multiple imputation, with --how sample: one below the "
            "other, numbered in a column called table. They differ by all that is unknown, the "
            "tables of the network included.",
        ),
    ] = None,
    output: RowsFile = None,
    seed: Annotated[
        int | None, options.number(help="Other draws; the same seed gives the same ones.")
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Fill in what rows lack, each row given all that is known of it.

    Columns that are no variables of the network stay as they are. Numbers that the network cuts
    into intervals are written as these intervals. Values that the network has never seen are kept,
    with a warning; for the rest of their rows they count as missing. Variables that the data lack
    become columns.

    Examples
    --------
    colonnade impute sites.json clinics.csv -o complete.csv

    colonnade impute sites.json clinics.csv --how sample --tables 20 -o several.parquet
    """
    for option, value in (("--tables", tables), ("--seed", seed)):
        if value is not None and how is not How.SAMPLE:
            raise Misuse(f"{option} applies only with --how sample.")
    check_rows_file(output, overwrite, json, data.path)
    network = load(model)
    whole = data.read(as_written=True)
    table = dict(whole)
    if tables is not None and _NUMBER in table:
        hint = "rename the column, or ask for one table at a time"
        raise Misuse(f"--tables: the data have a column called {_NUMBER!r}.", hint=hint)
    table = with_absent(network, table)
    coded = coded_rows(network, table, treated="kept, and taken as missing for the rest of the row")
    lacking = sum(coded.missing) - sum(sum(times.values()) for times in coded.unknown.values())
    found = network.impute(coded, how.value, tables, (seed or 0) if how is How.SAMPLE else None)
    several = found if isinstance(found, list) else [found]
    for name in coded.unknown:
        own = _unknown(coded, name, listed(table[name]))
        for filled in several:
            filled[name] = [own.get(k, value) for k, value in enumerate(listed(filled[name]))]
    others = taken(whole, (n for n in whole if n not in network), has_types(output, json))
    columns = _columns({**table, **others}, several, tables is not None)
    if json:
        say_json({"filled": lacking, "rows": records(columns)})
        return
    copies = "" if tables is None else f", in each of {counted(tables, 'table')}"
    statement = f"Filled in {counted(lacking, 'value')} of {counted(coded.rows, 'row')}{copies}"
    cut = _cut(network, list(table))
    statement += f"; {', '.join(cut)} written as intervals" if cut else ""
    deliver(columns, statement, output, overwrite)


def _columns(
    table: dict[str, Any], several: list[dict[str, Any]], numbered: bool
) -> dict[str, list[Any]]:
    """All columns of the data, with those of the network filled, one table below the other."""
    columns: dict[str, list[Any]] = {}
    if numbered:
        rows = len(next(iter(several[0].values())))
        columns[_NUMBER] = [k + 1 for k in range(len(several)) for _ in range(rows)]
    for name, own in table.items():
        parts = [filled.get(name, own) for filled in several]
        columns[name] = [value for part in parts for value in listed(part)]
    return columns


def _unknown(coded: CodedTable, name: str, own: list[Any]) -> dict[int, Any]:
    """The values of a column that are there and no states, by row: they are no gaps."""
    place = coded.names.index(name)
    lacking = coded.codes[place] == coded.variables[place].cardinality
    rows = np.flatnonzero(lacking).tolist()
    return {k: own[k] for k in rows if own[k] is not None and own[k] == own[k]}


def _cut(network: BayesianNetwork, names: list[str]) -> list[str]:
    """Columns of numbers that the network cuts."""
    cutter = network.discretizer
    return [name for name in names if name in network and cutter and cutter.get(name) is not None]

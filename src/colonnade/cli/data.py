"""A file of data, and what is done with its columns before anything is learned from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from colonnade.cli.messages import renamed
from colonnade.cli.options import misuse

_option = partial(typer.Option, rich_help_panel="Data")


class Missing(StrEnum):
    """What to do with rows that lack values."""

    RAISE = "raise"
    AVAILABLE = "available"
    EM = "em"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """A file of data with the options about its columns, checked together.

    What is None was not given.
    """

    path: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table of data: CSV or TSV with names in the first line, or Parquet.",
        ),
    ]
    bins: Annotated[
        int | None,
        _option(
            min=2,
            metavar="N",
            help="Cut columns of floating-point numbers into this many intervals with about the "
            "same number of rows; the cut points are kept with the network.",
        ),
    ] = None
    cut: Annotated[
        list[str] | None,
        _option(
            metavar="COLUMN",
            help="Cut this column of integers as well; may be given several times. Needs --bins.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        _option(metavar="COLUMN", help="Leave this column out; may be given several times."),
    ] = None
    na: Annotated[
        list[str] | None,
        _option(
            metavar="TEXT",
            help="Text that stands for a missing value in a CSV file, besides the empty one; may "
            "be given several times.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.cut and self.bins is None:
            raise misuse("--cut", "it needs --bins.")

    def read(self, *named: str | None) -> dict[str, Any]:
        """Read the table without the columns to be ignored; these and those named must be there."""
        from colonnade.tables import read
        from colonnade.tables.levels import refuse_absent

        ignored = self.ignore or ()
        with renamed(missing="na"):
            table = read(self.path, self.na or ())
        refuse_absent([*ignored, *(name for name in named if name is not None)], list(table))
        return {name: column for name, column in table.items() if name not in ignored}

    def discretized(self, table: dict[str, Any], weights: str | None = None) -> Any:
        """Cut the floating-point columns and those that are named; weights stay numbers."""
        from colonnade.tables import Discretizer

        if self.bins is None:
            return table
        variables = {name: column for name, column in table.items() if name != weights}
        found = Discretizer.fit(variables, self.bins).columns
        if self.cut:
            with renamed(columns="cut"):
                found += Discretizer.fit(variables, self.bins, columns=self.cut).columns
        discretizer = Discretizer(tuple({column.name: column for column in found}.values()))
        return discretizer.cut(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData(DataOptions):
    """Data that tables are estimated from: rows may lack values, and count more than once."""

    missing: Annotated[
        Missing,
        _option(
            metavar="HOW",
            help="What to do with rows that lack values: raise (an error), available (each table "
            "uses the rows that are complete for it) or em (rows are completed by EM). With "
            "--learn and one of the last two the graph is learned from the complete rows.",
        ),
    ] = Missing.RAISE
    weights: Annotated[
        str | None,
        _option(
            metavar="COLUMN",
            help="Column that says how often each row counts; it is not a variable.",
        ),
    ] = None

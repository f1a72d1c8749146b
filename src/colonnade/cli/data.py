"""A file of data, and what is done with its columns before anything is learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from colonnade.cli.values import Misuse, choice, file_that, refuse_repeated, table_ending
from colonnade.exceptions import listing

_option = partial(typer.Option, rich_help_panel="Data")
_MIN_BINS = 2


class Missing(StrEnum):
    """What to do with rows that lack values."""

    RAISE = "raise"
    AVAILABLE = "available"
    EM = "em"
    STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """A file of data with the options about its columns, checked together.

    What is None was not given.
    """

    path: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            parser=file_that(table_ending),
            help="Table of data: CSV or TSV with names in the first line, or Parquet.",
        ),
    ]
    bins: Annotated[
        list[str] | None,
        _option(
            metavar="N",
            help="Cut columns of numbers into this many intervals with about the same number of "
            "rows, if they have fractions or more than 10 different values; the cut points are "
            "kept with the network. COLUMN=N cuts one column, whatever values it has, and "
            "COLUMN=keep keeps its values as states; may be given several times.",
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
            "be given several times. By default the usual ones, such as NA, N/A, NaN, NULL and ?; "
            "--na '' is none of them.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _option(
            metavar="",
            help="Whether the first line of a CSV file holds the names of the columns; by default "
            "it does. Without it the columns are called column1, column2 and so on.",
            show_default=False,
        ),
    ] = None
    missing: Annotated[
        Missing,
        _option(
            parser=choice(Missing),
            metavar="HOW",
            help="What to do with rows that lack values: raise (an error), available (each table "
            "uses the rows that are complete for it), em (rows are completed by EM) or state (a "
            "missing value is one more state). With available and em, --learn uses the rows "
            "without any gap.",
        ),
    ] = Missing.RAISE

    def __post_init__(self) -> None:
        from colonnade.tables.files import is_parquet

        for option, value in (("--na", self.na), ("--header or --no-header", self.header)):
            if value is not None and is_parquet(self.path):
                raise Misuse(f"{option} applies only to CSV files.")
        _bins_of(self.bins or [])  # wrong usage is told before anything is read
        refuse_repeated("--ignore", "columns", self.ignore)
        refuse_repeated("--na", "texts", self.na)

    def read(self, *named: str | None) -> dict[str, Any]:
        """Read the table without the columns to be ignored; these and those named must be there."""
        from colonnade.tables import read
        from colonnade.tables.levels import refuse_absent

        # An index without a name is left out anyway.
        ignored = [name for name in self.ignore or () if name]
        table = read(self.path, self.na, self.header)
        refuse_absent([*ignored, *(name for name in named if name is not None)], list(table))
        return {name: column for name, column in table.items() if name not in ignored}

    def discretized(
        self, table: dict[str, Any], weights: str | None = None, whose: str = "the table"
    ) -> Any:
        """Cut columns of numbers as --bins says; weights stay numbers.

        `whose` says for messages where the columns come from.
        """
        from colonnade.tables import Bins, Discretizer
        from colonnade.tables.levels import column_error
        from colonnade.tables.sources import source_of

        if self.bins is None:
            return table
        default, each = _bins_of(self.bins)
        source = source_of({name: column for name, column in table.items() if name != weights})
        for name in each:
            if name not in source.columns:
                problem = f"not one of the variables to cut, {listing(source.names)}."
                raise column_error(name, problem, "name another column in --bins")
        discretizer = Discretizer.fit(source, Bins(default, each))
        columns = source.columns.values()
        if default is not None and all(column.number_type is None for column in columns):
            raise Misuse(f"--bins applies only to columns of numbers, and {whose} has none.")
        return discretizer.cut(table)


def _bins_of(words: Sequence[str]) -> tuple[int | None, dict[str, int | None]]:
    """Return what --bins says of all columns, None if nothing, and of single ones."""
    default: int | None = None
    each: dict[str, int | None] = {}
    for word in words:
        name, sign, number = word.rpartition("=")
        if (name in each) if sign else default is not None:
            which = f"for {name}" if sign else "for all columns"
            raise Misuse(f"--bins: {word!r} is the second number {which}.")
        if sign and number == "keep":
            each[name] = None
        elif not number.isascii() or not number.isdigit() or int(number) < _MIN_BINS:
            what = f"a number of at least {_MIN_BINS}, COLUMN=NUMBER or COLUMN=keep"
            raise Misuse(f"Expected {what} for --bins, got {word!r}.")
        elif sign:
            each[name] = int(number)
        else:
            default = int(number)
    return default, each


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedData(DataOptions):
    """Data whose rows may count more than once."""

    weights: Annotated[
        str | None,
        _option(
            metavar="COLUMN",
            help="Column that says how often each row counts; it is not a variable.",
        ),
    ] = None

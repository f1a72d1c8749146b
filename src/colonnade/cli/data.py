"""A file of data, and what is done with its columns before anything is learned from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli.bounds import OF_ANY_SIZE, Bound, MemoryOption, TableOption
from colonnade.cli.cuts import bins_of, cuts_of, warn_of_empty
from colonnade.cli.restating import Restating, restated, restated_values, restatings_of
from colonnade.cli.values import (
    Misuse,
    choice,
    data_ending,
    decimal_sign,
    encoding_name,
    file_that,
    refuse_repeated,
    separator_sign,
    table_ending,
)
from colonnade.exceptions import (
    DataError,
    DataWarning,
    did_you_mean,
    listing,
    not_among,
    renamed,
    warn,
)

if TYPE_CHECKING:
    from colonnade.tables import Bins, Cuts, Discretized, Inspection, Scanned
    from colonnade.tables.engines import Engine
    from colonnade.tables.files import TextTable
    from colonnade.tables.sources import Column
    from colonnade.tables.tallies import Tallies

_option = partial(typer.Option, rich_help_panel="Data")

_DataOfAnySize = Annotated[
    Path, typer.Argument(metavar="DATA", parser=file_that(data_ending), help=OF_ANY_SIZE)
]
RecodeOption = Annotated[
    list[str] | None,
    _option(
        metavar="VALUES",
        help="Take values of one column for states: 'smoker: Y = yes, N = no'. The network "
        "knows them from then on. May be given several times.",
    ),
]
OrderOption = Annotated[
    list[str] | None,
    _option(
        metavar="STATES",
        help="All states of one column, in order: 'stage: I, II, III, IV'. May be given "
        "several times.",
    ),
]


class Missing(StrEnum):
    """What to do with rows that lack values."""

    RAISE = "raise"
    AVAILABLE = "available"
    EM = "em"
    STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a file of data is read. What is None was not given."""

    na: Annotated[
        list[str] | None,
        _option(
            metavar="TEXT",
            help="Text that stands for a missing value in a CSV or Excel file, besides the empty "
            "one; may be given several times. By default the usual ones, such as NA, N/A, NaN, "
            "NULL and ?; --na '' is none of them.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _option(
            metavar="",
            help="Whether the first line of a CSV or Excel file holds the names of the columns; by "
            "default it does. Without it the columns are called column1, column2 and so on.",
            show_default=False,
        ),
    ] = None
    separator: Annotated[
        str | None,
        _option(
            metavar="SIGN",
            parser=separator_sign,
            help="What stands between the values of a CSV file: a sign, or the word tab; by "
            "default what fits the first lines.",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        _option(
            metavar="SIGN",
            parser=decimal_sign,
            help="What stands before the decimals of numbers in a CSV file: a point or a comma; by "
            "default what fits each column.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _option(
            metavar="NAME",
            parser=encoding_name,
            help="Encoding of a CSV file, such as utf-8, utf-16 or cp1252; by default what "
            "fits it.",
        ),
    ] = None

    def check(self, path: Path | None) -> None:
        """Refuse options that do not apply to a file; None is no file at all."""
        from colonnade.tables.databases import is_database
        from colonnade.tables.files import is_sheet, is_text

        text = path is not None and not is_database(path) and is_text(path)
        cells = text or (path is not None and is_sheet(path))
        where = "to CSV files" if path is not None else "with --data"
        for option, value, applies in (
            ("--na", self.na, cells),
            ("--header or --no-header", self.header, cells),
            ("--separator", self.separator, text),
            ("--decimal", self.decimal, text),
            ("--encoding", self.encoding, text),
        ):
            if value is not None and not applies:
                raise Misuse(f"{option} applies only {where}.")
        refuse_repeated("--na", "texts", self.na)

    def table(self, path: Path, as_written: bool = False) -> TextTable:
        """Read a file; `as_written` keeps its texts as well."""
        from colonnade.tables.files import TextTable, read_table

        found = read_table(
            str(path),
            self.na,
            self.header,
            separator=self.separator,
            decimal=self.decimal,
            encoding=self.encoding,
            as_written=as_written,
        )
        table = found if isinstance(found, TextTable) else TextTable(found)
        there = {text for texts in table.codes.values() for text in texts}
        if unused := [text for text in self.na or () if text.strip() and text.strip() not in there]:
            warn(DataWarning(f"--na: no value is {listing(unused)}.", "see how it is written"))
        return table

    def scan(self, paths: Sequence[Path], bound: Bound) -> Scanned | Engine:
        """Take files, or a table of a database, as a table that is read when it is counted."""
        from colonnade.tables import scan
        from colonnade.tables.databases import is_database

        bound.check(paths)
        if database := is_database(paths[0]):
            paths = [paths[0] if bound.table is None else paths[0] / bound.table]
        with renamed(paths="DATA", path="DATA", **({"table": "of_database"} if database else {})):
            return scan(
                str(paths[0]) if database else [str(path) for path in paths],
                self.na,
                self.header,
                separator=self.separator,
                decimal=self.decimal,
                encoding=self.encoding,
                memory=bound.memory,
            )

    def passing(self, path: Path, bound: Bound, copies: int = 1) -> Scanned | Engine | None:
        """Return data that are not read into memory: a pattern, a database, or a large file.

        What is made of all rows takes as much memory as so many copies of them.
        """
        from colonnade.tables import Scanned
        from colonnade.tables.databases import is_database
        from colonnade.tables.scanning import can_be_scanned, is_pattern

        bound.check([path])
        if is_database(path) or is_pattern(str(path)):
            return self.scan([path], bound)
        if not can_be_scanned(path) or not path.is_file():
            return None
        found = self.scan([path], bound)
        return None if isinstance(found, Scanned) and found.fits(copies) else found


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions(ReadOptions):
    """A file of data, how it is read, and what of it is left out."""

    path: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            parser=file_that(table_ending),
            help="Table of data: CSV or TSV with names in the first line (perhaps compressed), "
            "Parquet, Feather, Excel, Stata or SPSS; - is standard input.",
        ),
    ]
    ignore: Annotated[
        list[str] | None,
        _option(metavar="COLUMN", help="Leave this column out; may be given several times."),
    ] = None

    def __post_init__(self) -> None:
        self.check(self.path)
        refuse_repeated("--ignore", "columns", self.ignore)

    def read(self, *named: str | None, as_written: bool = False) -> TextTable:
        """Read the table without the columns to be ignored; these and those named must be there."""
        return self.without_ignored(self.read_all(*named, as_written=as_written))

    def read_all(self, *named: str | None, as_written: bool = False) -> TextTable:
        """Read the table with all its columns; those to be ignored and named must be there."""
        from colonnade.tables.levels import refuse_absent

        table = self.table(self.path, as_written)
        known = [name for name in named if name is not None]
        refuse_absent([*self._ignored, *known], list(table))
        return table

    def without_ignored(self, table: TextTable) -> TextTable:
        """Return a table without the columns to be ignored."""
        return table.only(name for name in table if name not in self._ignored)

    @property
    def _ignored(self) -> list[str]:
        # An index without a name is left out anyway.
        return [name for name in self.ignore or () if name]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOptions(FileOptions):
    """A file of data, and how its numbers become states."""

    bins: Annotated[
        list[str] | None,
        _option(
            metavar="N",
            help="Cut columns of numbers into this many intervals with about the same number of "
            "rows (5 by default), if they have fractions or more than 10 different values; the cut "
            "points are kept with the network. COLUMN=N cuts one column, whatever values it has, "
            "and COLUMN=keep keeps its values as states; may be given several times.",
        ),
    ] = None
    cut: Annotated[
        list[str] | None,
        _option(
            metavar="CUTS",
            help="Cut one column at given points, and perhaps name the intervals: 'bmi: 18.5, 25, "
            "30 = thin, normal, heavy, obese'. A value equal to a point lies below it. May "
            "be given several times.",
        ),
    ] = None
    recode: RecodeOption = None
    order: OrderOption = None
    keep: Annotated[
        list[str] | None,
        _option(
            metavar="COLUMN",
            help="Use this column although it would be left out: because it seems to identify rows "
            "or hold dates, has a single value, or lacks more than half of its values; may be "
            "given several times.",
        ),
    ] = None

    def __post_init__(self) -> None:
        # Neither form of super() is at hand: the class was made anew for its slots.
        FileOptions.__post_init__(self)
        _, own = self.own_bins()  # wrong usage is told before anything is read
        for each in self.restatings.values():
            if each.name in own:
                raise Misuse(f"{each.option}: {each.name!r} is given for --bins or --cut, too.")
        refuse_repeated("--keep", "columns", self.keep)
        for name in self.keep or ():
            if name in (self.ignore or ()):
                raise Misuse(f"--keep: {name!r} is given for --ignore, too.")

    @property
    def restatings(self) -> dict[str, Restating]:
        """What --recode and --order say of single columns."""
        return restatings_of(self.recode or (), self.order or ())

    def own_bins(self) -> tuple[int | None, dict[str, int | Cuts | None]]:
        """Return what --bins and --cut say of all columns, None if nothing, and of single ones."""
        default, each = bins_of(self.bins or [])
        own: dict[str, int | Cuts | None] = {**each}
        for text in self.cut or ():
            cuts = cuts_of(text)
            if cuts.name in own:
                raise Misuse(f"--cut: {cuts.name!r} is given for --bins or --cut twice.")
            own[cuts.name] = cuts
        return default, own

    def _wanted(self, table: TextTable, whose: str, states: Collection[str] = ()) -> Bins:
        """Check what --bins and --cut say against a table; see `_wanted_of`."""
        from colonnade.tables.sources import source_of

        return self._wanted_of(source_of(table).columns, whose, states)

    def _wanted_of(
        self, columns: Mapping[str, Column], whose: str, states: Collection[str] = ()
    ) -> Bins:
        """Check what --bins and --cut say against columns.

        Of the numbers in `states`, each is a state unless the column is named.
        """
        from colonnade.tables import Bins, Cuts
        from colonnade.tables.bins import DEFAULT_BINS
        from colonnade.tables.levels import column_error

        default, own = self.own_bins()
        for name, value in own.items():
            if name not in columns:
                option = "--cut" if isinstance(value, Cuts) else "--bins"
                problem = f"not one of the variables to cut, {listing(columns)}."
                hint = did_you_mean(name, columns) or f"name another column in {option}"
                raise column_error(name, problem, hint)
        for name, value in own.items():
            if isinstance(value, Cuts) and (numbers := columns[name].numbers) is not None:
                warn_of_empty(value, numbers)
        if default is not None and all(
            column.number_type is None for name, column in columns.items() if name not in states
        ):
            raise Misuse(f"--bins applies only to columns of numbers, and {whose} has none.")
        return Bins(DEFAULT_BINS if default is None else default, {**dict.fromkeys(states), **own})

    def _check_keep(self, table: Collection[str]) -> None:
        for name in self.keep or ():
            if name not in table:
                raise not_among(table, "keep", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectData(CutOptions):
    """Data of any size that are looked at."""

    path: _DataOfAnySize
    memory: MemoryOption = None
    of_database: TableOption = None

    def inspected(self) -> Inspection:
        """Say what would be made of each column."""
        from colonnade.tables import inspect

        kept = [*(self.keep or ()), *self.restatings]
        scanned = self.passing(self.path, Bound(self.memory, self.of_database))
        if scanned is not None:
            found = self._tallied(scanned)
            columns = {name: tally.column for name, tally in found.columns.items()}
            return inspect(found, self._wanted_of(columns, "the table"), kept)
        table = self.read()
        self._check_keep(table)
        table = restated(table, self.restatings)
        return inspect(table, self._wanted(table, "the table"), kept)

    def _tallied(self, scanned: Scanned | Engine) -> Tallies:
        """Find the values of all columns but those to be ignored."""
        from colonnade.tables.levels import refuse_absent
        from colonnade.tables.tallies import tallied

        refuse_absent(self._ignored, scanned.names)
        kept = [name for name in scanned.names if name not in self._ignored]
        self._check_keep(kept)
        return restated_values(tallied(scanned, self._ignored), self.restatings)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions(CutOptions):
    """Data that something is learned from."""

    missing: Annotated[
        Missing,
        _option(
            parser=choice(Missing),
            metavar="HOW",
            help="What to do with rows that lack values: available (each table uses the rows that "
            "are complete for it), em (rows are completed by EM), state (a missing value is one "
            "more state) or raise (an error). With available and em, --learn uses the rows without "
            "any gap.",
        ),
    ] = Missing.AVAILABLE

    def plan(
        self,
        table: TextTable,
        *,
        weights: str | None = None,
        keep: Sequence[str | None] = (),
        group: str | None = None,
        cuts: bool = True,
    ) -> Inspection:
        """Say what becomes of each column but the weights, and warn of what is left out and cut.

        Columns to be kept are used in any case, and groups as they are unless --bins or --cut names
        them. Who cuts columns otherwise than planned also warns of that: then there are no `cuts`.
        """
        from colonnade.tables import inspect

        self._check_keep(table)
        columns = table.only(name for name in table if name != weights)
        wanted = self._wanted(columns, "the table", [] if group is None else [group])
        return self._told(inspect(columns, wanted, self._kept(*keep, group)), cuts)

    def plan_scanned(
        self,
        table: Scanned | Engine,
        *,
        weights: str | None,
        keep: Sequence[str | None],
        group: str | None,
    ) -> Inspection:
        """Say the same of files and tables of databases, in a pass over them."""
        from colonnade.tables import inspect
        from colonnade.tables.tallies import tallied

        left_out = [*self._ignored, *([] if weights is None else [weights])]
        found = restated_values(tallied(table, left_out, tell=False), self.restatings)
        self._check_keep(found.columns)
        columns = {name: tally.column for name, tally in found.columns.items()}
        wanted = self._wanted_of(columns, "the table", [] if group is None else [group])
        return self._told(inspect(found, wanted, self._kept(*keep, group)))

    def _kept(self, *others: str | None) -> list[str]:
        named = (*(self.keep or ()), *self.restatings, *others)
        return [name for name in named if name is not None]

    def _told(self, plan: Inspection, cuts: bool = True) -> Inspection:
        """Warn of what becomes of columns, and raise if nothing can be learned from them."""
        from colonnade.tables.levels import no_rows

        for column in plan.columns:
            if column.error is not None:
                raise column.error
        plan.warn(cuts)
        if not plan.rows:
            raise no_rows()
        if not plan.used:
            hint = "give --keep with the columns to be used"
            raise DataError("Table", "no column is left that describes rows.", hint)
        return plan

    def chosen(
        self,
        table: TextTable,
        *,
        weights: str | None = None,
        keep: Sequence[str | None] = (),
        group: str | None = None,
    ) -> Discretized:
        """Return the columns that describe rows, cut as planned; weights stay numbers."""
        table = restated(table, self.restatings)
        plan = self.plan(table, weights=weights, keep=keep, group=group)
        names = [*plan.used, *([] if weights is None else [weights])]
        return plan.discretizer.cut(table.only(names))

    def cut_scanned(
        self,
        table: Scanned | Engine,
        columns: Sequence[str],
        weights: str | None,
        group: str | None,
    ) -> Discretized:
        """Cut columns of files in a pass over them; groups stay, unless they are named."""
        from colonnade.tables import Bins, Discretizer
        from colonnade.tables.bins import DEFAULT_BINS
        from colonnade.tables.levels import refuse_absent

        default, own = self.own_bins()
        refuse_absent([*own, *([] if weights is None else [weights])], table.names)
        stay = (group, *self.restatings)
        kept = [name for name in table.names if name not in columns or name in stay]
        bins = Bins(DEFAULT_BINS if default is None else default, {**dict.fromkeys(kept), **own})
        return Discretizer.fit(table, bins, weights=weights).cut(table)

    def discretized(
        self, table: TextTable, *, weights: str | None = None, group: str | None = None
    ) -> Discretized:
        """Cut the columns of a table, all of them wanted; weights stay, and groups unless named."""
        from colonnade.tables import Discretizer

        table = restated(table, self.restatings)
        columns = table.only(name for name in table if name != weights)
        groups = [] if group is None else [group]
        wanted = self._wanted(columns, "the graph of --dag", groups)
        return Discretizer.fit(columns, wanted).cut(table)


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

    @property
    def left_out(self) -> dict[str, str]:
        """Why columns are no variables that an option names."""
        found = dict.fromkeys(self._ignored, "left out by --ignore")
        return found if self.weights is None else {**found, self.weights: "weights of the rows"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FitData(WeightedData):
    """Data of a network; counts may take their place."""

    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            parser=file_that(data_ending),
            help=OF_ANY_SIZE,
            show_default=False,
        ),
    ] = None  # type: ignore[assignment]
    memory: MemoryOption = None
    of_database: TableOption = None

    def __post_init__(self) -> None:
        if self.path is not None:
            DataOptions.__post_init__(self)

    @property
    def scanned(self) -> Scanned | Engine | None:
        """The data, if they are not to be read into memory."""
        assert self.path is not None  # without it there are counts
        return self.passing(self.path, Bound(self.memory, self.of_database))

    def table(self, path: Path, as_written: bool = False) -> TextTable:
        """Read the data into memory, wherever their rows are, or refuse them if they do not fit.

        Only files that are read at once have texts as they are written.
        """
        from colonnade.tables.whole import whole_table

        if (scanned := self.scanned) is None:
            return DataOptions.table(self, path, as_written)
        if (found := whole_table(scanned)) is None:
            problem = f"{str(path)!r} does not fit into {self.memory or '1GB'} of memory"
            hint = f"give --memory with more than {self.memory or '1GB'} if there is"
            raise Misuse(f"--learn forest and --report need all rows: {problem}.", hint=hint)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingFile(FileOptions):
    """A file, or a table of a database, of any size."""

    path: _DataOfAnySize
    memory: MemoryOption = None
    of_database: TableOption = None

    @property
    def scanned(self) -> Scanned | Engine | None:
        """The data, if they are not to be read into memory."""
        # Answers have several numbers a row.
        return self.passing(self.path, Bound(self.memory, self.of_database), copies=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions(ReadOptions):
    """Files that are counted as they pass."""

    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            parser=file_that(data_ending),
            help="Files of one table: Parquet, Arrow, CSV or TSV (perhaps compressed), or a DuckDB "
            "database. A pattern in quotes stands for all files that it fits.",
        ),
    ]
    memory: MemoryOption = None
    of_database: TableOption = None

    def __post_init__(self) -> None:
        self.check(self.paths[0])

    @property
    def scanned(self) -> Scanned | Engine:
        """The files as one table."""
        return self.scan(self.paths, Bound(self.memory, self.of_database))

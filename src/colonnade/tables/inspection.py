"""What a table holds and what would be made of it, by the rules that learning follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import (
    Advice,
    ColonnadeError,
    ColumnWarning,
    DataWarning,
    counted,
    require,
    warn,
)
from colonnade.tables.bins import DEFAULT_BINS, Bins, Measured, Wanted, warn_of_cuts
from colonnade.tables.bounds import Allowed
from colonnade.tables.coding import discovered
from colonnade.tables.countable import bounded
from colonnade.tables.cuts import Cuts, refuse_infinite
from colonnade.tables.discretizing import Discretized, Discretizer
from colonnade.tables.identifiers import Excess, are_dates, identifier, identifies
from colonnade.tables.levels import Levels, are_whole, as_float, column_error, place, refuse_absent
from colonnade.tables.remarks import StateRemarks, number_code
from colonnade.tables.sources import Column, ListColumn, StateColumn, source_of
from colonnade.tables.summaries import ColumnSummary, Fate, Kind
from colonnade.tables.tallies import DistinctColumn, Tallies, Tally, tallies_of
from colonnade.tables.texts import strange_texts
from colonnade.variables import State
from colonnade.wording import joined, percent

# Of fewer rows, a column without values is the only one that says nothing for certain.
_MIN_ROWS = 20
# A column that lacks more than this share of its values says little, and complete rows are few.
_MAX_MISSING_SHARE = 0.5
# States with fewer rows each are many for a column of text, if there are more than the second.
_MIN_ROWS_PER_STATE, _FEW_STATES = 5, 10
_MAX_STRANGE = 3


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """What a table holds, and what would be made of each of its columns.

    Made by :func:`inspect`.

    Attributes
    ----------
    rows : int
    columns : tuple of ColumnSummary

    Examples
    --------
    >>> found = inspect({"bmi": [18.1, 22.5, 30.2, 27.9], "site": ["a", "b", "a", None]}, bins=2)
    >>> found
    Inspection(4 rows, 2 columns, all used)
      bmi  | numbers | 4 different |           | cut: up to 25.2 (2), above 25.2 (2)
      site | text    | 2 different | 1 missing | a (2), b (1)
    >>> found["site"].missing, found.left_out
    (1, {})
    """

    rows: int
    columns: tuple[ColumnSummary, ...]

    def __getitem__(self, name: str) -> ColumnSummary:
        refuse_absent([name], [column.name for column in self.columns])
        return next(column for column in self.columns if column.name == name)

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the columns that would become variables."""
        return tuple(each.name for each in self.columns if each.fate in ("states", "cut"))

    @property
    def left_out(self) -> dict[str, str]:
        """Names of the columns that would be left out, each with the reason."""
        return {each.name: each.reason for each in self.columns if each.fate == "left out"}

    @property
    def discretizer(self) -> Discretizer:
        """The cut points of all columns that would be cut."""
        return Discretizer(tuple(each.cuts for each in self.columns if each.cuts is not None))

    @property
    def title(self) -> str:
        """Size of the table in words, and how much of it would be used."""
        size = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        used = len(self.used)
        return f"{size}, {'all' if used == len(self.columns) else f'{used:,}'} used"

    def prepared(self, table: Any) -> Discretized:
        """Return the columns of the table that are used, cut as planned.

        Parameters
        ----------
        table : table
            The one that was inspected.

        Examples
        --------
        >>> table = {"bmi": [18.1, 22.5, 30.2], "empty": [None, None, None]}
        >>> inspect(table, bins=2).prepared(table).table["bmi"].tolist()
        ['up to 22.5', 'up to 22.5', 'above 22.5']
        """
        source = source_of(table)
        return self.discretizer.cut({name: source.columns[name].values for name in self.used})

    def warn(self, cuts: bool = True) -> None:
        """Say which columns are left out and why, which numbers are doubtful, and which are cut.

        Without `cuts` the last is left to whoever cuts them.
        """
        if self.left_out:
            names = tuple(self.left_out)
            each = [f"{name!r} ({reason})" for name, reason in self.left_out.items()]
            noun = "Column" if len(each) == 1 else "Columns"
            statement = f"{noun} {joined(each)}: left out."
            warn(ColumnWarning(statement, Advice.KEEP_COLUMNS, names))
        doubts = [f"{place(c.name)}: {c.doubtful}." for c in self.columns if c.doubtful]
        if doubts:
            warn(DataWarning(" ".join(doubts), Advice.CHOOSE_CODES))
        if cuts:
            warn_of_cuts({each.name: each.different for each in self.columns if each.guessed})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Examples
        --------
        >>> inspect({"x": [1, 2]}).to_dict()["columns"][0]["type"]
        'integers'
        """
        return {"rows": self.rows, "columns": [column.to_dict() for column in self.columns]}

    def to_frame(self) -> Any:
        """Return a ``pandas.DataFrame`` with one row per column (extra ``formats``).

        Examples
        --------
        >>> inspect({"x": [1, 2]}).to_frame().loc["x", "type"]
        'integers'
        """
        pandas = require("pandas", feature="to_frame()", extra="formats")
        frame = pandas.DataFrame([column.to_dict() for column in self.columns])
        return frame.set_index("name")

    def __repr__(self) -> str:
        rows = [
            (
                each.name,
                each.kind,
                f"{each.different:,} different",
                f"{each.gaps} missing" if each.missing else "",
                each.treatment,
            )
            for each in self.columns
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"Inspection({self.title})"]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append(" | ".join(cells).rstrip())
        lines += [f"{each.name}: {remark}" for each in self.columns for remark in each.remarks]
        return "\n  ".join(lines)


def inspect(
    table: Any,
    bins: int | Mapping[str, Wanted] | Bins = DEFAULT_BINS,
    keep: Iterable[str] = (),
    *,
    memory: Allowed = None,
) -> Inspection:
    """Say what a table holds, and what would be made of each column before a network is learned.

    Numbers are cut by the rule of :func:`discretize`. Left out are columns that seem to identify
    rows (by the rule of :func:`colonnade.tables.encode`) or hold dates, that have no values, whose
    values cannot be states, and, from 20 rows on, those that have a single value or lack more than
    half of their values. The command line learns graphs from the columns that are used here.

    Parameters
    ----------
    table : table
        As for :func:`colonnade.fit`, files, databases and lazy tables included. If it comes from
        text files, or from :func:`colonnade.read`, the codes that stood for missing values are
        listed. Of a column that is not in memory up to 1,048,576 different values are told apart,
        and fewer if they do not fit into `memory`.
    bins : int, mapping or Bins, optional
        As for :func:`discretize`.
    keep : iterable of str, optional
        Columns that are used in any case; those that `bins` names are as well.
    memory : int or str, optional
        Bytes that blocks of files and lazy tables may take here. As for :func:`scan`.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> table = {"id": list(range(40)), "dose": [k % 7 / 2 for k in range(40)]}
    >>> inspect(table, bins=2).left_out
    {'id': 'seems to identify rows: 40 different values in 40 rows'}
    """
    wanted = Bins.of(bins)
    kept = {*keep, *wanted.columns}
    found = tallies_of(bounded(table, memory))
    if found is not None:
        refuse_absent(sorted(kept), list(found.columns))
        return _of_tallies(found, wanted, kept)
    source = source_of(table)
    refuse_absent(sorted(kept), list(source.names))
    codes: Mapping[str, Mapping[str, int]] = getattr(table, "codes", {})
    columns = tuple(
        _summary(column, wanted, name in kept, codes.get(name, {}), source.rows)
        for name, column in source.columns.items()
    )
    return Inspection(source.rows, columns)


def _of_tallies(found: Tallies, wanted: Bins, kept: Collection[str]) -> Inspection:
    """Look at columns of which the different values are known."""
    columns = []
    many = found.cut(_many_to_cut(found, wanted, kept))
    for name, tally in found.columns.items():
        if tally.more:
            columns.append(_summary_of_many(found, tally, wanted, name in kept, many.get(name)))
        else:
            args = tally.column, wanted, name in kept, tally.codes, found.rows
            columns.append(_summary(*args, tally.rows, tally.error))
    return Inspection(found.rows, tuple(columns))


def _summary(
    column: Column,
    wanted: Bins,
    kept: bool,
    codes: Mapping[str, int],
    rows: int,
    times: Array | None = None,
    error: ColonnadeError | None = None,
) -> ColumnSummary:
    """Look at one column; the errors of those that are kept are raised.

    `times` says for how many rows each of its values stands, if not for one.
    """
    try:
        if error is not None:
            raise error
        if column.times is not None and not kept:
            return _times(column, codes, rows)
        read = wanted.read(column)
        return _read(column, read, kept, codes, times)
    except ColonnadeError as error:
        if kept:
            raise
        problem = getattr(error, "problem", error.statement).rstrip(".")
        # An error that names a row is about that row, and not about the column.
        own = error if hasattr(error, "row") else None
        fate: Fate = "left out" if own is None else "to be corrected"
        name = str(column.name)
        return ColumnSummary(name, "other", rows, 0, 0, codes, fate, reason=problem, error=own)


def _times(column: Column, codes: Mapping[str, int], rows: int) -> ColumnSummary:
    times = column.times
    assert times is not None  # asked before
    gaps = rows - times.rows
    if not times.rows:
        return ColumnSummary(column.name, "no values", rows, gaps, 0, codes, reason="no values")
    noun = "durations" if times.durations else "dates or times"
    reason = f"{noun}, {times.different:,} different"
    return ColumnSummary(column.name, "dates", rows, gaps, times.different, codes, reason=reason)


def _read(
    column: Column,
    read: Measured | Levels,
    kept: bool,
    codes: Mapping[str, int],
    times: Array | None,
) -> ColumnSummary:
    cuts: Cuts | None = None
    if isinstance(read, Measured):
        refuse_infinite(column.name, read.numbers, by_row=times is None)
        there = ~np.isnan(read.numbers)
        different = len(np.unique(read.numbers[there]))
        cuts = read.cuts(column.name, weights=times) if there.any() else None
        states: tuple[State, ...] = () if cuts is None else cuts.states
        positions = np.empty(0, int) if cuts is None else cuts.column(read.numbers).codes[there]
    else:
        there = (read.codes >= 0) & (read.codes < len(read.labels))
        different = len(np.unique(read.codes[there]))
        states, positions = _found(column, read, there)
    present = int(there.sum() if times is None else times[there].sum())
    rows = len(there) if times is None else int(times.sum())
    kind = _kind(column, read, states) if present else "no values"
    excess = _excess(column, read, different, present, times)
    reason = _reason(read, kind, rows, rows - present, different, excess)
    own = (column.name, kind, rows, rows - present, different, codes)
    if reason and (not kept or not states):
        return ColumnSummary(*own, reason=reason)
    doubtful = number_code(*_numbers(column, read, there, times))
    remarks = [*_remarks(column, kind, states, present), *([doubtful] if doubtful else [])]
    known = None if times is None else times[there]
    counts = np.bincount(positions.astype(np.int64), known, len(states)).astype(np.int64)
    return ColumnSummary(
        *own,
        "states" if cuts is None else "cut",
        states,
        tuple(counts.tolist()),
        cuts,
        remarks=tuple(remarks),
        doubtful=doubtful,
        guessed=isinstance(read, Measured) and read.guessed > 0,
    )


def _many_to_cut(found: Tallies, wanted: Bins, kept: Collection[str]) -> dict[str, int | Cuts]:
    """Return how columns of more numbers than were told apart are cut, if they are."""
    chosen: dict[str, int | Cuts] = {}
    for name, tally in found.columns.items():
        bins: Any = wanted.columns.get(name, wanted.default)
        if not tally.more or tally.column.number_type is None or bins is None:
            continue
        identifying = _whole_by_itself(tally, wanted) and tally.rows.max(initial=0) <= 1
        if name in kept or not identifying:
            chosen[name] = bins
    return chosen


def _whole_by_itself(tally: Tally, wanted: Bins) -> bool:
    """Whether a column holds whole numbers that nobody said anything about."""
    numbers = tally.column.numbers
    return numbers is not None and are_whole(numbers) and tally.column.name not in wanted.columns


def _summary_of_many(
    found: Tallies, tally: Tally, wanted: Bins, kept: bool, cut: tuple[Cuts, list[int]] | None
) -> ColumnSummary:
    """Look at a column with more different values than were told apart: only numbers are of use."""
    column = tally.column
    name, rows, least = column.name, found.rows, len(tally.rows)
    reason = f"more than {found.most:,} different values"
    if kept and cut is None:
        raise column_error(name, f"{reason} are too many states.", Advice.LEAVE_OUT)
    cuts, counts = cut or (None, [])
    kind: Kind = "text" if column.number_type is None else "numbers"
    kind = "integers" if column.number_type is int else kind
    own = (name, kind, rows, rows - sum(counts) if cuts else 0, least, tally.codes)
    if cuts is None:
        return ColumnSummary(*own, reason=f"seems to identify rows: {reason}")
    return ColumnSummary(
        *own,
        "cut",
        cuts.states,
        tuple(counts),
        cuts,
        remarks=(f"{reason}, not all of them counted",),
        guessed=_whole_by_itself(tally, wanted),
    )


def _numbers(
    column: Column, read: Measured | Levels, there: Array, times: Array | None
) -> tuple[Floats, Array | None]:
    """Return the numbers of a column and their rows, without what is missing.

    There are none if it holds something else.
    """
    known = None if times is None else times[there]
    if isinstance(read, Measured):
        return read.numbers[there], known
    if column.number_type is None:
        return np.empty(0), None
    numbers: Floats = np.array([as_float(label) for label in read.labels])[read.codes[there]]
    return numbers, known


def _excess(
    column: Column, read: Measured | Levels, different: int, rows: int, times: Array | None
) -> Excess | None:
    """Return what is to be said of a column that identifies rows; None of any other."""
    if times is None:
        return identifier(column, read)
    found = Excess(column.name, different, rows)
    if not found.enough or isinstance(column, StateColumn):
        return None
    if isinstance(read, Measured):
        whole, labels = read.guessed > 0, read.numbers[~np.isnan(read.numbers)].tolist()
    else:
        whole, labels = not read.closed, read.present
    return found if identifies(found, labels, whole and column.number_type is not None) else None


def _found(column: Column, read: Levels, there: Array) -> tuple[tuple[State, ...], Array]:
    """Return the states that would be discovered, and the position of that of each row."""
    if not there.any():
        return (), np.empty(0, int)
    states = discovered(column.name, read).states
    place = {(type(state), state): k for k, state in enumerate(states)}
    order = np.array([place.get((type(x), x), -1) for x in read.labels], dtype=np.int64)
    return states, order[read.codes[there].astype(np.int64)]


def _kind(column: Column, read: Measured | Levels, states: Collection[State]) -> Kind:
    if isinstance(read, Measured) or column.number_type is not None:
        return "integers" if column.number_type is int else "numbers"
    if all(isinstance(state, bool) for state in states):
        return "booleans"
    if are_dates(list(states), 1):
        return "dates"
    if read.closed and not isinstance(column, StateColumn):
        return "categories"
    return "text"


def _reason(
    read: Measured | Levels,
    kind: Kind,
    rows: int,
    gaps: int,
    different: int,
    excess: Excess | None,
) -> str:
    """Why a column is left out; empty if it is not."""
    if kind == "no values":
        return "no values"
    if excess is not None:
        numbers = f"{excess.states:,} different values in {counted(excess.rows, 'row')}"
        if kind == "dates":
            return f"dates, {numbers}"
        words = read.present if isinstance(read, Levels) else []
        strange = strange_texts([word for word in words if isinstance(word, str)])
        if kind == "text" and strange:
            return f"text, not numbers, because of {joined(map(repr, strange[:_MAX_STRANGE]))}"
        return f"seems to identify rows: {numbers}"
    if rows < _MIN_ROWS:
        return ""
    if gaps > _MAX_MISSING_SHARE * rows:
        return f"{percent(round(gaps / rows, 3))} of its values are missing"
    return "a single value" if different == 1 else ""


def _remarks(column: Column, kind: Kind, states: Collection[State], rows: int) -> Iterator[str]:
    """What else is worth a look."""
    if kind == "dates":
        yield "dates, each of which is a state"
    if kind in ("text", "categories", "dates"):
        found = StateRemarks.of(states, _unread(column))
        yield from (text for text in found if text)
        if len(states) > _FEW_STATES and rows < _MIN_ROWS_PER_STATE * len(states):
            yield f"{counted(len(states), 'state')} in {counted(rows, 'row')}: most are rare"


def _unread(column: Column) -> bool:
    """Whether no reader of files has looked at the texts of a column."""
    return (
        column.unread if isinstance(column, DistinctColumn) else not isinstance(column, ListColumn)
    )

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
from colonnade.tables.coding import discovered
from colonnade.tables.discretize import Discretized, Discretizer
from colonnade.tables.identifiers import are_dates, identifier
from colonnade.tables.levels import Levels, as_float, place, refuse_absent
from colonnade.tables.remarks import StateRemarks, number_code
from colonnade.tables.sources import Column, ListColumn, StateColumn, source_of
from colonnade.tables.summaries import ColumnSummary, Kind
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
        return tuple(column.name for column in self.columns if column.fate != "left out")

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

    def warn(self) -> None:
        """Say which columns are left out and why, which numbers are doubtful, and which are cut."""
        if self.left_out:
            names = tuple(self.left_out)
            each = [f"{name!r} ({reason})" for name, reason in self.left_out.items()]
            noun = "Column" if len(each) == 1 else "Columns"
            statement = f"{noun} {joined(each)}: left out."
            warn(ColumnWarning(statement, Advice.KEEP_COLUMNS, names))
        doubts = [f"{place(c.name)}: {c.doubtful}." for c in self.columns if c.doubtful]
        if doubts:
            warn(DataWarning(" ".join(doubts), Advice.CHOOSE_CODES))
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
) -> Inspection:
    """Say what a table holds, and what would be made of each column before a network is learned.

    Numbers are cut by the rule of :func:`discretize`. Left out are columns that seem to identify
    rows (by the rule of :func:`colonnade.tables.encode`) or hold dates, that have no values, whose
    values cannot be states, and, from 20 rows on, those that have a single value or lack more than
    half of their values. The command line learns graphs from the columns that are used here.

    Parameters
    ----------
    table : table
        As for :func:`colonnade.fit`. If it comes from :func:`colonnade.read`, the codes that stood
        for missing values are listed.
    bins : int, mapping or Bins, optional
        As for :func:`discretize`.
    keep : iterable of str, optional
        Columns that are used in any case; those that `bins` names are as well.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> table = {"id": list(range(40)), "dose": [k % 7 / 2 for k in range(40)]}
    >>> inspect(table, bins=2).left_out
    {'id': 'seems to identify rows: 40 different values in 40 rows'}
    """
    source = source_of(table)
    wanted = Bins.of(bins)
    kept = {*keep, *wanted.columns}
    refuse_absent(sorted(kept), list(source.names))
    codes: Mapping[str, Mapping[str, int]] = getattr(table, "codes", {})
    columns = tuple(
        _summary(column, wanted, name in kept, codes.get(name, {}), source.rows)
        for name, column in source.columns.items()
    )
    return Inspection(source.rows, columns)


def _summary(
    column: Column, wanted: Bins, kept: bool, codes: Mapping[str, int], rows: int
) -> ColumnSummary:
    """Look at one column; the errors of those that are kept are raised."""
    try:
        if column.times is not None and not kept:
            return _times(column, codes, rows)
        read = wanted.read(column)
        return _read(column, read, kept, codes)
    except ColonnadeError as error:
        if kept:
            raise
        problem = getattr(error, "problem", error.statement).rstrip(".")
        # An error that names a row is about that row, and not about the column.
        own = error if hasattr(error, "row") else None
        name = str(column.name)
        return ColumnSummary(name, "other", rows, 0, 0, codes, reason=problem, error=own)


def _times(column: Column, codes: Mapping[str, int], rows: int) -> ColumnSummary:
    times = column.times
    assert times is not None  # asked before
    gaps = rows - times.rows
    if not times.rows:
        return ColumnSummary(column.name, "no values", rows, gaps, 0, codes, reason="no values")
    reason = f"dates or times, {times.different:,} different"
    return ColumnSummary(column.name, "dates", rows, gaps, times.different, codes, reason=reason)


def _read(
    column: Column, read: Measured | Levels, kept: bool, codes: Mapping[str, int]
) -> ColumnSummary:
    if isinstance(read, Measured):
        present = read.numbers[~np.isnan(read.numbers)]
        rows, gaps, different = len(read.numbers), len(read.numbers), len(np.unique(present))
        gaps -= len(present)
        cuts = read.cuts(column.name) if len(present) else None
        states: tuple[State, ...] = () if cuts is None else cuts.states
        positions = np.empty(0, int) if cuts is None else cuts.column(read.numbers).codes
    else:
        rows, cuts = len(read.codes), None
        there = (read.codes >= 0) & (read.codes < len(read.labels))
        states, positions = _found(column, read, there)
        gaps, different = int(rows - there.sum()), len(np.unique(read.codes[there]))
    kind = _kind(column, read, states) if rows > gaps else "no values"
    reason = _reason(column, read, kind, rows, gaps, different)
    if reason and (not kept or not states):
        return ColumnSummary(column.name, kind, rows, gaps, different, codes, reason=reason)
    doubtful = number_code(_numbers(column, read))
    remarks = [*_remarks(column, kind, states, rows - gaps), *([doubtful] if doubtful else [])]
    counts = np.bincount(positions[positions >= 0].astype(np.int64), minlength=len(states))
    return ColumnSummary(
        *(column.name, kind, rows, gaps, different, codes),
        "states" if cuts is None else "cut",
        states,
        tuple(counts.tolist()),
        cuts,
        remarks=tuple(remarks),
        doubtful=doubtful,
        guessed=isinstance(read, Measured) and read.guessed > 0,
    )


def _numbers(column: Column, read: Measured | Levels) -> Floats:
    """Return the numbers of a column, without what is missing; none if it holds something else."""
    if isinstance(read, Measured):
        return read.numbers[~np.isnan(read.numbers)]
    if column.number_type is None:
        return np.empty(0)
    there = read.codes[(read.codes >= 0) & (read.codes < len(read.labels))]
    numbers: Floats = np.array([as_float(label) for label in read.labels])[there]
    return numbers


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
    column: Column, read: Measured | Levels, kind: Kind, rows: int, gaps: int, different: int
) -> str:
    """Why a column is left out; empty if it is not."""
    if kind == "no values":
        return "no values"
    if excess := identifier(column, read):
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
        found = StateRemarks.of(states, not isinstance(column, ListColumn))
        yield from (text for text in found if text)
        if len(states) > _FEW_STATES and rows < _MIN_ROWS_PER_STATE * len(states):
            yield f"{counted(len(states), 'state')} in {counted(rows, 'row')}: most are rare"

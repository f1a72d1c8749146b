"""The variables that columns and labels become: states, cut points, and codes of rows.

Columns of numbers are cut at quantiles or hold states, by the rule of `tables.bins`; those that
identify rows, by the rule of `tables.identifiers`, are left out. What a column is, is decided by
the first training rows that have a value in it, and never again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.classifier._classes import merged_states
from colonnade.exceptions import Advice, ColumnWarning, DataError, expected, row_at, warn
from colonnade.tables.bins import Bins, Measured, warn_of_cuts
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import CodedColumn, coded_table, discovered, unknown_states
from colonnade.tables.cuts import Cuts, Ranked, Values
from colonnade.tables.discretizing import Discretizer
from colonnade.tables.identifiers import Excess, identifier, warn_of_identifiers
from colonnade.tables.levels import Levels, column_error, place, places, refuse_absent
from colonnade.tables.memory import each_column, warn_of_states
from colonnade.tables.sources import Column, Source, lacks_values, not_a_number
from colonnade.tables.texts import is_number, reads_as_number
from colonnade.variables import Variable
from colonnade.wording import joined

# Chooses where a column is cut, given its name and its numbers, and codes them.
Choose: TypeAlias = Callable[[str, Measured], tuple[Cuts, Array]]

# Hints that a classifier has no parameter for, in its own words.
_HINTS: Mapping[str, str] = {
    Advice.CUT: "leave it out of `bins`, so that it is cut, or say into how many intervals",
    Advice.DECLARE_ORDER: "use strings for all of them",
}
# Why columns without numbers and states are left out, and what to do instead.
_DATES = "dates are neither numbers nor states"
_HINT_DATES = "add columns of what matters about them, such as the month"
_DURATIONS = "durations are neither numbers nor states"
_HINT_DURATIONS = "convert them to numbers, such as by .dt.days"
# The only state of a column that never had a value.
_NO_VALUE = ("(no value)",)


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a user says about columns: how numbers are cut, and what becomes of identifiers.

    `named` are columns that stay even if they identify rows, because the user needs them, and
    `declared` those whose states are known beforehand.
    """

    bins: Bins
    drop_identifiers: bool
    named: Collection[str] = ()
    declared: Mapping[str, Variable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.bins.columns:
            if name in self.declared:
                what = "columns whose states are not declared"
                raise expected(what, "bins", name, "leave it out of `bins` or of `variables`")

    def read(self, weights: Array | None, column: Column) -> _Read:
        """Read a column of training rows."""
        if column.name in self.declared:
            return _Read(column, column.levels(declared=True))
        if column.times is not None and column.times.rows:
            return _Read(column, None)
        values = self.bins.read_sample(column, weights)
        return _Read(column, values, identifier(column, values))

    def with_states(self, name: str, levels: Levels) -> tuple[Feature, CodedColumn]:
        """Make a feature of a column of states, and code its rows."""
        if name in self.declared:
            return _with_declared(self.declared[name], levels)
        variable = discovered(name, levels) if levels.present else Variable(name, _NO_VALUE)
        return Feature(variable), CodedColumn.of(variable, levels)


@dataclass(frozen=True, slots=True)
class Feature:
    """The variable that one column became, and the cuts of a column of numbers."""

    variable: Variable
    cuts: Cuts | None = None

    def levels(self, column: Column) -> Levels:
        """Labels and codes of other rows of the column."""
        if self.cuts is None:
            return _levels(column)
        return self.cuts.column(_numbers(column)).levels(declared=True)

    def grown(self, levels: Levels) -> Feature:
        """Add the states of more rows; cut points stay."""
        if self.cuts is not None:
            return self
        name = self.variable.name
        states = merged_states(place(name), self.variable.states, levels.present)
        return Feature(Variable(name, states))


@dataclass(frozen=True, eq=False)
class Reading:
    """Columns of training rows, read once: numbers to be cut, and those that hold states.

    `identifiers` are columns that were left out, because they identify rows.
    """

    measured: Mapping[str, Measured]
    states: Mapping[str, tuple[Feature, CodedColumn]]
    names: tuple[str, ...]
    identifiers: tuple[str, ...]
    weights: Array | None

    @cached_property
    def ordered(self) -> Mapping[str, Ordered]:
        """The numbers to be cut, sorted once for all members of a forest."""
        return {
            name: Ordered.of(name, read.numbers, self.weights)
            for name, read in self.measured.items()
        }

    @classmethod
    def of(cls, source: Source, weights: Array | None, treatment: Treatment) -> Reading:
        """Decide what each column is."""
        try:
            return cls._of(source, weights, treatment)
        except DataError as error:
            raise error.reworded(_HINTS) from None

    @classmethod
    def _of(cls, source: Source, weights: Array | None, treatment: Treatment) -> Reading:
        refuse_absent(list(treatment.bins.columns), source.names)
        read = each_column(source, source.names, partial(treatment.read, weights))
        left_out = _left_out(read, treatment)
        kept = {each.name: each for each in read if each.name not in left_out}
        warn_of_cuts({name: each.guessed for name, each in kept.items() if each.guessed})
        used = {name: each.used for name, each in kept.items()}
        measured = {name: each for name, each in used.items() if isinstance(each, Measured)}
        states = {
            name: treatment.with_states(name, each)
            for name, each in used.items()
            if isinstance(each, Levels)
        }
        found = [
            pair[0].variable for name, pair in states.items() if name not in treatment.declared
        ]
        warn_of_states(source, found)
        return cls(measured, states, tuple(kept), left_out, weights)

    def cut(self, choose: Choose) -> tuple[Features, list[CodedColumn]]:
        """Choose the cuts, and return the codes of the rows."""
        pairs = dict(self.states)
        for name, each in self.measured.items():
            pairs[name] = _with_cuts(name, each, choose)
        ordered = {name: pairs[name] for name in self.names}
        each_feature = {name: feature for name, (feature, _) in ordered.items()}
        return Features(each_feature, self.identifiers), [coded for _, coded in ordered.values()]


class Ordered(NamedTuple):
    """Numbers to be cut, sorted, and the rank that the number of each row has among them."""

    values: Values
    ranked: Ranked

    @classmethod
    def of(cls, name: str, numbers: Floats, weights: Array | None) -> Ordered:
        """Sort the numbers of training rows, all of which have weight."""
        values = Values.of(numbers, weights)
        return cls(values, Ranked.of(name, values.distinct, numbers))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows to classify, read once for all networks: ranks of numbers, and codes of states."""

    numbers: Mapping[str, Ranked]
    coded: Mapping[str, CodedColumn]

    @property
    def count(self) -> int:
        """Number of rows."""
        columns = [each.ranks for each in self.numbers.values()]
        columns += [each.codes for each in self.coded.values()]
        return len(columns[0])

    @property
    def unknown(self) -> CodedTable | None:
        """The columns that have unknown values, or None if there are none."""
        columns = [each for each in self.coded.values() if each.unknown]
        return coded_table(columns) if columns else None

    def part(self, rows: slice) -> Rows:
        """Return some of the rows; what was unknown is not told again."""
        return Rows(
            {name: each.part(rows) for name, each in self.numbers.items()},
            {name: CodedColumn(c.variable, c.codes[rows]) for name, c in self.coded.items()},
        )


@dataclass(frozen=True, slots=True)
class Features:
    """The variables that the columns of a table became, by name, in order.

    `identifiers` are columns that were left out, because they identify rows.
    """

    each: Mapping[str, Feature] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()

    def grow(
        self, source: Source, weights: Array | None, treatment: Treatment
    ) -> tuple[Features, list[CodedColumn]]:
        """Add the states that more rows have, and return the codes of these rows.

        A column without values so far is learned.
        """

        def grown(column: Column) -> tuple[Feature, CodedColumn]:
            feature = self.each[column.name]
            if column.name in treatment.declared:
                return _with_declared(feature.variable, feature.levels(column))
            if feature.variable.states == _NO_VALUE:
                read = treatment.bins.read_sample(column, weights)
                if isinstance(read, Levels):
                    return treatment.with_states(column.name, read)
                return _with_cuts(column.name, read, partial(quantiles, weights))
            levels = feature.levels(column)
            feature = feature.grown(levels)
            return feature, CodedColumn.of(feature.variable, levels)

        pairs = each_column(source, tuple(self.each), grown)
        each = {feature.variable.name: feature for feature, _ in pairs}
        fresh = [name for name, old in self.each.items() if old.variable.states == _NO_VALUE]
        warn_of_states(source, [each[k].variable for k in fresh if each[k].cuts is None])
        return Features(each, self.identifiers), [coded for _, coded in pairs]

    def cut(self, rows: Rows) -> CodedTable:
        """Turn rows that were read into codes."""
        columns = []
        for name, feature in self.each.items():
            if feature.cuts is None:
                columns.append(rows.coded[name])
            else:
                codes = rows.numbers[name].coded(feature.cuts)
                columns.append(CodedColumn(feature.variable, codes))
        return coded_table(columns)

    @property
    def discretizer(self) -> Discretizer:
        """Where columns of numbers are cut."""
        return Discretizer(tuple(each.cuts for each in self.each.values() if each.cuts is not None))


def read_rows(views: Sequence[Features], source: Source) -> Rows:
    """Read other rows of the same columns, as all networks can see them; new values are unknown."""
    each = views[0].each
    cut = [name for name, feature in each.items() if feature.cuts is not None]
    states = [name for name, feature in each.items() if feature.cuts is None]

    def ranked(column: Column) -> Ranked:
        ends = np.array(all_points(column.name, views))
        return Ranked.of(column.name, ends, _numbers(column))

    def coded(column: Column) -> CodedColumn:
        feature = each[column.name]
        return CodedColumn.of(feature.variable, feature.levels(column))

    numbers = each_column(source, tuple(cut), ranked)
    codes = each_column(source, tuple(states), coded)
    return Rows(dict(zip(cut, numbers, strict=True)), dict(zip(states, codes, strict=True)))


def all_points(name: str, views: Sequence[Features]) -> tuple[float, ...]:
    """Return the points at which any of several networks cuts a column, increasing."""
    each = [view.each[name].cuts for view in views]
    return tuple(sorted({point for cuts in each if cuts for point in cuts.points}))


class _Read(NamedTuple):
    """A column of training rows, and what is to be said if it identifies them.

    Dates and durations have no values, because they are neither numbers nor states.
    """

    column: Column
    values: Measured | Levels | None
    excess: Excess | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    @property
    def of_numbers(self) -> bool:
        """Whether it holds text, all of which reads as numbers."""
        texts = self.values.present if isinstance(self.values, Levels) else ()
        return bool(texts) and all(isinstance(text, str) and is_number(text) for text in texts)

    @property
    def of_durations(self) -> bool:
        """Whether it holds durations, which are no dates."""
        return self.column.times is not None and self.column.times.durations

    @property
    def used(self) -> Measured | Levels:
        """The values of a column that is not left out; dates raise an error."""
        return self.column.levels(declared=False) if self.values is None else self.values

    @property
    def guessed(self) -> int:
        """Number of different values of whole numbers that are cut without being asked for."""
        return self.values.guessed if isinstance(self.values, Measured) else 0


def _left_out(read: Sequence[_Read], treatment: Treatment) -> tuple[str, ...]:
    """Return which columns are left out: dates, and those that identify rows; and say so.

    It is an error if none would be left.
    """
    if not treatment.drop_identifiers:
        return ()
    doubtful = [each for each in read if each.values is None or each.excess]
    unasked = [each for each in doubtful if each.name not in treatment.named]
    dates = [each for each in unasked if each.values is None]
    identifying = [each for each in unasked if each.excess]
    if len(unasked) == len(read):  # a poor model is better than none
        identifying = []
    names = {each.name for each in identifying}
    spans = [each for each in dates if each.of_durations]
    dates = [each for each in dates if not each.of_durations]
    if len(dates) + len(spans) == len(read):
        what, hint = (_DATES, _HINT_DATES) if dates else (_DURATIONS, _HINT_DURATIONS)
        problem = f"no column is left to learn from, because {what}."
        raise DataError(places(repr(each.name) for each in read), problem, hint)
    warn_of_identifiers(
        [each.excess for each in doubtful if each.excess and each.name not in names]
    )
    _tell_left_out([repr(each.name) for each in dates], _DATES, _HINT_DATES, dates)
    _tell_left_out([repr(each.name) for each in spans], _DURATIONS, _HINT_DURATIONS, spans)
    pronoun, verb = ("it", "seems") if len(identifying) == 1 else ("they", "seem")
    of_numbers = [repr(each.name) for each in identifying if each.of_numbers]
    hint = "identifiers='keep' keeps such columns"
    if of_numbers:
        hint = f"convert {joined(of_numbers)}, text that reads as numbers, by astype(float)"
    _tell_left_out(
        map(str, (each.excess for each in identifying)),
        f"{pronoun} {verb} to identify rows",
        hint,
        identifying,
    )
    return tuple(each.name for each in (*dates, *spans, *identifying))


def _tell_left_out(shown: Iterable[str], why: str, hint: str, read: Sequence[_Read]) -> None:
    if read:
        statement = f"{places(shown)}: left out, because {why}."
        warn(ColumnWarning(statement, hint, tuple(each.name for each in read)))


def _with_declared(variable: Variable, levels: Levels) -> tuple[Feature, CodedColumn]:
    """Make a feature of a column whose states are known, and refuse any others."""
    coded = CodedColumn.of(variable, levels)
    if coded.unknown:
        raise unknown_states(coded_table([coded])).advising("declare them in `variables`")
    return Feature(variable), coded


def _with_cuts(name: str, read: Measured, choose: Choose) -> tuple[Feature, CodedColumn]:
    """Make a feature of a column of numbers, and code its rows."""
    cuts, codes = choose(name, read)
    variable = Variable(name, cuts.states)
    return Feature(variable, cuts), CodedColumn(variable, codes)


def quantiles(weights: Array | None, name: str, read: Measured) -> tuple[Cuts, Array]:
    """Cut a column as a user said, or into intervals of about the same number of rows each."""
    cuts = read.cuts(name, weights=weights)
    return cuts, cuts.coded(read.numbers)


def _levels(column: Column) -> Levels:
    """Return the labels of rows to classify, and which of them each row has."""
    try:
        return column.levels(declared=True)
    except DataError:  # dates, which are not states, unless none is there
        if not lacks_values(column):
            raise
        return Levels([], np.full(len(column.values), -1))


def _numbers(column: Column) -> Floats:
    """Return the numbers of rows to classify; a column without values has no type of its own."""
    if (numbers := column.numbers) is not None:
        return numbers
    with suppress(DataError):  # what cannot be states is there
        if lacks_values(column):
            return np.full(len(column.values), np.nan)
    raise no_numbers(column.name, *not_a_number(column))


def no_numbers(name: str, row: int, value: Any) -> DataError:
    """Word the error for a column that had numbers in training, and has another value in a row."""
    problem = f"not a column of numbers: {value!r} is in {row_at(row)}."
    if reads_as_number(value):
        problem = f"not a column of numbers but of texts, such as {value!r} in {row_at(row)}."
    return column_error(name, problem, "give it as numbers, as in training", row=row, value=value)

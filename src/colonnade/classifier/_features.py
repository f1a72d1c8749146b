"""The variables that columns and labels become: states, cut points, and codes of rows.

Columns of numbers are cut at quantiles or hold states, by the rule of `tables.bins`; those that
identify rows, by the rule of `tables.identifiers`, are left out. What a column is, is decided by
the first training rows that have a value in it, and never again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Array
from colonnade.exceptions import ColumnWarning, DataError, listing, warn
from colonnade.tables.bins import Bins, Measured, warn_of_cuts
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import CodedColumn, coded_table, discovered
from colonnade.tables.cuts import Cuts
from colonnade.tables.discretize import Discretizer
from colonnade.tables.identifiers import Excess, dated, identifier, warn_of_identifiers
from colonnade.tables.levels import Levels, place, places, refuse_absent
from colonnade.tables.memory import each_column, warn_of_states
from colonnade.tables.remarks import of_states
from colonnade.tables.sources import Column, Source, numbers_of
from colonnade.variables import State, Variable

# The only state of a column that never had a value.
_NO_VALUE = ("(no value)",)


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a user says about columns: how numbers are cut, and what becomes of identifiers.

    `named` are columns that stay even if they identify rows, because the user needs them.
    """

    bins: Bins
    drop_identifiers: bool
    named: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class _Feature:
    """The variable that one column became, and the cuts of a column of numbers."""

    variable: Variable
    cuts: Cuts | None = None

    def levels(self, column: Column) -> Levels:
        """Labels and codes of other rows of the column."""
        if self.cuts is None:
            return column.levels(declared=True)
        numbers = numbers_of(column, "give it as numbers, as in training")
        return self.cuts.column(numbers).levels(declared=True)

    def grown(self, levels: Levels) -> _Feature:
        """Add the states of more rows; cut points stay."""
        if self.cuts is not None:
            return self
        name = self.variable.name
        states = _merged_states(place(name), self.variable.states, levels.present)
        return _Feature(Variable(name, states))


@dataclass(frozen=True, slots=True)
class Features:
    """The variables that the columns of a table became, by name, in order.

    `identifiers` are columns that were left out, because they identify rows.
    """

    each: Mapping[str, _Feature] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()

    @classmethod
    def learn(
        cls, source: Source, weights: Array | None, treatment: Treatment
    ) -> tuple[Features, list[CodedColumn]]:
        """Decide what each column is, and return the codes of the rows."""
        refuse_absent(list(treatment.bins.columns), source.names)
        read = each_column(source, source.names, partial(_read, treatment.bins, weights))
        left_out = _left_out([each for each in read if each.excess], len(read), treatment)
        kept = [each for each in read if each.column.name not in left_out]
        warn_of_cuts({each.column.name: each.guessed for each in kept if each.guessed})
        learned = [_learned(each.column.name, each.used, weights) for each in kept]
        features = {feature.variable.name: feature for feature, _ in learned}
        coded = [CodedColumn.of(feature.variable, levels) for feature, levels in learned]
        warn_of_states(source, [each.variable for each in features.values() if each.cuts is None])
        return cls(features, left_out), coded

    def grow(
        self, source: Source, weights: Array | None, treatment: Treatment
    ) -> tuple[Features, list[CodedColumn]]:
        """Add the states that more rows have, and return the codes of these rows.

        A column without values so far is learned.
        """

        def grown(column: Column) -> tuple[_Feature, CodedColumn]:
            feature = self.each[column.name]
            if feature.variable.states == _NO_VALUE:
                read = treatment.bins.read(column, weights)
                feature, levels = _learned(column.name, read, weights)
            else:
                levels = feature.levels(column)
                feature = feature.grown(levels)
            return feature, CodedColumn.of(feature.variable, levels)

        pairs = each_column(source, tuple(self.each), grown)
        each = {feature.variable.name: feature for feature, _ in pairs}
        fresh = [name for name, old in self.each.items() if old.variable.states == _NO_VALUE]
        warn_of_states(source, [each[k].variable for k in fresh if each[k].cuts is None])
        return Features(each, self.identifiers), [coded for _, coded in pairs]

    def codes(self, source: Source) -> CodedTable:
        """Turn other rows of the same columns into codes; new values are unknown."""

        def coded(column: Column) -> CodedColumn:
            feature = self.each[column.name]
            return CodedColumn.of(feature.variable, feature.levels(column))

        return coded_table(each_column(source, tuple(self.each), coded))

    @property
    def discretizer(self) -> Discretizer:
        """Where columns of numbers are cut."""
        return Discretizer(tuple(each.cuts for each in self.each.values() if each.cuts is not None))


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The class as a variable, its labels sorted.

    `declared` says whether the user said that there are no others.
    """

    name: str
    labels: Array
    declared: bool

    @classmethod
    def seen(cls, name: str, labels: Array) -> Classes:
        """Take the labels of rows; those that look alike are worth a warning."""
        classes = cls(name, np.unique(labels), False)
        for warning in of_states([classes.variable], ()):
            warn(warning)
        return classes

    @property
    def variable(self) -> Variable:
        """The class, with its labels as states."""
        return Variable(self.name, _label_states(self.labels))

    def grown(self, labels: Array) -> Classes:
        """Add the labels of more rows, unless all classes were declared."""
        if self.declared:
            return self
        _merged_states("`y`", _label_states(self.labels), _label_states(np.unique(labels)))
        return Classes(self.name, np.unique(np.concatenate([self.labels, labels])), False)

    def column(self, labels: Array) -> CodedColumn:
        """Turn the labels of rows into codes."""
        places = {label: k for k, label in enumerate(self.labels.tolist())}
        found, back = np.unique(labels, return_inverse=True)
        strange = [label for label in found.tolist() if label not in places]
        if strange:
            known = listing(self.labels.tolist())
            noun, verb = ("label", "is") if len(strange) == 1 else ("labels", "are")
            unlike = f"{verb} not among the known classes ({known})"
            problem = f"{noun} {listing(strange, 5)} {unlike}."
            raise DataError("`y`", problem, "declare all of them with `classes`")
        codes = np.array([places[label] for label in found.tolist()], dtype=np.intp)
        return CodedColumn(self.variable, codes[back])


class _Read(NamedTuple):
    """A column of training rows, and what is to be said if it identifies them.

    Dates have no values, because they are not states.
    """

    column: Column
    values: Measured | Levels | None
    excess: Excess | None

    @property
    def used(self) -> Measured | Levels:
        """The values of a column that is not left out; dates raise an error."""
        return self.column.levels(declared=False) if self.values is None else self.values

    @property
    def guessed(self) -> int:
        """Number of different values of whole numbers that are cut without being asked for."""
        return self.values.guessed if isinstance(self.values, Measured) else 0


def _read(bins: Bins, weights: Array | None, column: Column) -> _Read:
    if excess := dated(column):
        return _Read(column, None, excess)
    values = bins.read(column, weights)
    return _Read(column, values, identifier(column, values))


def _left_out(identifying: Sequence[_Read], columns: int, treatment: Treatment) -> tuple[str, ...]:
    """Return which of so many columns are left out because they identify rows, and say so."""
    if not treatment.drop_identifiers:
        return ()
    excess = [each.excess for each in identifying if each.excess]
    named = [each for each in excess if each.name in treatment.named]
    others = [each for each in excess if each.name not in treatment.named]
    if len(others) == columns:  # a poor model is better than none
        named, others = others, []
    warn_of_identifiers(named)
    names = tuple(each.name for each in others)
    if names:
        pronoun, verb = ("it", "seems") if len(names) == 1 else ("they", "seem")
        statement = f"{places(map(str, others))}: left out, because {pronoun} {verb} to identify "
        hint = "identifiers='keep' keeps such columns"
        warn(ColumnWarning(f"{statement}rows.", hint, names))
    return names


def _learned(name: str, read: Measured | Levels, weights: Array | None) -> tuple[_Feature, Levels]:
    """What a column is, and the levels of its rows."""
    if isinstance(read, Levels):
        if not read.present:
            return _Feature(Variable(name, _NO_VALUE)), read
        return _Feature(discovered(name, read)), read
    cuts = read.cuts(name, weights=weights)
    levels = cuts.column(read.numbers).levels(declared=True)
    return _Feature(Variable(name, cuts.states), cuts), levels


def _label_states(labels: Array) -> tuple[State, ...]:
    """Return labels of classes as states."""
    # scikit-learn accepts whole floating-point numbers as classes, and no others.
    return tuple(int(v) if isinstance(v, float) else v for v in labels.tolist())


def _merged_states(where: str, known: Sequence[State], labels: Sequence[Any]) -> tuple[State, ...]:
    """Add labels to states: in order if the states are, else at the end. Messages begin `where`."""
    old = {(isinstance(state, bool), state) for state in known}
    fresh = [label for label in labels if (isinstance(label, bool), label) not in old]
    for label in fresh:
        if not isinstance(label, str | int):
            problem = f"{label!r} of type {type(label).__name__} is not a state."
            raise DataError(where, problem, "use strings, integers or booleans")
    if not fresh:
        return tuple(known)
    kinds = {str if isinstance(s, str) else type(s) for s in (*known, *fresh)}
    if len(kinds) > 1:
        problem = f"{listing(fresh, 5)} are of another kind than {listing(known, 5)}."
        raise DataError(where, problem, "give all batches the same types")
    if list(known) == sorted(known):
        return tuple(sorted((*known, *fresh)))
    return (*known, *fresh)

"""The variables that columns and labels become: states, cut points, and codes of rows.

Floating-point columns are cut at quantiles; all others hold states. What a column is, is decided by
the first training rows that have a value in it, and never again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import DataError, listing, warn
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import CodedColumn, coded_table, discovered
from colonnade.tables.cuts import Cuts
from colonnade.tables.discretize import Discretizer
from colonnade.tables.levels import Levels, column_error, place
from colonnade.tables.memory import each_column, warn_of_states
from colonnade.tables.remarks import of_states
from colonnade.tables.sources import Column, Source, numbers_of
from colonnade.variables import State, Variable

# The only state of a column that never had a value.
_NO_VALUE = ("(no value)",)


@dataclass(frozen=True, slots=True)
class _Feature:
    """The variable that one column became, and the cuts of a floating-point column."""

    variable: Variable
    cuts: Cuts | None = None

    def levels(self, column: Column) -> Levels:
        """Labels and codes of other rows of the column."""
        if self.cuts is None:
            return column.levels(declared=True)
        return self.cuts.column(_finite(column)).levels(declared=True)

    def grown(self, levels: Levels) -> _Feature:
        """Add the states of more rows; cut points stay."""
        if self.cuts is not None:
            return self
        name = self.variable.name
        states = _merged_states(place(name), self.variable.states, levels.present)
        return _Feature(Variable(name, states))


@dataclass(frozen=True, slots=True)
class Features:
    """The variables that the columns of a table became, by name, in order."""

    each: Mapping[str, _Feature] = field(default_factory=dict)

    def grow(
        self, source: Source, weights: Array | None, bins: int
    ) -> tuple[Features, list[CodedColumn]]:
        """Add the states that more rows have, and return the codes of these rows.

        A column without values so far is learned: one of floating-point numbers is cut into up to
        `bins` intervals, at weighted quantiles.
        """

        def grown(column: Column) -> tuple[_Feature, CodedColumn]:
            feature = self.each.get(column.name)
            if feature is None or feature.variable.states == _NO_VALUE:
                feature, levels = _learned(column, weights, bins)
            else:
                levels = feature.levels(column)
                feature = feature.grown(levels)
            return feature, CodedColumn.of(feature.variable, levels)

        pairs = each_column(source, source.names, grown)
        each = {feature.variable.name: feature for feature, _ in pairs}
        fresh = [each[name].variable for name in each if name not in self.each]
        warn_of_states(source, [v for v in fresh if each[v.name].cuts is None])
        return Features(each), [coded for _, coded in pairs]

    def codes(self, source: Source) -> CodedTable:
        """Turn other rows of the same columns into codes; new values are unknown."""

        def coded(column: Column) -> CodedColumn:
            feature = self.each[column.name]
            return CodedColumn.of(feature.variable, feature.levels(column))

        return coded_table(each_column(source, source.names, coded))

    @property
    def discretizer(self) -> Discretizer:
        """Where floating-point columns are cut."""
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
            problem = f"labels {listing(strange, 5)} are not among the classes {known}."
            raise DataError("`y`", problem, "declare all of them with `classes`")
        codes = np.array([places[label] for label in found.tolist()], dtype=np.intp)
        return CodedColumn(self.variable, codes[back])


def _learned(column: Column, weights: Array | None, bins: int) -> tuple[_Feature, Levels]:
    """What a column is, and the levels of its rows."""
    if column.floating:
        numbers = _finite(column)
        if not np.isnan(numbers).all():
            cuts = Cuts.learn(column.name, numbers, bins, weights=weights)
            cuts = cuts if cuts.points else _below_largest(cuts, numbers)
            levels = cuts.column(numbers).levels(declared=True)
            return _Feature(Variable(column.name, cuts.states), cuts), levels
    levels = column.levels(declared=False)
    if not levels.present:
        return _Feature(Variable(column.name, _NO_VALUE)), levels
    return _Feature(discovered(column.name, levels)), levels


def _below_largest(cuts: Cuts, numbers: Floats) -> Cuts:
    """Cut below a largest value that fills all quantiles, so that the others are not lost."""
    others = numbers[numbers < np.nanmax(numbers)]
    return Cuts(cuts.name, (float(others.max()),)) if others.size else cuts


def _finite(column: Column) -> Floats:
    """A column of numbers, none of them infinite."""
    numbers = numbers_of(column, "give it as numbers, as in training")
    infinite = np.isinf(numbers)
    if infinite.any():
        row, hint = int(infinite.argmax()), "use NaN for a missing value"
        raise column_error(column.name, f"infinity in row {row}.", hint, row=row)
    return numbers


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

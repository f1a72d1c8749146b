"""Rows to classify that are not in memory: files and lazy tables, block by block.

Members of a forest cut a column of numbers at different points. Rows pass by in intervals between
all these points together, which are few: any number of an interval then stands for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Integers
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Features, Rows, all_points, no_numbers
from colonnade.network.new_rows import tell_absent
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import Coded, CodedColumn
from colonnade.tables.countable import Countable, countable
from colonnade.tables.cuts import Cuts, NumberCuts, Ranked
from colonnade.tables.discretizing import Discretizer
from colonnade.tables.returned import column_names
from colonnade.tables.texts import reads_as_number
from colonnade.variables import Variable


class Passing(NamedTuple):
    """Some rows of a table: what they are classified by, and their true classes if it has any.

    `first` is the number of the first of them, and a true class that is missing, or none of those
    known, has the number of classes as its code.
    """

    first: int
    rows: Rows
    truth: Integers | None = None


def passing_rows(
    views: Sequence[Features],
    classes: Classes,
    table: Any,
    tell: Callable[[Coded], None],
    lacking: bool = False,
    tell_truth: Callable[[Mapping[Any, int]], None] | None = None,
) -> Iterator[Passing]:
    """Yield the rows of a table as all networks can see them; `tell` of values that are unknown.

    Whoever looks at the true classes is told, too, which of them are unknown, with their rows.

    A table that is `lacking` may do without some columns, which are then missing in all rows.
    """
    features = views[0].each
    cuts = {
        name: NumberCuts(name, all_points(name, views))
        for name, feature in features.items()
        if feature.cuts is not None
    }
    variables = [
        Variable(name, cuts[name].states) if name in cuts else feature.variable
        for name, feature in features.items()
    ]
    names = column_names(table)
    absent = [v for v in variables if lacking and v.name not in names]
    if absent:
        tell_absent([v.name for v in absent], names, {*features, classes.name}, classes.name)
        variables = [variable for variable in variables if variable not in absent]
    if classes.name in names:
        variables.append(classes.variable)
    cutter = Discretizer(tuple(cuts.values())) if cuts else None
    columns = [variable.name for variable in variables]
    opened = countable(table, variables, None, "missing", cutter, columns)
    _tell_unknown(table, opened, classes.name, cuts, tell)
    if tell_truth is not None and classes.name in opened.unknown:
        tell_truth(opened.unknown[classes.name])
    first = 0
    for block in opened.blocks():
        yield _passing(first, block, views[0], cuts, classes.name, absent)
        first += block.rows


class _Unknown(NamedTuple):
    """New values of some columns, with their rows."""

    variables: tuple[Variable, ...]
    unknown: Mapping[str, Mapping[Any, int]]


def _tell_unknown(
    table: Any,
    opened: Countable,
    target: str,
    cuts: Mapping[str, Cuts],
    tell: Callable[[Coded], None],
) -> None:
    """Refuse texts where numbers are needed, and tell of other values that are new."""
    unknown = {name: rows for name, rows in opened.unknown.items() if name != target}
    for name in unknown:
        if name in cuts:
            others = [value for value in unknown[name] if not reads_as_number(value)]
            raise no_numbers(name, *_first_of(table, name, others or [next(iter(unknown[name]))]))
    if unknown:
        tell(_Unknown(opened.variables, unknown))


def _first_of(table: Any, name: str, values: Sequence[Any]) -> tuple[int, Any]:
    """Return the first row of a table with one of some values in a column, and the value."""
    variable = Variable(name, tuple(values))
    first = 0
    for block in countable(table, [variable], None, "missing", None, [name]).blocks():
        rows = np.flatnonzero((block.codes[0] >= 0) & (block.codes[0] < len(values)))
        if len(rows):
            row = int(rows[0])
            return first + row, values[int(block.codes[0][row])]
        first += block.rows
    raise AssertionError("the values were in the table")


def _passing(
    first: int,
    block: CodedTable,
    features: Features,
    cuts: Mapping[str, Cuts],
    target: str,
    absent: Sequence[Variable],
) -> Passing:
    codes = dict(zip(block.names, block.codes, strict=True))
    # What is missing comes after all states.
    codes |= {variable.name: np.full(block.rows, variable.cardinality) for variable in absent}
    numbers = {name: Ranked.by_interval(own, codes[name]) for name, own in cuts.items()}
    coded = {
        name: CodedColumn(feature.variable, codes[name])
        for name, feature in features.each.items()
        if name not in cuts
    }
    return Passing(first, Rows(numbers, coded), codes.get(target))

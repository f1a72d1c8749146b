"""Any table in memory becomes a CodedTable: source, then levels, then codes, column by column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from colonnade.arrays import Weights
from colonnade.exceptions import expected, warn
from colonnade.tables.asked import Asked, Declared
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import CodedTable, checked_weights
from colonnade.tables.coding import CodedColumn, coded_table, discovered, unknown_states
from colonnade.tables.countable import bounded, gathered, opened_elsewhere
from colonnade.tables.cuts import Cuts, NumberCuts, refuse_infinite
from colonnade.tables.discretizing import Discretized, Discretizer
from colonnade.tables.identifiers import (
    Excess,
    identifier,
    numeric_excess,
    warn_of_identifiers,
    warn_of_numbers,
)
from colonnade.tables.levels import Levels, place
from colonnade.tables.remarks import of_states
from colonnade.tables.sources import Column, ListColumn, Source, StateColumn, source_of
from colonnade.tables.texts import numbers_among
from colonnade.threads import run
from colonnade.variables import Variable

Result = TypeVar("Result")

# From here on columns of strings are encoded in several threads.
_MIN_ROWS_FOR_THREADS = 1 << 16


def encode(
    table: Any,
    variables: Declared = None,
    weights: Weights = None,
    unknown: Literal["raise", "missing"] = "raise",
    discretizer: Discretizer | None = None,
    columns: Sequence[str] | None = None,
    group: str | None = None,
    *,
    memory: Allowed = None,
) -> CodedTable:
    """Find or check the states of every column and turn the table into compact codes.

    States keep their type. Their order is the one declared, else that of the categories (all of
    which are states, seen or not), else sorted. A Polars ``Categorical`` shares its categories
    with every other column, so there only those seen are states; an ``Enum`` has them all.
    Booleans always have the two states False and True. Floating-point numbers and decimals are
    integers if all of them are whole; others must be cut first (:func:`discretize`). A
    ``ColumnWarning`` names columns that seem to identify rows: those with at least 20 values that
    are text with a state for every second row or more, or more than 31 dates written as text, or
    whole numbers that never repeat although by chance they would, or whose name ends in *id*.
    Another one names columns of more than 10 whole numbers with fewer than 10 rows each.

    Parameters
    ----------
    table : table
        A data frame of pandas, Polars, PyArrow, Modin or another package narwhals knows; a
        mapping of names to columns; a structured array; a pair (array [row, column], names);
        what :func:`discretize` returns; or a CodedTable. None, NaN and the like are missing.
    variables : sequence of Variable, or mapping of names to states, optional
        Declared states of some columns. Without `columns`, a sequence also says which columns are
        taken, and in which order; with a mapping all columns are.
    weights : str or array_like, optional
        How often each row counts: a column of the table (which then is no variable) or an array.
    unknown : {"raise", "missing"}
        What to do with values that are no declared states: refuse them, or code them as missing
        and list them in the attribute ``unknown`` of the result.
    discretizer : Discretizer, optional
        Cuts its numeric columns first; columns that hold its intervals already stay.
    columns : sequence of str, optional
        Which columns are taken, and in which order; others are ignored.
    group : str, optional
        A column that says which group a row belongs to: it may have any number of states without a
        warning.
    memory : int or str, optional
        Bytes that files and lazy tables may take here, such as ``"500 MB"``; larger columns are
        kept on disk. As for :func:`scan`.

    Returns
    -------
    CodedTable

    Raises
    ------
    DataError
        If the values of a column cannot be states, or are not the declared ones.

    Examples
    --------
    >>> coded = encode({"smoker": ["no", "yes", None], "age": [1, 3, 2]}, {"age": [1, 2, 3, 4]})
    >>> coded.variables[0].states, coded.variables[1].states
    (('no', 'yes'), (1, 2, 3, 4))
    >>> coded.codes[0].tolist(), coded.missing
    ([0, 1, 2], (1, 0))
    >>> encode({"smoker": ["sometimes"]}, {"smoker": ["no", "yes"]})
    Traceback (most recent call last):
    colonnade.exceptions.DataError: Column 'smoker': state 'sometimes' (1 row) is not one of
    'no', 'yes'.
    >>> encode({"smoker": ["sometimes"]}, {"smoker": ["no", "yes"]}, unknown="missing").unknown
    {'smoker': {'sometimes': 1}}
    """
    asked = Asked(variables, weights, unknown, discretizer, columns, group)
    table = bounded(table, memory)
    if (opened := opened_elsewhere(table, asked)) is not None:
        return gathered(opened)
    if isinstance(table, Discretized):
        if discretizer is not None:
            raise expected("None", "discretizer", discretizer, "the table is cut already")
        table, discretizer = table.source, table.discretizer
    if isinstance(table, CodedTable):
        _refuse_second(table, weights, discretizer)
        if variables is None and weights is None and columns is None:
            return table
        source = _as_source(table)
        weights = table.weights if weights is None else weights
        cuts, discretizer = None, table.discretizer
    else:
        source = source_of(table)
        cuts = discretizer
    declared, names = asked.plan(source.names)
    if isinstance(table, CodedTable) and not declared and asked.weights is None:
        return table.select(names)

    identifying: list[Excess] = []
    numbers: list[Excess] = []

    def coded(column: Column) -> CodedColumn:
        variable = declared.get(column.name)
        cut = cuts.get(column.name) if cuts else None
        levels = levels_of(column, variable is not None, cut)
        # What is coded already was looked at when it was.
        seen = isinstance(column, StateColumn) or column.name == group
        if variable is None and cut is None and not seen:
            if excess := identifier(column, levels):
                identifying.append(excess)
            elif excess := numeric_excess(column, levels):
                numbers.append(excess)
        if variable is None:
            variable = discovered(column.name, levels, source.rows)
            if isinstance(column, StateColumn) and column.spellings:
                variable = replace(variable, spellings=column.spellings)
        return CodedColumn.of(variable, levels)

    done = each_column(source, names, coded)
    warn_of_states(source, [each.variable for each in done if each.variable.name not in declared])
    warn_of_identifiers(identifying)
    warn_of_numbers(numbers)
    if isinstance(weights, str):
        given = source.columns[weights].weights()
        weights = checked_weights(given, source.rows, place(weights))
    found = coded_table(done, weights, discretizer)
    if unknown == "raise" and found.unknown:
        raise unknown_states(found)
    return found


# ------------------------------------------------------------ columns, one by one


def each_column(
    source: Source, names: Sequence[str], task: Callable[[Column], Result]
) -> list[Result]:
    """Do something with columns, and return the results in order.

    Only telling strings apart is worth threads: it takes long, and most of it outside Python.
    """
    columns = {name: source.columns[name] for name in names}
    many = source.rows >= _MIN_ROWS_FOR_THREADS
    text = [name for name, column in columns.items() if many and column.text]
    done = dict(zip(text, run([partial(task, columns[name]) for name in text]), strict=True))
    return [done[name] if name in done else task(columns[name]) for name in names]


def warn_of_states(source: Source, found: Sequence[Variable]) -> None:
    """Say which states that were discovered in columns look like a mistake.

    Those that are coded already were looked at when they were; about texts from files, which are
    lists, `read` has said the rest.
    """
    columns = {variable.name: source.columns[variable.name] for variable in found}
    fresh = [v for v in found if not isinstance(columns[v.name], StateColumn)]
    unread = {name for name, column in columns.items() if not isinstance(column, ListColumn)}
    for warning in of_states(fresh, unread):
        warn(warning)


def levels_of(column: Column, declared: bool, cut: Cuts | None) -> Levels:
    """Return the levels of a column, cut first if it is to be.

    Of texts, each that reads as a number is one: what the others are does not matter to it.
    """
    if cut is None:
        return column.levels(declared)
    numbers = column.numbers
    if numbers is not None:
        return cut.column(numbers).levels(declared)
    found = column.levels(True)
    if tuple(found.labels) == cut.states:
        return Levels(found.labels, found.codes, closed=True)
    # Names of intervals, of a column that is cut already, or texts that may be numbers.
    there: dict[Any, float] = {}
    if not isinstance(cut, NumberCuts) and not {*found.present} <= {*cut.states}:
        there = numbers_among(found.present)
    order: dict[Any, int] = {state: k for k, state in enumerate(cut.states)}
    for label in found.present:
        if label not in there:
            order.setdefault(label, len(order))
    table = np.array([*(order.get(label, -1) for label in found.labels), -1], dtype=np.int64)
    codes = table[found.codes]
    if there:
        means = np.array([*(there.get(label, math.nan) for label in found.labels), math.nan])
        floats = means[found.codes]
        codes = np.where(np.isnan(floats), codes, cut.codes(refuse_infinite(cut.name, floats)))
    return Levels(list(order), codes, closed=True)


# --------------------------------------------------------- tables that are coded


def _refuse_second(coded: CodedTable, weights: Any, discretizer: Discretizer | None) -> None:
    """Raise if a coded table is to be given what was settled when it was encoded."""
    if isinstance(weights, str):
        hint = "name the column when the table is first encoded"
        raise expected("an array with a CodedTable", "weights", weights, hint)
    if weights is not None and coded.weights is not None:
        hint = "the table has weights already"
        raise expected("None", "weights", weights, hint, got="an array")
    if discretizer is not None and coded.discretizer is not None:
        cuts = {column.name: column for column in coded.discretizer.columns}
        if any(cuts.get(column.name, column) != column for column in discretizer.columns):
            raise expected("the discretizer of the table", "discretizer", discretizer)


def _as_source(coded: CodedTable) -> Source:
    pairs = zip(coded.variables, coded.codes, strict=True)
    columns = {v.name: StateColumn(v.name, v.states, codes, v.spellings) for v, codes in pairs}
    return Source(columns, coded.rows)

"""From the levels of columns to codes of states: the last step on the way to a CodedTable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import Advice, DataError, counted, did_you_mean, listing
from colonnade.tables.coded import CodedTable, code_type
from colonnade.tables.cuts import lower_end
from colonnade.tables.discretizing import Discretizer
from colonnade.tables.levels import Labelled, Levels, column_error, no_rows, place
from colonnade.variables import State, Variable


def discovered(name: str, levels: Labelled, rows: int | None = None) -> Variable:
    """Return the variable of a column whose states are not declared.

    `rows` are those of its table, if it has one: without any, the column is not to blame.
    """
    labels = list(dict.fromkeys(levels.present))
    if not labels:
        if rows == 0:
            raise no_rows()
        raise column_error(name, "no values, so no states.", Advice.DECLARE_STATES)
    for label in labels:
        if not isinstance(label, str | int):
            problem = f"{label!r} of type {type(label).__name__} is not a state."
            raise column_error(name, problem, "use strings, integers or booleans")
    if not levels.closed:
        try:
            labels = in_order(labels)
        except TypeError:
            problem = "strings and integers mixed have no order."
            raise column_error(name, problem, Advice.DECLARE_ORDER) from None
    return Variable(name, tuple(labels))


def in_order(labels: Sequence[Any]) -> list[Any]:
    """Sort labels; names of intervals by the numbers in them, not as text."""
    ends: dict[Any, float] = {}
    for label in labels:
        end = lower_end(label)
        if end is None:
            return sorted(labels)
        ends[label] = end
    return sorted(labels, key=ends.__getitem__)


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """One column of a CodedTable, with the number of rows of each value that is not a state.

    The code equal to the number of states means missing; unknown values are coded so, too.
    """

    variable: Variable
    codes: NDArray[Any]
    unknown: dict[Any, int] = field(default_factory=dict)

    @classmethod
    def of(cls, variable: Variable, levels: Levels) -> CodedColumn:
        """Translate positions of labels to positions of states."""
        table, strange = places_of(variable, levels.labels)
        codes = translated(levels.codes, table)
        return cls(variable, codes, _rows_of(levels, strange) if strange else {})


def places_of(variable: Variable, labels: Sequence[Any]) -> tuple[NDArray[Any], list[int]]:
    """Return the code of every label, and which labels are no states.

    Their code, and that of None and of one more place at the end, means missing.
    """
    # True and 1 are equal to Python, but not the same state.
    positions = {(isinstance(s, bool), s): k for k, s in enumerate(variable.states)}
    for value, state in variable.spellings.items():
        positions[isinstance(value, bool), value] = positions[isinstance(state, bool), state]
    missing = variable.cardinality
    table = np.full(len(labels) + 1, missing, dtype=code_type(missing))
    strange = []
    for k, label in enumerate(labels):
        position = positions.get((isinstance(label, bool | np.bool_), label))
        if position is not None:
            table[k] = position
        elif label is not None:
            strange.append(k)
    return table, strange


def coded_table(
    columns: Sequence[CodedColumn], weights: Any = None, discretizer: Discretizer | None = None
) -> CodedTable:
    """Put columns together; of the cut points, those of the columns are kept."""
    variables = tuple(column.variable for column in columns)
    return CodedTable(
        variables,
        tuple(column.codes for column in columns),
        weights,
        discretizer.only(variable.name for variable in variables) if discretizer else None,
        {column.variable.name: column.unknown for column in columns if column.unknown},
    )


class Coded(Protocol):
    """What is known of a table once its states are."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns with their states."""

    @property
    def unknown(self) -> Mapping[str, Mapping[Any, int]]:
        """Values that are no states, with their rows."""


def meant_states(coded: Coded) -> str:
    """Return the hint "did you mean ...?" for the first unknown value that looks like a state.

    One is enough: whoever wrote one state in capitals wrote the others so, too.
    """
    for name, rows in coded.unknown.items():
        for value in rows:
            if hint := did_you_mean(value, _states(coded, name)):
                return hint if len(coded.unknown) == 1 else f"in column {name!r}, {hint}"
    return ""


def unknown_states(coded: Coded) -> DataError:
    """Word the error for all unknown values of a table; its attributes are of the first column."""
    texts = {}
    for name, rows in coded.unknown.items():
        shown = [f"{value!r} ({counted(times, 'row')})" for value, times in rows.items()]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        noun, verb = ("state", "is not one of") if len(shown) == 1 else ("states", "are not among")
        known = listing(_states(coded, name))
        texts[name] = f"{noun} {', '.join(shown[:5])}{more} {verb} {known}."
    (first, text), *others = texts.items()
    details: dict[str, Any] = {"columns": dict(coded.unknown)} if others else {}
    return DataError(
        place(first),
        " ".join([text, *(f"{place(name)}: {other}" for name, other in others)]),
        meant_states(coded),
        column=first,
        states=coded.unknown[first],
        allowed=_states(coded, first),
        **details,
    )


def _states(coded: Coded, name: str) -> tuple[State, ...]:
    return next(each.states for each in coded.variables if each.name == name)


def translated(codes: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
    """Look up codes in a table; the code -1 takes the table's last entry."""
    from colonnade.kernels.counting import recode

    if np.array_equal(table, np.arange(len(table))) and codes.min(initial=0) >= 0:
        # The labels are the states, in order: ten times faster. Codes that nobody can change, as
        # those of a CodedTable, are not copied.
        fixed = codes.flags.owndata and not codes.flags.writeable
        found = codes.astype(table.dtype, copy=not fixed)
    else:
        found = np.empty(len(codes), dtype=table.dtype)
        recode(np.ascontiguousarray(codes), table, found)
    found.setflags(write=False)
    return found


def _rows_of(levels: Levels, chosen: Sequence[int]) -> dict[Any, int]:
    """Count the rows of some labels; a label that no row has is left out."""
    seen = levels.codes[(levels.codes >= 0) & (levels.codes < len(levels.labels))]
    times = np.bincount(seen, minlength=len(levels.labels))
    return {levels.labels[k]: int(times[k]) for k in chosen if times[k]}

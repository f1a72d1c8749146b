"""Any table in memory becomes a CodedTable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.exceptions import Advice, DataError, expected, listing
from colonnade.tables.coded import CodedTable, checked_weights, code_type
from colonnade.tables.discretize import Discretized, Discretizer
from colonnade.tables.levels import Levels, place
from colonnade.tables.sources import Source, absent, read
from colonnade.threads import run
from colonnade.variables import State, Variable

__all__ = ["encode"]

# From here on columns of strings are encoded in several threads.
_MANY_ROWS = 1 << 16


def encode(
    table: Any,
    variables: Sequence[Variable] | Mapping[str, Iterable[State]] | None = None,
    weights: str | ArrayLike | None = None,
    unknown: Literal["raise", "missing"] = "raise",
    discretizer: Discretizer | None = None,
) -> CodedTable:
    """Find or check the states of every column and turn the table into compact codes.

    States keep their type. Their order is the one declared, else that of the categories (all of
    which are states, seen or not), else sorted. A Polars ``Categorical`` shares its categories
    with every other column, so there only those seen are states; an ``Enum`` has them all. Truth
    values always have the two states False and True.

    Parameters
    ----------
    table : table
        A data frame of pandas, Polars, PyArrow, Modin or another package narwhals knows; a
        mapping of names to columns; a structured array; a pair (array [row, column], names);
        what :func:`discretize` returns; or a CodedTable. None, NaN and the like are missing.
    variables : sequence of Variable, or mapping of names to states, optional
        A sequence says which columns are taken, and in which order; other columns are ignored. A
        mapping declares the states of some columns; all columns are taken.
    weights : str or array_like, optional
        How often each row counts: a column of the table (which then is no variable) or an array.
    unknown : {"raise", "missing"}
        What to do with values that are no declared states.
    discretizer : Discretizer, optional
        Cuts its numeric columns first; columns that hold its intervals already stay.

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
    ['no', 'yes'].
    """
    if unknown not in ("raise", "missing"):
        raise expected("'raise' or 'missing'", "unknown", unknown)
    if isinstance(table, Discretized):
        if discretizer is not None:
            hint = "the table is cut already"
            raise expected("None", "discretizer", discretizer, hint)
        table, discretizer = table
    if isinstance(table, CodedTable):
        return _recoded(table, variables, weights, unknown, discretizer)
    source = read(table)
    weight_column = weights if isinstance(weights, str) else None
    declared, names = _declared(source.names, variables, weight_column)

    problems: dict[str, DataError] = {}

    def column(name: str) -> tuple[Variable, NDArray[Any]]:
        levels = _levels(source, name, name in declared, discretizer)
        try:
            return _coded(name, levels, declared, unknown)
        except DataError as error:
            if "states" not in error.details:
                raise
            # All columns with unknown states are named together.
            problems[name] = error
            return declared[name], np.empty(0, dtype=np.uint8)

    # Only telling strings apart is worth threads: it takes long, and not in Python.
    text = [name for name in names if source.rows >= _MANY_ROWS and source.text(name)]
    done = dict(zip(text, run([partial(column, n) for n in text]), strict=True))
    pairs = [done[name] if name in done else column(name) for name in names]
    if problems:
        raise _together([problems[name] for name in names if name in problems])
    if weight_column is not None:
        weights = checked_weights(source.weights(weight_column), source.rows, place(weight_column))
    found, codes = zip(*pairs, strict=True)
    return CodedTable(found, codes, weights, discretizer)  # type: ignore[arg-type]


def _declared(
    names: Sequence[str],
    variables: Sequence[Variable] | Mapping[str, Iterable[State]] | None,
    weights: str | None,
) -> tuple[dict[str, Variable], list[str]]:
    """Return the declared variables by name, and the columns to take."""
    error = absent([weights], names) if weights is not None else None
    if error:
        raise error
    taken = [name for name in names if name != weights]
    if variables is None:
        declared = {}
    elif isinstance(variables, Mapping):
        declared = {name: _with_states(name, states) for name, states in variables.items()}
    else:
        declared = _by_name(variables)
        taken = list(declared)
    if weights in declared:
        raise expected("a column that is not one of `variables`", "weights", weights)
    error = absent(list(declared), names)
    if error:
        raise error
    if not taken:
        raise expected("at least one column besides the weights", "table", list(names))
    return declared, taken


def _with_states(name: str, states: Any) -> Variable:
    if isinstance(states, str | Variable) or not isinstance(states, Iterable):
        hint = "such as {'smoker': ['no', 'yes']}"
        raise expected(f"a list of states for {name!r}", "variables", states, hint)
    return Variable(name, tuple(states))


def _by_name(variables: Sequence[Variable]) -> dict[str, Variable]:
    if isinstance(variables, Variable | str) or not isinstance(variables, Iterable):
        what = "a list of Variable, or a mapping of names to states,"
        raise expected(what, "variables", variables)
    variables = list(variables)
    for variable in variables:
        if not isinstance(variable, Variable):
            hint = "declare states by a mapping, such as {'smoker': ['no', 'yes']}"
            raise expected("only Variable objects", "variables", variable, hint)
    declared = {variable.name: variable for variable in variables}
    if len(declared) < len(variables):
        raise expected("different names", "variables", [v.name for v in variables])
    if not declared:
        raise expected("at least one Variable", "variables", variables)
    return declared


def _levels(source: Source, name: str, declared: bool, discretizer: Discretizer | None) -> Levels:
    column = discretizer.get(name) if discretizer is not None else None
    if column is None:
        return source.levels(name, declared)
    numbers = source.numbers(name)
    if numbers is not None:
        return Levels(column.states, column.codes(numbers), closed=True)
    # Already cut: what is there are names of intervals, and all intervals are states.
    found = source.levels(name, True)
    intervals = set(column.states)
    extra = [label for label in found.labels if label not in intervals]
    order = {label: k for k, label in enumerate([*column.states, *extra])}
    table = np.array([*(order[label] for label in found.labels), -1], dtype=np.int64)
    return Levels(list(order), table[found.codes], closed=True)


def _coded(
    name: str, levels: Levels, declared: Mapping[str, Variable], unknown: str
) -> tuple[Variable, NDArray[Any]]:
    """Translate the codes of labels to the codes of states."""
    variable = declared.get(name) or _discovered(name, levels)
    # True and 1 are equal to Python, but not the same state.
    positions = {(isinstance(s, bool), s): k for k, s in enumerate(variable.states)}
    missing = variable.cardinality
    table = np.full(len(levels.labels) + 1, missing, dtype=code_type(missing))
    strange = []
    for k, label in enumerate(levels.labels):
        position = positions.get((isinstance(label, bool | np.bool_), label))
        if position is not None:
            table[k] = position
        elif label is not None:
            strange.append(k)
    if strange and unknown == "raise":
        _refuse_unknown(variable, levels, strange)
    codes = _translated(levels.codes, table)
    codes.setflags(write=False)
    return variable, codes


def _translated(codes: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
    """Look up codes in a table; the code -1 takes the table's last entry."""
    from colonnade.kernels.counting import recode

    if np.array_equal(table, np.arange(len(table))) and codes.min(initial=0) >= 0:
        return codes.astype(table.dtype)  # the labels are the states, in order: ten times faster
    translated = np.empty(len(codes), dtype=table.dtype)
    recode(np.ascontiguousarray(codes), table, translated)
    return translated


def _discovered(name: str, levels: Levels) -> Variable:
    labels = list(dict.fromkeys(label for label in levels.labels if label is not None))
    if not labels:
        problem = "no values, so no states."
        raise DataError(place(name), problem, Advice.DECLARE_STATES, column=name)
    for label in labels:
        if not isinstance(label, str | int):
            problem = f"{label!r} of type {type(label).__name__} is not a state."
            hint = "use strings, integers or truth values"
            raise DataError(place(name), problem, hint, column=name)
    if not levels.closed:
        try:
            labels.sort()
        except TypeError:
            problem = "strings and integers mixed have no order."
            hint = "declare its states with `variables`, or use strings for all of them"
            raise DataError(place(name), problem, hint, column=name) from None
    return Variable(name, tuple(labels))


def _refuse_unknown(variable: Variable, levels: Levels, strange: list[int]) -> None:
    """Raise if labels that are no states occur; a category nobody has does no harm."""
    seen = levels.codes[(levels.codes >= 0) & (levels.codes < len(levels.labels))]
    times = np.bincount(seen, minlength=len(levels.labels))
    rows = {levels.labels[k]: int(times[k]) for k in strange if times[k]}
    if not rows:
        return
    shown = [f"{state!r} ({n} row{'s' if n > 1 else ''})" for state, n in rows.items()]
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    verb = "is not one of" if len(shown) == 1 else "are not among"
    raise DataError(
        place(variable.name),
        f"state{'s' if len(shown) > 1 else ''} {', '.join(shown[:5])}{more} "
        f"{verb} {listing(variable.states)}.",
        column=variable.name,
        states=rows,
        allowed=variable.states,
    )


def _together(problems: Sequence[DataError]) -> DataError:
    """One error for the unknown states of several columns: its attributes are of the first."""
    first, *others = problems
    if not others:
        return first
    text = " ".join([str(first).removeprefix(f"{first.place}: "), *map(str, others)])
    columns = {error.details["column"]: error.details["states"] for error in problems}
    return DataError(first.place, text, **first.details, columns=columns)


def _recoded(
    coded: CodedTable,
    variables: Sequence[Variable] | Mapping[str, Iterable[State]] | None,
    weights: str | ArrayLike | None,
    unknown: str,
    discretizer: Discretizer | None,
) -> CodedTable:
    """Choose, reorder or translate the columns of a table that is coded already."""
    if weights is not None:
        if isinstance(weights, str):
            hint = "name the column when the table is first encoded"
            raise expected("an array with a CodedTable", "weights", weights, hint)
        if coded.weights is not None:
            hint = "the table has weights already"
            raise expected("None", "weights", weights, hint, got="an array")
    if discretizer is not None and coded.discretizer not in (None, discretizer):
        raise expected("the discretizer of the table", "discretizer", discretizer)
    if variables is None and weights is None:
        return coded
    declared, names = _declared(coded.names, variables, None)
    pairs = []
    for name in names:
        k = coded.position(name)
        variable = declared.get(name, coded.variables[k])
        if variable == coded.variables[k]:
            pairs.append((variable, coded.codes[k]))
        else:
            levels = Levels(coded.variables[k].states, coded.codes[k], closed=True)
            pairs.append(_coded(name, levels, declared, unknown))
    found, codes = zip(*pairs, strict=True)
    kept = coded.weights if weights is None else weights
    return CodedTable(found, codes, kept, coded.discretizer)  # type: ignore[arg-type]

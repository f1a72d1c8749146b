"""Features: what the columns of a training table can be, and how other tables become codes.

Floating-point columns are cut at quantiles; all others hold states. What a column is, is decided by
the training rows and never again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._warnings import UnknownStateWarning
from colonnade.exceptions import DataError, expected, listing, warn
from colonnade.tables.coded import CodedTable
from colonnade.tables.discretize import Cuts, Discretizer
from colonnade.tables.levels import place
from colonnade.tables.memory import encode
from colonnade.tables.sources import Source, read
from colonnade.variables import State, Variable

__all__ = ["Features", "merged_states"]

Floats = NDArray[np.float64]

# The only state of a column that never had a value.
_NOTHING = ("(no value)",)


@dataclass(frozen=True, slots=True)
class Features:
    """The variables that the columns of a table became.

    Parameters
    ----------
    variables : tuple of Variable
        One for each column, in order.
    discretizer : Discretizer or None
        Where floating-point columns are cut.
    """

    variables: tuple[Variable, ...]
    discretizer: Discretizer | None

    @classmethod
    def learn(
        cls, columns: Mapping[str, Any], weights: NDArray[Any] | None, bins: int
    ) -> tuple[Features, CodedTable]:
        """Find the states of all columns, and the codes of their rows.

        Parameters
        ----------
        columns : mapping of str to column
        weights : array [row] or None
            All positive; quantiles respect them.
        bins : int
            Largest number of intervals of a floating-point column.

        Examples
        --------
        >>> columns = {"a": np.array([0.5, np.nan, 2.5]), "b": ["x", "y", "x"]}
        >>> features, coded = Features.learn(columns, None, bins=5)
        >>> [variable.states for variable in features.variables]
        [('(-inf, 1.5]', '(1.5, inf)'), ('x', 'y')]
        >>> coded.missing
        (1, 0)
        """
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 2:
            raise expected("a whole number of at least 2", "bins", bins)
        source = read(columns)
        floating = [name for name in source.names if source.floating(name)]
        empty = {name for name in floating if np.isnan(_numbers(source, name)).all()}
        cut = [name for name in floating if name not in empty]
        discretizer = None
        if cut:
            found = Discretizer.fit(columns, bins, columns=cut, weights=weights).columns
            discretizer = Discretizer(
                tuple(_told_apart(each, _numbers(source, each.name)) for each in found)
            )
        declared: dict[str, tuple[State, ...]] = dict.fromkeys(empty, _NOTHING)
        coded = _discovered(columns, source, declared, discretizer)
        return cls(coded.variables, discretizer), coded

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(variable.name for variable in self.variables)

    def codes(self, columns: Mapping[str, Any], unknown: Literal["raise", "missing"]) -> CodedTable:
        """Turn another table into codes.

        Parameters
        ----------
        columns : mapping of str to column
            The same columns.
        unknown : {"raise", "missing"}
            What to do with values that did not occur in training: refuse, or warn once and treat
            them as missing.
        """
        source = read(columns)
        for name, column in columns.items():
            # An array of floats was looked through when it came.
            checked = isinstance(column, np.ndarray) and column.dtype.kind == "f"
            if self._cut(name) is not None and not checked:
                _numbers(source, name)
        try:
            return encode(columns, self.variables, discretizer=self.discretizer)
        except DataError as error:
            if unknown == "raise" or not hasattr(error, "states"):
                raise
        coded = encode(columns, self.variables, unknown="missing", discretizer=self.discretizer)
        warn(self._strange(columns), UnknownStateWarning)
        return coded

    def grown(
        self, columns: Mapping[str, Any], weights: NDArray[Any] | None, bins: int
    ) -> Features:
        """Add the states that another table has; cut points stay.

        A column that had no value so far is learned from this table.
        """
        source = read(columns)
        variables, cuts = [], list(self.discretizer.columns if self.discretizer else ())
        for variable in self.variables:
            name = variable.name
            if self._cut(name) is not None:
                _numbers(source, name)
                variables.append(variable)
            elif variable.states == _NOTHING:
                fresh, _ = Features.learn({name: columns[name]}, weights, bins)
                variables += fresh.variables
                cuts += fresh.discretizer.columns if fresh.discretizer else ()
            else:
                labels = source.levels(name, True).labels
                states = merged_states(place(name), variable.states, labels)
                variables.append(Variable(name, states))
        return Features(tuple(variables), Discretizer(tuple(cuts)) if cuts else None)

    def _cut(self, name: str) -> Cuts | None:
        return self.discretizer.get(name) if self.discretizer else None

    def _strange(self, columns: Mapping[str, Any]) -> str:
        """Word the warning for all columns with values that did not occur in training."""
        told = []
        for variable in self.variables:
            part = {variable.name: columns[variable.name]}
            try:
                encode(part, [variable], discretizer=self.discretizer)
            except DataError as error:
                states: dict[Any, int] = error.states  # type: ignore[attr-defined]
                rows = sum(states.values())
                told.append(
                    f"{place(variable.name)}: {rows} row{'s' * (rows != 1)} with "
                    f"{listing(states, 5)}"
                )
        return (
            "Values that did not occur in training are treated as missing. "
            f"{'; '.join(told)}. Hint: unknown='raise' makes this an error."
        )


def merged_states(where: str, known: Sequence[State], labels: Sequence[Any]) -> tuple[State, ...]:
    """Add labels to states: in order if the states are, else at the end.

    Parameters
    ----------
    where : str
        The column, to begin a message with.
    known : sequence of states
    labels : sequence
        None for what no row has.

    Examples
    --------
    >>> merged_states("Column 'x'", (1, 4), [4, 3]), merged_states("Column 'x'", ("b", "a"), ["c"])
    ((1, 3, 4), ('b', 'a', 'c'))
    """
    old = {(isinstance(state, bool), state) for state in known}
    fresh = [label for label in labels if label is not None]
    fresh = [label for label in fresh if (isinstance(label, bool), label) not in old]
    for label in fresh:
        if not isinstance(label, str | int):
            problem = f"{label!r} of type {type(label).__name__} is not a state."
            raise DataError(where, problem, "use strings, integers or truth values")
    if not fresh:
        return tuple(known)
    kinds = {str if isinstance(s, str) else type(s) for s in (*known, *fresh)}
    if len(kinds) > 1:
        problem = f"{listing(fresh, 5)} are of another kind than {listing(known, 5)}."
        raise DataError(where, problem, "give all batches the same types")
    if list(known) == sorted(known):
        return tuple(sorted((*known, *fresh)))
    return (*known, *fresh)


def _told_apart(cut: Cuts, numbers: Floats) -> Cuts:
    """Cut below a largest value that fills all quantiles, so that the others are not lost."""
    others = numbers[numbers < np.nanmax(numbers)]
    return Cuts(cut.name, (float(others.max()),)) if not cut.points and others.size else cut


def _numbers(source: Source, name: str) -> Floats:
    """A column of numbers, none of them infinite."""
    numbers = source.numbers(name)
    if numbers is None:
        hint = "give it as numbers, as in training"
        raise DataError(place(name), "not a column of numbers.", hint, column=name)
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax())
        problem = f"infinity in row {row}."
        raise DataError(place(name), problem, "use NaN for a missing value", column=name, row=row)
    return numbers


def _discovered(
    columns: Mapping[str, Any],
    source: Source,
    declared: dict[str, tuple[State, ...]],
    discretizer: Discretizer | None,
) -> CodedTable:
    """Encode a table, with a state that stands for nothing in columns without any value."""
    while True:
        try:
            return encode(columns, declared, discretizer=discretizer)
        except DataError as error:
            name = getattr(error, "column", None)
            if name is None or name in declared:
                raise
            if any(label is not None for label in source.levels(name, True).labels):
                raise
            declared[name] = _NOTHING

"""How an answer depends on entries of the tables: what such a question returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from colonnade.exceptions import checked_whole, expected
from colonnade.tables.tabular import Tabular
from colonnade.variables import State

# Probability of the other states of a row, below which two entries of it are tied to each other.
_MIN_REST = 1e-12


class Entry(NamedTuple):
    """How a probability depends on one entry of a table; the rest of its row shrinks in proportion.

    Attributes
    ----------
    variable : str
    configuration : dict of str to state
        Of the parents of the variable.
    state : state
    value : float
        The entry.
    derivative : float
        Of the probability with respect to the entry.
    coefficients : (float, float, float, float)
        The probability is ``(a + b x) / (c + d x)`` if the entry is x.
    interval : (float, float) or None
        Credible interval of the entry, if it was asked for and its table has a posterior.
    """

    variable: str
    configuration: dict[str, State]
    state: State
    value: float
    derivative: float
    coefficients: tuple[float, float, float, float]
    interval: tuple[float, float] | None = None

    def at(self, x: float) -> float:
        """Return the probability if the entry were `x`.

        Examples
        --------
        >>> Entry("x", {}, 1, 0.5, 1.0, (0.0, 1.0, 1.0, 0.0)).at(0.25)
        0.25
        """
        a, b, c, d = self.coefficients
        return _ratio(a + b * _probability("x", x), c + d * x)

    @property
    def swing(self) -> tuple[float, float] | None:
        """The probability at the ends of the interval of the entry, the smaller one first.

        Examples
        --------
        >>> Entry("x", {}, 1, 0.5, -1.0, (1.0, -1.0, 1.0, 0.0), (0.25, 0.5)).swing
        (0.5, 0.75)
        """
        if self.interval is None:
            return None
        low, high = sorted(self.at(end) for end in self.interval)
        return low, high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Sequence[Entry], Tabular):
    """How a probability depends on all entries of tables that matter: a sequence of them.

    Attributes
    ----------
    target : str
    state : state
        What is asked for.
    probability : float
        Its probability with all entries as they are.
    entries : tuple of Entry
        The largest derivative first; with intervals, the largest swing first.
    level : float or None
        Probability inside the intervals of the entries.
    """

    target: str
    state: State
    probability: float
    entries: tuple[Entry, ...]
    level: float | None = None

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, index: int | slice) -> Entry | tuple[Entry, ...]:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def first(self, number: int = 10) -> tuple[Entry, ...]:
        """The entries that matter most, of a row of two states only one: the other follows from it.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1]}, Dag([], ["a"]))
        >>> found = network.sensitivity("a", 1)
        >>> len(found), len(found.first())
        (2, 1)
        """
        number = checked_whole(number, "number")
        kept: list[Entry] = []
        for entry in self.entries:
            if len(kept) == number:
                break
            if not any(tied(entry, each) for each in kept):
                kept.append(entry)
        return tuple(kept)

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "variable": [entry.variable for entry in self.entries],
            "given": [
                ", ".join(f"{name} = {state}" for name, state in entry.configuration.items())
                for entry in self.entries
            ],
            "state": [entry.state for entry in self.entries],
            "value": [entry.value for entry in self.entries],
            "derivative": [entry.derivative for entry in self.entries],
        }
        if self.level is not None:
            for title, pairs in (
                ("value", [entry.interval for entry in self.entries]),
                ("probability", [entry.swing for entry in self.entries]),
            ):
                columns[f"{title} lower"] = [None if pair is None else pair[0] for pair in pairs]
                columns[f"{title} upper"] = [None if pair is None else pair[1] for pair in pairs]
        return columns

    def __repr__(self) -> str:
        number = f"{len(self)} entries" if len(self) != 1 else "1 entry"
        asked = f"{self.target} = {self.state!r}"
        return f"Sensitivity of {asked} (probability {self.probability:.4f}) to {number}"


class EntryPair(NamedTuple):
    """How a probability depends on two entries of tables together.

    Attributes
    ----------
    one, other : Entry
    derivative : float
        The mixed second derivative of the probability: how much a change of one entry changes the
        derivative with respect to the other. 0 if the two act apart from each other.
    numerator, denominator : (float, float, float, float)
        The probability is the ratio of two functions ``a + b x + c y + d x y`` if the entries are x
        and y.
    """

    one: Entry
    other: Entry
    derivative: float
    numerator: tuple[float, float, float, float]
    denominator: tuple[float, float, float, float]

    def at(self, x: float, y: float) -> float:
        """Return the probability if the entries were `x` and `y`.

        Examples
        --------
        >>> one = Entry("a", {}, 1, 0.5, 0.5, (0.0, 0.5, 1.0, 0.0))
        >>> other = Entry("b", {"a": 1}, 1, 0.5, 0.5, (0.0, 0.5, 1.0, 0.0))
        >>> EntryPair(one, other, 1.0, (0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)).at(0.5, 0.25)
        0.125
        """
        _probability("x", x), _probability("y", y)
        if same_row(self.one, self.other) and x + y > 1.0:
            hint = "the two entries are in one row"
            raise expected("numbers that add up to at most 1 for `x` and", "y", y, hint)
        parts = (1.0, x, y, x * y)
        return _ratio(
            sum(c * part for c, part in zip(self.numerator, parts, strict=True)),
            sum(c * part for c, part in zip(self.denominator, parts, strict=True)),
        )


def _probability(parameter: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0.0 <= value <= 1.0:
        raise expected("a probability", parameter, value)
    return float(value)


def _ratio(hit: float, free: float) -> float:
    """A probability, whatever rounding made of it; undefined where nothing is possible."""
    return min(max(hit / free, 0.0), 1.0) if free > 0.0 else float("nan")


def tied(one: Entry, other: Entry) -> bool:
    """Whether two entries are one, or the only two of their row that are possible."""
    rest = 1.0 - one.value - other.value
    return same_row(one, other) and (one.state == other.state or rest < _MIN_REST)


def same_row(one: Entry, other: Entry) -> bool:
    """Whether two entries are in one row of one table."""
    return one.variable == other.variable and one.configuration == other.configuration

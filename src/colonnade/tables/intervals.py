"""Names of intervals whose cut points are not known, as files of other programs leave them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from colonnade.exceptions import DataError
from colonnade.variables import State, Variable

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?![\w.])")
# Integers may be larger than any floating-point number.
_MAX_WRITTEN = 1e300


def named_points(states: Sequence[State]) -> list[float]:
    """Return the numbers at which neighbouring names of intervals meet; none if they are no names.

    Examples
    --------
    >>> named_points(["(-inf, 18]", "(18, 65.5]", "(65.5, inf)"])
    [18.0, 65.5]
    >>> named_points(["1 child", "2 children", "3"])
    []
    """
    if len(states) < 2 or not all(isinstance(state, str) for state in states):
        return []
    ends = [[float(number) for number in _NUMBER.findall(str(state))] for state in states]
    if [len(each) for each in ends] != [1, *[2] * (len(states) - 2), 1]:
        return []
    points = [each[-1] for each in ends[:-1]]
    meet = all(low[-1] == high[0] for low, high in pairwise(ends))
    return points if meet and points == sorted(set(points)) else []


def infinite(name: str, written: str) -> DataError:
    """Word the error for infinity where a variable that was cut needs a number."""
    problem = f"{written} is infinity, or a number too large to be told from it."
    return DataError(f"Variable {name!r}", problem, "give a finite number", variable=name)


def without_cut_points(variable: Variable, number: float) -> DataError | None:
    """Word the error for a number that stands for an interval which only has a name."""
    points = named_points(variable.states)
    if not points:
        return None
    written = f"{number:g}" if abs(number) < _MAX_WRITTEN else "it"
    return DataError(
        f"Variable {variable.name!r}",
        f"{written} is a number, but its states are names of intervals, and the network has no "
        "cut points for them; of all file formats only .json keeps those.",
        f"give the name of an interval, such as {variable.states[bisect_left(points, number)]!r}",
        variable=variable.name,
        state=number,
        allowed=variable.states,
    )

"""The sign between the values of a text file, guessed from its first lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

SEPARATORS = (",", ";", "\t", "|")
_NAMES = {"\t": "a tab", " ": "a blank"}
# Lines that a guess is made from.
SAMPLE_LINES = 100
# Of the lines, at least this share must have as many values as the first.
_MIN_SHARE = 0.5


class _Fit(NamedTuple):
    """How well a separator fits lines: share of those as wide as the first, and its width."""

    share: float
    width: int


def named(separator: str) -> str:
    """Name a separator for a message."""
    return _NAMES.get(separator, repr(separator))


def separator_of(lines: Sequence[str], usual: str, blanks: bool = False) -> str:
    """Return the separator of a file, given its first lines and the one its name stands for.

    `blanks` says that they may stand between values.

    Another than the usual one is chosen only if it divides the first line, most lines have as many
    values as that, and it fits better.

    Examples
    --------
    >>> separator_of(["a;b", "1,5;2", "3;4"], ",")
    ';'
    >>> separator_of(["a,b", "1,x;y"], ",")
    ','
    """
    text = [line.strip(" ") for line in lines if line.strip()]
    best, best_fit = usual, _fit(text, usual)
    for separator in (*SEPARATORS, *(" " * blanks)):
        fit = _fit(text, separator)
        if separator != usual and fit.width > 1 and fit.share >= _MIN_SHARE and fit > best_fit:
            best, best_fit = separator, fit
    return best


def _fit(lines: Sequence[str], separator: str) -> _Fit:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]
    except csv.Error:
        return _Fit(0.0, 0)
    if not rows:
        return _Fit(0.0, 0)
    width = len(rows[0])
    if width == 1:
        return _Fit(0.0, 1)  # it divides nothing
    others = rows[1:] or rows
    return _Fit(sum(len(row) == width for row in others) / len(others), width)

"""What is typed after --bins and --cut: how columns of numbers become states."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from colonnade.cli.values import Misuse
from colonnade.exceptions import DataWarning, InputError, warn

if TYPE_CHECKING:
    from colonnade.arrays import Floats
    from colonnade.tables import Cuts

_MIN_BINS = 2
_CUT = re.compile(
    r"\s*(?P<name>\S.*?)\s*:\s*(?P<points>[-+0-9.eE,\s]*[0-9.])\s*(?:=\s*(?P<states>.*?)\s*)?"
)
_EXAMPLE = "write 'bmi: 18.5, 25, 30 = thin, normal, heavy, obese'"


def bins_of(words: Sequence[str]) -> tuple[int | None, dict[str, int | None]]:
    """Return what --bins says of all columns, None if nothing, and of single ones."""
    default: int | None = None
    each: dict[str, int | None] = {}
    for word in words:
        name, sign, number = word.rpartition("=")
        if (name in each) if sign else default is not None:
            which = f"for {name}" if sign else "for all columns"
            raise Misuse(f"--bins: {word!r} is the second number {which}.")
        if sign and number == "keep":
            each[name] = None
        elif not number.isascii() or not number.isdigit() or int(number) < _MIN_BINS:
            what = f"a number of at least {_MIN_BINS}, COLUMN=NUMBER or COLUMN=keep"
            raise Misuse(f"Expected {what} for --bins, got {word!r}.")
        elif sign:
            each[name] = int(number)
        else:
            default = int(number)
    return default, each


def warn_of_empty(cuts: Cuts, numbers: Floats) -> None:
    """Say so if a column has no number below its first cut point, or none above its last."""
    known = numbers[~np.isnan(numbers)]
    if not known.size or not cuts.points:
        return
    for empty, where, point in (
        (known.min() > cuts.points[0], "up to", cuts.points[0]),
        (known.max() <= cuts.points[-1], "above", cuts.points[-1]),
    ):
        if empty:
            warn(DataWarning(f"Column {cuts.name!r}: --cut, but no value lies {where} {point:g}."))


def cuts_of(text: str) -> Cuts:
    """Return where --cut says a column is cut, with the names of the intervals."""
    from colonnade.tables import Cuts

    found = _CUT.fullmatch(text)
    if found is None:
        what = "COLUMN: NUMBERS or COLUMN: NUMBERS = NAMES"
        raise Misuse(f"Expected {what} for --cut, got {text!r}.", hint=_EXAMPLE)
    try:
        points = [float(number) for number in found["points"].split(",")]
    except ValueError:
        numbers = found["points"].strip()
        what = "numbers separated by commas"
        raise Misuse(f"Expected {what} for --cut, got {numbers!r}.", hint=_EXAMPLE) from None
    if any(low >= high for low, high in pairwise(points)):
        numbers = found["points"].strip()
        raise Misuse(f"Expected increasing finite numbers for --cut, got {numbers}.", hint=_EXAMPLE)
    states: list[str] = []
    if found["states"]:
        states = [
            name.strip() for name in next(csv.reader([found["states"]], skipinitialspace=True))
        ]
    if states and len(states) != len(points) + 1:
        what = f"{len(points) + 1} names, one more than there are points,"
        got = f"{len(states)}: {', '.join(states)}"
        raise Misuse(f"Expected {what} for --cut, got {got}.", hint=_EXAMPLE)
    try:
        return Cuts(found["name"], tuple(points), tuple(states))
    except InputError as error:
        raise Misuse(error.naming("--cut"), hint=error.hint) from None

"""What the command line prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = [
    "clean",
    "complain",
    "figure",
    "grid",
    "interval",
    "number",
    "say",
    "say_json",
    "spoken",
    "tally",
]

# What a message says in Python, said with options. The tests check that each still occurs.
_SPOKEN = (
    ("discretize(table)", "--bins 5"),
    ("write overwrite=True", "give --overwrite"),
    (
        "use missing='available' to count complete rows only, family by family",
        "give --missing available to count complete rows, family by family, or --missing em",
    ),
    (
        "drop or complete those rows before learning the structure",
        "give --missing available or --missing em; the structure is then learned from the rows "
        "that are complete",
    ),
    (
        "use draws=0, or fit with a prior such as Hierarchical()",
        "leave out --draws, or fit with a prior such as hierarchical",
    ),
    (
        "use Hierarchical(), SymmetricDirichlet() or BDeu()",
        "fit with hierarchical, symmetric or bdeu",
    ),
)
_OPTIONS = re.compile(r"`(bins|draws|folds|k|level|max_parents|observed|weights)`")


def clean(text: object) -> str:
    r"""Return a text as it may be shown: what steers a terminal is written out.

    Examples
    --------
    >>> clean("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )


def spoken(message: str) -> str:
    """Say a message of the package in the words of the command line.

    Examples
    --------
    >>> spoken("Expected a whole number from 2 to 9 for `folds`, got 10.")
    'Expected a whole number from 2 to 9 for --folds, got 10.'
    """
    for python, option in _SPOKEN:
        message = message.replace(python, option)
    return _OPTIONS.sub(lambda found: "--" + found[1].replace("_", "-"), message)


def say(text: str = "") -> None:
    """Print a line to standard output."""
    print(clean(text))


def say_json(value: Any) -> None:
    """Print a value as JSON to standard output; numbers that JSON does not know are null."""
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def complain(text: str) -> None:
    """Print a line to standard error."""
    print(clean(text), file=sys.stderr)


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Print a table to standard output.

    Parameters
    ----------
    head : sequence of str
    rows : iterable of sequence of str
    numbers : sequence of str, optional
        Columns that are aligned to the right and never broken.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in head:
        right = name in numbers
        table.add_column(
            Text(clean(name), style="bold"),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    # Names may look like markup or hold a pair of colons: they are neither.
    Console(markup=False, emoji=False, highlight=False).print(table)


def figure(value: float) -> str:
    """Write a probability.

    Examples
    --------
    >>> figure(0.25), figure(0.99999), figure(math.nan)
    ('0.2500', '1.0000', '-')
    """
    return "-" if math.isnan(value) else f"{value:.4f}"


def interval(lower: float, upper: float) -> str:
    """Write the ends of an interval.

    Examples
    --------
    >>> interval(0.1, 0.25)
    '0.1000 - 0.2500'
    """
    return f"{lower:.4f} - {upper:.4f}"


def tally(count: float | None) -> str:
    """Write a count, which weights and EM may have made fractional.

    Examples
    --------
    >>> tally(1234567), tally(2.0), tally(0.5), tally(None)
    ('1,234,567', '2', '0.50', '-')
    """
    if count is None:
        return "-"
    return f"{int(count):,}" if count == int(count) else f"{count:,.2f}"


def number(size: int, what: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> number(1, "arc"), number(2000, "arc")
    ('1 arc', '2,000 arcs')
    """
    return f"{size:,} {what}{'s' * (size != 1)}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

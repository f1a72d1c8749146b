"""What the command line prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from colonnade.wording import counted


def clean(text: object) -> str:
    """Return a text as it may be shown: what steers a terminal is written out."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )


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
    """Print a table to standard output; columns of `numbers` are aligned right, never broken."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in head:
        aligned: dict[str, Any] = {"justify": "right", "no_wrap": True} if name in numbers else {}
        table.add_column(Text(clean(name), style="bold"), overflow="fold", **aligned)
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    # Names may look like markup or hold a pair of colons: they are neither.
    Console(markup=False, emoji=False, highlight=False).print(table)


def say_rest(rest: int, what: str, more: str = "--limit shows more, --json all") -> None:
    """Say how many lines a table does not show, if any, and how to see them."""
    if rest:
        say(f"... {counted(rest, f'more {what}')}; {more}")


def figure(value: float) -> str:
    """Write a probability."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def interval(lower: float, upper: float) -> str:
    """Write the ends of an interval."""
    return f"{lower:.4f} - {upper:.4f}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

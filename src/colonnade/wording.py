"""Lists, amounts and values, as messages write them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["MAX_SHOWN_PARENTS", "amount", "counted", "listing", "shown", "with_hint"]

# Parents of a variable that are written out.
MAX_SHOWN_PARENTS = 6
_MAX_CHARACTERS = 80  # of a value in a message


def listing(items: Iterable[Any], limit: int = 10) -> str:
    """Write a list for a message: at most `limit` items, then how many more there are."""
    shown = [repr(item) for item in items]
    rest = len(shown) - limit
    tail = [f"... {rest} more"] if rest > 0 else []
    return "[" + ", ".join(shown[:limit] + tail) + "]"


def amount(size: float) -> str:
    """Write a number of things for a message, whatever its size."""
    # Beyond 10**12 nobody reads the digits, and a float may not hold the number.
    if size < 10**12:
        return f"{size:,}"
    exponent, fraction = divmod(math.log10(size), 1)
    return f"{10**fraction:.2f}e{int(exponent)}"


def counted(size: float, what: str, plural: str = "") -> str:
    """Write how many there are of something: ``1 arc``, ``2,000 arcs``."""
    return f"{amount(size)} {what if size == 1 else plural or what + 's'}"


def with_hint(statement: str, hint: str) -> str:
    """Return a whole message: what is wrong, and what would help."""
    return f"{statement} Hint: {hint.rstrip('.')}." if hint else statement


def shown(value: Any) -> str:
    """Write a value for a message, shortened if it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a broken __repr__ must not hide the error we are wording
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 4] + " ..."

"""Lists, amounts and values, as messages write them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

__all__ = [
    "MAX_SHOWN_PARENTS",
    "alike",
    "amount",
    "counted",
    "did_you_mean",
    "joined",
    "listing",
    "shown",
    "with_hint",
]

# Parents of a variable that are written out.
MAX_SHOWN_PARENTS = 6
_MAX_CHARACTERS = 80  # of a value in a message
# Comparing letter by letter takes too long among more names or states than these.
_MAX_COMPARED = 2_000
_MAX_SUGGESTED = 3
_MIN_SIMILARITY = 0.75


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
    if not hint:
        return statement
    return (
        f"{statement} Hint: {hint}"
        if hint.endswith("?")
        else f"{statement} Hint: {hint.rstrip('.')}."
    )


def joined(items: Iterable[str], word: str = "and") -> str:
    """Write an enumeration: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def alike(value: Any) -> str:
    """Return what a name or a state has in common with those that look like it.

    Those that differ only by case, by blanks, or as a text differs from what it says (``"1"`` and
    ``1``) have the same.
    """
    return " ".join(str(value).split()).casefold()


def did_you_mean(asked: Any, known: Iterable[Any]) -> str:
    """Return the hint "did you mean ...?" if some of those known look like the one asked for."""
    texts: dict[str, list[Any]] = {}
    for each in known:
        texts.setdefault(alike(each), []).append(each)
    text = alike(asked)
    found = texts.get(text, [])
    if not found and len(texts) <= _MAX_COMPARED:
        close = difflib.get_close_matches(text, texts, _MAX_SUGGESTED, _MIN_SIMILARITY)
        found = [each for match in close for each in texts[match]]
    found = [each for each in found if repr(each) != repr(asked)][:_MAX_SUGGESTED]
    return f"did you mean {joined(map(repr, found), 'or')}?" if found else ""


def shown(value: Any) -> str:
    """Write a value for a message, shortened if it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a broken __repr__ must not hide the error we are wording
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 4] + " ..."

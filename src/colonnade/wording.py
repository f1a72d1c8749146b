"""Lists, amounts and values, as messages write them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "MAX_SHOWN_PARENTS",
    "alike",
    "amount",
    "arrows",
    "conditions",
    "counted",
    "did_you_mean",
    "joined",
    "listing",
    "nearest",
    "percent",
    "row_at",
    "shown",
    "tallies",
    "tally",
    "with_hint",
]

# Parents of a variable that are written out.
MAX_SHOWN_PARENTS = 6
# Beyond this nobody reads the digits, and a float may not hold the number.
_MAX_WRITTEN_OUT = 10**12
_MAX_CHARACTERS = 80  # of a value in a message
# Comparing letter by letter takes too long among more names or states than these.
_MAX_COMPARED = 2_000
_MAX_SUGGESTED = 3
_MIN_SIMILARITY = 0.75
# Letters from which on a word may stand for a longer one that begins with it.
_MIN_PREFIX = 4
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:e[+-]?[0-9]+)?")
# Sums of weights and of EM's expected counts are whole only up to rounding.
_ROUNDING = 1e-9


def listing(items: Iterable[Any], limit: int = 10) -> str:
    """Write a list for a message: at most `limit` items, then how many more there are."""
    shown = [repr(item) for item in items]
    rest = len(shown) - limit
    tail = [f"... {rest} more"] if rest > 0 else []
    return ", ".join(shown[:limit] + tail) or "none"


def arrows(arcs: Iterable[tuple[str, str]], limit: int = 10) -> str:
    """Write arcs for a message: ``smoker->cancer``."""
    written = [f"{parent}->{child}" for parent, child in arcs]
    rest = len(written) - limit
    tail = [f"... {rest} more"] if rest > 0 else []
    return ", ".join(written[:limit] + tail) or "none"


def conditions(states: Mapping[str, Any]) -> str:
    """Write states of variables for a message: ``smoker = 'yes', age = 3``."""
    return ", ".join(f"{name} = {state!r}" for name, state in states.items())


def amount(size: float) -> str:
    """Write a number of things for a message, whatever its size."""
    if size < _MAX_WRITTEN_OUT:
        return f"{size:,}"
    exponent, fraction = divmod(math.log10(size), 1)
    return f"{10**fraction:.2f}e{int(exponent)}"


def counted(size: float, what: str, plural: str = "") -> str:
    """Write how many there are of something: ``1 arc``, ``2,000 arcs``."""
    return f"{amount(size)} {what if size == 1 else plural or what + 's'}"


def tallies(counts: Iterable[float | None]) -> list[str]:
    """Write counts that belong together, all whole or all with two decimals; None is a dash."""
    counts = list(counts)
    decimals = 0 if all(count is None or _whole(count) for count in counts) else 2
    return ["-" if count is None else _written(count, decimals) for count in counts]


def tally(count: float) -> str:
    """Write one count, which weights and EM may have made fractional."""
    return tallies([count])[0]


def _written(count: float, decimals: int) -> str:
    return f"{count:,.{decimals}f}" if count < _MAX_WRITTEN_OUT else amount(count)


def _whole(count: float) -> bool:
    return abs(count - round(count)) <= _ROUNDING * max(1.0, abs(count))


def percent(level: float) -> str:
    """Write a probability in per cent; one close to 1 is not written as 100."""
    return f"{100 * level:.12g} %"


def with_hint(statement: str, hint: str) -> str:
    """Return a whole message: what is wrong, and what would help."""
    if not hint:
        return statement
    return f"{statement} Hint: {hint if hint.endswith('?') else hint.rstrip('.') + '.'}"


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


# Ways to write the same, in small letters.
_SYNONYMS = (
    *({"y", "yes"}, {"n", "no"}, {"t", "true"}, {"f", "false"}),
    *({"m", "male"}, {"f", "female"}, {"w", "woman", "women"}),
    *({"pos", "positive", "+"}, {"neg", "negative", "-"}, {"unk", "unknown"}),
    *({"j", "ja"}, {"nein", "n"}, {"o", "oui"}, {"non", "n"}, {"s", "si", "sí"}),
)


def synonyms(values: Iterable[str]) -> list[list[str]]:
    """Return groups of texts that mean the same by convention, such as Y and yes.

    Those that only differ by case or blanks are in one group with the others.

    Examples
    --------
    >>> synonyms(["Y", "n", "yes", "no", "Yes"])
    [['Y', 'yes', 'Yes'], ['n', 'no']]
    """
    texts = list(values)
    groups = []
    for words in _SYNONYMS:
        group = [text for text in texts if alike(text) in words]
        if len({alike(text) for text in group}) > 1:
            groups.append(group)
    return groups


def row_at(position: int) -> str:
    """Name a row of data by its position, which begins at 0, as people count."""
    return f"row {position + 1:,} (counted from 1)"


def nearest(asked: Any, known: Iterable[Any]) -> list[Any]:
    """Return a few of those known that look like the one asked for.

    Another number is no slip of the pen, so none is like a number but the number itself, or the
    one of True and False that it stands for.
    """
    known = list(known)
    if type(asked) is int and known and all(isinstance(each, bool) for each in known):
        return [each for each in known if each == asked]
    texts: dict[str, list[Any]] = {}
    for each in known:
        texts.setdefault(alike(each), []).append(each)
    text = alike(asked)
    found = texts.get(text, [])
    if not found and len(texts) <= _MAX_COMPARED and not _NUMBER.fullmatch(text):
        likely = [each for each in texts if _may_mean(text, each)]
        close = difflib.get_close_matches(text, likely, _MAX_SUGGESTED, _MIN_SIMILARITY)
        close = close or [each for each in likely if _one_begins(text, each)]
        found = [each for match in close for each in texts[match]]
    return [each for each in found if repr(each) != repr(asked)][:_MAX_SUGGESTED]


def _may_mean(text: str, other: str) -> bool:
    """Whether one text may be a slip for another.

    Hardly anybody mistakes the first letter: words such as male and female are different. Nor is
    a short word a slip for any longer one that begins with it, unless it is a word there, too.
    """
    if text[:1] != other[:1]:
        return False
    short, long = sorted((text, other), key=len)
    if not long.startswith(short) or len(short) >= _MIN_PREFIX:
        return True
    if len(short) == _MIN_PREFIX - 1 and len(long) == _MIN_PREFIX:
        return True  # the last letter was forgotten, or is one too many
    return not long[len(short) : len(short) + 1].isalnum()


def _one_begins(text: str, other: str) -> bool:
    short, long = sorted((text, other), key=len)
    return len(short) >= _MIN_PREFIX and long.startswith(short)


def did_you_mean(asked: Any, known: Iterable[Any]) -> str:
    """Return the hint "did you mean ...?" if some of those known look like the one asked for."""
    found = nearest(asked, known)
    return f"did you mean {joined(map(repr, found), 'or')}?" if found else ""


def shown(value: Any) -> str:
    """Write a value for a message, shortened if it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a broken __repr__ must not hide the error we are wording
        text = f"an object of type {type(value).__name__}"
    if len(text) <= _MAX_CHARACTERS:
        return text
    if isinstance(value, str):  # of a path, the end says most
        half = (_MAX_CHARACTERS - 5) // 2
        return f"{text[:half]} ... {text[-half:]}"
    return text[: _MAX_CHARACTERS - 4] + " ..."

"""Text of users inside HTML."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

__all__ = ["printable", "safe", "shortened", "told_apart"]


def safe(value: Any) -> str:
    r"""Write a name or a state so that a page shows it and never runs it.

    Characters that no page may hold (control characters, halves of surrogate pairs) become
    replacement characters.

    Examples
    --------
    >>> safe("<b>\x00")
    '&lt;b&gt;�'
    """
    return html.escape(printable(value))


def printable(value: Any) -> str:
    r"""Replace characters that no page may hold by replacement characters.

    Examples
    --------
    >>> printable("<b>\x00")
    '<b>�'
    """
    text = str(value)
    if text.isprintable():  # as most are, which takes no time
        return text
    return "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in text)


def shortened(value: Any, length: int) -> str:
    """Cut a long text.

    Examples
    --------
    >>> shortened("education_of_the_mother", 12)
    'education_o…'
    """
    text = str(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def told_apart(values: Sequence[Any], length: int) -> list[str]:
    """Cut long texts; of those that would look the same, the beginning they share.

    Examples
    --------
    >>> told_apart(["age", "income before taxes", "income after taxes"], 12)
    ['age', 'income befo…', 'income afte…']
    >>> told_apart(["measured variable 1", "measured variable 2"], 12)
    ['mea… 1', 'mea… 2']
    """
    texts = [str(value) for value in values]
    alike: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        alike.setdefault(shortened(text, length), []).append(text)
    found = {}
    for short, same in alike.items():
        found[same[0]] = short
        if len(same) > 1:
            begin = length // 4
            shared = takewhile(lambda at: len(set(at)) == 1, zip(*same, strict=False))
            differ = sum(1 for _ in shared)
            for text in same:
                end = shortened(text[max(begin, differ - 1) :], length - begin - 1)
                found[text] = f"{text[:begin]}…{end}" if len(text) > length else text
    return [found[text] for text in texts]

"""Text of users inside HTML."""

from __future__ import annotations

import html
import unicodedata
from typing import Any

__all__ = ["printable", "safe", "shortened"]


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

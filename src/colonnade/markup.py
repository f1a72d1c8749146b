"""Text of users inside HTML."""

from __future__ import annotations

import html
import unicodedata
from typing import Any

__all__ = ["safe", "shortened"]


def safe(value: Any) -> str:
    r"""Write a name or a state so that a page shows it and never runs it.

    Characters that no page may hold (control characters, halves of surrogate pairs) become
    replacement characters.

    Examples
    --------
    >>> safe("<b>\x00")
    '&lt;b&gt;�'
    """
    text = str(value)
    shown = [c if unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in text]
    return html.escape("".join(shown))


def shortened(value: Any, length: int) -> str:
    """Cut a long text.

    Examples
    --------
    >>> shortened("education_of_the_mother", 12)
    'education_o…'
    """
    text = str(value)
    return text if len(text) <= length else text[: length - 1] + "…"

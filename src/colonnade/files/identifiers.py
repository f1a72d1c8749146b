"""Names and states for programs that show identifiers: readable, and different from each other.

An identifier begins with a letter of ASCII and goes on with letters, digits and underscores. What
is none is written as one that can be read (``<=50K`` as ``at_most_50K``, ``(21.3, inf)`` as
``above_21_3``); the file keeps beside it what it stands for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from colonnade.variables import State

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Ends of intervals, and signs that mean something, in words.
_END = r"([^\s,()\[\]]+)"
_WORDS = [
    (re.compile(rf"[(\[]-inf, *{_END}[)\]]"), r" up to \1 "),
    (re.compile(rf"[(\[]{_END}, *\+?inf[)\]]"), r" above \1 "),
    (re.compile(rf"[(\[]{_END}, *{_END}[)\]]"), r" \1 to \2 "),
    (re.compile(r"<=|\u2264"), " at most "),
    (re.compile(r">=|\u2265"), " at least "),
    (re.compile("<"), " below "),
    (re.compile(">"), " above "),
    (re.compile("%"), " percent "),
    (re.compile("&"), " and "),
    (re.compile(r"(?<![\w.])[-\u2212](?=\.?[0-9])"), " minus "),
    (re.compile(r"\+(?=\s|\Z)"), " plus "),
]


class Identifiers:
    """Writes names and states as identifiers, those that are some already as they are."""

    def write_names(self, names: Iterable[str]) -> list[str]:
        """Names of variables as identifiers, all different."""
        return _different(list(names), "node")

    def write_states(self, states: Iterable[State]) -> list[str]:
        """States of one variable as identifiers, all different."""
        return _different(list(states), "state")


def _different(values: Sequence[State], kind: str) -> list[str]:
    kept = {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)}
    written, taken = [], set(kept)
    for value in values:
        identifier = str(value)
        if not isinstance(value, str) or value not in kept:
            identifier = _unused(_readable(identifier, kind), taken)
            taken.add(identifier)
        written.append(identifier)
    return written


def _unused(identifier: str, taken: set[str]) -> str:
    number, found = 1, identifier
    while found in taken:
        number += 1
        found = f"{identifier}_{number}"
    return found


def _readable(text: str, kind: str) -> str:
    """Write any text as an identifier that a person understands; `kind` stands for nothing left."""
    for sign, words in _WORDS:
        text = sign.sub(words, text)
    # Letters lose their accents.
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    if not text:
        return kind
    if text[0].isdigit():
        return f"from_{text}" if "_to_" in text else f"{kind}_{text}"
    return text

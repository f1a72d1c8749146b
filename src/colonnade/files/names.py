"""Names and states in formats that cannot hold all of them.

A name that a format holds is written as it is. Any other is written as ``cn__`` and then, for each
character: a letter or digit of ASCII as itself, ``_`` as ``__``, anything else as ``_`` its
hexadecimal code ``_``. At least one character is written as a code, so that no ordinary name is
taken for an encoded one; only the empty string is ``cn__`` alone. So ``<=50K`` becomes
``cn___3c__3d_50K``. The result is an identifier of at least four characters in every format.

States of other types than text are written as text; a property ``colonnade_types`` of the
variable keeps what they are: one letter for each state (``i`` integer, ``b`` boolean, ``s``
text), or a single letter if it is the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from colonnade.variables import State

# The property that keeps the types of states.
TYPES = "colonnade_types"

_PREFIX = "cn__"
_ENCODED = re.compile(r"cn__(?:[A-Za-z0-9]|__|_[0-9a-f]{1,6}_)*")
_PART = re.compile(r"__|_([0-9a-f]{1,6})_|([A-Za-z0-9])")

IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
# Words of visible characters with single spaces between them: what XML keeps as it is.
_VISIBLE = (
    r"[^\s\x00-\x20\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e"
    r"\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
TEXT = rf"{_VISIBLE}+(?: {_VISIBLE}+)*"


def pattern(held: str, reserved: Iterable[str] = ()) -> re.Pattern[str]:
    """What matches `held` and is not a reserved word, in capitals or not."""
    words = "|".join(map(re.escape, reserved))
    return re.compile(rf"(?!(?i:{words})\Z)(?:{held})" if words else held)


def encode(text: str, width: int = 1) -> str:
    """Write any text as an identifier; codes have at least `width` digits, all meaning the same."""

    def part(character: str) -> str:
        if character == "_":
            return "__"
        plain = character.isascii() and character.isalnum()
        return character if plain else f"_{ord(character):0{width}x}_"

    parts = [part(character) for character in text]
    if not any(len(written) > 2 for written in parts) and text:
        parts[0] = f"_{ord(text[0]):0{width}x}_"
    return _PREFIX + "".join(parts)


def decode(text: str) -> str:
    """Return what was encoded, or the text itself if nothing was."""
    if not _ENCODED.fullmatch(text):
        return text
    codes = 0
    found = []
    for match in _PART.finditer(text, len(_PREFIX)):
        code, plain = match.groups()
        if code is not None and int(code, 16) > 0x10FFFF:
            return text
        codes += code is not None
        found.append(plain or ("_" if code is None else chr(int(code, 16))))
    return "".join(found) if codes or not found else text


class Spelling(Protocol):
    """How a format writes names and states; what it writes for several is all different."""

    def write_names(self, names: Iterable[str]) -> list[str]: ...

    def write_states(self, states: Iterable[State]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Patterns of the names and states that a format writes as they are."""

    name: re.Pattern[str]
    state: re.Pattern[str]

    def write_names(self, names: Iterable[str]) -> list[str]:
        """Names of variables as the format holds them, all different."""
        return [name if self._holds(self.name, name) else encode(name) for name in names]

    def write_states(self, states: Iterable[State]) -> list[str]:
        """States as the format holds them, all different."""
        states = list(states)
        others = {str(state) for state in states if not isinstance(state, str)}
        written = []
        for state in states:
            text = str(state)
            # The text "0" beside the integer 0 gives way: if need be both are encoded, differently.
            gives_way = isinstance(state, str) and text in others
            plain = self._holds(self.state, text) and not gives_way
            written.append(text if plain else encode(text, 6 if gives_way else 1))
        return written

    def _holds(self, pattern: re.Pattern[str], text: str) -> bool:
        return pattern.fullmatch(text) is not None and not text.startswith(_PREFIX)


def types_of(states: Iterable[State]) -> str:
    """The types of states, as the property keeps them; empty if all are text."""
    letters = ["b" if isinstance(s, bool) else "i" if isinstance(s, int) else "s" for s in states]
    if set(letters) == {"s"}:
        return ""
    return letters[0] if len(set(letters)) == 1 else "".join(letters)


def typed(labels: Iterable[str], types: str) -> list[State]:
    """States from what a file holds; a ValueError if the types do not fit them."""
    texts = [decode(label) for label in labels]
    letters = types * len(texts) if len(types) == 1 else types or "s" * len(texts)
    if len(letters) != len(texts) or set(letters) - set("bis"):
        raise ValueError(f"the types {types[:20]!r} do not fit {len(texts)} states")
    if {"b", "i"} <= set(letters):
        raise ValueError("its states are booleans and integers, which do not mix")
    return [_state(text, letter) for text, letter in zip(texts, letters, strict=True)]


def _state(text: str, letter: str) -> State:
    if letter == "s":
        return text
    if letter == "b" and text in ("False", "True"):
        return text == "True"
    if letter == "i" and re.fullmatch(r"-?[0-9]{1,4000}", text):
        return int(text)
    raise ValueError(f"{text[:40]!r} is not {'a boolean' if letter == 'b' else 'an integer'}")

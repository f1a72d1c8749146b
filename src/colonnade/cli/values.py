"""What is typed after an option: from a word to a number or a choice, or a refusal in our words.

Typer would convert values, too, but it words its refusals in the terms of the packages it uses.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import typer

from colonnade.exceptions import MAX_DRAWS, MIN_DRAWS, InputError, expected
from colonnade.wording import did_you_mean, joined, shown

_Choice = TypeVar("_Choice", bound=StrEnum)


class Misuse(typer.BadParameter):
    """A command that is wrong whatever the files hold: exit code 2.

    Attributes
    ----------
    parts : tuple of str
        What is wrong, cut where the name of the option belongs that a value was typed for.
    hint : str
        One action that would help; empty if there is none.
    """

    def __init__(self, *parts: str, hint: str = "") -> None:
        super().__init__("".join(parts))
        self.parts, self.hint = parts, hint


def _unlike(what: str, text: str, hint: str = "") -> Misuse:
    return Misuse(f"Expected {what} for ", f", got {shown(text)}.", hint=hint)


def integer(least: int) -> Callable[[str], int]:
    """Return what reads an integer of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise _unlike(f"an integer of at least {least}", text)
        return number

    return read


def draws(text: str) -> int:
    """Read a number of draws; 0 is none."""
    try:
        number = int(text)
        if number == 0 or MIN_DRAWS <= number <= MAX_DRAWS:
            return number
    except ValueError:
        pass
    hint = "leave the option out for as many as are needed"
    raise _unlike(f"an integer from {MIN_DRAWS} to {MAX_DRAWS:,}", text, hint)


def file_that(check: Callable[[Path], object]) -> Callable[[str], Path]:
    """Return what reads the name of a file that passes a check of the name alone."""

    def read(text: str) -> Path:
        try:
            check(Path(text))
        except InputError as error:
            raise Misuse(*error.parts, hint=error.hint) from None
        return Path(text)

    return read


def model_ending(path: Path) -> None:
    """Raise unless the name of a file ends as those of networks do."""
    from colonnade.files.registry import format_of

    format_of(path)


def table_ending(path: Path) -> None:
    """Raise unless the name of a file ends as those of tables do."""
    from colonnade.tables.files import refuse_ending

    refuse_ending(path)


def data_ending(path: Path) -> None:
    """Raise unless the name of a file ends as those of tables or of databases do."""
    from colonnade.tables.databases import is_database

    if not is_database(path):
        table_ending(path)


def memory_size(text: str) -> str:
    """Read a number of bytes, which may have a unit."""
    from colonnade.tables.bounds import Memory

    try:
        Memory.of(text)
    except InputError as error:
        raise Misuse(*error.parts, hint=error.hint) from None
    return text


def encoding_name(text: str) -> str:
    """Read the name of an encoding."""
    try:
        codecs.lookup(text)
    except LookupError:
        raise _unlike("an encoding such as utf-8, utf-16 or cp1252", text) from None
    return text


def separator_sign(text: str) -> str:
    """Read the sign between values; a tab may be written as a word."""
    sign = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(sign) != 1 or sign in '"\r\n':
        raise _unlike("a single sign, or tab,", text, "write --separator ';'")
    return sign


def decimal_sign(text: str) -> str:
    """Read what stands before decimals."""
    sign = {"point": ".", "comma": ","}.get(text, text)
    if sign not in (".", ","):
        raise _unlike("a point or a comma", text, "write --decimal ','")
    return sign


def ending_in(endings: Sequence[str], *others: str) -> Callable[[Path], None]:
    """Return a check that the name of a file has one of some endings, or is one of some others."""

    def check(path: Path) -> None:
        if path.suffix.lower() not in endings and str(path) not in others:
            raise expected(f"a file ending in {joined(endings, 'or')}", "path", str(path))

    return check


def fraction(text: str) -> float:
    """Read a number between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < 1.0:
        raise _unlike("a number between 0 and 1", text, "write 0.95 for 95 %")
    return number


def choice(kind: type[_Choice], *, but: Sequence[_Choice] = ()) -> Callable[[str], _Choice]:
    """Return what reads one of a few words, of which some may not be allowed."""

    def read(text: str) -> _Choice:
        words = [str(each) for each in kind if each not in but]
        if text not in words:
            raise _unlike(joined(words, "or"), text, did_you_mean(text, words))
        return kind(text)

    return read


def refuse_repeated(option: str, what: str, words: Sequence[str] | None) -> None:
    """Refuse an option, or an argument, that was given the same word twice."""
    words = words or ()
    repeated = [word for k, word in enumerate(words) if word in words[:k]]
    if repeated:
        raise Misuse(f"Expected different {what} for {option}, got {shown(repeated[0])} twice.")

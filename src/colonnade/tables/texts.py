"""What the texts of one column of a file mean.

It is decided for a whole column at once, on its distinct texts. Only a text that survives the way
to a number and back is taken for an integer: ``007`` is a name, not a seven.
"""

from __future__ import annotations

import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from colonnade.exceptions import expected

# What pandas takes for missing, and the question mark of many public data sets. ``None`` is not
# here: among words it is mostly an answer, as in "alcohol: None".
MISSING_CODES = (
    *("NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A"),
    *("NaN", "nan", "NAN", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("NULL", "null", "?"),
)
# Missing among numbers or booleans, where they can be nothing else; among words, states.
MISSING_AMONG_NUMBERS = ("None", ".", "-", "--", "\N{EN DASH}", "\N{EM DASH}")

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
# Digits without a point or an exponent are no match: long or with leading zeros, they are names.
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)",
    re.IGNORECASE,
)
_NUMBER = re.compile(f"{_INTEGER.pattern}|{_DECIMAL.pattern}", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
# A comma before decimals, with or without points between thousands.
_DECIMAL_COMMA = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]*),[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII
)
# These may be thousands as well.
_THREE_DECIMALS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_WITH_COMMA = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)+(?:\.[0-9]*)?")
_BOOLEANS = {"true": True, "false": False}
# More texts that are no numbers make a column of words.
_MAX_STRANGE = 10


class Decimal(StrEnum):
    """What stands before the decimals of numbers, or whether it has to be guessed.

    A comma between the values of a file is rarely one within them: then numbers such as 1,234,
    which may be thousands, are no guess to make.
    """

    POINT = "."
    COMMA = ","
    GUESSED = "guessed"
    GUESSED_AMONG_COMMAS = "guessed among commas"

    @classmethod
    def of(cls, decimal: str | None, separator: str) -> Decimal:
        """Return what a user says, or what is known from the sign between values."""
        if decimal is not None:
            if decimal not in (".", ","):
                raise expected("'.' or ','", "decimal", decimal)
            return cls(decimal)
        return cls.GUESSED_AMONG_COMMAS if separator == "," else cls.GUESSED

    def is_comma(self, texts: Sequence[str]) -> bool:
        """Whether the texts of a column are numbers with a comma before the decimals."""
        if self is Decimal.POINT:
            return False
        commas = [text for text in texts if "," in text]
        if not commas or not all(map(_DECIMAL_COMMA.fullmatch, commas)):
            return False
        if not all(_INTEGER.fullmatch(text) for text in texts if "," not in text):
            return False
        doubtful = all(map(_THREE_DECIMALS.fullmatch, commas))
        return not doubtful or self is not Decimal.GUESSED_AMONG_COMMAS


@dataclass(frozen=True, slots=True)
class Codes:
    """Texts that stand for a missing value, besides the empty one.

    `chosen` says that a user named them, so that they are no guess.
    """

    always: frozenset[str] = frozenset(MISSING_CODES)
    among_numbers: frozenset[str] = frozenset(MISSING_AMONG_NUMBERS)
    chosen: bool = False

    @classmethod
    def of(cls, na: Collection[str] | None) -> Codes:
        """Take the codes that a user gave, or the usual ones."""
        if na is None:
            return cls()
        if isinstance(na, str) or not isinstance(na, Iterable):
            raise expected("a list of texts", "na", na)
        if not all(isinstance(text, str) for text in na):
            raise expected("a list of texts", "na", na)
        return cls(frozenset(text.strip() for text in na), frozenset(), chosen=True)

    @property
    def suspicious(self) -> frozenset[str]:
        """Usual codes whose rows are worth a word where they stay states.

        A user who says that no text is missing has thought of them.
        """
        if self.chosen and not self.always - {""}:
            return frozenset()
        return frozenset((*MISSING_CODES, "None")) - self.always


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A column of texts as what all of them are, and what is worth a word about it.

    `kind` is the type of its values, None for words, and `meaning` the value of each text, None if
    it is missing. Each further mapping gives the number of rows of texts: codes that were read as
    missing, usual codes that stayed states, the few texts that keep a column from being one of
    numbers, and states that had blanks around them (of these, only such rows). `comma` says that
    its numbers were written with a comma before the decimals.
    """

    kind: Any
    meaning: Mapping[str, Any]
    missing: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    strange: Mapping[str, int] = field(default_factory=dict)
    stripped: Mapping[str, int] = field(default_factory=dict)
    comma: bool = False

    @classmethod
    def of(
        cls,
        seen: Collection[str],
        rows_of: Callable[[str], int],
        codes: Codes,
        decimal: Decimal = Decimal.GUESSED,
    ) -> Reading:
        """Read a column, given its distinct texts as they are in the file.

        `rows_of` says how many rows have a text.
        """
        blank = {raw: text for raw in seen if (text := raw.strip()) != raw}
        texts = list(dict.fromkeys(blank.get(raw, raw) for raw in seen) if blank else seen)
        gaps = {text for text in texts if not text or text in codes.always}
        words = [text for text in texts if text not in gaps]
        told = [text for text in words if text not in codes.among_numbers]
        comma = decimal.is_comma(told)
        kind, meaning = _with_comma(told) if comma else _meaning(told)
        if kind is None:
            meaning = {text: text for text in words}
        else:
            gaps |= codes.among_numbers.intersection(words)
        meaning.update(dict.fromkeys(gaps, None))
        meaning.update({raw: meaning[text] for raw, text in blank.items()})
        plain = set(seen).difference(blank) if blank else set()

        def rows(chosen: Iterable[str]) -> dict[str, int]:
            wanted = {t: rows_of(t) if not blank or t in plain else 0 for t in chosen}
            for raw, text in blank.items():
                if text in wanted:
                    wanted[text] += rows_of(raw)
            return wanted

        missing = rows(text for text in texts if text and text in gaps)
        if kind is not None:
            return cls(kind, meaning, missing, comma=comma)
        strange = rows(strange_texts(words))
        usual = codes.suspicious.intersection(words)
        kept = rows(text for text in words if text in usual and text not in strange)
        stripped = Counter[str]()
        for raw, text in blank.items():
            if text not in gaps:
                stripped[text] += rows_of(raw)
        return cls(kind, meaning, missing, kept, strange, stripped)

    def values(self, column: Iterable[str]) -> Any:
        """Return what texts mean: a list if they are words or some are missing, else an array.

        Neither integers nor booleans have a NaN, and strings stay Python strings.
        """
        values = list(map(self.meaning.__getitem__, column))
        if self.kind is np.float64:
            return np.array([math.nan if v is None else v for v in values], np.float64)
        if self.kind is None or None in self.meaning.values():
            return values
        return np.array(values, self.kind)


def is_number(text: str) -> bool:
    """Whether a text is a number, and not digits that are a name."""
    return _NUMBER.fullmatch(text) is not None


def reads_as_number(value: Any) -> bool:
    """Whether a value is a number, or a text that reads as one; a boolean is none."""
    if isinstance(value, str):
        return is_number(value)
    return isinstance(value, numbers.Number) and not isinstance(value, bool | np.bool_)


def numbers_among(values: Iterable[Any]) -> dict[Any, float]:
    """Return the values of a column that are texts which read as numbers, with these.

    Commas are before decimals if all texts with one can be read so, some can be read in no other
    way, and none has a point.
    """
    texts = [value for value in values if isinstance(value, str)]
    found = {text: float(text) for text in texts if is_number(text)}
    commas = [text for text in texts if "," in text and any(map(str.isdecimal, text))]
    if not all(map(_INTEGER.fullmatch, found)) or not Decimal.GUESSED_AMONG_COMMAS.is_comma(commas):
        return found
    return found | _with_comma(commas)[1]


def strange_texts(texts: Sequence[str]) -> list[str]:
    """Return the few texts of a column of text that keep it from being one of numbers."""
    strange = [text for text in texts if not is_number(text)]
    commas = [text for text in strange if _DECIMAL_COMMA.fullmatch(text)]
    whole = all(_INTEGER.fullmatch(text) for text in texts if is_number(text))
    if commas and whole and len(commas) < len(strange):  # numbers with decimal commas, but for some
        strange = [text for text in strange if text not in commas]
    numbers = len(texts) - len(strange)
    if not strange or any(map(_DIGITS.fullmatch, strange)):  # leading zeros: all of them are names
        return []
    if all(map(_WITH_COMMA.fullmatch, strange)):
        return strange
    return strange if len(strange) <= min(_MAX_STRANGE, numbers - 1) else []


def _with_comma(texts: Iterable[str]) -> tuple[Any, dict[str, Any]]:
    """Return numbers that are written with a comma before the decimals."""
    return np.float64, {text: float(text.replace(".", "").replace(",", ".")) for text in texts}


def _meaning(texts: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return the type that fits all texts, with what each is then; None if they are words."""
    if texts and all(map(_INTEGER.fullmatch, texts)):
        return np.int64, {text: int(text) for text in texts}
    if texts and all(text.lower() in _BOOLEANS for text in texts):
        return np.bool_, {text: _BOOLEANS[text.lower()] for text in texts}
    if all(map(_NUMBER.fullmatch, texts)):
        numbers = {text: float(text) for text in texts}
        if any(map(math.isfinite, numbers.values())):
            return np.float64, dict(numbers)
    return None, {}

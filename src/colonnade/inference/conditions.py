"""Conditions in words: ``not no``, ``> 60``, ``> 18 and <= 65``, and which states meet them."""

from __future__ import annotations

import math
import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from colonnade.exceptions import Advice, DataError, listing
from colonnade.tables.intervals import without_cut_points
from colonnade.variables import State, Variable

if TYPE_CHECKING:
    from colonnade.tables.cuts import Cuts

_SIGN = r"<=|>=|==|!=|≤|≥|≠|<|>|="
_PART = re.compile(rf"\s*(?P<sign>{_SIGN}|not\b|!)\s*(?P<value>.*?)\s*", re.DOTALL)
_SAME = {"≤": "<=", "≥": ">=", "≠": "!=", "not": "!=", "!": "!=", "==": "="}
# A state and its likelihood.
_LIKELIHOOD = re.compile(r".+:\s*(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One or more comparisons that must all hold.

    Examples
    --------
    >>> Condition.parse("> 18 and not 30").codes(Variable("age", (17, 18, 19, 30, 31)), None)
    [2, 4]
    >>> Condition.parse("yes") is None
    True
    """

    text: str
    parts: tuple[tuple[str, str], ...]  # sign and value

    @classmethod
    def parse(cls, text: str) -> Condition | None:
        """Read a condition; None if the text is none."""
        found = []
        for part in re.split(rf"\s+and\s+(?={_SIGN}|not\b|!)", text.strip()):
            match = _PART.fullmatch(part)
            if match is None or not match["value"]:
                return None
            sign = match["sign"]
            found.append((_SAME.get(sign, sign), match["value"]))
        return cls(text.strip(), tuple(found))

    def codes(self, variable: Variable, cuts: Cuts | None) -> list[int]:
        """Codes of the states of a variable that meet the condition."""
        left = set(range(variable.cardinality))
        for sign, value in self.parts:
            if sign in _BOUNDS:
                left &= _bounded(variable, cuts, sign, value)
            else:
                named = _named(variable, value, cuts)
                left = left - named if sign == "!=" else left & named
        return sorted(left)


def split_condition(text: str, names: Iterable[str]) -> tuple[str, str, str] | None:
    """Take apart a variable, a sign and a value; None if the text does not begin with a variable.

    Examples
    --------
    >>> split_condition("age>60", ["age", "a"]), split_condition("a=b=c", ["a", "a=b"])
    (('age', '>', '60'), ('a=b', '=', 'c'))
    """
    # The longest name that fits: a shorter one would need a state that contains the sign.
    for name in sorted(names, key=len, reverse=True):
        if text.strip().startswith(name):
            rest = text.strip()[len(name) :]
            match = _PART.fullmatch(re.sub(r"^\s+is\s+", "=", rest))
            if match and match["value"] and (rest[:1].isspace() or match["sign"][0] in "<>=!≤≥≠"):
                sign = match["sign"]
                # The name may be repeated: age > 18 and age <= 65.
                again = rf"(\band\s+){re.escape(name)}\s*(?={_SIGN})"
                return name, _SAME.get(sign, sign), re.sub(again, r"\1", match["value"])
    return None


def check_alone(variable: Variable, text: str, names: Iterable[str]) -> None:
    """Refuse what is written of a variable if it goes on with a condition on another one.

    Examples
    --------
    >>> check_alone(Variable("age", (50, 60)), "> 50 and smoker = yes", ["age", "smoker"])
    Traceback (most recent call last):
    colonnade.exceptions.DataError: Variable 'age': '> 50 and smoker = yes' is about 'smoker', too.
    Hint: one text per variable: give a list, such as ['age > 60', 'smoker = yes'].
    """
    if text in variable.states:
        return
    for name in names:
        again = rf"(?:\s+and\s+|[,;&|]\s*){re.escape(name)}\s*(?:{_SIGN}|\bis\b|\bnot\b)"
        if name != variable.name and re.search(again, text):
            problem = f"{text!r} is about {name!r}, too."
            hint = Advice.ONE_TEXT_PER_VARIABLE
            raise DataError(f"Variable {variable.name!r}", problem, hint, variable=variable.name)


def state_in_words(variable: Variable, text: str, cut: bool) -> Any:
    """Return the state, several of them, the likelihoods or the number that a text stands for.

    States are separated by commas or bars, and a likelihood follows its state after a colon.

    Examples
    --------
    >>> test = Variable("test", ["no", "yes"])
    >>> state_in_words(test, "no|yes", False), state_in_words(test, "no: 0.1, yes: 0.8", False)
    (['no', 'yes'], {'no': 0.1, 'yes': 0.8})
    """
    found = _written(variable, text)
    if found is not None:
        return found
    parts = [part.strip() for part in re.split("[,|]", text)]
    if all(_LIKELIHOOD.fullmatch(part) and _written(variable, part) is None for part in parts):
        return _likelihoods(variable, parts, cut)
    if len(parts) > 1:
        return [state_in_words(variable, part, cut) for part in parts]
    if cut or without_cut_points(variable, 0.0):
        try:
            return float(text)
        except ValueError:
            pass
    return text


def _likelihoods(variable: Variable, parts: list[str], cut: bool) -> dict[Any, float]:
    """Read a likelihood for each state from parts such as ``yes: 0.8``."""
    found: dict[Any, float] = {}
    for part in parts:
        state, _, likelihood = part.rpartition(":")
        each = state_in_words(variable, state.strip(), cut)
        if isinstance(each, list | dict) or each in found:
            problem = f"{part!r} is not the likelihood of one state, named once."
            raise DataError(f"Variable {variable.name!r}", problem, "write no: 0.1, yes: 0.8")
        found[each] = float(likelihood)
    return found


def _written(variable: Variable, text: str) -> State | None:
    """Return the state that is written so; a text before a number or boolean."""
    if text in variable.states:
        return text
    if text in variable.spellings:
        return variable.spellings[text]
    same = [state for state in variable.states if str(state).lower() == text.lower()]
    exact = [state for state in same if not isinstance(state, str)]
    return exact[0] if len(exact) == 1 else None


def _named(variable: Variable, text: str, cuts: Cuts | None) -> set[int]:
    """Codes of the states that a text names."""
    value = state_in_words(variable, text, cuts is not None)
    if isinstance(value, dict):
        problem = f"{text!r} are likelihoods, which have no opposite and are not joined by and."
        raise DataError(f"Variable {variable.name!r}", problem, "write test = no: 0.1, yes: 0.8")
    codes = set()
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, float) and cuts is not None:
            codes.add(bisect_left(cuts.points, each))
        else:
            codes.add(variable.index(each))
    return codes


def _bounded(variable: Variable, cuts: Cuts | None, sign: str, text: str) -> set[int]:
    """Codes of the states on one side of a bound."""
    numbers = [s for s in variable.states if isinstance(s, int) and not isinstance(s, bool)]
    where, possible = f"Variable {variable.name!r}", cuts.points if cuts else numbers
    try:
        bound = float(text)
    except ValueError:
        bound = math.nan
    if cuts is None:
        if not math.isnan(bound) and (error := without_cut_points(variable, bound)):
            raise error
        if len(numbers) < variable.cardinality:
            states = listing(variable.states)
            problem = f"its states {states} are no numbers to compare with {text}."
            hint = "name the states that are possible"
            raise DataError(where, problem, hint, variable=variable.name)
    if math.isnan(bound):
        side = ">" if sign.startswith(">") else "<="  # those that may divide intervals
        hint = f"write {side} {possible[len(possible) // 2]:.15g}" if possible else ""
        raise DataError(where, f"{text!r} is no number to compare with.", hint)
    if cuts is not None:
        return _beside(variable, cuts, sign, bound, text)
    holds = _BOUNDS[sign]
    return {code for code, state in enumerate(numbers) if holds(state, bound)}


def _beside(variable: Variable, cuts: Cuts, sign: str, bound: float, text: str) -> set[int]:
    """Codes of the intervals on one side of a bound, which must be a cut point.

    An interval holds its upper end, so only ``<=`` and ``>`` divide at a cut point.
    """
    upper = sign.startswith(">")
    if bound not in cuts.points or sign in ("<", ">="):
        where = cuts.states[bisect_left(cuts.points, bound)]
        problem = f"the network does not divide at {sign} {text}: {text} lies in {where!r}."
        hint = "this variable is not divided at all"
        if cuts.points:
            near = min(cuts.points, key=lambda point: (abs(point - bound), point))
            hint = f"write {'>' if upper else '<='} {near:.15g}, a cut point, or name intervals"
        raise DataError(
            f"Variable {variable.name!r}",
            problem,
            hint,
            variable=variable.name,
            allowed=cuts.points,
        )
    at = cuts.points.index(bound) + 1
    return set(range(at, variable.cardinality)) if upper else set(range(at))

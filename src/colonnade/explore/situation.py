"""Situation: what is observed, what is likely, and what is done."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colonnade.exceptions import InputError, expected
from colonnade.network import BayesianNetwork
from colonnade.variables import Variable


@dataclass(frozen=True, slots=True)
class Situation:
    """What a question takes for granted, variables and states by their positions.

    Attributes
    ----------
    observed : mapping of int to int
        States that were observed.
    likely : mapping of int to tuple of float
        How likely what was found is under each state of a variable that was not observed itself.
    done : mapping of int to int
        States that were brought about, whatever their causes say.
    """

    observed: Mapping[int, int] = field(default_factory=dict)
    likely: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    done: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Any, network: BayesianNetwork) -> Situation:
        """Read what a page sent; anything strange is refused.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 1], "b": [0, 1]}, Dag([("a", "b")]))
        >>> Situation.of({"observed": {"1": 0}}, network)
        Situation(observed={1: 0}, likely={}, done={})
        """
        parts = {"observed", "likely", "done"}
        if not isinstance(message, dict) or not set(message) <= parts:
            raise expected("an object with observed, likely and done", "message", message)
        variables = network.variables
        found: dict[str, dict[int, Any]] = {}
        for part in ("observed", "likely", "done"):
            given = message.get(part, {})
            if not isinstance(given, dict):
                raise expected("an object", part, given)
            read = _likelihood if part == "likely" else _state
            places = {_place(key, variables, part): value for key, value in given.items()}
            found[part] = {k: read(v, variables[k], part) for k, v in places.items()}
        both = [k for part in found.values() for k in part]
        if len(set(both)) < len(both):
            raise expected("each variable once", "message", message)
        return cls(**found)

    def without(self, k: int) -> Situation:
        """Return the situation in which nothing is said of one variable.

        Examples
        --------
        >>> Situation(observed={0: 1, 2: 0}).without(2)
        Situation(observed={0: 1}, likely={}, done={})
        """
        return Situation(
            {j: code for j, code in self.observed.items() if j != k},
            {j: weights for j, weights in self.likely.items() if j != k},
            {j: code for j, code in self.done.items() if j != k},
        )

    def observing(self, k: int, code: int) -> Situation:
        """Return the situation in which one variable is observed, besides what is said of it.

        Examples
        --------
        >>> Situation(done={0: 1}).observing(2, 0)
        Situation(observed={2: 0}, likely={}, done={0: 1})
        """
        return Situation({**self.observed, k: code}, self.likely, self.done)

    def __bool__(self) -> bool:
        return bool(self.observed or self.likely or self.done)

    def as_python(self, network: BayesianNetwork, target: int) -> str | None:
        """Write the question about one variable in Python; None if it cannot be asked there."""
        variables = network.variables
        states: dict[str, Any] = {
            variables[k].name: variables[k].states[code] for k, code in self.observed.items()
        }
        for k, weights in self.likely.items():
            states[variables[k].name] = dict(zip(variables[k].states, weights, strict=True))
        done = {variables[k].name: variables[k].states[code] for k, code in self.done.items()}
        if target in self.observed or target in self.done:
            return None  # it is known
        words = [repr(variables[target].name)]
        words += [repr(states)] if states else []
        words += ["draws=500"]
        words += [f"do={done!r}"] if done else []
        return f"network.query({', '.join(words)})"

    def as_command(self, network: BayesianNetwork, target: int, model: str) -> str | None:
        """Write the question about one variable as a command; None if there is none for it."""
        variables = network.variables
        strange = any(
            set(",|:") & set(str(state)) for k in self.likely for state in variables[k].states
        )
        if target in self.observed or target in self.done or strange:
            return None
        words = ["colonnade", "query", model, variables[target].name]
        for option, states in (("--observed", self.observed), ("--do", self.done)):
            for k, code in states.items():
                words += [option, f"{variables[k].name}={variables[k].states[code]}"]
        for k, weights in self.likely.items():
            pairs = zip(variables[k].states, weights, strict=True)
            likely = ",".join(f"{state}:{weight!r}" for state, weight in pairs)
            words += ["--observed", f"{variables[k].name}={likely}"]
        return shlex.join([*words, "--draws", "500"])


def _place(key: Any, variables: tuple[Variable, ...], part: str) -> int:
    text = str(key)
    # At most six digits: a number of any length would take any time to read.
    if text.isascii() and text.isdigit() and len(text) <= 6 and int(text) < len(variables):
        return int(text)
    raise expected("positions of variables", part, key, kind=InputError)


def _state(value: Any, variable: Variable, part: str) -> int:
    if type(value) is not int or not 0 <= value < variable.cardinality:
        raise expected(f"the position of a state of {variable.name!r}", part, value)
    return value


def _likelihood(value: Any, variable: Variable, part: str) -> tuple[float, ...]:
    numbers = value if isinstance(value, list) else []
    right = all(type(n) in (int, float) and math.isfinite(n) and 0 <= n <= 1 for n in numbers)
    if len(numbers) != variable.cardinality or not right or not any(numbers):
        what = f"{variable.cardinality} numbers from 0 to 1, not all 0,"
        raise expected(what, part, value)
    return tuple(float(n) for n in numbers)

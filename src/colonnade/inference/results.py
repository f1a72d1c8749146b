"""What a question to a network returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import amount, expected
from colonnade.inference.evidence import Finding
from colonnade.tables.tabular import Tabular
from colonnade.variables import State, Variable
from colonnade.wording import percent

_MAX_SHOWN_ROWS = 20


class _States(NamedTuple):
    states: dict[str, State]
    log_probability: float


class MostProbable(_States, Tabular):
    """The most probable states of several variables together: a pair.

    Attributes
    ----------
    states : dict of str to state
        The variables asked for; if none were named, all of the network, the observed ones included.
    log_probability : float
        Of all variables: the log probability of exactly these states together. Of some variables:
        the log probability of their states together with what was observed, the others summed out;
        likelihoods have their part in it, divided by the largest of each variable, since only
        their ratios count.
    """

    __slots__ = ()

    def _columns(self) -> dict[str, list[Any]]:
        return {"variable": list(self.states), "state": list(self.states.values())}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QueryResult(Tabular):
    """Probabilities of one or several variables together, given what was observed.

    Attributes
    ----------
    targets : tuple of str
    states : tuple of tuple
        States of each target.
    probabilities : array [target, ..., target]
        One axis for each target.
    observed : dict of str to state, tuple of states, or dict of states to likelihoods
    samples : array [draw, target, ..., target] or None
        The answer in each draw of the tables; the arrays below come from them.
    lower, upper : array [target, ..., target] or None
        Ends of the equal-tailed credible intervals.
    level : float or None
        Probability inside the intervals.
    done : dict of str to state
        Variables that were set by an action.
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the intervals lack their share.

    Examples
    --------
    >>> x = Variable("x", ["no", "yes"])
    >>> result = QueryResult.of([x], np.array([0.25, 0.75]), {"y": 1})
    >>> result
    QueryResult of 'x' given {'y': 1}
      x   | probability
      no  |      0.2500
      yes |      0.7500
    >>> result["yes"]
    0.75
    """

    targets: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    probabilities: Floats
    observed: dict[str, Finding]
    samples: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    level: float | None = None
    done: dict[str, State] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    _variables: tuple[Variable, ...] = field(default=())

    @classmethod
    def of(
        cls,
        variables: list[Variable],
        probabilities: Floats,
        observed: dict[str, Finding],
        samples: Floats | None = None,
        level: float | None = None,
    ) -> QueryResult:
        """Put an answer together; intervals are taken from the samples."""
        lower = upper = None
        if samples is not None and level is not None:
            lower, upper = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
        for array in (probabilities, samples, lower, upper):
            if array is not None:
                array.setflags(write=False)
        return cls(
            tuple(variable.name for variable in variables),
            tuple(variable.states for variable in variables),
            probabilities,
            observed,
            samples,
            lower,
            upper,
            level,
            _variables=tuple(variables),
        )

    def __getitem__(self, state: Any) -> float:
        """Probability of a state, or of one state for each of several targets."""
        states = (state,) if len(self.targets) == 1 and not isinstance(state, tuple) else state
        if not isinstance(states, tuple) or len(states) != len(self.targets):
            what = f"one state for each of {list(self.targets)}"
            raise expected(what, "state", state)
        place = tuple(v.index(one) for v, one in zip(self._variables, states, strict=True))
        return float(self.probabilities[place])

    def answers(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The first combinations of states, at most `limit`, each with its probability.

        Examples
        --------
        >>> x = Variable("x", [0, 1])
        >>> QueryResult.of([x], np.array([0.25, 0.75]), {}).answers()[1]
        {'states': [1], 'probability': 0.75}
        """
        answers: list[dict[str, Any]] = []
        for place in islice(np.ndindex(self.probabilities.shape), limit):
            states = [own[k] for own, k in zip(self.states, place, strict=True)]
            answer = {"states": states, "probability": float(self.probabilities[place])}
            if self.lower is not None and self.upper is not None:
                answer |= {"lower": float(self.lower[place]), "upper": float(self.upper[place])}
            answers.append(answer)
        return answers

    def to_dict(self) -> dict[str, Any]:
        """Everything but the samples as plain values, ready for JSON.

        Returns
        -------
        dict
            ``targets``, ``observed``, ``done``, ``draws``, ``level``, ``fixed`` and
            :meth:`answers`, which have ``states``, ``probability`` and, with draws, ``lower`` and
            ``upper``.

        Examples
        --------
        >>> x = Variable("x", [0, 1])
        >>> QueryResult.of([x], np.array([0.25, 0.75]), {}).to_dict()["answers"][1]
        {'states': [1], 'probability': 0.75}
        """
        return {
            "targets": list(self.targets),
            "observed": {name: plain(found) for name, found in self.observed.items()},
            "done": dict(self.done),
            "draws": 0 if self.samples is None else len(self.samples),
            "level": self.level,
            "fixed": list(self.fixed),
            "answers": self.answers(),
        }

    def _columns(self) -> dict[str, list[Any]]:
        answers = self.answers()
        columns: dict[str, list[Any]] = {
            name: [answer["states"][k] for answer in answers] for k, name in enumerate(self.targets)
        }
        numbers = ["probability"] + ["lower", "upper"] * (self.lower is not None)
        return columns | {name: [answer[name] for answer in answers] for name in numbers}

    def __repr__(self) -> str:
        head = [*self.targets, "probability"]
        if self.level is not None:
            head.append(f"{percent(self.level)} interval")
        rows: list[list[str]] = []
        for answer in self.answers(_MAX_SHOWN_ROWS):
            row = [*map(str, answer["states"]), f"{answer['probability']:.4f}"]
            if self.level is not None:
                row.append(f"[{answer['lower']:.4f}, {answer['upper']:.4f}]")
            rows.append(row)
        names = len(self.targets)
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        lines = []
        for row in (head, *rows):
            left = " ".join(cell.ljust(w) for cell, w in zip(row[:names], widths, strict=False))
            right = "  ".join(
                cell.rjust(w) for cell, w in zip(row[names:], widths[names:], strict=True)
            )
            lines.append(f"  {left} | {right}")
        rest = self.probabilities.size - len(rows)
        if rest:
            lines.append(f"  ... {amount(rest)} more")
        lines += without_share(self.fixed)
        asked = ", ".join(map(repr, self.targets))
        given = f" given {self.observed}" if self.observed else ""
        given += f" after {self.done} was done" if self.done else ""
        return "\n".join([f"QueryResult of {asked}{given}", *lines])


def without_share(fixed: tuple[str, ...]) -> list[str]:
    """Name the tables that intervals lack the share of; nothing if there are none."""
    return [f"  Fixed, with no share in the intervals: {', '.join(fixed)}."] if fixed else []


def plain(found: Finding) -> Any:
    """Write what was found for JSON, whose keys are strings only."""
    if isinstance(found, tuple):
        return list(found)
    if isinstance(found, dict):
        return [{"state": state, "likelihood": value} for state, value in found.items()]
    return found

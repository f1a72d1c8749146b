"""Effect: how much the probabilities of a variable differ between two states of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.inference.evidence import Finding
from colonnade.inference.results import plain, without_share
from colonnade.tables.tabular import Tabular
from colonnade.variables import State, Variable
from colonnade.wording import percent

CAUSAL = (
    "the graph is causal and complete: every arc points from cause to effect, and no common cause "
    "of two variables is absent"
)
PLAIN = "nothing about causes: the two are compared as they are found, not as they are set"


# Relative difference of probabilities that are the same.
_ROUNDING = 1e-14


class Sides(NamedTuple):
    """Probabilities of the target on two sides, ``[state]``; in draws ``[draw, state]``."""

    probabilities: tuple[Floats, Floats]
    samples: tuple[Floats, Floats] | None
    level: float | None


class How(NamedTuple):
    """What was compared, given what, whether by action, and what the intervals lack."""

    compared: dict[str, tuple[State, State]]
    given: dict[str, Finding]
    causal: bool
    adjusted: frozenset[str] | None
    changed: tuple[str, ...]
    fixed: tuple[str, ...]


class Estimates(NamedTuple):
    """A number per state of the target, with the ends of its credible interval if there are draws.

    Attributes
    ----------
    values : array [state]
    lower, upper : array [state] or None
    """

    values: Floats
    lower: Floats | None
    upper: Floats | None

    @classmethod
    def of(cls, values: Floats, samples: Floats | None, level: float | None) -> Estimates:
        """Put values together with the ends of their intervals in draws ``[draw, state]``."""
        if samples is None or level is None:
            return cls(values, None, None)
        ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        # A ratio may be infinite in some draws, and between a number and infinity nothing lies.
        lower = np.quantile(samples, ends[0], axis=0, method="lower")
        upper = np.quantile(samples, ends[1], axis=0, method="higher")
        return cls(values, lower, upper)

    def columns(self, name: str) -> dict[str, list[Any]]:
        """The numbers as columns, by name."""
        found = {name: self.values.tolist()}
        if self.lower is not None and self.upper is not None:
            found |= {f"{name} lower": self.lower.tolist(), f"{name} upper": self.upper.tolist()}
        return found


class Contrast(NamedTuple):
    """The comparison for one state of the target; intervals are (lower, upper) or None.

    Attributes
    ----------
    one, other : float
        Probability of the state on the two sides.
    difference, ratio, odds_ratio : float
    one_interval, other_interval : (float, float) or None
    difference_interval, ratio_interval, odds_ratio_interval : (float, float) or None
    """

    one: float
    other: float
    difference: float
    ratio: float
    odds_ratio: float
    one_interval: tuple[float, float] | None
    other_interval: tuple[float, float] | None
    difference_interval: tuple[float, float] | None
    ratio_interval: tuple[float, float] | None
    odds_ratio_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effect(Tabular):
    """The probabilities of a variable on two sides, and how they differ.

    Attributes
    ----------
    target : str
    states : tuple of state
        Of the target.
    compared : dict of str to (state, state)
        The two sides.
    given : dict
        What else was observed.
    causal : bool
        Whether the states compared were set by an action, and not only observed.
    adjusted : frozenset of str or None
        For an action on one variable, a minimal set of variables that have to be adjusted for
        (the network does so by itself); None if the target leads to the variable, and for actions
        on several.
    assumed : str
        What has to be true of the world for the answer.
    one, other : Estimates
        Probabilities of the target on the two sides.
    difference, ratio, odds_ratio : Estimates
        ``one - other``, ``one / other``, and the ratio of the odds.
    level : float or None
        Probability inside the intervals.
    changed : tuple of str
        Variables of `given` that the action itself changes.
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the intervals lack their share.
    """

    target: str
    states: tuple[State, ...]
    compared: dict[str, tuple[State, State]]
    given: dict[str, Finding]
    causal: bool
    adjusted: frozenset[str] | None
    assumed: str
    one: Estimates
    other: Estimates
    difference: Estimates
    ratio: Estimates
    odds_ratio: Estimates
    level: float | None
    changed: tuple[str, ...]
    fixed: tuple[str, ...]
    _variable: Variable

    @classmethod
    def of(cls, target: Variable, sides: Sides, how: How) -> Effect:
        """Compare the two sides."""
        values = _measures(*sides.probabilities)
        drawn = _measures(*sides.samples) if sides.samples is not None else None
        one, other, difference, ratio, odds_ratio = (
            Estimates.of(each, None if drawn is None else drawn[k], sides.level)
            for k, each in enumerate(values)
        )
        return cls(
            target=target.name,
            states=target.states,
            compared=how.compared,
            given=how.given,
            causal=how.causal,
            adjusted=how.adjusted,
            assumed=CAUSAL if how.causal else PLAIN,
            one=one,
            other=other,
            difference=difference,
            ratio=ratio,
            odds_ratio=odds_ratio,
            level=sides.level,
            changed=how.changed,
            fixed=how.fixed,
            _variable=target,
        )

    def __getitem__(self, state: Any) -> Contrast:
        """The comparison for one state of the target."""
        k = self._variable.index(state)
        return Contrast(
            one=float(self.one.values[k]),
            other=float(self.other.values[k]),
            difference=float(self.difference.values[k]),
            ratio=float(self.ratio.values[k]),
            odds_ratio=float(self.odds_ratio.values[k]),
            one_interval=_ends(self.one, k),
            other_interval=_ends(self.other, k),
            difference_interval=_ends(self.difference, k),
            ratio_interval=_ends(self.ratio, k),
            odds_ratio_interval=_ends(self.odds_ratio, k),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with an entry of ``answers`` for each state of the target."""
        answers = [{"state": state, **self[state]._asdict()} for state in self.states]
        return {
            "target": self.target,
            "compared": {name: list(pair) for name, pair in self.compared.items()},
            "given": {name: plain(found) for name, found in self.given.items()},
            "causal": self.causal,
            "adjusted": None if self.adjusted is None else sorted(self.adjusted),
            "assumed": self.assumed,
            "level": self.level,
            "changed": list(self.changed),
            "fixed": list(self.fixed),
            "answers": answers,
        }

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {self.target: list(self.states)}
        for name, found in (
            ("one", self.one),
            ("other", self.other),
            ("difference", self.difference),
            ("ratio", self.ratio),
            ("odds ratio", self.odds_ratio),
        ):
            columns |= found.columns(name)
        return columns

    def __repr__(self) -> str:
        sides = ", ".join(f"{name} = {a!r} against {b!r}" for name, (a, b) in self.compared.items())
        kind, word = ("Effect on", "of") if self.causal else ("Association of", "with")
        given = f" given {self.given}" if self.given else ""
        head = [self.target, "one", "other", "difference", "ratio", "odds ratio"]
        rows = [head]
        for state in self.states:
            found = self[state]
            cells = [str(state)]
            for value, ends in zip(found[:5], found[5:], strict=True):
                shown = "" if ends is None else f" [{ends[0]:.3g}, {ends[1]:.3g}]"
                cells.append(f"{value:.3g}{shown}")
            rows.append(cells)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        inside = "" if self.level is None else f", {percent(self.level)} intervals"
        first = f"{kind} {self.target!r} {word} {sides}{given}{inside}"
        notes = [f"  Assumed: {self.assumed}."]
        if self.adjusted is not None:
            named = ", ".join(sorted(self.adjusted)) or "nothing"
            notes.append(f"  To be adjusted for (done here): {named}.")
        if self.changed:
            are = "is itself" if len(self.changed) == 1 else "are themselves"
            named = ", ".join(self.changed)
            notes.append(f"  Given {named}, which {are} changed by the action.")
        return "\n".join([first, *lines, *notes, *without_share(self.fixed)])


def _measures(one: Floats, other: Floats) -> tuple[Floats, ...]:
    """Both sides, their difference, their ratio and the ratio of their odds."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = one / (1.0 - one) / (other / (1.0 - other))
        difference = one - other
        # What is left of equal sides is rounding.
        equal = np.abs(difference) <= _ROUNDING * np.maximum(one, other)
        return one, other, np.where(equal, 0.0, difference), one / other, odds


def _ends(found: Estimates, k: int) -> tuple[float, float] | None:
    if found.lower is None or found.upper is None:
        return None
    return float(found.lower[k]), float(found.upper[k])

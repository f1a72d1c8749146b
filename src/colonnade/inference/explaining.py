"""What moved an answer: the findings, and how much each of them adds to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination
from colonnade.exceptions import TooLargeError, expected
from colonnade.inference.effects import Estimates
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import (
    Precision,
    answer,
    check_draws,
    check_possible,
    checked_targets,
    fixed_tables,
)
from colonnade.inference.reduction import Question, Weight
from colonnade.inference.results import without_share
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.tabular import Tabular
from colonnade.variables import State
from colonnade.wording import percent

# Draws are taken in batches of this many cells of the largest table.
_MAX_BATCH_CELLS = 1 << 21
_MAX_BATCH_DRAWS = 200


class Moved(NamedTuple):
    """What one finding does to the probabilities of the target.

    Attributes
    ----------
    alone : array [state]
        With this finding only.
    without : array [state]
        With all findings but this one.
    shift : Estimates
        What the finding adds to the others: with all findings, less those `without` it. With draws
        it has credible intervals.
    """

    alone: Floats
    without: Floats
    shift: Estimates


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Tabular):
    """How findings moved the probabilities of a variable.

    Attributes
    ----------
    target : str
    states : tuple of state
    before, after : array [state]
        Probabilities without any finding, and with all of them.
    findings : dict of str to Moved
        For each variable that was observed, the one whose absence changes most first.
    level : float or None
        Probability inside the intervals of the shifts.
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the intervals lack their share.
    """

    target: str
    states: tuple[State, ...]
    before: Floats
    after: Floats
    findings: dict[str, Moved]
    level: float | None = None
    fixed: tuple[str, ...] = ()

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {}
        for name, moved in self.findings.items():
            own: dict[str, list[Any]] = {
                "finding": [name] * len(self.states),
                self.target: list(self.states),
                "before": self.before.tolist(),
                "after": self.after.tolist(),
                "alone": moved.alone.tolist(),
                "without": moved.without.tolist(),
                **moved.shift.columns("shift"),
            }
            for title, values in own.items():
                columns.setdefault(title, []).extend(values)
        return columns

    def __repr__(self) -> str:
        def shown(values: Floats) -> str:
            pairs = zip(self.states, values, strict=True)
            return ", ".join(f"{state}: {value:.4f}" for state, value in pairs)

        inside = "" if self.level is None else f", {percent(self.level)} intervals of the shifts"
        lines = [f"Explanation of {self.target!r}{inside}"]
        lines.append(f"  nothing known: {shown(self.before)}")
        lines.append(f"  all known:     {shown(self.after)}")
        for name, moved in self.findings.items():
            lines.append(f"  {name} alone: {shown(moved.alone)}; without: {shown(moved.without)}")
            shift, lower, upper = moved.shift
            if lower is not None and upper is not None:
                ends = zip(self.states, shift, lower, upper, strict=True)
                shifts = (f"{s}: {v:+.4f} [{low:+.4f}, {high:+.4f}]" for s, v, low, high in ends)
                lines.append(f"    adds {', '.join(shifts)}")
        return "\n".join([*lines, *without_share(self.fixed)])


def explain(
    network: BayesianNetwork, target: str, observed: Observed, precision: Precision
) -> Explanation:
    """See :meth:`colonnade.BayesianNetwork.explain`."""
    (name,) = checked_targets(network, [target])
    check_draws(*precision)
    evidence = Evidence.of(network, observed)
    if not len(evidence):
        raise expected("what is known of at least one variable", "observed", observed, got="none")

    def asked(known: Evidence) -> Floats:
        return answer(network, [name], known, Precision()).probabilities

    after = asked(evidence)
    names = [variable.name for variable in evidence.variables]
    alone = {each: asked(evidence.without([n for n in names if n != each])) for each in names}
    without = {each: asked(evidence.without([each])) for each in names}
    shifts: dict[str, Floats] = {}
    fixed: tuple[str, ...] = ()
    if precision.draws:
        shifts, fixed = _drawn_shifts(network, name, evidence, precision)
    level = precision.level if precision.draws else None
    findings = {
        each: Moved(
            alone[each],
            without[each],
            Estimates.of(after - without[each], shifts.get(each), level),
        )
        for each in names
    }
    ordered = sorted(findings.items(), key=lambda item: -np.abs(item[1].shift.values).sum())
    states = network[name].family.child.states
    before = asked(Evidence((), {}))
    return Explanation(name, states, before, after, dict(ordered), level, fixed)


def _drawn_shifts(
    network: BayesianNetwork, target: str, evidence: Evidence, precision: Precision
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """What each finding adds to the others in draws of the tables, ``[draw, state]``.

    Also returns which tables have no share in it. The findings are factors beside tables in which
    nothing is observed, so that the answers with and without one of them come from the same draws.
    """
    nothing = Evidence((), {})
    question = Question(network, [target], nothing, [target, *evidence.likelihoods])
    without = fixed_tables(question.tables, "this explanation")
    weights = {
        name: Weight(question.label[name], own)
        for name, own in evidence.likelihoods.items()
        if name in question.label
    }
    pieces = question.pieces
    for piece in pieces:
        piece.check_size()
    scopes = [piece.scope for piece in (*pieces, *weights.values())]
    elimination = Elimination.of(question.sizes, scopes, question.targets)
    if elimination.cells > MAX_DENSE_CELLS:
        what, hint = "The largest table of exact inference", "ask without draws"
        raise TooLargeError(what, size=elimination.cells, limit=MAX_DENSE_CELLS, hint=hint)
    size = network[target].family.cardinality
    fixed = [None if piece.uncertain else piece.logs() for piece in pieces]
    batch = max(1, min(_MAX_BATCH_DRAWS, _MAX_BATCH_CELLS // elimination.cells))
    found: dict[str, list[Floats]] = {name: [] for name in evidence.likelihoods}
    left, rng = precision.draws, generator(precision.rng)
    with Progress("Draws", left) as progress:
        while left:
            number = min(batch, left)
            drawn = [
                piece.draw(number, rng) if logs is None else logs
                for piece, logs in zip(pieces, fixed, strict=True)
            ]

            def asked(absent: str | None, drawn: list[Floats] = drawn) -> Floats:
                known = [
                    np.zeros_like(weight.logs()) if name == absent else weight.logs()
                    for name, weight in weights.items()
                ]
                table, totals = elimination.table([*drawn, *known])
                check_possible(totals)
                return table.reshape(len(table), size)

            after = asked(None)
            for name, own in found.items():
                own.append(after - asked(name) if name in weights else np.zeros_like(after))
            left -= number
            progress.advance(number)
    return {name: np.concatenate(own) for name, own in found.items()}, without

"""What an answer rests on: the findings that moved it, and the table entries it depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination
from colonnade.exceptions import TooLargeError, expected
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import Precision, answer, checked_targets
from colonnade.inference.reduction import Piece, Question
from colonnade.network import BayesianNetwork
from colonnade.variables import State


class Moved(NamedTuple):
    """What one finding does to the probabilities of the target.

    Attributes
    ----------
    alone : array [state]
        With this finding only.
    without : array [state]
        With all findings but this one.
    """

    alone: Floats
    without: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """How findings moved the probabilities of a variable.

    Attributes
    ----------
    target : str
    states : tuple of state
    before, after : array [state]
        Probabilities without any finding, and with all of them.
    findings : dict of str to Moved
        For each variable that was observed, the one whose absence changes most first.
    """

    target: str
    states: tuple[State, ...]
    before: Floats
    after: Floats
    findings: dict[str, Moved]

    def __repr__(self) -> str:
        def shown(values: Floats) -> str:
            pairs = zip(self.states, values, strict=True)
            return ", ".join(f"{state}: {value:.4f}" for state, value in pairs)

        lines = [f"Explanation of {self.target!r}", f"  nothing known: {shown(self.before)}"]
        lines.append(f"  all known:     {shown(self.after)}")
        for name, moved in self.findings.items():
            lines.append(f"  {name} alone: {shown(moved.alone)}; without: {shown(moved.without)}")
        return "\n".join(lines)


class Entry(NamedTuple):
    """How a probability depends on one entry of a table; the rest of its row shrinks in proportion.

    Attributes
    ----------
    variable : str
    configuration : dict of str to state
        Of the parents of the variable.
    state : state
    value : float
        The entry.
    derivative : float
        Of the probability with respect to the entry.
    coefficients : (float, float, float, float)
        The probability is ``(a + b x) / (c + d x)`` if the entry is x.
    """

    variable: str
    configuration: dict[str, State]
    state: State
    value: float
    derivative: float
    coefficients: tuple[float, float, float, float]

    def at(self, x: float) -> float:
        """Return the probability if the entry were `x`.

        Examples
        --------
        >>> Entry("x", {}, 1, 0.5, 1.0, (0.0, 1.0, 1.0, 0.0)).at(0.25)
        0.25
        """
        if not isinstance(x, int | float) or isinstance(x, bool) or not 0.0 <= x <= 1.0:
            raise expected("a probability", "x", x)
        a, b, c, d = self.coefficients
        return (a + b * x) / (c + d * x)


def explain(network: BayesianNetwork, target: str, observed: Observed) -> Explanation:
    """See :meth:`colonnade.BayesianNetwork.explain`."""
    (name,) = checked_targets(network, [target])
    evidence = Evidence.of(network, observed)

    def asked(known: Evidence) -> Floats:
        return answer(network, [name], known, Precision()).probabilities

    after = asked(evidence)
    findings = {}
    for variable in evidence.variables:
        others = [each.name for each in evidence.variables if each != variable]
        alone, without = asked(evidence.without(others)), asked(evidence.without([variable.name]))
        findings[variable.name] = Moved(alone, without)
    ordered = sorted(findings.items(), key=lambda item: -np.abs(after - item[1].without).sum())
    states = network[name].family.child.states
    return Explanation(name, states, asked(Evidence((), {})), after, dict(ordered))


def sensitivity(
    network: BayesianNetwork, target: str, state: State, observed: Observed
) -> list[Entry]:
    """See :meth:`colonnade.BayesianNetwork.sensitivity`."""
    (name,) = checked_targets(network, [target])
    evidence = Evidence.of(network, observed)
    question = Question(network, [name], evidence)
    question.check_aside()
    variable = network[name].family.child
    code = variable.index(state)
    logs = [piece.logs() for piece in question.pieces]
    label = question.label.get(name)
    scopes = [piece.scope for piece in question.pieces]
    if label is None:  # it has a single state: nothing can move it
        return []
    found = Elimination.of(question.sizes, [*scopes, (label,)])
    if found.cells > MAX_DENSE_CELLS:
        what, hint = "The largest table of exact inference", "observe more variables"
        raise TooLargeError(what, size=found.cells, limit=MAX_DENSE_CELLS, hint=hint)
    # With the target free, and with its state fixed.
    marks = np.zeros((2, variable.cardinality))
    marks[1] = -np.inf
    marks[1, code] = 0.0
    both = [np.repeat(own, 2, axis=0) for own in logs]
    totals, cells = found.marginals([*both, marks])
    if totals[0] == -np.inf:
        raise question.impossible()
    share = float(np.exp(totals[1] - totals[0]))
    entries: list[Entry] = []
    for piece, own in zip(question.pieces, cells, strict=False):
        if isinstance(piece, Piece):
            entries += _entries(question, piece, own, share)
    return sorted(entries, key=lambda entry: -abs(entry.derivative))


def _entries(question: Question, piece: Piece, cells: Floats, share: float) -> list[Entry]:
    """The entries of one table that matter; P(observed) counts as 1, P(state) is the `share`."""
    family = piece.cpt.family
    rows = piece.lookup.filled(MAX_DENSE_CELLS).rows
    size = family.cardinality
    # Probabilities of the cells [free or fixed, configuration, state].
    joint = np.zeros((2, len(rows), size))
    if piece.child is None:
        joint[:, :, piece.state] = cells.reshape(2, len(rows))
    else:
        joint[:] = cells.reshape(2, len(rows), size)
    joint[1] *= share
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(rows > 0.0, joint / rows, 0.0)
        rest = (slopes * rows).sum(axis=2, keepdims=True) - slopes * rows
        # What the others of the row lose in proportion.
        slopes = slopes - np.where(rows < 1.0, rest / (1.0 - rows), 0.0)
    derivative = slopes[1] - share * slopes[0]
    found = []
    for row, k in zip(*np.nonzero((rows > 0.0) & (rows < 1.0)), strict=True):
        b, d, x = float(slopes[1, row, k]), float(slopes[0, row, k]), float(rows[row, k])
        if b or d:
            codes = np.unravel_index(row, piece.sizes) if piece.sizes else ()
            states = dict(zip((p.name for p in piece.free), codes, strict=True))
            given: dict[str, State] = {}
            for p, parent in enumerate(family.parents):
                own = piece.known[p] if p in piece.known else int(states[parent.name])
                given[parent.name] = parent.states[own]
            coefficients = (share - b * x, b, 1.0 - d * x, d)
            change = float(derivative[row, k])
            name, state = family.child.name, family.child.states[k]
            found.append(Entry(name, given, state, x, change, coefficients))
    return found

"""Beliefs: the distribution of every variable at once, in any situation, within a moment.

Tables, draws of the tables and the order of elimination are prepared once. A situation only changes
one small factor for each variable, and an action one table; so nothing is planned or drawn again,
and every answer has the same draws, so that what changes is what was clicked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.elimination import Elimination
from colonnade.exceptions import DataError, TooLargeError
from colonnade.explore.situation import Situation
from colonnade.network import BayesianNetwork
from colonnade.randomness import generator
from colonnade.report.beliefs import OpenTables

# Cells of the largest table of exact inference, and of all tables in all draws together.
_MAX_CELLS = 1 << 21
_MAX_DRAWN_CELLS = 1 << 22
_MAX_DRAWS, _MIN_DRAWS = 200, 50
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is to be expected in a situation.

    Attributes
    ----------
    means : list of arrays [state]
        Of each variable, for the estimated tables: what ``network.query`` answers.
    lower, upper : list of arrays [state], or None
        Ends of the credible intervals.
    log_probability : float
        Of what was observed, after what was done.
    """

    means: list[Floats]
    lower: list[Floats] | None
    upper: list[Floats] | None
    log_probability: float


class Beliefs:
    """A network that is ready for questions about all its variables.

    Parameters
    ----------
    network : BayesianNetwork
    level : float, optional
        Probability inside the intervals.

    Attributes
    ----------
    draws : int
        Draws of all tables that the intervals come from; 0 if tables have no posterior or are too
        large to be drawn often enough.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
    >>> beliefs = Beliefs(network)
    >>> beliefs.answer(Situation(observed={1: 1})).means[0].round(3)
    array([0.296, 0.704])
    >>> beliefs.answer(Situation(done={1: 1})).means[0].round(3)
    array([0.5, 0.5])
    """

    def __init__(self, network: BayesianNetwork, level: float = 0.95) -> None:
        self.network, self.level = network, level
        tables = OpenTables.of(network)
        place = {name: k for k, name in enumerate(network.dag.variables)}
        self._label = {place[name]: label for name, label in tables.label.items()}
        pieces = tables.pieces
        for piece in pieces:
            piece.check_size()
        # After the tables, one factor for each variable: what a situation says about it.
        scopes = [*(piece.scope for piece in pieces), *((k,) for k in self._label.values())]
        self._elimination = Elimination.of(tables.sizes, scopes) if scopes else None
        if self._elimination is not None and self._elimination.cells > _MAX_CELLS:
            what = "The largest table of exact inference for all variables at once"
            hint = "ask for single variables with `query`"
            size = self._elimination.cells
            raise TooLargeError(what, size=size, limit=_MAX_CELLS, hint=hint)
        self._table = {place[piece.cpt.family.child.name]: k for k, piece in enumerate(pieces)}
        self._means = [piece.logs() for piece in pieces]
        cells = sum(logs.size for logs in self._means) or 1
        uncertain = any(piece.cpt.has_posterior for piece in pieces)
        number = min(_MAX_DRAWS, _MAX_DRAWN_CELLS // cells) if uncertain else 0
        self.draws = number if number >= _MIN_DRAWS else 0
        rng = generator(_SEED)
        self._drawn = [
            piece.draw(self.draws, rng) if piece.cpt.has_posterior else _repeated(logs, self.draws)
            for piece, logs in zip(pieces if self.draws else [], self._means, strict=False)
        ]

    def means(self, situation: Situation) -> list[Floats]:
        """Return the distributions of all variables for the estimated tables, without intervals."""
        found, _ = self._marginals(self._means, situation)
        return [each[0] for each in found]

    def answer(self, situation: Situation) -> Answer:
        """Return the distributions of all variables in a situation."""
        means, total = self._marginals(self._means, situation)
        if total[0] == -np.inf:
            problem = "cannot occur together: the probability is 0."
            raise DataError("What is observed", problem, "undo the last step")
        first = [mean[0] for mean in means]
        if not self.draws:
            return Answer(first, None, None, float(total[0]))
        drawn, totals = self._marginals(self._drawn, situation)
        possible = np.isfinite(totals)
        if not possible.any():
            return Answer(first, None, None, float(total[0]))
        tails = [(1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0]
        # One call for all states of all variables.
        together = np.concatenate(drawn, axis=1)[possible]
        together.sort(axis=0)
        places = np.array(tails) * (len(together) - 1)
        low = np.floor(places).astype(int)
        share = (places - low)[:, None]
        ends = together[low] * (1 - share) + together[np.ceil(places).astype(int)] * share
        cuts = np.cumsum([len(mean) for mean in first])[:-1]
        lower, upper = (np.split(end, cuts) for end in ends)
        return Answer(first, list(lower), list(upper), float(total[0]))

    def _marginals(self, tables: list[Floats], situation: Situation) -> tuple[list[Floats], Floats]:
        """The distribution of each variable ``[case, state]``, and the log totals ``[case]``."""
        cases = len(tables[0]) if tables else 1
        sizes = [variable.cardinality for variable in self.network.variables]
        # A variable with one state has no factor: it is what it is.
        found: list[Floats] = [np.ones((cases, size)) for size in sizes]
        if self._elimination is None:
            return found, np.zeros(cases)
        tables = list(tables)
        for k in situation.done:
            if k in self._table:
                tables[self._table[k]] = np.zeros_like(tables[self._table[k]])
        own = [_repeated(_said(situation, k, sizes[k])[None], cases) for k in self._label]
        totals, cells = self._elimination.marginals([*tables, *own])
        for k, margin in zip(self._label, cells[len(tables) :], strict=True):
            found[k] = margin
        return found, totals


def _said(situation: Situation, k: int, size: int) -> Floats:
    """Logarithms of what a situation says about the states of one variable."""
    fixed: Any = situation.observed.get(k, situation.done.get(k))
    if fixed is not None:
        return np.where(np.arange(size) == fixed, 0.0, -np.inf)
    weights = situation.likely.get(k)
    if weights is None:
        return np.zeros(size)
    return np.array([math.log(w) if w > 0 else -math.inf for w in weights])


def _repeated(logs: Floats, cases: int) -> Floats:
    return np.ascontiguousarray(np.broadcast_to(logs, (cases, *logs.shape[1:])))

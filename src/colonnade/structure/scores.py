"""Scores of a graph: a sum over families, on the scale of bnlearn (larger is better).

``BIC``, ``AIC`` and ``LogLikelihood`` are the maximised log likelihood less a penalty. A prior
scores by ``Prior.structure_score``: its log evidence, unless it says otherwise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import expected
from colonnade.priors import Prior
from colonnade.structure.families import FamilyScores, prepare


class Penalised(ABC):
    """Log likelihood at its maximum less a penalty per free parameter."""

    @abstractmethod
    def penalty(self, rows: float) -> float:
        """Penalty of one free parameter if the data have this many rows."""

    def of(self, counts: FamilyCounts, rows: float) -> float:
        """Score of one family."""
        values = counts.values.astype(np.float64)
        totals = values.sum(axis=1)
        fit = float(_xlogx(values).sum() - _xlogx(totals).sum())
        return fit - self.penalty(rows) * counts.configurations * (counts.states - 1)


@dataclass(frozen=True, slots=True)
class BIC(Penalised):
    """Log likelihood less ln(n) / 2 per free parameter.

    Examples
    --------
    >>> round(BIC().of(FamilyCounts.from_array([[3, 1]]), rows=4), 4)
    -2.9425
    """

    def penalty(self, rows: float) -> float:
        return 0.5 * math.log(rows) if rows > 0 else 0.0


@dataclass(frozen=True, slots=True)
class AIC(Penalised):
    """Log likelihood less one per free parameter."""

    def penalty(self, rows: float) -> float:
        return 1.0


@dataclass(frozen=True, slots=True)
class LogLikelihood(Penalised):
    """Log likelihood at its maximum, without a penalty; it always favours more arcs."""

    def penalty(self, rows: float) -> float:
        return 0.0


Score: TypeAlias = Penalised | Prior


def score(table: Any, dag: Dag, score: Score | None = None) -> float:
    """Score of a graph on a table.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes, without missing values.
    dag : Dag
    score : BIC, AIC, LogLikelihood or a prior
        By default ``BIC()``.

    Returns
    -------
    float

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> round(score(table, Dag([("a", "b")])) - score(table, Dag([], ["a", "b"])), 3)
    2.079
    """
    return math.fsum(score_families(table, dag, score).values())


def score_families(table: Any, dag: Dag, score: Score | None = None) -> dict[str, float]:
    """Score of every family of a graph, by the name of the child.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> {name: round(value, 3) for name, value in score_families(table, Dag([("a", "b")])).items()}
    {'a': -3.466, 'b': -1.386}
    """
    families = FamilyScores(prepare(table, dag.variables), checked_score(score))
    position = {name: i for i, name in enumerate(families.names)}
    return {
        name: families.family(position[name], tuple(position[p] for p in dag.parents(name)))
        for name in dag.variables
    }


def checked_score(score: Score | None) -> Score:
    """The score itself, BIC for None, or an error."""
    if score is None:
        return BIC()
    if isinstance(score, type):
        raise expected("a score", "score", score, f"write {score.__name__}()")
    if not isinstance(score, Penalised | Prior):
        raise expected("BIC(), AIC(), LogLikelihood() or a prior", "score", score)
    return score


def _xlogx(values: Any) -> Any:
    return values * np.log(np.where(values > 0, values, 1.0))

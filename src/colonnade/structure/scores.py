"""Scores of a graph: a sum over families, on the scale of bnlearn (larger is better).

``BIC``, ``AIC`` and ``LogLikelihood`` are the maximised log likelihood less a penalty. A prior
scores by ``Prior.structure_score``: its log evidence, unless it says otherwise. `FamilyScores` are
those of the families of one table, each computed once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from colonnade.arrays import Floats
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import about, expected
from colonnade.priors import Prior
from colonnade.structure.columns import Columns, prepare
from colonnade.threads import run, worker_count

# Less work than this (rows times candidates) is done before a thread has started.
_MIN_WORK_FOR_THREADS = 200_000


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


class FamilyScores:
    """Scores of families, cached; child and parents are positions of columns."""

    def __init__(self, columns: Columns, score: Score) -> None:
        self.columns = columns
        self.score = score
        self.names = columns.names
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of one family."""
        key = (child, tuple(sorted(parents)))
        if key not in self._known:
            counts = self.columns.counts(*key)
            with about(self.names[child]):
                self._known[key] = (
                    self.score.structure_score(counts)
                    if isinstance(self.score, Prior)
                    else self.score.of(counts, self.columns.total)
                )
        return self._known[key]

    def additions(self, child: int, parents: tuple[int, ...], candidates: Sequence[int]) -> Floats:
        """Scores of the families that have one of the candidates as another parent."""
        keys = [(child, tuple(sorted((*parents, z)))) for z in candidates]
        fresh = [z for z, key in zip(candidates, keys, strict=True) if key not in self._known]
        if fresh:
            self._add(child, tuple(sorted(parents)), fresh)
        return np.array([self._known[key] for key in keys])

    def _add(self, child: int, parents: tuple[int, ...], candidates: list[int]) -> None:
        """Score additions: a prior needs their counts, a penalised score two sums of n ln n.

        A compiled pass gives these sums for many candidates at once.
        """
        columns = self.columns
        if isinstance(self.score, Prior) or columns.weights is not None:
            run([partial(self.family, child, (*parents, z)) for z in candidates])
            return
        small = [z for z in candidates if columns.fits(z, child, *parents)]
        for z in set(candidates) - set(small):
            self.family(child, (*parents, z))
        if not small:
            return
        states = int(columns.sizes[child])
        threaded = columns.coded.rows * len(small) > _MIN_WORK_FOR_THREADS
        sums = columns.information_sums(
            (*parents, child), states, small, worker_count() if threaded else 1
        )
        penalty = self.score.penalty(columns.total)
        for z, (cells, rows) in zip(small, sums.tolist(), strict=True):
            parameters = columns.size((*parents, z)) * (states - 1)
            key = (child, tuple(sorted((*parents, z))))
            self._known[key] = cells - rows - penalty * parameters


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

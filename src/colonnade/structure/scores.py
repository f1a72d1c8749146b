"""Scores of a graph: a sum over families, on the scale of bnlearn (larger is better).

``BIC``, ``AIC`` and ``LogLikelihood`` are the maximised log likelihood less a penalty. A prior
scores by ``Prior.structure_score``: its log evidence, unless it says otherwise. A prior of the
graph may be added to either. `FamilyScores` are those of the families of one table, each computed
once.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import about, expected
from colonnade.missing.treatment import Missing
from colonnade.network.learning import checked_dag
from colonnade.priors import Prior
from colonnade.structure.columns import LOG_LIKELIHOOD, Columns, Terms, prepare, read_rows
from colonnade.tables.bounds import Allowed
from colonnade.threads import run
from colonnade.wording import alike

# Terms of more observations lose digits that the log evidence needs.
_MAX_SUMMED_TOTAL = 1e6

Parents: TypeAlias = tuple[int, ...]  # positions of columns, ascending


class Penalised(ABC):
    """Log likelihood at its maximum less a penalty per free parameter.

    Attributes
    ----------
    score_equivalent : bool
        Whether graphs with the same independences have the same score.
    """

    score_equivalent: ClassVar[bool] = True

    @abstractmethod
    def penalty(self, rows: float) -> float:
        """Penalty of one free parameter if the data have this many rows."""

    def of(self, counts: FamilyCounts, rows: float) -> float:
        """Score of one family."""
        if not isinstance(counts, FamilyCounts):
            hint = "make them with FamilyCounts.from_array"
            raise expected("FamilyCounts", "counts", counts, hint)
        rows = checked_rows(rows)
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
        return 0.5 * math.log(rows) if checked_rows(rows) > 0 else 0.0


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
GraphPrior: TypeAlias = Literal["sizes"] | None


class FamilyScores:
    """Scores of families, cached; child and parents are positions of columns."""

    def __init__(
        self, columns: Columns, score: Score | None, graph_prior: GraphPrior = None
    ) -> None:
        self.columns = columns
        self.score = checked_score(score)
        self.graph_prior = checked_graph_prior(graph_prior)
        self.names = columns.names
        # Of each child: the families asked for one by one, and, by the parents that they have in
        # common, those with one more parent, ``[parent]``; NaN where none was asked for.
        self._families: list[dict[Parents, float]] = [{} for _ in self.names]
        self._additions: list[dict[Parents, Floats]] = [{} for _ in self.names]

    def family(self, child: int, parents: Parents) -> float:
        """Score of one family."""
        parents = tuple(sorted(parents))
        known = self._families[child].get(parents)
        if known is None:
            known = self._added(child, parents)
        if known is None:
            known = self._families[child][parents] = self._scored(child, parents)
        return known

    def named(self, child: str, parents: Iterable[str]) -> float:
        """Score of one family, by names."""
        place = self.names.index
        return self.family(place(child), tuple(place(parent) for parent in parents))

    def _added(self, child: int, parents: Parents) -> float | None:
        """Score of a family that is known as an addition to a smaller one."""
        for k, parent in enumerate(parents):
            additions = self._additions[child].get(parents[:k] + parents[k + 1 :])
            if additions is not None and not math.isnan(additions[parent]):
                return float(additions[parent])
        return None

    def _scored(self, child: int, parents: Parents) -> float:
        counts = self.columns.counts(child, parents)
        with about(self.names[child]):
            fit = (
                self.score.structure_score(counts)
                if isinstance(self.score, Prior)
                else self.score.of(counts, self.columns.total)
            )
        return fit + self._log_prior(len(parents))

    def _log_prior(self, parents: int) -> float:
        """Log prior probability of one parent set of this size, up to a constant.

        All sizes have the same probability, and all sets of one size.
        """
        if self.graph_prior is None:
            return 0.0
        return -math.log(math.comb(len(self.names) - 1, parents))

    def additions(
        self, child: int, parents: Parents, candidates: Sequence[int] | Integers
    ) -> Floats:
        """Scores of the families that have one of the candidates as another parent."""
        parents, chosen = tuple(sorted(parents)), np.asarray(candidates)
        additions = self._additions[child].get(parents)
        if additions is None:
            additions = self._known_additions(child, parents)
            self._additions[child][parents] = additions
        fresh = chosen[np.isnan(additions[chosen])]
        if fresh.size:
            additions[fresh] = self._score_additions(child, parents, fresh)
        return np.asarray(additions[chosen])

    def enlarged(self, child: int, parents: Parents, candidates: Integers) -> Floats:
        """Like :meth:`additions`, for so many families that none is looked up or kept."""
        return self._score_additions(child, tuple(sorted(parents)), candidates)

    def bound(self, child: int, parents: Parents) -> float:
        """What no family with at least these parents exceeds.

        The log probability of observations is negative; a penalty grows with the parents.
        """
        if not isinstance(self.score, Penalised):
            return 0.0
        parameters = self.columns.size(parents) * (int(self.columns.sizes[child]) - 1)
        return -self.score.penalty(self.columns.total) * parameters

    def _known_additions(self, child: int, parents: Parents) -> Floats:
        """Scores of additions that are known as other families."""
        additions = np.full(len(self.names), np.nan)
        own = set(parents)
        for other, value in self._families[child].items():
            if len(other) == len(parents) + 1 and own.issubset(other):
                additions[list(set(other) - own)] = value
        for other, values in self._additions[child].items():
            # What this has more than the other, and the other more than this, is one parent each.
            lacking, extra = own.difference(other), set(other) - own
            if len(lacking) == len(extra) == 1:
                additions[list(extra)] = values[list(lacking)]
        return additions

    def _score_additions(self, child: int, parents: Parents, candidates: Integers) -> Floats:
        """Score additions: by sums over the cells and rows of their tables, or by their counts."""
        columns, scores = self.columns, np.full(len(self.names), np.nan)
        states, before = int(columns.sizes[child]), columns.size(parents)
        alone: list[int] = []
        by_terms: dict[Terms, list[int]] = {}
        for size in np.unique(columns.sizes[candidates]).tolist():
            some = candidates[columns.sizes[candidates] == size].tolist()
            terms = self._terms(child, before * size)
            if not columns.fits(some[0], child, *parents):
                alone += some
            elif terms is not None:
                by_terms.setdefault(terms, []).extend(some)
            elif (together := self._scores_of_tables(child, parents, some)) is not None:
                scores[some] = together
            else:
                alone += some
        for terms, some in by_terms.items():
            sums = columns.sums((*parents, child), np.array(some), terms, states)
            scores[some] = sums[:, 0] - sums[:, 1]
        if isinstance(self.score, Penalised):
            parameters = before * columns.sizes * (states - 1)
            scores -= self.score.penalty(columns.total) * parameters
        scores += self._log_prior(len(parents) + 1)
        tasks = [partial(self._scored, child, tuple(sorted((*parents, z)))) for z in alone]
        scores[alone] = run(tasks)
        return np.asarray(scores[candidates])

    def _scores_of_tables(
        self, child: int, parents: Parents, candidates: list[int]
    ) -> Floats | None:
        """Scores of additions of the same number of states, if the prior has a short way."""
        columns, found = self.columns, []
        if not isinstance(self.score, Prior) or columns.weighted:
            return None
        with about(self.names[child]):
            for tables in columns.tables((*parents, child), np.array(candidates)):
                scores = self.score.structure_scores(tables)
                if scores is None:
                    return None
                found.append(scores)
        return np.concatenate(found)

    def _terms(self, child: int, configurations: int) -> Terms | None:
        """Terms whose sum over the cells and rows of a table is the score, if there are such."""
        if not isinstance(self.score, Prior):
            return LOG_LIKELIHOOD
        if self.columns.total >= _MAX_SUMMED_TOTAL:
            return None
        states = int(self.columns.sizes[child])
        with about(self.names[child]):
            strength = self.score.row_strength(configurations, states)
        return None if strength is None else (strength / states, strength)


def score(
    table: Any,
    dag: Dag,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> float:
    """Score of a graph on a table.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    dag : Dag
    score : BIC, AIC, LogLikelihood or a prior
        By default ``BIC()``.
    graph_prior : "sizes", optional
        Adds -ln C(V - 1, k) for each of the V variables, where k is the number of its parents: all
        numbers of parents are equally probable, and all sets of one size. Without it all graphs
        are.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`. The rows are those that are complete for the variables of the
        graph: compare scores of graphs of the same variables only.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Returns
    -------
    float

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> round(score(table, Dag([("a", "b")])) - score(table, Dag([], ["a", "b"])), 3)
    2.079
    """
    parts = score_families(
        table, dag, score, graph_prior=graph_prior, missing=missing, memory=memory
    )
    return math.fsum(parts.values())


def score_families(
    table: Any,
    dag: Dag,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> dict[str, float]:
    """Score of every family of a graph, by the name of the child; see :func:`score`.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> {name: round(value, 3) for name, value in score_families(table, Dag([("a", "b")])).items()}
    {'a': -3.466, 'b': -1.386}
    """
    families = family_scores(table, dag, score, graph_prior, missing, memory)
    return {name: families.named(name, dag.parents(name)) for name in dag.variables}


def family_scores(
    table: Any,
    dag: Dag,
    score: Score | None,
    graph_prior: GraphPrior,
    missing: Missing,
    memory: Allowed = None,
) -> FamilyScores:
    """Scores of families of the variables of a graph; wrong parameters are refused."""
    judge, prior = checked_score(score), checked_graph_prior(graph_prior)
    coded = read_rows(table, checked_dag(dag).variables, memory=memory)
    return FamilyScores(prepare(coded, missing), judge, prior)


def checked_rows(rows: float) -> float:
    """A number of rows, which weights may have made fractional, or an error."""
    if not isinstance(rows, numbers.Real) or not 0 <= rows < math.inf:
        raise expected("a number of at least 0", "rows", rows)
    return rows


def checked_score(score: Score | None, parameter: str = "score") -> Score:
    """The score itself, BIC for None, or an error."""
    if score is None:
        return BIC()
    if isinstance(score, type):
        raise expected("a score", parameter, score, f"write {score.__name__}()")
    if not isinstance(score, Penalised | Prior):
        known = (BIC, AIC, LogLikelihood)
        meant = [each.__name__ for each in known if alike(each.__name__) == alike(score)]
        hint = f"write {parameter}={meant[0] if meant else 'BIC'}()"
        raise expected("BIC(), AIC(), LogLikelihood() or a prior", parameter, score, hint)
    return score


def checked_graph_prior(graph_prior: GraphPrior) -> GraphPrior:
    """The prior of the graph itself, or an error."""
    if graph_prior is not None and not (isinstance(graph_prior, str) and graph_prior == "sizes"):
        raise expected("'sizes' or None", "graph_prior", graph_prior)
    return graph_prior


def _xlogx(values: Any) -> Any:
    return values * np.log(np.where(values > 0, values, 1.0))

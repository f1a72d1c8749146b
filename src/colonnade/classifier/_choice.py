"""What a classifier chooses, or is given: the structure, and the prior of its tables.

A prior is chosen by how well it predicts rows that are left out. Where the structure is given, each
row is left out by itself, which needs the counts and nothing else. A structure that was learned
from the same rows has chosen parents that match their children by chance, which makes weak priors
look good on every one of these rows. Then rows are left out before the structure is learned, and
what is scored is what a classifier is for: the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._tables import ClassTables
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import NotSupportedError, about, expected, inapplicable, listing
from colonnade.missing.gaps import distinct
from colonnade.network.counts import NetworkCounts
from colonnade.priors import BDeu, Hierarchical, Prior, SymmetricDirichlet, Tiered
from colonnade.structure import hill_climb, kdb, naive_bayes, tan
from colonnade.structure.scores import GraphPrior, Score, checked_score
from colonnade.structure.search import to_the_end
from colonnade.tables.coded import CodedTable
from colonnade.threads import run
from colonnade.variables import Family

AnyPrior: TypeAlias = Prior | Literal["auto"] | None
Scores: TypeAlias = dict[Prior, float]

_STRUCTURES = ("naive", "tan", "kdb", "hill_climb")
# What `prior="auto"` chooses from; of scores that differ by rounding only the first wins.
CANDIDATES: tuple[Prior, ...] = (
    Hierarchical(),
    Hierarchical(s="learn"),
    SymmetricDirichlet(),
    BDeu(1),
    BDeu(10),
    Tiered(),
)
# Scores closer than this, relative to the best, are ties.
_TIE_TOLERANCE = 1e-9
# Folds are left out in turn until this many rows have been.
_FOLDS, _MIN_ROWS_LEFT_OUT = 5, 1000


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure and its options, which must belong to it; see `BayesianNetworkClassifier`.

    Only `k` is ignored by other structures than ``"kdb"``: grids combine it with all of them.
    """

    structure: str | Dag
    k: int = 2
    root: str | None = None
    score: Score | None = None
    graph_prior: GraphPrior = None

    def __post_init__(self) -> None:
        named = isinstance(self.structure, str) and self.structure in _STRUCTURES
        if not named and not isinstance(self.structure, Dag):
            what = f"one of {listing(_STRUCTURES)} or a Dag"
            raise expected(what, "structure", self.structure)
        for name, value, default, owner in (
            ("root", self.root, None, "tan"),
            ("structure_score", self.score, None, "hill_climb"),
            ("graph_prior", self.graph_prior, None, "hill_climb"),
        ):
            if owner != self.structure and value is not default and value != default:
                raise inapplicable(name, value, f"structure={owner!r}")
        checked_score(self.score, "structure_score")

    def learn(self, coded: CodedTable, target: str) -> Dag:
        """Return the graph that was given, or learn it from features and class."""
        if isinstance(self.structure, Dag):
            return _checked_dag(self.structure, target)
        if self.structure == "naive":
            return naive_bayes(coded, target)
        if self.structure == "tan":
            return tan(filled(coded), target, self.root)
        if self.structure == "kdb":
            return kdb(filled(coded), target, self.k)
        with to_the_end():
            return hill_climb(filled(coded), self.score, graph_prior=self.graph_prior).dag

    @property
    def named(self) -> tuple[str, ...]:
        """The variables that the user names."""
        if isinstance(self.structure, Dag):
            return self.structure.variables
        return () if self.root is None else (self.root,)

    @property
    def learned(self) -> bool:
        """Whether the graph depends on the rows."""
        return isinstance(self.structure, str) and self.structure != "naive"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A prior, and the scores by which it was chosen; None if it was given."""

    prior: Prior
    scores: Scores | None = None

    @classmethod
    def by_rows(cls, prior: AnyPrior, counts: NetworkCounts) -> Choice:
        """Take the prior given, or the one that predicts each row best from all the others."""
        return _given(prior) or _best(_leave_one_out_scores(counts))

    @classmethod
    def by_folds(
        cls, prior: AnyPrior, coded: CodedTable, target: str, structure: Structure
    ) -> Choice:
        """Take the prior given, or the one that predicts the class of rows left out best.

        The structure is learned anew for each fold, without its rows.
        """
        given = _given(prior)
        if given is not None:
            return given
        scores = dict.fromkeys(CANDIDATES, 0.0)
        fold = _folds(coded, target)
        done = 0.0
        for k in range(_FOLDS):
            known, hidden = coded.take(fold != k), coded.take(fold == k)
            if done >= _MIN_ROWS_LEFT_OUT or not known.rows or not hidden.rows:
                break
            counts = NetworkCounts.of(known, structure.learn(known, target), "available")
            scores = _added(scores, _class_scores(counts, hidden, target))
            done += hidden.rows if hidden.weights is None else float(hidden.weights.sum())
        return _best(scores)

    def after(self, prior: AnyPrior, known: NetworkCounts, rows: CodedTable, target: str) -> Choice:
        """Choose anew after more rows, by how well their classes are predicted from those known."""
        before = self.scores or dict.fromkeys(CANDIDATES, 0.0)
        return _given(prior) or _best(_added(before, _class_scores(known, rows, target)))


# ------------------------------------------------------------------------------- priors


def _given(prior: AnyPrior) -> Choice | None:
    """Take the prior that was given, or None if it is to be chosen."""
    if isinstance(prior, str) and prior == "auto":
        return None
    if prior is not None and not isinstance(prior, Prior):
        raise expected("a prior, 'auto' or None", "prior", prior, "use Tiered()")
    return Choice(Tiered() if prior is None else prior)


def _best(scores: Scores) -> Choice:
    top = max(scores.values())
    least = top - _TIE_TOLERANCE * (1.0 + abs(top))
    return Choice(next(prior for prior, score in scores.items() if score >= least), scores)


def _leave_one_out_scores(counts: NetworkCounts) -> Scores:
    """Leave-one-out log score of each candidate: of all rows, features and class together.

    A candidate is left out if one of the tables has no such score, or none that would be fair.
    """

    def score(prior: Prior, family: Family, table: FamilyCounts) -> float:
        with about(family.child.name):
            return prior.leave_one_out_score(table)

    scores: Scores = {}
    pairs = list(zip(counts.families, counts.counts, strict=True))
    for prior in CANDIDATES:
        if not all(prior.leaves_out_exactly(table) for table in counts.counts):
            continue
        tasks = [partial(score, prior, family, table) for family, table in pairs]
        try:
            scores[prior] = sum(run(tasks))
        except NotSupportedError:
            continue
    return scores


def _class_scores(known: NetworkCounts, rows: CodedTable, target: str) -> Scores:
    """Log score of the classes of rows, by tables estimated from other rows.

    Few rows, all of them predicted well, do not show what too much confidence will cost. After n
    successes the next trial fails with probability 1 / (n + 2), by Laplace's rule: that is the
    weight given to the classes that a row does not have.
    """
    classes = rows.codes[rows.position(target)]
    weights = np.ones(rows.rows) if rows.weights is None else rows.weights
    doubt = 1.0 / (2.0 + weights.sum() + max(table.total for table in known.counts))

    def score(prior: Prior) -> float | None:
        try:
            network = known.network(dict.fromkeys(known.dag.variables, prior))
        except NotSupportedError:
            return None
        logs = ClassTables(network, target).log_joint(rows, everything=False, normalised=True)
        own = logs[np.arange(len(logs)), classes]
        others = (logs.sum(axis=1) - own) / max(1, logs.shape[1] - 1)
        return float(weights @ ((1.0 - doubt) * own + doubt * others))

    found = run([partial(score, prior) for prior in CANDIDATES])
    pairs = zip(CANDIDATES, found, strict=True)
    return {prior: value for prior, value in pairs if value is not None}


def _added(scores: Scores, more: Scores) -> Scores:
    """Add scores of more rows; a candidate that one of them lacks is left out."""
    return {prior: score + more[prior] for prior, score in scores.items() if prior in more}


def _folds(coded: CodedTable, target: str) -> NDArray[np.intp]:
    """Divide the rows so that all folds have about the same classes.

    Equal rows go together, so that weight two is the same as two rows, and the order of the rows
    does not matter.
    """
    names = [target, *(name for name in coded.names if name != target)]
    rows, which = distinct(np.stack(coded.select(names).codes, axis=1).astype(np.int64))
    # At random within a class: neighbours in the order of codes are alike.
    order = np.lexsort((np.random.default_rng(0).random(len(rows)), rows[:, 0]))
    fold = np.empty(len(rows), dtype=np.intp)
    fold[order] = np.arange(len(rows)) % _FOLDS
    return fold[which]


# --------------------------------------------------------------------------- structures


def filled(coded: CodedTable) -> CodedTable:
    """Make a table complete for learning a structure: only that, never for counting.

    If at least half of the rows are complete, by their weights, these are taken. Otherwise all rows
    are, and *missing* is one more state.
    """
    complete = coded.only_complete()
    return complete if 2 * complete.total >= coded.total else coded.with_missing_states()


def _checked_dag(dag: Dag, target: str) -> Dag:
    if target not in dag:
        hint = f"add the class, such as with arcs from {target!r} to all others"
        raise expected(f"a graph that has the class, {target!r},", "structure", dag, hint)
    return dag

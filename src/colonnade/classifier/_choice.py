"""The choice of a prior by how well it foretells rows that are left out.

Where the structure is given, each row is left out by itself: that needs the counts, nothing else. A
structure that was learned from the same rows has chosen parents that go with their children by
chance, and so makes weak priors look good on every one of them. Then rows are left out before the
structure is learned, and what is judged is what a classifier is for: the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._estimate import families_of, network_of
from colonnade.classifier._structures import Structure
from colonnade.classifier._tables import ClassTables
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import NotSupportedError
from colonnade.missing.gaps import distinct
from colonnade.priors import BDeu, Hierarchical, Prior, SymmetricDirichlet
from colonnade.structure.resampling import take
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.threads import run

__all__ = ["CANDIDATES", "added", "class_scores", "cross_validated_scores", "leave_one_out_scores"]

# What `prior="auto"` chooses from; of equal scores the first wins.
CANDIDATES: tuple[Prior, ...] = (
    Hierarchical(),
    Hierarchical(s="learn"),
    SymmetricDirichlet(),
    BDeu(1),
    BDeu(10),
)
# Parts of the rows that are left out in turn, until so many rows have been.
_FOLDS, _ENOUGH = 5, 1000


def leave_one_out_scores(counts: Sequence[FamilyCounts]) -> dict[Prior, float]:
    """Leave-one-out log score of each candidate: of all rows, features and class together.

    A candidate that cannot be had for one of the tables is left out.

    Parameters
    ----------
    counts : sequence of FamilyCounts
        Of all families of the network.

    Examples
    --------
    >>> scores = leave_one_out_scores([FamilyCounts.from_array([[9, 1], [8, 2], [9, 0], [1, 0]])])
    >>> max(scores, key=scores.get)
    Hierarchical(s=None, alpha0=1.0, engine=None)
    """
    scores: dict[Prior, float] = {}
    for prior in CANDIDATES:
        tasks = [partial(prior.leave_one_out_score, table) for table in counts]
        try:
            scores[prior] = sum(run(tasks))
        except NotSupportedError:
            continue
    return scores


def cross_validated_scores(
    coded: CodedTable, target: str, structure: Structure
) -> dict[Prior, float]:
    """Log score of the classes of rows, by structures and tables learned without these rows.

    Parameters
    ----------
    coded : CodedTable
        The features and the class.
    target : str
        The class.
    structure : Structure
    """
    scores = dict.fromkeys(CANDIDATES, 0.0)
    fold = _folds(coded, target)
    done = 0.0
    for k in range(_FOLDS):
        known, hidden = (take(coded, np.flatnonzero(rows)) for rows in (fold != k, fold == k))
        if done >= _ENOUGH or not known.rows or not hidden.rows:
            break
        dag = structure.learn(known, target)
        counts = count(known, families_of(dag, coded.variables), "available")
        scores = added(scores, class_scores(dag, counts, hidden, target))
        done += hidden.rows if hidden.weights is None else float(hidden.weights.sum())
    return scores


def class_scores(
    dag: Dag, counts: Sequence[FamilyCounts], rows: CodedTable, target: str
) -> dict[Prior, float]:
    """Log score of the classes of rows, by tables estimated from other rows.

    Few rows, all of them foretold well, do not show what too much confidence will cost. After n
    successes the next is a failure with probability 1 / (n + 2), by Laplace's rule: that much the
    classes count that a row does not have.

    Parameters
    ----------
    dag : Dag
    counts : sequence of FamilyCounts
        Of the other rows, in the order of its variables.
    rows : CodedTable
        The features and the class.
    target : str
        The class.
    """
    families = families_of(dag, rows.variables)
    classes = rows.codes[rows.position(target)]
    weights = np.ones(rows.rows) if rows.weights is None else rows.weights
    doubt = 1.0 / (2.0 + weights.sum() + max(table.total for table in counts))

    def score(prior: Prior) -> float | None:
        try:
            network = network_of(dag, families, counts, prior)
        except NotSupportedError:
            return None
        logs = ClassTables(network, target).log_joint(rows, everything=False, normalised=True)
        own = logs[np.arange(len(logs)), classes]
        others = (logs.sum(axis=1) - own) / max(1, logs.shape[1] - 1)
        return float(weights @ ((1.0 - doubt) * own + doubt * others))

    found = run([partial(score, prior) for prior in CANDIDATES])
    pairs = zip(CANDIDATES, found, strict=True)
    return {prior: value for prior, value in pairs if value is not None}


def added(scores: dict[Prior, float], more: dict[Prior, float]) -> dict[Prior, float]:
    """Add scores of more rows; a candidate that one of them lacks is left out.

    Examples
    --------
    >>> added({BDeu(1): -1.0, BDeu(10): -2.0}, {BDeu(1): -3.0})
    {BDeu(ess=1.0): -4.0}
    """
    return {prior: score + more[prior] for prior, score in scores.items() if prior in more}


def _folds(coded: CodedTable, target: str) -> NDArray[np.intp]:
    """Deal out rows so that all folds have about the same classes.

    Equal rows go together, so that weight two is the same as two rows; and the order of the rows
    does not matter.
    """
    position = coded.position(target)
    columns: list[NDArray[Any]] = [coded.codes[position]]
    columns += [column for k, column in enumerate(coded.codes) if k != position]
    rows, which = distinct(np.stack(columns, axis=1).astype(np.int64))
    # At random within a class: neighbours in the order of codes are alike.
    order = np.lexsort((np.random.default_rng(0).random(len(rows)), rows[:, 0]))
    fold = np.empty(len(rows), dtype=np.intp)
    fold[order] = np.arange(len(rows)) % _FOLDS
    return fold[which]

"""The choice of a prior by how well each row is foretold by all others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from colonnade.counts import FamilyCounts
from colonnade.exceptions import NotSupportedError
from colonnade.pooling.leave_one_out import left_out_score
from colonnade.priors import BDeu, Hierarchical, Prior, SymmetricDirichlet
from colonnade.tables.joints import run, worker_count

__all__ = ["CANDIDATES", "leave_one_out_scores"]

# What `prior="auto"` chooses from; of equal scores the first wins.
CANDIDATES: tuple[Prior, ...] = (
    Hierarchical(),
    Hierarchical(s="learn"),
    SymmetricDirichlet(),
    BDeu(1),
    BDeu(10),
)


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

    def score(prior: Prior, table: FamilyCounts) -> float:
        return left_out_score(table.values, prior.posterior(table).components)

    scores: dict[Prior, float] = {}
    for prior in CANDIDATES:
        tasks = [partial(score, prior, table) for table in counts]
        try:
            scores[prior] = sum(run(tasks, worker_count(None)))
        except NotSupportedError:
            continue
    return scores

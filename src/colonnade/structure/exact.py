"""Exact answers for few variables: the best of all graphs, and the probability of every arc.

Both come from one table per child: the score of every set of parents. The best graph is found by
dynamic programming over subsets (Silander and Myllymäki 2006), the probabilities by summing over
all orders of the variables in the same way (Koivisto and Sood 2004, Koivisto 2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import Advice, counted, expected
from colonnade.missing.treatment import Missing
from colonnade.priors import BDeu
from colonnade.progress import Progress
from colonnade.structure.columns import prepare, read_rows
from colonnade.structure.equivalence import FoundClass
from colonnade.structure.mixed import Mixed, named, named_dag
from colonnade.structure.rules import Rules
from colonnade.structure.scores import (
    FamilyScores,
    GraphPrior,
    Parents,
    Score,
    checked_graph_prior,
    checked_score,
)
from colonnade.structure.shares import ArcShares
from colonnade.tables.bounds import Allowed
from colonnade.tables.countable import Countable

# The tables of more variables would not fit into memory.
MAX_VARIABLES = 20


@dataclass(frozen=True, eq=False)
class ArcPosterior(ArcShares):
    """Posterior probabilities of arcs, averaged over all orders of the variables.

    Attributes
    ----------
    names : tuple of str
    directed : array [parent, child]
        Probability of the arc in this direction.
    """

    @property
    def threshold(self) -> float:
        """One half: the graph of the arcs that are more probable than not."""
        return 0.5

    def __repr__(self) -> str:
        above = int(self._significant(self.threshold).sum())
        return (
            f"ArcPosterior({counted(len(self.names), 'variable')}, "
            f"{counted(above, 'arc')} above {self.threshold:.2f})"
        )


def exact_search(
    table: Any,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> FoundClass:
    """Find the graph with the best score of all, for at most 20 variables.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    score : BIC, AIC, LogLikelihood or a prior, optional
        By default ``BIC()``.
    graph_prior : "sizes", optional
    required, forbidden : iterables of (parent, child)
    tiers : iterable of iterables of str
        As for :func:`hill_climb`.
    max_parents : int, optional
        Largest number of parents of a variable. Without it every set of parents is scored, of 20
        variables ten million, unless the penalty of a score excludes many; a limit of 4 leaves
        100 000.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Returns
    -------
    FoundClass
        The best graph, its score, and its class of equivalent graphs; the trace is empty.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> exact_search(table).pdag
    MixedGraph(arcs=[], edges=[('a', 'b')], variables=['a', 'b', 'c'])
    """
    judge, prior = checked_score(score), checked_graph_prior(graph_prior)
    coded = read_rows(table, memory=memory)
    rules = Rules.of(_few(coded).names, required, forbidden, max_parents, tiers)
    with Progress("Exact search", total=len(coded.names)) as progress:
        families = FamilyScores(prepare(coded, missing), judge, prior)
        member = _best_graph(families, rules, progress)
    kept = rules.admitted(member.essential())
    assert kept is not None, "the graph obeys the rules"
    if judge.score_equivalent:
        member = kept.extension() or member
    best = named_dag(member, rules.names)
    position = {name: k for k, name in enumerate(rules.names)}
    own = (
        families.family(position[name], tuple(position[p] for p in best.parents(name)))
        for name in rules.names
    )
    return FoundClass(best, math.fsum(own), (), "converged", named(kept, rules.names))


def arc_posterior(
    table: Any,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> ArcPosterior:
    """Posterior probability of every arc, exactly, for at most 20 variables.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    score : a prior, BIC, AIC or LogLikelihood, optional
        By default ``BDeu()``. A prior weighs a graph by its evidence; the others by exp(score).
    graph_prior : "sizes", optional
        As for :func:`hill_climb`; it is the prior of Koivisto and Sood (2004).
    required, forbidden : iterables of (parent, child)
    tiers : iterable of iterables of str
    max_parents : int, optional
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`exact_search`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Returns
    -------
    ArcPosterior

    Notes
    -----
    A graph is counted once for every order of the variables in which parents come before their
    children. Graphs that agree with many orders, such as those with few arcs, thus have a larger
    prior probability than under equal weights, and equivalent graphs may differ.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> arc_posterior(table).strength.round(3)
    array([[0.   , 1.   , 0.151],
           [1.   , 0.   , 0.151],
           [0.151, 0.151, 0.   ]])
    """
    judge = BDeu() if score is None else checked_score(score)
    prior = checked_graph_prior(graph_prior)
    coded = read_rows(table, memory=memory)
    rules = Rules.of(_few(coded).names, required, forbidden, max_parents, tiers)
    with Progress("Posterior of arcs", total=2 * len(coded.names)) as progress:
        families = FamilyScores(prepare(coded, missing), judge, prior)
        directed = _probabilities(families, rules, progress)
    directed.setflags(write=False)
    return ArcPosterior(rules.names, directed)


def _few(coded: Countable) -> Countable:
    if len(coded.names) > MAX_VARIABLES:
        what = f"a table of at most {MAX_VARIABLES} columns"
        hint = Advice.TOO_MANY_FOR_EXACT
        raise expected(what, "table", coded, hint, got=f"{len(coded.names):,}")
    return coded


def _best_graph(families: FamilyScores, rules: Rules, progress: Progress) -> Mixed:
    from colonnade.kernels.subsets import best_order, best_subsets

    size = len(rules.names)
    best = np.empty((size, 1 << (size - 1)))
    chosen = np.empty(best.shape, np.int32)
    for child in range(size):
        best[child] = _parent_scores(families, rules, child, prune=True)
        chosen[child] = best_subsets(best[child])
        progress.advance()
    _, last = best_order(best)
    graph, left = Mixed(size), (1 << size) - 1
    while left:
        child = int(last[left])
        left ^= 1 << child
        low = left & ((1 << child) - 1)
        parents = int(chosen[child, low | left >> (child + 1) << child])
        for k, other in enumerate(z for z in range(size) if z != child):
            if parents >> k & 1:
                graph.connect(other, child)
                graph.direct(other, child)
    return graph


def _probabilities(families: FamilyScores, rules: Rules, progress: Progress) -> Floats:
    """Probability of every arc, ``[parent, child]``."""
    from colonnade.kernels.subsets import (
        log_chances_before,
        log_orders,
        log_sums_beyond,
        log_sums_within,
        parent_shares,
    )

    size = len(rules.names)
    scores = np.empty((size, 1 << (size - 1)))
    for child in range(size):
        scores[child] = _parent_scores(families, rules, child, prune=False)
        progress.advance()
    within = scores.copy()
    for child in range(size):
        log_sums_within(within[child])
    first, last = log_orders(within)
    directed = np.zeros((size, size))
    for child in range(size):
        beyond = log_chances_before(first, last, child, size)
        log_sums_beyond(beyond)
        others = [z for z in range(size) if z != child]
        directed[others, child] = parent_shares(scores[child], beyond, first[-1])
        progress.advance()
    return directed.clip(0.0, 1.0)


def _parent_scores(families: FamilyScores, rules: Rules, child: int, prune: bool) -> Floats:
    """Score of every set of parents, by its bits among the other variables.

    Sets that break a rule have minus infinity; if asked to, so have some that cannot be the best.
    """
    size = len(rules.names)
    bit = np.array([1 << (z - (z > child)) for z in range(size)])
    root: Parents = tuple(np.flatnonzero(rules.required[:, child]).tolist())
    free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
    scores = np.full(1 << (size - 1), -np.inf)
    own = families.family(child, root)
    at = int(bit[list(root)].sum())
    scores[at] = own
    # Sets whose next members are to be tried: the set, its place, the first of them, and the best
    # score of it and of what it came from.
    waiting = [(root, at, 0, own)]
    while waiting:
        parents, at, begin, best = waiting.pop()
        candidates = free[begin:]
        if not candidates.size or len(parents) >= rules.limit:
            continue
        values = families.enlarged(child, parents, candidates)
        scores[at + bit[candidates]] = values
        for k, (z, value) in enumerate(zip(candidates.tolist(), values.tolist(), strict=True)):
            larger = (*parents, z)
            top = max(best, value)
            if not prune or families.bound(child, larger) > top:
                waiting.append((larger, at + int(bit[z]), begin + k + 1, top))
    return scores

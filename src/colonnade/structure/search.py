"""Hill climbing: add, delete or reverse the arc that raises the score most, until none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Seed
from colonnade.dag import Dag
from colonnade.exceptions import checked_whole, counted, inapplicable
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.structure.columns import prepare, read_rows
from colonnade.structure.rules import Adjacency, Rules, reachable
from colonnade.structure.scores import (
    FamilyScores,
    GraphPrior,
    Score,
    checked_graph_prior,
    checked_score,
)

Operation = Literal["add", "delete", "reverse"]
_OPERATIONS: tuple[Operation, ...] = ("add", "delete", "reverse")
# Gains closer than this are ties: equivalent graphs differ by rounding only.
_TIE_TOLERANCE = 1e-9
# Every step compares with the whole list, and every restart is a search: more would never end.
MAX_TABU = 10**6
MAX_RESTARTS = 10**6

_raising: ContextVar[bool] = ContextVar("_raising", default=False)


@contextmanager
def to_the_end() -> Iterator[None]:
    """Let searches within raise a keyboard interrupt: here half a search must not pass for one."""
    token = _raising.set(True)
    try:
        yield
    finally:
        _raising.reset(token)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the search: what was done to which arc, its gain and the score after it."""

    operation: Operation
    arc: tuple[str, str]
    gain: float
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes
    ----------
    dag : Dag
    score : float
    trace : tuple of Step
        The steps that lead from the starting graph to it, those of restarts included. What a tabu
        list tried beyond it is left out.
    status : {"converged", "interrupted"}
        ``"interrupted"`` if the search was stopped from the keyboard; the graph is the best so far.
    """

    dag: Dag
    score: float
    trace: tuple[Step, ...]
    status: Literal["converged", "interrupted"]

    def __repr__(self) -> str:
        return (
            f"Found({counted(len(self.dag.arcs), 'arc')}, score={self.score:.6g}, "
            f"{counted(len(self.trace), 'step')}, {self.status})"
        )


def hill_climb(
    table: Any,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    start: Dag | None = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    max_parents: int | None = None,
    tabu: int = 0,
    restarts: int = 0,
    rng: Seed = None,
    missing: Missing = "raise",
) -> Found:
    """Learn a graph by hill climbing.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    score : BIC, AIC, LogLikelihood or a prior, optional
        By default ``BIC()``. A prior scores by its log evidence.
    graph_prior : "sizes", optional
        Pays for the choice among many parents: adds -ln C(V - 1, k) for each of the V variables,
        where k is the number of its parents (see :func:`score`).
    start : Dag, optional
        Where to begin; by default the graph of the required arcs.
    required, forbidden : iterables of (parent, child)
        Arcs that must or must not be there. A forbidden arc may be there the other way round.
    max_parents : int, optional
        Largest number of parents of a variable.
    tabu : int
        Length of the list of graphs not to return to; with it the search goes on past a local
        optimum, until this many steps in a row have found nothing better.
    restarts : int
        How often to perturb the best graph at random and climb again.
    rng : Generator or int, optional
        For the restarts; without them it has no meaning.
    missing : {"raise", "available", "em", "state"} or EM
        What to do with rows that lack values, by the words of :func:`colonnade.fit`: refuse; learn
        from the rows that are complete (with ``"available"`` as with ``"em"``, which concern the
        tables), and warn how many were left out; or learn from all rows, with *missing* as one more
        state.

    Returns
    -------
    Found
        ``dag``, ``score``, ``trace`` and ``status``. A keyboard interrupt of the search returns the
        best graph so far, which may be the starting graph; within :func:`arc_strength`,
        :func:`compare` and a classifier it is raised.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> found = hill_climb(table)
    >>> found.dag.arcs, found.status
    ((('a', 'b'),), 'converged')
    """
    judge, prior = checked_score(score), checked_graph_prior(graph_prior)
    tabu = checked_whole(tabu, "tabu", 0, MAX_TABU)
    restarts = checked_whole(restarts, "restarts", 0, MAX_RESTARTS)
    if rng is not None and not restarts:
        generator(rng)
        raise inapplicable("rng", rng, "restarts > 0", "give restarts=10")
    rng = generator(rng)
    coded = read_rows(table)
    rules = Rules.of(coded.names, required, forbidden, max_parents)
    first = rules.starting(start)
    with Progress("Hill climbing") as progress:
        families = FamilyScores(prepare(coded, missing), judge, prior)
        climber = _Climber(families, rules, progress)
        best, best_score, trace = first, -np.inf, list[Step]()
        status: Literal["converged", "interrupted"] = "converged"
        try:
            climber.jump(first)
            for attempt in range(restarts + 1):
                if attempt:
                    other = rules.perturbed(best, rng)
                    climber.jump(other, _way(families, best, other, best_score))
                climber.climb(tabu)
                if climber.best_score > best_score + _TIE_TOLERANCE or not attempt:
                    best, best_score, trace = climber.reached(trace)
        except KeyboardInterrupt:
            if _raising.get():
                raise
            status = "interrupted"
            if climber.best_score > best_score:
                best, best_score, trace = climber.reached(trace)
            elif best is first:
                best_score = _total(families, first)
    return Found(rules.dag(best), best_score, tuple(trace), status)


def _total(families: FamilyScores, adjacency: Adjacency) -> float:
    """Score of a graph."""
    return sum(_own(families, adjacency, child) for child in range(len(adjacency)))


def _way(families: FamilyScores, begin: Adjacency, end: Adjacency, score: float) -> list[Step]:
    """Steps from one graph to another; deletions come first, so that none closes a cycle."""
    moves = [_Move("delete", a, b, 0.0) for a, b in np.argwhere(begin & ~end).tolist()]
    moves += [_Move("add", a, b, 0.0) for a, b in np.argwhere(end & ~begin).tolist()]
    names, now, steps = families.names, begin, list[Step]()
    for move in moves:
        after = move.applied(now)
        gain = _own(families, after, move.child) - _own(families, now, move.child)
        now, score = after, score + gain
        steps.append(Step(move.operation, (names[move.parent], names[move.child]), gain, score))
    return steps


def _own(families: FamilyScores, adjacency: Adjacency, child: int) -> float:
    """Score of one family of a graph."""
    return families.family(child, tuple(np.flatnonzero(adjacency[:, child]).tolist()))


class _Move(NamedTuple):
    """A possible step: what is done to the arc from one column to another, and its gain."""

    operation: Operation
    parent: int
    child: int
    gain: float

    def applied(self, adjacency: Adjacency) -> Adjacency:
        """The graph after it."""
        fresh = adjacency.copy()
        fresh[self.parent, self.child] = self.operation == "add"
        if self.operation == "reverse":
            fresh[self.child, self.parent] = True
        return fresh


class _Climber:
    """The state of a search: a graph, the gain of every possible step, and the best graph."""

    def __init__(self, families: FamilyScores, rules: Rules, progress: Progress) -> None:
        self.families = families
        self.rules = rules
        self.progress = progress
        self.best_score = -np.inf

    def jump(self, adjacency: Adjacency, steps: Sequence[Step] = ()) -> None:
        """Continue from another graph, to which some steps have led."""
        size = len(adjacency)
        self.adjacency = adjacency
        self.own = np.zeros(size)
        self.adding = np.full((size, size), -np.inf)
        self.deleting = np.full((size, size), -np.inf)
        for child in range(size):
            self._refresh(child)
            done = f"{child + 1:,} of {counted(size, 'column')}"
            self.progress.advance(text=f"Hill climbing: {done}")
        self.paths = reachable(adjacency)
        self.score = float(self.own.sum())
        self.steps = list(steps)
        self._keep()

    def reached(self, before: list[Step]) -> tuple[Adjacency, float, list[Step]]:
        """The best graph, its score, and the steps to it after those before."""
        return self.best, self.best_score, before + self.steps[: self._steps_to_best]

    def _keep(self) -> None:
        """Take the present graph as the best one."""
        best = self.adjacency.copy(), self.score, len(self.steps)
        # At once, so that an interrupt finds them together.
        self.best, self.best_score, self._steps_to_best = best

    def climb(self, tabu: int) -> None:
        """Step until nothing gains; with a tabu list until nothing better is found for a while."""
        visited: deque[bytes] = deque([self.adjacency.tobytes()], maxlen=max(1, tabu))
        idle = 0
        while True:
            move = self._best_step(visited if tabu else None)
            if move is None or (not tabu and move.gain <= _TIE_TOLERANCE * (1.0 + abs(self.score))):
                return
            self._take(move)
            visited.append(self.adjacency.tobytes())
            arcs = counted(int(self.adjacency.sum()), "arc")
            self.progress.advance(text=f"Hill climbing: {arcs}")
            if self.score > self.best_score + _TIE_TOLERANCE * (1.0 + abs(self.best_score)):
                self._keep()
                idle = 0
            else:
                idle += 1
                if idle >= tabu:
                    return

    def _refresh(self, child: int) -> None:
        """Gains of adding a parent to, or deleting one from, one child."""
        parents = tuple(np.flatnonzero(self.adjacency[:, child]).tolist())
        own = self.families.family(child, parents)
        self.own[child] = own
        self.adding[:, child] = -np.inf
        self.deleting[:, child] = -np.inf
        # Candidates that would close a cycle now are scored too: the gain of reversing an arc is
        # that of deleting it and adding the opposite one.
        others = self.rules.allowed[:, child] & ~self.adjacency[:, child]
        candidates = np.flatnonzero(others).tolist()
        if candidates and len(parents) < self.rules.limit:
            scores = self.families.additions(child, parents, candidates)
            self.adding[candidates, child] = scores - own
        for parent in parents:
            if not self.rules.required[parent, child]:
                rest = tuple(p for p in parents if p != parent)
                self.deleting[parent, child] = self.families.family(child, rest) - own

    def _gains(self) -> NDArray[np.float64]:
        """Gain of every step, ``[operation, parent, child]``; impossible ones minus infinity."""
        add = np.where(self.paths.T, -np.inf, self.adding)
        reverse = np.where(self.adjacency, self.deleting + self.adding.T, -np.inf)
        for a, b in np.argwhere(np.isfinite(reverse)):
            # Another path from a to b would close a cycle with b -> a.
            siblings = self.adjacency[:, b].copy()
            siblings[a] = False
            if (self.paths[a] & siblings).any():
                reverse[a, b] = -np.inf
        return np.stack([add, self.deleting, reverse])

    def _best_step(self, visited: deque[bytes] | None) -> _Move | None:
        """The step that gains most; ties go to the first operation and the first columns."""
        gains = self._gains()
        while True:
            top = float(gains.max()) if gains.size else -np.inf
            if not np.isfinite(top):
                return None
            where = int(np.argmax(gains >= top - _TIE_TOLERANCE * (1.0 + abs(top))))
            k, a, b = (int(place) for place in np.unravel_index(where, gains.shape))
            move = _Move(_OPERATIONS[k], a, b, float(gains[k, a, b]))
            if visited is None or move.applied(self.adjacency).tobytes() not in visited:
                return move
            gains[k, a, b] = -np.inf

    def _take(self, move: _Move) -> None:
        operation, a, b, gain = move
        self.adjacency = move.applied(self.adjacency)
        self._refresh(b)
        if operation == "reverse":
            self._refresh(a)
        if operation == "add":
            self.paths |= np.outer(self.paths[:, a], self.paths[b])
        else:
            self.paths = reachable(self.adjacency)
        self.score = float(self.own.sum())
        names = self.rules.names
        self.steps.append(Step(operation, (names[a], names[b]), gain, self.score))

"""Hill climbing: add, delete or reverse the arc that raises the score most, until none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from colonnade.arrays import Seed
from colonnade.dag import Dag
from colonnade.exceptions import ConvergenceWarning, checked_whole, counted, inapplicable, warn
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.structure.columns import prepare, read_rows
from colonnade.structure.paths import Adjacency, Paths
from colonnade.structure.rules import Rules
from colonnade.structure.scores import (
    FamilyScores,
    GraphPrior,
    Score,
    checked_graph_prior,
    checked_score,
)
from colonnade.structure.steps import TIE_TOLERANCE, Gains, Move, Operation
from colonnade.tables.bounds import Allowed
from colonnade.tables.tabular import Tabular

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


def warn_of_interrupt(steps: int) -> None:
    """Say that what is returned is not the end of a search."""
    after = counted(steps, "step")
    statement = f"The search was interrupted after {after}: this is the best graph so far."
    warn(ConvergenceWarning(statement, "give it as `start` to go on from there"))


def interrupts_are_raised() -> bool:
    """Whether a keyboard interrupt is to end more than the search."""
    return _raising.get()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a search.

    Attributes
    ----------
    operation : str
        What was done.
    arc : pair of str
        The arc that it was done to.
    gain, score : float
        How much the score rose, and the score after the step.
    """

    operation: Operation
    arc: tuple[str, str]
    gain: float
    score: float


@dataclass(frozen=True, slots=True)
class Found(Tabular):
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

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "operation": [step.operation for step in self.trace],
            "from": [step.arc[0] for step in self.trace],
            "to": [step.arc[1] for step in self.trace],
            "gain": [step.gain for step in self.trace],
            "score": [step.score for step in self.trace],
        }

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
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
    tabu: int = 0,
    restarts: int = 0,
    rng: Seed = None,
    missing: Missing = "raise",
    memory: Allowed = None,
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
    tiers : iterable of iterables of str
        Variables in an order known from elsewhere, such as time: no arc goes from a later tier to
        an earlier one. A variable that no tier names may stand anywhere.
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
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

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
    >>> hill_climb(table, tiers=[["b"], ["a", "c"]]).dag.arcs
    (('b', 'a'),)
    """
    judge, prior = checked_score(score), checked_graph_prior(graph_prior)
    tabu = checked_whole(tabu, "tabu", 0, MAX_TABU)
    restarts = checked_whole(restarts, "restarts", 0, MAX_RESTARTS)
    if rng is not None and not restarts:
        generator(rng)
        raise inapplicable("rng", rng, "restarts > 0", "give restarts=10")
    rng = generator(rng)
    coded = read_rows(table, memory=memory)
    rules = Rules.of(coded.names, required, forbidden, max_parents, tiers)
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
                if climber.best_score > best_score + TIE_TOLERANCE or not attempt:
                    best, best_score, trace = climber.reached(trace)
        except KeyboardInterrupt:
            if interrupts_are_raised():
                raise
            status = "interrupted"
            if climber.best_score > best_score:
                best, best_score, trace = climber.reached(trace)
            elif best is first:
                best_score = _total(families, first)
            warn_of_interrupt(len(trace))
    return Found(rules.dag(best), best_score, tuple(trace), status)


def _total(families: FamilyScores, adjacency: Adjacency) -> float:
    """Score of a graph."""
    return sum(_own(families, adjacency, child) for child in range(len(adjacency)))


def _way(families: FamilyScores, begin: Adjacency, end: Adjacency, score: float) -> list[Step]:
    """Steps from one graph to another; deletions come first, so that none closes a cycle."""
    moves = [Move("delete", a, b, 0.0) for a, b in np.argwhere(begin & ~end).tolist()]
    moves += [Move("add", a, b, 0.0) for a, b in np.argwhere(end & ~begin).tolist()]
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


class _Climber:
    """The state of a search: a graph, the gain of every possible step, and the best graph."""

    def __init__(self, families: FamilyScores, rules: Rules, progress: Progress) -> None:
        self.families = families
        self.rules = rules
        self.progress = progress
        self.best_score = -np.inf

    def jump(self, adjacency: Adjacency, steps: Sequence[Step] = ()) -> None:
        """Continue from another graph, to which some steps have led."""
        children = np.arange(len(adjacency))
        self.paths = Paths(adjacency)
        self.arcs = int(adjacency.sum())
        self.gains = Gains(self.paths)
        self.own = np.zeros(children.size)
        for child in children.tolist():
            self._refresh(child)
            done = f"{child + 1:,} of {counted(children.size, 'column')}"
            self.progress.advance(text=f"Hill climbing: {done}")
        self.gains.update(children)
        self.score = float(self.own.sum())
        self.steps = list(steps)
        self._keep()

    def reached(self, before: list[Step]) -> tuple[Adjacency, float, list[Step]]:
        """The best graph, its score, and the steps to it after those before."""
        return self.best, self.best_score, before + self.steps[: self._steps_to_best]

    def _keep(self) -> None:
        """Take the present graph as the best one."""
        best = self.paths.adjacency.copy(), self.score, len(self.steps)
        # At once, so that an interrupt finds them together.
        self.best, self.best_score, self._steps_to_best = best

    def climb(self, tabu: int) -> None:
        """Step until nothing gains; with a tabu list until nothing better is found for a while."""
        visited: deque[bytes] = deque(maxlen=tabu)
        idle = 0
        while True:
            if tabu:
                visited.append(self.paths.adjacency.tobytes())
            move = self._best_step(visited)
            if move is None or (not tabu and move.gain <= TIE_TOLERANCE * (1.0 + abs(self.score))):
                return
            self._take(move)
            self.progress.advance(text=f"Hill climbing: {counted(self.arcs, 'arc')}")
            if self.score > self.best_score + TIE_TOLERANCE * (1.0 + abs(self.best_score)):
                self._keep()
                idle = 0
            else:
                idle += 1
                if idle >= tabu:
                    return

    def _refresh(self, child: int) -> None:
        """Gains of adding a parent to, or deleting one from, one child."""
        present = self.paths.adjacency[:, child]
        parents = tuple(np.flatnonzero(present).tolist())
        own = self.families.family(child, parents)
        self.own[child] = own
        adding, deleting = self.gains.adding[child], self.gains.deleting[child]
        adding[:] = -np.inf
        deleting[:] = -np.inf
        candidates = np.flatnonzero(self.rules.allowed[:, child] & ~present)
        if candidates.size and len(parents) < self.rules.limit:
            adding[candidates] = self.families.additions(child, parents, candidates) - own
        for parent in parents:
            if not self.rules.required[parent, child]:
                rest = tuple(p for p in parents if p != parent)
                deleting[parent] = self.families.family(child, rest) - own

    def _best_step(self, visited: Collection[bytes]) -> Move | None:
        return self.gains.best(visited)

    def _take(self, move: Move) -> None:
        operation, a, b, gain = move
        changed = [np.array([a, b])]
        if operation != "add":
            changed.append(self.paths.delete(a, b))
        if operation == "add":
            changed.append(self.paths.add(a, b))
        elif operation == "reverse":
            changed.append(self.paths.add(b, a))
        self.arcs += {"add": 1, "delete": -1, "reverse": 0}[operation]
        self._refresh(b)
        if operation == "reverse":
            self._refresh(a)
        self.gains.update(np.unique(np.concatenate(changed)))
        self.score = float(self.own.sum())
        names = self.rules.names
        self.steps.append(Step(operation, (names[a], names[b]), gain, self.score))

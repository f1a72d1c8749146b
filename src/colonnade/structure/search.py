"""Hill climbing over graphs: add, delete or reverse the arc that gains most, until none gains."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.dag import Dag
from colonnade.exceptions import expected
from colonnade.progress import Progress
from colonnade.structure.families import FamilyScores, prepare
from colonnade.structure.scores import Score, checked_score

__all__ = ["Found", "Step", "hill_climb"]

Operation = Literal["add", "delete", "reverse"]
_OPERATIONS: tuple[Operation, ...] = ("add", "delete", "reverse")
# Gains closer than this are ties: equivalent graphs differ by rounding only.
_TIE = 1e-9


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
        The way to it.
    status : {"converged", "interrupted"}
        ``"interrupted"`` if the search was stopped from the keyboard; the rest is the best so far.
    """

    dag: Dag
    score: float
    trace: tuple[Step, ...]
    status: Literal["converged", "interrupted"]

    def __repr__(self) -> str:
        return (
            f"Found({len(self.dag.arcs)} arcs, score={self.score:.6g}, {len(self.trace)} steps, "
            f"{self.status})"
        )


def hill_climb(
    table: Any,
    score: Score | None = None,
    *,
    start: Dag | None = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    max_parents: int | None = None,
    tabu: int = 0,
    restarts: int = 0,
    rng: np.random.Generator | int | None = None,
) -> Found:
    """Learn a graph by hill climbing.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes, without missing values.
    score : BIC, AIC, LogLikelihood or a prior, optional
        By default ``BIC()``. A prior scores by its log evidence.
    start : Dag, optional
        Where to begin; by default the graph of the required arcs.
    required, forbidden : iterables of (parent, child)
        Arcs that must or must not be there. A forbidden arc may be there the other way round.
    max_parents : int, optional
        Largest number of parents of a variable.
    tabu : int
        Length of the list of graphs not to come back to; with it the search goes on past a local
        optimum until so many steps brought nothing better.
    restarts : int
        How often to perturb the best graph at random and climb again.
    rng : Generator or int, optional
        For the restarts.

    Returns
    -------
    Found
        ``dag``, ``score``, ``trace`` and ``status``. A keyboard interrupt returns the best so far.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> found = hill_climb(table)
    >>> found.dag.arcs, found.status
    ((('a', 'b'),), 'converged')
    """
    families = FamilyScores(prepare(table), checked_score(score))
    for name, value, least in (("tabu", tabu, 0), ("restarts", restarts, 0)):
        _whole(value, name, least)
    limit = len(families.names) if max_parents is None else _whole(max_parents, "max_parents", 0)
    rules = _Rules(families.names, required, forbidden, limit)
    rng = np.random.default_rng(rng)
    climber = _Climber(families, rules, rules.starting(start))
    best, best_score = climber.adjacency.copy(), climber.score
    status: Literal["converged", "interrupted"] = "converged"
    trace: list[Step] = []
    try:
        with Progress("Hill climbing") as progress:
            for attempt in range(restarts + 1):
                if attempt:
                    climber.jump(rules.perturbed(best, rng))
                steps = climber.climb(tabu, progress)
                if climber.best_score > best_score + _TIE or not attempt:
                    best, best_score = climber.best, climber.best_score
                    trace = steps if not attempt else [*trace, *steps]
    except KeyboardInterrupt:
        status = "interrupted"
        if climber.best_score > best_score:
            best, best_score = climber.best, climber.best_score
        trace = [*trace, *climber.steps]
    return Found(rules.dag(best), best_score, tuple(trace), status)


class _Rules:
    """Which arcs may be there; graphs are adjacency matrices [parent, child]."""

    def __init__(self, names: tuple[str, ...], required: Any, forbidden: Any, limit: int) -> None:
        self.names = names
        self.limit = limit
        size = len(names)
        self.required = self._matrix(required, "required")
        self.allowed = ~self._matrix(forbidden, "forbidden")
        np.fill_diagonal(self.allowed, False)
        both = self.required & ~self.allowed
        if both.any():
            parent, child = (names[k] for k in np.argwhere(both)[0])
            raise expected("arcs that are not forbidden", "required", (parent, child))
        # a cycle among them is an error here, which names it
        Dag(tuple((names[a], names[b]) for a, b in np.argwhere(self.required)), names)
        crowded = np.flatnonzero(self.required.sum(axis=0) > limit)
        if crowded.size:
            most = int(self.required[:, crowded[0]].sum())
            raise expected(
                f"at least {most}, the required parents of {names[crowded[0]]!r},",
                "max_parents",
                limit,
            )
        self.size = size

    def _matrix(self, arcs: Any, parameter: str) -> NDArray[np.bool_]:
        position = {name: k for k, name in enumerate(self.names)}
        matrix = np.zeros((len(self.names), len(self.names)), bool)
        for arc in arcs:
            if not isinstance(arc, tuple | list) or len(arc) != 2 or isinstance(arc, str):
                raise expected("pairs (parent, child)", parameter, arc)
            for name in arc:
                if name not in position:
                    raise expected("arcs between columns of the table", parameter, tuple(arc))
            matrix[position[arc[0]], position[arc[1]]] = True
        return matrix

    def starting(self, start: Dag | None) -> NDArray[np.bool_]:
        """Adjacency of the starting graph, with the required arcs."""
        adjacency = self.required.copy()
        if start is not None:
            unknown = [name for name in start.variables if name not in self.names]
            if unknown:
                raise expected("a graph over columns of the table", "start", unknown[0])
            adjacency |= self._matrix(start.arcs, "start")
            if (adjacency & ~self.allowed).any():
                raise expected("a graph without forbidden arcs", "start", start)
            if (adjacency.sum(axis=0) > self.limit).any():
                raise expected(f"a graph with at most {self.limit} parents each", "start", start)
            self.dag(
                adjacency
            )  # with the required arcs it may have a cycle: then the error names it
        return adjacency

    def perturbed(
        self, adjacency: NDArray[np.bool_], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """A graph some random steps away that obeys the rules."""
        fresh = adjacency.copy()
        for _ in range(max(3, int(fresh.sum()) // 3)):
            a, b = rng.choice(self.size, size=2, replace=False)
            if fresh[a, b]:
                fresh[a, b] = bool(self.required[a, b])
            elif (
                self.allowed[a, b] and fresh[:, b].sum() < self.limit and not reachable(fresh)[b, a]
            ):
                fresh[a, b] = True
        return fresh

    def dag(self, adjacency: NDArray[np.bool_]) -> Dag:
        """The graph with names, arcs in the order of the columns of their children."""
        arcs = (
            (self.names[a], self.names[b])
            for b in range(len(self.names))
            for a in np.flatnonzero(adjacency[:, b])
        )
        return Dag(tuple(arcs), self.names)


def reachable(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether there is a path from one node to another, each node reaching itself."""
    paths = adjacency | np.eye(len(adjacency), dtype=bool)
    while True:
        longer = (paths.astype(np.float32) @ paths.astype(np.float32)) > 0
        if np.array_equal(longer, paths):
            return np.asarray(paths)
        paths = longer


class _Climber:
    """The state of a search: a graph, the gain of every possible step, and the best graph."""

    def __init__(self, families: FamilyScores, rules: _Rules, adjacency: NDArray[np.bool_]) -> None:
        self.families = families
        self.rules = rules
        self.jump(adjacency)

    def jump(self, adjacency: NDArray[np.bool_]) -> None:
        """Continue from another graph."""
        size = len(adjacency)
        self.adjacency = adjacency
        self.own = np.zeros(size)
        self.adding = np.full((size, size), -np.inf)
        self.deleting = np.full((size, size), -np.inf)
        for child in range(size):
            self._refresh(child)
        self.paths = reachable(adjacency)
        self.score = float(self.own.sum())
        self.best, self.best_score = adjacency.copy(), self.score
        self.steps: list[Step] = []

    def climb(self, tabu: int, progress: Progress) -> list[Step]:
        """Step until nothing gains; with a tabu list until nothing better comes for a while."""
        visited: deque[bytes] = deque([self.adjacency.tobytes()], maxlen=max(1, tabu))
        idle = 0
        while True:
            step = self._best_step(visited if tabu else None)
            if step is None or (not tabu and step[1] <= _TIE * (1.0 + abs(self.score))):
                break
            self._take(*step)
            visited.append(self.adjacency.tobytes())
            progress.advance(text=f"Hill climbing: {int(self.adjacency.sum())} arcs")
            if self.score > self.best_score + _TIE * (1.0 + abs(self.best_score)):
                self.best, self.best_score, idle = self.adjacency.copy(), self.score, 0
            else:
                idle += 1
                if idle >= tabu:
                    break
        return self.steps

    def _refresh(self, child: int) -> None:
        """Gains of adding a parent to, or deleting one from, one child."""
        parents = tuple(np.flatnonzero(self.adjacency[:, child]).tolist())
        own = self.families.family(child, parents)
        self.own[child] = own
        self.adding[:, child] = -np.inf
        self.deleting[:, child] = -np.inf
        # An arc that is there may be reversed: then its child becomes the parent, so candidates
        # that would close a cycle now are scored too.
        others = self.rules.allowed[:, child] & ~self.adjacency[:, child]
        candidates = np.flatnonzero(others).tolist()
        if candidates and len(parents) < self.rules.limit:
            self.adding[candidates, child] = (
                self.families.additions(child, parents, candidates) - own
            )
        for parent in parents:
            if not self.rules.required[parent, child]:
                rest = tuple(p for p in parents if p != parent)
                self.deleting[parent, child] = self.families.family(child, rest) - own

    def _gains(self) -> NDArray[np.float64]:
        """Gain of every step, ``[operation, parent, child]``; impossible ones minus infinity."""
        add = np.where(self.paths.T, -np.inf, self.adding)
        reverse = np.where(self.adjacency, self.deleting + self.adding.T, -np.inf)
        for a, b in np.argwhere(np.isfinite(reverse)):
            # another way from a to b would close a cycle with b -> a
            siblings = self.adjacency[:, b].copy()
            siblings[a] = False
            if (self.paths[a] & siblings).any():
                reverse[a, b] = -np.inf
        return np.stack([add, self.deleting, reverse])

    def _best_step(self, visited: deque[bytes] | None) -> tuple[tuple[int, int, int], float] | None:
        gains = self._gains()
        while True:
            top = float(gains.max()) if gains.size else -np.inf
            if not np.isfinite(top):
                return None
            # ties go to the first operation and the first columns
            where = int(np.argmax(gains >= top - _TIE * (1.0 + abs(top))))
            index = tuple(int(k) for k in np.unravel_index(where, gains.shape))
            if visited is None or self._after(index).tobytes() not in visited:
                return index, float(gains[index])  # type: ignore[return-value]
            gains[index] = -np.inf

    def _after(self, step: tuple[int, ...]) -> NDArray[np.bool_]:
        operation, a, b = step
        fresh = self.adjacency.copy()
        fresh[a, b] = operation == 0
        if operation == 2:
            fresh[b, a] = True
        return fresh

    def _take(self, step: tuple[int, int, int], gain: float) -> None:
        operation, a, b = step
        self.adjacency = self._after(step)
        self._refresh(b)
        if operation == 2:
            self._refresh(a)
        if operation == 0:
            self.paths |= np.outer(self.paths[:, a], self.paths[b])
        else:
            self.paths = reachable(self.adjacency)
        self.score = float(self.own.sum())
        names = self.rules.names
        self.steps.append(Step(_OPERATIONS[operation], (names[a], names[b]), gain, self.score))


def _whole(value: Any, parameter: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise expected(f"a whole number of at least {least}", parameter, value)
    return int(value)

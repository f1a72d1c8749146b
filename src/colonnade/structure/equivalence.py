"""Greedy equivalence search: the best insertion, then the best deletion, among classes of graphs.

A class holds all graphs with the same independences, which no data can tell apart. Hill climbing
sees one graph of a class at a time and stops where no single arc gains; this search sees all of
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from colonnade.dag import Dag, MixedGraph
from colonnade.exceptions import counted
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.structure.columns import prepare, read_rows
from colonnade.structure.mixed import Mixed, bits, named, named_dag
from colonnade.structure.operators import Deletions, Insertions, Operator, Operators, turns
from colonnade.structure.rules import Rules
from colonnade.structure.scores import (
    FamilyScores,
    GraphPrior,
    Score,
    checked_graph_prior,
    checked_score,
)
from colonnade.structure.search import Found, Step, interrupts_are_raised, warn_of_interrupt
from colonnade.structure.steps import TIE_TOLERANCE, Operation
from colonnade.tables.bounds import Allowed


@dataclass(frozen=True, slots=True, repr=False)
class FoundClass(Found):
    """What a search over classes of equivalent graphs found.

    Attributes
    ----------
    pdag : MixedGraph
        The class: its arcs are in all graphs that have the same independences and obey the rules;
        its edges have either direction. ``dag`` is one of these graphs.
    """

    pdag: MixedGraph

    def __repr__(self) -> str:
        open_ones = f"{len(self.pdag.edges):,} of them undirected"
        return (
            f"FoundClass({counted(len(self.dag.arcs), 'arc')}, {open_ones}, "
            f"score={self.score:.6g}, {counted(len(self.trace), 'step')}, {self.status})"
        )


def ges(
    table: Any,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    start: Dag | None = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> FoundClass:
    """Learn a class of equivalent graphs by greedy equivalence search (Chickering 2002).

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    score : BIC, AIC, LogLikelihood or a prior, optional
        By default ``BIC()``. These three and ``BDeu`` score all graphs of a class equally, which
        the search relies on. With any other score the gain of a step is that of one graph of the
        class, and in the end covered arcs are reversed while that raises the score.
    graph_prior : "sizes", optional
        As for :func:`hill_climb`.
    start : Dag, optional
        Begin with its class, for example that of a graph found by :func:`hill_climb`; by default
        with that of the required arcs.
    required, forbidden : iterables of (parent, child)
    tiers : iterables of iterables of str
        As for :func:`hill_climb`. The search goes through the classes that have a graph which
        obeys all of them.
    max_parents : int, optional
        Largest number of parents of a variable; it is the same in all graphs of a class.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Returns
    -------
    FoundClass
        As :func:`hill_climb` returns, and the class itself as ``pdag``. The trace says between
        which variables each step added, deleted or turned an arc.

    Notes
    -----
    Insertions are made until none gains, then deletions until none gains; then the arc is turned
    that gains most by it (Hauser and Bühlmann 2012), and all begins again until nothing gains.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> found = ges(table)
    >>> found.pdag
    MixedGraph(arcs=[], edges=[('a', 'b')], variables=['a', 'b', 'c'])
    >>> found.dag.arcs
    (('a', 'b'),)
    >>> ges(table, tiers=[["b"], ["a"]]).pdag.arcs
    (('b', 'a'),)
    """
    judge, prior = checked_score(score), checked_graph_prior(graph_prior)
    coded = read_rows(table, memory=memory)
    rules = Rules.of(coded.names, required, forbidden, max_parents, tiers)
    first = Mixed.of(rules.starting(start))
    with Progress("Equivalence search") as progress:
        families = FamilyScores(prepare(coded, missing), judge, prior)
        walk = _Walk(families, rules, first, progress)
        status: Literal["converged", "interrupted"] = "converged"
        try:
            walk.run()
        except KeyboardInterrupt:
            if interrupts_are_raised():
                raise
            status = "interrupted"
            warn_of_interrupt(len(walk.best.trace))
        best = walk.best
    pdag = named(best.kept, rules.names)
    return FoundClass(named_dag(best.member, rules.names), best.score, best.trace, status, pdag)


@dataclass(frozen=True, slots=True)
class _Place:
    """A class, what the rules leave of it, one graph in it with its score, and the way to it."""

    graph: Mixed
    kept: Mixed
    member: Mixed
    score: float
    trace: tuple[Step, ...]


class _Walk:
    """The state of a search: a class of graphs, and the operators that gain of every child."""

    def __init__(
        self, families: FamilyScores, rules: Rules, first: Mixed, progress: Progress
    ) -> None:
        self.families, self.rules, self.progress = families, rules, progress
        graph = first.essential()
        kept = rules.admitted(graph)
        assert kept is not None, "the starting graph obeys the rules"
        self.best = self.now = _Place(graph, kept, first, self._score(first), ())
        self._gaining: list[list[Operator]] = []

    def run(self) -> None:
        """Insert and delete until nothing gains, then turn one arc, and begin again."""
        insertions = Insertions(self.families, self.rules)
        deletions = Deletions(self.families, self.rules)
        gained = True
        while gained:
            before = self.now.score
            self._exhaust(insertions)
            self._exhaust(deletions)
            # A score that tells equivalent graphs apart need not rise with every step.
            gained = self.now.score > before + TIE_TOLERANCE * (1.0 + abs(before))
            gained = gained or self._turn(insertions, deletions)
        if not self.families.score.score_equivalent:
            self.best = self._turned(self.best)

    def _turn(self, insertions: Insertions, deletions: Deletions) -> bool:
        """Take the best turn of an arc, if there is one after which the score is the best."""
        least = TIE_TOLERANCE * (1.0 + abs(self.now.score))
        self.progress.advance(text="Equivalence search: turning arcs")
        found = sorted(turns(self.now.graph, insertions, deletions, least), key=lambda t: -t.gain)
        for turn in found:
            after = self._place("reverse", turn[:3], turn.after)
            if after is not None and after.score > self.best.score + least:
                self.best = self.now = after
                return True
        return False

    def _exhaust(self, operators: Operators) -> None:
        """Take the best step of one kind until none gains."""
        self._gaining = [self._of(operators, child) for child in range(len(self.rules.names))]
        while (step := self._best_step(operators)) is not None:
            before, (operator, after) = self.now.graph, step
            self.now = after
            # A score that tells equivalent graphs apart need not rise with every step.
            if after.score > self.best.score:
                self.best = after
            for child in self._affected(before, after.graph, operator):
                self._gaining[child] = self._of(operators, child)

    def _of(self, operators: Operators, child: int) -> list[Operator]:
        least = TIE_TOLERANCE * (1.0 + abs(self.now.score))
        found = [each for each in operators.of(self.now.graph, child) if each.gain > least]
        arcs = sum(map(int.bit_count, self.now.member.parents))
        self.progress.advance(text=f"Equivalence search: {counted(arcs, 'arc')}")
        return found

    def _best_step(self, operators: Operators) -> tuple[Operator, _Place] | None:
        """The valid operator that gains most, ties to the first parent and child."""
        waiting = sorted((each for some in self._gaining for each in some), reverse=True)
        while waiting:
            least = waiting[0].gain - TIE_TOLERANCE * (1.0 + abs(waiting[0].gain))
            size = next((k for k, each in enumerate(waiting) if each.gain < least), len(waiting))
            for operator in sorted(waiting[:size], key=lambda each: each[1:]):
                if operators.is_valid(self.now.graph, operator):
                    after = self._after(operators, operator)
                    if after is not None:
                        return operator, after
            del waiting[:size]
        return None

    def _after(self, operators: Operators, operator: Operator) -> _Place | None:
        """Where an operator leads; None if no graph of that class obeys the rules."""
        changed = operators.applied(self.now.graph, operator)
        return self._place(operators.operation, operator[:3], changed)

    def _place(
        self, operation: Operation, step: tuple[float, int, int], changed: Mixed
    ) -> _Place | None:
        """The class of a graph after a step: its gain, and the parent and the child."""
        member = changed.extension()
        if member is None:
            return None
        graph = member.essential()
        kept = self.rules.admitted(graph)
        if kept is None:
            return None
        member = kept.extension()
        assert member is not None
        names, score = self.rules.names, self._score(member)
        gain, parent, child = step
        taken = Step(operation, (names[parent], names[child]), gain, score)
        return _Place(graph, kept, member, score, (*self.now.trace, taken))

    @staticmethod
    def _affected(before: Mixed, after: Mixed, operator: Operator) -> list[int]:
        """Children whose operators may have changed."""
        ends = 1 << operator.parent | 1 << operator.child
        return [
            k
            for k in range(len(after))
            if before.parents[k] != after.parents[k]
            or before.neighbours[k] != after.neighbours[k]
            or before.children[k] != after.children[k]
            or after.neighbours[k] & ends
        ]

    def _score(self, member: Mixed) -> float:
        return float(
            sum(
                self.families.family(child, tuple(bits(parents)))
                for child, parents in enumerate(member.parents)
            )
        )

    def _turned(self, place: _Place) -> _Place:
        """Reverse covered arcs while that gains: the graph stays in its class."""
        member, trace, score = place.member.copy(), list(place.trace), place.score
        names = self.rules.names
        while True:
            gains = [(self._turning_gain(member, a, b), a, b) for a, b in member.arcs()]
            gain, a, b = max(gains, key=lambda each: each[0], default=(0.0, 0, 0))
            if gain <= TIE_TOLERANCE * (1.0 + abs(score)):
                break
            member.release(a, b)
            member.direct(b, a)
            score = self._score(member)
            trace.append(Step("reverse", (names[a], names[b]), gain, score))
        return _Place(place.graph, place.kept, member, score, tuple(trace))

    def _turning_gain(self, member: Mixed, a: int, b: int) -> float:
        """Gain of reversing an arc; minus infinity if the rules or its class forbid it."""
        common = member.parents[a]
        covered = member.parents[b] == common | 1 << a
        if not covered or not self.rules.allowed[b, a] or self.rules.required[a, b]:
            return -np.inf
        family, parents = self.families.family, tuple(bits(common))
        before = family(a, parents) + family(b, (*parents, a))
        return family(a, (*parents, b)) + family(b, parents) - before

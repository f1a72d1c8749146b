"""PC: a partially directed graph from tests of independence (Spirtes and others; stable variant).

Edges between independent variables are deleted level by level, as in Colombo and Maathuis (2014):
the result does not depend on the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from colonnade.dag import Dag, MixedGraph
from colonnade.exceptions import (
    Advice,
    ColonnadeWarning,
    checked_fraction,
    checked_whole,
    counted,
    expected,
    is_word,
    warn,
)
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.structure.columns import prepare, read_rows
from colonnade.structure.independence import IndependenceTest, checked_test, tested
from colonnade.structure.mixed import Mixed, bits, named
from colonnade.structure.paths import Adjacency, Paths
from colonnade.structure.rules import Rules
from colonnade.tables.bounds import Allowed
from colonnade.tables.tabular import Tabular

Orientation: TypeAlias = Literal["majority", "conservative"]
Given: TypeAlias = tuple[int, ...]
Triple: TypeAlias = tuple[int, int, int]  # the ends, and between them the middle


@dataclass(frozen=True, slots=True, repr=False)
class FoundByTests(Tabular):
    """What :func:`pc` found.

    Attributes
    ----------
    dag : Dag
        One graph with the adjacencies and, where there is such a graph, the arcs of ``pdag``.
    pdag : MixedGraph
        The partially directed graph that the tests and the rules give.
    separated : dict of (str, str) to tuple of str
        For each pair that a test found independent, the variables given which it is.
    undecided : tuple of (str, str, str)
        Triples whose tests contradict each other, the middle in the middle: whether arcs meet
        there was left open.
    tests : int
        Number of different tests.
    """

    dag: Dag
    pdag: MixedGraph
    separated: Mapping[tuple[str, str], tuple[str, ...]]
    undecided: tuple[tuple[str, str, str], ...]
    tests: int

    def _columns(self) -> dict[str, list[Any]]:
        return self.pdag._columns()

    def __repr__(self) -> str:
        return (
            f"FoundByTests({counted(len(self.dag.arcs), 'arc')}, "
            f"{len(self.pdag.edges):,} of them undirected, {counted(self.tests, 'test')})"
        )


def pc(
    table: Any,
    test: IndependenceTest = "mi",
    alpha: float = 0.05,
    *,
    orientation: Orientation = "majority",
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Iterable[Iterable[str]] = (),
    max_given: int | None = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> FoundByTests:
    """Learn a partially directed graph from tests of independence.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    test : {"mi", "g2"}
        See :func:`structure.independence`. Given many variables ``"g2"`` has little power, and
        deletes arcs that ``"mi"`` keeps.
    alpha : float
        Two variables count as independent if the p-value is larger.
    orientation : {"majority", "conservative"}
        When two arcs meet in the middle of a triple whose ends are not adjacent: if the middle is
        in fewer than half of the sets that separate the ends, or in none of them. It is taken for
        no meeting if the middle is in more than half, or in all. What is left is undecided, and
        nothing is concluded from it.
    required, forbidden : iterables of (parent, child)
    tiers : iterable of iterables of str
        As for :func:`hill_climb`. They come before what tests say about directions, and a required
        arc is never tested.
    max_given : int, optional
        Largest number of variables that a test is given.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Returns
    -------
    FoundByTests
        ``pdag``, one ``dag`` of it, and what was found independent.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random(1000) < 0.5, rng.random(1000) < 0.5
    >>> c = rng.random(1000) < 0.1 + 0.4 * a + 0.4 * b
    >>> pc({"a": a, "b": b, "c": c}).pdag
    MixedGraph(arcs=[('a', 'c'), ('b', 'c')], edges=[], variables=['a', 'b', 'c'])
    """
    checked_test(test)
    alpha = checked_fraction(alpha, "alpha", "write 0.05 for 5 %")
    if not is_word(orientation, "majority", "conservative"):
        raise expected("'majority' or 'conservative'", "orientation", orientation)
    if max_given is not None:
        max_given = checked_whole(max_given, "max_given", least=0)
    coded = read_rows(table, memory=memory)
    rules = Rules.of(coded.names, required, forbidden, None, tiers)
    with Progress("PC") as progress:
        columns = prepare(coded, missing)
        known: dict[tuple[int, int, Given], bool] = {}

        def independent(x: int, y: int, given: Given) -> bool:
            key = min(x, y), max(x, y), given
            if key not in known:
                known[key] = tested(columns, *key, test).p_value > alpha
                progress.advance(text=f"PC: {counted(len(known), 'test')}")
            return known[key]

        search = ConstraintSearch(rules, independent, orientation, max_given)
        graph = search.run()
    names = rules.names
    pdag = named(graph, names)
    separated = {
        (names[a], names[b]): tuple(names[k] for k in given)
        for (a, b), given in sorted(search.separated.items())
    }
    undecided = tuple((names[a], names[m], names[b]) for a, m, b in sorted(search.undecided))
    return FoundByTests(rules.dag(_member(graph, rules)), pdag, separated, undecided, len(known))


@dataclass
class ConstraintSearch:
    """The search itself, for any answer to whether two variables are independent given others."""

    rules: Rules
    independent: Callable[[int, int, Given], bool]
    orientation: Orientation
    max_given: int | None
    separated: dict[tuple[int, int], Given] = field(default_factory=dict)
    undecided: set[Triple] = field(default_factory=set)

    def run(self) -> Mixed:
        """The partially directed graph."""
        graph = self._skeleton()
        colliders = self._colliders(graph)
        for arc in self._by_rule(graph):
            _directed(graph, *arc)
        wanted = {(a, m) for a, m, b in colliders} | {(b, m) for a, m, b in colliders}
        for a, b in sorted(wanted):
            # Arcs that tests want both ways are left open; a rule has gone before.
            if (b, a) not in wanted:
                _directed(graph, a, b)
        graph.close(self.undecided | {(b, m, a) for a, m, b in self.undecided})
        return graph

    def _skeleton(self) -> Mixed:
        """Delete edges level by level; within a level all tests see the same graph."""
        size, rules = len(self.rules.names), self.rules
        graph = Mixed(size)
        for a, b in combinations(range(size), 2):
            if rules.allowed[a, b] or rules.allowed[b, a]:
                graph.connect(a, b)
        level = 0
        while self.max_given is None or level <= self.max_given:
            around = graph.neighbours[:]
            if all(some.bit_count() <= level for some in around):
                break
            for a, b in list(graph.edges()):
                if not (rules.required[a, b] or rules.required[b, a]):
                    self._separate(graph, a, b, _subsets(around, a, b, level))
            level += 1
        return graph

    def _separate(self, graph: Mixed, a: int, b: int, sets: Iterable[Given]) -> None:
        for given in sets:
            if self.independent(a, b, given):
                self.separated[a, b] = given
                graph.disconnect(a, b)
                return

    def _colliders(self, graph: Mixed) -> list[Triple]:
        """Triples in whose middle arcs meet; those that cannot be told become undecided."""
        found, around = [], graph.neighbours
        for middle in range(len(graph)):
            for a, b in combinations(bits(around[middle]), 2):
                if around[a] >> b & 1:
                    continue
                sets = self._separating(around, a, b)
                share = sum(middle in given for given in sets) / len(sets) if sets else 0.5
                most, least = (0.5, 0.5) if self.orientation == "majority" else (0.0, 1.0)
                if share < most or share == most == 0.0:
                    found.append((a, middle, b))
                elif not (share > least or share == least == 1.0):
                    self.undecided.add((a, middle, b))
        return found

    def _separating(self, around: list[int], a: int, b: int) -> set[Given]:
        """All sets of neighbours of either end that separate the two, and what did at first."""
        most = max(around[a].bit_count(), around[b].bit_count())
        most = most if self.max_given is None else min(most, self.max_given)
        found = {
            given
            for level in range(most + 1)
            for given in _subsets(around, a, b, level)
            if self.independent(a, b, given)
        }
        first = self.separated.get((a, b))
        return found if first is None else found | {first}

    def _by_rule(self, graph: Mixed) -> Iterator[tuple[int, int]]:
        """Arcs whose direction the rules decide."""
        for a, b in list(graph.edges()):
            for one, other in ((a, b), (b, a)):
                if self.rules.required[one, other] or not self.rules.allowed[other, one]:
                    yield one, other
                    break


def _subsets(around: list[int], a: int, b: int, level: int) -> Iterator[Given]:
    """Sets of so many neighbours of either variable, each set once."""
    ends = 1 << a | 1 << b
    first = tuple(bits(around[a] & ~ends))
    yield from combinations(first, level)
    for given in combinations(bits(around[b] & ~ends), level):
        if not set(given) <= set(first):
            yield given


def _directed(graph: Mixed, a: int, b: int) -> None:
    """Direct an edge unless that closes a cycle of arcs."""
    if graph.neighbours[a] >> b & 1 and not graph.reaches(b, a):
        graph.direct(a, b)


def _member(graph: Mixed, rules: Rules) -> Adjacency:
    """A graph without edges, ``[parent, child]``: an extension, or else as near as possible."""
    allowed = rules.allowed & ~rules.required.T
    found = graph.extension()
    if found is not None and not (found.matrix() & ~allowed).any():
        return found.matrix()
    paths, turned = Paths(np.zeros((len(graph), len(graph)), bool)), 0
    # What rules decide comes first, then arcs, then edges in the order of the columns.
    pairs = [*graph.arcs(), *graph.edges()]
    pairs.sort(key=lambda pair: bool(allowed[pair] and allowed[pair[::-1]]))
    for a, b in pairs:
        ways = [way for way in ((a, b), (b, a)) if allowed[way]]
        free = [(one, other) for one, other in ways if not paths.reach[other, one]]
        if free:
            paths.add(*free[0])
        turned += not free or (free[0] != (a, b) and graph.children[a] >> b & 1)
    changed = f" ({counted(turned, 'arc')} turned or left out)" if turned else ""
    statement = (
        "The directions that the tests found fit no graph without cycles and other colliders; the "
        f"graph that was made of them has some of its own{changed}."
    )
    warn(ColonnadeWarning(statement, Advice.SEARCH_BY_SCORES))
    return paths.adjacency

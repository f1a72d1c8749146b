"""Resampling: how often an arc is found in tables of some of the rows, and in which direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from colonnade.arrays import Array, Floats, Integers, Seed
from colonnade.dag import Dag
from colonnade.exceptions import checked_whole, counted, expected, listing
from colonnade.missing.treatment import Missing
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.structure.columns import prepare
from colonnade.structure.constraints import FoundByTests
from colonnade.structure.mixed import Mixed
from colonnade.structure.rules import Rules
from colonnade.structure.search import Found, to_the_end
from colonnade.structure.shares import TIE_TOLERANCE, ArcShares
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import bounded, gathered

Learner = Callable[[Any], Dag | Found | FoundByTests]
_MAX_RESAMPLES = 10**6
Resampling: TypeAlias = Literal["halves", "bootstrap"]

# NumPy draws half of fewer weights than this exactly; of more, each is drawn with probability 1/2.
_MAX_EXACT_TOTAL = 10**9


@dataclass(frozen=True, eq=False)
class ArcStrengths(ArcShares):
    """How often arcs were found in resampled tables.

    Attributes
    ----------
    names : tuple of str
    directed : array [parent, child]
        Share of the resamples with this arc in this direction. A direction that neither the data
        nor the rules can tell (the reversed arc is in an equivalent graph that the rules allow)
        counts half each way.
    resamples : int
    """

    resamples: int

    @property
    def threshold(self) -> float:
        """The strength that a significant arc exceeds (Scutari and Nagarajan 2013).

        Without any doubt all strengths would be zeros and ones: a distribution function that is
        constant between. Of these functions take the one nearest to that of the observed strengths,
        and of several equally near ones the one with the fewest arcs; the threshold is the quantile
        at its height.
        """
        values = np.sort(self.strength[np.triu_indices(len(self.names), 1)])
        if not values.size:
            return 0.5
        steps = np.unique(np.concatenate([[0.0], values, [1.0]]))
        levels = np.searchsorted(values, steps[:-1], side="right") / values.size
        widths = np.diff(steps)

        def distance(height: float) -> float:
            return float(np.sum(widths * np.abs(levels - height)))

        heights = np.unique(np.concatenate([[0.0], levels]))
        distances = np.array([distance(height) for height in heights])
        height = heights[distances <= distances.min() + TIE_TOLERANCE].max()
        return float(np.quantile(values, height, method="inverted_cdf")) if height > 0 else 0.0

    def __repr__(self) -> str:
        significant = int(self._significant(self.threshold).sum())
        return (
            f"ArcStrengths({counted(len(self.names), 'variable')}, "
            f"{counted(self.resamples, 'resample')}, "
            f"{counted(significant, 'arc')} above {self.threshold:.2f})"
        )


def arc_strength(
    table: Any,
    learner: Learner,
    resamples: int = 200,
    rng: Seed = None,
    *,
    resampling: Resampling = "halves",
    required: Iterable[Any] = (),
    forbidden: Iterable[Any] = (),
    tiers: Iterable[Any] = (),
    missing: Missing = "raise",
    memory: Allowed = None,
) -> ArcStrengths:
    """Learn a graph from many tables of rows drawn from this one, and count the arcs.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    learner : callable
        Takes a table and returns a Dag or what :func:`hill_climb` returns; give options by
        ``functools.partial`` or a lambda.
    resamples : int
        Number of tables.
    rng : Generator or int, optional
    resampling : {"halves", "bootstrap"}
        What a table is: half of the rows, drawn without replacement, or as many rows as there are,
        drawn with replacement. Rows that a bootstrap draws twice look like dependence, and all the
        more to scores that find weak arcs (Friedman and others 1999, Steck and Jaakkola 2003): it
        finds arcs in noise. Halves do not, but have fewer rows to find weak arcs with. Weights
        that are whole numbers are as many rows.
    required, forbidden, tiers : optional
        What the learner obeys, as for :func:`hill_climb`: directions that follow from it count as
        they were found. For a learner that puts a class above everything, such as :func:`tan`,
        these are ``forbidden=[(feature, "class"), ...]``.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`; the learner gets tables without gaps.
    memory : int or str, optional
        Bytes that files and lazy tables may take here, and each of the resampled tables. As for
        :func:`colonnade.scan`. If eight bytes a row are more, rows are drawn block by block, and
        others with the same `rng`.

    Returns
    -------
    ArcStrengths

    Notes
    -----
    An arc is counted in the direction found, or half each way where the reversed arc is in an
    equivalent graph that the rules allow.

    Examples
    --------
    >>> from colonnade.structure import chow_liu
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}
    >>> strengths = arc_strength(table, chow_liu, resamples=20, rng=0)
    >>> float(strengths.strength[0, 1])
    1.0
    """
    checked_whole(resamples, "resamples", most=_MAX_RESAMPLES)
    if not callable(learner):
        raise expected("a function of a table", "learner", learner, "for example hill_climb")
    if not isinstance(resampling, str) or resampling not in ("halves", "bootstrap"):
        raise expected("'halves' or 'bootstrap'", "resampling", resampling)
    rng = generator(rng)
    with Progress("Resampling", total=resamples) as progress:
        coded = gathered(prepare(bounded(table, memory), missing).table)
        rules = Rules.of(coded.names, required, forbidden, None, tiers)
        directed = np.zeros((len(coded.names), len(coded.names)))
        for _ in range(resamples):
            directed += _shares(learned(learner, _resampled(coded, resampling, rng)), rules)
            progress.advance()
    return ArcStrengths(coded.names, directed / resamples, resamples)


def _shares(dag: Dag, rules: Rules) -> Floats:
    """How much of each direction a graph has, ``[parent, child]``: all of it, half or nothing."""
    position = {name: k for k, name in enumerate(rules.names)}
    adjacency = np.zeros(rules.allowed.shape, dtype=bool)
    for a, b in dag.arcs:
        adjacency[position[a], position[b]] = True
    found = rules.admitted(Mixed.of(adjacency).essential())
    if found is None or (adjacency & ~rules.allowed).any():
        hint = "give the learner the same required, forbidden and tiers"
        raise expected("a function whose graphs obey the rules", "learner", dag, hint)
    either = found.matrix()
    return np.asarray(np.where(either & either.T, 0.5, either.astype(np.float64)))


def _resampled(coded: CodedTable, how: Resampling, rng: np.random.Generator) -> CodedTable:
    """Half of the rows without replacement, at least one, or as many rows with replacement."""
    weights = coded.weights
    whole = weights is not None and weights.dtype.kind == "i" and weights.sum() > 0
    if weights is None or not whole:
        if coded.memory is not None and 8 * coded.rows > coded.memory.size:
            return _drawn_in_blocks(coded, how, rng)
        if how == "bootstrap":
            return _taken(coded, rng.integers(coded.rows, size=coded.rows))
        return _taken(coded, rng.permutation(coded.rows)[: max(1, coded.rows // 2)])
    total = int(weights.sum())
    if how == "bootstrap":
        times = rng.multinomial(total, weights / total)
    elif total < _MAX_EXACT_TOTAL:
        times = rng.multivariate_hypergeometric(weights, max(1, total // 2), method="marginals")
    else:
        times = rng.binomial(weights, 0.5)
    kept = np.flatnonzero(times)
    return replace(coded.take(kept), weights=times[kept])


def _taken(coded: CodedTable, rows: Integers) -> CodedTable:
    """Take rows, in any order, within the memory that a table has."""
    if coded.memory is None:
        return coded.take(rows)
    rows = np.sort(rows)

    def choose(low: int, high: int) -> Array:
        begin, end = np.searchsorted(rows, (low, high))
        return rows[begin:end] - low

    return coded.take_in_blocks(choose)


def _drawn_in_blocks(coded: CodedTable, how: Resampling, rng: np.random.Generator) -> CodedTable:
    """The same without numbers of all rows: first how many rows each block has, then which."""
    left, rows = coded.rows, coded.rows if how == "bootstrap" else max(1, coded.rows // 2)

    def choose(low: int, high: int) -> Array:
        nonlocal left, rows
        size = high - low
        if how == "bootstrap":
            own = rng.binomial(rows, size / left)
            chosen = rng.integers(size, size=own)
        else:
            exact = left < _MAX_EXACT_TOTAL
            own = rng.hypergeometric(size, left - size, rows) if exact else size * rows // left
            chosen = rng.permutation(size)[:own]
        left, rows = left - size, rows - int(own)
        return chosen

    return coded.take_in_blocks(choose)


def learned(learner: Learner | Dag, coded: CodedTable, parameter: str = "learner") -> Dag:
    """The graph that a learner finds; a graph stands for itself."""
    with to_the_end():
        found = learner if isinstance(learner, Dag) else learner(coded)
    dag = found.dag if isinstance(found, Found | FoundByTests) else found
    if not isinstance(dag, Dag):
        raise expected("a function that returns a Dag", parameter, found)
    strange = [name for name in dag.variables if name not in coded.names]
    if strange:
        what = f"a graph of {listing(coded.names)}, the columns of the table,"
        raise expected(what, parameter, dag, got=f"{listing(strange)} as well")
    return dag

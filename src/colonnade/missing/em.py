"""EM: expected counts from rows that lack values, under any prior.

Each round has two steps. *Expect*: with the tables as they are, every row counts in all the ways it
can be completed, each with its probability. *Maximise*: new tables from these counts. What never
falls is the penalised log likelihood of what was observed,

    sum over rows of log p(observed values | theta) + sum over tables of the penalty of the prior

(see :mod:`colonnade.missing.penalty` and docs/em.md). The first part is bounded from below by one
that touches it at the present tables and depends on the tables only through
sum n_yx log(theta_yx), n being the expected counts; the second step raises this bound and the
penalty together.

The counts of the last round then have their posterior under the prior, as any counts have.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import ConvergenceWarning, TooLargeError, expected
from colonnade.missing.gaps import Gap, Members, distinct, find_gaps
from colonnade.missing.penalty import Penalty
from colonnade.priors import MaximumLikelihood, Prior, SymmetricDirichlet
from colonnade.progress import Progress
from colonnade.variables import Family

if TYPE_CHECKING:
    from colonnade.tables.coded import CodedTable

__all__ = ["EM", "EmDiagnostics", "expected_counts"]

Floats = NDArray[np.float64]

# Cells of all completions of all cases together, kept from round to round.
_LIMIT = 50_000_000


@dataclass(frozen=True, slots=True)
class EM:
    """How to fill in missing values: ``fit(..., missing=EM())``, or ``missing="em"`` for short.

    Parameters
    ----------
    tolerance : float
        The iteration ends when the objective rises by less than this for each row.
    iterations : int
        Largest number of rounds.

    Examples
    --------
    >>> from colonnade.network import fit
    >>> table = {"a": [0, 0, 1, 1, None], "b": [0, 0, 1, None, 1]}
    >>> net = fit(table, Dag([("a", "b")]), missing=EM(tolerance=1e-10))
    >>> net.diagnostics.converged
    True
    >>> net["a"].counts.total
    5.0
    """

    tolerance: float = 1e-8
    iterations: int = 1000

    def __post_init__(self) -> None:
        number = isinstance(self.tolerance, int | float) and not isinstance(self.tolerance, bool)
        if not number or not 0.0 < self.tolerance < 1.0:
            raise expected("a number between 0 and 1", "tolerance", self.tolerance)
        whole = isinstance(self.iterations, int) and not isinstance(self.iterations, bool)
        if not whole or self.iterations < 1:
            raise expected("an integer of at least 1", "iterations", self.iterations)


@dataclass(frozen=True, slots=True)
class EmDiagnostics:
    """How the iteration went.

    Attributes
    ----------
    converged : bool
    iterations : int
        Number of rounds; 0 if no missing value has any influence.
    objective : tuple of float
        The penalised log likelihood of the tables that each round began with. It never falls.
    rise : float
        Of the objective, in the last round.
    rows : int
        Rows that lack values.
    cases : int
        Different situations that had to be handled in each round.
    """

    converged: bool
    iterations: int
    objective: tuple[float, ...]
    rise: float
    rows: int
    cases: int


def expected_counts(
    coded: CodedTable,
    dag: Dag,
    families: Sequence[Family],
    priors: Sequence[Prior],
    settings: EM | None = None,
) -> tuple[list[FamilyCounts], EmDiagnostics]:
    """Count families in a table that lacks values.

    Parameters
    ----------
    coded : CodedTable
        Its columns are the variables of the graph, in order.
    dag : Dag
    families : sequence of Family
        Of the graph, in the order of its variables.
    priors : sequence of Prior
        One for each family.
    settings : EM, optional

    Returns
    -------
    list of FamilyCounts
        Expected, thus fractional. A missing value that nothing observed depends on is not counted:
        it carries no information.
    EmDiagnostics

    Warns
    -----
    ConvergenceWarning
        If the iteration was ended by its limit.

    Examples
    --------
    >>> from colonnade.priors import BDeu
    >>> from colonnade.tables.memory import encode
    >>> coded = encode({"a": [0, 0, 1, None], "b": [0, 0, 1, 1]})
    >>> a, b = coded.variables
    >>> families = [Family(a), Family(b, (a,))]
    >>> counts, _ = expected_counts(coded, Dag([("a", "b")]), families, [BDeu(), BDeu()])
    >>> counts[0].to_array().round(2).tolist()
    [[2.17, 1.83]]
    """
    settings = settings or EM()
    job = _Job(coded, dag, families, priors)
    if not job.gaps:
        return job.available, EmDiagnostics(True, 0, (), 0.0, job.rows, 0)
    total = coded.rows if coded.weights is None else float(coded.weights.sum())
    objective: list[float] = []
    rise = np.inf
    with Progress("EM", total=settings.iterations) as progress:
        while len(objective) < settings.iterations and rise > settings.tolerance * total:
            objective.append(job.expect())
            job.maximise()
            if len(objective) > 1:
                rise = objective[-1] - objective[-2]
            progress.advance(text=f"EM, objective {objective[-1]:.6g}, rise {rise:.2g}")
    converged = rise <= settings.tolerance * total
    if not converged:
        warnings.warn(
            f"EM stopped after {len(objective)} iterations, its objective still rising by "
            f"{rise:.1e}. Hint: use missing=EM(iterations={10 * settings.iterations}).",
            ConvergenceWarning,
            stacklevel=3,
        )
    cases = sum(len(gap.codes) for gap in job.gaps)
    trace = tuple(objective)
    return job.counts(), EmDiagnostics(converged, len(trace), trace, rise, job.rows, cases)


class _Table:
    """One table in the making: the configurations that can occur, their counts and logarithms.

    Parameters
    ----------
    family : Family
    available : FamilyCounts
        From the rows that are complete for the family.
    prior : Prior
    completed : list of arrays [row, parent]
        Configurations of other rows, as they may be.
    """

    def __init__(
        self,
        family: Family,
        available: FamilyCounts,
        prior: Prior,
        completed: list[NDArray[Any]],
    ) -> None:
        self.family = family
        parts = [available.codes, *completed]
        self.codes, which = distinct(np.concatenate(parts))
        ends = np.cumsum([len(part) for part in parts])
        seen, *self.places = np.split(which, ends[:-1])
        self.base = np.zeros((len(self.codes), family.cardinality))
        self.base[seen] = available.values
        self.values = self.base.copy()
        self.penalty = first = Penalty.of(prior, available)
        if isinstance(prior, MaximumLikelihood):
            # Begin inside the simplex: a probability of zero would remain zero.
            first = Penalty.of(SymmetricDirichlet(), available)
        self.logs = np.log(first.rows(self.base, self.base))

    def begin(self) -> float:
        """Begin to count anew with the complete rows; return their part of the objective."""
        np.copyto(self.values, self.base)
        seen = self.base > 0.0
        return float(self.base[seen] @ self.logs[seen]) + self.penalty.value(self.logs)

    def maximise(self) -> None:
        """Take the best rows, and the best alpha, for the counts."""
        self.penalty = self.penalty.moved(self.values)
        rows = self.penalty.rows(self.values, np.exp(self.logs))
        with np.errstate(divide="ignore"):
            self.logs = np.log(rows)

    def counts(self) -> FamilyCounts:
        return FamilyCounts(self.family.parent_sizes, self.codes, self.values)


class _Work:
    """Some cases of a gap, with the cells of all their completions in the tables."""

    def __init__(self, gap: Gap, block: slice, tables: Sequence[_Table]) -> None:
        self.elimination = gap.elimination
        self.weights = gap.weights[block]
        self.tables = [tables[family] for family in gap.families]
        self.cells = [
            gap.cells(family, block, table.places.pop(0))
            for family, table in zip(gap.families, self.tables, strict=True)
        ]

    def add(self) -> float:
        """Add the expected counts of these cases; return their log likelihood."""
        pairs = list(zip(self.tables, self.cells, strict=True))
        factors = [table.logs.reshape(-1)[cells] for table, cells in pairs]
        totals, marginals = self.elimination.marginals(factors)
        for (table, cells), shares in zip(pairs, marginals, strict=True):
            weights = self.weights.reshape(-1, *(1 for _ in range(shares.ndim - 1)))
            np.add.at(table.values.reshape(-1), cells.reshape(-1), (shares * weights).reshape(-1))
        return float(self.weights @ totals)


class _Job:
    """All tables and all cases of one table of data."""

    def __init__(
        self,
        coded: CodedTable,
        dag: Dag,
        families: Sequence[Family],
        priors: Sequence[Prior],
    ) -> None:
        from colonnade.tables.counting import count

        self.available = count(coded, families, "available")
        members = Members.of(dag, families)
        codes, weights = incomplete_rows(coded, members)
        self.rows = len(codes)
        self.gaps = find_gaps(members, codes, weights)
        self._must_fit()
        blocks = [(gap, block) for gap in self.gaps for block in gap.blocks()]
        completed: list[list[NDArray[Any]]] = [[] for _ in families]
        for gap, block in blocks:
            for family in gap.families:
                completed[family].append(gap.configurations(family, block))
        self.tables = list(map(_Table, families, self.available, priors, completed))
        self.work = [_Work(gap, block, self.tables) for gap, block in blocks]

    def expect(self) -> float:
        """Fill the expected counts; return the objective of the present tables."""
        complete = sum(table.begin() for table in self.tables)
        return complete + sum(work.add() for work in self.work)

    def maximise(self) -> None:
        """Choose the best tables for the expected counts."""
        for table in self.tables:
            table.maximise()

    def counts(self) -> list[FamilyCounts]:
        return [table.counts() for table in self.tables]

    def _must_fit(self) -> None:
        cells = sum(
            len(gap.codes) * gap.completions(family) * gap.members.sizes[family]
            for gap in self.gaps
            for family in gap.families
        )
        if cells > _LIMIT:
            raise TooLargeError(
                "EM over all completions of all rows",
                size=cells,
                limit=_LIMIT,
                hint="use missing='available', fewer parents, or fewer rows without values",
            )


def incomplete_rows(coded: CodedTable, members: Members) -> tuple[NDArray[np.int32], Floats]:
    """Return the codes ``[row, variable]`` and weights of the rows that lack values.

    Examples
    --------
    >>> from colonnade.tables.memory import encode
    >>> coded = encode({"x": ["u", None, "v"]}, weights=[2, 3, 4])
    >>> incomplete_rows(coded, Members((2,), ((0,),), (0,)))
    (array([[2]], dtype=int32), array([3.]))
    """
    lacking = np.zeros(coded.rows, dtype=bool)
    for column, size in zip(coded.codes, members.sizes, strict=True):
        lacking |= column == size
    if coded.weights is not None:
        lacking &= coded.weights > 0
    codes = np.stack([column[lacking] for column in coded.codes], axis=1).astype(np.int32)
    weights = np.ones(len(codes)) if coded.weights is None else coded.weights[lacking]
    return codes, weights.astype(np.float64)

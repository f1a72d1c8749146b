"""EM: expected counts from rows that lack values, under any prior.

Each iteration has two steps. *Expect*: with the tables as they are, every row counts in all the
ways it can be completed, each with its probability. *Maximise*: new tables from these counts. What
never falls is the penalised log likelihood of what was observed,

    sum over rows of log p(observed values | theta) + sum over tables of the penalty of the prior

(see :mod:`colonnade.pooling.penalty` and docs/em.md). The first part is bounded from below by one
that touches it at the present tables and depends on the tables only through
sum n_yx log(theta_yx), n being the expected counts; the second step raises this bound and the
penalty together.

The counts of the last iteration then have their posterior under the prior, as any counts have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    ConvergenceWarning,
    TooLargeError,
    about,
    checked_fraction,
    checked_whole,
    counted,
    warn,
)
from colonnade.missing.completions import Layout
from colonnade.missing.gaps import Members, distinct, find_gaps
from colonnade.priors import Prior
from colonnade.progress import Progress
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count_families
from colonnade.variables import Family

_MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class EM:
    """How to fill in missing values: ``fit(..., missing=EM())``, or ``missing="em"`` for short.

    Parameters
    ----------
    tolerance : float
        EM stops when the objective rises by less than this per row.
    iterations : int
        Largest number of iterations, up to a million.

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
        checked_fraction(self.tolerance, "tolerance")
        checked_whole(self.iterations, "iterations", most=_MAX_ITERATIONS)


@dataclass(frozen=True, slots=True)
class EmDiagnostics:
    """How the iterations went.

    Attributes
    ----------
    converged : bool
    objective : tuple of float
        The penalised log likelihood of the tables at the start of each iteration. It never falls.
    rows : int
        Rows that lack values.
    cases : int
        Different situations that had to be handled in each iteration.
    """

    converged: bool
    objective: tuple[float, ...]
    rows: int
    cases: int

    @property
    def iterations(self) -> int:
        """Number of iterations; 0 if no missing value has any influence."""
        return len(self.objective)

    @property
    def rise(self) -> float:
        """By how much the objective rose in the last iteration; infinite after the first.

        Examples
        --------
        >>> EmDiagnostics(True, (-7.5, -7.25), rows=3, cases=2).rise
        0.25
        """
        if not self.objective:
            return 0.0
        return self.objective[-1] - self.objective[-2] if self.iterations > 1 else np.inf


def expected_counts(
    coded: CodedTable,
    dag: Dag,
    families: Sequence[Family],
    priors: Sequence[Prior],
    settings: EM | None = None,
) -> tuple[list[FamilyCounts], EmDiagnostics]:
    """Count families in a table that lacks values; families and priors are in the graph's order.

    The counts are expected, thus fractional. A missing value that nothing observed depends on is
    not counted: it carries no information.
    """
    settings = settings or EM()
    job = _Job(coded, dag, families, priors)
    if not job.gaps:
        return job.available, EmDiagnostics(True, (), job.rows, 0)
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
        done = counted(len(objective), "iteration")
        statement = f"EM stopped after {done}, its objective still rising by {rise:.1e}."
        warn(ConvergenceWarning(statement, Advice.ALLOW_MORE_ITERATIONS))
    cases = len(job.gaps.codes)
    return job.counts(), EmDiagnostics(converged, tuple(objective), job.rows, cases)


class _Table:
    """One table in the making: the configurations that can occur, their counts and logarithms.

    `available` are the counts of the rows that are complete for the family, and `completed` the
    configurations ``[completion, parent]`` of other rows, as they may be; `places` has the row of
    the table of each of these.
    """

    def __init__(
        self, family: Family, available: FamilyCounts, prior: Prior, completed: Array
    ) -> None:
        self.family = family
        self.codes, which = distinct(np.concatenate([available.codes, completed]))
        seen, self.places = np.split(which, [len(available.codes)])
        self.base = np.zeros((len(self.codes), family.cardinality))
        self.base[seen] = available.values
        self.values = self.base
        with about(family.child.name):
            self.penalty = prior.em_penalty(available).beside(self.codes)
        # Begin inside the simplex: a probability of zero would remain zero.
        self.logs = np.log(self.penalty.interior.rows(self.base, self.base))

    def objective(self) -> float:
        """The part of the complete rows and of the prior in the objective."""
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


class _Job:
    """All tables and all cases of one table of data."""

    def __init__(
        self, coded: CodedTable, dag: Dag, families: Sequence[Family], priors: Sequence[Prior]
    ) -> None:
        self.available = count_families(coded, families, "available")
        members = Members.of(dag, families)
        codes, weights = _incomplete_rows(coded)
        self.rows = len(codes)
        self.gaps = find_gaps(members, codes, weights)
        layout = Layout(self.gaps)
        if layout.cells > MAX_DENSE_CELLS:
            raise TooLargeError(
                "EM over all completions of all rows",
                size=layout.cells,
                limit=MAX_DENSE_CELLS,
                hint=Advice.SIMPLIFY_EM,
            )
        self.completions = layout.all()
        self.tables: list[_Table] = []
        begin = 0
        for position, family in enumerate(families):
            completed = self.completions.of(position)
            table = _Table(family, self.available[position], priors[position], completed.codes)
            self.completions.place(completed, begin + table.places * family.cardinality)
            self.tables.append(table)
            begin += table.logs.size

    def expect(self) -> float:
        """Fill the expected counts; return the objective of the present tables."""
        logs = np.concatenate([table.logs.reshape(-1) for table in self.tables])
        values = np.concatenate([table.base.reshape(-1) for table in self.tables])
        totals = self.completions.log_totals(logs, values)
        ends = np.cumsum([table.base.size for table in self.tables])
        for table, part in zip(self.tables, np.split(values, ends[:-1]), strict=True):
            table.values = part.reshape(table.base.shape)
        complete = sum(table.objective() for table in self.tables)
        return complete + float((self.gaps.weights * totals).sum())

    def maximise(self) -> None:
        """Choose the best tables for the expected counts."""
        for table in self.tables:
            table.maximise()

    def counts(self) -> list[FamilyCounts]:
        return [table.counts() for table in self.tables]


def _incomplete_rows(coded: CodedTable) -> tuple[NDArray[np.int32], Floats]:
    """Return the codes ``[row, variable]`` and weights of the rows that lack values."""
    lacking = ~coded.complete
    if coded.weights is not None:
        lacking &= coded.weights > 0
    codes = np.stack([column[lacking] for column in coded.codes], axis=1).astype(np.int32)
    weights = np.ones(len(codes)) if coded.weights is None else coded.weights[lacking]
    return codes, weights.astype(np.float64)

"""Informed: a prior that is a whole table, from an expert or a file, worth so many observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.configurations import MAX_DENSE_CELLS, Configuration, all_codes, parent_codes
from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import (
    CountsError,
    checked_level,
    checked_list,
    checked_whole,
    counted,
    expected,
    tally,
)
from colonnade.lookup import Lookup
from colonnade.pooling.draws import log_dirichlet
from colonnade.priors.base import Counts, Prior, checked_positive, observations
from colonnade.priors.draws import Draws
from colonnade.priors.table_posterior import Interval, TablePosterior
from colonnade.randomness import generator
from colonnade.sparse import Fallback, SparseTable, checked_rows


@dataclass(frozen=True, slots=True, repr=False)
class Informed(Prior):
    """Independent Dirichlet rows, each around a known row that is worth some observations.

    Made by :meth:`BayesianNetwork.with_weight` of tables that were given. It belongs to one table.

    Parameters
    ----------
    rows : sequence of sequences of float, [configuration][state]
        The probabilities of all configurations.
    weight : float
        Number of observations that each row is worth, from 1e-100 to 1e12.

    Examples
    --------
    >>> Informed([[0.9, 0.1], [0.2, 0.8]], weight=8).estimate([[0, 0], [2, 0]])
    array([[0.9 , 0.1 ],
           [0.36, 0.64]])
    """

    rows: tuple[tuple[float, ...], ...]
    weight: float

    score_name: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        rows = checked_rows(self.rows, "rows", 2)
        object.__setattr__(self, "rows", tuple(tuple(row) for row in rows.tolist()))
        object.__setattr__(self, "weight", checked_positive(self.weight, "weight"))

    def posterior(self, counts: Counts) -> InformedPosterior:
        """Posterior of the table the prior was made for."""
        counts = as_counts(counts)
        wanted = len(self.rows), len(self.rows[0])
        if (counts.configurations, counts.states) != wanted:
            what = (
                f"counts of {counted(wanted[0], 'configuration')} and {counted(wanted[1], 'state')}"
            )
            raise expected(what, "counts", counts, kind=CountsError)
        return InformedPosterior(counts, self)

    @property
    def in_words(self) -> str:
        """What the prior is, for a reader who has not written it."""
        return f"given probabilities (worth {observations(self.weight)})"

    def strength(self, counts: FamilyCounts) -> float:
        return self.weight

    def reweighted(self, weight: float) -> Informed:
        return replace(self, weight=weight)

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        if table.complete:
            return table
        return SparseTable.beside(table, table.rows, None, self.table(counts).fallback)

    def __repr__(self) -> str:
        return f"Informed({counted(len(self.rows), 'row')}, weight={self.weight:g})"


@dataclass(frozen=True, slots=True)
class _Rows(Fallback):
    """The rows of configurations that were not observed: those that are known."""

    known: tuple[tuple[float, ...], ...]
    parent_sizes: tuple[int, ...]

    def rows(self, codes: Array) -> Floats:
        places = np.zeros(len(codes), np.int64)
        for k, size in enumerate(self.parent_sizes):
            places = places * size + codes[:, k]
        return np.array(self.known)[places]

    @property
    def positive(self) -> bool:
        return bool((np.array(self.known) > 0.0).all())


@dataclass(frozen=True, eq=False, repr=False)
class InformedPosterior(TablePosterior):
    """Posterior of a table whose rows were known beforehand, with some weight.

    Attributes
    ----------
    counts : FamilyCounts
    prior : Informed
    limit : int
        Largest number of cells of a dense answer; see ``with_limit``.

    Examples
    --------
    >>> posterior = Informed([[0.5, 0.5]], weight=10).posterior([[30, 10]])
    >>> posterior.mean
    array([[0.7, 0.3]])
    >>> posterior.borrowed
    array([0.2])
    """

    counts: FamilyCounts
    prior: Informed
    limit: int = MAX_DENSE_CELLS

    @cached_property
    def _known(self) -> _Rows:
        return _Rows(self.prior.rows, self.counts.parent_sizes)

    def _parameters(self, codes: Array) -> Floats:
        """Of the Dirichlet distributions of some configurations, ``[row, state]``."""
        seen = self.counts.lookup.at(codes)
        return np.asarray(self.prior.weight * self._known.rows(codes) + seen)

    @property
    def log_evidence(self) -> float:
        """Log probability of the counts, in the order they came."""
        from scipy.special import gammaln

        seen = self.counts.values.astype(np.float64)
        known = self.prior.weight * self._known.rows(self.counts.codes)
        if (seen[known == 0.0] > 0.0).any():
            return -math.inf
        cells = np.where(known > 0.0, gammaln(known + seen) - gammaln(known), 0.0)
        weight = self.prior.weight
        rows = gammaln(weight) - gammaln(weight + seen.sum(axis=1))
        return float(cells.sum() + rows.sum())

    @property
    def mean_strength(self) -> float:
        """The weight."""
        return self.prior.weight

    def leave_one_out_score(self) -> float:
        """Sum over all observations of their log probability given all others."""
        values = self.counts.values
        with np.errstate(divide="ignore"):
            return float((values[values > 0] * np.log(self.left_out_cells())).sum())

    def left_out_rows(self) -> Floats:
        row, state = np.nonzero(self.counts.values)
        rows = self._parameters(self.counts.codes)[row]
        cell = np.arange(len(row)), state
        rows[cell] -= np.minimum(self.counts.values[row, state], 1.0)
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    @cached_property
    def table(self) -> SparseTable:
        """Means of the observed configurations and of any other, for any number of them."""
        parameters = self._parameters(self.counts.codes)
        means = parameters / parameters.sum(axis=1, keepdims=True)
        return SparseTable.beside(self.counts, means, None, self._known)

    @property
    def borrowed(self) -> Floats:
        """Weight that each configuration takes from what was known, ``[configuration]``."""
        weight = self.prior.weight
        seen = (weight / (weight + self.counts.row_totals))[:, None]
        return self._dense(Lookup.of(self.counts, seen, np.ones(1)), "The weights")[:, 0]

    @property
    def variance(self) -> Floats:
        """Variance of every cell, ``[configuration, state]``."""
        self._must_fit("The variance")
        parameters = self._parameters(all_codes(self.counts.parent_sizes))
        totals = parameters.sum(axis=1, keepdims=True)
        mean = parameters / totals
        return np.asarray(mean * (1.0 - mean) / (totals + 1.0))

    def interval(
        self, level: float = 0.95, configurations: Sequence[Configuration] | None = None
    ) -> Interval:
        """Equal-tailed credible interval of every cell, ``[configuration, state]``.

        Parameters
        ----------
        level : float
            Probability inside, between 0 and 1.
        configurations : sequence of int or tuple of int, optional
            Only these, in this order.
        """
        from scipy.special import betaincinv

        level, sizes = checked_level(level), self.counts.parent_sizes
        if configurations is None:
            self._must_fit("The interval", 2)
            codes = all_codes(sizes)
        else:
            asked = checked_list(configurations, "a list of configurations", "configurations")
            given = [parent_codes(each, sizes) for each in asked]
            codes = np.array(given, dtype=np.int64).reshape(len(given), len(sizes))
        own = self._parameters(codes)
        others = own.sum(axis=1, keepdims=True) - own
        inside = (own > 0.0) & (others > 0.0)
        first, second = np.where(inside, own, 1.0), np.where(inside, others, 1.0)
        ends = (
            np.where(inside, betaincinv(first, second, tail), own > 0.0)
            for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
        )
        return Interval(*ends)

    def draws(self, n: int, rng: Seed = None, pools: int | None = None) -> Draws:
        return _InformedDraws(self, checked_whole(n, "n"), generator(rng))

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"InformedPosterior({counted(counts.configurations, 'configuration')} "
            f"({counts.observed:,} observed) x {counted(counts.states, 'state')}, "
            f"n={tally(counts.total)}, prior={self.prior!r})"
        )


class _InformedDraws(Draws):
    """Draws of independent rows; they share nothing."""

    def __init__(self, posterior: InformedPosterior, n: int, rng: np.random.Generator) -> None:
        self.posterior, self.n, self.rng = posterior, n, rng

    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        rows = self.posterior._parameters(codes)
        if draws_last:
            shape = (*rows.shape, self.n)
            return log_dirichlet(np.broadcast_to(rows[:, :, None], shape), self.rng, axis=1)
        return log_dirichlet(np.broadcast_to(rows[None], (self.n, *rows.shape)), self.rng)

    def log_cells(self, codes: Array, child: Array) -> Floats:
        rows = self.posterior._parameters(codes)
        own = rows[np.arange(len(child)), child]
        pair: Any = np.stack([own, rows.sum(axis=1) - own], axis=1)[:, :, None]
        shape = (len(child), 2, self.n)
        return np.asarray(log_dirichlet(np.broadcast_to(pair, shape), self.rng, axis=1)[:, 0])

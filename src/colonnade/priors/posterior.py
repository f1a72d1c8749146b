"""CptPosterior: the posterior of one table, from the posterior of alpha.

Given alpha and s the rows are independent, theta_y ~ Dirichlet(s alpha + n_y). So everything here
is one line or two on top of the moments of alpha (Theorem 1 of the paper), averaged over s where s
is learned. A configuration never seen has the mean E[alpha]: the table is its observed rows and one
default row, however many configurations there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.configurations import MAX_DENSE_CELLS, Configuration, parent_codes
from colonnade.counts import FamilyCounts
from colonnade.counts.checks import checked_values
from colonnade.exceptions import (
    CountsError,
    TooLargeError,
    checked_level,
    checked_list,
    checked_whole,
    counted,
    expected,
    require,
    tally,
)
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import AlphaPosterior, Component
from colonnade.pooling.draws import dirichlet
from colonnade.pooling.leave_one_out import left_out_score
from colonnade.pooling.mixture import AlphaMixture, fewer, sample_components
from colonnade.pooling.quantiles import cell_quantiles
from colonnade.pooling.strength import Strength
from colonnade.priors.base import Prior
from colonnade.priors.draws import PooledDraws
from colonnade.priors.table_posterior import SOME_INTERVALS, Interval, TablePosterior
from colonnade.randomness import generator
from colonnade.sparse import SparseTable

# More rows than this are not laid out once for every value of a learned s.
_MAX_ROWS_TIMES_STRENGTHS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class CptPosterior(TablePosterior):
    """Posterior of a conditional probability table, ``[configuration, state]``.

    Made by ``prior.posterior(counts)``. Dense answers (``mean``, ``variance``, ``interval``,
    ``sample``) hold all configurations and are refused beyond ``limit`` cells; ``row``, ``default``
    and ``observed_mean`` work for any number of configurations.

    Attributes
    ----------
    counts : FamilyCounts
    prior : Prior
        The prior it came from.
    components : tuple of Component
        Weight, strength s and posterior of alpha; one unless s is learned.
    strength : Strength or None
        Posterior of s when it is learned.
    limit : int
        Largest number of cells of a dense answer; see :meth:`with_limit`.

    Examples
    --------
    >>> from colonnade import Hierarchical
    >>> posterior = Hierarchical().posterior([[8, 2], [0, 0], [7, 1]])
    >>> posterior.mean.round(3)
    array([[0.777, 0.223],
           [0.665, 0.335],
           [0.833, 0.167]])
    >>> posterior.borrowed.round(3)
    array([0.167, 1.   , 0.2  ])
    """

    counts: FamilyCounts
    prior: Prior
    components: tuple[Component, ...]
    strength: Strength | None = None
    limit: int = MAX_DENSE_CELLS

    @property
    def alpha(self) -> AlphaPosterior:
        """Posterior of alpha, which every row is shrunk towards."""
        if len(self.components) == 1:
            return self.components[0].alpha
        assert self.strength is not None
        return AlphaMixture(self.components, self.strength)

    @property
    def log_evidence(self) -> float | None:
        """Log probability of the counts, in the order they came; None if the engine has none."""
        if self.strength is not None:
            return self.strength.log_evidence
        return self.components[0].alpha.log_evidence

    @property
    def mean_strength(self) -> float:
        """Strength with which rows are shrunk towards alpha; its posterior mean if learned."""
        return sum(part.weight * part.s for part in self.components)

    def leave_one_out_score(self) -> float:
        """Sum over all observations of their log probability given all others."""
        return left_out_score(self.counts.values, self.components)

    def left_out_rows(self) -> Floats:
        values = self.counts.values
        row, state = np.nonzero(values)
        rows = values[row].astype(np.float64)
        cell = np.arange(len(row)), state
        rows[cell] -= np.minimum(rows[cell], 1.0)
        return self._row_means(rows)

    @property
    def default(self) -> Floats:
        """Mean of any configuration that was not observed, ``[state]``."""
        return np.asarray(self._row_means(np.zeros((1, self.counts.states)))[0])

    @property
    def observed_mean(self) -> Floats:
        """Mean of the observed configurations, in the order of ``counts.codes``."""
        return self._row_means(self.counts.values)

    def row(self, configuration: Configuration) -> Floats:
        """Mean of one configuration, ``[state]``, given by its index or its parent codes.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> SymmetricDirichlet().posterior([[8, 2], [0, 0]]).row(0)
        array([0.75, 0.25])
        """
        return np.asarray(self._row_means(self.counts.row(configuration)[None])[0])

    @property
    def table(self) -> SparseTable:
        """Means of the observed configurations and of any other, for any number of them."""
        return SparseTable.beside(self.counts, self.observed_mean, self.default)

    @property
    def mean(self) -> Floats:
        """Mean of every cell, ``[configuration, state]``: the estimate of the table."""
        return self._dense(self.counts.lookup.mapped(self._row_means), "The mean")

    @property
    def borrowed(self) -> Floats:
        """Weight s / (n_y + s) that each configuration takes from the pool, ``[configuration]``."""
        totals = self.counts.row_totals[:, None]
        seen = sum(part.weight * part.s / (totals + part.s) for part in self.components)
        rows = Lookup.of(self.counts, np.asarray(seen), np.ones(1))
        return self._dense(rows, "The weights")[:, 0]

    @property
    def variance(self) -> Floats:
        """Variance of every cell, ``[configuration, state]``."""
        self._must_fit("The variance", instead=SOME_INTERVALS)
        return self._dense(self.counts.lookup.mapped(self._row_variances), "The variance")

    def covariance(self, y: Configuration, y2: Configuration | None = None) -> Floats:
        """Covariance of the cells of one configuration with those of another, ``[state, state]``.

        Parameters
        ----------
        y, y2 : int or tuple of int
            Configurations; without `y2` both are `y`.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> Hierarchical().posterior([[8, 2], [0, 0], [7, 1]]).covariance(0, 1).round(3)
        array([[ 0.004, -0.004],
               [-0.004,  0.004]])
        """
        row = self.counts.row(y).astype(np.float64)
        other = row if y2 is None else self.counts.row(y2).astype(np.float64)
        sizes = self.counts.parent_sizes
        same = y2 is None or parent_codes(y, sizes) == parent_codes(y2, sizes)
        mean, mean2 = self._row_means(row[None])[0], self._row_means(other[None])[0]
        total = np.zeros((row.size, row.size))
        for part in self.few_components:
            size, size2 = row.sum() + part.s, other.sum() + part.s
            first, second = part.rows(np.stack([row, other]))
            # Theorem 1: C is (n_y + s)(n_y' + s), with one more in the second factor within a row
            within = part.s**2 * part.alpha.covariance / (size * (size2 + 1.0 if same else size2))
            if same:
                within += (np.diag(first) - np.outer(first, first)) / (size + 1.0)
            total += part.weight * (within + np.outer(first - mean, second - mean2))
        return total

    def interval(
        self, level: float = 0.95, configurations: Sequence[Configuration] | None = None
    ) -> Interval:
        """Equal-tailed credible interval of every cell, ``[configuration, state]``.

        The distribution of a cell is a mixture over alpha of Beta distributions; its quantiles are
        found from that mixture.

        Parameters
        ----------
        level : float
            Probability inside, between 0 and 1.
        configurations : sequence of int or tuple of int, optional
            Only these, in this order.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> lower, upper = Hierarchical().posterior([[8, 2], [0, 0], [7, 1]]).interval(0.9)
        >>> lower.round(2)
        array([[0.56, 0.06],
               [0.09, 0.  ],
               [0.61, 0.02]])
        """
        level = checked_level(level)
        tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
        if configurations is not None:
            asked = checked_list(configurations, "a list of configurations", "configurations")
            rows = np.array([self.counts.row(configuration) for configuration in asked])
            rows = rows.reshape(-1, self.counts.states)
            lower, upper = cell_quantiles(rows, self.few_components, tails)
            return Interval(lower, upper)
        self._must_fit("The interval", 2, SOME_INTERVALS)
        seen = self.counts.lookup
        ends = cell_quantiles(seen.values, self.few_components, tails)
        lower, upper = (
            self._dense(Lookup.of(self.counts, end[: len(seen.rows)], end[-1]), "The interval")
            for end in ends
        )
        return Interval(lower, upper)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Independent draws of the whole table, ``[draw, configuration, state]``.

        Each draw takes s, then alpha, then all rows given both: rows of one draw belong together.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> Hierarchical().posterior([[8, 2], [0, 0], [7, 1]]).sample(4, rng=1).shape
        (4, 3, 2)
        """
        n = checked_whole(n, "n")
        return self.sample_rows(self._all_rows(n), n, rng)

    def sample_rows(self, rows: Array, n: int, rng: Seed = None) -> Floats:
        """Independent joint draws of rows with the given counts, ``[draw, row, state]``.

        A row of zeros is an unobserved configuration.
        """
        n = checked_whole(n, "n")
        rows = checked_values(rows, "rows")
        if rows.ndim != 2 or rows.shape[1] != self.counts.states:
            what = f"counts [row, state] of {counted(self.counts.states, 'state')}"
            raise expected(what, "rows", rows, got=f"shape {rows.shape}", kind=CountsError)
        self._must_hold(n, rows.size)
        return self._sample(rows, n, generator(rng))[2]

    def sample_alpha(self, n: int, rng: Seed = None) -> tuple[Floats, Floats]:
        """Independent draws of alpha ``[draw, state]`` and of s ``[draw]``, together."""
        n = checked_whole(n, "n")
        self._must_hold(n, self.counts.states)
        return sample_components(self.components, n, generator(rng))

    def draws(self, n: int, rng: Seed = None, pools: int | None = None) -> PooledDraws:
        n = checked_whole(n, "n")
        self._must_hold(n, self.counts.states)
        return PooledDraws(self.counts.lookup, self.components, n, generator(rng), pools)

    def to_arviz(self, draws: int = 1000, rng: Seed = None) -> Any:
        """Independent draws of theta, alpha and s as an ``arviz.InferenceData``, in one chain.

        Needs the extra ``arviz``.
        """
        draws = checked_whole(draws, "draws")
        rows = self._all_rows(draws)
        alpha, strength, theta = self._sample(rows, draws, generator(rng))
        return inference_data(theta=theta, alpha=alpha, s=strength)

    @cached_property
    def few_components(self) -> Sequence[Component]:
        """Values of the strength s, few of them, for what takes more than the mean of alpha."""
        return fewer(self.components)

    def _row_means(self, rows: Array) -> Floats:
        """Theorem 1, averaged over s."""
        if len(self.components) == 1 or len(rows) > _MAX_ROWS_TIMES_STRENGTHS:
            mean = np.zeros(rows.shape)
            for part in self.components:
                mean += part.weight * part.rows(rows)
            return mean
        s = np.array([part.s for part in self.components])
        alpha = np.stack([part.mean for part in self.components])
        # w / (n_y + s) for every row and component
        share = np.array([part.weight for part in self.components])
        share = share / (rows.sum(axis=1, keepdims=True) + s)
        return np.asarray(rows * share.sum(axis=1, keepdims=True) + share @ (s[:, None] * alpha))

    def _row_variances(self, rows: Array) -> Floats:
        """The diagonal of `covariance`, for many rows."""
        totals = rows.sum(axis=1, keepdims=True)
        mean = self._row_means(rows)
        variance = np.zeros(rows.shape)
        for part in self.few_components:
            size = totals + part.s
            own = part.rows(rows)
            pool = part.s**2 * np.diag(part.alpha.covariance) / size
            within = (own * (1.0 - own) + pool) / (size + 1.0)
            variance += part.weight * (within + (own - mean) ** 2)
        return variance

    def _sample(
        self, rows: Array, n: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Draws of alpha, of s, and of rows with some counts, that belong together."""
        alpha, strength = sample_components(self.components, n, rng)
        theta = dirichlet(rows[None] + (strength[:, None] * alpha)[:, None, :], rng)
        return alpha, strength, theta

    def _must_hold(self, draws: int, cells: int) -> None:
        if draws * cells > self.limit:
            hint = "draw fewer at a time, or raise the limit with `with_limit`"
            what = f"A sample of {counted(draws, 'draw')}"
            raise TooLargeError(what, size=draws * cells, limit=self.limit, hint=hint)

    def _all_rows(self, draws: int) -> Array:
        self._must_hold(draws, self.counts.configurations * self.counts.states)
        return self.counts.to_array(limit=self.limit)

    def __repr__(self) -> str:
        counts = self.counts
        learned = "" if self.strength is None else f", s={self.strength.mean:.4g} (learned)"
        return (
            f"CptPosterior({counted(counts.configurations, 'configuration')} "
            f"({counts.observed:,} observed) x {counted(counts.states, 'state')}, "
            f"n={tally(counts.total)}, prior={self.prior!r}{learned}, "
            f"log_evidence={self.log_evidence})"
        )


def inference_data(**draws: Floats) -> Any:
    """Return draws of theta and whatever else was drawn for ArviZ, as one chain."""
    arviz = require("arviz", feature="The method to_arviz", extra="arviz")
    known = {"theta": ["configuration", "state"], "alpha": ["state"]}
    return arviz.from_dict(
        posterior={name: each[None] for name, each in draws.items()},
        dims={name: dims for name, dims in known.items() if name in draws},
    )

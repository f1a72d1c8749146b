"""Smoothed: another prior's table, with every state mixed with its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.counts import FamilyCounts
from colonnade.exceptions import NotSupportedError, expected, is_word
from colonnade.pooling.growing import Mixing
from colonnade.pooling.penalty import Pull
from colonnade.priors.base import Counts, Prior, checked_counts
from colonnade.priors.drawn_posterior import DRAWS, DrawnPosterior
from colonnade.priors.draws import Draws
from colonnade.priors.table_posterior import TablePosterior
from colonnade.priors.tiered import Tiered
from colonnade.sparse import Fallback, SparseTable

# Weights that are tried if the weight is learned; of equally good ones the smallest is taken.
WEIGHTS = (0.0, 0.15, 0.3, 0.45, 0.6)
# Scores closer than this, relative to the best, are ties.
_TIE_TOLERANCE = 1e-9
MIXING = Mixing(WEIGHTS, _TIE_TOLERANCE)
# Below this the exponentials of logarithms lose digits.
_LEAST_LOG = -700.0
_TIERED = Tiered()


@dataclass(frozen=True, slots=True)
class Smoothed(Prior):
    """Another prior's estimate, with every state mixed with its neighbours.

    For a child whose states are in order, such as the intervals of a number: what was seen in one
    of them says something about the next. A state keeps the share 1 - weight of its probability
    and gives half of the rest to each of its two neighbours; the first and the last state keep what
    they have no neighbour for. The uniform distribution stays what it is.

    Parameters
    ----------
    prior : Prior
        Any prior that has a posterior.
    weight : float or "learn"
        From 0 to 1. ``"learn"`` takes the one of 0, 0.15, 0.3, 0.45 and 0.6 with the best
        leave-one-out log score, for each table by itself.

    Examples
    --------
    >>> from colonnade import SymmetricDirichlet
    >>> Smoothed(SymmetricDirichlet(), 0.2).estimate([[6, 0, 0, 0]])
    array([[0.64, 0.16, 0.1 , 0.1 ]])
    """

    prior: Prior = _TIERED
    weight: float | Literal["learn"] = "learn"

    score_name: ClassVar[str | None] = "leave-one-out log score"

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior) or not self.prior.has_posterior:
            raise expected("a prior with a posterior", "prior", self.prior, "use Tiered()")
        if is_word(self.weight, "learn"):
            return
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if not number or not 0.0 <= float(self.weight) <= 1.0:
            raise expected("a number from 0 to 1 or 'learn'", "weight", self.weight)
        object.__setattr__(self, "weight", float(self.weight))

    def posterior(self, counts: Counts) -> SmoothedPosterior:
        """Posterior of the table.

        Examples
        --------
        >>> posterior = Smoothed().posterior([[9, 8, 1, 0], [1, 2, 6, 9]])
        >>> posterior.weight
        0.45
        """
        counts = checked_counts(counts)
        inner = self.prior.posterior(counts)
        weight = _learned(inner) if isinstance(self.weight, str) else self.weight
        return SmoothedPosterior(counts, self, inner, weight)

    @property
    def in_words(self) -> str:
        """What the prior is, for a reader who has not written it."""
        share = "learned" if isinstance(self.weight, str) else f"{self.weight:g}"
        return f"{self.prior.in_words}, neighbouring states mixed (weight {share})"

    def strength(self, counts: FamilyCounts) -> float:
        return self.prior.strength(counts)

    def log_evidence(self, counts: Counts) -> float:
        """There is none: a :class:`NotSupportedError`."""
        reason = "neighbours are mixed after the estimation"
        hint = "use `leave_one_out_score`"
        raise NotSupportedError(f"The log evidence of {self!r}", reason, hint)

    def structure_score(self, counts: Counts) -> float:
        return self.leave_one_out_score(counts)

    def em_penalty(self, counts: FamilyCounts) -> Pull:
        return self.prior.em_penalty(counts)

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        if table.complete:
            return table
        return SparseTable.beside(table, table.rows, None, self.table(counts).fallback)


@dataclass(frozen=True, eq=False, repr=False)
class SmoothedPosterior(DrawnPosterior):
    """Posterior of a table whose states are mixed with their neighbours.

    Attributes
    ----------
    counts : FamilyCounts
    prior : Prior
        The prior it came from.
    inner : TablePosterior
        The posterior before the mixing.
    weight : float
        What a state gives to its neighbours.
    limit : int
        Largest number of cells of a dense answer; see ``with_limit``.
    """

    counts: FamilyCounts
    prior: Prior
    inner: TablePosterior
    weight: float
    limit: int = MAX_DENSE_CELLS

    @property
    def log_evidence(self) -> None:
        """There is none: None."""
        return None

    @property
    def mean_strength(self) -> float:
        return self.inner.mean_strength

    def leave_one_out_score(self) -> float:
        """Sum over all observations of their log probability given all others.

        What was learned from all observations, the weight as well, stays as it is.
        """
        return float(_scores(self.counts, self.inner.left_out_rows(), np.array([self.weight]))[0])

    def left_out_rows(self) -> Floats:
        return smoothed(self.inner.left_out_rows(), self.weight)

    def left_out_cells(self) -> Floats:
        from colonnade.kernels.left_out import fill_mixed_cells

        # A copy, because Numba compiles anew for arrays that cannot be written.
        left = np.array(self.inner.left_out_rows())
        cells = np.empty(len(left))
        fill_mixed_cells(_floating(self.counts), left, self.weight, cells)
        return cells

    @cached_property
    def table(self) -> SparseTable:
        """Means of the observed configurations and of any other, for any number of them."""
        inner = self.inner.table
        default = None if inner.default is None else smoothed(inner.default, self.weight)
        fallback = None
        if inner.fallback is not None:
            fallback = _SmoothedRows(inner.fallback, self.weight)
        rows = smoothed(inner.rows, self.weight)
        return SparseTable.computed(self.counts, rows, default, fallback)

    @property
    def borrowed(self) -> Floats:
        """Weight that each configuration takes from others, ``[configuration]``."""
        return self.inner.borrowed

    def draws(self, n: int, rng: Seed = None, pools: int | None = None) -> Draws:
        return SmoothedDraws(self.inner.draws(n, rng, pools), self.weight)

    def steady_draws(self) -> SmoothedDraws:
        """Return the draws behind variances and intervals, from those of the other posterior."""
        inner = self.inner
        steady = inner.steady_draws() if isinstance(inner, DrawnPosterior) else None
        return SmoothedDraws(steady or inner.draws(DRAWS, rng=0), self.weight)

    def __repr__(self) -> str:
        return f"SmoothedPosterior({self.inner!r}, weight={self.weight:g})"


class SmoothedDraws(Draws):
    """Draws of another posterior, each row mixed with its neighbours."""

    def __init__(self, inner: Draws, weight: float) -> None:
        self.inner, self.weight, self.n = inner, weight, inner.n

    def log_rows(self, codes: Array, draws_last: bool = False) -> Floats:
        logs = self.inner.log_rows(codes, draws_last)
        if self.weight == 0.0:
            return logs
        axis = 1 if draws_last else 2
        return np.moveaxis(smoothed_logs(np.moveaxis(logs, axis, -1), self.weight), -1, axis)

    def log_cells(self, codes: Array, child: Array) -> Floats:
        if self.weight == 0.0:
            return self.inner.log_cells(codes, child)
        rows = self.log_rows(codes, draws_last=True)
        return np.ascontiguousarray(rows[np.arange(len(child)), child])


@dataclass(frozen=True, slots=True)
class _SmoothedRows(Fallback):
    """What computes the rows of configurations that a table does not store."""

    inner: Fallback
    weight: float

    def rows(self, codes: Array) -> Floats:
        return smoothed(self.inner.rows(codes), self.weight)

    @property
    def positive(self) -> bool:
        return self.inner.positive

    def by_parent(self, sizes: tuple[int, ...], parent: int) -> Floats:
        rows = self.inner.by_parent(sizes, parent)
        _mix(rows.reshape(-1, *rows.shape[-2:]), self.weight)
        return rows


def smoothed(rows: Floats, weight: float) -> Floats:
    """Mix every state, ``[..., state]``, with its neighbours."""
    mixed = np.array(rows, order="C")
    _mix(mixed.reshape(-1, mixed.shape[-1], 1), weight)
    return mixed


def smoothed_logs(logs: Floats, weight: float) -> Floats:
    """Mix every state with its neighbours, ``[..., state]``, from logarithms to logarithms."""
    with np.errstate(divide="ignore"):
        mixed = np.log(smoothed(np.exp(logs), weight))
        # Where states next to each other have so little that it is rounded to zero, logarithms are
        # added: a row of data that no class could have would not have any probabilities.
        some = (mixed < _LEAST_LOG).any(axis=-1)
        rows = logs[some]
        padded = np.concatenate([rows[..., :1], rows, rows[..., -1:]], axis=-1)
        beside = np.logaddexp(padded[..., :-2], padded[..., 2:]) + np.log(0.5 * weight)
        mixed[some] = np.logaddexp(rows + np.log1p(-weight), beside)
    return np.asarray(mixed)


def _mix(rows: Floats, weight: float) -> None:
    """Mix every state, ``[., state, .]``, with its neighbours, in place."""
    from colonnade.kernels.left_out import mix_neighbours

    if weight > 0.0 and rows.shape[1] > 1:
        mix_neighbours(rows, weight)


def _learned(inner: TablePosterior) -> float:
    """Return the weight with the best leave-one-out log score."""
    if inner.counts.states == 1 or not inner.counts.observed:
        return 0.0
    scores = _scores(inner.counts, inner.left_out_rows(), np.array(WEIGHTS)).tolist()
    best = max(scores)
    least = best - _TIE_TOLERANCE * (1.0 + abs(best))
    near = (w for w, score in zip(WEIGHTS, scores, strict=True) if score >= least)
    return next(near, WEIGHTS[0])


def _scores(counts: FamilyCounts, left_out: Floats, weights: Floats) -> Floats:
    """Leave-one-out log scores ``[weight]``, given the rows ``[cell, state]`` before the mixing."""
    from colonnade.kernels.left_out import add_mixed_scores

    scores = np.zeros(len(weights))
    add_mixed_scores(_floating(counts), np.array(left_out), weights, scores)
    return scores


def _floating(counts: FamilyCounts) -> Floats:
    """Counts as the kernels take them: of one type, and not protected."""
    return counts.values.astype(np.float64)

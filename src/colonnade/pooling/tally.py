"""Tally: what the posterior of alpha needs of a table, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Row totals from here on make the kernel take the constant of the evidence row by row.
ROW_BY_ROW = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Distinct counts of each state and how many configurations have each; and of the rows.

    Attributes
    ----------
    states : int
        r, with or without counts.
    tallied : array [tallied]
        The states that have counts, most frequent first.
    start, count, times : arrays
        The i-th tallied state has the distinct counts ``count[start[i]:start[i + 1]]``, each in
        ``times`` configurations.
    row_count, row_times : arrays
        Distinct row totals and how many configurations have each.
    constant : float
        Sum of lnGamma over the cells less the same over the rows: the part of the log evidence
        without s and alpha.
    total : float
    whole : bool
        All counts are whole numbers.
    """

    states: int
    tallied: NDArray[np.int64]
    start: NDArray[np.int64]
    count: Floats
    times: Floats
    row_count: Floats
    row_times: Floats
    constant: float
    total: float
    whole: bool

    @classmethod
    def of(cls, values: NDArray[np.generic]) -> Tally:
        """Tally a table ``[configuration, state]`` of valid counts.

        Examples
        --------
        >>> tally = Tally.of(np.array([[3, 1, 0], [3, 0, 0]]))
        >>> tally.tallied, tally.count, tally.times
        (array([0, 1]), array([3., 1.]), array([2., 1.]))
        """
        from colonnade.kernels.tally import tally

        table = np.array(values, dtype=np.float64, order="C")
        whole = values.dtype.kind in "iub" or bool((table == np.floor(table)).all())
        tallied, start, count, times, row_count, row_times, constant, total = tally(table, whole)
        return cls(
            states=table.shape[1],
            tallied=tallied,
            start=start,
            count=count,
            times=times,
            row_count=row_count,
            row_times=row_times,
            constant=float(constant),
            total=float(total),
            whole=whole,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """A tally under a prior, with all states without counts drawn together into one.

    By the aggregation property of the Dirichlet distribution the total of the unseen states has
    alpha0 equal to the sum of theirs, and its division among them is independent of everything
    else: a variable with a thousand states costs no more than those it was seen in.

    Attributes
    ----------
    tally : Tally
    s : float
    alpha0 : array [state]
    pooled : array [pooled]
        alpha0 of the states of the computation: the tallied ones, then the unseen ones as one.
    start : array
        Like that of the tally, with an empty slice for the unseen.
    unseen : array
        The states without counts.
    """

    tally: Tally
    s: float
    alpha0: Floats
    pooled: Floats
    start: NDArray[np.int64]
    unseen: NDArray[np.int64]

    @classmethod
    def of(cls, tally: Tally, s: float, alpha0: Floats) -> Pool:
        """Prepare a computation."""
        pooled = alpha0[tally.tallied]
        start = tally.start
        if tally.tallied.size == tally.states:
            return cls(tally, s, alpha0, pooled, start, np.empty(0, np.int64))
        seen = np.zeros(tally.states, bool)
        seen[tally.tallied] = True
        unseen = np.flatnonzero(~seen)
        pooled = np.append(pooled, alpha0[unseen].sum())
        return cls(tally, s, alpha0, pooled, np.append(start, start[-1]), unseen)

    @property
    def arguments(self) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
        """What every kernel takes: start, count, times, alpha0 of the pooled states."""
        return self.start, self.tally.count, self.tally.times, self.pooled

    def log_evidence(self, log_z: float) -> float:
        """Log evidence from ln Z, the integral over alpha of the product of all f."""
        from colonnade.kernels.special import row_constant

        prior = math.lgamma(float(self.alpha0.sum()))
        prior -= sum(math.lgamma(value) for value in self.pooled.tolist())
        rows = row_constant(self.tally.row_count, self.tally.row_times, self.s)
        return log_z + prior - float(rows) + self.tally.constant

    def magnitude(self, log_z: float) -> float:
        """How large the terms of the log evidence are: each is rounded at its own size."""
        tally = self.tally
        size = 1.0 + abs(log_z) + abs(tally.constant)
        size += abs(self.log_evidence(log_z) - log_z - tally.constant)
        size += abs(math.lgamma(float(self.alpha0.sum())))
        size += sum(abs(math.lgamma(value)) for value in self.pooled.tolist())
        if tally.row_count.max() < ROW_BY_ROW:
            # the constant is the difference of two sums of this size
            size += sum(
                times * math.lgamma(count)
                for count, times in zip(tally.count.tolist(), tally.times.tolist(), strict=True)
            )
        return size

    def spread(self, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Mean and covariance of all states from those of the pooled ones."""
        r, seen = self.tally.states, self.tally.tallied
        if not self.unseen.size:
            back = np.argsort(seen)
            return mean[back], covariance[np.ix_(back, back)]
        # alpha_x = B D_x with B the unseen total and D ~ Dirichlet(alpha0 of the unseen),
        # independent of B
        rest = self.pooled[-1]
        parts = self.alpha0[self.unseen] / rest
        total, variance = mean[-1], covariance[-1, -1]
        lift = np.zeros((r, mean.size))
        lift[seen, np.arange(seen.size)] = 1.0
        lift[self.unseen, -1] = parts
        full = lift @ covariance @ lift.T
        within = (np.diag(parts) - np.outer(parts, parts)) / (rest + 1.0)
        full[np.ix_(self.unseen, self.unseen)] += (variance + total * total) * within
        return lift @ mean, full

    def spread_draws(self, draws: Floats, rng: np.random.Generator) -> Floats:
        """Draws of all states from draws of the pooled ones, ``[draw, state]``."""
        from colonnade.pooling.draws import dirichlet

        full = np.empty((len(draws), self.tally.states))
        full[:, self.tally.tallied] = draws[:, : self.tally.tallied.size]
        if self.unseen.size:
            shares = dirichlet(
                np.broadcast_to(self.alpha0[self.unseen], (len(draws), self.unseen.size)), rng
            )
            full[:, self.unseen] = draws[:, -1:] * shares
        return full

    def with_last(self, state: int) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
        """What every kernel takes, with `state` on its own as the last of the pooled states."""
        groups = [slice(*self.start[i : i + 2]) for i in range(self.pooled.size)]
        alpha0 = self.pooled.tolist()
        place = np.flatnonzero(self.tally.tallied == state)
        if place.size:
            groups.append(groups.pop(int(place[0])))
            alpha0.append(alpha0.pop(int(place[0])))
        elif self.unseen.size > 1:
            alpha0[-1] = float(self.alpha0[self.unseen[self.unseen != state]].sum())
            alpha0.append(float(self.alpha0[state]))
            groups.append(groups[-1])
        start = np.cumsum([0] + [group.stop - group.start for group in groups])
        count = np.concatenate([self.tally.count[group] for group in groups])
        times = np.concatenate([self.tally.times[group] for group in groups])
        return start, count, times, np.array(alpha0)

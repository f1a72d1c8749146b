"""Tally: what the posterior of alpha needs of a table; Pool: a tally under a prior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats, Integers
from colonnade.kernels.states import States

# The variational posterior, where the exact engines put their windows, is needed only roughly.
_CENTRE_TOLERANCE, _CENTRE_ITERATIONS = 1e-5, 100


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Distinct counts of each state and how many configurations have each; and of the rows.

    The i-th tallied state has the distinct counts ``count[start[i]:start[i + 1]]``, each in
    ``times`` configurations.
    """

    states: int  # r, with or without counts
    tallied: Integers  # the states that have counts, most frequent first
    start: Integers
    count: Floats
    times: Floats
    row_count: Floats  # distinct row totals
    row_times: Floats  # how many configurations have each
    constant: float  # of the log evidence: sum of lnGamma over the cells less that over the rows
    total: float
    whole: bool  # all counts are integers

    @classmethod
    def of(cls, values: NDArray[np.generic]) -> Tally:
        """Tally a table ``[configuration, state]`` of valid counts."""
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
    """A tally under a prior, with all states without counts merged into one.

    By the aggregation property of the Dirichlet distribution the total of the unseen states has
    alpha0 equal to the sum of theirs, and its division among them is independent of everything
    else: a variable with a thousand states costs no more than those it was seen in.
    """

    tally: Tally
    s: float
    alpha0: Floats
    states: States  # of the computation: the tallied ones, then the unseen ones as one
    unseen: Integers

    @classmethod
    def of(cls, tally: Tally, s: float, alpha0: Floats) -> Pool:
        """Prepare a computation."""
        start, pooled = tally.start, alpha0[tally.tallied]
        without_counts = np.ones(tally.states, dtype=bool)
        without_counts[tally.tallied] = False
        unseen = np.flatnonzero(without_counts)
        if unseen.size:
            start, pooled = np.append(start, start[-1]), np.append(pooled, alpha0[unseen].sum())
        return cls(tally, s, alpha0, States(start, tally.count, tally.times, pooled), unseen)

    def centre(self, states: States) -> tuple[Floats, Floats]:
        """Parameters a and rates u of the variational posterior: the exact engines work there."""
        from colonnade.kernels.tilt import fixed_point

        a, u, _, _ = fixed_point(states, self.s, _CENTRE_TOLERANCE, _CENTRE_ITERATIONS)
        return a, u

    def place(self, state: int) -> int | None:
        """Where a state is among those of the computation; None if it has no counts."""
        place = np.flatnonzero(self.tally.tallied == state)
        return int(place[0]) if place.size else None

    @property
    def constant(self) -> float:
        """What the log evidence has in common at all s."""
        return self._prior_constant() + self.tally.constant

    def _prior_constant(self) -> float:
        prior = math.lgamma(float(self.alpha0.sum()))
        return prior - sum(math.lgamma(value) for value in self.states.alpha0.tolist())

    def log_evidence(self, log_z: float) -> float:
        """Log evidence from ln Z, the integral over alpha of the product of all f."""
        from colonnade.kernels.special import row_constant

        prior = self._prior_constant()
        rows = row_constant(self.tally.row_count, self.tally.row_times, self.s)
        return log_z + prior - float(rows) + self.tally.constant

    def magnitude(self, log_z: float) -> float:
        """How large the terms of the log evidence are: each is rounded at its own size."""
        from colonnade.kernels.tally import MIN_TOTAL_ROW_BY_ROW

        tally = self.tally
        size = 1.0 + abs(log_z) + abs(tally.constant)
        size += abs(self.log_evidence(log_z) - log_z - tally.constant)
        size += abs(math.lgamma(float(self.alpha0.sum())))
        size += sum(abs(math.lgamma(value)) for value in self.states.alpha0.tolist())
        if tally.row_count.max() < MIN_TOTAL_ROW_BY_ROW:
            # The constant is the difference of two sums of this size.
            cells = zip(tally.count.tolist(), tally.times.tolist(), strict=True)
            size += sum(times * math.lgamma(count) for count, times in cells)
        return size

    def spread(self, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Mean and covariance of all states from those of the pooled ones."""
        r, seen = self.tally.states, self.tally.tallied
        if not self.unseen.size:
            back = np.argsort(seen)
            return mean[back], covariance[np.ix_(back, back)]
        # alpha_x = B D_x with B the unseen total and D ~ Dirichlet(alpha0 of the unseen),
        # independent of B.
        rest = self.states.alpha0[-1]
        parts = self.alpha0[self.unseen] / rest
        total, variance = mean[-1], covariance[-1, -1]
        lift = np.zeros((r, mean.size))
        lift[seen, np.arange(seen.size)] = 1.0
        lift[self.unseen, -1] = parts
        full = lift @ covariance @ lift.T
        within = (np.diag(parts) - np.outer(parts, parts)) / (rest + 1.0)
        full[np.ix_(self.unseen, self.unseen)] += (variance + total * total) * within
        return lift @ mean, full

    def spread_means(self, means: Floats) -> Floats:
        """Means of all states from those of the pooled ones, ``[..., state]``."""
        full = np.empty((len(means), self.tally.states))
        full[:, self.tally.tallied] = means[:, : self.tally.tallied.size]
        if self.unseen.size:
            parts = self.alpha0[self.unseen] / self.states.alpha0[-1]
            full[:, self.unseen] = means[:, -1:] * parts
        return full

    def spread_draws(self, draws: Floats, rng: np.random.Generator) -> Floats:
        """Draws of all states from draws of the pooled ones, ``[draw, state]``."""
        from colonnade.pooling.draws import dirichlet

        full = np.empty((len(draws), self.tally.states))
        full[:, self.tally.tallied] = draws[:, : self.tally.tallied.size]
        if self.unseen.size:
            parameters = np.tile(self.alpha0[self.unseen], (len(draws), 1))
            full[:, self.unseen] = draws[:, -1:] * dirichlet(parameters, rng)
        return full

    def with_last(self, state: int) -> States:
        """The states of the computation, with `state` on its own as the last of them."""
        start, count, times, pooled = self.states
        groups = [slice(*start[i : i + 2]) for i in range(pooled.size)]
        alpha0 = pooled.tolist()
        place = self.place(state)
        if place is not None:
            groups.append(groups.pop(place))
            alpha0.append(alpha0.pop(place))
        elif self.unseen.size > 1:
            alpha0[-1] = float(self.alpha0[self.unseen[self.unseen != state]].sum())
            alpha0.append(float(self.alpha0[state]))
            groups.append(groups[-1])
        return States(
            np.cumsum([0] + [group.stop - group.start for group in groups]),
            np.concatenate([count[group] for group in groups]),
            np.concatenate([times[group] for group in groups]),
            np.array(alpha0),
        )

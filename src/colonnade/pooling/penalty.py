"""What a prior adds to the log likelihood of a table while missing values are being filled in.

Every prior pulls the rows of a table towards one distribution alpha with a strength s, and the
pull is written here as a penalty for each configuration y,

    - s KL(alpha || theta_y),    KL(alpha || theta) = sum_x alpha_x log(alpha_x / theta_x)

which is zero for a row that equals alpha: configurations without data play no part, however many
there are. Given counts n, the rows that maximise sum n log(theta) with the penalty are

    theta_yx = (n_yx + s alpha_x) / (n_y + s)

the posterior mean at this alpha. A prior that does not pool has a uniform alpha; maximum likelihood
has s = 0. Hierarchical pooling lets alpha move, with sum_x alpha0_x log(alpha_x) added for it. That
is concave in theta and alpha together (KL is convex in both), so there is one maximum, and for
alpha alone the second derivatives between different states are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from colonnade.arrays import Array, Floats

_MAX_NEWTON_STEPS = 50
# The part of the objective that a step must promise to gain.
_MIN_GAIN = 1e-13
# The part of a Newton step below which no shorter one is tried.
_MIN_STEP = 1e-9


class Pull(Protocol):
    """What a prior does to the rows of one table in the steps of EM."""

    @property
    def interior(self) -> Self:
        """A pull whose rows have no zeros, for the first step of EM: zeros would remain."""

    def beside(self, codes: Array) -> Self:
        """The same for a table that has the configurations ``[row, parent]``."""

    def moved(self, values: Floats) -> Self:
        """The same with better parameters for some counts ``[row, state]``."""

    def rows(self, values: Floats, otherwise: Floats) -> Floats:
        """Probabilities that raise the penalised likelihood of counts, ``[row, state]``.

        `otherwise` is for rows that nothing determines: without counts and without a penalty.
        """

    def value(self, logs: Floats) -> float:
        """The penalty (or reward, if positive) of rows given by their logarithms."""


@dataclass(frozen=True, slots=True, eq=False)
class Penalty(Pull):
    """The pull of a prior whose rows have a common centre; its rows are the best ones."""

    s: float  # strength; 0 for maximum likelihood
    alpha: Floats  # [state]: what the rows are pulled to
    alpha0: Floats | None = None  # [state]: prior of alpha; None if alpha is fixed

    @property
    def interior(self) -> Penalty:
        return self if self.s else replace(self, s=float(self.alpha.size))

    def beside(self, codes: Array) -> Penalty:
        return self

    def rows(self, values: Floats, otherwise: Floats) -> Floats:
        totals = values.sum(axis=1, keepdims=True) + self.s
        determined = totals > 0.0
        rows = (values + self.s * self.alpha) / np.where(determined, totals, 1.0)
        return np.where(determined, rows, otherwise)

    def value(self, logs: Floats) -> float:
        if not self.s:
            return 0.0
        pull = -self.s * float((self.alpha * (np.log(self.alpha) - logs)).sum())
        return pull if self.alpha0 is None else pull + float(self.alpha0 @ np.log(self.alpha))

    def moved(self, values: Floats) -> Penalty:
        """The same penalty with the best alpha for some counts ``[row, state]``.

        Newton's method on the simplex; every step raises the objective.
        """
        if self.alpha0 is None:
            return self
        alpha = self.alpha
        value = self._best(values, alpha)
        for _ in range(_MAX_NEWTON_STEPS):
            step, gain = self._newton(values, alpha)
            if gain <= _MIN_GAIN * (1.0 + abs(value)):
                break
            falling = step < 0.0
            size = min(1.0, 0.9 * float(np.min(alpha[falling] / -step[falling], initial=np.inf)))
            while size > _MIN_STEP:
                trial = alpha + size * step
                trial /= trial.sum()
                higher = self._best(values, trial)
                if higher > value:
                    break
                size /= 2.0
            else:
                break
            alpha, value = trial, higher
        return replace(self, alpha=alpha)

    def _best(self, values: Floats, alpha: Floats) -> float:
        """The objective at the best rows for an alpha, up to a constant."""
        assert self.alpha0 is not None
        pulled = values + self.s * alpha
        totals = values.sum(axis=1, keepdims=True) + self.s
        logs = np.log(pulled / totals)
        rows = (pulled * logs).sum(axis=1) - self.s * float(alpha @ np.log(alpha))
        return float(rows.sum()) + float(self.alpha0 @ np.log(alpha))

    def _newton(self, values: Floats, alpha: Floats) -> tuple[Floats, float]:
        """Newton step of alpha within the simplex, and twice what it promises to gain."""
        assert self.alpha0 is not None
        pulled = values + self.s * alpha
        totals = values.sum(axis=1, keepdims=True) + self.s
        slope = self.s * np.log(pulled / (totals * alpha)).sum(axis=0) + self.alpha0 / alpha
        bend = self.s * (self.s / pulled - 1.0 / alpha).sum(axis=0) - self.alpha0 / alpha**2
        slope -= (slope / bend).sum() / (1.0 / bend).sum()
        return -slope / bend, float(-(slope**2 / bend).sum())

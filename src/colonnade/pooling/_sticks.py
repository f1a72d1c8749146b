"""The log posterior of alpha on stick-breaking coordinates, for engines that need gradients.

    v_i = sigmoid(z_i - log(r - 1 - i)),   alpha_i = v_i * prod_{j<i} (1 - v_j)

Everything is computed from log alpha, so that a state without counts and alpha0 < 1, whose alpha
may be as small as 1e-100, neither overflows nor is clipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.pooling.tally import Tally

__all__ = ["StickPosterior", "log_simplex"]

_Floats = NDArray[np.float64]


class StickPosterior:
    """log p(z, D), where z are the stick-breaking coordinates of alpha.

    `xp` is the array module to compute with, NumPy or JAX's, and `gammaln` its log gamma function.
    """

    def __init__(self, tally: Tally, s: float, alpha0: _Floats) -> None:
        self.s, self.alpha0, self.r = s, alpha0, alpha0.size
        self.state = np.repeat(tally.tallied, np.diff(tally.start))
        self.count, self.times = tally.count, tally.times
        self.seen = np.bincount(self.state, tally.times, minlength=self.r)
        # Evidence constant: Gamma(A0) / prod Gamma(alpha0_x) * prod_y Gamma(s) / Gamma(s + n_y).
        self.constant = math.lgamma(alpha0.sum()) - math.fsum(map(math.lgamma, alpha0))
        self.constant += math.fsum(
            times * (math.lgamma(s) - math.lgamma(s + n))
            for n, times in zip(tally.row_count, tally.row_times, strict=True)
        )
        # A start near the bulk: each row stands for about as many tables as s allows.
        kept = (tally.row_times @ (s * tally.row_count / (s + tally.row_count))) / tally.total
        totals = np.bincount(self.state, tally.count * tally.times, minlength=self.r)
        self.start = _sticks(alpha0 + kept * totals)

    def log_density(self, z: Any, xp: Any, gammaln: Callable[[Any], Any]) -> Any:
        """Return the log density of one point z [r - 1]; its integral over z is the evidence."""
        log_alpha, jacobian = log_simplex(z, self.r, xp)
        total = self.constant + jacobian + xp.sum((self.alpha0 - 1.0) * log_alpha)
        # Gamma(t + n) / Gamma(t) = t Gamma(t + n) / Gamma(t + 1): finite however small t is.
        total = total + xp.sum(self.seen * (math.log(self.s) + log_alpha))
        t = self.s * xp.exp(log_alpha)[self.state]
        return total + xp.sum(self.times * (gammaln(t + self.count) - gammaln(t + 1.0)))


def log_simplex(z: Any, r: int, xp: Any) -> tuple[Any, Any]:
    """Return log alpha [..., r] and the log Jacobian of alpha in z [..., r - 1]."""
    u = z - np.log(r - 1.0 - np.arange(r - 1))
    taken, rest = -xp.logaddexp(0.0, -u), -xp.logaddexp(0.0, u)
    left = xp.cumsum(rest, axis=-1)
    before = left - rest
    log_alpha = xp.concatenate([taken + before, left[..., -1:]], axis=-1)
    return log_alpha, xp.sum(taken + rest + before, axis=-1)


def _sticks(weights: _Floats) -> _Floats:
    """Coordinates z of alpha = weights / sum(weights)."""
    r = weights.size
    after = np.cumsum(weights[::-1])[::-1][1:]
    sticks: _Floats = np.log(weights[:-1]) - np.log(after) + np.log(r - 1.0 - np.arange(r - 1))
    return sticks

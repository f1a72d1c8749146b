"""What the two exact engines share: what needs no work, and the pool of all the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from colonnade.pooling.alpha import AlphaPosterior, without_data
from colonnade.pooling.tally import Pool, Tally

Floats = NDArray[np.float64]


class PoolEngine(ABC):
    """An engine that computes the posterior of alpha, and its evidence, from a pool."""

    __slots__ = ()

    def solve(self, tally: Tally, s: float, alpha0: Floats) -> AlphaPosterior:
        """Posterior of alpha from a tally."""
        trivial = without_data(tally, alpha0, self)
        return self._solved(Pool.of(tally, s, alpha0)) if trivial is None else trivial

    def log_evidence(self, tally: Tally, s: float, alpha0: Floats) -> float:
        """Log evidence alone."""
        if without_data(tally, alpha0, self) is not None:
            return 0.0
        pool = Pool.of(tally, s, alpha0)
        return pool.log_evidence(self._log_z(pool))

    @abstractmethod
    def _solved(self, pool: Pool) -> AlphaPosterior:
        """Posterior of alpha, where there are counts of two states or more to pool."""

    @abstractmethod
    def _log_z(self, pool: Pool) -> float:
        """Logarithm of the integral that :meth:`Pool.log_evidence` takes."""

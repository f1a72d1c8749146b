"""Engine: what computes the posterior of alpha at one strength s."""

from __future__ import annotations

from abc import ABC, abstractmethod

from colonnade.arrays import Floats
from colonnade.pooling.alpha import AlphaPosterior, without_data
from colonnade.pooling.tally import Pool, Tally


class Engine(ABC):
    """Computes the posterior of alpha from a tally; an engine says how in `_solved`."""

    __slots__ = ()

    def solve(self, tally: Tally, s: float, alpha0: Floats) -> AlphaPosterior:
        """Posterior of alpha from a tally."""
        trivial = without_data(tally, alpha0, self)
        return self._solved(Pool.of(tally, s, alpha0)) if trivial is None else trivial

    def log_evidence(self, tally: Tally, s: float, alpha0: Floats) -> float | None:
        """Log evidence alone; None if the engine has none."""
        if without_data(tally, alpha0, self) is not None:
            return 0.0
        return self._log_evidence(Pool.of(tally, s, alpha0))

    @abstractmethod
    def _solved(self, pool: Pool) -> AlphaPosterior:
        """Posterior of alpha, given at least two states and at least one count."""

    def _log_evidence(self, pool: Pool) -> float | None:
        """Log evidence alone, where it costs less than the posterior."""
        return self._solved(pool).log_evidence

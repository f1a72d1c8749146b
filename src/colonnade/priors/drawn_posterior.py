"""Posteriors without a closed form, whose uncertainty is that of draws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.configurations import Configuration, all_codes, parent_codes
from colonnade.exceptions import checked_level
from colonnade.priors.draws import Draws
from colonnade.priors.table_posterior import SOME_INTERVALS, Interval, TablePosterior

# Draws behind variances and intervals: the ends of a 95 % interval are then within a twentieth of
# its width of where many draws would put them.
DRAWS = 2000
# Drawn numbers that are held at a time.
_MAX_DRAWN = 1 << 22


class DrawnPosterior(TablePosterior):
    """The base class of posteriors whose variances and intervals come from draws."""

    @abstractmethod
    def steady_draws(self) -> Draws:
        """Return the draws behind variances and intervals: always the same ones."""

    @property
    def variance(self) -> Floats:
        """Variance of every cell, ``[configuration, state]``, from draws."""
        self._must_fit("The variance", instead=SOME_INTERVALS)
        codes = all_codes(self.counts.parent_sizes)
        return np.concatenate([drawn.var(axis=-1) for drawn in self._drawn(codes)])

    def interval(
        self, level: float = 0.95, configurations: Sequence[Configuration] | None = None
    ) -> Interval:
        """Equal-tailed credible interval of every cell, ``[configuration, state]``, from draws.

        Parameters
        ----------
        level : float
            Probability inside, between 0 and 1.
        configurations : sequence of int or tuple of int, optional
            Only these, in this order.
        """
        level = checked_level(level)
        sizes = self.counts.parent_sizes
        if configurations is None:
            self._must_fit("The interval", 2, SOME_INTERVALS)
            codes = all_codes(sizes)
        else:
            given = [parent_codes(each, sizes) for each in configurations]
            codes = np.array(given, dtype=np.int64).reshape(len(given), len(sizes))
        tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        ends = [np.quantile(drawn, tails, axis=-1) for drawn in self._drawn(codes)]
        lower, upper = np.concatenate([np.empty((2, 0, self.counts.states)), *ends], axis=1)
        return Interval(lower, upper)

    def _drawn(self, codes: Array) -> Iterator[Floats]:
        """Draws ``[row, state, draw]``, some rows at a time."""
        draws = self.steady_draws()
        size = max(1, _MAX_DRAWN // (DRAWS * self.counts.states))
        for low in range(0, len(codes), size):
            yield np.exp(draws.log_rows(codes[low : low + size], draws_last=True))

"""The tiers of docs/tiers.md in plain NumPy: one configuration and one observation at a time.

Nothing is shared with the package but the tables with one parent, which have tests of their own.
"""

from __future__ import annotations

import itertools

import numpy as np

from colonnade import Hierarchical

STRENGTHS = 2.0 ** np.arange(-5, 8)


class PlainTiers:
    """Tiers of a dense array of counts, one axis per parent and one for the states.

    What was `learned` from other counts, weights and strengths of all bases, may be given.
    """

    def __init__(self, counts, s_mean=4.0, learned=None) -> None:
        self.counts = np.asarray(counts, dtype=float)
        self.parents = tuple(range(self.counts.ndim - 1))
        self.r = self.counts.shape[-1]
        self.s_mean = s_mean
        self.margins = {
            subset: self.counts.sum(axis=tuple(k for k in self.parents if k not in subset))
            for size in range(len(self.parents) + 1)
            for subset in itertools.combinations(self.parents, size)
        }
        self.learned = {} if learned is None else learned
        if learned is not None:
            return
        for size in range(1, len(self.parents) + 1):
            for subset in itertools.combinations(self.parents, size):
                self.learned[subset] = self.one(subset) if size == 1 else self.many(subset)

    def one(self, subset):
        prior = Hierarchical(s="learn", s_mean=self.s_mean)
        return [
            (part.weight, part.s, part.mean)
            for part in prior.posterior(self.margins[subset]).components
        ]

    def many(self, subset):
        grid = self.r * STRENGTHS
        logs = np.zeros((len(subset) + 4, len(grid)))
        own = self.margins[subset]
        for configuration in np.ndindex(own.shape[:-1]):
            given = dict(zip(subset, configuration, strict=True))
            row = own[configuration]
            for x in np.flatnonzero(row):
                gone = min(row[x], 1.0)
                for c, base in enumerate(self.bases(subset, given, x, gone)):
                    chance = (row[x] - gone + grid * base[x]) / (row.sum() - gone + grid)
                    logs[c] += row[x] * np.log(chance)
        mean = 2 * self.s_mean * self.r
        weights = np.exp(logs + 2 * np.log(grid) - 2 * grid / mean - logs.max())
        strengths = np.exp(weights @ np.log(grid) / weights.sum(axis=1))
        return list(zip(weights.sum(axis=1) / weights.sum(), strengths, strict=True))

    def bases(self, subset, given, state=None, gone=0.0):
        def smaller(fewer):
            chosen = itertools.combinations(subset, len(subset) - fewer)
            return np.array([self.row(each, given, state, gone) for each in chosen])

        below = smaller(1)
        geometric = np.exp(np.log(below).mean(axis=0))
        coarse = np.exp(np.log(smaller(2)).mean(axis=0))
        meeting = geometric**2 / coarse
        means = [below.mean(axis=0), geometric, meeting, np.sqrt(geometric * meeting)]
        return [*below, *(mean / mean.sum() for mean in means)]

    def row(self, subset, given, state=None, gone=0.0):
        """Estimate one row, with `gone` observations of a state taken out of every subset."""
        own = self.margins[subset][tuple(given[k] for k in subset)].copy()
        if state is not None:
            own[state] -= gone
        if not subset:
            return (own + 1) / (own.sum() + self.r)
        if len(subset) == 1:
            parts = self.learned[subset]
            return sum(w * (own + s * alpha) / (own.sum() + s) for w, s, alpha in parts)
        bases = self.bases(subset, given, state, gone)
        parts = zip(self.learned[subset], bases, strict=True)
        return sum(w * (own + s * base) / (own.sum() + s) for (w, s), base in parts)

    def table(self):
        shape = self.counts.shape[:-1]
        rows = [self.row(self.parents, dict(enumerate(each))) for each in np.ndindex(shape)]
        return np.array(rows)

    def score(self):
        """Leave-one-out log score: every observation is really taken out of the counts."""
        total = 0.0
        for *configuration, x in zip(*np.nonzero(self.counts), strict=True):
            n = self.counts[(*configuration, x)]
            row = self.row(self.parents, dict(enumerate(configuration)), x, min(n, 1.0))
            total += n * np.log(row[x])
        return total

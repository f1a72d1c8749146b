"""Independent: priors whose rows do not pool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Floats
from colonnade.counts import FamilyCounts, as_counts
from colonnade.pooling.independent import solve_uniform, uniform_log_evidence
from colonnade.pooling.mixture import Component
from colonnade.pooling.penalty import Penalty
from colonnade.pooling.rows import leaning_rows
from colonnade.priors.base import Counts, Prior
from colonnade.priors.checks import checked_states
from colonnade.priors.posterior import CptPosterior
from colonnade.sparse import SparseTable


@dataclass(frozen=True)
class Independent(Prior, ABC):
    """Independent Dirichlet rows, all with the same parameter: strength / r for each cell."""

    @abstractmethod
    def strength(self, counts: FamilyCounts) -> float: ...

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        uniform = _uniform(counts)
        rows = leaning_rows(counts.values, self.strength(counts), uniform)
        return SparseTable.beside(counts, rows, uniform)

    def posterior(self, counts: Counts) -> CptPosterior:
        counts = checked_states(as_counts(counts))
        s = self.strength(counts)
        return CptPosterior(counts, self, (Component(1.0, s, solve_uniform(counts.values, s)),))

    def log_evidence(self, counts: Counts) -> float:
        counts = as_counts(counts)
        return uniform_log_evidence(counts.values, self.strength(counts))

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        return Penalty(self.strength(counts), _uniform(counts))


def _uniform(counts: FamilyCounts) -> Floats:
    return np.full(counts.states, 1.0 / counts.states)

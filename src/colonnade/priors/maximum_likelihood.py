"""MaximumLikelihood: relative frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import UnobservedError, expected
from colonnade.pooling.penalty import Penalty
from colonnade.priors.base import Counts, Prior
from colonnade.sparse import SparseTable


@dataclass(frozen=True, slots=True)
class MaximumLikelihood(Prior):
    """Relative frequencies n_yx / n_y; no prior at all.

    Parameters
    ----------
    unobserved : {"nan", "uniform", "raise"}
        What a configuration without counts gets. A single state is certain in any case.

    Examples
    --------
    >>> MaximumLikelihood().estimate([[3, 1], [0, 0]])
    array([[0.75, 0.25],
           [ nan,  nan]])
    """

    unobserved: Literal["nan", "uniform", "raise"] = "nan"

    keyword: ClassVar[str] = "ml"
    examples: ClassVar[tuple[str, ...]] = ("ml", "ml:uniform")
    score_name: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        if self.unobserved not in ("nan", "uniform", "raise"):
            raise expected('"nan", "uniform" or "raise"', "unobserved", self.unobserved)

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        unobserved = counts.configurations - counts.observed
        if unobserved and self.unobserved == "raise":
            raise UnobservedError(unobserved, counts.configurations, counts)
        blank = self.unobserved == "nan" and counts.states > 1
        default = None if blank else np.full(counts.states, 1.0 / counts.states)
        return SparseTable.beside(counts, counts.values / counts.row_totals[:, None], default)

    def strength(self, counts: FamilyCounts) -> float:
        return 0.0

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        return Penalty(0.0, np.full(counts.states, 1.0 / counts.states))

    @staticmethod
    def _setting(text: str) -> str:
        return text  # "nan" is a word here, and no number

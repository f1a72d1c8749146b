"""Priors whose rows do not pool: SymmetricDirichlet and BDeu, and MaximumLikelihood without any."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from colonnade.arrays import Floats
from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import (
    Advice,
    NotSupportedError,
    UnobservedError,
    amount,
    expected,
    is_word,
)
from colonnade.pooling.alpha import Component, FixedAlpha, shrunken_rows
from colonnade.pooling.penalty import Penalty
from colonnade.pooling.tally import Tally
from colonnade.priors.base import Counts, Prior, checked_counts, checked_positive
from colonnade.priors.posterior import CptPosterior
from colonnade.sparse import SparseTable

# A smaller strength per row loses digits, and its logarithms overflow.
_MIN_STRENGTH = 1e-290


@dataclass(frozen=True)
class Independent(Prior, ABC):
    """Independent Dirichlet rows, all with the same parameter: strength / r for each cell."""

    @abstractmethod
    def strength(self, counts: FamilyCounts) -> float: ...

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        uniform = _uniform(counts)
        rows = shrunken_rows(counts.values, self.strength(counts), uniform)
        return SparseTable.beside(counts, rows, uniform)

    def posterior(self, counts: Counts) -> CptPosterior:
        counts = checked_counts(counts, bits=63)
        known = np.zeros((counts.states, counts.states))
        alpha = FixedAlpha(_uniform(counts), known, self.log_evidence(counts), None)
        return CptPosterior(counts, self, (Component(1.0, self.strength(counts), alpha),))

    def log_evidence(self, counts: Counts) -> float:
        from colonnade.kernels.special import row_constant

        counts = as_counts(counts)
        tally, s = Tally.of(counts.values), self.strength(counts)
        # prod_y Gamma(s) / Gamma(s + n_y) prod_x Gamma(s/r + n_yx) / Gamma(s/r), by distinct counts
        cells = row_constant(tally.count, tally.times, s / tally.states)
        rows = row_constant(tally.row_count, tally.row_times, s)
        return float(cells - rows) + tally.constant

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        return Penalty(self.strength(counts), _uniform(counts))


@dataclass(frozen=True, slots=True)
class SymmetricDirichlet(Independent):
    """Independent Dirichlet rows with s / r for each cell.

    Parameters
    ----------
    s : float, optional
        Strength of each row, from 1e-100 to 1e12; by default r, the number of states, which adds
        one to every cell (the K2 prior).

    Examples
    --------
    >>> SymmetricDirichlet().estimate([[3, 1], [0, 0]]).round(4)
    array([[0.6667, 0.3333],
           [0.5   , 0.5   ]])
    """

    s: float | None = None

    keyword: ClassVar[str] = "symmetric"
    setting: ClassVar[str] = "strength"
    examples: ClassVar[Mapping[str, str]] = {
        "symmetric": "no pooling",
        "symmetric:2": "its strength given",
    }

    def __post_init__(self) -> None:
        if self.s is not None:
            object.__setattr__(self, "s", checked_positive(self.s, "s"))

    def strength(self, counts: FamilyCounts) -> float:
        return self.row_strength(counts.configurations, counts.states)

    def row_strength(self, configurations: int, states: int) -> float:
        return float(states) if self.s is None else self.s


@dataclass(frozen=True, slots=True)
class BDeu(Independent):
    """Independent Dirichlet rows with ess / (r q) for each cell.

    Parameters
    ----------
    ess : float
        Equivalent sample size of the whole table, from 1e-100 to 1e12.

    Examples
    --------
    >>> BDeu(1).estimate([[3, 1], [0, 4]]).round(4)
    array([[0.7222, 0.2778],
           [0.0556, 0.9444]])
    """

    ess: float = 1.0

    keyword: ClassVar[str] = "bdeu"
    setting: ClassVar[str] = "equivalent sample size"
    examples: ClassVar[Mapping[str, str]] = {
        "bdeu": "no pooling, equivalent sample size 1",
        "bdeu:10": "its equivalent sample size given",
    }
    score_equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "ess", checked_positive(self.ess, "ess"))

    def strength(self, counts: FamilyCounts) -> float:
        return self.row_strength(counts.configurations, counts.states)

    def row_strength(self, configurations: int, states: int) -> float:
        try:
            s = self.ess / configurations
        except OverflowError:
            s = 0.0
        if s < _MIN_STRENGTH:
            what = f"{self!r} for a table of {amount(configurations)} configurations"
            reason = "its strength per configuration is zero in floating point"
            raise NotSupportedError(what, reason, Advice.PRIOR_FOR_HUGE_TABLES)
        return s


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
    examples: ClassVar[Mapping[str, str]] = {
        "ml": "relative frequencies",
        "ml:uniform": "uniform probabilities where there are no data",
    }
    score_name: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        if not is_word(self.unobserved, "nan", "uniform", "raise"):
            raise expected('"nan", "uniform" or "raise"', "unobserved", self.unobserved)

    def table(self, counts: Counts) -> SparseTable:
        counts = as_counts(counts)
        unobserved = counts.configurations - counts.observed
        if unobserved and self.unobserved == "raise":
            raise UnobservedError(unobserved, counts.configurations, counts)
        default = None if self.unobserved == "nan" and counts.states > 1 else _uniform(counts)
        return SparseTable.beside(counts, counts.values / counts.row_totals[:, None], default)

    def strength(self, counts: FamilyCounts) -> float:
        return 0.0

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        return Penalty(0.0, _uniform(counts))

    @classmethod
    def from_setting(cls, text: str) -> Self:
        kind: Any = cls  # "nan" is a word here, and no number; which words there are is checked
        made: Self = kind(text)
        return made


def _uniform(counts: FamilyCounts) -> Floats:
    return np.full(counts.states, 1.0 / counts.states)

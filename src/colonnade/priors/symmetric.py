"""SymmetricDirichlet: independent rows with a strength of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from colonnade.counts import FamilyCounts
from colonnade.priors.checks import checked_positive
from colonnade.priors.independent import Independent


@dataclass(frozen=True, slots=True)
class SymmetricDirichlet(Independent):
    """Independent Dirichlet rows with s / r for each cell.

    Parameters
    ----------
    s : float, optional
        Strength of each row; by default r, the number of states, which adds one to every cell (the
        K2 prior).

    Examples
    --------
    >>> SymmetricDirichlet().estimate([[3, 1], [0, 0]]).round(4)
    array([[0.6667, 0.3333],
           [0.5   , 0.5   ]])
    """

    s: float | None = None

    keyword: ClassVar[str] = "symmetric"
    examples: ClassVar[tuple[str, ...]] = ("symmetric", "symmetric:2")

    def __post_init__(self) -> None:
        if self.s is not None:
            object.__setattr__(self, "s", checked_positive(self.s, "s"))

    def strength(self, counts: FamilyCounts) -> float:
        return float(counts.states) if self.s is None else self.s

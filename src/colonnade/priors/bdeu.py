"""BDeu: independent rows that share one equivalent sample size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, NotSupportedError
from colonnade.priors.checks import checked_positive
from colonnade.priors.independent import Independent

# A smaller strength per row loses digits, and its logarithms overflow.
_MIN_STRENGTH = 1e-290


@dataclass(frozen=True, slots=True)
class BDeu(Independent):
    """Independent Dirichlet rows with ess / (r q) for each cell.

    Parameters
    ----------
    ess : float
        Equivalent sample size of the whole table.

    Examples
    --------
    >>> BDeu(1).estimate([[3, 1], [0, 4]]).round(4)
    array([[0.7222, 0.2778],
           [0.0556, 0.9444]])
    """

    ess: float = 1.0

    keyword: ClassVar[str] = "bdeu"
    examples: ClassVar[tuple[str, ...]] = ("bdeu:10",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ess", checked_positive(self.ess, "ess"))

    def strength(self, counts: FamilyCounts) -> float:
        try:
            s = self.ess / counts.configurations
        except OverflowError:
            s = 0.0
        if s < _MIN_STRENGTH:
            raise NotSupportedError(
                f"{self!r} for a table of more than 1e290 configurations",
                "its strength per configuration is zero in floating point",
                Advice.PRIOR_FOR_HUGE_TABLES,
            )
        return s

"""Claims of the paper, what we got, and whether they hold; and which estimator won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from colonnade.studies.tidy import Interval, Tidy, pooled_interval, strata

BASELINES = ("bdeu 1", "bdeu 10")
# By baseline, data set and n.
Gains: TypeAlias = Mapping[tuple[str, str, int], float]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the paper, its figure as printed, what we measured, and whether it holds."""

    claim: str
    paper: str
    ours: str
    criterion: str  # when we say that it holds
    holds: bool | None  # None if this run did not measure what the claim is about

    @property
    def verdict(self) -> str:
        """The answer in a word."""
        return {True: "yes", False: "no", None: "not measured"}[self.holds]


def judged(claim: str, paper: str, criterion: str, found: tuple[str, bool] | None) -> Claim:
    """Put a claim together with what was found, or None if nothing was measured."""
    ours, holds = ("not in this run", None) if found is None else (found[0], bool(found[1]))
    return Claim(claim, paper, ours, criterion, holds)


def mean_gains(results: Tidy, measure: str, scale: float = 1.0) -> Gains:
    """Mean gain of the hierarchical estimator in a measure times `scale`, cell by cell."""
    found = {}
    for base in BASELINES:
        gains = results.gains(measure, "hierarchical", base)
        for name, n in product(results.unique("data"), sorted(results.unique("n"))):
            cell = gains.where(data=name, n=n)
            found[base, name, n] = float((scale * cell["gain"]).mean())
    return found


def share(flags: Sequence[bool] | np.ndarray[Any, Any]) -> str:
    """Write how many of some flags are true."""
    return f"{int(np.sum(flags))} of {len(flags)}"


@dataclass(frozen=True, slots=True)
class Winner:
    """How one estimator did against the others on the same samples."""

    group: Any  # test or data set
    n: int | None  # size of the samples; None for all of them
    measure: str
    estimator: str
    won: float  # repetitions in which it was the best; shared if several were
    repetitions: int
    gain: Interval  # over the paper's estimator, with the 95 % interval of paired differences


def winners(
    results: Tidy, measures: Mapping[str, int], estimators: Sequence[str], group: str
) -> list[Winner]:
    """Say which estimator won how often, and by how much over the paper's.

    Measures are 1 if larger is better, -1 if smaller is; each value of the column `group` is ranked
    separately.
    """
    found = []
    sizes = results.unique("n")
    for measure, sign in measures.items():
        for name in results.unique(group):
            for n in (*sizes, None):
                part = results.where(**{group: name}, n=sizes if n is None else n)
                values = sign * np.stack([part.where(estimator=e)[measure] for e in estimators])
                best = values == values.max(axis=0)
                won = (best / best.sum(axis=0)).sum(axis=1).tolist()
                for estimator, count in zip(estimators, won, strict=True):
                    gains = strata(part.gains(measure, estimator, "hierarchical"))
                    gain = pooled_interval([sign * each for each in gains])
                    runs = values.shape[1]
                    found.append(Winner(name, n, measure, estimator, count, runs, gain))
    return found

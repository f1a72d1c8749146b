"""Claims of the paper, what we got, and whether they hold; and which estimator won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.studies.tidy import Interval, Tidy, pooled_interval, strata


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
        """The answer in a word.

        Examples
        --------
        >>> Claim("The sky is blue", "blue", "grey", "blue", False).verdict
        'no'
        """
        return {True: "yes", False: "no", None: "not measured"}[self.holds]


def judged(claim: str, paper: str, criterion: str, found: tuple[str, bool] | None) -> Claim:
    """Put a claim together with what was found, or None if nothing was measured.

    Examples
    --------
    >>> judged("more is better", "5", "above 4", ("4.5", True)).verdict
    'yes'
    >>> judged("more is better", "5", "above 4", None).ours
    'not in this run'
    """
    ours, holds = ("not in this run", None) if found is None else (found[0], bool(found[1]))
    return Claim(claim, paper, ours, criterion, holds)


def mean_gain(gains: Tidy, **conditions: Any) -> float | None:
    """Mean gain over the rows that match, or None if a value asked for was not run.

    All cells have the same number of repetitions, so this is the mean over cells as well.

    Examples
    --------
    >>> gains = Tidy.of([{"n": 20, "gain": 2.0}, {"n": 20, "gain": 4.0}, {"n": 40, "gain": 0.0}])
    >>> mean_gain(gains, n=20), mean_gain(gains, n=(20, 80))
    (3.0, None)
    """
    for name, wanted in conditions.items():
        values = wanted if isinstance(wanted, list | tuple) else [wanted]
        if not set(values) <= set(gains.unique(name)):
            return None
    return gains.mean("gain", **conditions)


def share(flags: Sequence[bool] | np.ndarray[Any, Any]) -> str:
    """Write how many of some flags are true.

    Examples
    --------
    >>> share([True, True, False])
    '2 of 3'
    """
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
    results: Tidy,
    measures: Mapping[str, int],
    estimators: Sequence[str],
    group: str,
    baseline: str = "hierarchical",
) -> list[Winner]:
    """Say which estimator won how often, and by how much over the baseline.

    Measures are 1 if larger is better, -1 if smaller is; each value of the column `group` is ranked
    separately.

    Examples
    --------
    >>> rows = [
    ...     {"data": "d", "n": 20, "repetition": k, "estimator": e, "auc": v}
    ...     for k, e, v in [(0, "a", 0.5), (0, "b", 0.7), (1, "a", 0.5), (1, "b", 0.9)]
    ... ]
    >>> found = winners(Tidy.of(rows), {"auc": 1}, ["a", "b"], "data", baseline="a")
    >>> [(w.n, w.estimator, w.won, round(w.gain.mean, 3)) for w in found]
    [(20, 'a', 0.0, 0.0), (20, 'b', 2.0, 0.3), (None, 'a', 0.0, 0.0), (None, 'b', 2.0, 0.3)]
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
                    gains = strata(part.gains(measure, estimator, baseline))
                    gain = pooled_interval([sign * each for each in gains])
                    runs = values.shape[1]
                    found.append(Winner(name, n, measure, estimator, count, runs, gain))
    return found

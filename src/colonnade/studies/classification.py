"""Study 3: classification by tree-augmented naive Bayes (Fig. 2, middle and bottom)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.network import BayesianNetwork
from colonnade.studies.claims import Claim, Gains, judged, mean_gains, share
from colonnade.studies.samples import SampleStudy
from colonnade.studies.tidy import Tidy
from colonnade.tables import CodedTable


def class_log_joint(network: BayesianNetwork, table: CodedTable, target: str) -> Floats:
    """Log probability of each row with each class, ``[row, class]``; its own class is ignored."""
    position = table.position(target)
    classes = table.variables[position].cardinality
    codes = [np.repeat(column, classes) for column in table.codes]
    codes[position] = np.tile(np.arange(classes), table.rows)
    every = CodedTable(table.variables, tuple(codes))
    return network.log_likelihood(every).reshape(table.rows, classes)


def measures(log_joint: Floats, truth: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, areas under the ROC curve and log loss of one classifier.

    ``auc`` is the mean over classes of one against the rest; ``auc_weighted`` weights classes by
    their frequency; ``auc_pairs`` is the mean over pairs of classes (Hand and Till). Classes that
    no row, or every row, belongs to have no curve and are left out; NaN if all are. Rows are ranked
    by log odds, as probabilities near 1 would tie by rounding. Among equally probable classes the
    first is predicted.
    """
    from scipy.special import logsumexp

    log_posterior = log_joint - logsumexp(log_joint, axis=1, keepdims=True)
    present = [c for c in range(log_joint.shape[1]) if 0 < np.sum(truth == c) < len(truth)]
    areas, pairs = _areas(_log_odds(log_joint), truth, present)
    sizes = [np.sum(truth == c) for c in present]
    return {
        "accuracy": float(np.mean(log_joint.argmax(axis=1) == truth)),
        "auc": float(areas.mean()) if present else np.nan,
        "auc_weighted": float(np.average(areas, weights=sizes)) if present else np.nan,
        "auc_pairs": float(pairs.mean()) if present else np.nan,
        "log_loss": float(-log_posterior[np.arange(len(truth)), truth].mean()),
    }


def _log_odds(log_joint: Floats) -> Floats:
    """Log of p(class | row) / (1 - p(class | row)), accurate near 1 as well."""
    from scipy.special import logsumexp

    top = (np.arange(len(log_joint)), log_joint.argmax(axis=1))
    # Relative to the most probable class, so that equal odds are equal to the last digit.
    log_joint = log_joint - log_joint[top][:, None]
    total = logsumexp(log_joint, axis=1, keepdims=True)
    # Only the most probable class can have more than a half; the rest is summed separately for it.
    share = np.exp(log_joint - total)
    share[top] = 0.0
    rest = total + np.log1p(-share)
    others = log_joint.copy()
    others[top] = -np.inf
    rest[top] = logsumexp(others, axis=1)
    return np.asarray(log_joint - rest)


def _areas(odds: Floats, truth: NDArray[np.int64], present: Sequence[int]) -> tuple[Floats, Floats]:
    """Probability that a row of a class scores that class higher than a row of another class does.

    Against rows of any other class ``[class]``, and of one other class, for all ordered pairs.
    """
    own = (truth[:, None] == np.array(present, dtype=np.int64)).astype(np.float64)
    totals = own.sum(axis=0)
    won = np.empty((len(present), len(present)))
    for k, c in enumerate(present):
        order = np.argsort(odds[:, c])
        below = np.vstack([np.zeros(len(present)), np.cumsum(own[order], axis=0)])
        scores, ordered = odds[truth == c, c], odds[order, c]
        # Rows with an equal score count as a half.
        low, high = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
        won[k] = 0.5 * (below[low] + below[high]).sum(axis=0)
    other = ~np.eye(len(present), dtype=bool)
    rest = np.where(other, won, 0.0).sum(axis=1) / (totals * (totals.sum() - totals))
    return rest, (won / np.outer(totals, totals))[other]


def _measured(network: BayesianNetwork, test: CodedTable, target: str) -> dict[str, float]:
    truth = test.codes[test.position(target)].astype(np.int64)
    return measures(class_log_joint(network, test, target), truth)


STUDY = SampleStudy("classification", _measured, limited=True)


def claims(results: Tidy, auc: str = "auc") -> list[Claim]:
    """Judge what the paper says of the middle and the bottom of Fig. 2, by one of three AUCs."""
    area, accuracy = (mean_gains(results, measure, 100.0) for measure in (auc, "accuracy"))
    return [*_area_claims(area), *_accuracy_claims(accuracy)]


def _area_claims(gains: Gains) -> list[Claim]:
    sizes = {n for _, _, n in gains}
    first, last = _ends(gains)
    better = np.array(list(gains.values())) > 0.0
    vanishing = f"{last:+.2f} against {first:+.2f}", last < first / 3.0
    return [
        judged(
            "ROC AUC is consistently higher than with both BDeu",
            "all",
            "mean gain above 0 in nine of ten cells (data set, n, ess)",
            (f"{share(better)}, least {min(gains.values()):+.2f}", better.mean() >= 0.9),
        ),
        judged(
            "ROC AUC at n = 20 and 40: gain between 2 and 20 points",
            "2 to 20",
            "mean gain of every data set, n and ess between 1 and 25 points",
            _between(1.0, 25.0, [gain for (_, _, n), gain in gains.items() if n in (20, 40)]),
        ),
        judged(
            "The gain in ROC AUC tends to vanish as n increases",
            "vanishes",
            "mean gain at the largest n less than a third of that at the smallest",
            vanishing if len(sizes) > 1 and max(sizes) >= 1280 else None,
        ),
        judged(
            "ROC AUC for n > 320 on Adult and Letter: gain between 1 and 5 points",
            "1 to 5",
            "mean gain of both, n and ess between 0.5 and 6 points",
            _between(0.5, 6.0, _adult_and_letter(gains, {n for n in sizes if n > 320})),
        ),
    ]


def _accuracy_claims(gains: Gains) -> list[Claim]:
    sizes = {n for _, _, n in gains}
    first, last = _ends(gains)
    falling = f"{last:+.2f} against {first:+.2f}", last < first
    return [
        _small_samples(gains, "bdeu 10", 5.0),
        _small_samples(gains, "bdeu 1", 10.0),
        judged(
            "The gain in accuracy tends to decrease as n increases",
            "decreases",
            "mean gain at the largest n less than at the smallest",
            falling if len(sizes) > 1 else None,
        ),
        judged(
            "Accuracy at n = 1280 on Adult and Letter: gain of 1 to 2 points",
            "1 to 2",
            "mean gain of both, over either ess, between 0.5 and 3 points",
            _between(0.5, 3.0, _adult_and_letter(gains, {1280})),
        ),
    ]


def _small_samples(gains: Gains, base: str, paper: float) -> Claim:
    small = {key: gain for key, gain in gains.items() if key[0] == base and key[2] in (20, 40)}
    found = None
    if 20 in {n for _, _, n in small}:
        mean = float(np.mean(list(small.values())))
        found = f"{mean:+.1f}", 0.5 * paper <= mean <= 1.5 * paper
    return judged(
        f"Accuracy at n = 20 and 40: average gain over {base.replace('bdeu', 'BDeu ess')}",
        f"about {paper:.0f} points",
        f"mean gain between {0.5 * paper:g} and {1.5 * paper:g} points",
        found,
    )


def _ends(gains: Gains) -> tuple[float, float]:
    """Mean gain over all data sets and both BDeu, at the smallest and at the largest n."""
    sizes = [n for _, _, n in gains]
    first, last = (
        np.mean([gain for key, gain in gains.items() if key[2] == n])
        for n in (min(sizes), max(sizes))
    )
    return float(first), float(last)


def _adult_and_letter(gains: Gains, sizes: set[int]) -> list[float]:
    """Gains on Adult and Letter with some n; none if one of them was not run."""
    two = {"adult", "letter"}
    if not two <= {name for _, name, _ in gains}:
        return []
    return [gain for (_, name, n), gain in gains.items() if name in two and n in sizes]


def _between(low: float, high: float, gains: Sequence[float]) -> tuple[str, bool] | None:
    """The range of gains in words, and whether all are between two bounds."""
    if not gains:
        return None
    least, most = min(gains), max(gains)
    return f"{least:+.2f} to {most:+.2f}", low <= least and most <= high

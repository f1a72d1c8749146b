"""How well a network predicts one of its variables, on rows that it was not fitted to."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from colonnade.arrays import Array, Floats, Seed
from colonnade.exceptions import (
    DataError,
    DataWarning,
    NotSupportedError,
    counted,
    expected,
    listing,
    not_among,
    warn,
)
from colonnade.network import BayesianNetwork
from colonnade.network.counts import NetworkCounts
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.report.forests import is_forest, network_of
from colonnade.report.summary import coded_rows
from colonnade.report.tables import rounded
from colonnade.tables.coded import CodedTable
from colonnade.tables.levels import refuse_absent
from colonnade.tables.packages import as_frame, as_list
from colonnade.tables.sources import source_of

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkClassifier, BayesianNetworkForest

# Points of one curve, intervals of predicted probability, and classes that are shown.
_MAX_POINTS = 120
_CALIBRATION_BINS = 10
_MAX_CLASSES = 12
_BAR = "Held-out rows"


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Predictions of one variable for rows that were left out when the tables were estimated.

    Attributes
    ----------
    target : str
        The variable that was predicted.
    truth : array [row]
        Codes of its states in the data.
    probabilities : array [row, state]
        What was predicted.
    folds : int
        Number of parts of the cross-validation.
    relearned : bool
        Whether graphs and cut points were learned again without each fold, and not only the tables.
    """

    target: str
    truth: Array
    probabilities: Floats
    folds: int
    relearned: bool = False


def held_out(
    network: BayesianNetwork | BayesianNetworkClassifier | BayesianNetworkForest,
    data: Any,
    target: str,
    folds: int = 5,
    rng: Seed = 0,
) -> HeldOut:
    """Predict one variable of every row from the others, by tables estimated without its fold.

    The graph, the states and the cut points are those of the network; priors, too. Of a forest
    everything is learned again without the fold.

    Parameters
    ----------
    network : BayesianNetwork, or fitted BayesianNetworkClassifier or BayesianNetworkForest
        Its tables must have priors: it was fitted.
    data : table
        Rows with a column for each variable. Values that are missing are summed out, and
        rows without a value of the target are left out.
    target : str
    folds : int, optional
        Number of parts for cross-validation.
    rng : Generator or int, optional
        Assigns the rows to the folds.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5}
    >>> found = held_out(fit(table, Dag([("a", "b")])), table, "b")
    >>> bool((found.probabilities.argmax(axis=1) == found.truth).all())
    True
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise expected("an integer of at least 2", "folds", folds)
    if is_forest(network):
        return _by_forests(network, data, target, folds, rng)
    network = network_of(network)
    if target not in network:
        raise not_among(network.dag.variables, "target", target)
    priors = {name: prior for name, prior in network.priors.items() if prior is not None}
    if len(priors) < len(network):
        known = next(name for name in network if name not in priors)
        reason = f"the table of {known!r} was given, not estimated"
        raise NotSupportedError("Held-out predictions", reason, "fit a network to data")
    coded = coded_rows(data, network)
    place = coded.position(target)
    unknown = coded.unknown.get(target, {})
    coded = coded.take(coded.codes[place] < coded.variables[place].cardinality)
    fold_of = _folds(coded.codes[place], target, folds, rng, unknown)
    found = np.empty((coded.rows, coded.variables[place].cardinality))
    with Progress(_BAR, folds) as progress:
        for fold in range(folds):
            test = fold_of == fold
            # What other columns lack is not counted, family by family.
            counts = NetworkCounts.of(coded.take(~test), network.dag, "available")
            fresh = counts.network(priors, network.discretizer, group=network.group)
            found[test] = _predicted(fresh, coded.take(test), place)
            progress.advance()
    return HeldOut(target, np.asarray(coded.codes[place]), found, folds)


def _folds(truth: Array, target: str, folds: int, rng: Seed, unknown: Mapping[Any, int]) -> Array:
    """Assign rows to folds, ``[row]``, if there is anything to predict.

    Rows with values of the target that are `unknown` are out already; they are told.
    """
    rows, lost, known = len(truth), "", "value"
    if unknown:
        values = f"{counted(len(unknown), 'value')} that the model does not know"
        lost = f"{values} ({listing(unknown, 5)}) in {counted(sum(unknown.values()), 'row')}"
        known = "value that the model knows"
    besides = f"; it has {lost}." if lost else "."
    spelling = "write its values as the model knows them"
    if rows < folds:
        problem = f"{counted(rows, 'row')} with a {known} of {target!r}, fewer than {folds}"
        raise DataError(
            "Table", problem + besides, spelling if lost else "give more rows, or fewer folds"
        )
    if (truth == truth[0]).all():  # which always succeeds
        problem = f"{target!r} has a single {known}, so there is nothing to predict"
        hint = spelling if lost else "give rows with others, too"
        raise DataError("Table", problem + besides, hint)
    if lost:
        warn(DataWarning(f"Column {target!r}: {lost} left out of held-out predictions."))
    return np.asarray(generator(rng).permutation(rows) % folds)


def _by_forests(
    forest: BayesianNetworkForest, data: Any, target: str, folds: int, rng: Seed
) -> HeldOut:
    """Predict the class of every row by a forest that has not seen its fold."""
    if target != forest.target_name_:
        raise not_among([forest.target_name_], "target", target)
    names = [name for name in forest.networks_[0].dag.variables if name != target]
    refuse_absent([target, *names], list(source_of(data).columns))
    labels = forest.classes_.tolist()
    code = {label: k for k, label in enumerate(labels)}
    spellings = forest.networks_[0][target].family.child.spellings
    code |= {value: code[state] for value, state in spellings.items()}
    given = as_list(source_of(data).columns[target].values)
    truth = np.array([code.get(label, -1) for label in given])
    strange = (label for label, k in zip(given, truth, strict=True) if k < 0)
    unknown = Counter(label for label in strange if label is not None and label == label)
    known = np.flatnonzero(truth >= 0)
    truth = truth[known]
    frame = as_frame({name: data[name] for name in names}).iloc[known]
    fold_of = _folds(truth, target, folds, rng, unknown)
    found = np.empty((len(known), len(labels)))
    with Progress(_BAR, folds) as progress:
        for fold in range(folds):
            test = fold_of == fold
            options = {**forest.get_params(deep=False), "classes": labels, "target_name": target}
            fresh = type(forest)(**options)
            with warnings.catch_warnings():
                # What is to be said of the columns was said of all rows.
                warnings.simplefilter("ignore", UserWarning)
                fresh.fit(frame[~test], forest.classes_[truth[~test]])
                found[test] = fresh.predict_proba(frame[test])
            progress.advance()
    return HeldOut(target, truth, found, folds, relearned=True)


def _predicted(network: BayesianNetwork, rows: CodedTable, place: int) -> Floats:
    """Probability of each state of one variable given the rest of a row, ``[row, state]``."""
    logs = []
    for state in range(rows.variables[place].cardinality):
        codes = list(rows.codes)
        codes[place] = np.full(rows.rows, state)
        trial = CodedTable(rows.variables, tuple(codes), None, rows.discretizer)
        logs.append(network.log_likelihood(trial))
    stacked = np.nan_to_num(np.stack(logs, axis=1), nan=-np.inf)
    largest = stacked.max(axis=1, keepdims=True)
    # A row that no state makes possible says nothing about the state.
    weights = np.where(np.isneginf(largest), 1.0, np.exp(stacked - np.maximum(largest, -1e300)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def described_predictions(network: BayesianNetwork, found: HeldOut) -> dict[str, Any]:
    """Curves and figures about held-out predictions, ready for JSON."""
    truth, chance = found.truth.astype(np.int64), found.probabilities
    rows, size = chance.shape
    guess = chance.argmax(axis=1)
    own = chance[np.arange(rows), truth]
    confusion = np.zeros((size, size), dtype=np.int64)
    np.add.at(confusion, (truth, guess), 1)
    common = np.argsort(-np.bincount(truth, minlength=size), kind="stable")[:_MAX_CLASSES]
    shown = np.sort(common)
    right = (guess == truth).mean()
    # Two classes mirror one another: the second says it all, as in the usual score of two.
    told = slice(1 if size == 2 else 0, None)
    predicted, hit = chance[:, told], np.eye(size)[truth][:, told]
    brier = ((predicted - hit) ** 2).sum(axis=1).mean()
    return {
        "target": network.dag.variables.index(found.target),
        "rows": rows,
        "folds": found.folds,
        "relearned": found.relearned,
        "accuracy": rounded(right),
        "accuracy_error": rounded(math.sqrt(right * (1.0 - right) / rows)),
        "majority": rounded(np.bincount(truth).max() / rows),
        "log_loss": rounded(-np.log(np.maximum(own, 1e-15)).mean()),
        "brier": rounded(brier),
        "classes": shown.tolist(),
        "left_out": size - len(shown),
        "confusion": confusion[np.ix_(shown, shown)].tolist(),
        "roc": [_roc(chance[:, k], truth == k) for k in shown.tolist()],
        "calibration": _calibration(predicted.ravel(), hit.ravel()),
    }


def _roc(scores: Floats, positive: Array) -> dict[str, Any]:
    """The curve of one class against all others, and the area under it."""
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return {"points": [], "area": None}
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.append(0, np.cumsum(positive[order])[ends]) / ups
    false = np.append(0, np.cumsum(~positive[order])[ends]) / downs
    area = float(((true[1:] + true[:-1]) / 2.0 * np.diff(false)).sum())
    few = np.unique(np.linspace(0, len(true) - 1, _MAX_POINTS).round().astype(int))
    return {
        "points": [rounded(pair) for pair in zip(false[few], true[few], strict=True)],
        "area": rounded(area),
    }


def _calibration(chance: Floats, hit: Floats) -> list[dict[str, Any]]:
    """How often what was given some probability came true, all that is told together."""
    place = np.minimum((chance * _CALIBRATION_BINS).astype(int), _CALIBRATION_BINS - 1)
    found = []
    for k in range(_CALIBRATION_BINS):
        inside = place == k
        if number := int(inside.sum()):
            share = float(hit[inside].mean())
            # Wilson's interval, which stays inside 0 and 1.
            z = 1.96
            middle = (share + z * z / (2 * number)) / (1 + z * z / number)
            spread = share * (1 - share) / number + z * z / (4 * number**2)
            half = z * math.sqrt(spread) / (1 + z * z / number)
            found.append(
                {
                    "predicted": rounded(chance[inside].mean()),
                    "came_true": rounded(share),
                    "lower": rounded(middle - half),
                    "upper": rounded(middle + half),
                    "n": number,
                }
            )
    return found

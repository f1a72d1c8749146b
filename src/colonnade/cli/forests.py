"""Forests of networks: learned by `fit`, and asked by `predict`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.cli.data import Missing, WeightedData
from colonnade.cli.models import gaps_told, load
from colonnade.cli.output import grid, say, say_json
from colonnade.cli.restating import restated, variables_in
from colonnade.cli.values import Misuse
from colonnade.exceptions import (
    Advice,
    ColumnWarning,
    DataError,
    DataWarning,
    FileFormatError,
    counted,
    not_among,
    renamed,
    warn,
)

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Prior
    from colonnade.tables import Bins
    from colonnade.tables.files import TextTable

_MAX_SHOWN_FEATURES = 20
# With more different values than this share of the rows, most are in one row each.
_MIN_ROWS, _MAX_CLASS_SHARE = 20, 0.5


def check_forest(data: WeightedData, target: str, output: Path, others: dict[str, object]) -> None:
    """Refuse what a forest does not take; `others` are options that need a single network."""
    for option, value in {**others, "--cut": data.cut}.items():
        if value:
            raise Misuse(f"{option} does not apply with --learn forest.")
    if target in data.restatings and data.restatings[target].order:
        raise Misuse(f"--order: {target!r} is what the forest predicts, whose states are sorted.")
    if data.missing is not Missing.AVAILABLE:
        hint = "leave it out: values that a row lacks are summed out"
        raise Misuse(f"--missing {data.missing} does not apply with --learn forest.", hint=hint)
    if output.suffix.lower() != ".json":
        raise Misuse(f"Expected a name that ends in .json for --output, got {output.name!r}.")


def load_model(path: Path) -> BayesianNetwork | BayesianNetworkForest:
    """Read the network or the forest whose path was given for the parameter `model`."""
    try:
        return load(path)
    except FileFormatError as error:
        if error.hint is not Advice.LOAD_FOREST:
            raise
    from colonnade.classifier import BayesianNetworkForest

    return BayesianNetworkForest.load(path)


class Grown(NamedTuple):
    """A forest, the number of rows that it learned from, and the table with all its columns."""

    forest: BayesianNetworkForest
    rows: int
    table: TextTable


def fit_forest(
    data: WeightedData,
    target: str,
    prior: Prior | None,
    seed: int | None,
    tell: Callable[[str], None],
) -> Grown:
    """Learn a forest that predicts one column from all others that describe rows."""
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.tables.coded import checked_weights
    from colonnade.tables.levels import place
    from colonnade.tables.packages import as_frame, as_list

    whole = data.read_all(data.weights)
    table = data.without_ignored(whole)
    columns = [name for name in table if name != data.weights]
    if target not in columns:
        raise not_among(columns, "target", target)
    clean = restated(table, data.restatings)
    # Each network cuts numbers in its own way, and the forest says which.
    plan = data.plan(clean, weights=data.weights, keep=[target], cuts=False)
    if plan[target].fate == "cut":
        hint = "give --learn tan, which predicts intervals"
        if plan[target].kind == "integers":
            hint += f", or --bins {target}=keep to predict its values"
        raise DataError(f"Column {target!r}", "numbers, and a forest predicts states.", hint)
    features = [name for name in plan.used if name != target]
    if not features:
        raise DataError("Table", f"no column describes rows besides {target!r}.")
    labels = np.array(as_list(table[target]), dtype=object)
    known = np.array([label is not None and label == label for label in labels])
    if not known.all():
        lost = counted(int((~known).sum()), "row")
        warn(DataWarning(f"Column {target!r}: {lost} without a value left out."))
    frame = as_frame({name: table[name] for name in features})[known]
    _warn_of_rare_classes(target, table, labels[known])
    if lacking := gaps_told(frame.isna().sum().to_dict()):
        tell(f"{lacking}; each table was estimated from the rows that have all its values")
    weights = None
    if data.weights is not None:
        weights = checked_weights(table[data.weights], len(labels), place(data.weights))[known]
        if not weights.any():
            raise DataError(place(data.weights), "all weights are 0, so there is no row to learn.")
    # The columns that identify rows are out already, and said to be.
    forest = BayesianNetworkForest(
        prior=prior,
        random_state=seed or 0,
        n_jobs=-1,
        bins=_bins(data, features),
        target_name=target,
        identifiers="keep",
        variables=variables_in(table, data.restatings) or None,
    )
    if len({*labels[known if weights is None else np.flatnonzero(known)[weights > 0]]}) == 1:
        warn_of_single_class(target)
    with renamed(sample_weight="weights"), warnings.catch_warnings():
        # It was said in our words.
        warnings.filterwarnings("ignore", "The number of unique classes")
        forest.fit(frame, np.array(labels[known].tolist()), weights)
    return Grown(forest, int(known.sum()), whole)


def _warn_of_rare_classes(target: str, table: TextTable, labels: NDArray[np.object_]) -> None:
    """Say that a target identifies rows, or that most of its values hardly repeat."""
    from colonnade.tables.bins import Bins
    from colonnade.tables.identifiers import identifier
    from colonnade.tables.sources import source_of

    classes, rows = len({*labels}), len(labels)
    column = source_of(table.only([target])).columns[target]
    unique = identifier(column, Bins(None).read(column)) is not None
    if not unique and (rows < _MIN_ROWS or classes <= _MAX_CLASS_SHARE * rows):
        return
    problem = "most occur once, and cannot be predicted."
    if unique:
        problem = "it seems to identify rows, not to describe them."
    size = f"{counted(classes, 'different value')} in {counted(rows, 'row')}"
    hint = "give --target with a column whose values repeat"
    warn(ColumnWarning(f"Column {target!r} ({size}): {problem}", hint, (target,)))


def warn_of_single_class(target: str) -> None:
    """Say that what is to be predicted is the same in all rows."""
    what = "a single value, so there is nothing to predict."
    warn(DataWarning(f"Column {target!r}: {what}", "give rows with others, too"))


def say_forest(grown: Grown, saved: Path, json: bool, report: Path | None = None) -> None:
    """Show what a forest predicts, from what, and where it and its page are."""
    forest = grown.forest
    names, shares = forest.feature_names_in_.tolist(), forest.feature_importances_.tolist()
    ranked = sorted(zip(names, shares, strict=True), key=lambda pair: -pair[1])
    members, target = len(forest.networks_), forest.target_name_
    if json:
        facts: dict[str, Any] = {
            "saved": str(saved),
            **({} if report is None else {"report": str(report)}),
        }
        facts |= {"target": target, "classes": forest.classes_.tolist(), "rows": grown.rows}
        say_json({**facts, "networks": members, "importances": dict(ranked)})
        return
    size = f"{counted(members, 'network')}, from {counted(len(names), 'column')}"
    size += f" of {counted(grown.rows, 'row')}"
    say(f"Forest that predicts {target}: {size}")
    shown = ranked[:_MAX_SHOWN_FEATURES]
    grid(["column", "share"], [[name, f"{share:.3f}"] for name, share in shown], ["share"])
    if rest := len(ranked) - len(shown):
        say(f"... {counted(rest, 'more column')}; --json shows all")
    say(f"Saved {saved}")
    if report is not None:
        say(f"Saved {report}")


def _bins(data: WeightedData, features: Collection[str]) -> Bins | dict[str, Any] | None:
    """Return what --bins says of features; what it says of the target is part of the plan."""
    from colonnade.tables import Bins

    default, own = data.own_bins()
    each = {name: wanted for name, wanted in own.items() if name in features}
    if default is None:
        return each or None
    return Bins(default, each)

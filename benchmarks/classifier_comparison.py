"""Small training sets: our classifiers beside those of scikit-learn, on many data sets.

Every model has the defaults of its package and is trained on the same stratified samples; up to
1000 of the other rows test it. One per cent of the uniform distribution is mixed into the
probabilities of all of them, so that no single row decides the log-loss. Figures are written to a
file as they come, and a run that was stopped goes on where it was:

    python -m benchmarks.classifier_comparison figures.csv --sizes 20 80 320 --repetitions 5

prints the tables of docs/classifier.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from benchmarks.labelled_data import NAMES, Labelled, labelled
from colonnade import BayesianNetworkClassifier, BayesianNetworkForest, Hierarchical, Tiered
from colonnade.exceptions import TooLargeError

SIZES = (20, 80, 320)
# What a model needs besides the rows it is trained on.
_MOST_TEST_ROWS, _LEAST_TEST_ROWS = 1000, 50
_UNIFORM_SHARE = 0.01
_FIELDS = ("data", "rows", "repetition", "model", "log_loss", "brier", "auc", "accuracy", "seconds")
# Title, and whether more is better.
MEASURES = {
    "log_loss": ("Log-loss", False),
    "brier": ("Brier score", False),
    "auc": ("AUC", True),
    "accuracy": ("Accuracy", True),
}


def _one_hot(data: Labelled, numbers: Any) -> Any:
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((numbers, list(data.numeric)), (hot, data.categorical))


def _naive(data: Labelled) -> BaseEstimator:
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    coded = make_column_transformer((bins, list(data.numeric)), (codes, data.categorical))
    # A category that did not occur has the code after the last.
    sizes = [5] * len(data.numeric)
    sizes += [data.features[name].nunique() + 1 for name in data.categorical]
    last = np.array(sizes) - 1
    moved = FunctionTransformer(lambda codes: np.where(codes < 0, last, codes))
    return make_pipeline(coded, moved, CategoricalNB(min_categories=sizes))


def _boosted(data: Labelled) -> BaseEstimator:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    parts = (("passthrough", list(data.numeric)), (codes, data.categorical))
    first = len(data.numeric)
    marked = [k >= first for k in range(first + len(data.categorical))]
    model = HistGradientBoostingClassifier(categorical_features=marked, random_state=0)
    return make_pipeline(make_column_transformer(*parts), model)


def _single(data: Labelled, **options: Any) -> BaseEstimator:
    return BayesianNetworkClassifier(bins=dict.fromkeys(data.numeric, 5), **options)


def _forest(data: Labelled, size: int) -> BaseEstimator:
    # Measurements are declared as such, whatever values a small sample has.
    most = min(6, max(3, round(size**0.5)))
    return BayesianNetworkForest(bins=dict.fromkeys(data.numeric, most), random_state=0)


MODELS: dict[str, Callable[[Labelled, int], BaseEstimator]] = {
    "forest of networks": _forest,
    "k-DB, tiers": lambda data, size: _single(data, structure="kdb", prior=Tiered()),
    "TAN, tiers": lambda data, size: _single(data, structure="tan", prior=Tiered()),
    "TAN": lambda data, size: _single(data, structure="tan", prior=Hierarchical()),
    "random forest": lambda data, size: make_pipeline(
        _one_hot(data, "passthrough"), RandomForestClassifier(random_state=0)
    ),
    "boosted trees": lambda data, size: _boosted(data),
    "logistic regression": lambda data, size: make_pipeline(
        _one_hot(data, StandardScaler()), LogisticRegression()
    ),
    "CategoricalNB": lambda data, size: _naive(data),
}


def measured(name: str, size: int, repetition: int, model: str) -> dict[str, float]:
    """Train and test one model on one sample."""
    data = labelled(name)
    rest = len(data.labels) - size
    train, test = train_test_split(
        np.arange(len(data.labels)),
        train_size=size,
        test_size=min(rest, _MOST_TEST_ROWS),
        stratify=data.labels,
        random_state=repetition,
    )
    made = MODELS[model](data, size)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown categories, equal edges, iterations
        made.fit(data.features.iloc[train], data.labels[train])
        found = made.predict_proba(data.features.iloc[test])
    seconds = time.perf_counter() - start
    classes = int(data.labels.max()) + 1
    chances = np.zeros((len(test), classes))
    chances[:, made.classes_] = found  # a sample may lack a rare class
    chances = (1.0 - _UNIFORM_SHARE) * chances + _UNIFORM_SHARE / classes
    chances /= chances.sum(axis=1, keepdims=True)
    hidden = data.labels[test]
    own = chances[np.arange(len(test)), hidden]
    return {
        "log_loss": float(-np.log(own).mean()),
        "brier": float(((chances - np.eye(classes)[hidden]) ** 2).sum(axis=1).mean()),
        "auc": float(np.mean([_auc(hidden == c, chances[:, c]) for c in np.unique(hidden)])),
        "accuracy": float((chances.argmax(axis=1) == hidden).mean()),
        "seconds": seconds,
    }


def _auc(own: np.ndarray, chances: np.ndarray) -> float:
    """Area under the curve of one class against all others."""
    return float(roc_auc_score(own, chances))


def possible(name: str, size: int) -> bool:
    """Whether a sample can have all classes and leaves enough rows for a test."""
    labels = labelled(name).labels
    classes = len(np.unique(labels))
    return size >= classes and len(labels) - size >= max(_LEAST_TEST_ROWS, classes)


def fill(path: Path, sizes: list[int], repetitions: int) -> None:
    """Write all figures that the file lacks, one line each."""
    done = set()
    if path.exists():
        with path.open(encoding="utf-8") as file:
            done = {tuple(line.values())[:4] for line in csv.DictReader(file)}
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS)
        if not done:
            writer.writeheader()
        for repetition in range(repetitions):
            for size in sizes:
                for name in NAMES:
                    for model in MODELS if possible(name, size) else ():
                        if (name, str(size), str(repetition), model) in done:
                            continue
                        try:
                            found = measured(name, size, repetition, model)
                        except TooLargeError as error:  # too many values that never occurred
                            print(name, size, model, error, file=sys.stderr)
                            continue
                        key = dict(zip(_FIELDS, (name, size, repetition, model), strict=False))
                        writer.writerow({**key, **{k: round(v, 6) for k, v in found.items()}})
                        file.flush()
                    print(repetition, size, name, "done", file=sys.stderr)


def tables(path: Path) -> str:
    """Write the figures as Markdown: means, mean ranks and wins, then single data sets."""
    figures = pd.read_csv(path)
    parts = []
    models = [model for model in MODELS if model in set(figures["model"])]
    for measure, (title, more) in MEASURES.items():
        mean = figures.pivot_table(measure, ["rows", "data"], "model")[models].dropna()
        rank = mean.round(4).rank(axis=1, ascending=not more)
        lines = [
            f"**{title}** ({'more' if more else 'less'} is better): mean, mean rank, wins\n",
            f"| rows | data sets | {' | '.join(models)} |",
            f"|{' --- |' * (2 + len(models))}",
        ]
        for size, part in mean.groupby(level="rows"):
            ranks = rank.loc[size]
            means = part.mean().round(3)
            best = means.max() if more else means.min()
            cells = []
            for model in models:
                value, wins = means[model], int((ranks[model] == 1).sum())
                shown = f"**{value:.3f}**" if value == best else f"{value:.3f}"
                cells.append(f"{shown}, {ranks[model].mean():.1f}, {wins}")
            lines.append(f"| {size} | {len(part)} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    parts.append(_single_sets(figures, models))
    return "\n\n".join(parts)


def _single_sets(figures: pd.DataFrame, models: list[str]) -> str:
    """Write the log-loss on each data set; the best is bold."""
    mean = figures.pivot_table("log_loss", ["data", "rows"], "model")[models]
    lines = [
        "**Log-loss on each data set**\n",
        f"| data | rows | {' | '.join(models)} |",
        f"|{' --- |' * (2 + len(models))}",
    ]
    for (name, size), row in mean.iterrows():
        best = row.round(3).min()
        cells = [f"**{v:.3f}**" if round(v, 3) == best else f"{v:.3f}" for v in row]
        cells = ["none" if cell == "nan" else cell for cell in cells]
        lines.append(f"| {name} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Fill a file with figures and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="the figures, in CSV")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tables", action="store_true", help="only print the tables")
    options = parser.parse_args()
    if not options.tables:
        fill(options.file, options.sizes, options.repetitions)
    print(tables(options.file))


if __name__ == "__main__":
    main()

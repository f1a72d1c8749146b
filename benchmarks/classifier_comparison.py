"""Small training sets: our classifiers beside those of scikit-learn, on many data sets.

Every model has the defaults of its package and is trained on the same stratified samples; up to
1000 of the other rows test it. One per cent of the uniform distribution is mixed into the
probabilities of all of them, so that no single row decides the log-loss. Figures are written to a
file as they come, and a run that was stopped goes on where it was:

    python -m benchmarks.classifier_comparison figures.csv --sizes 20 80 320 --repetitions 5

prints the tables of docs/classifier.md; `benchmarks.classifier_figures` draws its pictures.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.classifier_models import MODELS
from benchmarks.labelled_data import CHOOSING, CONFIRMING, NAMES, UNEQUAL, labelled, source

SIZES = (20, 80, 320, 1280)
_SETS = {"all": NAMES, "choosing": CHOOSING, "confirming": CONFIRMING, "unequal": UNEQUAL}
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


def predicted(
    name: str, size: int, repetition: int, model: str
) -> tuple[np.ndarray, np.ndarray, float]:
    """Train and test one model: chances ``[row, class]``, classes of the rows, and seconds."""
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
    return chances / chances.sum(axis=1, keepdims=True), data.labels[test], seconds


def measured(name: str, size: int, repetition: int, model: str) -> dict[str, float]:
    """Train and test one model on one sample."""
    chances, hidden, seconds = predicted(name, size, repetition, model)
    own = chances[np.arange(len(hidden)), hidden]
    each = np.eye(chances.shape[1])[hidden]
    return {
        "log_loss": float(-np.log(own).mean()),
        "brier": float(((chances - each) ** 2).sum(axis=1).mean()),
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
    if name in UNEQUAL and size * np.bincount(labels).min() < len(labels):
        return False  # not a row of the rare class, perhaps
    return size >= classes and len(labels) - size >= max(_LEAST_TEST_ROWS, classes)


def fill(path: Path, names: Iterable[str], sizes: list[int], repetitions: int) -> None:
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
                for name in names:
                    for model in MODELS if possible(name, size) else ():
                        if (name, str(size), str(repetition), model) in done:
                            continue
                        found = measured(name, size, repetition, model)
                        key = dict(zip(_FIELDS, (name, size, repetition, model), strict=False))
                        writer.writerow({**key, **{k: round(v, 6) for k, v in found.items()}})
                        file.flush()
                    print(repetition, size, name, "done", file=sys.stderr)


def complete(figures: pd.DataFrame) -> pd.DataFrame:
    """Keep the samples that all models were trained on: a run may have been stopped."""
    figures = figures[figures["model"].isin(list(MODELS))]
    models = figures.groupby(["data", "rows", "repetition"])["model"].transform("nunique")
    return figures[models == len(MODELS)]


def tables(path: Path) -> str:
    """Write the figures as Markdown: means, mean ranks and wins, then single data sets.

    Versions of one source count as one data set, with the mean over them.
    """
    figures = complete(pd.read_csv(path))
    models = list(MODELS)
    kinds = {
        "Data sets that confirm": CONFIRMING,
        "Classes of unequal size, which confirm as well": UNEQUAL,
        "Data sets to choose on": CHOOSING,
    }
    parts = []
    for title, names in kinds.items():
        own = figures[figures["data"].isin(names)]
        own = own.assign(data=own["data"].map(source))
        if len(own):
            parts.append(f"### {title}")
            parts += [summary(own, models, measure) for measure in MEASURES]
    figures = figures.assign(data=figures["data"].map(source))
    return "\n\n".join([*parts, _single_sets(figures, models)])


def summary(figures: pd.DataFrame, models: list[str], measure: str) -> str:
    """Write mean, mean rank and wins of all models in one measure."""
    title, more = MEASURES[measure]
    mean = figures.pivot_table(measure, ["rows", "data"], "model")[models].dropna()
    rank = mean.round(4).rank(axis=1, ascending=not more)
    lines = [
        f"**{title}** ({'more' if more else 'less'} is better): mean, mean rank, wins\n",
        f"| rows | data sets | {' | '.join(models)} |",
        f"|{' --- |' * (2 + len(models))}",
    ]
    for size, part in mean.groupby(level="rows"):
        ranks, means = rank.loc[size], part.mean().round(3)
        best = means.max() if more else means.min()
        cells = []
        for model in models:
            value, wins = means[model], int((ranks[model] == 1).sum())
            shown = f"**{value:.3f}**" if value == best else f"{value:.3f}"
            cells.append(f"{shown}, {ranks[model].mean():.1f}, {wins}")
        lines.append(f"| {size} | {len(part)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _single_sets(figures: pd.DataFrame, models: list[str]) -> str:
    """Write the log-loss on each data set; the best is bold."""
    mean = figures.pivot_table("log_loss", ["data", "rows"], "model")[models]
    lines = [
        "**Log-loss on each data set** (of classes of unequal size, means over versions)\n",
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
    parser.add_argument("--sets", choices=list(_SETS), default="all")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tables", action="store_true", help="only print the tables")
    options = parser.parse_args()
    if not options.tables:
        fill(options.file, _SETS[options.sets], options.sizes, options.repetitions)
    print(tables(options.file))


if __name__ == "__main__":
    main()

"""Small training sets: the classifier beside CategoricalNB, a random forest and boosted trees.

Prints the tables of docs/classifier.md. Every model is trained on the same stratified samples and
judged on all other rows; figures are means over the samples. No model is tuned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

from colonnade import BayesianNetworkClassifier

SIZES = (20, 50, 100, 200)
DATA: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "digits": load_digits,
    "iris": load_iris,
}


def models(features: int = 0) -> dict[str, BaseEstimator]:
    """The models, with the defaults of their packages; CategoricalNB gets the same five bins.

    All features are measurements, so they are cut even where a sample has few different values.
    """
    each = {f"x{k}": 5 for k in range(features)}
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return {
        "naive": BayesianNetworkClassifier("naive", bins=each),
        "tan": BayesianNetworkClassifier("tan", bins=each),
        "tan, auto": BayesianNetworkClassifier("tan", prior="auto", bins=each),
        "CategoricalNB": make_pipeline(bins, CategoricalNB(min_categories=5)),
        "random forest": RandomForestClassifier(random_state=0),
        "boosted trees": HistGradientBoostingClassifier(random_state=0),
    }


def measured(data: Any, size: int, repetitions: int) -> dict[str, np.ndarray]:
    """Mean log-loss, AUC and accuracy of each model."""
    import warnings

    features, labels = data(return_X_y=True)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in models()}
    for seed in range(repetitions):
        train, test, known, hidden = train_test_split(
            features, labels, train_size=size, stratify=labels, random_state=seed
        )
        for name, model in models(features.shape[1]).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # bins of equal edges, on few rows
                chances = model.fit(train, known).predict_proba(test)
            score = chances if chances.shape[1] > 2 else chances[:, 1]
            found[name].append(
                (
                    log_loss(hidden, chances),
                    roc_auc_score(hidden, score, multi_class="ovr"),
                    accuracy_score(hidden, chances.argmax(axis=1)),
                )
            )
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def run(repetitions: int = 10) -> None:
    """Print one Markdown table for each measure; the best of a row is bold."""
    results = {}
    for name, data in DATA.items():
        rows, classes = data().data.shape[0], len(data().target_names)
        for size in SIZES:
            if size <= rows - max(50, classes):
                results[name, size] = measured(data, size, repetitions)
                print(name, size, "done", file=sys.stderr)
    for place, (title, sign) in enumerate(
        (("Log-loss (less is better)", -1), ("AUC", 1), ("Accuracy", 1))
    ):
        print(f"\n**{title}**\n\n| data | rows | {' | '.join(models())} |")
        print(f"|{' --- |' * (2 + len(models()))}")
        for (name, size), values in results.items():
            figures = [round(float(values[model][place]), 3) for model in models()]
            best = max(figures, key=lambda figure: sign * figure)
            cells = [f"**{f:.3f}**" if f == best else f"{f:.3f}" for f in figures]
            print(f"| {name} | {size} | {' | '.join(cells)} |")


if __name__ == "__main__":
    run()

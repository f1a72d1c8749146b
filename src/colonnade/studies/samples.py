"""Samples of real data: what studies learn from, and on which rows they measure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from colonnade.network import BayesianNetwork
from colonnade.priors import Prior
from colonnade.studies.cells import Cell, Workers, fingerprint, generator, run_cells
from colonnade.studies.prepared import ESTIMATORS, Prepared, networks
from colonnade.studies.tidy import Row, Tidy
from colonnade.tables import CodedTable


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """Which samples studies 2 and 3 draw."""

    n: tuple[int, ...] = (20, 40, 80, 160, 320, 640, 1280)  # rows to learn from
    repetitions: int = 10
    seed: int = 1
    test_rows: int = 1000  # rows to classify; study 2 measures on all it did not learn from


@dataclass(frozen=True, slots=True)
class SampleStudy:
    """A study that learns from samples of data sets, and measures on rows not learned from."""

    name: str  # seeds its random numbers, and names the folder of its parts
    # Numbers by name, from a network, the rows to measure on and the name of the class.
    measure: Callable[[BayesianNetwork, CodedTable, str], Mapping[str, float]]
    limited: bool = False  # whether to measure on `test_rows` rows at most
    estimators: Mapping[str, Prior] = field(default_factory=lambda: ESTIMATORS)

    def run_cell(self, settings: SampleSettings, prepared: Prepared, n: int) -> list[Row]:
        """Run all repetitions with n rows of one data set."""
        rows: list[Row] = []
        most = settings.test_rows if self.limited else None
        for repetition in range(settings.repetitions):
            rng = generator(settings.seed, f"{self.name} {prepared.name}", n, repetition)
            order = rng.permutation(prepared.table.rows)
            test = prepared.rows(order[n:][:most])
            about = {"data": prepared.name, "n": n, "repetition": repetition}
            for name, network in networks(prepared, order[:n], self.estimators).items():
                found = self.measure(network, test, prepared.target)
                rows.append({**about, "estimator": name, **found, "test_rows": test.rows})
        return rows

    def run(
        self,
        settings: SampleSettings,
        prepared: Sequence[Prepared],
        folder: Path,
        workers: Workers | None = None,
        what: str = "",
    ) -> Tidy:
        """Run the study on data sets with a structure; parts are kept in a folder of their own."""
        cells = [
            Cell(f"{data.name}-n{n}", partial(self.run_cell, settings, data, n))
            for data in prepared
            for n in settings.n
            if n < data.table.rows
        ]
        mark = sampling_mark(settings, prepared, self.estimators)
        return run_cells(what or self.name, cells, folder / f"{self.name}-{mark}", workers)


def sampling_mark(
    settings: SampleSettings,
    prepared: Sequence[Prepared],
    estimators: Mapping[str, Prior] = ESTIMATORS,
) -> str:
    """Eight digits for everything the numbers of such a study depend on, data included."""
    data = {}
    for each in prepared:
        hashes = [hashlib.sha256(codes.tobytes()).hexdigest() for codes in each.table.codes]
        data[each.name] = [each.table.variables, each.dag.arcs, hashes]
    return fingerprint({**asdict(settings), "estimators": dict(estimators), "data": data})

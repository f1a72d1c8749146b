"""Cells: the parts of a study; each is run once, by any process, and kept in a file."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from colonnade import __version__
from colonnade.progress import Progress
from colonnade.studies.tidy import Row, Tidy


@dataclass(frozen=True, slots=True)
class Cell:
    """One part of a study."""

    name: str  # unique in its study; the name of its file
    task: Callable[[], Sequence[Row]]  # picklable, since another process may run it


def generator(seed: int, study: str, *key: int) -> np.random.Generator:
    """Random numbers of one repetition of one cell, whichever process runs it and in any order."""
    label = int.from_bytes(hashlib.sha256(study.encode()).digest()[:4], "big")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(label, *key)))


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Eight digits for everything the numbers of a study depend on, the version included."""
    text = json.dumps({**settings, "version": __version__}, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class Workers:
    """Processes that run cells, started when first needed and kept for the next study.

    One job runs everything in this process. The numbers do not depend on the number of jobs.
    """

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def results(self, cells: Sequence[Cell]) -> Iterator[tuple[str, Sequence[Row]]]:
        """Yield the rows of each cell as they are ready."""
        if self._jobs == 1 or not cells:
            for cell in cells:
                yield cell.name, cell.task()
            return
        if self._pool is None:
            # Fresh interpreters: compiled code and threads do not survive a fork everywhere.
            # An interrupt from the keyboard is left to the process that started them.
            self._pool = ProcessPoolExecutor(
                self._jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
            )
        futures = {self._pool.submit(cell.task): cell.name for cell in cells}
        for future in as_completed(futures):
            yield futures[future], future.result()


def run_cells(
    what: str, cells: Sequence[Cell], folder: Path, workers: Workers | None = None
) -> Tidy:
    """Run the cells whose files are not there yet, then read all files.

    An interrupted run continues where it stopped. What is returned comes from the files, so that
    numbers are the same whether a cell was run now or earlier. Rows are in the order of the cells;
    `what` is shown beside the progress bar.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {cell.name: folder / f"{cell.name}.csv" for cell in cells}
    todo = [cell for cell in cells if not files[cell.name].exists()]
    with Progress(what, total=len(cells)) as progress:
        progress.advance(len(cells) - len(todo))
        for name, rows in (workers or Workers()).results(todo):
            Tidy.of(rows).write(files[name])
            progress.advance()
    return Tidy.joined([Tidy.read(files[cell.name]) for cell in cells])

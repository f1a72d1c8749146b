"""Plan: what to run, how much of it, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from colonnade.exceptions import checked_whole
from colonnade.progress import Progress
from colonnade.studies.data import SETS, DataSet, fetch_sets, load
from colonnade.studies.engines import EngineSettings
from colonnade.studies.mse import MseSettings
from colonnade.studies.prepared import Prepared
from colonnade.studies.samples import SampleSettings


@dataclass(frozen=True)
class Plan:
    """What to run, and where."""

    out: Path  # folder of results, created if necessary; holds the parts of an interrupted run
    data: Path | None = None  # folder of data files; by default the user's cache
    seed: int = 1
    quick: bool = False  # few repetitions and sizes, and no other readings
    jobs: int = 1  # processes, whose number does not change the results
    names: tuple[str, ...] = tuple(SETS)  # data sets

    def __post_init__(self) -> None:
        checked_whole(self.seed, "seed", least=0)
        checked_whole(self.jobs, "jobs")

    @property
    def parts(self) -> Path:
        """Where the parts of all studies are kept."""
        return self.out / "parts"

    @property
    def mse(self) -> MseSettings:
        """Settings of study 1."""
        if self.quick:
            return MseSettings(r=(2, 8), n=(20, 80, 640), repetitions=3, seed=self.seed)
        return MseSettings(seed=self.seed)

    @property
    def samples(self) -> SampleSettings:
        """Settings of studies 2 and 3."""
        if self.quick:
            return SampleSettings(n=(20, 320), repetitions=2, seed=self.seed)
        return SampleSettings(seed=self.seed)

    @property
    def priors(self) -> SampleSettings:
        """Settings of the comparison of priors."""
        if self.quick:
            return SampleSettings(n=(20, 320), repetitions=2, seed=self.seed)
        return SampleSettings(n=(20, 80, 320, 1280, 5000), seed=self.seed, test_rows=2000)

    @property
    def coverage(self) -> SampleSettings:
        """Settings of the study of intervals."""
        if self.quick:
            return SampleSettings(n=(320,), repetitions=1, seed=self.seed)
        return SampleSettings(n=(80, 320, 1280), repetitions=3, seed=self.seed)

    @property
    def engines(self) -> EngineSettings:
        """Settings of study 4."""
        if self.quick:
            return EngineSettings(((4, 4, 80),), (), draws=1000, warmup=500, seed=self.seed)
        return EngineSettings(sets=self.names, seed=self.seed)

    @cached_property
    def sets(self) -> list[DataSet]:
        """The data sets, downloaded if necessary."""
        found = []
        with Progress("Data", total=len(self.names) + 1) as progress:
            folder = fetch_sets(self.names, self.data)
            progress.advance()
            for name in self.names:
                found.append(load(name, folder))
                progress.advance()
        return found

    def prepared(self, make: Callable[..., Prepared], **reading: Any) -> list[Prepared]:
        """Cut all data sets and learn their structures."""
        found = []
        with Progress("Structures", total=len(self.names)) as progress:
            for data in self.sets:
                found.append(make(data, **reading))
                progress.advance()
        return found

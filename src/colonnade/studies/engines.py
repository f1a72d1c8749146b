"""Study 4: the engines themselves: error of the estimate and time, on tables of studies 1 and 3."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.exceptions import ConvergenceWarning
from colonnade.network import fit
from colonnade.pooling import Exact, Reference, Variational
from colonnade.pooling.alpha import Engine
from colonnade.priors import CptPosterior, Hierarchical
from colonnade.studies.cells import Cell, fingerprint, generator, run_cells
from colonnade.studies.claims import Claim, judged
from colonnade.studies.data import SETS
from colonnade.studies.mse import MseSettings, draw_table
from colonnade.studies.prepared import Prepared
from colonnade.studies.samples import SampleSettings, sampling_mark
from colonnade.studies.tidy import Row, Tidy

LABELS = {
    "exact": "exact",
    "variational": "variational, closed form",
    "advi": "variational, ADVI (NumPyro)",
    "nuts": "MCMC, NUTS (NumPyro)",
}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Which tables are estimated, and how long the samplers run."""

    # (r, q, n) of tables of study 1, test 1.
    tables: tuple[tuple[int, int, int], ...] = ((2, 8, 160), (4, 4, 80), (8, 8, 20), (8, 8, 640))
    sets: tuple[str, ...] = tuple(SETS)  # of study 3; the largest table of each is estimated
    n: int = 320  # rows sampled from each of them
    draws: int = 4000  # of the samplers
    warmup: int | None = None  # None for the package's own choice
    seed: int = 1

    def engines(self) -> dict[str, Engine]:
        """Return the engines by name, the exact one first."""
        return {
            "exact": Exact(),
            "variational": Variational(),
            "advi": Reference("advi", self.draws, self.warmup, seed=self.seed),
            "nuts": Reference("nuts", self.draws, self.warmup, seed=self.seed),
        }


def run_table(
    settings: EngineSettings, study: int, label: str, make: Callable[[], FamilyCounts]
) -> list[Row]:
    """Estimate one table, made by a function from a study, by every engine.

    ``alpha_error`` and ``table_error`` are the largest distances of an entry of E[alpha] and of the
    estimated table from the exact ones.
    """
    counts = make()
    sizes = {"r": counts.states, "q": counts.configurations, "n": int(counts.total)}
    about = {"study": study, "table": label, **sizes}
    found: dict[str, CptPosterior] = {}
    rows: list[Row] = []
    for name, engine in settings.engines().items():
        prior = Hierarchical(engine=engine)
        if not isinstance(engine, Reference):
            prior.posterior([[1, 2], [0, 3]])  # compiled code is loaded before the clock starts
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begin = time.perf_counter()
            found[name] = prior.posterior(counts)
            seconds = time.perf_counter() - begin
        exact = found["exact"]
        row = {
            "engine": name,
            "alpha_error": float(np.abs(found[name].default - exact.default).max()),
            "table_error": _distance(found[name], exact),
            "seconds": seconds,
            "doubted": int(any(issubclass(w.category, ConvergenceWarning) for w in caught)),
        }
        rows.append({**about, **row})
    return rows


def _distance(one: CptPosterior, other: CptPosterior) -> float:
    """Largest difference of an entry, of the observed configurations and the default one."""
    parts = [np.abs(one.observed_mean - other.observed_mean).max(initial=0.0)]
    if one.counts.observed < one.counts.configurations:
        parts.append(np.abs(one.default - other.default).max())
    return float(max(parts))


def simulated(settings: EngineSettings, r: int, q: int, n: int) -> FamilyCounts:
    """Counts of a table of study 1."""
    drawn = draw_table(MseSettings(seed=settings.seed), 1, r, q, n, repetition=0)
    return FamilyCounts.from_array(drawn.counts)


def largest_table(settings: EngineSettings, prepared: Prepared) -> FamilyCounts:
    """Counts of the table with the most entries, learned from a sample of a data set."""
    rng = generator(settings.seed, f"classification {prepared.name}", settings.n, 0)
    sample = rng.permutation(prepared.table.rows)[: settings.n]
    network = fit(prepared.rows(sample), prepared.dag)
    sizes = {f.child.name: f.configurations * f.cardinality for f in network.families}
    counts = network[max(sizes, key=sizes.__getitem__)].counts
    assert counts is not None  # fitted just now
    return counts


def run(settings: EngineSettings, prepared: Sequence[Prepared], folder: Path) -> Tidy:
    """Run the study, one table at a time, so that times are those of an idle machine.

    The data sets have the structure of tree-augmented naive Bayes.
    """
    task = partial(run_table, settings)
    cells = []
    for r, q, n in settings.tables:
        make = partial(simulated, settings, r, q, n)
        cells.append(Cell(f"study1-r{r}-q{q}-n{n}", partial(task, 1, "test 1", make)))
    for data in prepared:
        if data.name in settings.sets:
            make = partial(largest_table, settings, data)
            cells.append(Cell(f"study3-{data.name}", partial(task, 3, data.name, make)))
    mark = fingerprint({**asdict(settings), "data": sampling_mark(SampleSettings(), prepared)})
    return run_cells("Study 4, engines", cells, folder / f"engines-{mark}")


def claims(results: Tidy) -> list[Claim]:
    """Judge what the paper says of its engine."""
    worst, slowest = (
        {name: float(results.where(engine=name)[column].max()) for name in results.unique("engine")}
        for column in ("table_error", "seconds")
    )
    nuts, advi = (results.where(engine=name)["seconds"] for name in ("nuts", "advi"))
    gap = nuts / advi
    errors = (
        f"largest error: ADVI {worst['advi']:.4f}, NUTS {worst['nuts']:.4f} "
        f"(closed form {worst['variational']:.4f})"
    )
    times = (
        f"closed form at most {1e3 * slowest['variational']:.1f} ms, "
        f"ADVI at most {slowest['advi']:.1f} s with compilation "
        f"(exact: {1e3 * slowest['exact']:.1f} ms)"
    )
    sampling = (
        f"{nuts.min():.1f} to {nuts.max():.1f} s, {gap.min():.1f} to {gap.max():.1f} times ADVI"
    )
    return [
        judged(
            "Variational estimates are practically equivalent to those of MCMC",
            "practically equivalent",
            "no entry of a table off by more than 0.01, of ADVI and NUTS against the exact one",
            (errors, max(worst["advi"], worst["nuts"]) <= 0.01),
        ),
        judged(
            "Variational inference takes less than a second for a table",
            "< 1 s",
            "every table, by the closed form",
            (times, slowest["variational"] < 1.0),
        ),
        judged(
            "MCMC takes a couple of minutes for a table",
            "minutes",
            "NUTS takes more than a minute for most tables",
            (sampling, float(np.median(nuts)) > 60.0),
        ),
    ]

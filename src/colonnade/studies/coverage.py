"""Do intervals hold the truth? Shares of known probabilities inside, on samples of real data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.classifier import BayesianNetworkClassifier
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, Prior, Tiered
from colonnade.studies import truths
from colonnade.studies.cells import Cell, Workers, generator, run_cells
from colonnade.studies.figures import draw_coverage
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import LABELS, Prepared, with_tan
from colonnade.studies.samples import SampleSettings, sampling_mark
from colonnade.studies.summary import Section, Table
from colonnade.studies.tidy import Row, Tidy

PRIORS: dict[str, Prior] = {
    "bdeu 1": BDeu(1),
    "bdeu 10": BDeu(10),
    "hierarchical": Hierarchical(),
    "learned": Hierarchical(s="learn"),
    "tiered": Tiered(),
}
LEVEL = 0.9
# Rows from which on the frequencies of the full data set count as the truth.
LEAST_ROWS = 300
# Draws for the intervals of tables, as many as `interval` of a tiered table takes. For the other
# priors exact ends exist, but take most of an hour for all these tables.
_TABLE_DRAWS = 2000
# Queries of each kind for a data set, and draws for their intervals.
_QUERIES, _DRAWS = 12, 500
_TITLES = {
    "table": "Cells of tables with two parents",
    "query": "Queries, one or two states observed",
    "class": "Class probabilities (`predict_interval`)",
}
# What the figure shows. Intervals know about tables and not about the graph, so answers of a whole
# network are held against those of the same graph.
_PANELS = {
    ("table", "frequencies"): "cells of tables",
    ("query", "same graph"): "queries (truth: same graph)",
    ("class", "same graph"): "class probabilities (same graph)",
}


@dataclass(frozen=True, slots=True)
class Held:
    """How intervals did on some probabilities."""

    cells: int
    held: float  # share inside, within half an observation of the full data set
    held_strictly: float  # share inside
    width: float
    error: float  # mean absolute error of the estimates

    @classmethod
    def of(cls, ends: tuple[Floats, Floats], estimate: Floats, truth: Floats, rows: Floats) -> Held:
        """Compare intervals with the truth, ``[row, state]``, known from so many `rows`."""
        lower, upper = ends
        half = 0.5 / np.asarray(rows, dtype=np.float64)[:, None]
        return cls(
            truth.size,
            float(np.mean((lower <= truth + half) & (truth - half <= upper))),
            float(np.mean((lower <= truth) & (truth <= upper))),
            float(np.mean(upper - lower)),
            float(np.mean(np.abs(estimate - truth))),
        )

    @classmethod
    def together(cls, parts: Sequence[Held]) -> Held:
        """All cells of some parts."""
        cells = np.array([part.cells for part in parts])
        values = np.array([[p.held, p.held_strictly, p.width, p.error] for p in parts])
        return cls(int(cells.sum()), *(cells @ values / cells.sum()).tolist())


def on_tables(network: BayesianNetwork, known: Sequence[truths.TableTruth]) -> Held:
    """Intervals of the cells of tables."""
    parts = []
    for truth in known:
        posterior = network[truth.child].posterior
        codes = np.array(truth.configurations, dtype=np.int64)
        drawn = np.exp(posterior.draws(_TABLE_DRAWS, rng=0).log_rows(codes))
        lower, upper = np.quantile(drawn, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=0)
        means = np.array([posterior.row(each) for each in truth.configurations])
        parts.append(Held.of((lower, upper), means, truth.frequencies, truth.rows))
    return Held.together(parts)


def on_queries(network: BayesianNetwork, known: Sequence[truths.QueryTruth]) -> dict[str, Held]:
    """Intervals of answers, by what is taken for the truth."""
    parts: dict[str, list[Held]] = {"frequencies": [], "same graph": []}
    for k, truth in enumerate(known):
        observed = truths.states_of(network, truth.observed)
        answer = network.query(truth.target, observed, draws=_DRAWS, level=LEVEL, rng=k)
        if answer.lower is None or answer.upper is None:
            continue
        ends = answer.lower[None], answer.upper[None]
        for name, values in (("frequencies", truth.frequencies), ("same graph", truth.same_graph)):
            held = Held.of(ends, answer.probabilities[None], values[None], np.array([truth.rows]))
            parts[name].append(held)
    return {name: Held.together(each) for name, each in parts.items()}


def on_classes(
    prior: Prior, known: truths.ClassTruth, sample: NDArray[np.int64]
) -> dict[str, Held]:
    """Intervals of class probabilities, by what is taken for the truth."""
    codes = np.stack(known.table.codes, axis=1).astype(np.int64)
    rows, labels = codes[sample, :-1], codes[sample, -1]
    # A state that the sample does not show is no state to a classifier.
    shown = np.all(
        [np.isin(known.features[:, k], rows[:, k]) for k in range(rows.shape[1])], axis=0
    )
    if not shown.any():
        return {}
    every = range(known.frequencies.shape[1])
    # Codes are states already, however many there are: none of them is cut into intervals.
    states = {f"x{k}": None for k in range(rows.shape[1])}
    model = BayesianNetworkClassifier(
        known.dag, prior, bins=states, classes=every, target_name="class"
    )
    model.fit(rows, labels)
    features = known.features[shown]
    ends, means = model.predict_interval(features, LEVEL, rng=0), model.predict_proba(features)
    return {
        name: Held.of(ends, means, values[shown], known.rows[shown])
        for name, values in (("frequencies", known.frequencies), ("same graph", known.same_graph))
    }


def run_cell(settings: SampleSettings, prepared: Prepared, n: int) -> list[Row]:
    """Run all repetitions with n rows of one data set."""
    tables = truths.tables(prepared, LEAST_ROWS)
    chooser = generator(settings.seed, f"queries {prepared.name}")
    queries = truths.queries(prepared, LEAST_ROWS, _QUERIES, chooser)
    classes = truths.classes(prepared, LEAST_ROWS)
    found: list[Row] = []
    for repetition in range(settings.repetitions):
        rng = generator(settings.seed, f"coverage {prepared.name}", n, repetition)
        sample = rng.permutation(prepared.table.rows)[:n]
        about = {"data": prepared.name, "n": n, "repetition": repetition}
        for name, prior in PRIORS.items():
            network = fit(prepared.rows(sample), prepared.dag, prior)
            results = {("table", "frequencies"): on_tables(network, tables)} if tables else {}
            if queries:
                answers = on_queries(network, queries)
                results |= {("query", truth): held for truth, held in answers.items()}
            if classes is not None:
                answers = on_classes(prior, classes, sample)
                results |= {("class", truth): held for truth, held in answers.items()}
            for (what, truth), held in results.items():
                kind = {"estimator": name, "what": what, "truth": truth}
                found.append({**about, **kind, **asdict(held)})
    return found


def run(plan: Plan, workers: Workers) -> Section:
    """Run the study, write its tables, and say what it found."""
    prepared, settings = plan.prepared(with_tan), plan.coverage
    cells = [
        Cell(f"{data.name}-n{n}", partial(run_cell, settings, data, n))
        for data in prepared
        for n in settings.n
        if n < data.table.rows
    ]
    folder = plan.parts / f"coverage-{sampling_mark(settings, prepared, PRIORS)}"
    return report(run_cells("Coverage", cells, folder, workers), plan.out)


def report(results: Tidy, out: Path) -> Section:
    """Write every repetition and the means; return what the summary says."""
    averages = means(results)
    results.write(out / "coverage.csv")
    Tidy.of(averages).write(out / "coverage-means.csv")
    draw_coverage(averages, _PANELS, LEVEL, out / "coverage.png")
    text = (
        f"Intervals of {100 * LEVEL:g} % from samples of n rows, TAN structures. The truth is "
        f"known from at least {LEAST_ROWS} rows of the full data set: their frequencies, or what "
        "the same graph with the tables of all rows says. A probability is held if the interval "
        "comes within half an observation of these rows, and strictly if it is inside. Every "
        "repetition is in `coverage.csv`."
    )
    tables = [*_mean_tables(averages), _by_data(results)]
    repeated = len(results.unique("repetition")) > 1
    bars = ", with the standard deviation between repetitions," if repeated else ""
    caption = (
        f"Share of probabilities inside {100 * LEVEL:g} % intervals{bars} and the mean width of "
        "the intervals; means over the data sets"
    )
    figures = (("coverage.png", caption),)
    return Section("Do intervals hold the truth?", text, tuple(tables), figures)


def means(results: Tidy) -> list[Row]:
    """Means over data sets, each with the same weight, and their spread over repetitions."""
    rows: list[Row] = []
    kinds = product(results.unique("what"), results.unique("truth"), sorted(results.unique("n")))
    for (what, truth, n), name in product(kinds, PRIORS):
        part = results.where(what=what, truth=truth, n=n, estimator=name)
        if not len(part):
            continue
        sets = part.unique("data")
        averages = {
            measure: float(np.mean([part.mean(measure, data=data) for data in sets]))
            for measure in ("held", "held_strictly", "width", "error")
        }
        by_run = [part.mean("held", repetition=k) for k in part.unique("repetition")]
        about = {"what": what, "truth": truth, "n": n, "estimator": name, "sets": len(sets)}
        # One repetition does not say how much they differ.
        spread = float(np.std(by_run, ddof=1)) if len(by_run) > 1 else math.nan
        rows.append({**about, **averages, "spread": spread})
    return rows


def _mean_tables(averages: Sequence[Row]) -> Iterator[Table]:
    head = ("n", "prior", "held", "± between repetitions", "held strictly", "mean width", "error")
    for what, truth in dict.fromkeys((row["what"], row["truth"]) for row in averages):
        rows = [
            (
                str(row["n"]),
                LABELS[row["estimator"]],
                *(_figure(row[m]) for m in ("held", "spread", "held_strictly", "width", "error")),
            )
            for row in averages
            if (row["what"], row["truth"]) == (what, truth)
        ]
        yield Table(f"{_TITLES[what]}; truth: {truth}", head, tuple(rows))


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _by_data(results: Tidy) -> Table:
    part = results.where(what="table")
    rows = []
    for data, n in product(part.unique("data"), sorted(part.unique("n"))):
        held = [part.where(data=data, n=n, estimator=name)["held"].mean() for name in PRIORS]
        cells = int(part.where(data=data, n=n)["cells"].max())
        rows.append((data, str(n), str(cells), *(f"{each:.3f}" for each in held)))
    head = ("data", "n", "cells", *(LABELS[name] for name in PRIORS))
    return Table("Cells of tables that are held, by data set", head, tuple(rows))

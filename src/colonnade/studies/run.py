"""All studies by one command, with their tables, figures and a summary."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from colonnade import __version__
from colonnade.exceptions import MissingExtraError, expected, listing, require
from colonnade.studies import classification, engines, joint, mse
from colonnade.studies.cells import Workers
from colonnade.studies.claims import Claim, Winner
from colonnade.studies.figures import draw_data_sets, draw_engines, draw_mse, draw_theory
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import with_climbing, with_tan
from colonnade.studies.summary import (
    Section,
    Table,
    claims_table,
    engines_table,
    readings_table,
    winners_table,
    write_summary,
)
from colonnade.studies.tidy import Tidy

__all__ = ["STUDIES", "Plan", "reproduce"]

STUDIES = ("mse", "joint", "classification", "engines")

_Readings = Mapping[str, Mapping[str, Any]]

_OURS = "as above"
# What the paper leaves open, read in another way; see docs/reproduction.md.
_MSE_READINGS: _Readings = {
    "Y drawn": {"parents": "drawn"},
    "Y balanced": {"parents": "balanced"},
    "one alpha for all repetitions": {"truth": "fixed"},
}
_TIES_READINGS: _Readings = {
    "ties above the cut": {"ties": "above"},
    "ties split": {"ties": "split"},
}
_ROOT_READINGS: _Readings = {"root: last feature": {"root": "last"}}
_AUC_READINGS = {"AUC weighted by class": "auc_weighted", "AUC over pairs": "auc_pairs"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one study found."""

    results: Tidy
    readings: Mapping[str, Sequence[Claim]]
    winners: Sequence[Winner] = ()

    @property
    def claims(self) -> Sequence[Claim]:
        """The claims, with what the paper leaves open read as we read it."""
        return self.readings[_OURS]


def _read(
    run: Callable[..., tuple[Tidy, list[Claim]]], study: str, about: str, others: _Readings
) -> tuple[Tidy, dict[str, list[Claim]]]:
    """Run a study by our reading and by others; return our results and the claims of each."""
    results, claims = run(f"{study}, {about}")
    readings = {_OURS: claims}
    for name, reading in others.items():
        readings[name] = run(f"{study}, {name}", **reading)[1]
    return results, readings


def _run_mse(plan: Plan, workers: Workers) -> Outcome:
    def run(what: str, **reading: Any) -> tuple[Tidy, list[Claim]]:
        results = mse.run(replace(plan.mse, **reading), plan.parts, workers, what)
        return results, mse.claims(results)

    results, readings = _read(run, "Study 1", "MSE", {} if plan.quick else _MSE_READINGS)
    return Outcome(results, readings, mse.who_won(results))


def _run_joint(plan: Plan, workers: Workers) -> Outcome:
    def run(what: str, **reading: Any) -> tuple[Tidy, list[Claim]]:
        prepared = plan.prepared(with_climbing, **reading)
        results = joint.run(plan.samples, prepared, plan.parts, workers, what)
        parents = {each.name: each.parents_per_variable for each in prepared}
        return results, joint.claims(results, parents)

    others = {} if plan.quick else _TIES_READINGS
    results, readings = _read(run, "Study 2", "joint distribution", others)
    return Outcome(results, readings, joint.who_won(results))


def _run_classification(plan: Plan, workers: Workers) -> Outcome:
    def run(what: str, **reading: Any) -> tuple[Tidy, list[Claim]]:
        prepared = plan.prepared(with_tan, **reading)
        results = classification.run(plan.samples, prepared, plan.parts, workers, what)
        return results, classification.claims(results)

    others = {} if plan.quick else {**_TIES_READINGS, **_ROOT_READINGS}
    results, readings = _read(run, "Study 3", "classification", others)
    for name, measure in _AUC_READINGS.items():
        readings[name] = classification.claims(results, measure)
    return Outcome(results, readings, classification.who_won(results))


def _run_engines(plan: Plan, workers: Workers) -> Outcome:
    # Its times would mean nothing if other work went on: the workers stay idle.
    settings = plan.engines
    prepared = plan.prepared(with_tan) if settings.sets else []
    results = engines.run(settings, prepared, plan.parts)
    return Outcome(results, {_OURS: engines.claims(results)})


_RUNS = {
    "mse": _run_mse,
    "joint": _run_joint,
    "classification": _run_classification,
    "engines": _run_engines,
}
_TITLES = {
    "mse": "Study 1: mean squared error",
    "joint": "Study 2: joint distribution",
    "classification": "Study 3: classification",
    "engines": "Study 4: the engines",
}


def reproduce(what: str, plan: Plan) -> Path:
    """Run one study, or all, and write their tables, figures and summary.

    Parameters
    ----------
    what : {"mse", "joint", "classification", "engines", "all"}
    plan : Plan

    Returns
    -------
    Path
        The summary, in Markdown; beside it the same as HTML. Called ``summary`` if all studies
        were run, else by the name of the study.
    """
    if what not in (*STUDIES, "all"):
        raise expected(f"one of {listing((*STUDIES, 'all'))}", "what", what)
    chosen = STUDIES if what == "all" else (what,)
    # What is not installed is said now, not after minutes of work.
    for package in ("matplotlib", "jinja2"):
        require(package, feature="Running the studies", extra="report")
    if "engines" in chosen and find_spec("numpyro") is None:
        raise MissingExtraError("The study of the engines", package="numpyro", extra="reference")
    plan.out.mkdir(parents=True, exist_ok=True)
    outcomes = {}
    with Workers(plan.jobs) as workers:
        for name in chosen:
            outcomes[name] = _RUNS[name](plan, workers)
            _write_tables(name, outcomes[name], plan.out)
    figures = _draw(outcomes, plan.out)
    sections = [_section(name, outcomes[name], plan, figures) for name in chosen]
    name = "summary" if what == "all" else what
    write_summary(sections, _about(what, plan), plan.out, name)
    return plan.out / f"{name}.md"


def _write_tables(name: str, outcome: Outcome, out: Path) -> None:
    outcome.results.write(out / f"{name}.csv")
    columns = ("claim", "paper", "ours", "criterion", "verdict")
    claims = [{c: getattr(claim, c) for c in columns} for claim in outcome.claims]
    Tidy.of(claims).write(out / f"{name}-claims.csv")
    won = [
        {
            "group": winner.group,
            "n": "all" if winner.n is None else winner.n,
            "measure": winner.measure,
            "estimator": winner.estimator,
            "won": winner.won,
            "repetitions": winner.repetitions,
            **{f"gain_{part}": getattr(winner.gain, part) for part in winner.gain._fields},
        }
        for winner in outcome.winners
    ]
    if won:
        Tidy.of(won).write(out / f"{name}-winners.csv")


def _draw(outcomes: dict[str, Outcome], out: Path) -> dict[str, list[tuple[str, str]]]:
    """Draw what was run; return the files and captions of each study."""
    figures: dict[str, list[tuple[str, str]]] = {name: [] for name in STUDIES}
    if "mse" in outcomes:
        draw_mse(outcomes["mse"].results, out / "figure1.png")
        draw_theory(outcomes["mse"].results, out / "theory.png")
        figures["mse"] = [
            ("figure1.png", "Gain in MSE of the hierarchical over the Bayesian estimator (Fig. 1)"),
            ("theory.png", "MSE by simulation, and by Theorem 2 where it is known"),
        ]
    real = [outcomes[n].results if n in outcomes else None for n in ("joint", "classification")]
    if any(results is not None for results in real):
        first = "joint" if "joint" in outcomes else "classification"
        both = all(results is not None for results in real)
        file = "figure2.png" if both else f"figure2-{first}.png"
        draw_data_sets(real[0], real[1], out / file)
        caption = "Gains of the hierarchical estimator over BDeu on five data sets (Fig. 2)"
        figures[first] = [(file, caption)]
    if "engines" in outcomes:
        draw_engines(outcomes["engines"].results, out / "engines.png")
        figures["engines"] = [("engines.png", "Time and error of every engine, table by table")]
    return figures


def _section(
    name: str, outcome: Outcome, plan: Plan, figures: dict[str, list[tuple[str, str]]]
) -> Section:
    tables: list[Table] = [claims_table(outcome.claims)]
    if len(outcome.readings) > 1:
        tables.append(readings_table(outcome.readings))
    if outcome.winners:
        tables.append(winners_table(outcome.winners, "test" if name == "mse" else "data"))
    if name == "engines":
        tables.append(engines_table(outcome.results, engines.LABELS))
    listed = "; ".join(f"{key} = {value}" for key, value in plan.settings(name).items())
    text = f"Settings: {listed}. Every repetition is in `{name}.csv`."
    return Section(_TITLES[name], text, tuple(tables), tuple(figures[name]))


def _about(what: str, plan: Plan) -> list[tuple[str, str]]:
    import numpy as np

    command = f"colonnade reproduce {what} --seed {plan.seed}" + " --quick" * plan.quick
    made = f"Colonnade {__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    return [("Command", command), ("Made by", made)]

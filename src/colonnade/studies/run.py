"""All studies by one command, with their tables, figures and a summary."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from colonnade import __version__
from colonnade.exceptions import MissingExtraError, expected, listing, require
from colonnade.studies import classification, coverage, engines, joint, mse, priors, summary
from colonnade.studies.cells import Workers
from colonnade.studies.claims import Claim, Winner, winners
from colonnade.studies.figures import draw_data_sets, draw_engines, draw_mse, draw_theory
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import ESTIMATORS, with_climbing, with_tan
from colonnade.studies.tidy import Tidy

_Result = tuple[Tidy, list[Claim]]
# Files and captions, by study.
_Figures = dict[str, list[tuple[str, str]]]
_OUR_READING = "as above"
_OUR_TITLE = "Beyond the paper"


def _run_mse(plan: Plan, workers: Workers, what: str, **reading: Any) -> _Result:
    results = mse.run(replace(plan.mse, **reading), plan.parts, workers, what)
    return results, mse.claims(results)


def _run_joint(plan: Plan, workers: Workers, what: str, **reading: Any) -> _Result:
    prepared = plan.prepared(with_climbing, **reading)
    results = joint.STUDY.run(plan.samples, prepared, plan.parts, workers, what)
    return results, joint.claims(results, {one.name: one.parents_per_variable for one in prepared})


def _run_classification(plan: Plan, workers: Workers, what: str, **reading: Any) -> _Result:
    prepared = plan.prepared(with_tan, **reading)
    results = classification.STUDY.run(plan.samples, prepared, plan.parts, workers, what)
    return results, classification.claims(results)


def _run_engines(plan: Plan, workers: Workers, what: str) -> _Result:
    # Its times would mean nothing if other work went on: the workers stay idle.
    prepared = plan.prepared(with_tan) if plan.engines.sets else []
    results = engines.run(plan.engines, prepared, plan.parts)
    return results, engines.claims(results)


@dataclass(frozen=True, slots=True)
class _Study:
    """One study: how it is run, what else the paper may mean, and how estimators are ranked."""

    number: int
    title: str
    short_title: str
    run: Callable[..., _Result]
    settings: str  # attribute of the plan
    # What the paper leaves open, read in another way; see docs/reproduction.md.
    readings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Other readings of the same results, which need no other run.
    judgements: Mapping[str, Callable[[Tidy], list[Claim]]] = field(default_factory=dict)
    measures: Mapping[str, int] = field(default_factory=dict)  # 1: larger is better, -1: smaller
    estimators: Sequence[str] = tuple(ESTIMATORS)
    group: str = "data"


_TIES = {"ties above the cut": {"ties": "above"}, "ties split": {"ties": "split"}}
_STUDIES = {
    "mse": _Study(
        1,
        "mean squared error",
        "MSE",
        _run_mse,
        "mse",
        readings={
            "Y drawn": {"parents": "drawn"},
            "Y balanced": {"parents": "balanced"},
            "one alpha for all repetitions": {"truth": "fixed"},
        },
        measures={"mse": -1},
        estimators=tuple(mse.ESTIMATORS),
        group="test",
    ),
    "joint": _Study(
        2,
        "joint distribution",
        "joint distribution",
        _run_joint,
        "samples",
        readings=_TIES,
        measures={"log_likelihood": 1},
    ),
    "classification": _Study(
        3,
        "classification",
        "classification",
        _run_classification,
        "samples",
        readings={**_TIES, "root: last feature": {"root": "last"}},
        judgements={
            "AUC weighted by class": partial(classification.claims, auc="auc_weighted"),
            "AUC over pairs": partial(classification.claims, auc="auc_pairs"),
        },
        measures={"accuracy": 1, "auc": 1, "log_loss": -1},
    ),
    "engines": _Study(4, "the engines", "engines", _run_engines, "engines"),
}
# What the paper does not ask; each is run by its name only.
_QUESTIONS: Mapping[str, Callable[[Plan, Workers], summary.Section]] = {
    "priors": priors.run,
    "coverage": coverage.run,
}
STUDIES = tuple(_STUDIES)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one study found."""

    results: Tidy
    readings: Mapping[str, Sequence[Claim]]
    winners: Sequence[Winner]

    @classmethod
    def of(cls, study: _Study, plan: Plan, workers: Workers) -> Outcome:
        """Run a study, by our reading and by others."""

        def run(what: str, **reading: Any) -> _Result:
            return study.run(plan, workers, f"Study {study.number}, {what}", **reading)

        results, claims = run(study.short_title)
        readings = {_OUR_READING: claims}
        if not plan.quick:
            readings |= {name: run(name, **how)[1] for name, how in study.readings.items()}
        readings |= {name: judge(results) for name, judge in study.judgements.items()}
        ranked = winners(results, study.measures, study.estimators, study.group)
        return cls(results, readings, ranked)

    @property
    def claims(self) -> Sequence[Claim]:
        """The claims, with what the paper leaves open read as we read it."""
        return self.readings[_OUR_READING]


def reproduce(what: str, plan: Plan) -> Path:
    """Run one study, or "all" of the paper, and write their tables, figures and summary.

    Returns the path of the summary in Markdown; beside it is the same as HTML. It is called
    ``summary`` if all studies were run, else by the name of the study.
    """
    known = (*STUDIES, *_QUESTIONS, "all")
    if what not in known:
        raise expected(f"one of {listing(known)}", "what", what)
    # What is not installed is an error now, not after minutes of work.
    for package in ("matplotlib", "jinja2"):
        require(package, feature="Running the studies", extra="report")
    if what in _QUESTIONS:
        plan.out.mkdir(parents=True, exist_ok=True)
        with Workers(plan.jobs) as workers:
            section = _QUESTIONS[what](plan, workers)
        summary.write_summary([section], _about(what, plan), plan.out, what, _OUR_TITLE)
        return plan.out / f"{what}.md"
    return _reproduce_paper(what, plan)


def _reproduce_paper(what: str, plan: Plan) -> Path:
    chosen = STUDIES if what == "all" else (what,)
    if "engines" in chosen and find_spec("numpyro") is None:
        raise MissingExtraError("The study of the engines", package="numpyro", extra="reference")
    plan.out.mkdir(parents=True, exist_ok=True)
    outcomes = {}
    with Workers(plan.jobs) as workers:
        for name in chosen:
            outcomes[name] = Outcome.of(_STUDIES[name], plan, workers)
            _write_tables(name, outcomes[name], plan.out)
    figures = _draw(outcomes, plan.out)
    sections = [_section(name, outcomes[name], plan, figures) for name in chosen]
    name = "summary" if what == "all" else what
    summary.write_summary(sections, _about(what, plan), plan.out, name)
    return plan.out / f"{name}.md"


def _write_tables(name: str, outcome: Outcome, out: Path) -> None:
    outcome.results.write(out / f"{name}.csv")
    columns = ("claim", "paper", "ours", "criterion", "verdict")
    claims = [{c: getattr(claim, c) for c in columns} for claim in outcome.claims]
    Tidy.of(claims).write(out / f"{name}-claims.csv")
    won = []
    for winner in outcome.winners:
        row = {**asdict(winner), "n": "all" if winner.n is None else winner.n}
        gain = row.pop("gain")
        won.append(row | {f"gain_{part}": value for part, value in gain._asdict().items()})
    if won:
        Tidy.of(won).write(out / f"{name}-winners.csv")


def _draw(outcomes: dict[str, Outcome], out: Path) -> _Figures:
    """Draw what was run; return the files and captions of each study."""
    figures: _Figures = {name: [] for name in STUDIES}
    if "mse" in outcomes:
        draw_mse(outcomes["mse"].results, out / "figure1.png")
        draw_theory(outcomes["mse"].results, out / "theory.png")
        figures["mse"] = [
            ("figure1.png", "Gain in MSE of the hierarchical over the Bayesian estimator (Fig. 1)"),
            ("theory.png", "MSE by simulation, and by Theorem 2 where it is known"),
        ]
    real = {n: outcomes[n].results for n in ("joint", "classification") if n in outcomes}
    if real:
        first = next(iter(real))
        file = "figure2.png" if len(real) == 2 else f"figure2-{first}.png"
        draw_data_sets(real.get("joint"), real.get("classification"), out / file)
        caption = (
            "Gains of the hierarchical estimator over BDeu on five data sets (Fig. 2), and, as "
            "lines, those of tiers"
        )
        figures[first] = [(file, caption)]
    if "engines" in outcomes:
        draw_engines(outcomes["engines"].results, out / "engines.png")
        figures["engines"] = [("engines.png", "Time and error of every engine, table by table")]
    return figures


def _section(name: str, outcome: Outcome, plan: Plan, figures: _Figures) -> summary.Section:
    study = _STUDIES[name]
    tables = [summary.claims_table(outcome.claims)]
    if len(outcome.readings) > 1:
        tables.append(summary.readings_table(outcome.readings))
    if outcome.winners:
        tables.append(summary.winners_table(outcome.winners, study.group))
    if name == "engines":
        tables.append(summary.engines_table(outcome.results))
    settings = asdict(getattr(plan, study.settings))
    listed = "; ".join(f"{key} = {value}" for key, value in settings.items())
    text = f"Settings: {listed}. Every repetition is in `{name}.csv`."
    title = f"Study {study.number}: {study.title}"
    return summary.Section(title, text, tuple(tables), tuple(figures[name]))


def _about(what: str, plan: Plan) -> list[tuple[str, str]]:
    import numpy as np

    command = f"colonnade reproduce {what} --seed {plan.seed}" + " --quick" * plan.quick
    made = f"Colonnade {__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    return [("Command", command), ("Made by", made)]

"""`colonnade compare`: graphs, or ways to learn them, side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.data import DataOptions
from colonnade.cli.graphs import Learn, LearnerOptions, dag_of, graph_option
from colonnade.cli.output import figure, grid, say, say_json
from colonnade.cli.values import choice, refuse_repeated
from colonnade.exceptions import counted


def compare(
    *,
    learn: Annotated[
        list[Learn] | None,
        graph_option(
            parser=choice(Learn),
            metavar="HOW",
            help="A way to learn the graph, anew in every fold: hc, tan, chow-liu, kdb or naive; "
            "may be given several times.",
        ),
    ] = None,
    dag: Annotated[
        list[Path] | None,
        graph_option(
            metavar="ARCS.csv",
            help="File with one arc per line: parent,child; may be given several times. Columns "
            "that it does not name are variables without arcs.",
        ),
    ] = None,
    learning: LearnerOptions,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRIOR",
            help="As for fit; may be given several times. By default hierarchical.",
        ),
    ] = None,
    folds: Annotated[int, options.number(2, help="Parts for cross-validation.")] = 5,
    seed: Annotated[
        int, options.number(help="Assigns the rows to the folds, and drives --restarts.")
    ] = 0,
    data: DataOptions,
    json: options.AsJson = False,
) -> None:
    """Compare graphs, or ways to learn them, under several priors.

    By the mean log likelihood of held-out rows, and by the log evidence of all rows. Intervals of
    --bins are cut once, on all rows.

    Example: colonnade compare wine.csv --bins 4 --learn hc --learn tan --target class --prior
    bdeu:1 --prior hierarchical
    """
    from colonnade.structure import compare as compared
    from colonnade.tables import encode

    learners, paths, words = learn or [], dag or [], prior or ["hierarchical"]
    refuse_repeated("--learn", "learners", [str(each) for each in learners])
    refuse_repeated("--dag", "files", [str(path) for path in paths])
    learning.check(learners, paths)
    chosen = [options.prior_of(word) for word in words]
    # By their own words: bdeu is bdeu:1.
    refuse_repeated("--prior", "priors", [each.word for each in chosen])
    priors = {each.word: each for each in chosen}
    table = data.read()
    learning.check_target(list(table))
    # Before any work: graphs must be of these columns.
    dags = {str(path): dag_of(path, list(table), all_columns=True) for path in paths}
    coded = encode(data.discretized(table))
    structures: dict[str, Any] = {
        **dags,
        **{str(each): learning.learner(each, seed) for each in learners},
    }
    found = compared(coded, structures, priors, folds=folds, rng=seed, missing=data.missing.value)
    if json:
        say_json({"folds": found.folds, "rows": [asdict(row) for row in found.rows]})
        return
    say(f"Mean log likelihood of a held-out row, {found.folds} folds, {counted(coded.rows, 'row')}")
    head = ("structure", "prior", "arcs", "held-out", "s.e.", "log evidence")
    lines = []
    for row in found.rows:
        figures = str(row.arcs), f"{row.held_out:.4f}", figure(row.standard_error)
        evidence = "-" if row.log_evidence is None else f"{row.log_evidence:.2f}"
        lines.append((row.structure, row.prior, *figures, evidence))
    grid(head, lines, numbers=head[2:])

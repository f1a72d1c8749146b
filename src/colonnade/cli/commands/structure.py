"""`colonnade structure`: the arcs of a graph, and how certain they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.arcs import ENDINGS, model_string, written
from colonnade.cli.data import WeightedData
from colonnade.cli.graphs import Learn, LearnerOptions, graph_learner, graph_option
from colonnade.cli.models import check_output
from colonnade.cli.output import grid, say, say_json, write_text
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import counted, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.structure import ArcStrengths


def structure(
    *,
    learn: Annotated[
        Learn | None,
        graph_option(
            parser=graph_learner,
            metavar="HOW",
            help="How to learn the graph: hc, ges, exact, pc, tan, chow-liu, kdb or naive, "
            "as for fit.",
            show_default="hc, and tan with --target",
        ),
    ] = None,
    learning: LearnerOptions,
    resamples: Annotated[
        int,
        options.number(
            help="Halves of the rows, drawn at random, in which the graph is learned again, to see "
            "how often each arc is found; 0 for none."
        ),
    ] = 200,
    averaged: Annotated[
        bool,
        typer.Option(
            "--averaged",
            help="Give the arcs that are found often enough in the resamples, not those of the "
            "graph learned from all rows.",
        ),
    ] = False,
    seed: Annotated[int, options.number(help="Draws the resamples, and drives --restarts.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="ARCS",
            parser=file_that(ending_in(ENDINGS)),
            help="File to write: .csv or .tsv (with strengths), .dot, or .txt (a model string). "
            "Each can be given to --dag.",
        ),
    ] = None,
    data: WeightedData,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Learn a graph, and show its arcs with how often each is found in halves of the rows.

    The strength of an arc is the share of the halves with an arc between its two variables; the
    direction is the share of these in which it points as shown, where a direction that neither data
    nor rules can tell counts half each way. The gain is the score that the
    graph would lose without the arc, for graphs that were learned by a score.

    Examples
    --------
    colonnade structure patients.csv -o learned.csv

    colonnade structure patients.csv --learn tan --target cancer --resamples 50 -o arcs.csv
    """
    from colonnade.structure import arc_gain, arc_strength
    from colonnade.structure.resampling import learned
    from colonnade.tables import encode

    chosen = learn or learning.usual
    learning.check([chosen])
    if averaged and not resamples:
        raise Misuse("--averaged applies only with --resamples.")
    if output is not None:
        check_output(output, overwrite)
    table = data.read(data.weights)
    learning.check_target([name for name in table if name != data.weights])
    cut = data.chosen(table, weights=data.weights, keep=[learning.target])
    coded = encode(cut, weights=data.weights)
    learner = learning.learner(chosen, seed, data.missing)
    dag = learned(learner, coded)
    found = None
    if resamples:
        with renamed(learner="learn"):
            found = arc_strength(
                coded,
                learner,
                resamples,
                rng=seed,
                missing=data.missing.value,
                **learning.directions(chosen, coded.names),
            )
        dag = found.averaged() if averaged else dag
    columns = {} if found is None else _columns(dag, found)
    if (score := learning.score_by(chosen)) is not None:
        gains = arc_gain(
            coded,
            dag,
            score,
            graph_prior=learning.prior_of_graphs,
            missing=data.missing.value,
        )
        columns["gain"] = [gains[arc] for arc in dag.arcs]
    if output is not None:
        write_text(output, written(dag, output, columns), overwrite)
    if json:
        say_json(_facts(dag, columns, resamples))
        return
    say(f"{counted(len(dag), 'variable')}, {counted(len(dag.arcs), 'arc')}")
    rows = [
        [*arc, *(f"{values[k]:.2f}" for values in columns.values())]
        for k, arc in enumerate(dag.arcs)
    ]
    if rows:
        grid(["from", "to", *columns], rows, numbers=[*columns])
    if output is not None:
        say(f"Saved {output}")


def _columns(dag: Dag, found: ArcStrengths) -> dict[str, list[float]]:
    """Return strength and direction of each arc."""
    place = {name: k for k, name in enumerate(found.names)}
    pairs = [(place[parent], place[child]) for parent, child in dag.arcs]
    strengths = [float(found.strength[pair]) for pair in pairs]
    directed = [float(found.directed[pair]) for pair in pairs]
    shares = [own / all_ if all_ else 0.0 for own, all_ in zip(directed, strengths, strict=True)]
    return {"strength": strengths, "direction": shares}


def _facts(dag: Dag, columns: dict[str, list[float]], resamples: int) -> dict[str, Any]:
    arcs = [
        {"from": parent, "to": child, **{name: own[k] for name, own in columns.items()}}
        for k, (parent, child) in enumerate(dag.arcs)
    ]
    facts: dict[str, Any] = {"variables": list(dag.variables), "arcs": arcs}
    if not any(set("[]|:") & set(name) for name in dag.variables):
        facts["model_string"] = model_string(dag)
    return {**facts, "resamples": resamples}

"""`colonnade fit` and `colonnade compare`: from a table of data to networks."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.choices import Learn, Learning, Missing, dag_of, prior_of
from colonnade.cli.models import check_output, summarise
from colonnade.cli.output import complain, grid, number, say, say_json
from colonnade.cli.source import Source
from colonnade.exceptions import DataError

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.network import BayesianNetwork
    from colonnade.tables import CodedTable

__all__ = ["compare", "fit"]


def fit(
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="File to write: .json keeps everything; .bif, .xmlbif, .net, .xdsl and .uai keep "
            "the probabilities.",
        ),
    ],
    dag: Annotated[
        Path | None,
        options.about_graph(
            metavar="ARCS.csv",
            help="File with one arc a line: parent,child. A line with one name is a variable "
            "without arcs. Only the variables named here are part of the network.",
        ),
    ] = None,
    learn: Annotated[
        Learn | None,
        options.about_graph(
            metavar="HOW",
            help="Learn the graph: hc (hill climbing), tan (tree-augmented naive Bayes), chow-liu "
            "(a tree), kdb (k-dependence classifier) or naive (naive Bayes). Every column is a "
            "variable.",
        ),
    ] = None,
    target: options.Target = None,
    score: options.ScoreWord = None,
    max_parents: options.MaxParents = None,
    k: options.K = None,
    tabu: options.Tabu = None,
    restarts: options.Restarts = None,
    seed: Annotated[
        int | None,
        options.about_graph(min=0, metavar="N", help="Makes --restarts repeatable."),
    ] = None,
    prior: Annotated[
        str,
        typer.Option(
            metavar="PRIOR",
            help="hierarchical, hierarchical:learn (its strength learned), hierarchical:8 (its "
            "strength given), bdeu:10, symmetric, symmetric:2, ml, or ml:uniform (the same with "
            "uniform probabilities where there are no data).",
        ),
    ] = "hierarchical",
    missing: Annotated[
        Missing,
        options.about_data(
            metavar="HOW",
            help="What to do with rows that lack values: raise (an error), available (each table "
            "uses the rows that are complete for it) or em (rows are completed by EM). With "
            "--learn and one of the last two the graph is learned from the complete rows.",
        ),
    ] = Missing.RAISE,
    weights: Annotated[
        str | None,
        options.about_data(
            metavar="COLUMN",
            help="Column that says how often each row counts; it is no variable.",
        ),
    ] = None,
    bins: options.Bins = None,
    cut: options.Cut = None,
    ignore: options.Ignore = None,
    na: options.Na = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Estimate all tables of a network from data, and save it.

    Give the graph with --dag, or let it be learned with --learn.

    Example: colonnade fit patients.csv --dag arcs.csv --bins 5 -o model.json
    """
    from colonnade.network import fit as estimate
    from colonnade.tables import encode
    from colonnade.tables.sources import absent

    if dag is not None and learn is not None:
        raise typer.BadParameter("give one of them.", param_hint="--dag / --learn")
    if seed is not None and not restarts:
        raise typer.BadParameter("it only applies to --restarts.", param_hint="--seed")
    if ignore and dag is not None:
        problem = "columns that --dag does not name are no part of the network anyway."
        raise typer.BadParameter(problem, param_hint="--ignore")
    learning = Learning(
        () if learn is None else (learn,),
        () if dag is None else (dag,),
        target=target,
        score=score,
        max_parents=max_parents,
        k=k,
        tabu=tabu,
        restarts=restarts,
        seed=seed,
    )
    chosen = prior_of(prior)
    source = Source(data, bins, cut, ignore, na)
    check_output(output, overwrite)
    table = source.read()
    if dag is not None:
        graph = dag_of(dag)
        if error := absent(list(graph.variables), list(table)):
            raise error
        kept = {name: table[name] for name in (*graph.variables, weights) if name in table}
        ready: Any = source.discretized(kept, weights)
        network = estimate(ready, graph, chosen, weights=weights, missing=missing.value)
    else:
        coded = encode(source.discretized(table, weights), weights=weights)
        graph = _learned(learning, coded, missing)
        network = estimate(coded, graph, chosen, missing=missing.value)
    _tell_em(network)
    network.save(output, overwrite)
    summarise(network)
    say(f"Saved {output}")


def compare(
    data: options.Data,
    learn: Annotated[
        list[Learn] | None,
        options.about_graph(
            metavar="HOW",
            help="A way to learn the graph, anew in every fold: hc, tan, chow-liu, kdb or naive; "
            "may be given several times.",
        ),
    ] = None,
    dag: Annotated[
        list[Path] | None,
        options.about_graph(
            metavar="ARCS.csv",
            help="File with one arc a line: parent,child; may be given several times. Columns that "
            "it does not name are variables without arcs.",
        ),
    ] = None,
    target: options.Target = None,
    score: options.ScoreWord = None,
    max_parents: options.MaxParents = None,
    k: options.K = None,
    tabu: options.Tabu = None,
    restarts: options.Restarts = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRIOR",
            help="As for fit; may be given several times. By default hierarchical.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Parts for cross-validation.")] = 5,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Deals the rows to the parts, and drives --restarts."
        ),
    ] = 0,
    bins: options.Bins = None,
    cut: options.Cut = None,
    ignore: options.Ignore = None,
    na: options.Na = None,
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

    paths, words = tuple(dag or ()), prior or ["hierarchical"]
    for option, given in (("--learn", learn or []), ("--dag", paths), ("--prior", words)):
        repeated = [str(each) for each in given if list(given).count(each) > 1]
        if repeated:
            raise typer.BadParameter(f"{repeated[0]!r} is given twice.", param_hint=option)
    learning = Learning(
        tuple(learn or ()),
        paths,
        target=target,
        score=score,
        max_parents=max_parents,
        k=k,
        tabu=tabu,
        restarts=restarts,
        seed=seed,
    )
    priors = {word: prior_of(word) for word in words}
    source = Source(data, bins, cut, ignore, na)
    coded = encode(source.discretized(source.read()))
    found = compared(coded, learning.structures(coded.names), priors, folds=folds, rng=seed)
    if json:
        say_json({"folds": found.folds, "rows": [asdict(row) for row in found.rows]})
        return
    say(f"Mean log likelihood of a held-out row, {found.folds} folds, {coded.rows:,} rows")
    rows = [
        (
            row.structure,
            row.prior,
            str(row.arcs),
            f"{row.held_out:.4f}",
            "-" if math.isnan(row.standard_error) else f"{row.standard_error:.4f}",
            "-" if row.log_evidence is None else f"{row.log_evidence:.2f}",
        )
        for row in found.rows
    ]
    head = ("structure", "prior", "arcs", "held-out", "s.e.", "log evidence")
    grid(head, rows, numbers=head[2:])


def _learned(learning: Learning, coded: CodedTable, missing: Missing) -> Dag:
    """Learn the graph, from the complete rows if some may lack values, and say how it went."""
    from colonnade.structure import Found
    from colonnade.structure.resampling import take

    table = coded
    if missing is not Missing.RAISE and any(coded.missing):
        sizes = [variable.cardinality for variable in coded.variables]
        gaps = [column == size for column, size in zip(coded.codes, sizes, strict=True)]
        rows = np.flatnonzero(~np.any(gaps, axis=0))
        if not rows.size:
            hint = "give the graph with --dag"
            raise DataError("Table", "no row is complete, so no graph can be learned.", hint)
        table = take(coded, rows)
        say(f"Graph learned from the {rows.size:,} complete rows of {coded.rows:,}")
    (learn,) = learning.learn
    found = learning.learner(learn)(table)
    if not isinstance(found, Found):
        return found
    if found.status == "interrupted":
        complain("Warning: interrupted; the best graph so far is used.")
    say(f"Hill climbing: score {found.score:.2f} after {number(len(found.trace), 'step')}")
    return found.dag


def _tell_em(network: BayesianNetwork) -> None:
    em = network.diagnostics
    if em is not None:
        say(f"EM: {number(em.rows, 'incomplete row')}, {number(em.iterations, 'round')}")

"""`colonnade fit`: from a table of data to a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli import options
from colonnade.cli.data import Missing, TrainingData
from colonnade.cli.graphs import Learn, LearnerOptions, dag_of, graph_option
from colonnade.cli.models import check_output, save, summarise
from colonnade.cli.output import complain, say
from colonnade.exceptions import DataError, counted

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.structure import Found
    from colonnade.tables import CodedTable


def fit(
    *,
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
        graph_option(
            metavar="ARCS.csv",
            help="File with one arc per line: parent,child. A line with one name is a variable "
            "without arcs. Only the variables named here are part of the network.",
        ),
    ] = None,
    learn: Annotated[
        Learn | None,
        graph_option(
            metavar="HOW",
            help="Learn the graph: hc (hill climbing), tan (tree-augmented naive Bayes), chow-liu "
            "(a tree), kdb (k-dependence classifier) or naive (naive Bayes). Every column is a "
            "variable.",
        ),
    ] = None,
    learning: LearnerOptions,
    seed: Annotated[
        int | None, graph_option(min=0, metavar="N", help="Makes --restarts repeatable.")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="PRIOR",
            help="What tables are estimated with: {priors}.",
            show_default="hierarchical, and tiered with --group",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the group of each row, such as a site. Each group gets tables of its "
            "own, which borrow from those of the others. It is not part of the graph to be given "
            "or learned.",
        ),
    ] = None,
    data: TrainingData,
    overwrite: options.Overwrite = False,
) -> None:
    """Estimate all tables of a network from data, and save it.

    Give the graph with --dag, or let it be learned with --learn.

    Example: colonnade fit patients.csv --dag arcs.csv --bins 5 -o model.json
    """
    from colonnade.network import fit as estimate
    from colonnade.tables import encode

    if dag is not None and learn is not None:
        raise options.misuse("--dag / --learn", "give one of them.")
    if seed is not None and not learning.restarts:
        raise options.misuse("--seed", "it only applies to --restarts.")
    if data.ignore and dag is not None:
        problem = "columns that --dag does not name are not part of the network anyway."
        raise options.misuse("--ignore", problem)
    learning.check([] if learn is None else [learn], [] if dag is None else [dag])
    for option, column in (("--target", learning.target), ("--weights", data.weights)):
        if group is not None and group == column:
            raise options.misuse("--group", f"{group!r} is given for {option}, too.")
    chosen = options.prior_of(prior or ("tiered" if group is not None else "hierarchical"))
    check_output(output, overwrite)
    weights, missing = data.weights, data.missing
    table = data.read(weights, group)
    if dag is not None:
        graph = dag_of(dag, list(table))
        kept = {name: table[name] for name in (*graph.variables, group, weights) if name in table}
        ready = data.discretized(kept, weights)
        network = estimate(
            ready, graph, chosen, weights=weights, missing=missing.value, group=group
        )
    else:
        assert learn is not None  # checked above
        coded = encode(data.discretized(table, weights), weights=weights)
        others = [name for name in coded.names if name != group]
        own = coded if group is None else encode(coded, columns=others)
        rows = own if missing is Missing.RAISE else _complete(own)
        graph = _told(learning.learner(learn, seed)(rows))
        network = estimate(coded, graph, chosen, missing=missing.value, group=group)
    if em := network.diagnostics:
        say(f"EM: {counted(em.rows, 'incomplete row')}, {counted(em.iterations, 'iteration')}")
    save(network, output, overwrite)
    summarise(network)
    say(f"Saved {output}")


def _complete(coded: CodedTable) -> CodedTable:
    """Return the rows without missing values, which alone a graph can be learned from."""
    from colonnade.structure.resampling import take

    complete = coded.complete
    if complete.all():
        return coded
    if not complete.any():
        hint = "give the graph with --dag"
        raise DataError("Table", "no row is complete, so no graph can be learned.", hint)
    rows = counted(int(complete.sum()), "complete row")
    say(f"Graph learned from the {rows} of {coded.rows:,}")
    return take(coded, complete)


def _told(found: Dag | Found) -> Dag:
    """Return a graph that was learned, and say how it went."""
    from colonnade.structure import Found

    if not isinstance(found, Found):
        return found
    if found.status == "interrupted":
        complain("Warning: interrupted; the best graph so far is used.")
    say(f"Hill climbing: score {found.score:.2f} after {counted(len(found.trace), 'step')}")
    return found.dag

"""`colonnade fit`: from a table of data to a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli import options
from colonnade.cli.commands.report import page_file
from colonnade.cli.data import WeightedData
from colonnade.cli.graphs import Learn, LearnerOptions, dag_of, graph_number, graph_option
from colonnade.cli.models import check_output, save, summarise
from colonnade.cli.output import say
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import counted, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.structure import Found


def fit(
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            parser=options.model_file,
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
            parser=choice(Learn),
            metavar="HOW",
            help="Learn the graph: hc (hill climbing), tan (tree-augmented naive Bayes), chow-liu "
            "(a tree), kdb (k-dependence classifier) or naive (naive Bayes). Every column is a "
            "variable.",
        ),
    ] = None,
    learning: LearnerOptions,
    seed: Annotated[
        int | None,
        graph_number(help="Makes --restarts repeatable."),
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
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT.html",
            parser=page_file,
            help="Write a page about the network and the data as well, to be opened in a browser.",
        ),
    ] = None,
    data: WeightedData,
    overwrite: options.Overwrite = False,
) -> None:
    """Estimate all tables of a network from data, and save it.

    Give the graph with --dag, or let it be learned with --learn.

    Example: colonnade fit patients.csv --dag arcs.csv --bins 5 -o model.json
    """
    from colonnade.network import fit as estimate
    from colonnade.tables import encode

    if dag is not None and learn is not None:
        raise Misuse("Expected --dag or --learn, got both.", hint="leave out one of them")
    if seed is not None and not learning.restarts:
        raise Misuse("--seed applies only with --restarts.")
    if data.ignore and dag is not None:
        hint = "the file of --dag names the columns that are used"
        raise Misuse("--ignore applies only with --learn.", hint=hint)
    learning.check([] if learn is None else [learn], [] if dag is None else [dag])
    for option, column in (("--target", learning.target), ("--weights", data.weights)):
        if group is not None and group == column:
            raise Misuse(f"--group: {group!r} is given for {option}, too.")
    chosen = options.prior_of(prior or ("tiered" if group is not None else "hierarchical"))
    check_output(output, overwrite)
    if report is not None:
        check_output(report, overwrite, "report")
    weights, missing = data.weights, data.missing
    table = data.read(weights, group)
    learning.check_target([name for name in table if name not in (weights, group)])
    if dag is not None:
        graph = dag_of(dag, list(table))
        kept = {name: table[name] for name in (*graph.variables, group, weights) if name in table}
        ready = data.discretized(kept, weights, "the graph of --dag")
        network = estimate(
            ready, graph, chosen, weights=weights, missing=missing.value, group=group
        )
    else:
        assert learn is not None  # checked above
        coded = encode(data.discretized(table, weights), weights=weights)
        others = [name for name in coded.names if name != group]
        own = coded if group is None else encode(coded, columns=others)
        graph = _told(learning.learner(learn, seed, missing)(own))
        network = estimate(coded, graph, chosen, missing=missing.value, group=group)
    if em := network.diagnostics:
        say(f"EM: {counted(em.rows, 'incomplete row')}, {counted(em.iterations, 'iteration')}")
    save(network, output, overwrite)
    summarise(network, more=f"colonnade show {output} --limit {len(network)} shows all")
    say(f"Saved {output}")
    if report is not None:
        from colonnade.report import held_out, write

        # Without weights, which held-out rows would need as well.
        judged = None
        if learning.target is not None and weights is None:
            judged = held_out(network, table, learning.target)
        with renamed(path="report"):
            title = data.path.name
            write(network, report, data=table, held_out=judged, title=title, overwrite=overwrite)
        say(f"Saved {report}")


def _told(found: Dag | Found) -> Dag:
    """Return a graph that was learned, and say how it went."""
    from colonnade.structure import Found

    if not isinstance(found, Found):
        return found
    say(f"Hill climbing: score {found.score:.2f} after {counted(len(found.trace), 'step')}")
    return found.dag

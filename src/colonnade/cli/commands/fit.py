"""`colonnade fit`: from a table of data to a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli import options
from colonnade.cli.arcs import dag_of
from colonnade.cli.commands.report import judged, page_file
from colonnade.cli.data import WeightedData
from colonnade.cli.forests import check_forest, fit_forest, say_forest
from colonnade.cli.graphs import Learn, LearnerOptions, graph_number, graph_option
from colonnade.cli.models import check_output, described, gaps_in, save, summarise
from colonnade.cli.output import say, say_json
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import counted, expected, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Prior
    from colonnade.structure import Found, FoundByTests
    from colonnade.tables.files import TextTable

_NO_ARCS = (
    "No arcs: no dependence is strong enough for this score. --score hierarchical finds weaker "
    "ones, and --target VARIABLE makes a graph that predicts"
)


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
            help="File with the graph: one arc per line, parent,child, where a line with one name "
            "is a variable without arcs; or DOT (.dot), a model string (.txt), or a network. Only "
            "the variables named here are part of the network.",
        ),
    ] = None,
    learn: Annotated[
        Learn | None,
        graph_option(
            parser=choice(Learn),
            metavar="HOW",
            help="Learn the graph: hc (hill climbing), ges (greedy search among classes of "
            "equivalent graphs), exact (the best of all graphs, for up to 20 variables), pc (tests "
            "of independence), tan (tree-augmented naive Bayes), chow-liu "
            "(a tree), kdb (k-dependence classifier), naive (naive Bayes) or forest (many random "
            "networks that predict the target together). Every column that describes rows is a "
            "variable.",
            show_default="hc, and tan with --target",
        ),
    ] = None,
    learning: LearnerOptions,
    seed: Annotated[
        int | None,
        graph_number(help="Makes --restarts and --learn forest repeatable."),
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
    json: options.AsJson = False,
) -> None:
    """Estimate all tables of a network from data, and save it.

    Without further options the graph is learned by hill climbing, numbers are cut into five
    intervals, and columns that do not describe rows are left out; whatever was done is said. See
    first with colonnade inspect. Give the graph with --dag, or say how to learn it with --learn.

    Examples
    --------
    colonnade fit patients.csv -o model.json

    colonnade fit patients.csv --learn tan --target cancer --cut "bmi: 18.5, 25 = thin, normal,
    heavy" -o model.json

    colonnade fit patients.csv --dag arcs.csv --group site --missing em -o model.json
    """
    request = _Request(dag, learn, learning, seed, group, data)
    request.check()
    if request.learner is Learn.FOREST:
        check_forest(data, output, {"--group": group, "--report": report})
    chosen = options.prior_of(prior or ("tiered" if group is not None else "hierarchical"))
    check_output(output, overwrite)
    if report is not None:
        check_output(report, overwrite, "report")
    if request.learner is Learn.FOREST:
        forest = fit_forest(data, str(learning.target), None if prior is None else chosen, seed)
        with renamed(path="output"):
            forest.save(output, overwrite)
        say_forest(forest, output, json)
        return
    network, table = request.fitted(chosen, say if not json else _unsaid)
    save(network, output, overwrite)
    saved = [str(output)]
    if report is not None:
        from colonnade.report import write

        tell = say if not json else _unsaid
        weighted = data.weights is not None
        figures = {} if weighted else judged(network, table, learning.target, tell)
        if weighted:
            tell("The report has no figures on held-out rows: rows have weights")
        with renamed(path="report"):
            title = data.path.name
            write(network, report, data=table, title=title, overwrite=overwrite, **figures)
        saved.append(str(report))
    if json:
        page = {} if report is None else {"report": str(report)}
        say_json({"saved": str(output), **page, **described(network)})
        return
    summarise(network, more=f"colonnade show {output} --limit {len(network)} shows all")
    for name in saved:
        say(f"Saved {name}")


def _unsaid(_: str) -> None:
    """Say nothing: JSON alone is printed."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What is to be learned from which data."""

    dag: Path | None
    learn: Learn | None
    learning: LearnerOptions
    seed: int | None
    group: str | None
    data: WeightedData

    @property
    def learner(self) -> Learn:
        return self.learning.usual if self.learn is None else self.learn

    def check(self) -> None:
        """Refuse options that do not go together."""
        learning, data = self.learning, self.data
        if self.dag is not None and self.learn is not None:
            raise Misuse("Expected --dag or --learn, got both.", hint="leave out one of them")
        if self.seed is not None and not learning.restarts and self.learner is not Learn.FOREST:
            raise Misuse("--seed applies only with --restarts or --learn forest.")
        hint = "the file of --dag names the columns that are used"
        for option, value in (("--ignore", data.ignore), ("--keep", data.keep)):
            if value and self.dag is not None:
                raise Misuse(f"{option} applies only with --learn.", hint=hint)
        learning.check([] if self.dag is not None else [self.learner], forests=True)
        others = {"--target": [learning.target], "--weights": [data.weights]}
        for option, columns in {**others, "--ignore": data.ignore or ()}.items():
            if self.group is not None and self.group in columns:
                raise Misuse(f"--group: {self.group!r} is given for {option}, too.")

    def fitted(
        self, prior: Prior, tell: Callable[[str], None]
    ) -> tuple[BayesianNetwork, TextTable]:
        """Read, learn and estimate, and tell how it went; return the network and the table read."""
        from colonnade.network import fit as estimate
        from colonnade.tables import encode

        data, weights, group = self.data, self.data.weights, self.group
        table = data.read(weights, group)
        self.learning.check_target([name for name in table if name not in (weights, group)])
        if self.dag is not None:
            graph = dag_of(self.dag, list(table))
            if weights is not None and weights in graph:
                raise expected("a column that is no variable of the graph", "weights", weights)
            names = [name for name in (*graph.variables, group, weights) if name in table]
            cut = data.discretized(
                table.only(name for name in names if name is not None), weights=weights, group=group
            )
            taken = [*graph.variables, *([] if group is None or group in graph else [group])]
            coded = encode(cut, weights=weights, columns=taken, group=group)
        else:
            cut = data.chosen(table, weights=weights, keep=[self.learning.target], group=group)
            coded = encode(cut, weights=weights, group=group)
            others = [name for name in coded.names if name != group]
            own = coded if group is None else encode(coded, columns=others)
            missing = data.missing
            found = self.learning.learner(self.learner, self.seed, missing)(own)
            graph = _told(found, self.learner, tell)
        network = estimate(coded, graph, prior, missing=data.missing.value, group=group)
        if lacking := gaps_in(coded):
            tell(f"{lacking}; --missing {data.missing} was used")
        if em := network.diagnostics:
            tell(f"EM: {counted(em.rows, 'incomplete row')}, {counted(em.iterations, 'iteration')}")
        return network, table


_SEARCHES = {
    Learn.HC: "Hill climbing",
    Learn.GES: "Greedy equivalence search",
    Learn.EXACT: "Best of all graphs",
    Learn.PC: "Tests of independence",
}


def _told(found: Dag | Found | FoundByTests, learn: Learn, tell: Callable[[str], None]) -> Dag:
    """Return a graph that was learned, and say how it went."""
    from colonnade.structure import Found, FoundByTests, FoundClass

    if not isinstance(found, Found | FoundByTests):
        return found
    if isinstance(found, FoundByTests):
        result = f"{found.tests:,} made"
    else:
        result = f"score {found.score:.2f}"
        result += f" after {counted(len(found.trace), 'step')}" if learn is not Learn.EXACT else ""
    if isinstance(found, FoundClass | FoundByTests) and found.pdag.edges:
        result += f"; directions that the data leave open: {len(found.pdag.edges):,}"
    tell(f"{_SEARCHES[learn]}: {result}")
    if not found.dag.arcs and len(found.dag) > 1:
        tell(_NO_ARCS)
    return found.dag

"""`colonnade fit`: from a table of data to a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli import options
from colonnade.cli.arcs import dag_of
from colonnade.cli.commands.report import judged, page_file
from colonnade.cli.data import FitData
from colonnade.cli.forests import check_forest, fit_forest, say_forest, warn_of_single_class
from colonnade.cli.graphs import FitLearnerOptions, Learn, graph_number, graph_option
from colonnade.cli.learned import say_saved
from colonnade.cli.models import check_output, gaps_in
from colonnade.cli.output import say
from colonnade.cli.restating import variables_passing
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import counted, expected, renamed

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.dag import Dag
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Prior
    from colonnade.structure import Found, FoundByTests
    from colonnade.tables import Scanned
    from colonnade.tables.countable import Countable
    from colonnade.tables.engines import Engine
    from colonnade.tables.files import TextTable

_NO_ARCS = "No arcs: no dependence is strong enough for this score. "
_NO_PARENTS = "No arcs: --max-parents 0 allows none"
_WEAKER = (
    "--score hierarchical finds weaker ones, and --target VARIABLE makes a graph that predicts"
)
_MORE_DATA = "More rows, or fewer intervals with --bins 3, may show one"


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
    learning: FitLearnerOptions,
    seed: Annotated[
        int | None,
        graph_number(
            help="Makes --restarts repeatable. With --learn forest another number gives another "
            "forest; 0 by default."
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="PRIOR",
            help="What tables are estimated with: {priors}.",
            show_default="hierarchical, and tiered with --group or --learn forest",
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
    counts: Annotated[
        Path | None,
        typer.Option(
            metavar="COUNTS.json",
            parser=options.model_file,
            help="Estimate from the counts that colonnade count or merge wrote, not from data: the "
            "graph, the states and the cut points are theirs.",
        ),
    ] = None,
    data: FitData,
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

    colonnade fit clinics.csv --learn tan --target ill --cut "bmi: 18.5, 25 = thin, normal,
    heavy" -o classifier.json

    colonnade fit clinics.csv --group site --missing em -o sites.json

    colonnade fit patients.csv --dag arcs.csv --prior bdeu:1 -o bdeu.json
    """
    request = _Request(dag, learn, learning, seed, group, data)
    if counts is not None:
        others = request != _Request(None, None, FitLearnerOptions(), None, None, FitData())
        if others or report is not None:
            hint = "leave out the data, and what is said about them and the graph"
            raise Misuse("--counts goes with --output, --prior and --json only.", hint=hint)
        check_output(output, overwrite)
        say_saved(_of_counts(counts, prior), output, overwrite, json)
        return
    if data.path is None:
        raise Misuse("DATA is missing.", hint="give a file of data, or --counts")
    request.check(paged=report is not None)
    if request.learner is Learn.FOREST:
        check_forest(data, str(learning.target), output, {"--group": group})
    chosen = options.prior_of(prior or ("tiered" if group is not None else "hierarchical"))
    if request.learner is Learn.FOREST and not chosen.has_posterior:
        hint = "choose one that has, such as tiered, hierarchical or symmetric"
        raise Misuse(f"--prior {prior} has no posterior, which --learn forest needs.", hint=hint)
    check_output(output, overwrite)
    if report is not None:
        check_output(report, overwrite, "report")
    tell = say if not json else _unsaid
    forest = request.learner is Learn.FOREST
    scanned = None if forest or report is not None else data.scanned
    if scanned is not None:
        say_saved(request.fitted_in_passing(scanned, chosen, tell), output, overwrite, json)
        return
    if forest:
        from colonnade.files.disk import together

        given = chosen if prior else None
        grown = fit_forest(data, str(learning.target), given, seed, tell)
        with together():
            with renamed(path="output"):
                grown.forest.save(output, overwrite)
            if report is not None:
                request.write_page(grown.forest, grown.table, report, overwrite, tell)
        say_forest(grown, output, json, report)
        return
    network, table = request.fitted(chosen, tell)
    page = None
    if report is not None:
        page = partial(request.write_page, network, table, report, overwrite, tell)
    say_saved(network, output, overwrite, json, page)


def _of_counts(path: Path, prior: str | None) -> BayesianNetwork:
    """Estimate a network from a file of counts."""
    from colonnade.network import NetworkCounts

    with renamed(path="counts"):
        found = NetworkCounts.load(path)
    return found.fit(None if prior is None else options.prior_of(prior))


def _unsaid(_: str) -> None:
    """Say nothing: JSON alone is printed."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What is to be learned from which data."""

    dag: Path | None
    learn: Learn | None
    learning: FitLearnerOptions
    seed: int | None
    group: str | None
    data: FitData

    @property
    def learner(self) -> Learn:
        return self.learning.usual if self.learn is None else self.learn

    def check(self, paged: bool) -> None:
        """Refuse options that do not go together; a page has a place for any target."""
        learning, data = self.learning, self.data
        if self.dag is not None and self.learn is not None:
            raise Misuse("Expected --dag or --learn, got both.", hint="leave out one of them")
        if self.seed is not None and not learning.restarts and self.learner is not Learn.FOREST:
            raise Misuse("--seed applies only with --restarts or --learn forest.")
        hint = "the file of --dag names the columns that are used"
        for option, value in (("--ignore", data.ignore), ("--keep", data.keep)):
            if value and self.dag is not None:
                raise Misuse(f"{option} applies only with --learn.", hint=hint)
        learners = [] if self.dag is not None else [self.learner]
        learning.check(learners, scored=paged, forests=True)
        others = {"--target": [learning.target], "--weights": [data.weights]}
        for option, columns in {**others, "--ignore": data.ignore or ()}.items():
            if self.group is not None and self.group in columns:
                raise Misuse(f"--group: {self.group!r} is given for {option}, too.")

    def fitted(
        self, prior: Prior, tell: Callable[[str], None]
    ) -> tuple[BayesianNetwork, TextTable]:
        """Read, learn and estimate, and tell how it went.

        Returns the network, and the table with all its columns.
        """
        from colonnade.network import fit as estimate
        from colonnade.tables import encode

        data, weights, group = self.data, self.data.weights, self.group
        origin = None
        whole = data.read_all(weights, group)
        table = data.without_ignored(whole)
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
            found = self.learning.learner(self.learner, self.seed, data.missing)(own)
            origin = self.learning.origin(self.learner, own, data.missing)
            graph = _told(found, self.learner, self.learning, tell)
        network = estimate(coded, graph, prior, missing=data.missing.value, group=group)
        self._warn_of_single_class(network)
        self._tell_gaps(coded, tell)
        if em := network.diagnostics:
            tell(f"EM: {counted(em.rows, 'incomplete row')}, {counted(em.iterations, 'iteration')}")
        return replace(network, origin=origin), whole

    def fitted_in_passing(
        self, table: Scanned | Engine, prior: Prior, tell: Callable[[str], None]
    ) -> BayesianNetwork:
        """Learn from files that are not read into memory, by the rules of those that are."""
        from colonnade.network import fit as estimate
        from colonnade.tables import encode
        from colonnade.tables.countable import countable
        from colonnade.tables.levels import refuse_absent

        data, weights, group = self.data, self.data.weights, self.group
        left_out = [*(data.ignore or ()), *([] if weights is None else [weights])]
        groups = [] if group is None else [group]
        origin = None
        refuse_absent([*left_out, *groups], table.names)
        others = [name for name in table.names if name not in (*left_out, *groups)]
        declared = variables_passing(table, data.restatings)
        if self.dag is None:
            self.learning.check_target(others)
            kept = [self.learning.target]
            plan = data.plan_scanned(table, weights=weights, keep=kept, group=group)
            others = [name for name in plan.used if name != group]
            cut, used = plan.discretizer.cut(table), [*groups, *others]
            coded = encode(cut, declared, weights=weights, columns=used, group=group)
            learner = self.learning.learner(self.learner, self.seed, data.missing)
            own = encode(coded, columns=others)
            found = learner(own)
            origin = self.learning.origin(self.learner, own, data.missing)
            graph = _told(found, self.learner, self.learning, tell)
            rows: Countable = coded
        else:
            graph = dag_of(self.dag, table.names)
            names = [*groups, *graph.variables]
            cut = data.cut_scanned(table, names, weights, group)
            rows = countable(cut, declared, weights=weights, columns=names, group=group)
        network = estimate(rows, graph, prior, missing=data.missing.value, group=group)
        self._warn_of_single_class(network)
        self._tell_gaps(rows, tell)
        return replace(network, origin=origin)

    def write_page(
        self,
        model: BayesianNetwork | BayesianNetworkForest,
        table: TextTable,
        path: Path,
        overwrite: bool,
        tell: Callable[[str], None],
    ) -> Path:
        """Write the page about what was learned and the data, and return where it is."""
        from colonnade.report import write

        assert self.data.path is not None
        figures = judged(model, table, self.learning.target, tell, self.data.weights is not None)
        with renamed(path="report"):
            write(
                model,
                path,
                data=table,
                left_out=self.data.left_out,
                title=self.data.path.name,
                overwrite=overwrite,
                **figures,
            )
        return path

    def _warn_of_single_class(self, network: BayesianNetwork) -> None:
        """Say that the target has one state alone in all rows."""
        target = self.learning.target
        if target is not None and target in network:
            counts = network[target].counts
            if counts is not None and (counts.state_totals > 0).sum() == 1:
                warn_of_single_class(target)

    def _tell_gaps(self, coded: Countable, tell: Callable[[str], None]) -> None:
        if lacking := gaps_in(coded):
            tell(f"{lacking}; --missing {self.data.missing} was used")


_SEARCHES = {
    Learn.HC: "Hill climbing",
    Learn.GES: "Greedy equivalence search",
    Learn.EXACT: "Best of all graphs",
    Learn.PC: "Tests of independence",
}


def _told(
    found: Dag | Found | FoundByTests,
    learn: Learn,
    learning: FitLearnerOptions,
    tell: Callable[[str], None],
) -> Dag:
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
        pooled = (learning.score or "").startswith("hierarchical")
        none = learning.max_parents == 0
        tell(_NO_PARENTS if none else _NO_ARCS + (_MORE_DATA if pooled else _WEAKER))
    return found.dag

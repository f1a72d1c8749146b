"""`colonnade report`: a saved network as a page to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.data import ReadOptions
from colonnade.cli.models import check_output, load
from colonnade.cli.output import say
from colonnade.cli.values import Misuse, file_that, table_ending
from colonnade.exceptions import InputError, counted, expected, renamed

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork

_ENDINGS = (".html", ".htm")
FOLDS = 5
# Fewer rows say nothing about rows held out; more values take longer than anybody expects of fit.
_MIN_JUDGED_ROWS = 10
_MAX_COMPARED_VALUES = 500_000


def page_ending(path: Path) -> None:
    """Refuse a name that no browser would open as a page."""
    if path.suffix.lower() not in _ENDINGS:
        raise expected("a name that ends in .html", "output", path.name, kind=InputError)


page_file = file_that(page_ending)


def report(
    model: options.Model,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="REPORT.html", parser=page_file, help="File to write."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            parser=file_that(table_ending),
            help="Table of data to summarise on the page, usually the one the network was fitted "
            "to.",
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Compare the graph with one without arcs, under several priors, by "
            "cross-validation on the data.",
        ),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Predict this variable for held-out rows of the data: ROC, calibration and "
            "confusion.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        options.number(2, help="Parts for cross-validation, for --compare and --target; 5."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None,
    reading: ReadOptions,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a network as one HTML file to look at: graph, tables, data, predictions.

    The file holds everything it needs, and nothing is loaded from elsewhere.

    Example: colonnade report model.json --data patients.csv --target cancer -o report.html
    """
    from colonnade import report as pages

    for option, given in (("--compare", compare), ("--target", target is not None)):
        if given and data is None:
            raise Misuse(f"{option} applies only with --data.")
    reading.check(data)
    if folds is not None and not compare and target is None:
        raise Misuse("--folds applies only with --compare or --target.")
    check_output(output, overwrite)
    network = load(model)
    more: dict[str, Any] = {"title": title or f"{model.stem}: Bayesian network"}
    if data is not None:
        with renamed(path="data"):
            more["data"] = reading.table(data)
        if compare:
            more["comparison"] = compared(network, more["data"], folds or FOLDS, target)
        if target is not None:
            more["held_out"] = pages.held_out(network, more["data"], target, folds or FOLDS)
    if level is not None:
        more["level"] = level
    with renamed(path="output"):
        pages.write(network, output, overwrite=overwrite, **more)
    say(f"Saved {output}")


def judged(
    network: BayesianNetwork, table: Any, target: str | None, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Return what held-out rows say about a network, for its page, and tell what they do not."""
    from colonnade.report import held_out

    rows = len(next(iter(table.values())))
    found: dict[str, Any] = {}
    if rows < _MIN_JUDGED_ROWS:
        tell(f"The report has no figures on held-out rows: {counted(rows, 'row')} are too few")
        return found
    if target is not None:
        found["held_out"] = held_out(network, table, target, FOLDS)
    if rows * len(network) > _MAX_COMPARED_VALUES:
        tell("The report has no comparison, which takes long here: see colonnade report --compare")
        return found
    return found | {"comparison": compared(network, table, FOLDS, target)}


def compared(network: BayesianNetwork, table: Any, folds: int, target: str | None) -> Any:
    """Compare a network's graph and priors with others, on rows held out."""
    from colonnade.dag import Dag
    from colonnade.priors import prior_named
    from colonnade.report.summary import coded_rows
    from colonnade.structure import compare

    coded = coded_rows(table, network)
    graphs = {"this graph": network.dag, "no arcs": Dag((), network.dag.variables)}
    words = ["hierarchical", "hierarchical:learn", "tiered", "bdeu:1"]
    own = {prior.word: prior for prior in network.priors.values() if prior is not None}
    priors = {**own, **{word: prior_named(word) for word in words}}
    return compare(coded, graphs, priors, folds=folds, rng=0, missing="available", target=target)

"""`colonnade report`: a saved network as a page to look at."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.data import ReadOptions
from colonnade.cli.forests import load_model
from colonnade.cli.models import check_output
from colonnade.cli.output import say
from colonnade.cli.values import Misuse, file_that, table_ending
from colonnade.exceptions import (
    DataError,
    IncompleteRowsWarning,
    InputError,
    counted,
    expected,
    renamed,
)

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.network import BayesianNetwork
    from colonnade.tables.files import TextTable

_ENDINGS = (".html", ".htm")
FOLDS = 5
_FOLDS = "--folds applies only with --data, and --compare, --target or a forest."
# Fewer rows say nothing about rows held out; more values take longer than anybody expects of fit.
_MIN_JUDGED_ROWS = 10
_MAX_COMPARED_VALUES = 500_000


def page_ending(path: Path) -> None:
    """Refuse a name that no browser would open as a page."""
    if path.suffix.lower() not in _ENDINGS:
        raise expected("a name that ends in .html", "output", path.name, kind=InputError)


page_file = file_that(page_ending)


def report(
    model: options.ModelOrForest,
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
            help="Show what tells most about this variable and what moves it, and with --data "
            "predict it for held-out rows: ROC, calibration and confusion. A forest has one "
            "alone, which need not be named.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        options.number(
            2,
            help="Parts for cross-validation, for --compare, --target with --data, and forests "
            "with --data; 5.",
        ),
    ] = None,
    member: Annotated[
        int | None,
        options.number(
            1,
            help="Which network of a forest has its graph and tables shown; by default the one "
            "that weighs most.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None,
    reading: ReadOptions,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a network or a forest as one HTML file to look at: graph, tables, data, predictions.

    The file holds everything it needs, and nothing is loaded from elsewhere.

    Example: colonnade report model.json --data patients.csv --target cancer -o report.html
    """
    from colonnade import report as pages
    from colonnade.report.forests import is_forest

    if compare and data is None:
        raise Misuse("--compare applies only with --data.")
    reading.check(data)
    if folds is not None and data is None:
        raise Misuse(_FOLDS)
    check_output(output, overwrite)
    found = load_model(model)
    if folds is not None and not (compare or target is not None or is_forest(found)):
        raise Misuse(_FOLDS)
    more: dict[str, Any] = {"title": title or f"{model.stem}: {_kind(found)}"}
    if is_forest(found):
        if compare:
            raise Misuse("--compare does not apply to a forest.")
        if target is not None and data is None:
            raise Misuse("--target applies to a forest only with --data.")
        if member is not None:
            more["member"] = _place(member, len(found.networks_))
    else:
        more["target"] = target
        if member is not None:
            raise Misuse("--member applies only to forests.")
    if data is not None:
        with renamed(path="data"):
            more["data"] = reading.table(data)
        if compare and not is_forest(found):
            more["comparison"] = compared(found, more["data"], folds or FOLDS, target)
        if target is not None:
            more |= _held_out(found, more["data"], target, folds or FOLDS, say)
        elif is_forest(found) and found.target_name_ in more["data"]:
            more |= judged(found, more["data"], found.target_name_, say, False, folds)
    if level is not None:
        more["level"] = level
    with renamed(path="output"):
        pages.write(found, output, overwrite=overwrite, **more)
    say(f"Saved {output}")


def _kind(model: BayesianNetwork | BayesianNetworkForest) -> str:
    from colonnade.report.forests import is_forest

    return "forest of Bayesian networks" if is_forest(model) else "Bayesian network"


def _place(member: int, members: int) -> int:
    """Return the place of a member that a person counts from 1."""
    if member > members:
        raise Misuse(f"Expected a number up to {members} for --member, got {member}.")
    return member - 1


def judged(
    model: BayesianNetwork | BayesianNetworkForest,
    table: TextTable,
    target: str | None,
    tell: Callable[[str], None],
    weighted: bool,
    folds: int | None = None,
) -> dict[str, Any]:
    """Return what the page of a model says besides its tables, and tell what it does not."""
    from colonnade.report.forests import is_forest, network_of

    rows = len(next(iter(table.values())))
    forest = is_forest(model)
    found: dict[str, Any] = {} if forest or target is None else {"target": target}
    if weighted:
        tell("The report has no figures on held-out rows: rows have weights")
        return found
    if rows < _MIN_JUDGED_ROWS:
        tell(f"The report has no figures on held-out rows: {_too_few(rows)}")
        return found
    long = rows * len(network_of(model)) > _MAX_COMPARED_VALUES
    if forest and long:
        hint = f"see colonnade report --data DATA --target {target}"
        tell(f"The report has no figures on held-out rows, which take long here: {hint}")
        return found
    aim = None
    if target is not None:
        figures = _held_out(model, table, target, folds or FOLDS, tell)
        found |= figures
        aim = target if figures else None
    if is_forest(model):
        return found
    if long:
        tell("The report has no comparison, which takes long here: see colonnade report --compare")
        return found
    return found | {"comparison": compared(model, table, folds or FOLDS, aim)}


def _held_out(
    model: BayesianNetwork | BayesianNetworkForest,
    table: TextTable,
    target: str,
    folds: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Return figures on held-out rows; without them the page has more to show."""
    from colonnade.report import held_out

    try:
        return {"held_out": held_out(model, table, target, folds)}
    except DataError as error:
        tell(f"The report has no figures on held-out rows: {error.problem.rstrip('.')}")
        return {}


def _too_few(rows: int) -> str:
    return f"{counted(rows, 'row')} {'is' if rows == 1 else 'are'} too few"


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
    with warnings.catch_warnings():
        # Which rows the log evidence is of is said on the page.
        warnings.simplefilter("ignore", IncompleteRowsWarning)
        return compare(
            coded, graphs, priors, folds=folds, rng=0, missing="available", target=target
        )

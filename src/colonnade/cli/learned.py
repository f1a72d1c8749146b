"""What a network has learned, added to and taken back: what these commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from colonnade.cli import options
from colonnade.cli.data import FileOptions, Missing
from colonnade.cli.models import check_output, described, gaps_in, load, save, summarise
from colonnade.cli.output import say, say_json
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import counted, renamed, tally

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork, NetworkCounts

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        parser=options.model_file,
        help="File to write; .json keeps everything. It may be MODEL itself, with --overwrite.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says how often each row counts."),
]
Gaps = Annotated[
    Missing,
    typer.Option(
        parser=choice(Missing),
        metavar="HOW",
        help="What to do with rows that lack values: available (each table uses the rows "
        "that are complete for it) or raise (an error).",
    ),
]


def counting(missing: Missing) -> Literal["raise", "available"]:
    """Return how rows with gaps are counted; EM and further states have no place in counts."""
    if missing is Missing.AVAILABLE:
        return "available"
    if missing is Missing.RAISE:
        return "raise"
    raise Misuse(f"Expected raise or available for --missing, got {str(missing)!r}.")


def learn_rows(
    verb: str,
    files: tuple[Path, Path],
    data: FileOptions,
    weights: str | None,
    missing: Missing,
    overwrite: bool,
    json: bool,
) -> None:
    """Add rows to what a network has learned, or take them back, and save the result."""
    from colonnade.network.learning import coded_for_network, opened_for_network
    from colonnade.tables.countable import gathered

    model, output = files
    how = counting(missing)
    check_output(output, overwrite)
    network = load(model)
    new = verb == "update"
    table = dict(data.read(weights))
    if new:
        coded = coded_for_network(table, network, weights, "raise")
    else:
        coded = gathered(opened_for_network(table, network, weights))
    learn = network.update if new else network.forget
    if (lacking := gaps_in(coded)) and how == "available" and not json:
        say(f"{lacking}; --missing available was used")
    say_saved(learn(coded, missing=how), output, overwrite, json)


def say_counts(counts: NetworkCounts, output: Path, overwrite: bool, json: bool) -> None:
    """Save counts, and say of what they are."""
    with renamed(path="output"):
        counts.save(output, overwrite)
    rows = max(each.total for each in counts.counts)
    if json:
        say_json({"saved": str(output), "rows": rows, "variables": list(counts.dag.variables)})
        return
    say(f"Counted {tally(rows)} rows of {counted(len(counts.dag), 'variable')}")
    say(f"Saved {output}")


def say_saved(
    network: BayesianNetwork,
    output: Path,
    overwrite: bool,
    json: bool,
    page: Callable[[], Path] | None = None,
) -> None:
    """Save a network, let its page be written, and show it; `page` returns where the page is."""
    save(network, output, overwrite)
    report = None if page is None else page()
    if json:
        saved = {"saved": str(output), **({} if report is None else {"report": str(report)})}
        say_json({**saved, **described(network)})
        return
    summarise(network, more=f"colonnade show {output} --limit {len(network)} shows all")
    for path in (output, report):
        if path is not None:
            say(f"Saved {path}")

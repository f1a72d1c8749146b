"""What a network has learned, added to and taken back: what these commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from colonnade.cli import options
from colonnade.cli.data import FileOptions, Missing
from colonnade.cli.models import check_output, described, gaps_in, load, save, summarise
from colonnade.cli.output import say, say_json
from colonnade.cli.rows import warn_of_numbers
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import Advice, DataError, DataWarning, renamed, warn

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork, NetworkCounts
    from colonnade.tables.countable import Countable

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
    for name in data.ignore or ():
        if name in network:
            hint = "leave the option out, or fit again without the column"
            raise Misuse(f"--ignore: {name!r} is a variable of the network.", hint=hint)
    table = dict(data.read(weights))
    if new:
        warn_of_numbers(network, table)
        try:
            coded = coded_for_network(table, network, weights, "raise")
        except DataError as error:
            if "states" not in error.details:
                raise
            cuts = network.discretizer
            cut = cuts is not None and cuts.get(error.details["column"]) is not None
            new_states = "fit again to all rows, or leave those with new states out of the file"
            hint = Advice.CORRECT_NUMBERS if cut else new_states
            raise error.advising(hint) from None
    else:
        coded = gathered(opened_for_network(table, network, weights))
    learn = network.update if new else network.forget
    if how == "available" and not json:
        say_gaps(coded, how)
    if new and network.diagnostics is not None and any(coded.missing):
        mixed = "the network was fitted by EM, and each table learns from complete rows now"
        hint = "fit again to all rows with --missing em"
        warn(DataWarning(f"Counts of two kinds are added: {mixed}.", hint))
    say_saved(learn(coded, missing=how), output, overwrite, json)


def say_gaps(coded: Countable, missing: str) -> None:
    """Say which values are missing, if any, and what was done about them."""
    if lacking := gaps_in(coded):
        say(f"{lacking}; --missing {missing} was used")


def save_counts(
    counts: NetworkCounts, output: Path, overwrite: bool, facts: dict[str, Any], json: bool
) -> None:
    """Save counts, and say where; JSON has the facts about them as well."""
    with renamed(path="output"):
        counts.save(output, overwrite)
    if json:
        say_json({"saved": str(output), **facts, "variables": list(counts.dag.variables)})
    else:
        say(f"Saved {output}")


def say_saved(
    network: BayesianNetwork,
    output: Path,
    overwrite: bool,
    json: bool,
    page: Callable[[], Path] | None = None,
) -> None:
    """Save a network, let its page be written, and show it; `page` returns where the page is.

    Both files are there, or none.
    """
    from colonnade.files.disk import together

    with together():
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

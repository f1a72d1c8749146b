"""`colonnade update`, `forget` and `merge`: what a network has learned, added to and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from colonnade.cli import options
from colonnade.cli.data import FileOptions, Missing
from colonnade.cli.models import check_output, described, load, save, summarise
from colonnade.cli.output import say, say_json
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import renamed

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork

_Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        parser=options.model_file,
        help="File to write; .json keeps everything. It may be MODEL itself, with --overwrite.",
    ),
]
_Weights = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says how often each row counts."),
]
_Missing = Annotated[
    Missing,
    typer.Option(
        parser=choice(Missing),
        metavar="HOW",
        help="What to do with rows that lack values: raise (an error) or available (each table "
        "uses the rows that are complete for it).",
    ),
]


def update(
    model: options.Model,
    data: FileOptions,
    output: _Output,
    weights: _Weights = None,
    missing: _Missing = Missing.RAISE,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Let a network learn from more rows, as if it had been fitted to all of them.

    The states, cut points and priors are those of the network. With --missing available, gaps are
    treated as by fit.

    Example: colonnade update model.json june.csv -o model.json --overwrite
    """
    _learned("update", (model, output), data, weights, missing, overwrite, json)


def forget(
    model: options.Model,
    data: FileOptions,
    output: _Output,
    weights: _Weights = None,
    missing: _Missing = Missing.RAISE,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Take rows back that a network has learned from, as if it had never seen them.

    Example: colonnade forget model.json withdrawn.csv -o model.json --overwrite
    """
    _learned("forget", (model, output), data, weights, missing, overwrite, json)


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL...",
            parser=options.model_file,
            help="Two or more networks with the same graph, states, cut points and priors.",
        ),
    ],
    output: _Output,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Put together what networks of one structure learned from separate data.

    The result is the network that would have been fitted to all data together.

    Example: colonnade merge north.json south.json -o all.json
    """
    if len(models) < 2:
        raise Misuse("Expected at least two networks for MODEL..., got one.")
    check_output(output, overwrite)
    first, *others = (load(path, "models") for path in models)
    with renamed(other="models"):
        for other in others:
            first = first.merge(other)
    _saved(first, output, overwrite, json)


def _learned(
    verb: str,
    files: tuple[Path, Path],
    data: FileOptions,
    weights: str | None,
    missing: Missing,
    overwrite: bool,
    json: bool,
) -> None:
    model, output = files
    if missing not in (Missing.RAISE, Missing.AVAILABLE):
        raise Misuse(f"Expected raise or available for --missing, got {str(missing)!r}.")
    check_output(output, overwrite)
    network = load(model)
    table = data.read(weights)
    learn = network.update if verb == "update" else network.forget
    how: Literal["raise", "available"] = "available" if missing is Missing.AVAILABLE else "raise"
    _saved(learn(dict(table), weights, how), output, overwrite, json)


def _saved(network: BayesianNetwork, output: Path, overwrite: bool, json: bool) -> None:
    save(network, output, overwrite)
    if json:
        say_json({"saved": str(output), **described(network)})
        return
    summarise(network, more=f"colonnade show {output} --limit {len(network)} shows all")
    say(f"Saved {output}")

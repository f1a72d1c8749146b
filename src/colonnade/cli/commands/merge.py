"""`colonnade merge`: networks of separate data become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.learned import Output, say_saved
from colonnade.cli.models import check_output, load
from colonnade.cli.values import Misuse
from colonnade.exceptions import renamed


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL",
            parser=options.model_file,
            help="Two or more networks with the same graph, states, cut points and priors.",
        ),
    ],
    output: Output,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Put together what networks of one structure learned from separate data.

    The result is the network that would have been fitted to all data together.

    Example: colonnade merge north.json south.json -o all.json
    """
    if len(models) < 2:
        raise Misuse("Expected at least two networks for MODEL, got one.")
    check_output(output, overwrite)
    first, *others = (load(path, "models") for path in models)
    with renamed(other="models"):
        for other in others:
            first = first.merge(other)
    say_saved(first, output, overwrite, json)

"""`colonnade merge`: networks of separate data become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.learned import Output, save_counts, say_saved
from colonnade.cli.models import check_output, load
from colonnade.cli.output import say
from colonnade.cli.values import Misuse
from colonnade.exceptions import renamed, tally


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL",
            parser=options.model_file,
            help="Two or more networks with the same graph, states, cut points and priors; or two "
            "or more files of colonnade count, which may have different states.",
        ),
    ],
    output: Output,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Put together what networks of one structure learned from separate data.

    The result is the network that would have been fitted to all data together; of counts, the
    counts of all data.

    Example: colonnade merge north.json south.json -o all.json
    """
    from colonnade.files.counts import holds_counts

    if len(models) < 2:
        raise Misuse("Expected at least two networks for MODEL, got one.")
    check_output(output, overwrite)
    counts = [path for path in models if holds_counts(path)]
    if counts:
        if len(counts) < len(models):
            network = next(path for path in models if path not in counts)
            raise Misuse(f"Expected files of counts only for MODEL, got {str(network)!r} as well.")
        _merge_counts(counts, output, overwrite, json)
        return
    first, *others = (load(path, "models") for path in models)
    with renamed(other="models"):
        for other in others:
            first = first.merge(other)
    say_saved(first, output, overwrite, json)


def _merge_counts(paths: list[Path], output: Path, overwrite: bool, json: bool) -> None:
    """Add up files of counts."""
    from colonnade.network import NetworkCounts

    with renamed(path="models", other="models"):
        first, *others = (NetworkCounts.load(path) for path in paths)
        for other in others:
            first = first + other
    # Families have different totals where values were missing: how many rows is not known.
    most = max(each.total for each in first.counts)
    if not json:
        say(f"Merged {len(paths)} files: up to {tally(most)} observations a table")
    save_counts(first, output, overwrite, {"observations": most}, json)

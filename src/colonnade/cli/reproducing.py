"""`colonnade reproduce`: the paper's studies again, claim by claim."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli.output import say

__all__ = ["reproduce"]


class Study(enum.StrEnum):
    """What can be run again."""

    mse = "mse"
    joint = "joint"
    classification = "classification"
    engines = "engines"
    all = "all"


def reproduce(
    study: Annotated[Study, typer.Argument(help="Which study.")],
    quick: Annotated[bool, typer.Option("--quick", help="A look in under a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("reproduction"),
    data: Annotated[
        Path | None, typer.Option(help="Folder where data files are kept; by default a cache.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default one a core.")
    ] = None,
) -> None:
    """Run the studies of the paper, and compare claim by claim.

    The data sets are taken from pinned packages and checked. An interrupted run goes on where it
    stopped; any number of processes gives the same numbers.
    """
    from colonnade.studies.plan import Plan
    from colonnade.studies.run import reproduce as run

    try:
        summary = run(study.value, Plan(out, data, seed, quick, jobs or os.cpu_count() or 1))
    except KeyboardInterrupt as interrupt:
        say("Interrupted. The same command goes on from here.")
        raise typer.Exit(130) from interrupt
    say(f"{summary} and {summary.with_suffix('.html').name}")

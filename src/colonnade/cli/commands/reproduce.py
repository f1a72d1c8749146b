"""`colonnade reproduce`: the studies of the paper, run again and compared claim by claim."""

from __future__ import annotations

import os
import signal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.output import say
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import expected

Study = StrEnum("Study", ["mse", "joint", "classification", "engines", "priors", "coverage", "all"])


def reproduce(
    study: Annotated[
        Study,
        typer.Argument(
            metavar="STUDY",
            parser=choice(Study),
            help="Which study: mse, joint, classification, engines, priors, coverage or all.",
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repetitions and sizes, in a minute or two.")
    ] = False,
    seed: Annotated[int, options.number(help="The same seed gives the same numbers.")] = 1,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for results.")] = Path(
        "reproduction"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder where data files are kept; by default a cache."
        ),
    ] = None,
    jobs: Annotated[
        int | None, options.number(1, help="Number of processes; by default one per core.")
    ] = None,
) -> None:
    """Run the studies of the paper, and compare claim by claim.

    "all" are the studies of the paper. "priors" and "coverage" ask what the paper does not: which
    prior is best, and whether intervals hold the truth.

    The data sets are taken from pinned packages and checked. An interrupted run continues where it
    stopped. The numbers do not depend on the number of processes.

    Example: colonnade reproduce mse --quick
    """
    from colonnade.studies.plan import Plan
    from colonnade.studies.run import reproduce as run

    if data is not None and (study is Study.mse or (quick and study is Study.engines)):
        raise Misuse(f"--data applies only to studies of data sets, not to {study}.")
    if jobs is not None and study is Study.engines:
        raise Misuse("--jobs does not apply to engines, which are timed one by one.")
    for parameter, folder in (("out", out), ("data", data)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise expected("a folder", parameter, str(folder), got=f"the file {str(folder)!r}")
    # An exception lets the processes that were started end, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        summary = run(study.value, Plan(out, data, seed, quick, jobs or os.cpu_count() or 1))
    except KeyboardInterrupt as interrupt:
        say("Interrupted. Run the same command again to continue.")
        raise typer.Exit(130) from interrupt
    say(f"{summary} and {summary.with_suffix('.html').name}")

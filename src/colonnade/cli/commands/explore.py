"""`colonnade explore`: a saved network as a page with live answers."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.models import load
from colonnade.cli.output import say
from colonnade.cli.values import Misuse

_MAX_PORT = 65_535


def explore(
    model: options.Model,
    *,
    port: Annotated[
        int, options.number(help="Port on this machine; by default one that is free.")
    ] = 0,
    minutes: Annotated[
        int, options.number(1, help="End after this many minutes without a question.")
    ] = 60,
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the page in the usual browser.")
    ] = False,
) -> None:
    """Look at a network and ask it questions by clicking, in a browser on this machine.

    Nobody else can reach the page: it is served on this machine only, at an address that cannot be
    guessed. Ctrl-C ends it.

    Example: colonnade explore model.json --browser
    """
    from colonnade.explore import Explorer

    if port > _MAX_PORT:
        raise Misuse(f"Expected a port up to {_MAX_PORT:,} for --port, got {port}.")
    network = load(model)
    explorer = Explorer(
        network,
        str(model),
        title=f"{model.stem}: explorer",
        port=port,
        idle=60.0 * minutes,
    )
    say(f"Open {explorer.address}")
    say(f"Ctrl-C ends it, and so do {minutes} minutes without a question.")
    if browser:
        webbrowser.open(explorer.address)
    idle = explorer.run()
    say("Ended: nothing was asked for a while." if idle else "Ended.")

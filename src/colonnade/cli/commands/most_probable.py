"""`colonnade most-probable`: the states that are most probable together."""

from __future__ import annotations

from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.commands.query import check_targets
from colonnade.cli.evidence import KnownOptions
from colonnade.cli.models import load
from colonnade.cli.output import grid, say, say_json
from colonnade.cli.values import refuse_repeated


def most_probable(
    model: options.Model,
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET", help="Variables asked for, the others summed out; by default all."
        ),
    ] = None,
    *,
    situation: KnownOptions,
    json: options.AsJson = False,
) -> None:
    """Find the states of all variables, or of some, that are most probable together.

    These need not be the states that are most probable one by one.

    Examples
    --------
    colonnade most-probable model.json --observed cancer=true

    colonnade most-probable model.json smoker age --observed cancer=true
    """
    refuse_repeated("TARGET", "variables", target)
    network = load(model)
    check_targets(network, target or ())
    world, known = situation.world(network, target or ())
    found = world.most_probable(known, target or None)
    if json:
        say_json({"states": found.states, "log_probability": found.log_probability})
        return
    say(f"Most probable states{situation.in_words(network)}")
    grid(["variable", "state"], [[name, str(state)] for name, state in found.states.items()])
    together = ", together with what was observed" if known else ""
    say(f"Log probability{together}: {found.log_probability:.4f}")

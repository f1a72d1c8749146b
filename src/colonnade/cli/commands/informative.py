"""`colonnade informative`: what to ask next, to learn most about a variable."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.commands.query import check_targets
from colonnade.cli.evidence import KnownOptions
from colonnade.cli.intervals import IntervalOptions, say_fixed
from colonnade.cli.models import load
from colonnade.cli.output import figure, grid, interval, say, say_json, say_rest
from colonnade.wording import percent


def informative(
    model: options.Model,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The variable to learn something about.")
    ],
    situation: KnownOptions,
    intervals: IntervalOptions,
    limit: Annotated[
        int, options.number(1, help="Largest number of variables to show; --json has all.")
    ] = 20,
    json: options.AsJson = False,
) -> None:
    """Say what to ask next: how much each variable would tell about one, the most telling first.

    Figures are in nats: the expected gain in the log probability of the true state.

    Examples
    --------
    colonnade informative model.json cancer --observed smoker=yes

    colonnade informative model.json cancer --draws 0 --json
    """
    network = load(model)
    check_targets(network, [target])
    world, known = situation.world(network, [target])
    found = intervals.answered(world, partial(world.informative, target, known))
    if json:
        variables = [{"variable": name, **own.to_dict()} for name, own in found.items()]
        facts = {"target": target, "level": found.level, "fixed": list(found.fixed)}
        say_json({**facts, "variables": variables})
        return
    say(f"Information about {target} in nats{situation.in_words(network)}")
    if not found:
        say("Nothing is left to ask: every other variable is known")
        return
    head = ["variable", "information"]
    if found.level is not None:
        head.append(f"{percent(found.level)} interval")
    rows = []
    for name, own in list(found.items())[:limit]:
        ends = [] if own.lower is None or own.upper is None else [interval(own.lower, own.upper)]
        rows.append([name, figure(own.value), *ends])
    grid(head, rows, numbers=head[1:])
    say_rest(len(found) - len(rows), "variable")
    say_fixed(found.fixed)

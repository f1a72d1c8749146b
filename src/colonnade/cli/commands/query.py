"""`colonnade query`: probabilities of variables, given what was observed."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.models import load
from colonnade.cli.output import figure, grid, interval, say, say_json
from colonnade.cli.states import observed_of

if TYPE_CHECKING:
    from colonnade.inference import QueryResult

_MAX_PRINTED_ROWS = 400


def query(
    model: options.Model,
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help="Variable asked for; several give joint probabilities."
        ),
    ],
    observed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE=STATE",
            help="What was observed; may be given several times. A variable that was cut into "
            "intervals also takes a number.",
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Draws of all tables, for credible intervals: 500 are a good start.",
            show_default="none",
        ),
    ] = 0,
    level: Annotated[
        float | None,
        options.level_option(
            help="Probability inside the intervals; 0.95 by default. Needs --draws."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Makes --draws repeatable. Needs --draws."),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Ask for the probabilities of a variable, given what was observed.

    Example: colonnade query model.json cancer --observed smoker=yes --draws 500
    """
    for option, value in (("--level", level), ("--seed", seed)):
        if value is not None and not draws:
            raise typer.BadParameter("it needs --draws.", param_hint=option)
    network = load(model)
    result = network.query(
        target[0] if len(target) == 1 else target,
        observed_of(network, observed or []),
        draws,
        0.95 if level is None else level,
        seed,
    )
    if json:
        say_json(result.to_dict())
    else:
        _print_answer(result)


def _print_answer(result: QueryResult) -> None:
    given = ", ".join(f"{name} = {state}" for name, state in result.observed.items())
    say(f"Probability of {', '.join(result.targets)}" + f" given {given}" * bool(given))
    head = [*result.targets, "probability"]
    if result.lower is not None:
        head.append(f"{100 * (result.level or 0.0):g} % interval")
    rows: list[list[str]] = []
    answers = zip(product(*result.states), np.ndindex(result.probabilities.shape), strict=True)
    for states, place in islice(answers, _MAX_PRINTED_ROWS):
        row = [*map(str, states), figure(float(result.probabilities[place]))]
        if result.lower is not None and result.upper is not None:
            row.append(interval(float(result.lower[place]), float(result.upper[place])))
        rows.append(row)
    grid(head, rows, numbers=head[len(result.targets) :])
    rest = result.probabilities.size - len(rows)
    if rest:
        say(f"... {rest:,} more; --json prints all")

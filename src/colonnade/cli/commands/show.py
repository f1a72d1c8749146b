"""`colonnade show`: a saved network, or one of its tables."""

from __future__ import annotations

from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.messages import renamed
from colonnade.cli.models import described, load, summarise
from colonnade.cli.output import say_json
from colonnade.cli.tables import print_table, table_of

_CONFIGURATIONS_IF_NO_LIMIT = 20


def show(
    model: options.Model,
    variable: Annotated[
        str | None,
        typer.Argument(metavar="VARIABLE", help="Show the table of this variable, with intervals."),
    ] = None,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals of a table; 0.95 by default."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Largest number of variables, or of configurations of one variable, to show; "
            "40 and 20 by default, all with --json.",
        ),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Show a network, or the table of one of its variables.

    Example: colonnade show model.json cancer
    """
    if variable is None and level is not None:
        raise typer.BadParameter("it needs a variable.", param_hint="--level")
    network = load(model)
    if variable is not None:
        shown = limit if json else limit or _CONFIGURATIONS_IF_NO_LIMIT
        with renamed(name="variable"):
            cpt = network[variable]
        found = table_of(cpt, 0.95 if level is None else level, shown)
        if json:
            say_json(found)
        else:
            print_table(found)
    elif json:
        facts = described(network)
        say_json(facts | {"variables": facts["variables"][:limit]})
    else:
        summarise(network, limit)

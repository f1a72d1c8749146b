"""`colonnade show`, `colonnade query` and `colonnade convert`: what a saved network is used for."""

from __future__ import annotations

from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.models import check_output, described, load, summarise
from colonnade.cli.output import figure, grid, interval, say, say_json
from colonnade.cli.states import observed_of
from colonnade.cli.tables import print_table, table_of

if TYPE_CHECKING:
    from colonnade.inference import QueryResult

__all__ = ["convert", "query", "show"]

_SHOWN = 40


class Dialect(StrEnum):
    """Who is to read a file."""

    standard = "standard"
    agrum = "agrum"


def show(
    model: options.Model,
    variable: Annotated[
        str | None,
        typer.Argument(metavar="VARIABLE", help="Show the table of this variable, with intervals."),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Probability inside the intervals of a table; 0.95 by default."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Largest number of variables, or of configurations of one, that are shown; "
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
    _check_level(level)
    network = load(model)
    if variable is not None:
        shown = limit if json else limit or 20
        found = table_of(network[variable], 0.95 if level is None else level, shown)
        if json:
            say_json(found)
        else:
            print_table(found)
    elif json:
        facts = described(network)
        say_json(facts | {"variables": facts["variables"][:limit]})
    else:
        summarise(network, limit or _SHOWN)


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
            help="What was observed; may be given several times. For a variable that was cut into "
            "intervals a number will do.",
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
        typer.Option(
            metavar="P", help="Probability inside the intervals; 0.95 by default. Needs --draws."
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
    _check_level(level)
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


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File of a network.")],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write: .json, .bif, .xmlbif, .net, .xdsl or .uai. All but .json hold the "
            "probabilities alone, without counts and priors.",
        ),
    ],
    dialect: Annotated[
        Dialect,
        typer.Option(
            help="Who is to read the file: programs that keep to the definition of its format, or "
            "aGrUM and pyAgrum, which order the parents in .xdsl and .uai in their own way."
        ),
    ] = Dialect.standard,
    overwrite: options.Overwrite = False,
) -> None:
    """Translate a network from one file format to another, chosen by the endings of the names.

    Example: colonnade convert model.json model.bif
    """
    if dialect is not Dialect.standard and output.suffix.lower() == ".json":
        raise typer.BadParameter("a .json file has no dialects.", param_hint="--dialect")
    check_output(output, overwrite)
    network = load(source)
    network.save(output, overwrite, "agrum" if dialect is Dialect.agrum else "standard")
    say(f"Saved {output}")


def _check_level(level: float | None) -> None:
    if level is not None and not 0.0 < level < 1.0:
        problem = f"{level:g} is not between 0 and 1; write 0.95 for 95 %."
        raise typer.BadParameter(problem, param_hint="--level")


def _print_answer(result: QueryResult) -> None:
    given = ", ".join(f"{name} = {state}" for name, state in result.observed.items())
    say(f"Probability of {', '.join(result.targets)}" + f" given {given}" * bool(given))
    head = [*result.targets, "probability"]
    intervals = result.lower is not None and result.upper is not None
    if intervals:
        head.append(f"{100 * (result.level or 0.0):g} % interval")
    rows: list[list[Any]] = []
    places = np.ndindex(result.probabilities.shape)
    for states, place in zip(product(*result.states), places, strict=True):
        row = [*map(str, states), figure(float(result.probabilities[place]))]
        if result.lower is not None and result.upper is not None:
            row.append(interval(float(result.lower[place]), float(result.upper[place])))
        rows.append(row)
        if len(rows) == 10 * _SHOWN:
            break
    grid(head, rows, numbers=head[len(result.targets) :])
    rest = result.probabilities.size - len(rows)
    if rest:
        say(f"... {rest:,} more; --json prints all")

"""`colonnade convert`: a network from one file format to another."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.models import check_dialects, check_output, load, save
from colonnade.cli.output import say
from colonnade.cli.values import choice

Dialect = StrEnum("Dialect", ["standard", "agrum"])


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", parser=options.model_file, help="File of a network.")
    ],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            parser=options.model_file,
            help="File to write: .json, .bif, .xmlbif, .net, .xdsl or .uai. All but .json hold the "
            "probabilities alone, without counts and priors.",
        ),
    ],
    dialect: Annotated[
        Dialect,
        typer.Option(
            parser=choice(Dialect),
            metavar="DIALECT",
            help="Which programs are to read an .xdsl or .uai file: those that follow the "
            "definition of its format, or aGrUM and pyAgrum, which order the parents differently: "
            "standard or agrum.",
        ),
    ] = Dialect.standard,
    overwrite: options.Overwrite = False,
) -> None:
    """Translate a network from one file format to another, chosen by the endings of the names.

    Example: colonnade convert model.json model.bif
    """
    check_output(output, overwrite)
    if dialect is not Dialect.standard:
        check_dialects(output)
    save(load(source, "source"), output, overwrite, agrum=dialect is Dialect.agrum)
    say(f"Saved {output}")

"""`colonnade sample`: rows drawn from a network."""

from __future__ import annotations

from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.evidence import KnownOptions
from colonnade.cli.models import load
from colonnade.cli.output import say_json
from colonnade.cli.rows import RowsFile, check_rows_file, deliver, records
from colonnade.cli.values import integer
from colonnade.exceptions import counted


def sample(
    model: options.Model,
    n: Annotated[
        int, typer.Argument(metavar="ROWS", parser=integer(1), help="Number of rows to draw.")
    ],
    situation: KnownOptions,
    output: RowsFile = None,
    seed: Annotated[int, options.number(help="The same seed gives the same rows.")] = 0,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Draw independent rows from a network, given what is known.

    The rows are exact: none is drawn and thrown away, however improbable what is known may be.

    Examples
    --------
    colonnade sample model.json 1000 -o rows.csv

    colonnade sample model.json 100 --observed cancer=true --do smoker=no -o quitters.csv
    """
    check_rows_file(output, overwrite, json)
    network = load(model)
    world, known = situation.world(network)
    rows = {name: own.tolist() for name, own in world.sample(n, seed, known).items()}
    if json:
        say_json({"rows": records(rows)})
        return
    statement = f"Drew {counted(n, 'row')}{situation.in_words(network)}"
    deliver(rows, statement, output, overwrite)

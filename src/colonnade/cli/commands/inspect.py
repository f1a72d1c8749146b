"""`colonnade inspect`: what a table holds, and what would be made of it."""

from __future__ import annotations

from colonnade.cli import options
from colonnade.cli.data import InspectData
from colonnade.cli.output import grid, say, say_json


def inspect(data: InspectData, json: options.AsJson = False) -> None:
    """Show what a table holds and what fit would make of it, before anything is learned.

    Columns with their types, missing values and the codes that stood for them, states, cut points,
    and what would be left out and why; then what is worth a look, such as states that are almost
    equal.

    Examples
    --------
    colonnade inspect patients.csv

    colonnade inspect survey.csv --bins 4 --cut "bmi: 18.5, 25, 30 = thin, normal, heavy, obese"

    cat survey.csv | colonnade inspect - --json

    colonnade inspect 'north/*.parquet'
    """
    found = data.inspected()
    if json:
        say_json({"file": str(data.path), **found.to_dict()})
        return
    where = "Standard input" if str(data.path) == "-" else data.path
    say(f"{where}: {found.title}")
    head = ["column", "type", "different", "missing", "becomes"]
    rows = [
        [each.name, each.kind, f"{each.different:,}", each.gaps, each.treatment]
        for each in found.columns
    ]
    grid(head, rows, numbers=head[2:3], last_listed=True)
    for column in found.columns:
        for remark in column.remarks:
            say(f"{column.name}: {remark}")
        if column.one_state:
            pairs = ", ".join(f"{value} = {state}" for value, state in column.one_state.items())
            say(f'{column.name}: --recode "{column.name}: {pairs}" makes them one')

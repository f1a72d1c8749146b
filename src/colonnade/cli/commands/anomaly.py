"""`colonnade anomaly`: the rows that a network finds most unusual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from colonnade.cli import options
from colonnade.cli.carried import Keep, beside, carried_names, has_types, taken
from colonnade.cli.data import FileOptions
from colonnade.cli.models import load
from colonnade.cli.output import grid, say, say_json, say_rest, write_table
from colonnade.cli.rows import RowsFile, check_rows_file, coded_rows
from colonnade.exceptions import counted

if TYPE_CHECKING:
    from colonnade.inference import Anomalies
    from colonnade.tables import CodedTable

# Values of a row that are named.
_VALUES_NAMED = 3
_SCORE = "log likelihood"


def anomaly(
    model: options.Model,
    data: FileOptions,
    keep: Keep = None,
    output: RowsFile = None,
    limit: Annotated[int, options.number(1, help="Number of rows to show.")] = 10,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Show the most unusual rows of a table, and the values that make them so.

    The log likelihood of a row is the sum of the shares of its values: the log probability of each
    given the values of the variables before it, parents first. What a row lacks is summed out. The
    file has all rows, with all shares.

    Example: colonnade anomaly model.json patients.csv --limit 5 --keep all -o unusual.csv
    """
    check_rows_file(output, overwrite, json, data.path)
    network = load(model)
    table = data.read(as_written=True)
    kept = taken(table, carried_names(keep, list(table)), has_types(output, json))
    coded = coded_rows(network, dict(table))
    found = network.anomaly(coded)
    if output is not None:
        # A column that is kept has the name of a variable, perhaps: its share is called so.
        names = [f"{name} share" if kept else name for name in found.variables]
        shares = {name: found.shares[:, k].tolist() for k, name in enumerate(names)}
        columns = {"row": list(range(1, len(found) + 1)), _SCORE: found.log_likelihood.tolist()}
        write_table(output, beside(kept, {**columns, **shares}), overwrite)
        if str(output) == "-":
            return
    lowest = [
        {**_facts(found, coded, row), "kept": {name: kept[name][row] for name in kept}}
        for row in found.lowest(limit).tolist()
    ]
    if json:
        say_json({"rows": len(found), "lowest": lowest})
        return
    say(f"The most unusual of {counted(len(found), 'row')}")
    rows = [
        [
            *(str(each["row"]), *map(str, each["kept"].values())),
            *(f"{each[_SCORE]:.2f}", "; ".join(map(_named, each["values"]))),
        ]
        for each in lowest
    ]
    head = ["row", *kept, _SCORE, "values that are least expected"]
    grid(head, rows, numbers=["row", _SCORE])
    say_rest(len(found) - len(rows), "row", "--limit shows more, -o OUT.csv saves all")
    if output is not None:
        say(f"Saved {output}")


def _facts(found: Anomalies, coded: CodedTable, row: int) -> dict[str, Any]:
    """The score of a row, and the values with the lowest shares."""
    values = []
    for name, share in list(found.of(row).items())[:_VALUES_NAMED]:
        k = coded.position(name)
        code = int(coded.codes[k][row])
        states = coded.variables[k].states
        if code < len(states):
            values.append({"variable": name, "value": states[code], "share": share})
    return {"row": row + 1, _SCORE: float(found.log_likelihood[row]), "values": values}


def _named(value: dict[str, Any]) -> str:
    return f"{value['variable']} = {value['value']} ({value['share']:.2f})"

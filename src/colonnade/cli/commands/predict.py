"""`colonnade predict`: one variable of a network for every row of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.data import FileOptions
from colonnade.cli.intervals import IntervalOptions
from colonnade.cli.models import load
from colonnade.cli.output import figure, interval, say, say_json
from colonnade.cli.rows import RowsFile, check_rows_file, coded_rows, deliver, records
from colonnade.cli.values import Misuse
from colonnade.exceptions import counted, listing, not_among, renamed

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.tables import CodedTable


def predict(
    model: options.Model,
    data: FileOptions,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="What is predicted; by default the variable that the data lack, or else the one "
            "that the graph was learned for (the parent of all others).",
        ),
    ] = None,
    output: RowsFile = None,
    *,
    intervals: IntervalOptions,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Predict one variable for every row, with probabilities and credible intervals.

    What a row lacks is summed out; values that the network has never seen count as missing, with a
    warning. If the data have the target, its values are not used, and the predictions are compared
    with them.

    Examples
    --------
    colonnade predict model.json new.csv -o predicted.csv

    colonnade predict model.json new.csv --target cancer --level 0.9 -o predicted.parquet
    """
    check_rows_file(output, overwrite, json)
    network = load(model)
    table = dict(data.read())
    name = _target(network, list(table), target)
    coded = coded_rows(network, table, name)
    found = _predictions(network, coded, name, intervals)
    accuracy = _accuracy(network, coded, name, found) if name in table else None
    if json:
        say_json({"target": name, "accuracy": accuracy, "rows": records(found)})
        return
    statement = f"Predicted {name} for {counted(coded.rows, 'row')}"
    if deliver(found, statement, output, overwrite, _brief(found, name)) and accuracy is not None:
        say(f"{100 * accuracy:.1f} % of the known values of {name} are the most probable state")


def _brief(found: dict[str, list[Any]], target: str) -> dict[str, list[str]]:
    """The state, and each probability with its interval in one cell."""
    brief = {target: [str(state) for state in found[target]]}
    for title, values in found.items():
        if title.endswith((" lower", " upper")) or title == target:
            continue
        cells = [figure(value) for value in values]
        if f"{title} lower" in found:
            ends = zip(cells, found[f"{title} lower"], found[f"{title} upper"], strict=True)
            cells = [f"{cell} ({interval(low, high)})" for cell, low, high in ends]
        brief[title] = cells
    return brief


def _target(network: BayesianNetwork, columns: list[str], asked: str | None) -> str:
    """Return the variable to be predicted."""
    variables = [name for name in network.dag.variables if name != network.group]
    if asked is not None:
        if asked not in network:
            raise not_among(network.dag.variables, "target", asked)
        return asked
    absent = [name for name in variables if name not in columns]
    if len(absent) == 1:
        return absent[0]
    first = {name for name in variables if set(network.dag.children(name)) >= {*variables} - {name}}
    roots = [name for name in first if not {*network.dag.parents(name)} - {network.group}]
    if len(roots) == 1 and not absent:
        return roots[0]
    hint = f"give --target with one of {listing(variables)}"
    raise Misuse("--target is missing: several variables could be predicted.", hint=hint)


def _predictions(
    network: BayesianNetwork,
    coded: CodedTable,
    target: str,
    intervals: IntervalOptions,
) -> dict[str, list[Any]]:
    """Return the columns of the answer: state, probability of each state, ends of intervals."""
    from colonnade.network.targets import target_intervals, target_probabilities

    probabilities = target_probabilities(network, coded, target)
    states = network[target].family.child.states
    best = [states[k] for k in np.argmax(np.nan_to_num(probabilities, nan=-1.0), axis=1).tolist()]
    found: dict[str, list[Any]] = {target: best}
    near = [target, *network.dag.children(target)]
    posterior = any(network[name].has_posterior for name in near)
    ends = None
    if settings := intervals.settings(posterior):
        with renamed(rng="seed"):
            ends = target_intervals(network, coded, target, **settings)
    for k, state in enumerate(states):
        found[f"{target}={state}"] = probabilities[:, k].tolist()
        if ends is not None:
            found[f"{target}={state} lower"] = ends.lower[:, k].tolist()
            found[f"{target}={state} upper"] = ends.upper[:, k].tolist()
    return found


def _accuracy(
    network: BayesianNetwork, coded: CodedTable, target: str, found: dict[str, list[Any]]
) -> float | None:
    """Return the share of the known values that are the most probable state; None if none is."""
    states = network[target].family.child.states
    codes = coded.codes[coded.position(target)].tolist()
    right = [
        bool(states[code] == best)
        for code, best in zip(codes, found[target], strict=True)
        if code < len(states)
    ]
    if not right:
        return None
    return sum(right) / len(right)

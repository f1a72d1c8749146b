"""`colonnade predict`: one variable of a network for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.commands.query import DRAWS
from colonnade.cli.data import FileOptions
from colonnade.cli.models import check_output, load
from colonnade.cli.output import grid, say, say_json, say_rest, table_writer, write_table
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.cli.values import draws as draws_of
from colonnade.exceptions import (
    DataWarning,
    counted,
    inapplicable,
    listing,
    not_among,
    renamed,
    warn,
)

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.tables import CodedTable, Scanned
    from colonnade.tables.countable import Countable

_ROWS_SHOWN = 20


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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            parser=file_that(ending_in((".csv", ".tsv", ".parquet"), "-")),
            help="File to write: .csv, .tsv or .parquet, or - for CSV on standard output; by "
            "default the first rows are shown.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=draws_of,
            help="Draws of the tables, for credible intervals; 0 is none.",
            show_default="500 where tables have a posterior",
        ),
    ] = None,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None,
    seed: Annotated[
        int | None, options.number(help="Other draws; the same seed gives the same ones.")
    ] = None,
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
    for option, value in (("--level", level), ("--seed", seed)):
        if value is not None and draws == 0:
            raise Misuse(f"{option} applies only with --draws.", hint="leave out --draws 0")
    if output is not None and json:
        raise Misuse("Expected --output or --json, got both.", hint="leave out one of them")
    if output is not None and str(output) != "-":
        check_output(output, overwrite)
    network = load(model)
    if (scanned := data.scanned) is not None:
        if output is None or str(output) == "-":
            hint = "give --output with a file: the data are read as they pass"
            raise Misuse("--output is missing.", hint=hint)
        _predict_in_passing(network, scanned, target, (draws, level, seed), output, overwrite)
        return
    table = dict(data.read())
    name = _target(network, list(table), target)
    coded, known = _coded(network, table, name)
    found = _predictions(network, coded, name, (draws, level, seed))
    accuracy = _accuracy(network, coded, name, found) if known else None
    if json:
        rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
        say_json({"target": name, "accuracy": accuracy, "rows": rows})
    elif output is not None:
        write_table(output, found, overwrite)
        if str(output) != "-":
            say(f"Predicted {name} for {counted(coded.rows, 'row')}")
            say(f"Saved {output}")
    else:
        say(f"Predicted {name} for {counted(coded.rows, 'row')}")
        lines = [
            [str(k + 1), *(x if isinstance(x, str) else f"{x:.4f}" for x in _texts(row))]
            for k, row in zip(range(_ROWS_SHOWN), zip(*found.values(), strict=True), strict=False)
        ]
        grid(["row", *found], lines, numbers=["row", *list(found)[1:]])
        say_rest(coded.rows - len(lines), "row", "-o OUT.csv saves all")
    if accuracy is not None and not json and str(output) != "-":
        say(f"{100 * accuracy:.1f} % of the known values of {name} are the most probable state")


def _texts(row: tuple[Any, ...]) -> list[Any]:
    return [str(row[0]), *row[1:]]


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


def _coded(network: BayesianNetwork, table: dict[str, Any], target: str) -> tuple[CodedTable, bool]:
    """Encode rows with the states of a network, and say whether they have the target."""
    from colonnade.network.learning import coded_for_network
    from colonnade.tables.levels import refuse_absent

    refuse_absent([name for name in network.dag.variables if name != target], list(table))
    known = target in table
    rows = len(next(iter(table.values())))
    if not known:
        table = {**table, target: [None] * rows}
    coded = coded_for_network(table, network, None, "missing")
    _warn_of_unknown(coded, target)
    return coded, known


def _warn_of_unknown(coded: Countable, target: str) -> None:
    for name, values in coded.unknown.items():
        if name != target:
            times = sum(values.values())
            new = f"{counted(len(values), 'value')} that the network does not know"
            statement = f"Column {name!r}: {new} ({listing(values, 5)}) in {counted(times, 'row')}"
            warn(DataWarning(f"{statement} taken as missing."))


def _predict_in_passing(
    network: BayesianNetwork,
    table: Scanned,
    asked: str | None,
    intervals: tuple[int | None, float | None, int | None],
    output: Path,
    overwrite: bool,
) -> None:
    """Predict rows of files block by block, from one file into another."""
    from colonnade.tables import CodedTable
    from colonnade.tables.countable import countable
    from colonnade.tables.levels import refuse_absent

    target = _target(network, list(table.names), asked)
    refuse_absent([name for name in network.dag.variables if name != target], table.names)
    variables = [v for v in network.variables if v.name != target or target in table.names]
    rows = countable(table, variables, None, "missing", network.discretizer)
    _warn_of_unknown(rows, target)
    right = known = 0
    with table_writer(output, overwrite) as write:
        for block in rows.blocks():
            codes = dict(zip(block.names, block.codes, strict=True))
            states = network[target].family.cardinality
            codes.setdefault(target, np.full(block.rows, states))
            own = tuple(codes[variable.name] for variable in network.variables)
            coded = CodedTable(network.variables, own, discretizer=network.discretizer)
            found = _predictions(network, coded, target, intervals)
            write(found)
            there = codes[target] < states
            known += int(there.sum())
            right += round((_accuracy(network, coded, target, found) or 0.0) * int(there.sum()))
    say(f"Predicted {target} for {counted(rows.rows, 'row')}")
    say(f"Saved {output}")
    if known:
        share = f"{100 * right / known:.1f} %"
        say(f"{share} of the known values of {target} are the most probable state")


def _predictions(
    network: BayesianNetwork,
    coded: CodedTable,
    target: str,
    intervals: tuple[int | None, float | None, int | None],
) -> dict[str, list[Any]]:
    """Return the columns of the answer: state, probability of each state, ends of intervals."""
    from colonnade.network.targets import target_intervals, target_probabilities

    draws, level, seed = intervals
    probabilities = target_probabilities(network, coded, target)
    states = network[target].family.child.states
    best = [states[k] for k in np.argmax(np.nan_to_num(probabilities, nan=-1.0), axis=1).tolist()]
    found: dict[str, list[Any]] = {target: best}
    near = [target, *network.dag.children(target)]
    posterior = any(network[name].has_posterior for name in near)
    asked = draws is not None or level is not None or seed is not None
    for option, given in (("level", level), ("seed", seed)):
        if given is not None and not posterior:
            raise inapplicable(option, given, "networks whose tables have a posterior")
    ends = None
    if draws != 0 and (posterior or asked):
        with renamed(rng="seed"):
            ends = target_intervals(
                network, coded, target, level or 0.95, draws or DRAWS, seed or 0
            )
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

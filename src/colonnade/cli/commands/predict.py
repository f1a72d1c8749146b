"""`colonnade predict`: one variable of a network for every row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.commands.query import DRAWS
from colonnade.cli.data import FileOptions
from colonnade.cli.forests import forest_chances
from colonnade.cli.models import check_output, load
from colonnade.cli.output import (
    figure,
    fits,
    grid,
    interval,
    say,
    say_json,
    say_rest,
    write_table,
)
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.cli.values import draws as draws_of
from colonnade.exceptions import (
    Advice,
    DataWarning,
    FileFormatError,
    counted,
    inapplicable,
    listing,
    not_among,
    renamed,
    warn,
)
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.arrays import Floats
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Interval
    from colonnade.tables import CodedTable

_ROWS_SHOWN = 20
Columns: TypeAlias = dict[str, list[Any]]
# How many draws, the probability inside, and the seed; None where nobody said so.
Intervals: TypeAlias = tuple[int | None, float | None, int | None]


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
    intervals = draws, level, seed
    try:
        network = load(model)
    except FileFormatError as error:
        if error.hint is not Advice.LOAD_FOREST:
            raise
        found, truth = _by_forest(model, dict(data.read()), target, intervals)
    else:
        found, truth = _by_network(network, dict(data.read()), target, intervals)
    name, rows = next(iter(found)), len(next(iter(found.values())))
    accuracy = _accuracy(found[name], truth)
    if json:
        lines = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
        say_json({"target": name, "accuracy": accuracy, "rows": lines})
    elif output is not None:
        write_table(output, found, overwrite)
        if str(output) != "-":
            say(f"Predicted {name} for {counted(rows, 'row')}")
            say(f"Saved {output}")
    else:
        say(f"Predicted {name} for {counted(rows, 'row')}")
        _show(found, level or 0.95)
    if accuracy is not None and not json and str(output) != "-":
        say(f"{100 * accuracy:.1f} % of the known values of {name} are the most probable state")


def _show(found: dict[str, list[Any]], level: float) -> None:
    """Show the first rows: every column, or where the terminal is too narrow the best state."""
    name, *others = found
    rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    head = ["row", name, *others]
    lines = [
        [str(k + 1), str(row[name]), *(figure(row[other]) for other in others)]
        for k, row in enumerate(rows[:_ROWS_SHOWN])
    ]
    if not fits([head, *lines]):
        known = bool(rows) and f"{name}={rows[0][name]} upper" in found
        head = ["row", name, "probability", *([f"{percent(level)} interval"] if known else [])]
        lines = [
            [line[0], line[1], *_best(row, f"{name}={row[name]}", known)]
            for line, row in zip(lines, rows, strict=False)
        ]
    grid(head, lines, numbers=[head[0], *head[2:]])
    say_rest(len(rows) - len(lines), "row", "-o OUT.csv saves all")


def _best(row: dict[str, Any], best: str, known: bool) -> list[str]:
    """Write the probability of the state that is predicted, and its interval if one is known."""
    ends = [interval(row[f"{best} lower"], row[f"{best} upper"])] if known else []
    return [figure(row[best]), *ends]


def _by_network(
    network: BayesianNetwork, table: dict[str, Any], target: str | None, intervals: Intervals
) -> tuple[Columns, list[Any]]:
    """Return the columns of the answer, and what is known of the target: states, or None."""
    name = _target(network, list(table), target)
    coded, known = _coded(network, table, name)
    found = _predictions(network, coded, name, intervals)
    states = [*network[name].family.child.states, None]
    codes = coded.codes[coded.position(name)].tolist() if known else []
    return found, [states[min(code, len(states) - 1)] for code in codes]


def _by_forest(
    path: Path, table: dict[str, Any], target: str | None, intervals: Intervals
) -> tuple[Columns, list[Any]]:
    """Return the columns of the answer of a forest, and what is known of its target."""
    from colonnade.classifier import BayesianNetworkForest

    forest = BayesianNetworkForest.load(path)
    name = forest.target_name_
    if target is not None and target != name:
        raise not_among([name], "target", target)
    found = _columns(name, forest.classes_.tolist(), *forest_chances(forest, table, intervals))
    return found, list(table.get(name, []))


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
    for name, values in coded.unknown.items():
        if name != target:
            times = sum(values.values())
            new = f"{counted(len(values), 'value')} that the network does not know"
            statement = f"Column {name!r}: {new} ({listing(values, 5)}) in {counted(times, 'row')}"
            warn(DataWarning(f"{statement} taken as missing."))
    return coded, known


def _predictions(
    network: BayesianNetwork,
    coded: CodedTable,
    target: str,
    intervals: Intervals,
) -> Columns:
    """Return the columns of the answer: state, probability of each state, ends of intervals."""
    from colonnade.network.targets import target_intervals, target_probabilities

    draws, level, seed = intervals
    probabilities = target_probabilities(network, coded, target)
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
    return _columns(target, network[target].family.child.states, probabilities, ends)


def _columns(
    target: str, states: Sequence[Any], probabilities: Floats, ends: Interval | None
) -> Columns:
    """Write answers as columns: the best state, the probability of each, and its interval."""
    best = np.argmax(np.nan_to_num(probabilities, nan=-1.0), axis=1).tolist()
    found: Columns = {target: [states[k] for k in best]}
    for k, state in enumerate(states):
        found[f"{target}={state}"] = probabilities[:, k].tolist()
        if ends is not None:
            found[f"{target}={state} lower"] = ends.lower[:, k].tolist()
            found[f"{target}={state} upper"] = ends.upper[:, k].tolist()
    return found


def _accuracy(best: list[Any], truth: list[Any]) -> float | None:
    """Return the share of the known values that are the most probable state; None if none is."""
    pairs = zip(truth, best, strict=bool(truth))
    right = [bool(known == guess) for known, guess in pairs if known is not None and known == known]
    return sum(right) / len(right) if right else None

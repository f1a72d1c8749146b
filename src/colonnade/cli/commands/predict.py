"""`colonnade predict`: one variable of a network for every row of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.data import PassingFile
from colonnade.cli.forests import forest_chances
from colonnade.cli.intervals import IntervalOptions
from colonnade.cli.models import load
from colonnade.cli.output import figure, fits, interval, say, say_json, table_writer
from colonnade.cli.rows import (
    RowsFile,
    check_rows_file,
    coded_rows,
    deliver,
    records,
    warn_of_unknown,
)
from colonnade.cli.values import Misuse
from colonnade.exceptions import Advice, FileFormatError, counted, listing, not_among, renamed
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.arrays import Floats
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Interval
    from colonnade.tables import CodedTable, Scanned
    from colonnade.tables.engines import Engine

Columns: TypeAlias = dict[str, list[Any]]
# Of the names of columns with the ends of intervals.
_ENDS = (" lower", " upper")


def predict(
    model: options.Model,
    data: PassingFile,
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
    scanned = data.scanned
    if scanned is not None and (output is None or str(output) == "-"):
        hint = "give --output with a file: the data are read as they pass"
        raise Misuse("--output is missing.", hint=hint)
    try:
        network = load(model)
    except FileFormatError as error:
        if error.hint is not Advice.LOAD_FOREST:
            raise
        if scanned is not None and output is not None:
            passing = _passing_forest(model, scanned, target, intervals)
            _predict_in_passing(passing, output, overwrite)
            return
        found, truth = _by_forest(model, dict(data.read()), target, intervals)
    else:
        if scanned is not None and output is not None:
            passing = _passing_network(network, scanned, target, intervals)
            _predict_in_passing(passing, output, overwrite)
            return
        found, truth = _by_network(network, dict(data.read()), target, intervals)
    name, rows = next(iter(found)), len(next(iter(found.values())))
    accuracy = _accuracy(found[name], truth)
    if json:
        say_json({"target": name, "accuracy": accuracy, "rows": records(found)})
        return
    statement = f"Predicted {name} for {counted(rows, 'row')}"
    shown = _shown(found, intervals.level or 0.95)
    if deliver(found, statement, output, overwrite, shown) and accuracy is not None:
        _say_accuracy(accuracy, name)


def _say_accuracy(share: float, target: str) -> None:
    say(f"{100 * share:.1f} % of the known values of {target} are the most probable state")


def _shown(found: Columns, level: float) -> dict[str, list[str]]:
    """Each probability with its interval, or where the terminal is too narrow the best alone."""
    name = next(iter(found))
    states = [str(state) for state in found[name]]
    titles = [title for title in found if title != name and not title.endswith(_ENDS)]
    wide = {name: states, **{title: _cells(found, title) for title in titles}}
    if fits([["row", *(max([title, *cells], key=len) for title, cells in wide.items())]]):
        return wide
    best = [f"{name}={state}" for state in states]
    narrow = {name: states, "probability": [figure(found[b][k]) for k, b in enumerate(best)]}
    if best and f"{best[0]} lower" in found:
        ends = [[found[f"{b}{end}"][k] for end in _ENDS] for k, b in enumerate(best)]
        narrow[f"{percent(level)} interval"] = [interval(low, high) for low, high in ends]
    return narrow


def _cells(found: Columns, title: str) -> list[str]:
    """Probabilities of one state, with their intervals if there are any."""
    cells = [figure(value) for value in found[title]]
    if f"{title} lower" not in found:
        return cells
    ends = zip(cells, found[f"{title} lower"], found[f"{title} upper"], strict=True)
    return [f"{cell} ({interval(low, high)})" for cell, low, high in ends]


def _by_network(
    network: BayesianNetwork, table: dict[str, Any], target: str | None, intervals: IntervalOptions
) -> tuple[Columns, list[Any]]:
    """Return the columns of the answer, and what is known of the target: states, or None."""
    name = _target(network, list(table), target)
    coded = coded_rows(network, table, name)
    found = _predictions(network, coded, name, intervals)
    states = [*network[name].family.child.states, None]
    codes = coded.codes[coded.position(name)].tolist() if name in table else []
    return found, [states[min(code, len(states) - 1)] for code in codes]


def _by_forest(
    path: Path, table: dict[str, Any], target: str | None, intervals: IntervalOptions
) -> tuple[Columns, list[Any]]:
    """Return the columns of the answer of a forest, and what is known of its target."""
    from colonnade.classifier import BayesianNetworkForest

    forest = BayesianNetworkForest.load(path)
    name = _target_of_forest(forest, target)
    found = _columns(name, forest.classes_.tolist(), *forest_chances(forest, table, intervals))
    return found, list(table.get(name, []))


def _target_of_forest(forest: BayesianNetworkForest, asked: str | None) -> str:
    """Return what a forest predicts, and refuse anything else."""
    if asked is not None and asked != forest.target_name_:
        raise not_among([forest.target_name_], "target", asked)
    return forest.target_name_


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


def _predict_in_passing(
    passing: Iterator[tuple[Columns, list[Any]]], output: Path, overwrite: bool
) -> None:
    """Write predictions block by block, from one file into another."""
    target, rows, right, known = "", 0, 0, 0
    with table_writer(output, overwrite) as write:
        for found, truth in passing:
            write(found)
            target = next(iter(found))
            rows += len(found[target])
            there = _is_right(found[target], truth)
            known += len(there)
            right += sum(there)
    say(f"Predicted {target} for {counted(rows, 'row')}")
    say(f"Saved {output}")
    if known:
        _say_accuracy(right / known, target)


def _passing_network(
    network: BayesianNetwork, table: Scanned | Engine, asked: str | None, intervals: IntervalOptions
) -> Iterator[tuple[Columns, list[Any]]]:
    """Yield the answers of a network for the rows of files, and what is known of the target."""
    from colonnade.tables import CodedTable
    from colonnade.tables.countable import countable
    from colonnade.tables.levels import refuse_absent

    target = _target(network, list(table.names), asked)
    refuse_absent([name for name in network.dag.variables if name != target], table.names)
    variables = [v for v in network.variables if v.name != target or target in table.names]
    rows = countable(table, variables, None, "missing", network.discretizer)
    warn_of_unknown(rows, target)
    states = [*network[target].family.child.states, None]
    for block in rows.blocks():
        codes = dict(zip(block.names, block.codes, strict=True))
        truth = codes.setdefault(target, np.full(block.rows, len(states) - 1))
        own = tuple(codes[variable.name] for variable in network.variables)
        coded = CodedTable(network.variables, own, discretizer=network.discretizer)
        yield (
            _predictions(network, coded, target, intervals),
            [states[code] for code in truth.tolist()],
        )


def _passing_forest(
    path: Path, table: Scanned | Engine, asked: str | None, intervals: IntervalOptions
) -> Iterator[tuple[Columns, list[Any]]]:
    """Yield the answers of a forest for the rows of files, and what is known of the target."""
    from colonnade.classifier import BayesianNetworkForest

    forest = BayesianNetworkForest.load(path)
    target = _target_of_forest(forest, asked)
    classes = [*forest.classes_.tolist(), None]
    with renamed(rng="seed"):
        for block in forest.predict_blocks(table, **intervals.of_forest):
            found = _columns(target, classes[:-1], block.probabilities, block.interval)
            codes = [] if block.truth is None else block.truth.tolist()
            yield found, [classes[code] for code in codes]


def _predictions(
    network: BayesianNetwork, coded: CodedTable, target: str, intervals: IntervalOptions
) -> Columns:
    """Return the columns of the answer: state, probability of each state, ends of intervals."""
    from colonnade.network.targets import target_intervals, target_probabilities

    probabilities = target_probabilities(network, coded, target)
    near = [target, *network.dag.children(target)]
    posterior = any(network[name].has_posterior for name in near)
    ends = None
    if settings := intervals.settings(posterior):
        with renamed(rng="seed"):
            ends = target_intervals(network, coded, target, **settings)
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


def _is_right(best: list[Any], truth: list[Any]) -> list[bool]:
    """Say for each known value whether it is the most probable state."""
    pairs = zip(truth, best, strict=bool(truth))
    return [bool(known == guess) for known, guess in pairs if known is not None and known == known]


def _accuracy(best: list[Any], truth: list[Any]) -> float | None:
    """Return the share of the known values that are the most probable state; None if none is."""
    right = _is_right(best, truth)
    return sum(right) / len(right) if right else None

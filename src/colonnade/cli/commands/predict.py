"""`colonnade predict`: one variable of a network for every row of a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.carried import Keep, beside, carried_names, has_types, taken
from colonnade.cli.data import PassingFile
from colonnade.cli.intervals import IntervalOptions, RowIntervalOptions, say_fixed
from colonnade.cli.models import load
from colonnade.cli.output import complain, figure, fits, interval, say, say_json, table_writer
from colonnade.cli.rows import (
    RowsFile,
    check_rows_file,
    coded_rows,
    deliver,
    records,
    warn_of_numbers,
    warn_of_unknown,
    with_absent,
)
from colonnade.cli.values import Misuse
from colonnade.exceptions import (
    Advice,
    DataWarning,
    FileFormatError,
    counted,
    listing,
    not_among,
    renamed,
    warn,
)
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.arrays import Array, Floats, Seed
    from colonnade.classifier import BayesianNetworkForest
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Interval
    from colonnade.tables import CodedTable, Scanned
    from colonnade.tables.engines import Engine

Columns: TypeAlias = dict[str, list[Any]]
# Of the names of columns with the ends of intervals.
_ENDS = (" lower", " upper")


def predict(
    model: options.ModelOrForest,
    data: PassingFile,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="What is predicted; by default the variable that the data lack, or else the one "
            "that the graph was learned for (the parent of all others). A forest has one alone.",
        ),
    ] = None,
    keep: Keep = None,
    output: RowsFile = None,
    *,
    intervals: RowIntervalOptions,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Predict one variable for every row, with probabilities and credible intervals.

    What a row lacks is summed out. Values that the model has never seen, and variables that the
    data have no column for, count as missing, with a warning. If the data have the target, its
    values are not used; they stand beside the predictions and are compared with them.

    Examples
    --------
    colonnade predict classifier.json clinics.csv --keep id,site -o predicted.csv

    colonnade predict model.json patients.csv --target cancer --level 0.9 -o predicted.parquet
    """
    check_rows_file(output, overwrite, json, data.path)
    scanned = data.scanned
    if scanned is not None and (output is None or str(output) == "-"):
        hint = "give --output with a file: the data are read as they pass"
        problem = "is missing" if output is None else "- does not apply"
        raise Misuse(f"--output {problem}.", hint=hint)
    predictor = _predictor(model)
    if scanned is not None and output is not None:
        _predict_in_passing(predictor, data, scanned, target, keep, intervals, output, overwrite)
        return
    table = data.read(as_written=True)
    name = predictor.target(list(table), target)
    kept = carried_names(keep, list(table), name)
    found = predictor.answers(dict(table), name, intervals)
    columns = beside(taken(table, kept, has_types(output, json)), found.columns)
    accuracy = _accuracy(found)
    if json:
        facts = {"target": name, "accuracy": accuracy, "fixed": list(found.fixed)}
        say_json({**facts, "rows": records(columns)})
        return
    statement = f"Predicted {name} for {counted(found.rows, 'row')}"
    level = intervals.level or 0.95
    if output is not None:
        _explain_columns(name, kept, found, level)
    shown = _shown(columns, kept, found, level)
    if deliver(columns, statement, output, overwrite, shown):
        _say_accuracy(accuracy, name)
        say_fixed(found.fixed)
    else:
        say_fixed(found.fixed, complain)


@dataclass(frozen=True, slots=True)
class _Answers:
    """What was found for some rows, and what is known of their target: states, None or nothing.

    Tables that are `fixed` have no share in the intervals.
    """

    target: str
    columns: Columns
    truth: list[Any]
    fixed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The column of the most probable state; never that of the truth."""
        return f"predicted {self.target}"

    @property
    def best(self) -> list[Any]:
        return self.columns[self.title]

    @property
    def rows(self) -> int:
        return len(self.best)

    @property
    def has_intervals(self) -> bool:
        return any(title.endswith(_ENDS[0]) for title in self.columns)

    @property
    def right(self) -> list[bool]:
        """Whether each known value is the most probable state."""
        pairs = zip(self.truth, self.best, strict=bool(self.truth))
        return [
            bool(known == best) for known, best in pairs if known is not None and known == known
        ]

    @classmethod
    def of(
        cls,
        target: str,
        states: Sequence[Any],
        probabilities: Floats,
        ends: Interval | None,
        truth: list[Any],
        fixed: tuple[str, ...] = (),
    ) -> _Answers:
        """Write answers as columns: the best state, the probability of each, and its interval."""
        undefined = np.isnan(probabilities).all(axis=1)
        best = np.where(undefined, len(states), probabilities.argmax(axis=1)).tolist()
        found = cls(target, {}, truth, fixed)
        found.columns[found.title] = [(*states, None)[k] for k in best]
        for k, state in enumerate(states):
            found.columns[f"{target}={state}"] = probabilities[:, k].tolist()
            if ends is not None:
                for end, values in zip(_ENDS, ends, strict=True):
                    found.columns[f"{target}={state}{end}"] = values[:, k].tolist()
        return found


def _accuracy(found: _Answers) -> float | None:
    """Return the share of the known values that are the most probable state; None if none is."""
    right = found.right
    return sum(right) / len(right) if right else None


def _say_accuracy(share: float | None, target: str) -> None:
    if share is not None:
        known = f"{100 * share:.1f} % of the known values of {target} are the most probable state"
        say(f"{known} (expect less for new rows if the model learned from these)")


def _explain_columns(name: str, kept: Sequence[str], found: _Answers, level: float) -> None:
    """Say on standard error what the columns of a file are."""
    parts = [f"{listing(kept, 5)} as in the data"] if kept else []
    parts += [f"{found.title!r}, the most probable state", f"'{name}=STATE', probabilities"]
    if found.has_intervals:
        ends = f"'{name}=STATE lower' and 'upper'"
        parts.append(f"{ends}, the ends of {percent(level)} credible intervals")
    complain(f"Columns: {'; '.join(parts)}.")


def _shown(
    columns: Columns, kept: Sequence[str], found: _Answers, level: float
) -> dict[str, list[str]]:
    """Each probability with its interval, or where the terminal is too narrow the best alone."""
    own = {name: ["" if v is None else str(v) for v in columns[name]] for name in kept}
    best = {found.title: ["-" if state is None else str(state) for state in found.best]}
    titles = [t for t in found.columns if t != found.title and not t.endswith(_ENDS)]
    wide = {**own, **best, **{title: _cells(found.columns, title) for title in titles}}
    if _fit(wide):
        return wide
    names = [f"{found.target}={state}" for state in found.best]

    def numbers(ending: str) -> list[float]:
        cells = (found.columns.get(f"{name}{ending}") for name in names)
        return [math.nan if own is None else own[k] for k, own in enumerate(cells)]

    narrow = {**best, "probability": list(map(figure, numbers("")))}
    if found.has_intervals:
        ends = map(numbers, _ENDS)
        narrow[f"{percent(level)} interval"] = list(map(interval, *ends))
    # Where not even this fits, columns of the data are those that are not shown.
    return {**own, **narrow} if _fit({**own, **narrow}) else {**narrow, **own}


def _fit(columns: dict[str, list[str]]) -> bool:
    return fits([["row", *(max([title, *cells], key=len) for title, cells in columns.items())]])


def _cells(found: Columns, title: str) -> list[str]:
    """Probabilities of one state, with their intervals if there are any."""
    cells = [figure(value) for value in found[title]]
    if f"{title} lower" not in found:
        return cells
    ends = zip(cells, found[f"{title} lower"], found[f"{title} upper"], strict=True)
    return [f"{cell} ({interval(low, high)})" for cell, low, high in ends]


def _predict_in_passing(
    predictor: _Network | _Forest,
    data: PassingFile,
    table: Scanned | Engine,
    asked: str | None,
    keep: list[str] | None,
    intervals: IntervalOptions,
    output: Path,
    overwrite: bool,
) -> None:
    """Write predictions block by block, from one file into another."""
    from colonnade.tables import Scanned
    from colonnade.tables.alongside import Alongside

    target = predictor.target(list(table.names), asked)
    kept = carried_names(keep, table.names, target)
    # A connection of a database answers one question at a time.
    beside_it = table.parts if isinstance(table, Scanned) else cast("Engine", data.scanned)
    along = Alongside(beside_it, kept)
    rows = known = right = 0
    fixed: dict[str, None] = {}
    with table_writer(output, overwrite) as write:
        for found in predictor.passing(table, target, intervals):
            if not rows:
                _explain_columns(target, kept, found, intervals.level or 0.95)
            write(beside(along.take(found.rows), found.columns))
            rows += found.rows
            known += len(found.right)
            right += sum(found.right)
            fixed |= dict.fromkeys(found.fixed)
    say(f"Predicted {target} for {counted(rows, 'row')}")
    say(f"Saved {output}")
    _say_accuracy(right / known if known else None, target)
    say_fixed(list(fixed))


def _predictor(path: Path) -> _Network | _Forest:
    """Read what predicts: a network, or a forest of them."""
    try:
        return _Network(load(path))
    except FileFormatError as error:
        if error.hint is not Advice.LOAD_FOREST:
            raise
    from colonnade.classifier import BayesianNetworkForest

    return _Forest(BayesianNetworkForest.load(path))


@dataclass(frozen=True, slots=True)
class _Network:
    """A network that predicts one of its variables."""

    network: BayesianNetwork

    def target(self, columns: list[str], asked: str | None) -> str:
        """Return the variable to be predicted."""
        network = self.network
        variables = [name for name in network.dag.variables if name != network.group]
        if asked is not None:
            if asked not in network:
                raise not_among(network.dag.variables, "target", asked)
            return asked
        absent = [name for name in variables if name not in columns]
        if len(absent) == 1:
            return absent[0]
        children = network.dag.children
        first = {name for name in variables if {*children(name)} >= {*variables} - {name}}
        roots = [name for name in first if not {*network.dag.parents(name)} - {network.group}]
        if len(roots) == 1 and not absent:
            return roots[0]
        hint = f"give --target with one of {listing(variables)}"
        raise Misuse("--target is missing: several variables could be predicted.", hint=hint)

    def answers(self, table: dict[str, Any], target: str, intervals: IntervalOptions) -> _Answers:
        """Answer for all rows of a table."""
        coded = coded_rows(self.network, with_absent(self.network, table, target), target)
        codes = coded.codes[coded.position(target)] if target in table else None
        return self._answers(coded, target, intervals, codes)

    def passing(
        self, table: Scanned | Engine, target: str, intervals: IntervalOptions
    ) -> Iterator[_Answers]:
        """Yield the answers for the rows of files."""
        from colonnade.network.new_rows import tell_absent
        from colonnade.tables import CodedTable
        from colonnade.tables.countable import countable

        network = self.network
        lacking = [v for v in network.variables if v.name not in table.names]
        if absent := [variable.name for variable in lacking if variable.name != target]:
            tell_absent(absent, table.names, network, target)
        there = [variable for variable in network.variables if variable.name in table.names]
        warn_of_numbers(network, table)
        rows = countable(table, there, None, "missing", network.discretizer)
        warn_of_unknown(rows, target)
        for block in rows.blocks():
            codes = dict(zip(block.names, block.codes, strict=True))
            codes |= {each.name: np.full(block.rows, each.cardinality) for each in lacking}
            own = tuple(codes[variable.name] for variable in network.variables)
            coded = CodedTable(network.variables, own, discretizer=network.discretizer)
            found = self._answers(coded, target, intervals, codes[target])
            if not found.has_intervals:
                intervals = IntervalOptions(draws=0)  # all rows have the same columns
            yield found

    def _answers(
        self, coded: CodedTable, target: str, intervals: IntervalOptions, truth: Array | None
    ) -> _Answers:
        from colonnade.network.targets import target_probabilities
        from colonnade.priors import Interval

        network = self.network
        probabilities = target_probabilities(network, coded, target)
        ends, fixed = intervals.answered(network, partial(self._ends, coded, target))
        states = network[target].family.child.states
        undefined = np.isnan(probabilities).all(axis=1, keepdims=True)
        if undefined.any():
            rows = counted(int(undefined.sum()), "row")
            why = "values that cannot occur together, or that the network has no probabilities for"
            warn(DataWarning(f"{rows} without a prediction, because of {why}."))
            ends = ends and Interval(*(np.where(undefined, np.nan, end) for end in ends))
        return _Answers.of(target, states, probabilities, ends, _known(states, truth), fixed)

    def _ends(
        self, coded: CodedTable, target: str, draws: int = 0, level: float = 0.95, rng: Seed = None
    ) -> tuple[Interval | None, tuple[str, ...]]:
        """Intervals if there are draws, and the tables that have no share in them."""
        from colonnade.inference.queries import Precision
        from colonnade.inference.row_intervals import row_intervals
        from colonnade.inference.rows import Rows

        if not draws:
            return None, ()
        return row_intervals(Rows.of(self.network, coded), target, Precision(draws, level, rng))


@dataclass(frozen=True, slots=True)
class _Forest:
    """A forest of networks, which predicts its own target alone."""

    forest: BayesianNetworkForest

    def target(self, columns: list[str], asked: str | None) -> str:
        """Return what the forest predicts, and refuse anything else."""
        own = self.forest.target_name_
        if asked is not None and asked != own:
            raise not_among([own], "target", asked)
        return own

    def answers(self, table: dict[str, Any], target: str, intervals: IntervalOptions) -> _Answers:
        """Answer for all rows of a table."""
        (found,) = self.passing(table, target, intervals)
        return found

    def passing(
        self, table: dict[str, Any] | Scanned | Engine, target: str, intervals: IntervalOptions
    ) -> Iterator[_Answers]:
        """Yield the answers for the rows of files; those of a table in memory at once."""
        classes = self.forest.classes_.tolist()
        settings = intervals.of_forest
        with renamed(rng="seed"):
            for block in self.forest.predict_blocks(table, absent="missing", **settings):
                truth = _known(classes, block.truth)
                yield _Answers.of(target, classes, block.probabilities, block.interval, truth)


def _known(states: Sequence[Any], codes: Array | None) -> list[Any]:
    """Return the states of codes; any other code is None. Without codes there is nothing."""
    each = [*states, None]
    return [] if codes is None else [each[min(code, len(states))] for code in codes.tolist()]

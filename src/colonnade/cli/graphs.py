"""Graphs from files, and learners of graphs with their options."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli.data import Missing
from colonnade.cli.options import number, score_of
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import DataError, did_you_mean, expected, listing, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.structure import Found

_HEADS = {("from", "to"), ("parent", "child"), ("source", "target")}
_HINT = "write parent,child in each line"

# Options that help shows among those about the graph.
graph_option = partial(typer.Option, rich_help_panel="Structure")
graph_number = partial(number, rich_help_panel="Structure")


GraphPrior = StrEnum("GraphPrior", ["sizes"])


class Learn(StrEnum):
    """How to learn a graph."""

    HC = "hc"
    TAN = "tan"
    CHOW_LIU = "chow-liu"
    KDB = "kdb"
    NAIVE = "naive"


_SUPERVISED = (Learn.TAN, Learn.KDB, Learn.NAIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerOptions:
    """What learners of graphs can be told. What is None was not given."""

    target: Annotated[
        str | None,
        graph_option(
            metavar="VARIABLE", help="The variable to be predicted, for --learn tan, kdb and naive."
        ),
    ] = None
    score: Annotated[
        str | None,
        graph_option(
            metavar="SCORE",
            help="What hill climbing maximises: bic (by default), aic, loglik, or the log evidence "
            "of a prior: {scores}.",
        ),
    ] = None
    graph_prior: Annotated[
        GraphPrior | None,
        graph_option(
            parser=choice(GraphPrior),
            metavar="HOW",
            help="Let hill climbing pay for the choice among many parents: sizes (all numbers of "
            "parents are equally probable, and all sets of one size).",
        ),
    ] = None
    max_parents: Annotated[
        int | None, graph_number(help="Largest number of parents, for --learn hc.")
    ] = None
    k: Annotated[
        int | None,
        graph_number(
            help="Parents of a feature besides the target, for --learn kdb; 2 by default."
        ),
    ] = None
    tabu: Annotated[
        int | None,
        graph_number(
            help="Length of the tabu list with which --learn hc goes on past a local optimum."
        ),
    ] = None
    restarts: Annotated[
        int | None,
        graph_number(
            help="How often --learn hc perturbs the best graph at random and climbs again."
        ),
    ] = None

    def check(self, learn: Sequence[Learn], dags: Sequence[Path]) -> None:
        """Refuse options that do not fit the graphs to be learned or read."""
        if not learn and not dags:
            hint = "give --dag ARCS.csv, or --learn with hc, tan, chow-liu, kdb or naive"
            raise Misuse("--dag or --learn is missing.", hint=hint)
        for option, value, learners in (
            ("--target", self.target, _SUPERVISED),
            ("--score", self.score, (Learn.HC,)),
            ("--graph-prior", self.graph_prior, (Learn.HC,)),
            ("--max-parents", self.max_parents, (Learn.HC,)),
            ("--tabu", self.tabu, (Learn.HC,)),
            ("--restarts", self.restarts, (Learn.HC,)),
            ("--k", self.k, (Learn.KDB,)),
        ):
            if value is not None and not set(learners) & set(learn):
                *others, last = learners
                owners = f"{', '.join(others)} or {last}" if others else last
                raise Misuse(f"{option} applies only with --learn {owners}.")
        lacking = [each for each in learn if each in _SUPERVISED and self.target is None]
        if lacking:
            needs = f"--learn {lacking[0]} needs the variable to be predicted"
            raise Misuse(f"--target is missing: {needs}.")
        if self.score is not None:
            score_of(self.score)  # a wrong word is reported before any work
        self._check_sizes()

    def _check_sizes(self) -> None:
        from colonnade.structure.search import MAX_RESTARTS, MAX_TABU

        for option, value, most in (
            ("--tabu", self.tabu, MAX_TABU),
            ("--restarts", self.restarts, MAX_RESTARTS),
        ):
            if value is not None and value > most:
                raise Misuse(f"Expected an integer from 0 to {most:,} for {option}, got {value}.")

    def check_target(self, columns: Sequence[str]) -> None:
        """Refuse a target that is none of the columns, before any work."""
        if self.target is not None and self.target not in columns:
            hint = did_you_mean(self.target, columns)
            raise expected(f"one of {listing(columns)}", "target", self.target, hint)

    def learner(
        self, learn: Learn, seed: int | None, missing: Missing = Missing.RAISE
    ) -> Callable[[Any], Dag | Found]:
        """Return a function from a table, which may have gaps, to a graph."""
        from colonnade import structure

        climb = partial(
            structure.hill_climb,
            score=score_of(self.score or "bic"),
            graph_prior=None if self.graph_prior is None else "sizes",
            max_parents=self.max_parents,
            tabu=self.tabu or 0,
            restarts=self.restarts or 0,
            rng=seed if self.restarts else None,
            missing=missing.value,
        )
        target = self.target or ""
        k = 2 if self.k is None else self.k
        learners: dict[Learn, Callable[[Any], Dag | Found]] = {
            Learn.HC: climb,
            Learn.TAN: lambda table: structure.tan(table, target, missing=missing.value),
            Learn.CHOW_LIU: lambda table: structure.chow_liu(table, missing=missing.value),
            Learn.KDB: lambda table: structure.kdb(table, target, k, missing=missing.value),
            Learn.NAIVE: lambda table: structure.naive_bayes(table, target),
        }
        return learners[learn]


def dag_of(path: Path, columns: Sequence[str], *, all_columns: bool = False) -> Dag:
    """Read a graph of the columns of a table from a CSV file with one arc per line: parent, child.

    The first line may say so. A line with one name is a variable without arcs, and with
    `all_columns` so is each column that the file does not name.
    """
    from colonnade.dag import Dag
    from colonnade.tables.levels import refuse_absent

    with renamed(path="dag", arcs="dag", variables="dag"):
        arcs, names = _arcs(path)
        dag = Dag(arcs, tuple(dict.fromkeys((*columns, *names))) if all_columns else names)
    _refuse_separator(path, [name for name in names if name not in columns])
    refuse_absent(dag.variables, columns)
    return dag


def _refuse_separator(path: Path, strange: Sequence[str]) -> None:
    """Raise if names that stand alone and are no columns look like arcs with another separator."""
    for name in strange:
        if found := re.search(r"[;\t|]|->", name):
            sign = "a tab" if found.group() == "\t" else repr(found.group())
            hint = f"separate parent and child by a comma, not by {sign}"
            raise DataError(f"File {str(path)!r}", f"{name!r} is not a column.", hint)


def _arcs(path: Path) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the arcs of a file, and the names that stand alone."""
    from colonnade.tables.files import read_lines

    arcs: list[tuple[str, str]] = []
    names: dict[str, None] = {}
    rows = ((line, row) for line, row in read_lines(path) if row)
    for k, (line, row) in enumerate(rows):
        cells = [cell.strip() for cell in row]
        if k == 0 and tuple(cell.lower() for cell in cells) in _HEADS:
            continue
        if not 1 <= len(cells) <= 2 or not cells[0]:
            place = f"File {str(path)!r}, line {line}"
            raise DataError(place, f"{','.join(row)!r} is not an arc.", _HINT, line=line)
        if len(cells) == 2 and cells[1]:
            arcs.append((cells[0], cells[1]))
        else:
            names[cells[0]] = None
    if not arcs and not names:
        raise DataError(f"File {str(path)!r}", "no arcs.", _HINT)
    return tuple(arcs), tuple(names)

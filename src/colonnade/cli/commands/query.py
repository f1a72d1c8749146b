"""`colonnade query`: probabilities of variables, given what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from colonnade.cli import options
from colonnade.cli.evidence import KnownOptions, worded_findings
from colonnade.cli.intervals import IntervalOptions, say_fixed
from colonnade.cli.models import load
from colonnade.cli.output import figure, grid, interval, say, say_json, say_rest
from colonnade.cli.values import Misuse, refuse_repeated
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.inference import QueryResult
    from colonnade.network import BayesianNetwork

_MAX_PRINTED_ROWS = 400


def query(
    model: options.Model,
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help="Variable asked for; several give joint probabilities."
        ),
    ],
    situation: KnownOptions,
    intervals: IntervalOptions,
    json: options.AsJson = False,
) -> None:
    """Ask for the probabilities of a variable, given what was observed, with credible intervals.

    Examples
    --------
    colonnade query model.json cancer --observed smoker=yes

    colonnade query classifier.json ill --observed 'bmi>25' --do smoker=no

    colonnade query model.json cancer marker --observed age=old --level 0.9 --json
    """
    refuse_repeated("TARGET", "variables", target)
    network = load(model)
    check_targets(network, target)
    asked = target[0] if len(target) == 1 else target
    known, done = situation.known(network), situation.done(network)
    result = intervals.answered(network, partial(network.query, asked, known, do=done))
    if json:
        say_json(result.to_dict())
    else:
        _print_answer(result)


def check_targets(network: BayesianNetwork, targets: Sequence[str]) -> None:
    """Refuse what looks like an observed state, or like a list."""
    for name in targets:
        if name in network or not {"=", ","} & set(name):
            continue
        state = name if name.partition("=")[0] in network else "VARIABLE=STATE"
        hint = f"write --observed {state}" if "=" in name else "separate variables by blanks"
        raise Misuse(f"Expected names of variables for TARGET, got {name!r}.", hint=hint)


def _print_answer(result: QueryResult) -> None:
    given = f" given {worded_findings(result.observed)}" if result.observed else ""
    given += f" after {worded_findings({**result.done})} is done" if result.done else ""
    say(f"Probability of {', '.join(result.targets)}{given}")
    head = [*result.targets, "probability"]
    if result.level is not None:
        head.append(f"{percent(result.level)} interval")
    rows: list[list[str]] = []
    for answer in result.answers(_MAX_PRINTED_ROWS):
        row = [*map(str, answer["states"]), figure(answer["probability"])]
        if result.level is not None:
            row.append(interval(answer["lower"], answer["upper"]))
        rows.append(row)
    grid(head, rows, numbers=head[len(result.targets) :])
    rest = result.probabilities.size - len(rows)
    say_rest(rest, "answer", "--json shows all")
    say_fixed(result.fixed)

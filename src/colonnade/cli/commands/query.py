"""`colonnade query`: probabilities of variables, given what was observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from colonnade.cli import options
from colonnade.cli.models import load
from colonnade.cli.output import complain, figure, grid, interval, say, say_json, say_rest
from colonnade.cli.values import Misuse, refuse_repeated
from colonnade.cli.values import draws as draws_of
from colonnade.exceptions import (
    Advice,
    DataError,
    NotSupportedError,
    TooLargeError,
    did_you_mean,
    inapplicable,
    listing,
)
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.inference import QueryResult
    from colonnade.network import BayesianNetwork
    from colonnade.variables import State, Variable

_MAX_PRINTED_ROWS = 400
# If nobody says how many.
DRAWS = 500


def query(
    model: options.Model,
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help="Variable asked for; several give joint probabilities."
        ),
    ],
    observed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE=STATE",
            help="What was observed; may be given several times. A variable that was cut into "
            "intervals also takes a number.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=draws_of,
            help="Draws of all tables, for credible intervals: from 100 to a million; 0 is none.",
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
    json: options.AsJson = False,
) -> None:
    """Ask for the probabilities of a variable, given what was observed, with credible intervals.

    Examples
    --------
    colonnade query model.json cancer --observed smoker=yes

    colonnade query model.json cancer marker --observed age=71 --level 0.9 --json
    """
    for option, value in (("--level", level), ("--seed", seed)):
        if value is not None and draws == 0:
            raise Misuse(f"{option} applies only with --draws.", hint="leave out --draws 0")
    refuse_repeated("TARGET", "variables", target)
    network = load(model)
    _check_targets(network, target)
    asked = target[0] if len(target) == 1 else target
    known = _observed(network, observed or [])
    asks_for_intervals = draws is not None or level is not None or seed is not None
    posterior = any(cpt.has_posterior for cpt in network.tables.values())
    for option, given in (("level", level), ("seed", seed)):
        if given is not None and not posterior:
            raise inapplicable(option, given, "networks whose tables have a posterior")
    if draws is None:
        draws = DRAWS if posterior or asks_for_intervals else 0
    ends = (0.95 if level is None else level, seed or 0) if draws else ()
    try:
        result = network.query(asked, known, draws, *ends)
    except (NotSupportedError, TooLargeError) as error:
        # Nobody asked for intervals, and the probabilities can be had.
        if asks_for_intervals:
            raise
        complain(f"Note: no intervals. {error.statement}")
        result = network.query(asked, known)
    if json:
        say_json(result.to_dict())
    else:
        _print_answer(result)


def _check_targets(network: BayesianNetwork, targets: Sequence[str]) -> None:
    """Refuse what looks like an observed state, or like a list."""
    for name in targets:
        if name in network or not {"=", ","} & set(name):
            continue
        state = name if name.partition("=")[0] in network else "VARIABLE=STATE"
        hint = f"write --observed {state}" if "=" in name else "separate variables by blanks"
        raise Misuse(f"Expected names of variables for TARGET, got {name!r}.", hint=hint)


def _print_answer(result: QueryResult) -> None:
    given = ", ".join(f"{name} = {state}" for name, state in result.observed.items())
    say(f"Probability of {', '.join(result.targets)}" + f" given {given}" * bool(given))
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


def _observed(network: BayesianNetwork, texts: Sequence[str]) -> dict[str, State]:
    """Return the observed states that texts such as ``smoker=yes`` stand for."""
    observed: dict[str, State] = {}
    for text in texts:
        name, state = _split(network, text)
        if name in observed:
            raise Misuse(f"Expected different variables for --observed, got {name!r} twice.")
        try:
            observed[name] = _interval(network, name, state)
        except DataError as error:
            if name != network.group or "state" not in error.details:
                raise
            raise error.advising(Advice.ASK_NEW_GROUP) from None
    return observed


def _split(network: BayesianNetwork, text: str) -> tuple[str, str]:
    """Split at the equals sign that leaves a name; names may contain the sign themselves."""
    signs = [k for k, letter in enumerate(text) if letter == "=" and k > 0]
    if not signs:
        raise Misuse(
            f"Expected VARIABLE=STATE for --observed, got {text!r}.", hint="write smoker=yes"
        )
    fitting = [k for k in signs if text[:k] in network]
    if not fitting:
        name, known = text[: signs[0]], network.dag.variables
        problem = f"not a variable of the network, which has {listing(known)}."
        raise DataError(f"Variable {name!r}", problem, did_you_mean(name, known))
    # The longest name that fits: a shorter one would need a state that contains the sign.
    return text[: fitting[-1]], text[fitting[-1] + 1 :]


def _interval(network: BayesianNetwork, name: str, text: str) -> State:
    """Return a state; for a variable that was cut, a number stands for its interval."""
    from colonnade.tables.intervals import infinite, without_cut_points

    variable = network[name].family.child
    cuts = network.discretizer.get(name) if network.discretizer is not None else None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if text in variable.states or math.isnan(number):
        return state_of(variable, text)
    if cuts is not None:
        if math.isinf(number):
            raise infinite(name, text)
        return cuts.states[int(cuts.codes(np.array([number]))[0])]
    if error := without_cut_points(variable, number):
        raise error
    return state_of(variable, text)


def state_of(variable: Variable, text: str) -> State:
    """Return the state of a variable that a text stands for, with its type."""
    written = [
        state
        for state in variable.states
        if text == str(state) or (isinstance(state, bool) and text.lower() == str(state).lower())
    ]
    if len(written) == 1:
        return written[0]
    if not written and (whole := _whole(variable, text)) is not None:
        return whole
    where = f"Variable {variable.name!r}"
    if written:
        problem = f"{text!r} stands for each of {listing(written)}."
        raise DataError(where, problem, "ask with `network.query` in Python, which knows types")
    problem = f"state {text!r} is not one of {listing(variable.states)}."
    raise DataError(
        where,
        problem,
        did_you_mean(text, map(str, variable.states)),
        variable=variable.name,
        state=text,
        allowed=variable.states,
    )


def _whole(variable: Variable, text: str) -> State | None:
    """Return the integer state that is written with decimals, such as 2007.0; None if none is."""
    try:
        return variable.states[variable.index(float(text))]
    except ValueError:  # neither a number nor a state
        return None

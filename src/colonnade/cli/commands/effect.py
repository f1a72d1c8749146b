"""`colonnade effect`: how much setting a variable to one state or another changes a second one."""

from __future__ import annotations

import csv
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.evidence import KNOWN_HELP, findings, state_in, worded_findings
from colonnade.cli.intervals import IntervalOptions, say_fixed
from colonnade.cli.models import load
from colonnade.cli.output import figure, grid, say, say_json, say_wrapped
from colonnade.cli.values import Misuse
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.inference import Effect
    from colonnade.network import BayesianNetwork

_COMPARISONS = ("difference", "ratio", "odds ratio")


def effect(
    model: options.Model,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The variable that may be changed.")
    ],
    of: Annotated[
        list[str],
        typer.Option(
            metavar="VARIABLE=ONE,OTHER",
            help="The variable that is set, with the two states to compare; may be given several "
            "times, for variables that are set together. A state with a comma is put in double "
            "quotes.",
        ),
    ],
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="KNOWN", help=f"For whom: what else is known. {KNOWN_HELP}"),
    ] = None,
    seen: Annotated[
        bool,
        typer.Option(
            "--seen",
            help="Compare those who are found in the two states, not those who are set to them: "
            "common causes then have their part in it.",
        ),
    ] = False,
    *,
    intervals: IntervalOptions,
    json: options.AsJson = False,
) -> None:
    """Compare the probabilities of a variable after two actions: difference, ratio, odds ratio.

    The network adjusts for common causes by itself. This assumes that its graph is causal and
    complete, which no data can tell.

    Examples
    --------
    colonnade effect model.json cancer --of smoker=yes,no

    colonnade effect model.json cancer --of smoker=yes,no --given age=old --json
    """
    network = load(model)
    pairs = {name: pair for text in of for name, pair in _pair(network, text).items()}
    if len(pairs) < len(of):
        raise Misuse("Expected different variables for --of, got one twice.")
    known = findings(network, given or (), "--given")
    ask = network.association if seen else network.effect
    found = intervals.answered(network, partial(ask, target, pairs, known))
    if json:
        say_json(found.to_dict())
    else:
        _print(found)
        for name in found.compared if found.causal else ():
            if found.target not in network.dag.descendants(name):
                say(f"{name} does not lead to {found.target} in this graph")


def _pair(network: BayesianNetwork, text: str) -> dict[str, Any]:
    """Return the two states of a variable that a text such as ``smoker=yes,no`` names.

    States with a comma are in double quotes.
    """
    name, _, written = (part.strip() for part in text.partition("="))
    parts = next(csv.reader([written], skipinitialspace=True), [])
    if '"' in written and len(parts) == 2 and name in network:
        return {name: [state_in(network, name, part.strip()) for part in parts]}
    found = findings(network, [text], "--of")
    for name, states in found.items():
        if not isinstance(states, list) or len(states) != 2:
            hint = "write smoker=yes,no"
            raise Misuse(f"Expected two states of {name!r} for --of, got {text!r}.", hint=hint)
    return found


def _print(found: Effect) -> None:
    sides = ", ".join(f"{name} = {a} against {b}" for name, (a, b) in found.compared.items())
    kind, word = ("Effect on", "of") if found.causal else ("Association of", "with")
    given = f" given {worded_findings(found.given)}" if found.given else ""
    say(f"{kind} {found.target} {word} {sides}{given}")
    head = [found.target, "", "value"]
    if found.level is not None:
        head.append(f"{percent(found.level)} interval")
    names = [", ".join(str(pair[k]) for pair in found.compared.values()) for k in (0, 1)]
    rows = []
    for state in found.states:
        own = found[state]
        measures = [*(f"probability if {name}" for name in names), *_COMPARISONS]
        for k, (measure, value, ends) in enumerate(zip(measures, own[:5], own[5:], strict=True)):
            shown = [] if ends is None else [f"{ends[0]:.4f} to {ends[1]:.4f}"]
            rows.append(["" if k else str(state), measure, figure(value), *shown])
    grid(head, rows, numbers=head[2:])
    say_wrapped(f"Assumed: {found.assumed}.", "")
    if found.adjusted is not None:
        say(f"To be adjusted for (done here): {', '.join(sorted(found.adjusted)) or 'nothing'}")
    if found.changed:
        say(f"Changed by the action itself, and yet given: {', '.join(found.changed)}")
    say_fixed(found.fixed)

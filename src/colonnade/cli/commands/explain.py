"""`colonnade explain`: which findings moved an answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.commands.query import check_targets
from colonnade.cli.evidence import KnownOptions
from colonnade.cli.intervals import IntervalOptions, say_fixed
from colonnade.cli.models import load
from colonnade.cli.output import figure, grid, say, say_json
from colonnade.cli.values import Misuse
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.inference import Explanation


def explain(
    model: options.Model,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The variable asked for.")],
    situation: KnownOptions,
    intervals: IntervalOptions,
    json: options.AsJson = False,
) -> None:
    """Say which findings moved the probabilities of a variable, and by how much.

    For each finding: the answer with it alone, without it, and what it adds to the others.

    Example: colonnade explain model.json cancer --observed smoker=yes --observed age=old
    """
    if not situation.observed:
        raise Misuse("--observed is missing: without findings there is nothing to explain.")
    network = load(model)
    check_targets(network, [target])
    world, known = situation.world(network, [target])
    found = intervals.answered(world, partial(world.explain, target, known))
    if json:
        say_json(_facts(found))
    else:
        say(f"Probability of {target}{situation.in_words(network)}, and what moved it")
        _print(found)


def _facts(found: Explanation) -> dict[str, Any]:
    findings = []
    for name, moved in found.findings.items():
        facts = {"alone": moved.alone.tolist(), "without": moved.without.tolist()}
        facts["adds"] = moved.shift.values.tolist()
        if moved.shift.lower is not None and moved.shift.upper is not None:
            facts |= {"lower": moved.shift.lower.tolist(), "upper": moved.shift.upper.tolist()}
        findings.append({"variable": name, **facts})
    return {
        "target": found.target,
        "states": list(found.states),
        "before": found.before.tolist(),
        "after": found.after.tolist(),
        "level": found.level,
        "fixed": list(found.fixed),
        "findings": findings,
    }


def _print(found: Explanation) -> None:
    head = ["finding", found.target, "alone", "without", "with all", "adds"]
    if found.level is not None:
        head.append(f"{percent(found.level)} interval")
    rows = [
        ["nothing known" * (k == 0), str(state), figure(found.before[k]), *[""] * (len(head) - 3)]
        for k, state in enumerate(found.states)
    ]
    for name, moved in found.findings.items():
        for k, state in enumerate(found.states):
            row = [name * (k == 0), str(state), figure(moved.alone[k]), figure(moved.without[k])]
            row += [figure(found.after[k]), f"{moved.shift.values[k]:+.4f}"]
            if moved.shift.lower is not None and moved.shift.upper is not None:
                row.append(f"{moved.shift.lower[k]:+.4f} to {moved.shift.upper[k]:+.4f}")
            rows.append(row)
    grid(head, rows, numbers=head[2:])
    say_fixed(found.fixed)

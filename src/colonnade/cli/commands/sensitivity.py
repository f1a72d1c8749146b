"""`colonnade sensitivity`: which entries of tables an answer depends on."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.commands.query import check_targets
from colonnade.cli.evidence import KnownOptions, state_in
from colonnade.cli.models import load
from colonnade.cli.output import (
    figure,
    fits,
    grid,
    interval,
    say,
    say_json,
    say_parts,
    say_rest,
    stacked,
)
from colonnade.exceptions import inapplicable, not_among
from colonnade.wording import percent

if TYPE_CHECKING:
    from colonnade.inference import Entry, EntryPair, Sensitivity

# Of which entries pairs are formed.
_ENTRIES_PAIRED = 10


def sensitivity(
    model: options.Model,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The variable asked for.")],
    state: Annotated[str, typer.Argument(metavar="STATE", help="Its state.")],
    situation: KnownOptions,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None,
    limit: Annotated[
        int, options.number(1, help="Largest number of entries to show; --json has all.")
    ] = 10,
    pairs: Annotated[
        int,
        options.number(help="Show so many pairs of entries that act most strongly together."),
    ] = 0,
    json: options.AsJson = False,
) -> None:
    """Say how the probability of a state depends on single entries of the tables, exactly.

    The derivative is the change of the probability per change of the entry, while the others of its
    row change in proportion. The swing is the range of the probability as the entry goes through
    its credible interval: the first entry is the one that more data would help most. Of a row with
    two states only one entry is shown.

    Examples
    --------
    colonnade sensitivity model.json cancer true --observed smoker=yes

    colonnade sensitivity model.json cancer true --pairs 3 --json
    """
    network = load(model)
    check_targets(network, [target])
    if target not in network:
        raise not_among(network.dag.variables, "target", target)
    asked = state_in(network, target, state)
    posterior = any(cpt.has_posterior for cpt in network.tables.values())
    if level is not None and not posterior:
        raise inapplicable("level", level, "networks whose tables have a posterior")
    world, known = situation.world(network, [target])
    found = world.sensitivity(target, asked, known, (level or 0.95) if posterior else None)
    paired = list(combinations(found.first(_ENTRIES_PAIRED), 2)) if pairs else []
    together = [world.joint_sensitivity(target, asked, pair, known) for pair in paired]
    together = sorted(together, key=lambda pair: -abs(pair.derivative))[:pairs]
    if json:
        say_json(_facts(found, together))
        return
    given = situation.in_words(network)
    say(f"Probability of {target} = {asked}{given}: {figure(found.probability)}")
    _print_entries(found, limit)
    if together:
        _print_pairs(together)


def _print_entries(found: Sensitivity, limit: int) -> None:
    head = ["entry", "value", "derivative"]
    if found.level is not None:
        head = ["entry", "value", f"{percent(found.level)} interval", "derivative", "swing"]
    shown = found.first(limit)
    rows = []
    for entry in shown:
        row = [_named(entry), figure(entry.value)]
        if found.level is not None:
            row.append("-" if entry.interval is None else interval(*entry.interval))
        row.append(f"{entry.derivative:+.4f}")
        if found.level is not None:
            row.append("-" if entry.swing is None else interval(*entry.swing))
        rows.append(row)
    if fits([head, *rows]):
        grid(head, rows, numbers=head[1:])
    else:
        blocks = [(_parts(entry), [row[1:]]) for entry, row in zip(shown, rows, strict=True)]
        stacked(head[1:], blocks, head[1:])
    rest = len(found.first(max(len(found), 1))) - len(shown)
    say_rest(rest, "entry", plural="entries")


def _print_pairs(pairs: list[EntryPair]) -> None:
    say()
    head = ["entry", "together with", "mixed derivative"]
    rows = [[_named(pair.one), _named(pair.other), f"{pair.derivative:+.4f}"] for pair in pairs]
    if fits([head, *rows]):
        grid(head, rows, numbers=head[2:])
        return
    for pair, row in zip(pairs, rows, strict=True):
        say_parts(_parts(pair.one))
        say_parts(["together with " + _parts(pair.other)[0], *_parts(pair.other)[1:]])
        say(f"  mixed derivative {row[2]}")


def _named(entry: Entry) -> str:
    return ", ".join(_parts(entry))


def _parts(entry: Entry) -> list[str]:
    """An entry in words, in parts that are not broken."""
    own = f"{entry.variable} = {entry.state}"
    given = [f"{name} = {state}" for name, state in entry.configuration.items()]
    return [f"{own} | {given[0]}", *given[1:]] if given else [own]


def _facts(found: Sensitivity, pairs: list[EntryPair]) -> dict[str, Any]:
    def facts(entry: Entry) -> dict[str, Any]:
        own = {name: value for name, value in entry._asdict().items() if name != "coefficients"}
        return {**own, "swing": entry.swing}

    return {
        "target": found.target,
        "state": found.state,
        "probability": found.probability,
        "level": found.level,
        "entries": [facts(entry) for entry in found],
        "pairs": [
            {
                "one": facts(pair.one),
                "other": facts(pair.other),
                "derivative": pair.derivative,
                "numerator": list(pair.numerator),
                "denominator": list(pair.denominator),
            }
            for pair in pairs
        ],
    }

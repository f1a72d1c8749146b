"""`colonnade show`: a saved network, or one of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.models import described, load, prior_word, summarise
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
from colonnade.cli.values import Misuse
from colonnade.exceptions import counted, inapplicable, renamed
from colonnade.wording import percent, tallies

if TYPE_CHECKING:
    from colonnade.cpt import Cpt

_CONFIGURATIONS_IF_NO_LIMIT = 20
# What stands for all configurations that share a row.
OTHER = "(any other)"
# Configurations without data that have estimates of their own are shown, up to this many in all.
_MAX_COMPUTED = 10_000


def show(
    model: options.Model,
    variable: Annotated[
        str | None,
        typer.Argument(metavar="VARIABLE", help="Show the table of this variable, with intervals."),
    ] = None,
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals of a table; 0.95 by default."),
    ] = None,
    limit: Annotated[
        int | None,
        options.number(
            1,
            help="Largest number of variables, or of configurations of one variable, to show; "
            "40 and 20 by default, all with --json.",
        ),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Show a network, or the table of one of its variables.

    Examples
    --------
    colonnade show model.json

    colonnade show model.json cancer --level 0.9 --limit 50
    """
    if variable is None and level is not None:
        raise Misuse("--level applies only to the table of a VARIABLE.")
    network = load(model)
    if variable is not None:
        shown = limit if json else limit or _CONFIGURATIONS_IF_NO_LIMIT
        with renamed(name="variable"):
            cpt = network[variable]
        if level is not None and not cpt.has_posterior:
            owner = f"a table with a posterior, and that of {variable!r} has none"
            raise inapplicable("level", level, owner, f"leave it out; the table is {_origin(cpt)}")
        found = described_table(cpt, 0.95 if level is None else level, shown)
        if json:
            say_json(found)
        else:
            _print_table(found)
    elif json:
        facts = described(network)
        say_json(facts | {"variables": facts["variables"][:limit]})
    else:
        summarise(network, limit)


def _origin(cpt: Cpt) -> str:
    return "known" if cpt.prior is None else f"estimated with {cpt.prior.word}"


def described_table(cpt: Cpt, level: float, limit: int | None) -> dict[str, Any]:
    """Describe a table in plain values, ready for JSON.

    With ``rows``: one for each stored configuration (at most `limit`), and ``other``: the one row
    that all other configurations share, or None. Tables with a posterior have intervals.
    """
    family, table = cpt.family, cpt.table.expanded(_MAX_COMPUTED)
    places: list[Any] = [tuple(row) for row in table.codes[:limit].tolist()]
    rows: list[dict[str, Any]] = []
    for code, mean in zip(places, table.rows[:limit].tolist(), strict=True):
        given = {p.name: p.states[k] for p, k in zip(family.parents, code, strict=True)}
        counts = None if cpt.counts is None else cpt.counts.row(code).tolist()
        rows.append({"given": given, "counts": counts, "mean": mean})
    other = None
    if table.default is not None and len(table.rows) < family.configurations:
        other = {"mean": table.default.tolist()}
    if cpt.has_posterior:
        described = rows
        if other is not None:
            first = range(len(table.rows) + 1)
            places.append(next(k for k in first if table.position(k) is None))
            described = [*rows, other]
        lower, upper = cpt.posterior.interval(level, places)
        for row, low, high in zip(described, lower.tolist(), upper.tolist(), strict=True):
            row.update(lower=low, upper=high)
    return {
        "variable": family.child.name,
        "states": list(family.child.states),
        "parents": [parent.name for parent in family.parents],
        "prior": prior_word(cpt),
        "level": level if cpt.has_posterior else None,
        "configurations": family.configurations,
        "stored": len(table.rows),
        "computed": family.configurations - len(table.rows) if table.fallback else 0,
        "rows": rows,
        "other": other,
    }


def _print_table(found: dict[str, Any]) -> None:
    """Print a table: one line per configuration and state."""
    parents, level = found["parents"], found["level"]
    given = [f" given {parents[0]}", *parents[1:]] if parents else [""]
    given[-1] += f"; {found['prior']}"
    say_parts([f"Probability of {found['variable']}{given[0]}", *given[1:]])
    head = [*parents, found["variable"], "count", "probability"]
    if level is not None:
        head.append(f"{percent(level)} interval")
    shown = [(list(map(str, row["given"].values())), row) for row in found["rows"]]
    if found["other"] is not None:
        shown.append(([OTHER] * len(parents), found["other"]))
    lines = [line for given, row in shown for line in _lines(given, row, found["states"])]
    # Counts of one table are written alike.
    unknown_counts = [None] * len(found["states"])
    counts = [count for _, row in shown for count in row.get("counts") or unknown_counts]
    for line, count in zip(lines, tallies(counts), strict=True):
        line.insert(len(parents) + 1, count)
    numbers = head[len(parents) + 1 :]
    if fits([head, *lines]):
        grid(head, lines, numbers)
    else:
        stacked(head[len(parents) :], _blocks(shown, parents, lines), numbers)
    say_rest(found["stored"] - len(found["rows"]), "configuration")
    if computed := found["computed"]:
        each = "has an estimate of its own"
        say(f"{counted(computed, 'configuration')} without data: each {each}")
    unknown = found["configurations"] - found["stored"] - computed
    if unknown and found["other"] is None:
        have = "has" if unknown == 1 else "have"
        say(f"{counted(unknown, 'configuration')} {have} no data and no probabilities")


def _blocks(
    shown: list[tuple[list[str], dict[str, Any]]], parents: list[str], lines: list[list[str]]
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield each configuration of a wide table in words, with the rows of its states."""
    width, states = len(parents), len(lines) // len(shown)
    for k, (given, _) in enumerate(shown):
        parts = [f"{name} = {state}" for name, state in zip(parents, given, strict=True)]
        if len(set(given)) == 1 and given[0] == OTHER:
            parts = ["Any other configuration"]
        yield parts, [line[width:] for line in lines[k * states : (k + 1) * states]]


def _lines(given: list[str], row: dict[str, Any], states: list[Any]) -> list[list[str]]:
    """Write a row of a table, one line per state, without the counts."""
    lines = []
    for k, state in enumerate(states):
        # A configuration is written once, on its first line.
        cells = given if k == 0 else [""] * len(given)
        line = [*cells, str(state), figure(row["mean"][k])]
        if "lower" in row:
            line.append(interval(row["lower"][k], row["upper"][k]))
        lines.append(line)
    return lines

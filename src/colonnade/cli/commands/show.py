"""`colonnade show`: a saved network, or one of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.messages import renamed
from colonnade.cli.models import described, load, prior_word, summarise
from colonnade.cli.output import figure, grid, interval, say, say_json, tally
from colonnade.exceptions import counted

if TYPE_CHECKING:
    from colonnade.cpt import Cpt

_CONFIGURATIONS_IF_NO_LIMIT = 20
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
            min=1,
            help="Largest number of variables, or of configurations of one variable, to show; "
            "40 and 20 by default, all with --json.",
        ),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Show a network, or the table of one of its variables.

    Example: colonnade show model.json cancer
    """
    if variable is None and level is not None:
        raise options.misuse("--level", "it needs a variable.")
    network = load(model)
    if variable is not None:
        shown = limit if json else limit or _CONFIGURATIONS_IF_NO_LIMIT
        with renamed(name="variable"):
            cpt = network[variable]
        found = _table(cpt, 0.95 if level is None else level, shown)
        if json:
            say_json(found)
        else:
            _print_table(found)
    elif json:
        facts = described(network)
        say_json(facts | {"variables": facts["variables"][:limit]})
    else:
        summarise(network, limit)


def _table(cpt: Cpt, level: float, limit: int | None) -> dict[str, Any]:
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
    given = f" given {', '.join(parents)}" if parents else ""
    say(f"Probability of {found['variable']}{given}; {found['prior']}")
    head = [*parents, found["variable"], "count", "probability"]
    if level is not None:
        head.append(f"{100 * level:g} % interval")
    lines: list[list[str]] = []
    for row in found["rows"]:
        lines += _lines([str(state) for state in row["given"].values()], row, found["states"])
    if found["other"] is not None:
        lines += _lines(["(any other)"] * len(parents), found["other"], found["states"])
    grid(head, lines, numbers=head[len(parents) + 1 :])
    if rest := found["stored"] - len(found["rows"]):
        say(f"... {counted(rest, 'more configuration')}; --limit shows more, --json all")
    if computed := found["computed"]:
        each = "has an estimate of its own"
        say(f"{counted(computed, 'configuration')} without data: each {each}")
    unknown = found["configurations"] - found["stored"] - computed
    if unknown and found["other"] is None:
        have = "has" if unknown == 1 else "have"
        say(f"{counted(unknown, 'configuration')} {have} no data and no probabilities")


def _lines(given: list[str], row: dict[str, Any], states: list[Any]) -> list[list[str]]:
    counts = row.get("counts") or [None] * len(states)
    lines = []
    for k, (state, count) in enumerate(zip(states, counts, strict=True)):
        # A configuration is written once, on its first line.
        cells = given if k == 0 else [""] * len(given)
        line = [*cells, str(state), tally(count), figure(row["mean"][k])]
        if "lower" in row:
            line.append(interval(row["lower"][k], row["upper"][k]))
        lines.append(line)
    return lines

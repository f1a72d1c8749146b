"""One table of a network, row by row, with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colonnade.cli.models import prior_word
from colonnade.cli.output import figure, grid, interval, say, tally
from colonnade.exceptions import counted

if TYPE_CHECKING:
    from colonnade.counts import FamilyCounts
    from colonnade.cpt import Cpt


def table_of(cpt: Cpt, level: float, limit: int | None) -> dict[str, Any]:
    """Describe a table in plain values, ready for JSON.

    Parameters
    ----------
    cpt : Cpt
    level : float
        Probability inside the intervals, if the table has a posterior.
    limit : int or None
        Largest number of configurations; None for all that are stored.

    Returns
    -------
    dict
        With ``rows``: one for each stored configuration, and ``other``: the one row that all other
        configurations share, or None.
    """
    family, table = cpt.family, cpt.table
    codes = [tuple(row) for row in table.codes[:limit].tolist()]
    rows: list[dict[str, Any]] = []
    for code, mean in zip(codes, table.rows[:limit].tolist(), strict=True):
        given = {p.name: p.states[k] for p, k in zip(family.parents, code, strict=True)}
        counts = None if cpt.counts is None else cpt.counts.row(code).tolist()
        rows.append({"given": given, "counts": counts, "mean": mean})
    other = None
    if table.default is not None and len(table.rows) < family.configurations:
        other = {"mean": table.default.tolist()}
    if cpt.has_posterior:
        _add_intervals(cpt, level, codes, rows, other)
    return {
        "variable": family.child.name,
        "states": list(family.child.states),
        "parents": [parent.name for parent in family.parents],
        "prior": prior_word(cpt.prior),
        "level": level if cpt.has_posterior else None,
        "configurations": family.configurations,
        "stored": len(table.rows),
        "rows": rows,
        "other": other,
    }


def print_table(found: dict[str, Any]) -> None:
    """Print what :func:`table_of` found: one line per configuration and state."""
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
    unknown = found["configurations"] - found["stored"]
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


def _add_intervals(
    cpt: Cpt,
    level: float,
    codes: list[tuple[int, ...]],
    rows: list[dict[str, Any]],
    other: dict[str, Any] | None,
) -> None:
    """Add the ends of the intervals to rows that have means."""
    assert cpt.counts is not None  # a table with a prior has counts
    places: list[Any] = list(codes)
    described = list(rows)
    if other is not None:
        places.append(_unobserved(cpt.counts))
        described.append(other)
    lower, upper = cpt.posterior.interval(level, places)
    for row, low, high in zip(described, lower.tolist(), upper.tolist(), strict=True):
        row.update(lower=low, upper=high)


def _unobserved(counts: FamilyCounts) -> int:
    """Return the first configuration without counts; there must be one."""
    from colonnade.configurations import configuration_codes

    for k, code in enumerate(counts.codes.tolist()):
        # Codes are in order, so the first configuration that is not in its place is absent.
        if tuple(code) != tuple(configuration_codes(k, counts.parent_sizes)):
            return k
    return counts.observed

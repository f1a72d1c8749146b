"""Networks in files, and how one is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colonnade.cli.output import complain, grid, say, say_rest, say_wrapped
from colonnade.cli.values import Misuse
from colonnade.exceptions import amount, counted, listing, renamed
from colonnade.wording import MAX_SHOWN_PARENTS, joined, tallies

if TYPE_CHECKING:
    from colonnade.cpt import Cpt
    from colonnade.network import BayesianNetwork
    from colonnade.tables.countable import Countable

_VARIABLES_IF_NO_LIMIT = 40
_MAX_SHOWN_COLUMNS = 5


def load(path: Path, parameter: str = "model") -> BayesianNetwork:
    """Read the network whose path was given for a parameter of the command."""
    from colonnade import files

    with renamed(path=parameter):
        return files.load(path)


def check_output(path: Path, overwrite: bool, parameter: str = "output") -> None:
    """Refuse a file that could not be written, before the work and not after it."""
    from colonnade.files.disk import writable

    with renamed(path=parameter):
        writable(path, overwrite)
    if path.suffix.lower() in (".parquet", ".pq"):
        from colonnade.tables.packages import parquet_package

        parquet_package()


def check_dialects(path: Path) -> None:
    """Refuse a file of a format that all programs read in the same way."""
    from colonnade.files.registry import SUFFIXES_WITH_DIALECTS

    if path.suffix.lower() not in SUFFIXES_WITH_DIALECTS:
        endings = " and ".join(SUFFIXES_WITH_DIALECTS)
        raise Misuse(f"--dialect agrum applies only to {endings} files, got {path.name!r}.")


def save(network: BayesianNetwork, path: Path, overwrite: bool, agrum: bool = False) -> None:
    """Write a network in the format its name says; perhaps in the dialect of aGrUM."""
    from colonnade.files.registry import format_of

    with renamed(path="output"):
        network.save(path, overwrite, "agrum" if agrum else "standard")
    if format_of(path) is not None and (lost := _lost(network)):
        held = f"{path.suffix} files hold the graph and its probabilities alone"
        needs = (
            ""
            if not any(cpt.has_posterior for cpt in network.tables.values())
            else "; intervals and update need a .json file"
        )
        complain(f"Note: {held}. Not kept: {joined(lost)}{needs}.")


def _lost(network: BayesianNetwork) -> list[str]:
    """What only the native format keeps of a network."""
    cutter = network.discretizer
    cut = [] if cutter is None else [column.name for column in cutter.columns]
    facts = {
        "counts": any(cpt.counts is not None for cpt in network.tables.values()),
        "priors": any(prior is not None for prior in network.priors.values()),
        f"the cut points of {listing(cut, 3)}": cut,
        "which variable is the group": network.group,
        "how EM went": network.diagnostics,
        "how the graph was learned": network.origin,
    }
    return [what for what, there in facts.items() if there]


def gaps_in(coded: Countable) -> str:
    """Say how many values are missing in which columns; empty if none is."""
    return gaps_told(dict(zip(coded.names, coded.missing, strict=True)))


def gaps_told(missing: Mapping[str, int]) -> str:
    """Say how many values columns lack; empty if none does."""
    gaps = {name: n for name, n in missing.items() if n}
    if not gaps:
        return ""
    most = sorted(gaps, key=lambda name: -gaps[name])
    shown = [f"{name} {gaps[name]:,}" for name in most[:_MAX_SHOWN_COLUMNS]]
    shown += [f"{len(most) - _MAX_SHOWN_COLUMNS} more"] if len(most) > _MAX_SHOWN_COLUMNS else []
    return f"{counted(sum(gaps.values()), 'value')} missing ({', '.join(shown)})"


def prior_word(cpt: Cpt) -> str:
    """Write the prior of a table as the command line has it; a table that was given has none."""
    return "known" if cpt.prior is None else cpt.prior.word


def described(network: BayesianNetwork) -> dict[str, Any]:
    """Describe a network in plain values, ready for JSON."""
    cutter = network.discretizer
    return {
        "variables": [_variable(name, network[name]) for name in network],
        "arcs": [list(arc) for arc in network.dag.arcs],
        "group": network.group,
        "origin": None if network.origin is None else asdict(network.origin),
        "cuts": {} if cutter is None else {c.name: list(c.points) for c in cutter.columns},
    }


def _variable(name: str, cpt: Cpt) -> dict[str, Any]:
    return {
        "name": name,
        "states": list(cpt.family.child.states),
        "parents": [parent.name for parent in cpt.family.parents],
        "configurations": cpt.family.configurations,
        "stored": len(cpt.table.rows),
        "rows": None if cpt.counts is None else cpt.counts.total,
        "prior": prior_word(cpt),
    }


def summarise(network: BayesianNetwork, limit: int | None = None, **rest: str) -> None:
    """Print one line per variable: parents, size of the table, rows it was estimated from.

    `rest` says how to see the variables beyond the limit, as in :func:`say_rest`.
    """
    limit = limit or _VARIABLES_IF_NO_LIMIT
    facts = [_variable(name, network[name]) for name in network]
    priors = list(dict.fromkeys(each["prior"] for each in facts))
    arcs, cells = len(network.dag.arcs), sum(cpt.table.rows.size for cpt in network.tables.values())
    common = f"; {priors[0]}" if len(priors) == 1 else ""
    size = f"{counted(len(network), 'variable')}, {counted(arcs, 'arc')}"
    say(f"{size}, {counted(cells, 'probability', 'probabilities')} stored{common}")
    if network.origin is not None:
        say_wrapped(f"Graph {network.origin.in_words}", "  ")
    if network.group is not None:
        say(f"Grouped by {network.group}: {counted(len(network.groups), 'group')}")
    head = ["variable", "states", "parents", "configurations", "rows"]
    lines = []
    rows = tallies(each["rows"] for each in facts[:limit])
    for each, row_count in zip(facts[:limit], rows, strict=True):
        parents = each["parents"][:MAX_SHOWN_PARENTS]
        if more := len(each["parents"]) - len(parents):
            parents.append(f"{more} more")
        seen = f"{each['stored']:,} of {amount(each['configurations'])}"
        line = [each["name"], str(len(each["states"])), ", ".join(parents) or "-", seen]
        line.append(row_count)
        # A prior that all tables share was named above.
        lines.append(line if common else [*line, each["prior"]])
    grid(head if common else [*head, "prior"], lines, ("states", "configurations", "rows"))
    say_rest(max(len(network) - limit, 0), "variable", **rest)

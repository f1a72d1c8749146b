"""`colonnade graph`: what a graph says: of itself, of a variable, of two, and of another graph."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.arcs import read_arcs
from colonnade.cli.output import say_json, say_wrapped
from colonnade.cli.values import Misuse
from colonnade.exceptions import InputError, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag


def graph(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH",
            help="File of a network or of arcs: whatever fit takes for --dag.",
        ),
    ],
    variable: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VARIABLE", help="One variable, for what is around it, or two, for their link."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE",
            help="With two variables: what is known; may be given several times.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="GRAPH", help="Another graph of the same variables, to compare with this one."
        ),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Say what a graph says.

    Alone: its model string, and which directions no data can determine. Of one variable: parents,
    children, Markov blanket (what shields it from all others), ancestors and descendants. Of two:
    whether they are separated (independent in every network with this graph), and what has to be
    adjusted for to find the effect of the first on the second. Of another graph: the distance.

    Examples
    --------
    colonnade graph model.json cancer

    colonnade graph arcs.csv smoker cancer --given age

    colonnade graph arcs.csv --against learned.csv
    """
    names = variable or []
    if len(names) > 2:
        raise Misuse(f"Expected at most two of VARIABLE, got {len(names)}.")
    if given and len(names) < 2:
        raise Misuse("--given applies only with two variables.")
    if against is not None and names:
        raise Misuse("--against applies only without VARIABLE.")
    dag = _read(path, "path")
    with renamed(name="variable", names="variable", x="variable", y="variable", other="against"):
        if against is not None:
            facts = _compared(dag, _read(against, "against"))
        elif len(names) == 2:
            facts = _between(dag, names[0], names[1], given or [])
        else:
            facts = _around(dag, names[0]) if names else _whole(dag)
    if json:
        say_json(facts)
        return
    for title, value in facts.items():
        words = _worded(title, value)
        say_wrapped(f"{title.replace('_', ' ').capitalize()}: {words}", "  ")


def _read(path: Path, parameter: str) -> Dag:
    from colonnade.dag import Dag

    with renamed(path=parameter, arcs=parameter, variables=parameter):
        arcs, names = read_arcs(path)
        return Dag(arcs, names)


def _whole(dag: Dag) -> dict[str, Any]:
    pattern = dag.cpdag()
    facts: dict[str, Any] = {"variables": len(dag), "arcs": len(dag.arcs)}
    with suppress(InputError):  # some names cannot stand in a model string
        facts["model_string"] = dag.to_string()
    facts["arcs_in_every_equivalent_graph"] = [list(arc) for arc in pattern.arcs]
    facts["arcs_of_either_direction"] = [list(edge) for edge in pattern.edges]
    return facts


def _around(dag: Dag, name: str) -> dict[str, Any]:
    blanket = dag.markov_blanket(name)
    return {
        "parents": list(dag.parents(name)),
        "children": list(dag.children(name)),
        "markov_blanket": _ordered(dag, blanket),
        "ancestors": _ordered(dag, dag.ancestors(name)),
        "descendants": _ordered(dag, dag.descendants(name)),
    }


def _between(dag: Dag, x: str, y: str, given: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {"separated": dag.d_separated(x, y, given)}
    if given:
        return facts
    if x in dag.descendants(y):
        return {**facts, "effect": f"none: {y} leads to {x}"}
    if y not in dag.descendants(x):
        return {**facts, "effect": f"none: no directed path leads from {x} to {y}"}
    return {**facts, "sets_to_adjust_for": [sorted(s) for s in dag.backdoor_sets(x, y)]}


def _compared(one: Dag, other: Dag) -> dict[str, Any]:
    mine, yours = set(one.arcs), set(other.arcs)
    turned = {(b, a) for a, b in mine} & yours
    return {
        "distance": one.shd(other),
        "distance_of_classes": one.cpdag().shd(other.cpdag()),
        "equivalent": one.is_equivalent(other),
        "in_both": len(mine & yours),
        "only_here": [list(arc) for arc in one.arcs if arc not in yours and arc[::-1] not in yours],
        "only_there": [
            list(arc) for arc in other.arcs if arc not in mine and arc[::-1] not in mine
        ],
        "turned_there": [list(arc) for arc in other.arcs if arc in turned],
    }


def _ordered(dag: Dag, names: Any) -> list[str]:
    return [name for name in dag.variables if name in names]


def _worded(title: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, list):
        return str(value)
    if title == "sets_to_adjust_for":
        return "; or ".join(", ".join(names) or "nothing" for names in value)
    if value and isinstance(value[0], list):
        sign = " - " if title == "arcs_of_either_direction" else " -> "
        value = [sign.join(arc) for arc in value]
    return ", ".join(value) or "none"

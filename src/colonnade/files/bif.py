"""BIF, the interchange format in text: ``network``, ``variable`` and ``probability`` blocks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import counted
from colonnade.files.drafts import (
    Draft,
    DraftTable,
    DraftVariable,
    Format,
    numbers,
    only_property,
    place_of,
    refuse_function,
)
from colonnade.files.misfit import MisfitError
from colonnade.files.names import IDENTIFIER, TYPES, Alphabet, pattern
from colonnade.files.tokens import Tokens, as_text, table_head

_RESERVED = (
    *("network", "variable", "probability", "property"),
    *("type", "discrete", "default", "table"),
)
_ALPHABET = Alphabet(pattern(IDENTIFIER, _RESERVED), pattern(rf"{IDENTIFIER}|-?[0-9]+", _RESERVED))


def render(draft: Draft) -> str:
    """The text of a file."""
    lines = ["network unknown {", "}"]
    for variable in draft.variables.values():
        lines += [
            f"variable {variable.name} {{",
            f"  type discrete [ {len(variable.labels)} ] {{ {', '.join(variable.labels)} }};",
            *([f"  property {TYPES} {variable.types} ;"] if variable.types else []),
            "}",
        ]
    for name, table in draft.tables.items():
        given = f" | {', '.join(table.parents)}" if table.parents else ""
        lines.append(f"probability ( {name}{given} ) {{")
        states = product(*(draft.variables[parent].labels for parent in table.parents))
        for configuration, row in zip(states, table.rows.tolist(), strict=True):
            head = f"({', '.join(configuration)})" if table.parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join([*lines, ""])


def parse(content: bytes) -> Draft:
    """What the content of a file says."""
    tokens = Tokens(as_text(content), "{}()[];,|", r"//[^\n]*|/\*.*?(?:\*/|\Z)", r"//|/\*")
    draft, networks = Draft(), 0
    while tokens.peek is not None:
        if tokens.find("network"):
            networks += 1
            if networks > 1:
                raise tokens.error("there is a second network")
            _skip_network(tokens)
        elif tokens.find("variable"):
            with tokens.block():
                draft.define(_variable(tokens))
        elif tokens.find("probability"):
            child, parents = table_head(tokens, draft, separators=",|")
            with tokens.block() as line:
                draft.tabulate(child, replace(_table(tokens, draft, child, parents), line=line))
        else:
            raise tokens.error("'network', 'variable' or 'probability' is missing")
    return draft


def _skip_network(tokens: Tokens) -> None:
    tokens.until("{")
    depth = 1
    while depth:
        token = tokens.next()
        depth += (token == "{") - (token == "}")


def _variable(tokens: Tokens) -> DraftVariable:
    name = tokens.next()
    labels: list[str] | None = None
    types: list[str] = []
    place = place_of(name)
    tokens.take("{")
    while not tokens.find("}"):
        if tokens.find("type"):
            if labels is not None:
                raise MisfitError(place, "its type is given twice.")
            kind = tokens.next()
            if kind != "discrete":
                raise MisfitError(place, f"its type {kind[:40]!r} is not discrete.")
            tokens.take("[")
            size = tokens.next()
            tokens.take("]")
            tokens.take("{")
            labels = tokens.until("}", separators=",")
            tokens.find(";")
            if size != str(len(labels)):
                states = "state" if size == "1" else "states"
                raise MisfitError(place, f"expected {size[:20]} {states}, got {len(labels)}.")
        elif tokens.find("property"):
            words = tokens.until(";")
            if len(words) == 2 and words[0] == TYPES:
                types.append(words[1])
        else:
            raise tokens.error("'type', 'property' or '}' is missing")
    return DraftVariable(name, labels or [], only_property(TYPES, types, name))


def _table(tokens: Tokens, draft: Draft, child: DraftVariable, parents: list[str]) -> DraftTable:
    for parent in parents:
        if parent not in draft.variables:
            raise child.misfit(f"its parent {parent[:80]!r} is not defined.")
    labels = [draft.variables[parent].labels for parent in parents]
    positions = [{label: k for k, label in enumerate(each)} for each in labels]
    whole: Floats | None = None
    default: Floats | None = None
    rows: dict[tuple[int, ...], Floats] = {}
    tokens.take("{")
    while not tokens.find("}"):
        if tokens.find("table"):
            if rows or whole is not None:
                raise child.misfit("its probabilities are given twice.")
            values = _values(tokens, child)
            whole = _whole_table(values, len(child.labels)) if parents else values
        elif tokens.find("default"):
            if default is not None:
                raise child.misfit("its default row is given twice.")
            default = _row(tokens, child)
        elif tokens.find("("):
            states = tokens.until(")", separators=",")
            codes = _codes(states, positions, child)
            if codes in rows or whole is not None:
                raise child.misfit(f"the row of {_written(states)} is given twice.")
            rows[codes] = _row(tokens, child)
        elif tokens.find("property"):
            refuse_function(" ".join(tokens.until(";")), child)
        else:
            raise tokens.error("'table', 'default', '(' or '}' is missing")
    if whole is not None:
        return DraftTable(parents, whole, default=default)
    ordered = sorted(rows)
    return DraftTable(
        parents,
        np.array([rows[codes] for codes in ordered], dtype=np.float64),
        np.array(ordered, dtype=np.int64).reshape(len(rows), len(parents)),
        default,
    )


def _codes(
    states: list[str], positions: list[dict[str, int]], child: DraftVariable
) -> tuple[int, ...]:
    if len(states) != len(positions):
        raise child.misfit(f"{_written(states)} does not name one state for each parent.")
    for state, known in zip(states, positions, strict=True):
        if state not in known:
            raise child.misfit(f"{state[:80]!r} is not a state of its parent.")
    return tuple(known[state] for state, known in zip(states, positions, strict=True))


def _written(states: list[str]) -> str:
    return f"({', '.join(states)})"[:80]


def _values(tokens: Tokens, child: DraftVariable) -> Floats:
    return numbers(tokens.until(";", separators=","), child.place)


def _row(tokens: Tokens, child: DraftVariable) -> Floats:
    row = _values(tokens, child)
    if len(row) != len(child.labels):
        wanted = counted(len(child.labels), "probability", "probabilities")
        raise child.misfit(f"expected {wanted}, got {len(row)}.")
    return row


def _whole_table(values: Floats, states: int) -> Floats:
    """One list of all probabilities: the child varies slowest, the last parent fastest.

    Some programs write the child fastest; which one it was shows in what sums to one.
    """
    if not states or values.size % states:
        return values  # refused later
    slowest = values.reshape(states, -1).T
    fastest = values.reshape(-1, states)
    off = [np.abs(rows.sum(axis=1) - 1.0).max(initial=0.0) for rows in (slowest, fastest)]
    return slowest if off[0] <= max(off[1], 1e-6) else fastest


FORMAT = Format("BIF", (".bif",), _ALPHABET, parse, render)

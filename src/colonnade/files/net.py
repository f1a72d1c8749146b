"""NET, the text format of Hugin: ``node`` and ``potential`` blocks."""

from __future__ import annotations

import re
from dataclasses import replace

from colonnade.files.drafts import (
    Draft,
    DraftTable,
    DraftVariable,
    Format,
    numbers,
    only_property,
    place_of,
)
from colonnade.files.misfit import MisfitError, times
from colonnade.files.names import IDENTIFIER, TYPES, Alphabet, pattern
from colonnade.files.tokens import Tokens, as_text, table_head

_RESERVED = (
    *("net", "class", "node", "discrete", "continuous", "chance", "utility", "decision"),
    *("function", "potential", "data", "states", "label", "position", "name", "inputs"),
    *("outputs", "model_nodes", "model_data", "samples_per_interval"),
)
# States are quoted; what would end the quotation or begin a comment is left out.
_CHARACTER = r"[!#$&-\[\]-~]"
_ALPHABET = Alphabet(pattern(IDENTIFIER, _RESERVED), pattern(rf"{_CHARACTER}+(?: {_CHARACTER}+)*"))


def render(draft: Draft) -> str:
    """The text of a file."""
    lines = ["net", "{", '  software = "Colonnade";', "  node_size = (80 40);", "}"]
    for variable in draft.variables.values():
        title = re.sub(r'[\x00-\x1f"\\%]', " ", variable.title).encode("ascii", "replace").decode()
        states = " ".join(f'"{label}"' for label in variable.labels)
        lines += [
            f"node {variable.name}",
            "{",
            f'  label = "{title}";',
            f"  states = ({states});",
            *([f'  {TYPES} = "{variable.types}";'] if variable.types else []),
            "}",
        ]
    for name, table in draft.tables.items():
        given = f" | {' '.join(table.parents)}" if table.parents else ""
        sizes = [len(draft.variables[parent].labels) for parent in table.parents]
        lines += [f"potential ({name}{given})", "{", "  data ="]
        lines += [f"    {line}" for line in _nested(table.rows.tolist(), sizes)]
        lines += ["}"]
    return "\n".join([*lines, ""])


def _nested(rows: list[list[float]], sizes: list[int]) -> list[str]:
    """The rows, with one more pair of parentheses for each parent."""
    lines = [f"({' '.join(map(repr, row))})" for row in rows]
    span = 1
    for size in reversed(sizes):
        # Around all states of this parent, whatever the states of those before it.
        span *= size
        for first in range(0, len(lines), span):
            lines[first] = "(" + lines[first]
            lines[first + span - 1] += ")"
    lines[-1] += ";"
    return lines


def parse(content: bytes) -> Draft:
    """What the content of a file says."""
    tokens = Tokens(as_text(content), "{}();=|", r"%[^\n]*", "%")
    draft, networks = Draft(), 0
    while tokens.peek is not None:
        tokens.find("discrete")
        if tokens.find("net"):
            networks += 1
            if networks > 1:
                raise tokens.error("there is a second net")
            _attributes(tokens)
        elif tokens.find("node"):
            with tokens.block():
                draft.define(_node(tokens))
        elif tokens.find("potential"):
            child, parents = table_head(tokens, draft, separators="|")
            with tokens.block() as line:
                draft.tabulate(child, replace(_table(tokens, child, parents), line=line))
        elif tokens.peek in ("continuous", "utility", "decision", "function", "class"):
            raise tokens.error("only networks of discrete chance nodes are supported; stopped")
        else:
            raise tokens.error("'net', 'node' or 'potential' is missing")
    return draft


def _node(tokens: Tokens) -> DraftVariable:
    name = tokens.next()
    found = _attributes(tokens)
    labels = _only(found, "states", place_of(name))
    if not labels:
        raise MisfitError(place_of(name), "its states are not listed.")
    types = ["".join(words) for words in found.get(TYPES, [])]
    return DraftVariable(name, labels, only_property(TYPES, types, name))


def _table(tokens: Tokens, child: DraftVariable, parents: list[str]) -> DraftTable:
    data = _only(_attributes(tokens), "data", child.place)
    if data is None:
        raise child.misfit("it has no probabilities.")
    # The parentheses follow the parents, the first one outermost: they say nothing more.
    return DraftTable(parents, numbers(data, child.place), relative=True)


def _only(found: dict[str, list[list[str]]], name: str, place: str) -> list[str] | None:
    """The words of an attribute, None if it is absent; two of them are an error."""
    given = found.get(name, [])
    if len(given) > 1:
        raise MisfitError(place, f"its {name} are given {times(len(given))}.")
    return given[0] if given else None


def _attributes(tokens: Tokens) -> dict[str, list[list[str]]]:
    """A block in braces, by name; a value is the words in it, without parentheses."""
    tokens.take("{")
    found: dict[str, list[list[str]]] = {}
    while not tokens.find("}"):
        name = tokens.next()
        tokens.take("=")
        words, depth = [], 0
        while not tokens.find(";"):
            plain = not tokens.quoted
            token = tokens.next()
            if plain and token in "()":
                depth += 1 if token == "(" else -1
            else:
                words.append(token)
        if depth:
            raise tokens.error("the parentheses do not fit")
        found.setdefault(name, []).append(words)
    return found


FORMAT = Format("NET", (".net",), _ALPHABET, parse, render)

"""Graphs in the language of Graphviz, read and written.

The grammar is that of the Graphviz documentation: statements of nodes, arcs (chains, and braces for
several ends at once), attributes, subgraphs and comments. Ports and all attributes but ``dir`` have
no meaning for us.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from colonnade.exceptions import expected

if TYPE_CHECKING:
    from colonnade.dag.names import Arc

_HINT = "write digraph { a -> b; }"
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<word>[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<sign>->|--|[{}\[\];,=:+])""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = ("graph", "digraph", "node", "edge", "subgraph", "strict")


def write_dot(variables: Sequence[str], arcs: Iterable[Arc], edges: Iterable[Arc] = ()) -> str:
    """Write all variables, then the arcs, then the edges."""
    lines = ["digraph {", *(f"  {_quoted(name)};" for name in variables)]
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in arcs]
    lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in edges]
    return "\n".join([*lines, "}"])


def read_dot(text: Any) -> tuple[tuple[str, ...], tuple[Arc, ...]]:
    """Return the nodes, in order of appearance, and the arcs of a directed graph."""
    if not isinstance(text, str):
        raise expected("text in the language of Graphviz", "text", text, _HINT)
    reader = _Reader(_tokens(text))
    reader.graph()
    return tuple(reader.names), tuple(reader.arcs)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return signs, keywords and names; a name never equals a sign or keyword, even if quoted."""
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        if text[place] == "<" and (end := _html_end(text, place)):
            found.append(("name", text[place + 1 : end - 1]))
            place = end
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place : place + 20]
            raise expected("text in the language of Graphviz", "text", rest, _HINT)
        place = match.end()
        if match.lastgroup == "quoted":
            name = re.sub(r"\\\n", "", match[0][1:-1])
            found.append(("name", re.sub(r'\\(["\\])', r"\1", name)))
        elif match.lastgroup == "word":
            lower = match[0].lower()
            found.append((lower, lower) if lower in _KEYWORDS else ("name", match[0]))
        elif match.lastgroup == "sign":
            found.append((match[0], match[0]))
    return found


def _html_end(text: str, begin: int) -> int | None:
    """Where a text in angle brackets, which may be nested, ends; None if it does not."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] == "<") - (text[place] == ">")
        if not depth:
            return place + 1
    return None


class _Reader:
    """Reads statement by statement; collects names and arcs."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place = tokens, 0
        self.names: dict[str, None] = {}
        self.arcs: list[Arc] = []
        self.strict = False

    def graph(self) -> None:
        self.strict = self.accept("strict") is not None
        if self.accept("graph") is not None:
            hint = "give its edges a direction: digraph { a -> b; }"
            raise expected("a directed graph", "text", "graph", hint)
        self.need("digraph")
        if self.at("name"):
            self.name()
        self.need("{")
        self.statements("forward")
        if self.place < len(self.tokens):
            raise self.unexpected("one graph")

    def statements(self, direction: str) -> list[str]:
        """Read up to the closing brace; return the nodes that were named."""
        named: dict[str, None] = {}
        while self.accept("}") is None:
            if self.accept(";") is not None:
                continue
            if kind := next((k for k in ("graph", "node", "edge") if self.accept(k)), None):
                found = self.attributes()
                direction = found.get("dir", direction) if kind == "edge" else direction
                continue
            ends = self.ends(direction)
            if ends is not None:
                named.update(dict.fromkeys(self.chain(ends, direction)))
        return list(named)

    def chain(self, first: list[str], direction: str) -> list[str]:
        """Read arcs from the first ends on, and their attributes."""
        parts = [first]
        while self.accept("->") is not None:
            ends = self.ends(direction)
            if ends is None:
                raise self.unexpected("a node")
            parts.append(ends)
        if self.at("--"):
            raise expected("arcs with a direction", "text", "--", "write a -> b")
        direction = self.attributes().get("dir", direction)
        pairs = [(a, b) for k in range(len(parts) - 1) for a in parts[k] for b in parts[k + 1]]
        if pairs and direction not in ("forward", "back"):
            got = f"dir={direction} at {pairs[0][0]} -> {pairs[0][1]}"
            raise expected("arcs with a direction", "text", direction, "remove `dir`", got=got)
        for a, b in pairs:
            arc = (a, b) if direction == "forward" else (b, a)
            # A strict graph has every arc once, however often it is written.
            if not self.strict or arc not in self.arcs:
                self.arcs.append(arc)
        return [name for part in parts for name in part]

    def ends(self, direction: str) -> list[str] | None:
        """Read a node, or several in braces; None for an attribute of the graph."""
        if self.accept("subgraph") is not None and self.at("name"):
            self.name()
        if self.accept("{") is not None:
            return self.statements(direction)
        name = self.name()
        if self.accept("=") is not None:
            self.name()
            return None
        while self.accept(":") is not None:
            self.name()
        self.names[name] = None
        return [name]

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.accept("[") is not None:
            while self.accept("]") is None:
                key = self.name()
                found[key] = self.name() if self.accept("=") is not None else "true"
                if self.accept(",") is None:
                    self.accept(";")
        return found

    def name(self) -> str:
        parts = [self.need("name")]
        while self.accept("+") is not None:
            parts.append(self.need("name"))
        return "".join(parts)

    def at(self, kind: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place][0] == kind

    def accept(self, kind: str) -> str | None:
        if not self.at(kind):
            return None
        self.place += 1
        return self.tokens[self.place - 1][1]

    def need(self, kind: str) -> str:
        found = self.accept(kind)
        if found is None:
            raise self.unexpected("a name" if kind == "name" else f"{kind!r}")
        return found

    def unexpected(self, what: str) -> Exception:
        rest = [text for _, text in self.tokens[self.place : self.place + 4]]
        got = f"{' '.join(rest)!r}" if rest else "the end"
        return expected(f"{what} at this place", "text", got, _HINT, got=got)

"""Model strings: each variable in brackets with its parents, as in ``[a][b][c|a:b]``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from colonnade.exceptions import NotSupportedError, expected, listing

if TYPE_CHECKING:
    from colonnade.dag.graph import Dag
    from colonnade.dag.names import Arc

_HINT = "write [a][b|a] for an arc from a to b"
_TERM = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]")


def write_string(dag: Dag) -> str:
    """Write the variables, parents before their children, each with its parents."""
    for name in dag.variables:
        # Blanks around a name would be lost when it is read.
        if set(name) & set("[]|:") or name != name.strip():
            reason = f"the name {name!r} has one of '[]|:', or blanks at its ends"
            raise NotSupportedError("A model string of this graph", reason, "use `to_dot`")
    terms = []
    for name in dag.order:
        given = ":".join(dag.parents(name))
        terms.append(f"[{name}|{given}]" if given else f"[{name}]")
    return "".join(terms)


def read_string(text: Any) -> tuple[tuple[str, ...], tuple[Arc, ...]]:
    """Return the variables and the arcs of a model string."""
    if not isinstance(text, str):
        raise expected("a model string", "text", text, _HINT)
    names: dict[str, tuple[str, ...]] = {}
    place = 0
    for found in _TERM.finditer(text):
        _refuse_rest(text, place, found.start())
        place = found.end()
        name, given = found[1].strip(), found[2]
        parents = tuple(part.strip() for part in given.split(":")) if given is not None else ()
        if not name or "" in parents:
            raise expected("names in all brackets", "text", found[0], _HINT)
        if ":" in name:
            raise expected("one variable before the bar", "text", found[0], _HINT)
        if name in names:
            raise expected("one bracket per variable", "text", text, got=f"two for {name!r}")
        names[name] = parents
    _refuse_rest(text, place, len(text))
    if not names and text.strip():
        raise expected("a model string", "text", text, _HINT)
    strange = [p for parents in names.values() for p in parents if p not in names]
    if strange:
        hint = f"add [{strange[0]}]"
        raise expected("brackets for all parents", "text", strange[0], hint)
    arcs = tuple((parent, name) for name, parents in names.items() for parent in parents)
    return tuple(names), arcs


def _refuse_rest(text: str, begin: int, end: int) -> None:
    rest = text[begin:end].strip()
    if rest:
        what = f"nothing but brackets such as {listing(['[a]', '[b|a]'])}"
        raise expected(what, "text", rest, _HINT)

"""Names of variables and pairs of them, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from colonnade.exceptions import expected, listing

Arc = tuple[str, str]


def checked_arcs(arcs: Any, parameter: str = "arcs") -> tuple[Arc, ...]:
    """Return different pairs of different names, or say what is wrong."""
    hint = "give pairs (parent, child), such as [('a', 'b')]"
    if isinstance(arcs, str | bytes) or not isinstance(arcs, Iterable):
        raise expected(f"a sequence of {parameter}", parameter, arcs, hint)
    checked: dict[Arc, None] = {}
    for arc in arcs:
        pair = type(arc) is tuple or (isinstance(arc, Sequence) and not isinstance(arc, str))
        if not pair or len(arc) != 2:
            raise expected("pairs (parent, child)", parameter, arc, hint)
        parent, child = _checked_name(arc[0], parameter), _checked_name(arc[1], parameter)
        if parent == child:
            got = f"{parent} -> {child}"
            what, hint = f"{parameter} between two variables", "remove this one"
            raise expected(what, parameter, arc, hint, got=got)
        if (parent, child) in checked:
            got = f"{parent} -> {child} twice"
            raise expected(f"different {parameter}", parameter, arc, "give this one once", got=got)
        checked[parent, child] = None
    return tuple(checked)


def checked_variables(variables: Any) -> list[str]:
    """Return different names, or say what is wrong."""
    if isinstance(variables, str | bytes) or not isinstance(variables, Iterable):
        raise expected("a sequence of names", "variables", variables, "give a list")
    names = [_checked_name(name, "variables") for name in variables]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise expected("different names", "variables", names, f"give {listing(repeated)} once")
    return names


def _checked_name(name: Any, parameter: str) -> str:
    if not isinstance(name, str) or not name:
        raise expected("non-empty strings as names of variables", parameter, name)
    return str(name)

"""BIF, the interchange format in text: ``network``, ``variable`` and ``probability`` blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from colonnade.files.drafts import Draft, DraftError, numbers
from colonnade.files.names import IDENTIFIER, TYPES, Alphabet, pattern
from colonnade.files.tokens import Tokens

__all__ = ["ALPHABET", "read", "write"]

_RESERVED = (
    *("network", "variable", "probability", "property"),
    *("type", "discrete", "default", "table"),
)
ALPHABET = Alphabet(pattern(IDENTIFIER, _RESERVED), pattern(rf"{IDENTIFIER}|-?[0-9]+", _RESERVED))


def write(drafts: Sequence[Draft]) -> str:
    """The text of a file."""
    lines = ["network unknown {", "}"]
    for draft in drafts:
        lines += [
            f"variable {draft.name} {{",
            f"  type discrete [ {len(draft.labels)} ] {{ {', '.join(draft.labels)} }};",
            *([f"  property {TYPES} {draft.types} ;"] if draft.types else []),
            "}",
        ]
    labels = {draft.name: draft.labels for draft in drafts}
    for draft in drafts:
        assert draft.rows is not None
        given = f" | {', '.join(draft.parents)}" if draft.parents else ""
        lines.append(f"probability ( {draft.name}{given} ) {{")
        states = product(*(labels[parent] for parent in draft.parents))
        for configuration, row in zip(states, draft.rows.tolist(), strict=True):
            head = f"({', '.join(configuration)})" if draft.parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join([*lines, ""])


def read(text: str) -> list[Draft]:
    """What the text of a file says."""
    tokens = Tokens(text, "{}()[];,|", r"//[^\n]*|/\*.*?(?:\*/|\Z)", r"//|/\*")
    drafts: dict[str, Draft] = {}
    while tokens.peek is not None:
        if tokens.find("network"):
            _skip_network(tokens)
        elif tokens.find("variable"):
            draft = _variable(tokens)
            if draft.name in drafts:
                raise DraftError(draft.place, "it is defined twice.")
            drafts[draft.name] = draft
        elif tokens.find("probability"):
            _probability(tokens, drafts)
        else:
            raise tokens.error("'network', 'variable' or 'probability' is missing")
    return list(drafts.values())


def _skip_network(tokens: Tokens) -> None:
    for _ in tokens.until("{"):
        pass
    depth = 1
    while depth:
        token = tokens.next()
        depth += (token == "{") - (token == "}")


def _variable(tokens: Tokens) -> Draft:
    draft = Draft(tokens.next())
    tokens.take("{")
    while not tokens.find("}"):
        if tokens.find("type"):
            kind = tokens.next()
            if kind != "discrete":
                raise DraftError(draft.place, f"its type {kind[:40]!r} is not discrete.")
            tokens.take("[")
            size = tokens.next()
            tokens.take("]")
            tokens.take("{")
            draft.labels = [token for token in tokens.until("}") if token != ","]
            tokens.find(";")
            if size != str(len(draft.labels)):
                raise DraftError(
                    draft.place, f"{len(draft.labels)} states where {size[:20]} belong."
                )
        elif tokens.find("property"):
            words = list(tokens.until(";"))
            if len(words) == 2 and words[0] == TYPES:
                draft.types = words[1]
        else:
            raise tokens.error("'type', 'property' or '}' is missing")
    return draft


def _probability(tokens: Tokens, drafts: dict[str, Draft]) -> None:
    tokens.take("(")
    names = [token for token in tokens.until(")") if token not in (",", "|")]
    draft = drafts.get(names[0]) if names else None
    if draft is None:
        raise tokens.error(f"{names[0][:80]!r} is not defined" if names else "a name is missing")
    if draft.rows is not None or draft.default is not None:
        raise DraftError(draft.place, "its probabilities are given twice.")
    draft.parents = names[1:]
    for parent in draft.parents:
        if parent not in drafts:
            raise DraftError(draft.place, f"its parent {parent[:80]!r} is not defined.")
    positions = [{label: k for k, label in enumerate(drafts[p].labels)} for p in draft.parents]
    rows: dict[tuple[int, ...], NDArray[np.float64]] = {}
    tokens.take("{")
    while not tokens.find("}"):
        if tokens.find("table"):
            if rows or draft.rows is not None:
                raise DraftError(draft.place, "its probabilities are given twice.")
            sizes = [len(drafts[parent].labels) for parent in draft.parents]
            draft.rows = _table(_values(tokens, draft), len(draft.labels), sizes)
        elif tokens.find("default"):
            draft.default = _row(tokens, draft)
        elif tokens.find("("):
            states = [token for token in tokens.until(")") if token != ","]
            codes = _codes(states, positions, draft)
            if codes in rows or draft.rows is not None:
                raise DraftError(draft.place, f"the row of {states} is given twice.")
            rows[codes] = _row(tokens, draft)
        elif tokens.find("property"):
            for _ in tokens.until(";"):
                pass
        else:
            raise tokens.error("'table', 'default', '(' or '}' is missing")
    if draft.rows is None:
        ordered = sorted(rows)
        draft.codes = np.array(ordered, dtype=np.int64).reshape(len(rows), len(draft.parents))
        draft.rows = np.array([rows[codes] for codes in ordered]).reshape(
            len(rows), len(draft.labels)
        )


def _codes(states: list[str], positions: list[dict[str, int]], draft: Draft) -> tuple[int, ...]:
    if len(states) != len(positions):
        raise DraftError(draft.place, f"{states} does not name one state for each parent.")
    codes = []
    for state, known in zip(states, positions, strict=True):
        if state not in known:
            raise DraftError(draft.place, f"{state[:80]!r} is not a state of its parent.")
        codes.append(known[state])
    return tuple(codes)


def _values(tokens: Tokens, draft: Draft) -> NDArray[np.float64]:
    return numbers([token for token in tokens.until(";") if token != ","], draft.place)


def _row(tokens: Tokens, draft: Draft) -> NDArray[np.float64]:
    row = _values(tokens, draft)
    if len(row) != len(draft.labels):
        problem = f"{len(row)} probabilities where {len(draft.labels)} belong."
        raise DraftError(draft.place, problem)
    return row


def _table(values: NDArray[np.float64], states: int, sizes: list[int]) -> NDArray[np.float64]:
    """One list of all probabilities: the child varies slowest, the last parent fastest.

    Some programs write the child fastest; which one it was shows in what sums to one.
    """
    if states and sizes and values.size % states == 0:
        slowest = values.reshape(states, -1).T
        fastest = values.reshape(-1, states)
        off = [np.abs(rows.sum(axis=1) - 1.0).max(initial=0.0) for rows in (slowest, fastest)]
        return slowest if off[0] <= max(off[1], 1e-6) else fastest
    return values

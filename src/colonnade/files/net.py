"""NET, the text format of Hugin: ``node`` and ``potential`` blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from colonnade.files.drafts import Draft, DraftError, numbers
from colonnade.files.names import IDENTIFIER, TYPES, Alphabet, pattern
from colonnade.files.tokens import Tokens

__all__ = ["ALPHABET", "read", "write"]

_RESERVED = (
    *("net", "class", "node", "discrete", "continuous", "chance", "utility", "decision"),
    *("function", "potential", "data", "states", "label", "position", "name", "inputs"),
    *("outputs", "model_nodes", "model_data", "samples_per_interval"),
)
# States are quoted; what would end the quotation or begin a comment is left out.
_CHARACTER = r"[!#$&-\[\]-~]"
ALPHABET = Alphabet(pattern(IDENTIFIER, _RESERVED), pattern(rf"{_CHARACTER}+(?: {_CHARACTER}+)*"))


def write(drafts: Sequence[Draft]) -> str:
    """The text of a file."""
    lines = ["net", "{", '  software = "Colonnade";', "  node_size = (80 40);", "}"]
    for draft in drafts:
        title = re.sub(r'[\x00-\x1f"\\%]', " ", draft.title).encode("ascii", "replace").decode()
        lines += [
            f"node {draft.name}",
            "{",
            f'  label = "{title}";',
            f"  states = ({' '.join(map(_quoted, draft.labels))});",
            *([f'  {TYPES} = "{draft.types}";'] if draft.types else []),
            "}",
        ]
    sizes = {draft.name: len(draft.labels) for draft in drafts}
    for draft in drafts:
        given = f" | {' '.join(draft.parents)}" if draft.parents else ""
        lines += [f"potential ({draft.name}{given})", "{", "  data ="]
        lines += [f"    {line}" for line in _nested(draft, [sizes[p] for p in draft.parents])]
        lines += ["}"]
    return "\n".join([*lines, ""])


def _quoted(label: str) -> str:
    return f'"{label}"'


def _nested(draft: Draft, sizes: list[int]) -> list[str]:
    """The rows, with one more pair of parentheses for each parent."""
    assert draft.rows is not None
    lines = []
    last = [size - 1 for size in sizes]
    for codes, row in zip(product(*map(range, sizes)), draft.rows.tolist(), strict=True):
        # A parenthesis opens with every parent that starts anew, and closes where it ends.
        opened = _run(codes, [0] * len(sizes))
        closed = _run(codes, last)
        lines.append("(" * (opened + 1) + " ".join(map(repr, row)) + ")" * (closed + 1))
    lines[-1] += ";"
    return lines


def _run(codes: tuple[int, ...], ends: list[int]) -> int:
    """How many of the last codes are at their ends."""
    run = 0
    while run < len(codes) and codes[-1 - run] == ends[-1 - run]:
        run += 1
    return run


def read(text: str) -> list[Draft]:
    """What the text of a file says."""
    tokens = Tokens(text, "{}();=|", r"%[^\n]*", "%")
    drafts: dict[str, Draft] = {}
    tables: set[str] = set()
    while tokens.peek is not None:
        tokens.find("discrete")
        if tokens.find("net"):
            tokens.take("{")
            _attributes(tokens)
        elif tokens.find("node"):
            draft = _node(tokens)
            if draft.name in drafts:
                raise DraftError(draft.place, "it is defined twice.")
            drafts[draft.name] = draft
        elif tokens.find("potential"):
            _potential(tokens, drafts, tables)
        elif tokens.peek in ("continuous", "utility", "decision", "function", "class"):
            raise tokens.error("only networks of discrete chance nodes are supported; stopped")
        else:
            raise tokens.error("'net', 'node' or 'potential' is missing")
    return list(drafts.values())


def _node(tokens: Tokens) -> Draft:
    draft = Draft(tokens.next())
    tokens.take("{")
    found = _attributes(tokens)
    draft.labels = found.get("states", [])
    if not draft.labels:
        raise DraftError(draft.place, "its states are not listed.")
    draft.types = "".join(found.get(TYPES, []))
    return draft


def _potential(tokens: Tokens, drafts: dict[str, Draft], tables: set[str]) -> None:
    tokens.take("(")
    names = [token for token in tokens.until(")") if token != "|"]
    draft = drafts.get(names[0]) if names else None
    if draft is None:
        raise tokens.error(f"{names[0][:80]!r} is not defined" if names else "a name is missing")
    if draft.name in tables:
        raise DraftError(draft.place, "its probabilities are given twice.")
    tables.add(draft.name)
    draft.parents = names[1:]
    tokens.take("{")
    data = _attributes(tokens).get("data")
    if data is None:
        raise DraftError(draft.place, "it has no probabilities.")
    # The parentheses follow the parents, the first one outermost: they say nothing more.
    draft.rows = numbers(data, draft.place)
    draft.relative = True


def _attributes(tokens: Tokens) -> dict[str, list[str]]:
    """Everything up to the closing brace; a value is the words in it, without parentheses."""
    found: dict[str, list[str]] = {}
    while not tokens.find("}"):
        name = tokens.next()
        tokens.take("=")
        words, depth = [], 0
        while tokens.quoted or tokens.peek != ";":
            plain = not tokens.quoted
            token = tokens.next()
            if plain and token in "()":
                depth += 1 if token == "(" else -1
            else:
                words.append(token)
        if depth:
            raise tokens.error("the parentheses do not fit")
        tokens.take(";")
        found[name] = words
    return found

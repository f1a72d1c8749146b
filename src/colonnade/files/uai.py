"""UAI, the format of the inference competitions: numbers only, no names.

The last variable of a scope varies fastest, as the format has it. aGrUM (3.3) writes and reads
the parents the other way round. Its files, which have comments behind the scopes, are read as it
means them, and `write_for_agrum` makes such files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from colonnade.files.drafts import Draft, DraftError, numbers
from colonnade.files.names import Alphabet, pattern

__all__ = ["ALPHABET", "read", "write", "write_for_agrum"]

# Never seen in a file; only for the steps before.
ALPHABET = Alphabet(pattern(".*"), pattern(".*"))


_BY_AGRUM = re.compile(r"[0-9] *# ")


def write(drafts: Sequence[Draft]) -> str:
    """The text of a file."""
    place = {draft.name: k for k, draft in enumerate(drafts)}
    return _written(drafts, [" ".join(map(str, _scope(draft, place))) for draft in drafts])


def write_for_agrum(drafts: Sequence[Draft]) -> str:
    """The same with parents in the order of aGrUM, and its comments."""
    place = {draft.name: k for k, draft in enumerate(drafts)}
    lines = []
    for k, draft in enumerate(drafts):
        size, *parents, child = _scope(draft, place)
        # The table stays: what varies fastest is named first instead of last.
        lines.append(" ".join(map(str, [size, *reversed(parents), child])) + f"   # v{k}")
    return _written(drafts, lines)


def _scope(draft: Draft, place: Mapping[str, int]) -> list[int]:
    """Number of variables of a table, then their places, the child last."""
    scope = [place[name] for name in (*draft.parents, draft.name)]
    return [len(scope), *scope]


def _written(drafts: Sequence[Draft], scopes: Sequence[str]) -> str:
    lines = ["BAYES", str(len(drafts)), " ".join(str(len(draft.labels)) for draft in drafts)]
    lines += [str(len(drafts)), *scopes]
    for draft in drafts:
        assert draft.rows is not None
        lines += ["", str(draft.rows.size)]
        lines += [" ".join(map(repr, row)) for row in draft.rows.tolist()]
    return "\n".join([*lines, ""])


def read(text: str, notes: list[str]) -> list[Draft]:
    """What the text of a file says; variables are v0, v1, ... with states 0, 1, ..."""
    words = _Words(re.sub(r"#[^\n]*", "", text))
    kind = words.next("its type")
    if kind != "BAYES":
        raise DraftError("", f"it is of the type {kind[:40]!r}, not 'BAYES'.")
    sizes = [words.integer("a size") for _ in range(words.integer("the number of variables"))]
    functions = words.integer("the number of tables")
    scopes = [
        [words.integer("a scope") for _ in range(words.integer("a scope"))]
        for _ in range(functions)
    ]
    by_agrum = _BY_AGRUM.search(text) is not None
    drafts: dict[int, Draft] = {}
    for k, scope in enumerate(scopes):
        place = f"table {k}"
        if not scope or any(v >= len(sizes) for v in scope):
            raise DraftError(place, "its scope is not one of variables of the file.")
        cells = words.integer("the size of a table")
        if cells != math.prod(sizes[v] for v in scope):
            raise DraftError(place, "its size is not the product of the sizes of its variables.")
        *parents, child = scope
        if child in drafts:
            raise DraftError(place, f"variable {child} has a table already.")
        values = numbers(words.many(cells, place), place)
        # Only now, when so many numbers were there, are so many states named.
        draft = Draft(f"v{child}", [str(state) for state in range(sizes[child])], "i")
        draft.parents = [f"v{v}" for v in (reversed(parents) if by_agrum else parents)]
        draft.rows = values
        drafts[child] = draft
    if len(drafts) < len(sizes):
        raise DraftError("", f"{len(sizes) - len(drafts)} variables have no table.")
    if by_agrum and any(len(draft.parents) > 1 for draft in drafts.values()):
        notes.append(
            "its comments are those of aGrUM, which orders the variables of a table in its own "
            "way; they were read in that way"
        )
    notes.append("the format holds no names: variables are v0, v1, ... with states 0, 1, ...")
    return [drafts[k] for k in range(len(sizes))]


class _Words:
    """The words of a text, one after another."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._position = 0

    def next(self, what: str) -> str:
        if self._position >= len(self._words):
            raise DraftError("", f"it ends before {what}.")
        self._position += 1
        return self._words[self._position - 1]

    def integer(self, what: str) -> int:
        word = self.next(what)
        if not re.fullmatch(r"[0-9]{1,18}", word):
            raise DraftError(f"word {self._position}", f"{word[:40]!r} is not {what}.")
        return int(word)

    def many(self, size: int, place: str) -> list[str]:
        found = self._words[self._position : self._position + size]
        if len(found) < size:
            raise DraftError(place, f"it ends after {len(found)} of {size} numbers.")
        self._position += size
        return found

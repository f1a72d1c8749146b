"""UAI, the format of the inference competitions: numbers only, no names.

The last variable of a scope varies fastest, as the format has it. aGrUM (3.3) writes and reads
the parents in the opposite order; its files have comments behind the scopes, and are read
accordingly.
"""

from __future__ import annotations

import math
import re
from functools import partial

from colonnade.exceptions import counted
from colonnade.files.drafts import Draft, DraftTable, DraftVariable, Format, numbers
from colonnade.files.misfit import MisfitError
from colonnade.files.names import Alphabet, pattern
from colonnade.files.tokens import as_text

# No name is ever written, so none is encoded.
_ALPHABET = Alphabet(pattern(".*"), pattern(".*"))
_BY_AGRUM = re.compile(r"[0-9] *# ")


def render(draft: Draft, for_agrum: bool = False) -> str:
    """The text of a file; for aGrUM with parents in its order, and with its comments."""
    place = {name: str(k) for k, name in enumerate(draft.variables)}
    sizes = [str(len(variable.labels)) for variable in draft.variables.values()]
    lines = ["BAYES", str(len(sizes)), " ".join(sizes), str(len(draft.tables))]
    for k, (name, table) in enumerate(draft.tables.items()):
        # The table stays: what varies fastest is named first instead of last.
        parents = table.parents[::-1] if for_agrum else table.parents
        scope = " ".join([str(len(parents) + 1), *(place[each] for each in (*parents, name))])
        lines.append(f"{scope}   # v{k}" if for_agrum else scope)
    for table in draft.tables.values():
        lines += ["", str(table.rows.size)]
        lines += [" ".join(map(repr, row)) for row in table.rows.tolist()]
    return "\n".join([*lines, ""])


def parse(content: bytes) -> Draft:
    """What the content of a file says; variables are v0, v1, ... with states 0, 1, ..."""
    text = as_text(content)
    by_agrum = _BY_AGRUM.search(text) is not None
    words = _Words(re.sub(r"#[^\n]*", "", text))
    kind = words.next("its type")
    if kind != "BAYES":
        raise MisfitError("", f"it is of the type {kind[:40]!r}, not 'BAYES'.")
    sizes = [words.integer("a size") for _ in range(words.integer("the number of variables"))]
    if 0 in sizes:
        raise MisfitError(f"variable {sizes.index(0)}", "it has no states.")
    functions = words.integer("the number of tables")
    scopes = [
        [words.integer("a scope") for _ in range(words.integer("a scope"))]
        for _ in range(functions)
    ]
    tables: dict[int, DraftTable] = {}
    for k, scope in enumerate(scopes):
        place = f"table {k}"
        if not scope or any(v >= len(sizes) for v in scope):
            raise MisfitError(place, "its scope is not one of variables of the file.")
        cells = words.integer("the size of a table")
        if cells != math.prod(sizes[v] for v in scope):
            raise MisfitError(place, "its size is not the product of the sizes of its variables.")
        *parents, child = scope
        if child in tables:
            raise MisfitError(place, f"variable {child} has a table already.")
        names = [f"v{v}" for v in (reversed(parents) if by_agrum else parents)]
        tables[child] = DraftTable(names, numbers(words.many(cells, place), place))
    words.end()
    if absent := len(sizes) - len(tables):
        raise MisfitError("", f"there is no table for {counted(absent, 'variable')}.")
    draft = Draft()
    for k, size in enumerate(sizes):
        # States are named only now, when the file has shown as many numbers.
        draft.add(DraftVariable(f"v{k}", [str(state) for state in range(size)], "i"), tables[k])
    if by_agrum and any(len(table.parents) > 1 for table in tables.values()):
        draft.notes.append(
            "its comments are those of aGrUM, which orders the variables of a table in its own "
            "way; they were read in that way"
        )
    draft.notes.append(
        "the format holds no names: variables are v0, v1 and so on, their states 0, 1 and so on"
    )
    return draft


class _Words:
    """The words of a text, one after another."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._position = 0

    def next(self, what: str) -> str:
        if self._position >= len(self._words):
            raise MisfitError("", f"it ends before {what}.")
        self._position += 1
        return self._words[self._position - 1]

    def integer(self, what: str) -> int:
        word = self.next(what)
        if not re.fullmatch(r"[0-9]{1,18}", word):
            raise MisfitError(f"word {self._position}", f"{word[:40]!r} is not {what}.")
        return int(word)

    def end(self) -> None:
        if rest := len(self._words) - self._position:
            raise MisfitError("", f"{counted(rest, 'word')} follow{'s' * (rest == 1)} its tables.")

    def many(self, size: int, place: str) -> list[str]:
        found = self._words[self._position : self._position + size]
        if len(found) < size:
            raise MisfitError(place, f"it ends after {len(found)} of {size} numbers.")
        self._position += size
        return found


FORMAT = Format(
    "UAI",
    (".uai",),
    _ALPHABET,
    parse,
    render,
    {"agrum": partial(render, for_agrum=True)},
    lost="UAI holds no names; variables and states are numbered in their order",
)

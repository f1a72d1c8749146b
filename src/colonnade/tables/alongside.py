"""Columns of files that are taken along as they are, beside what is made of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from colonnade.tables.parts import Block, Passed


class Alongside:
    """Columns that pass by unchanged, any number of rows at a time, in order.

    Columns of text files are the texts in them; those of Parquet and Arrow files keep their types.

    Parameters
    ----------
    table : Passed
    names : sequence of str
    """

    def __init__(self, table: Passed, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._blocks: Iterator[Block] = table.passed(names) if names else iter(())
        self._waiting: list[dict[str, Any]] = []

    def take(self, rows: int) -> dict[str, Any]:
        """Return the next rows of each column."""
        taken: list[dict[str, Any]] = []
        while rows and self._names:
            block = self._waiting.pop() if self._waiting else self._next()
            here = min(rows, len(block[self._names[0]]))
            taken.append({name: column[:here] for name, column in block.items()})
            rest = {name: column[here:] for name, column in block.items()}
            self._waiting += [rest] if len(rest[self._names[0]]) else []
            rows -= here
        return {name: joined_columns([part[name] for part in taken]) for name in self._names}

    def _next(self) -> dict[str, Any]:
        block = next(self._blocks)
        return {name: plain_values(block.columns[name].values) for name in self._names}


def plain_values(values: Any) -> Any:
    """Return values without the dictionary that Arrow may keep them in: it is no list of states."""
    kind: Any = getattr(values, "type", None)
    return values.cast(kind.value_type) if hasattr(kind, "index_type") else values


def joined_columns(parts: list[Any]) -> Any:
    """Return parts of a column as one: a list, or an array of Arrow."""
    if not parts or isinstance(parts[0], list):
        return [value for part in parts for value in part]
    import pyarrow as pa

    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)

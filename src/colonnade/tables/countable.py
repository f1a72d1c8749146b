"""Countable: what every consumer of data asks of a table, wherever its rows are.

A network needs counts. A table in memory, files that pass by once, columns mapped from disk and the
engine of a database or a cluster all have them, and each knows its own best way to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from colonnade.arrays import Weights
from colonnade.counts import FamilyCounts
from colonnade.exceptions import expected, inapplicable, renamed
from colonnade.tables.asked import Asked, Declared
from colonnade.tables.bounds import Allowed, Memory
from colonnade.variables import Variable

if TYPE_CHECKING:
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.discretizing import Discretizer
    from colonnade.tables.engines import Engine
    from colonnade.tables.scanning import Scanned

# The columns of a family by their names, parents first and the child last.
Members: TypeAlias = tuple[str, ...]


class Countable(Protocol):
    """Rows of states, anywhere.

    Only `names`, `discretizer` and `weighted` are known without looking at the rows. Whatever else
    is asked may cost a pass over them, which also finds all the rest: whoever wants counts asks for
    these first, and for the variables afterwards.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def discretizer(self) -> Discretizer | None:
        """How numeric columns are cut."""

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, which are counted instead of rows."""

    @property
    def memory(self) -> Memory | None:
        """Bytes that may be taken for its rows; None if they are in memory already."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns with their states, declared or found: of all columns in one pass."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def total(self) -> float:
        """Sum of the weights; without any, the number of rows."""

    @property
    def missing(self) -> tuple[int, ...]:
        """Number of rows without a value, for each column."""

    @property
    def unknown(self) -> Mapping[str, Mapping[Any, int]]:
        """Values that are no states and are taken as missing, with their rows."""

    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families, all of them in as few passes as can be.

        With ``"raise"``, a value missing in any of their columns is an error; else each family uses
        the rows that are complete for it.
        """

    def select(self, names: Sequence[str]) -> Countable:
        """Return some columns, in the order given."""

    def with_missing_states(self) -> Countable:
        """Return the table with *missing* as one more state of columns that have gaps."""

    def only_complete(self) -> Countable:
        """Return the rows that have all their values."""

    def settled(self) -> Countable:
        """Return the table as it is best counted many times, as a search does it."""

    def blocks(self) -> Iterator[CodedTable]:
        """Yield the rows in order, in parts that fit into memory; of no rows, an empty one."""


def countable(
    table: Any,
    variables: Declared = None,
    weights: Weights = None,
    unknown: Literal["raise", "missing"] = "raise",
    discretizer: Discretizer | None = None,
    columns: Sequence[str] | None = None,
    group: str | None = None,
) -> Countable:
    """Open a table of any kind; parameters are those of :func:`encode`.

    Rows in memory are encoded at once. Others stay where they are until they are counted.
    """
    from colonnade.tables.memory import encode

    asked = Asked(variables, weights, unknown, discretizer, columns, group)
    opened = opened_elsewhere(table, asked)
    if opened is not None:
        return opened
    return encode(table, variables, weights, unknown, discretizer, columns, group)


def opened_elsewhere(table: Any, asked: Asked) -> Countable | None:
    """Open a table whose rows are not in memory; None of all others."""
    from colonnade.tables.discretizing import Discretized
    from colonnade.tables.elsewhere import Elsewhere

    if isinstance(table, Discretized) and (scanned := scanned_of(table.source)) is not None:
        if asked.discretizer is not None:
            hint = "the table is cut already"
            raise expected("None", "discretizer", asked.discretizer, hint)
        return scanned.opened(replace(asked, discretizer=table.discretizer))
    if isinstance(table, Elsewhere):
        _refuse_second(table, asked.variables, asked.weights, asked.discretizer)
        return table.select(table.names if asked.columns is None else asked.columns)
    scanned = scanned_of(table)
    return None if scanned is None else scanned.opened(asked)


def scanned_of(table: Any) -> Scanned | Engine | None:
    """Return rows that are not in memory as one table, not read yet; None of all other tables.

    They are files, named or scanned already, or the table of an engine.
    """
    if isinstance(table, dict):
        # So that a dictionary of columns does not wait for engines and readers to be imported.
        return None
    from colonnade.tables.engines import Engine, engine_of
    from colonnade.tables.scanning import Scanned, are_paths, scan

    if isinstance(table, Scanned | Engine):
        return table
    if (engine := engine_of(table)) is not None:
        return engine
    if not are_paths(table):
        return None
    with renamed(paths="table", path="table"):
        return scan(table)


def bounded(table: Any, memory: Allowed) -> Any:
    """Return a table that takes no more memory than is allowed, if anything is said of that.

    A table in memory has taken its own already: there `memory` is an error.
    """
    from colonnade.tables.discretizing import Discretized

    if memory is None:
        return table
    cut = isinstance(table, Discretized)
    if (scanned := scanned_of(table.source if cut else table)) is None:
        raise inapplicable("memory", memory, "files, databases and lazy tables")
    within = scanned.within(Memory.of(memory))
    return replace(table, source=within) if cut else within


def _refuse_second(table: Countable, *asked: Any) -> None:
    """Raise if a table that was opened is to be given what was settled then."""
    if any(each is not None for each in asked):
        hint = "give them when the table is opened"
        raise expected("no further variables, weights or cuts", "table", table, hint)


def gathered(table: Countable) -> CodedTable:
    """Return all rows as compact columns, for what needs rows and not counts."""
    import numpy as np

    from colonnade.tables.coded import CodedTable

    table = table.settled()
    if isinstance(table, CodedTable):
        return table
    blocks = list(table.blocks())
    columns = zip(*(block.codes for block in blocks), strict=True)
    weights = [block.weights for block in blocks if block.weights is not None]
    return CodedTable(
        table.variables,
        tuple(np.concatenate(parts) for parts in columns),
        np.concatenate(weights) if weights else None,
        table.discretizer,
        table.unknown,
        table.memory,
    )

"""What goes back to the owner of a table: its rows by their labels, or the table completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colonnade.arrays import Array
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import scanned_of
from colonnade.tables.discretizing import Discretized
from colonnade.tables.elsewhere import Elsewhere
from colonnade.tables.sources import Source, source_of


def column_names(table: Any) -> Sequence[str]:
    """Names of the columns of a table of any kind."""
    if isinstance(table, Mapping):
        return tuple(table)
    if isinstance(table, CodedTable | Elsewhere):
        return table.names
    if (source := _in_memory(table)) is not None:
        return source.names
    scanned = scanned_of(table.source if isinstance(table, Discretized) else table)
    assert scanned is not None
    return scanned.names


def index_of(table: Any) -> Any:
    """Labels of the rows of a pandas data frame; None for any other table."""
    source = None if isinstance(table, Mapping) else _in_memory(table)
    if source is None or source.frame is None or not source.frame.kind.is_pandas_like():
        return None
    return source.frame.native.index


def completed(table: Any, columns: Mapping[str, Array]) -> Any:
    """Return a table of the same kind with some columns replaced; those it lacked come last.

    All other columns are kept, and so are the labels of rows. Of rows that are not at hand as a
    user has them, files for example, the columns alone are returned.

    Examples
    --------
    >>> import numpy as np
    >>> completed({"id": [7, 8], "x": [None, 1]}, {"x": np.array([0, 1])})
    {'id': [7, 8], 'x': array([0, 1])}
    """
    if isinstance(table, Mapping):
        return {**table, **columns}
    source = _in_memory(table)
    if source is None:
        return dict(columns)
    if source.frame is None:
        return {**source.table, **columns}
    from colonnade.tables.frames import refilled

    return refilled(source.frame, columns)


def _in_memory(table: Any) -> Source | None:
    """The columns of a table as a user has them; None of coded rows and of rows elsewhere."""
    if isinstance(table, Discretized):
        table = table.source
    if isinstance(table, CodedTable | Elsewhere) or scanned_of(table) is not None:
        return None
    return source_of(table)

"""Rows of any table that a network is asked about, in its states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from colonnade.exceptions import Advice, DataError, DataWarning, did_you_mean, warn
from colonnade.network.learning import advising_states
from colonnade.network.model import BayesianNetwork
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import countable, gathered
from colonnade.tables.discretizing import Discretized
from colonnade.tables.levels import places, refuse_absent
from colonnade.tables.returned import column_names

Unknown = Literal["raise", "missing"]


def rows_with_gaps(
    table: Any, network: BayesianNetwork, unknown: Unknown, besides: str | None = None
) -> CodedTable:
    """Encode rows with a column for every variable; those that the table lacks are missing.

    Of `besides`, which is asked for, there need be no column, and one is not looked at. The others
    that are not there are told.
    """
    names = column_names(table)
    wanted = [variable for variable in network.variables if variable.name != besides]
    there = [variable for variable in wanted if variable.name in names]
    absent = [variable.name for variable in wanted if variable.name not in names]
    if absent:
        tell_absent(absent, names, network, besides)
    if isinstance(table, Discretized):
        table = table.source  # its intervals must be the ones the network knows
    with advising_rows(network):
        coded = gathered(countable(table, there, None, unknown, network.discretizer))
    known = dict(zip(coded.names, coded.codes, strict=True))
    columns = [
        known[each.name] if each.name in known else np.full(coded.rows, each.cardinality)
        for each in network.variables
    ]
    return CodedTable(network.variables, tuple(columns))


def tell_absent(
    absent: Sequence[str], names: Sequence[str], known: Collection[str], besides: str | None
) -> None:
    """Say which of the known variables a table with some columns lacks; refuse it if all."""
    if not any(name in names for name in known if name != besides):
        refuse_absent(absent, names)
    others = [name for name in names if name not in known]
    hint = next(filter(None, (did_you_mean(name, others) for name in absent)), "")
    said = f"{places(map(repr, absent))}: not in the table, so missing in every row."
    warn(DataWarning(said, hint))


@contextmanager
def advising_rows(network: BayesianNetwork) -> Iterator[None]:
    """Let errors about columns that are not there, and about values, say how to leave them open."""
    try:
        with advising_states(network):
            yield
    except DataError as error:
        if "states" in error.details:
            raise error.advising(Advice.UNKNOWN_AS_MISSING) from None
        if "absent" in error.details:
            raise error.advising(Advice.EMPTY_COLUMN) from None
        raise

"""Log probability of rows under the tables of a network; missing values are summed out exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.missing.completions import Layout
from colonnade.missing.gaps import Codes, Members, distinct, find_gaps

if TYPE_CHECKING:
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.scoring import LogTable

__all__ = ["log_likelihood"]

Floats = NDArray[np.float64]

# Tables up to here are looked up faster with all their configurations.
_DENSE_CELLS = 1 << 18


def log_likelihood(coded: CodedTable, dag: Dag, tables: Sequence[Cpt]) -> Floats:
    """Log probability of each row.

    Parameters
    ----------
    coded : CodedTable
        Its columns are the variables of the graph, in order.
    dag : Dag
    tables : sequence of Cpt
        In the order of its variables.

    Returns
    -------
    array [row]
        NaN if probabilities that a table does not have are part of the sum.
    """
    # A sum of products rises with every entry: if it does not matter whether the entries that do
    # not exist are 0 or 1, it does not depend on them.
    low = _filled(coded, dag, tables, -np.inf)
    if all(cpt.table.complete for cpt in tables):
        return low
    low[low < _filled(coded, dag, tables, 0.0)] = np.nan
    return low


def _filled(coded: CodedTable, dag: Dag, tables: Sequence[Cpt], fill: float) -> Floats:
    """Log probability of each row, with `fill` as the logarithm of what does not exist."""
    from colonnade.tables.scoring import row_log_probability

    values, complete = row_log_probability(coded, [_log_table(cpt, fill) for cpt in tables])
    if not complete.all():
        rest = ~complete
        codes = np.stack([column[rest] for column in coded.codes], axis=1).astype(np.int32)
        cases, which = distinct(codes)
        values[rest] = _incomplete(dag, tables, cases, fill)[which]
    return values


def _log_table(cpt: Cpt, fill: float) -> LogTable:
    """Prepare a table for the kernels."""
    from colonnade.tables.scoring import LogTable

    table = cpt.table
    with np.errstate(divide="ignore"):
        if table.configurations * table.states <= _DENSE_CELLS:
            logs = np.log(table.dense())
            logs[np.isnan(logs)] = fill
            return LogTable(cpt.family, logs)
        logs = np.log(table.rows)
        if len(logs) == table.configurations:
            return LogTable(cpt.family, logs)
        default = np.full(table.states, fill) if table.default is None else np.log(table.default)
        return LogTable(cpt.family, logs, table.codes, default)


def _incomplete(dag: Dag, tables: Sequence[Cpt], codes: Codes, fill: float) -> Floats:
    """Log probability of rows of codes ``[row, variable]`` that lack values."""
    members = Members.of(dag, [cpt.family for cpt in tables])
    lookups = [_Lookup(cpt, fill) for cpt in tables]
    values = np.zeros(len(codes))
    present = ~members.missing(codes)
    for family, lookup in enumerate(lookups):
        variables = list(members.families[family])
        rows = present[:, variables].all(axis=1)
        there = codes[rows][:, variables]
        values[rows] += lookup.logs[lookup.positions(there[:, :-1]), there[:, -1]]
    gaps = find_gaps(members, codes, np.ones(len(codes)))
    begins = np.cumsum([0, *(lookup.logs.size for lookup in lookups)])
    logs = np.concatenate([lookup.logs.reshape(-1) for lookup in lookups])
    totals = np.empty(len(gaps.examples))
    for block in Layout(gaps).blocks():
        for family, lookup in enumerate(lookups):
            completed = block.of(family)
            places = lookup.positions(completed.codes)
            block.place(completed, begins[family] + places * members.sizes[family])
        totals[block.cases] = block.log_totals(logs)
    return values + np.bincount(gaps.rows, weights=totals[gaps.case], minlength=len(codes))


class _Lookup:
    """Logarithms of a table, the default row last."""

    def __init__(self, cpt: Cpt, fill: float) -> None:
        table = self.table = cpt.table
        with np.errstate(divide="ignore"):
            default = np.full(table.states, fill)
            if table.default is not None:
                default = np.log(table.default)
            self.logs = np.vstack([np.log(table.rows), default])

    def positions(self, codes: Codes) -> NDArray[np.int64]:
        found = self.table.positions(codes)
        found[found < 0] = len(self.table.rows)
        return found

"""Log probability of rows under the tables of a network; missing values are summed out exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colonnade.arrays import Floats
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.lookup import Lookup
from colonnade.missing.completions import Layout
from colonnade.missing.gaps import Codes, Members, distinct, find_gaps
from colonnade.tables.coded import CodedTable
from colonnade.tables.scoring import row_log_probability


def log_likelihood(coded: CodedTable, dag: Dag, tables: Sequence[Cpt]) -> Floats:
    """Log probability of each row; columns and tables are in the order of the graph.

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

    def log(rows: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(rows), fill, np.log(rows))

    families = [cpt.family for cpt in tables]
    logs = [cpt.table.lookup.mapped(log).filled() for cpt in tables]
    values, complete = row_log_probability(coded, families, logs)
    if not complete.all():
        rest = ~complete
        codes = np.stack([column[rest] for column in coded.codes], axis=1).astype(np.int32)
        cases, which = distinct(codes)
        values[rest] = _incomplete(Members.of(dag, families), logs, cases)[which]
    return values


def _incomplete(members: Members, logs: Sequence[Lookup], codes: Codes) -> Floats:
    """Log probability of rows of codes ``[row, variable]`` that lack values."""
    values = np.zeros(len(codes))
    present = ~members.missing(codes)
    for variables, table in zip(members.families, logs, strict=True):
        rows = present[:, list(variables)].all(axis=1)
        *parents, child = codes[rows][:, variables].T
        values[rows] += table.cells(parents, child)
    gaps = find_gaps(members, codes, np.ones(len(codes)))
    begins = np.cumsum([0, *(table.values.size for table in logs)])
    entries = np.concatenate([table.values.reshape(-1) for table in logs])
    totals = np.empty(len(gaps.examples))
    for block in Layout(gaps).blocks():
        for family, table in enumerate(logs):
            completed = block.of(family)
            places = table.places(completed.codes)
            block.place(completed, begins[family] + places * table.states)
        totals[block.cases] = block.log_totals(entries)
    return values + np.bincount(gaps.rows, weights=totals[gaps.case], minlength=len(codes))

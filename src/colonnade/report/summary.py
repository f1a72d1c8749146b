"""Data, as `inspect` sees them, and comparisons as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from colonnade.network import BayesianNetwork
from colonnade.network.learning import coded_for_network
from colonnade.report.tables import rounded
from colonnade.structure import Comparison
from colonnade.tables import Bins, ColumnSummary, Discretized, inspect
from colonnade.tables.coded import CodedTable
from colonnade.tables.cuts import Cuts
from colonnade.tables.sources import source_of

# States of a column, and unknown values, that are listed.
_MAX_LISTED = 8
_MAX_COLUMNS = 1000


def coded_rows(data: Any, network: BayesianNetwork) -> CodedTable:
    """Return the rows of a table in the states of a network; other values are missing."""
    return coded_for_network(data, network, None, "missing")


def described_data(
    data: Any, coded: CodedTable, network: BayesianNetwork, left_out: Mapping[str, str]
) -> dict[str, Any]:
    """Describe a table: what its columns hold, what became of each, and what they lack.

    `left_out` says why columns are no variables that the data speak for.
    """
    seen = _inspected(data, network)
    own = {name: _column(coded, name, network) for name in coded.names}
    if seen is None:
        columns = list(own.values())
    else:
        columns = [_seen(each, own.get(each.name), left_out) for each in seen]
    return {
        "rows": coded.rows,
        "complete": int(coded.complete.sum()),
        "columns": columns[:_MAX_COLUMNS],
        "left_out": max(len(columns) - _MAX_COLUMNS, 0),
        "source": "data",
    }


def described_counts(network: BayesianNetwork) -> dict[str, Any] | None:
    """Describe what a network was fitted to, as far as its counts tell."""
    columns = []
    for position, cpt in enumerate(list(network.tables.values())[:_MAX_COLUMNS]):
        if cpt.counts is None:
            continue
        totals = np.asarray(cpt.counts.state_totals, dtype=np.float64)
        columns.append(_facts(position, totals, cpt.counts.total, None, {}, network))
    if not columns:
        return None
    return {
        "rows": max(column["rows"] for column in columns),
        "complete": None,
        "columns": columns,
        "left_out": max(len(network) - _MAX_COLUMNS, 0),
        "source": "counts",
    }


def described_comparison(comparison: Comparison) -> dict[str, Any]:
    """Describe graphs and priors side by side."""
    rows = [
        {
            "structure": row.structure,
            "prior": row.prior,
            "arcs": row.arcs,
            "held_out": _finite(row.held_out),
            "error": _finite(row.standard_error),
            "evidence": None if row.log_evidence is None else _finite(row.log_evidence),
            "prediction": None if row.prediction is None else [*map(_finite, row.prediction)],
        }
        for row in comparison.rows
    ]
    return {"folds": comparison.folds, "target": comparison.target, "rows": rows}


def _column(coded: CodedTable, name: str, network: BayesianNetwork) -> dict[str, Any]:
    place = coded.position(name)
    size = coded.variables[place].cardinality
    totals = np.bincount(coded.codes[place], coded.weights, minlength=size + 1)[:size]
    unknown = {str(value): rows for value, rows in coded.unknown.get(name, {}).items()}
    position = network.dag.variables.index(name)
    missing = coded.missing[place] - sum(unknown.values())
    return _facts(position, totals, coded.rows - coded.missing[place], missing, unknown, network)


def _facts(
    position: int,
    totals: Any,
    rows: float,
    missing: int | None,
    unknown: dict[str, int],
    network: BayesianNetwork,
) -> dict[str, Any]:
    name = network.dag.variables[position]
    cuts = None if network.discretizer is None else network.discretizer.get(name)
    share = totals / max(totals.sum(), 1e-300)
    few = dict(list(unknown.items())[:_MAX_LISTED])
    return {
        "variable": position,
        "name": name,
        "rows": round(float(rows), 2),
        "missing": missing,
        "unknown": few,
        "more_unknown": len(unknown) - len(few),
        "shares": rounded(share[:_MAX_LISTED]),
        "unseen_states": int((totals == 0).sum()),
        "cuts": None if cuts is None else list(cuts.points),
    }


def _inspected(data: Any, network: BayesianNetwork) -> tuple[ColumnSummary, ...] | None:
    """Look at columns as the network takes them; None for rows that are nothing but states."""
    if isinstance(data, CodedTable):
        return None
    data = data.table if isinstance(data, Discretized) else data
    columns = source_of(data).columns
    wanted: dict[str, Cuts | None] = {name: None for name in columns if name in network}
    if network.discretizer is not None:
        for cuts in network.discretizer.columns:
            # What was cut before is no column of numbers any more.
            if cuts.name in columns and columns[cuts.name].number_type is not None:
                wanted[cuts.name] = cuts
    return inspect(data, Bins(columns=wanted)).columns


def _seen(
    column: ColumnSummary, own: dict[str, Any] | None, left_out: Mapping[str, str]
) -> dict[str, Any]:
    """Add what a column holds to what the network has of it; None if that is nothing."""
    found: dict[str, Any] = {
        "type": column.kind,
        "different": column.different,
        "codes": dict(list(column.codes.items())[:_MAX_LISTED]),
        "remarks": list(column.remarks),
    }
    if own is not None:
        return own | found
    reason = left_out.get(column.name) or column.reason or "no variable of the network"
    rows = column.rows - column.missing
    facts = {"variable": None, "name": column.name, "rows": rows, "missing": column.missing}
    return facts | found | {"reason": reason}


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None

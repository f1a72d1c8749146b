"""Data and comparisons as the page shows them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from colonnade.network import BayesianNetwork
from colonnade.network.learning import coded_for_network
from colonnade.report.tables import rounded
from colonnade.structure import Comparison
from colonnade.tables.coded import CodedTable
from colonnade.tables.sources import source_of

# States of a column, and unknown values, that are listed.
_MAX_LISTED = 8
_MAX_COLUMNS = 1000


def coded_rows(data: Any, network: BayesianNetwork) -> CodedTable:
    """Return the rows of a table in the states of a network; other values are missing."""
    return coded_for_network(data, network, None, "missing")


def described_data(data: Any, coded: CodedTable, network: BayesianNetwork) -> dict[str, Any]:
    """Describe a table: its columns, what they lack, and what the network does not use."""
    columns = [_column(coded, name, network) for name in coded.names[:_MAX_COLUMNS]]
    return {
        "rows": coded.rows,
        "complete": int(coded.complete.sum()),
        "columns": columns,
        "left_out": max(len(coded.names) - _MAX_COLUMNS, 0),
        "unused": _unused(data, network)[:_MAX_COLUMNS],
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
        "unused": [],
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
        }
        for row in comparison.rows
    ]
    return {"folds": comparison.folds, "rows": rows}


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
        "rows": round(float(rows), 2),
        "missing": missing,
        "unknown": few,
        "more_unknown": len(unknown) - len(few),
        "shares": rounded(share[:_MAX_LISTED]),
        "unseen_states": int((totals == 0).sum()),
        "cuts": None if cuts is None else list(cuts.points),
    }


def _unused(data: Any, network: BayesianNetwork) -> list[str]:
    """Columns of a table that are no variables of the network."""
    names = data.names if isinstance(data, CodedTable) else source_of(data).names
    return [str(name) for name in names if name not in network]


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None

"""Tables with gaps: predicted, filled in, and scored row by row, many rows at once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array
from colonnade.exceptions import (
    NotSupportedError,
    checked_whole,
    expected,
    inapplicable,
    is_word,
    not_among,
)
from colonnade.inference.predictions import Anomalies, Predictions
from colonnade.inference.queries import Precision, check_draws
from colonnade.inference.row_intervals import row_intervals
from colonnade.inference.rows import Rows, by_row
from colonnade.missing.filling import LARGEST, SUM, Blanks, Filled
from colonnade.network import BayesianNetwork
from colonnade.network.learning import coded_for_network
from colonnade.network.new_rows import Unknown, advising_rows, rows_with_gaps
from colonnade.network.rows import in_states, log_likelihood
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.returned import completed, index_of

How = Literal["probable", "sample", "mean"]


def predict(
    network: BayesianNetwork, table: Any, target: str, precision: Precision, unknown: Unknown
) -> Predictions:
    """See :meth:`colonnade.BayesianNetwork.predict`."""
    if not isinstance(target, str) or target not in network:
        raise not_among(network.dag.variables, "target", target)
    check_draws(*precision)
    if len(network) == 1:
        raise NotSupportedError(
            f"A prediction of {target!r} from a table",
            "the network has no other variable",
            f"ask query({target!r})",
        )
    rows = Rows.of(network, rows_with_gaps(table, network, unknown, besides=target))
    place = network.dag.variables.index(target)
    wanted = np.arange(len(network)) == place
    blanks = Blanks.of(rows.members, rows.codes, wanted, each=False)
    totals, found = blanks.solved(rows.logs(blanks), SUM)
    rows.check(blanks, totals)
    variable = network[target].family.child
    probabilities = by_row(found, place, (len(rows.codes), variable.cardinality))
    index = index_of(table)
    if not precision.draws:
        return Predictions.of(variable, probabilities, index=index)
    ends, fixed = row_intervals(rows, target, precision)
    return Predictions.of(variable, probabilities, *ends, precision.level, index, fixed)


def impute(
    network: BayesianNetwork,
    table: Any,
    how: How,
    draws: int | None,
    rng: Any,
    unknown: Unknown,
) -> Any:
    """See :meth:`colonnade.BayesianNetwork.impute`."""
    if not is_word(how, "probable", "sample", "mean"):
        hint = "'mean' averages integers, and 'probable' takes the states that are most probable"
        raise expected("'probable', 'sample' or 'mean'", "how", how, hint)
    for name, value in (("draws", draws), ("rng", rng)):
        if value is not None and how != "sample":
            raise inapplicable(name, value, "how='sample'")
    random = generator(rng)
    number = None if draws is None else checked_whole(draws, "draws")
    rows = Rows.of(network, rows_with_gaps(table, network, unknown))
    every = np.ones(len(network), dtype=np.bool_)
    blanks = Blanks.of(rows.members, rows.codes, every, each=how == "sample")
    if number is not None:
        drawn = rows.drawn(blanks, number, random)
        return [completed(table, rows.filled(blanks, logs, random)) for logs in drawn]
    if how == "mean":
        totals, found = blanks.solved(rows.logs(blanks), SUM)
        rows.check(blanks, totals)
        return completed(table, _means(network, rows.codes, found))
    way = random if how == "sample" else LARGEST
    return completed(table, rows.filled(blanks, rows.logs(blanks), way))


def anomaly(network: BayesianNetwork, table: Any, unknown: Unknown) -> Anomalies:
    """See :meth:`colonnade.BayesianNetwork.anomaly`."""
    with advising_rows(network):
        coded = coded_for_network(table, network, None, unknown)
    rows = Rows.of(network, coded)
    members, codes = rows.members, rows.codes
    columns = np.ascontiguousarray(codes.T)
    there = columns != np.array(members.sizes)[:, None]
    shares = np.zeros(columns.shape)
    rank = np.empty(len(network), dtype=np.int64)
    rank[list(members.order)] = np.arange(len(network))
    with Progress("Rows", len(network)) as progress:
        for k, cpt in enumerate(network.tables.values()):
            *parents, _ = members.families[k]
            simple = np.flatnonzero(there[k] & there[parents].all(axis=0))
            with np.errstate(divide="ignore"):
                logs = cpt.table.lookup.mapped(np.log).filled()
            if len(simple):
                given = [columns[parent][simple] for parent in parents]
                shares[k, simple] = logs.cells(given, columns[k][simple])
            rest = np.flatnonzero(there[k] & ~there[parents].all(axis=0))
            if len(rest):
                # Given what comes before it, which none of its descendants does.
                before = codes[rest].copy()
                later = rank >= rank[k]
                before[:, later] = np.array(members.sizes, dtype=np.int32)[later]
                shares[k, rest] = rows.log_share(before, k, columns[k][rest])
            progress.advance()
    tables = list(network.tables.values())
    if all(cpt.table.complete for cpt in tables):
        totals = shares.sum(axis=0)
    else:  # a sum may not depend on a probability that does not exist, and its shares do
        totals = log_likelihood(coded, network.dag, tables)
    index = index_of(table)
    return Anomalies(network.dag.variables, totals, np.ascontiguousarray(shares.T), index)


def _means(
    network: BayesianNetwork, codes: NDArray[np.int32], found: dict[int, Filled]
) -> dict[str, Array]:
    """Columns in which numbers have their mean, and other states the most probable one."""
    columns: dict[str, Array] = {}
    for k, variable in enumerate(network.variables):
        own, blank = codes[:, k].astype(np.int64), found.get(k)
        if blank is not None:
            own[blank.rows] = blank.values.argmax(axis=1)
        if all(isinstance(state, int) and not isinstance(state, bool) for state in variable.states):
            numbers = np.array(variable.states, dtype=np.float64)
            column = numbers[own]
            if blank is not None:
                column[blank.rows] = blank.values @ numbers
            columns[variable.name] = column
        else:
            columns |= in_states(network.tables, {variable.name: own})
    return columns

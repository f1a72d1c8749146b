"""From data to a network: rows are encoded and counted, and priors make tables of the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from colonnade.arrays import Weights
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    DataError,
    did_you_mean,
    expected,
    is_word,
    listing,
)
from colonnade.missing.em import EM, expected_counts
from colonnade.missing.treatment import Missing, checked_missing, treated
from colonnade.network.counts import NetworkCounts, checked_priors, families_of
from colonnade.network.model import BayesianNetwork
from colonnade.priors import Prior, Tiered
from colonnade.tables.asked import Declared, declared_variables
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import Countable, bounded, countable, gathered
from colonnade.tables.discretizing import Discretized
from colonnade.variables import State, Variable


def fit(
    table: Any,
    dag: Dag,
    prior: Prior | None = None,
    *,
    variables: Sequence[Variable] | Mapping[str, Iterable[State]] | None = None,
    weights: Weights = None,
    missing: Missing = "raise",
    per_variable: Mapping[str, Prior] | None = None,
    group: str | None = None,
    memory: Allowed = None,
) -> BayesianNetwork:
    """Estimate all tables of a network from data.

    Parameters
    ----------
    table : table
        A data frame of pandas, Polars, PyArrow, Modin or another package narwhals knows; a mapping
        of names to columns; a structured array; a pair (array [row, column], names); what
        :func:`colonnade.discretize` returns, whose cut points the network then keeps. Columns
        that the graph does not name are no part of the network and are ignored.
    dag : Dag
        Every variable must be a column of the table.
    prior : Prior, optional
        Of all tables; by default ``Hierarchical()``, and with `group` ``Tiered()``.
    variables : sequence of Variable, or mapping of names to states, optional
        Declared states of some or all variables, seen or not; the states of the others are
        discovered.
    weights : str or array_like, optional
        How often each row counts: the name of a column of numbers that is no variable, or an
        array.
    missing : {"raise", "available", "em", "state"} or EM
        What to do with rows that lack values: refuse; let each table use the rows that are
        complete for it, which is right if values are missing completely at random; let every
        row count in all the ways it can be completed, by EM, which is also right if what is
        missing depends on what is observed; or let a missing value be one more state of its
        variable, called ``"missing"``, which new rows have to name.
    per_variable : mapping of str to Prior, optional
        Single variables with a prior of their own.
    group : str, optional
        A column that is no variable of the graph and says which group a row belongs to: a site, a
        cohort, one of several data sets. The groups share the graph. The column becomes a variable
        without parents and the first parent of every other one, so that each group has tables of
        its own, which borrow from those of the others; see :meth:`BayesianNetwork.for_group`.
    memory : int or str, optional
        Bytes that files and lazy tables may take here, such as ``"500 MB"``; as for
        :func:`colonnade.scan`, which this is short for. Rows that EM completes come on top.

    Returns
    -------
    BayesianNetwork

    Raises
    ------
    DataError
        If columns are absent, or hold values that are no states, or lack values.

    Examples
    --------
    >>> from colonnade.priors import BDeu
    >>> table = {"age": ["young", "old", "old"], "ill": [False, True, False], "id": [7, 8, 9]}
    >>> network = fit(table, Dag([("age", "ill")]), per_variable={"age": BDeu(1)})
    >>> network["ill"].probabilities.round(3)
    array([[0.55 , 0.45 ],
           [0.733, 0.267]])
    """
    missing = checked_missing(missing)
    checked_dag(dag)
    if group is not None:
        dag = grouped(dag, group)
        prior = Tiered() if prior is None else prior
    rows = coded_for_fit(bounded(table, memory), dag, variables, weights, group)
    coded = treated(rows, missing)
    priors = checked_priors(dag, prior, per_variable)
    if missing in ("raise", "available", "state"):
        counts = NetworkCounts.of(coded, dag, "available" if missing == "available" else "raise")
        return counts.network(priors, coded.discretizer, group=group)
    settings = missing if isinstance(missing, EM) else EM()
    families = families_of(dag, coded.variables)
    own = [priors[name] for name in dag.variables]
    expectations, diagnostics = expected_counts(gathered(coded), dag, families, own, settings)
    counts = NetworkCounts(dag, families, expectations)
    return counts.network(priors, coded.discretizer, diagnostics, group)


def count(
    table: Any,
    dag: Dag,
    *,
    variables: Sequence[Variable] | Mapping[str, Iterable[State]] | None = None,
    weights: Weights = None,
    missing: Literal["raise", "available"] = "raise",
    group: str | None = None,
    memory: Allowed = None,
) -> NetworkCounts:
    """Count all families of a graph: what a network is estimated from, and no more.

    Counts of separate rows, on separate machines perhaps, are saved, loaded and added up; no row
    has to leave its place.

    Parameters
    ----------
    table, dag, variables, weights, group, memory
        As for :func:`fit`. Columns of numbers have to be cut at the same points everywhere.
    missing : {"raise", "available"}
        What to do with rows that lack values: refuse, or let each family use the rows that are
        complete for it.

    Returns
    -------
    NetworkCounts

    Examples
    --------
    >>> dag = Dag([("age", "ill")])
    >>> here = count({"age": ["young", "old"], "ill": [False, True]}, dag)
    >>> there = count({"age": ["old", "aged"], "ill": [True, True]}, dag)
    >>> together = {"age": ["young", "old", "old", "aged"], "ill": [False, True, True, True]}
    >>> (here + there).fit() == fit(together, dag)
    True
    """
    checked_dag(dag)
    if not is_word(missing, "raise", "available"):
        raise expected("'raise' or 'available'", "missing", missing)
    if group is not None:
        dag = grouped(dag, group)
    rows = coded_for_fit(bounded(table, memory), dag, variables, weights, group)
    return replace(NetworkCounts.of(rows, dag, missing), group=group)


def grouped(dag: Dag, group: str) -> Dag:
    """Return a graph with a group variable: without parents, and first parent of all others."""
    if not isinstance(group, str) or not group:
        raise expected("the name of a column", "group", group)
    if group in dag:
        hint = "take it out of the graph: it becomes a parent of every variable"
        raise expected("a column that is no variable of the graph", "group", group, hint)
    arcs = [(group, name) for name in dag.variables]
    return Dag((*arcs, *dag.arcs), (group, *dag.variables))


def coded_for_fit(
    table: Any, dag: Dag, variables: Declared, weights: Any, group: str | None = None
) -> Countable:
    """Encode the columns that a graph names, in its order; states are declared or discovered."""
    checked_dag(dag)
    strange = [name for name in declared_variables(variables) if name not in dag]
    if strange:
        what = f"variables of the graph, which are {listing(dag.variables)},"
        raise expected(what, "variables", strange, did_you_mean(strange[0], dag.variables))
    if isinstance(weights, str) and weights in dag:
        raise expected("a column that is no variable of the graph", "weights", weights)
    try:
        return countable(table, variables, weights, columns=dag.variables, group=group)
    except DataError as error:
        if group in error.details.get("absent", ()):
            raise error.advising(Advice.NAMED_BY_GROUP) from None
        if "absent" in error.details:
            raise error.advising(Advice.NAMED_BY_DAG) from None
        raise


def checked_dag(dag: Any) -> Dag:
    """Return a graph of at least one variable, or say what is wrong."""
    if not isinstance(dag, Dag):
        found = isinstance(getattr(dag, "dag", None), Dag)  # what a search has found
        hint = "give its `dag`" if found else "write Dag([('parent', 'child')])"
        raise expected("a Dag", "dag", dag, hint)
    if not dag.variables:
        hint = "name them: Dag([], variables=['a', 'b'])"
        raise expected("a graph with at least one variable", "dag", dag, hint)
    return dag


def coded_for_network(
    table: Any, network: BayesianNetwork, weights: Any, unknown: Literal["raise", "missing"]
) -> CodedTable:
    """Encode new rows with the states, and the cut points, a network has already."""
    with advising_states(network):
        return gathered(opened_for_network(table, network, weights, unknown))


@contextmanager
def advising_states(network: BayesianNetwork) -> Iterator[None]:
    """Let errors about states that a network does not know say that a group can be added."""
    try:
        yield
    except DataError as error:
        facts = error.details
        # A column that is not there has no states, and no new group would help.
        strange = facts.get("columns", [facts["column"]]) if "states" in facts else ()
        if network.group in strange:
            raise error.advising(Advice.ADD_GROUP) from None
        raise


def opened_for_network(
    table: Any,
    network: BayesianNetwork,
    weights: Any,
    unknown: Literal["raise", "missing"] = "raise",
) -> Countable:
    """Open rows of any kind with the states, and the cut points, a network has already."""
    if isinstance(table, Discretized):
        table = table.source  # its intervals must be the ones the network knows
    return countable(table, network.variables, weights, unknown, network.discretizer)

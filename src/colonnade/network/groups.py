"""Groups: related sets of rows that share a graph, each with tables of its own.

The group of a row is the first parent of every variable, so that the prior of a table says how
groups borrow from each other. What is left to do here is to take the group out again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    DataError,
    NotSupportedError,
    did_you_mean,
    expected,
    listing,
    warn,
)
from colonnade.lookup import with_known
from colonnade.network.counts import NetworkCounts, families_of
from colonnade.network.model import BayesianNetwork
from colonnade.sparse import Fallback
from colonnade.tables.remarks import of_one_more
from colonnade.variables import Family, State, Variable
from colonnade.wording import alike

# Where the group is among the parents of a variable.
_FIRST = 0


@dataclass(frozen=True, slots=True)
class RowsOfGroup(Fallback):
    """Rows of one group that are computed when they are asked for, as those of all groups are."""

    of_all: Fallback
    code: int

    def rows(self, codes: Array) -> Floats:
        """Return the probabilities ``[row, state]`` given the codes of the other parents."""
        return self.of_all.rows(with_known(codes, {_FIRST: self.code}))

    @property
    def positive(self) -> bool:
        """Whether all probabilities are above 0."""
        return self.of_all.positive


def of_group(network: BayesianNetwork, group: State) -> BayesianNetwork:
    """Return the network of one group, without the group variable; its tables are known."""
    variable = _group_variable(network, "for_group")
    try:
        code = variable.index(group)
    except DataError:
        what = f"a group of {variable.name!r}, one of {listing(variable.states)},"
        hint = did_you_mean(group, variable.states)
        raise expected(what, "group", group, hint) from None
    dag = _ungrouped(network)
    tables = {name: _fixed(network[name], code) for name in dag.variables}
    return BayesianNetwork(dag, tables, network.discretizer)


def of_new_group(network: BayesianNetwork) -> BayesianNetwork:
    """Return the network of a group that was never seen; its tables are known."""
    states = _group_variable(network, "for_new_group").states
    name = "new group"
    while alike(name) in map(alike, states):
        name += "'"
    return of_group(with_group(network, name), name)


def with_group(network: BayesianNetwork, group: State) -> BayesianNetwork:
    """Return the network with one more group, of which nothing was seen."""
    variable = _group_variable(network, "with_group")
    if group in variable.states:
        raise expected(f"a group besides {listing(variable.states)}", "group", group)
    for warning in of_one_more(variable.name, variable.states, group):
        warn(warning)
    wider = replace(variable, states=(*variable.states, group))
    known = NetworkCounts.kept(network, "with_group")
    variables = [wider if each.name == wider.name else each for each in network.variables]
    counts = []
    for family, old in zip(known.families, known.counts, strict=True):
        sizes, values = old.parent_sizes, old.values
        if family.child.name == wider.name:
            values = np.pad(values, ((0, 0), (0, 1)))
        else:
            sizes = (wider.cardinality, *sizes[1:])
        counts.append(FamilyCounts(sizes, old.codes, values))
    families = families_of(network.dag, variables)
    return network._with(NetworkCounts(network.dag, families, counts))


def pooled(network: BayesianNetwork) -> BayesianNetwork:
    """Return the network of all groups together, without the group variable."""
    _group_variable(network, "pooled")
    dag = _ungrouped(network)
    known = NetworkCounts.kept(network, "pooled")
    counts = [
        FamilyCounts(each.parent_sizes[1:], each.codes[:, 1:], each.values)
        for family, each in zip(known.families, known.counts, strict=True)
        if family.child.name != network.group
    ]
    priors = {name: prior for name, prior in network.priors.items() if prior is not None}
    families = families_of(dag, network.variables)
    return NetworkCounts(dag, families, counts).network(priors, network.discretizer)


def _group_variable(network: BayesianNetwork, request: str) -> Variable:
    if network.group is None:
        reason, hint = "its rows belong to no groups", "name their column: fit(..., group='site')"
        raise NotSupportedError(f"`{request}` of a network without groups", reason, hint)
    return network[network.group].family.child


def _ungrouped(network: BayesianNetwork) -> Dag:
    arcs = tuple(arc for arc in network.dag.arcs if arc[0] != network.group)
    return Dag(arcs, tuple(name for name in network.dag.variables if name != network.group))


def _fixed(cpt: Cpt, code: int) -> Cpt:
    """Return the table of one group, as known; rows that are too many stay computed on request."""
    group, *parents = cpt.family.parents
    family = Family(cpt.family.child, tuple(parents))
    found = cpt.table.lookup.given({_FIRST: code}).filled()
    default, fallback = None, None
    if isinstance(found.other, np.ndarray):
        default = found.other
    elif found.other is not None and cpt.table.fallback is not None:
        fallback = RowsOfGroup(cpt.table.fallback, code)
    if np.isnan(found.values).any():
        raise DataError(
            f"Group {group.states[code]!r} of {group.name!r}",
            f"the table of {family.child.name!r} lacks probabilities: some were never observed.",
            Advice.PRIOR_FOR_UNOBSERVED,
            variable=family.child.name,
        )
    table = SparseTable(family.parent_sizes, found.stored, found.rows, default, fallback)
    return Cpt(family, None, None, table)

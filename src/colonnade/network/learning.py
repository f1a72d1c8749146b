"""From data to a network: rows are encoded and counted, and priors make tables of the counts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import CountsError, NotSupportedError, expected, listing
from colonnade.missing.em import EmDiagnostics
from colonnade.network.model import BayesianNetwork
from colonnade.priors import Hierarchical, Prior
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.tables.discretize import Discretized, Discretizer
from colonnade.tables.memory import Declared, declared_variables, encode
from colonnade.variables import Family, Variable


def families_of(dag: Dag, variables: Sequence[Variable]) -> list[Family]:
    """Return the family of each variable of a graph, in its order; other variables are ignored."""
    known = {variable.name: variable for variable in variables}
    return [
        Family(known[name], tuple(known[parent] for parent in dag.parents(name)))
        for name in dag.variables
    ]


@dataclass(frozen=True, slots=True, eq=False)
class NetworkCounts:
    """The counts of all families of a graph: data become these, and these become a network.

    Families and counts are in the order of the graph. Counts of other rows, with the same families,
    can be added and subtracted.
    """

    dag: Dag
    families: Sequence[Family]
    counts: Sequence[FamilyCounts]

    @classmethod
    def of(
        cls, coded: CodedTable, dag: Dag, missing: Literal["raise", "available"] = "raise"
    ) -> NetworkCounts:
        """Count the rows of a table that has all variables of the graph."""
        families = families_of(dag, coded.variables)
        return cls(dag, families, count(coded, families, missing))

    @classmethod
    def kept(cls, network: BayesianNetwork, request: str) -> NetworkCounts:
        """Return the counts of a network, or refuse a request: a table that was given has none."""
        counts = []
        for name, cpt in network.tables.items():
            if cpt.counts is None:
                raise NotSupportedError(
                    f"`{request}` of a network with known tables",
                    f"the table of {name!r} was given and has no counts",
                    "fit a network to data",
                )
            counts.append(cpt.counts)
        return cls(network.dag, network.families, counts)

    def __add__(self, other: NetworkCounts) -> NetworkCounts:
        return self._combined(other, operator.add)

    def __sub__(self, other: NetworkCounts) -> NetworkCounts:
        return self._combined(other, operator.sub)

    def network(
        self,
        priors: Mapping[str, Prior],
        discretizer: Discretizer | None = None,
        diagnostics: EmDiagnostics | None = None,
    ) -> BayesianNetwork:
        """Estimate all tables, each with the prior of its variable."""
        tables = {
            family.child.name: Cpt.of(family, counts, priors[family.child.name])
            for family, counts in zip(self.families, self.counts, strict=True)
        }
        return BayesianNetwork(self.dag, tables, discretizer, diagnostics)

    def _combined(
        self, other: NetworkCounts, combine: Callable[[FamilyCounts, FamilyCounts], FamilyCounts]
    ) -> NetworkCounts:
        """Add or subtract the counts of the same families."""
        fresh = []
        for family, mine, yours in zip(self.families, self.counts, other.counts, strict=True):
            try:
                fresh.append(combine(mine, yours))
            except CountsError as error:
                raise error.named(f"Variable {family.child.name!r}", family.cell) from None
        return NetworkCounts(self.dag, self.families, fresh)


def coded_for_fit(table: Any, dag: Dag, variables: Declared, weights: Any) -> CodedTable:
    """Encode the columns that a graph names, in its order; states are declared or discovered."""
    if not isinstance(dag, Dag):
        raise expected("a Dag", "dag", dag, "write Dag([('parent', 'child')])")
    if not dag.variables:
        hint = "name them: Dag([], variables=['a', 'b'])"
        raise expected("a graph with at least one variable", "dag", dag, hint)
    strange = [name for name in declared_variables(variables) if name not in dag]
    if strange:
        what = f"variables of the graph, which are {listing(dag.variables)},"
        raise expected(what, "variables", strange)
    if isinstance(weights, str) and weights in dag:
        raise expected("a column that is no variable of the graph", "weights", weights)
    return encode(table, variables, weights, columns=dag.variables)


def coded_for_network(
    table: Any, network: BayesianNetwork, weights: Any, unknown: Literal["raise", "missing"]
) -> CodedTable:
    """Encode new rows with the states, and the cut points, a network has already."""
    if isinstance(table, Discretized):
        table = table.source  # its intervals must be the ones the network knows
    return encode(table, network.variables, weights, unknown, network.discretizer)


def checked_priors(
    dag: Dag, prior: Prior | None, per_variable: Mapping[str, Prior] | None
) -> dict[str, Prior]:
    """Give every variable its prior."""
    chosen = Hierarchical() if prior is None else prior
    if not isinstance(chosen, Prior):
        raise expected("a prior", "prior", prior, "use Hierarchical()")
    priors = dict.fromkeys(dag.variables, chosen)
    if per_variable is None:
        return priors
    if not isinstance(per_variable, Mapping):
        raise expected("a mapping of names to priors", "per_variable", per_variable)
    unknown = [name for name in per_variable if name not in dag]
    if unknown:
        what = f"names of variables, which are {listing(dag.variables)},"
        raise expected(what, "per_variable", unknown)
    for name, own in per_variable.items():
        if not isinstance(own, Prior):
            raise expected(f"a prior for {name!r}", "per_variable", own, "use Hierarchical()")
    return {**priors, **per_variable}

"""NetworkCounts: what was observed about all families of a graph, and the network that follows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import CountsError, NotSupportedError
from colonnade.network.model import BayesianNetwork
from colonnade.priors import Prior
from colonnade.variables import Family, Variable

if TYPE_CHECKING:
    from colonnade.missing.em import EmDiagnostics
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.discretize import Discretizer


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
        from colonnade.tables.counting import count

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

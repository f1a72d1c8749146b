"""From a graph and counts to the tables of a network."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork
from colonnade.priors import Prior
from colonnade.tables.discretize import Discretizer
from colonnade.variables import Family, Variable

__all__ = ["families_of", "network_of"]


def families_of(dag: Dag, variables: Sequence[Variable]) -> list[Family]:
    """Return the family of each variable of a graph, in its order.

    Examples
    --------
    >>> x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    >>> [family.child.name for family in families_of(Dag([("y", "x")]), [x, y])]
    ['y', 'x']
    """
    known = {variable.name: variable for variable in variables}
    return [
        Family(known[name], tuple(known[parent] for parent in dag.parents(name)))
        for name in dag.variables
    ]


def network_of(
    dag: Dag,
    families: Sequence[Family],
    counts: Sequence[FamilyCounts],
    prior: Prior,
    discretizer: Discretizer | None = None,
) -> BayesianNetwork:
    """Estimate all tables with one prior.

    Parameters
    ----------
    dag : Dag
    families, counts : sequences
        In the order of its variables.
    prior : Prior
    discretizer : Discretizer, optional
        Of all features; the network keeps what it has a variable for.
    """
    tables = {
        family.child.name: Cpt.of(family, each, prior)
        for family, each in zip(families, counts, strict=True)
    }
    cuts = discretizer.columns if discretizer else ()
    kept = tuple(cut for cut in cuts if cut.name in dag)
    return BayesianNetwork(dag, tables, Discretizer(kept) if kept else None)

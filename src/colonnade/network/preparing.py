"""What a user hands over, made ready for a network: the columns of a table, and priors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from colonnade.dag import Dag
from colonnade.exceptions import expected, listing
from colonnade.priors import Hierarchical, Prior
from colonnade.variables import Variable

if TYPE_CHECKING:
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.discretize import Discretizer


def coded_for_fit(
    table: Any,
    dag: Dag,
    variables: Sequence[Variable] | Mapping[str, Iterable[Any]] | None,
    weights: Any,
) -> CodedTable:
    """Encode the columns that a graph names, in its order; states are declared or discovered."""
    from colonnade.tables.memory import declared_variables, encode

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
    table: Any,
    variables: Sequence[Variable],
    discretizer: Discretizer | None,
    weights: Any = None,
    unknown: Literal["raise", "missing"] = "raise",
) -> CodedTable:
    """Encode new rows with the states, and the cut points, a network has already."""
    from colonnade.tables.discretize import Discretized
    from colonnade.tables.memory import encode

    if isinstance(table, Discretized):
        table = table.source  # its intervals must be the ones the network knows
    return encode(table, variables, weights, unknown, discretizer)


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
        what = "a mapping of names to priors"
        raise expected(what, "per_variable", per_variable)
    unknown = [name for name in per_variable if name not in dag]
    if unknown:
        what = f"names of variables, which are {listing(dag.variables)},"
        raise expected(what, "per_variable", unknown)
    for name, own in per_variable.items():
        if not isinstance(own, Prior):
            raise expected(f"a prior for {name!r}", "per_variable", own, "use Hierarchical()")
    return {**priors, **per_variable}

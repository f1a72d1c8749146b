"""Tables of data made ready for a network: its columns, its states, its cut points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from colonnade.dag import Dag
from colonnade.exceptions import DataError, expected, listing
from colonnade.priors import Hierarchical, Prior
from colonnade.variables import Variable

if TYPE_CHECKING:
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.discretize import Discretizer

__all__ = ["checked_priors", "coded_for_fit", "coded_for_network"]


def coded_for_fit(
    table: Any,
    dag: Dag,
    variables: Sequence[Variable] | Mapping[str, Iterable[Any]] | None,
    weights: Any,
) -> CodedTable:
    """Encode the columns that a graph names, in its order; states are declared or discovered.

    Examples
    --------
    >>> table = {"y": [1, 2], "note": [0.5, 0.7], "x": ["a", "b"]}
    >>> coded_for_fit(table, Dag([("x", "y")]), {"x": ["a", "b", "c"]}, None)
    CodedTable(variables=['x', 'y'], rows=2, missing=0)
    """
    from colonnade.tables.discretize import Discretized, Discretizer
    from colonnade.tables.memory import encode

    if not isinstance(dag, Dag):
        raise expected("a Dag", "dag", dag, "write Dag([('parent', 'child')])")
    if not dag.variables:
        hint = "name them: Dag([], variables=['a', 'b'])"
        raise expected("a graph with at least one variable", "dag", dag, hint)
    declared = _declared(variables, dag)
    if isinstance(weights, str) and weights in dag:
        raise expected("a column that is no variable of the graph", "weights", weights)
    discretizer = None
    if isinstance(table, Discretized):
        # Cuts of columns outside the graph are nothing the network will ever need.
        cuts = tuple(column for column in table.discretizer.columns if column.name in dag)
        table, discretizer = table.table, Discretizer(cuts) if cuts else None
    part = _columns(table, dag.variables, weights)
    coded = encode(part, declared, weights, discretizer=discretizer)
    return coded.select(dag.variables)


def coded_for_network(
    table: Any,
    variables: Sequence[Variable],
    discretizer: Discretizer | None,
    weights: Any = None,
    unknown: Literal["raise", "missing"] = "raise",
) -> CodedTable:
    """Encode new rows with the states, and the cut points, a network has already.

    Examples
    --------
    >>> coded_for_network({"x": ["b", "d"]}, [Variable("x", ["a", "b"])], None, unknown="missing")
    CodedTable(variables=['x'], rows=2, missing=1)
    """
    from colonnade.tables.discretize import Discretized
    from colonnade.tables.memory import encode

    if isinstance(table, Discretized):
        table = table.table  # names of intervals: they must be the ones the network knows
    part = _columns(table, [variable.name for variable in variables], weights)
    return encode(part, variables, weights, unknown, discretizer)


def checked_priors(
    dag: Dag, prior: Prior | None, per_variable: Mapping[str, Prior] | None
) -> dict[str, Prior]:
    """Give every variable its prior.

    Examples
    --------
    >>> from colonnade.priors import BDeu
    >>> checked_priors(Dag([("a", "b")]), BDeu(2), {"b": BDeu(5)})
    {'a': BDeu(ess=2.0), 'b': BDeu(ess=5.0)}
    """
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


def _declared(
    variables: Sequence[Variable] | Mapping[str, Iterable[Any]] | None, dag: Dag
) -> dict[str, Iterable[Any]]:
    """Return declared states by name."""
    if variables is None:
        return {}
    if isinstance(variables, Mapping):
        declared = dict(variables)
    else:
        hint = "or a mapping of names to states, such as {'smoker': ['no', 'yes']}"
        if isinstance(variables, Variable | str) or not isinstance(variables, Iterable):
            raise expected("a list of Variable", "variables", variables, hint)
        declared = {}
        for variable in variables:
            if not isinstance(variable, Variable):
                raise expected("only Variable objects", "variables", variable, hint)
            if variable.name in declared:
                raise expected("different names", "variables", variable.name)
            declared[variable.name] = variable.states
    strange = [name for name in declared if name not in dag]
    if strange:
        what = f"variables of the graph, which are {listing(dag.variables)},"
        raise expected(what, "variables", strange)
    return declared


def _columns(table: Any, names: Sequence[str], weights: Any) -> Any:
    """Return the part of a table that has these columns, and the one with the weights.

    Other columns must not matter: they may hold what can never be a state.
    """
    from colonnade.tables.arrays import columns_of
    from colonnade.tables.coded import CodedTable
    from colonnade.tables.sources import read

    known = table.names if isinstance(table, CodedTable) else read(table).names
    wanted = [*names, weights] if isinstance(weights, str) else list(names)
    lost = [name for name in wanted if name not in known]
    if lost:
        place = ", ".join(f"Column {name!r}" for name in lost)
        problem = f"not in the table, which has {listing(known)}."
        raise DataError(place, problem, columns=tuple(lost))
    if isinstance(table, CodedTable):
        return table.select(names)
    columns = columns_of(table)
    return {name: (table if columns is None else columns)[name] for name in wanted}

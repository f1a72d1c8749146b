"""Networks of pyAgrum and pgmpy, in memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import InputError, expected, require
from colonnade.files.assembly import assemble
from colonnade.files.drafts import (
    Draft,
    DraftTable,
    DraftVariable,
    check_writable,
    sketch,
    tell,
)
from colonnade.files.misfit import MisfitError
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.gum import load_pyagrum
from colonnade.network import BayesianNetwork
from colonnade.variables import Family, Variable

# pyAgrum takes any text that C and UTF-8 can hold.
_ALPHABET = Alphabet(pattern(TEXT), pattern(TEXT))


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Hand a network over to pyAgrum.

    Parameters
    ----------
    network : BayesianNetwork

    Returns
    -------
    pyagrum.BayesNet
        With labelled variables; what their labels were (integers, booleans) is kept in a
        property of the network. Names that pyAgrum cannot hold are encoded, with one warning.

    Examples
    --------
    >>> from colonnade import Family, Variable
    >>> coin = Cpt.known(Family(Variable("coin", ["heads", "tails"])), [0.25, 0.75])
    >>> network = BayesianNetwork(Dag([], ["coin"]), {"coin": coin})
    >>> model = to_pyagrum(network)
    >>> model.cpt("coin").tolist()
    [0.25, 0.75]
    >>> from_pyagrum(model) == network
    True
    """
    gum = load_pyagrum()
    draft = sketch(network, _ALPHABET, "pyAgrum", MAX_DENSE_CELLS)
    model = gum.BayesNet()
    for variable in draft.variables.values():
        model.add(gum.LabelizedVariable(variable.name, "", variable.labels))
    model.beginTopologyTransformation()
    for name, table in draft.tables.items():
        for parent in table.parents:
            model.addArc(parent, name)
    model.endTopologyTransformation()
    for name, table in draft.tables.items():
        members = (*table.parents, name)
        shape = [len(draft.variables[member].labels) for member in members]
        model.cpt(name)[:] = _parents_reversed(table.rows.reshape(shape))
    types = {name: variable.types for name, variable in draft.variables.items() if variable.types}
    if types:
        model.setProperty(TYPES, json.dumps(types))
    tell("to_pyagrum", draft.notes)
    return model


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Take a network over from pyAgrum.

    Parameters
    ----------
    model : pyagrum.BayesNet

    Returns
    -------
    BayesianNetwork
        Its tables are known. Range and integer variables have integers as states, others text.
    """
    gum = load_pyagrum()
    if not isinstance(model, gum.BayesNet):
        raise expected("a pyagrum.BayesNet", "model", model)
    kept = _kept_types(model)
    integers = {gum.VarType_RANGE, gum.VarType_INTEGER}
    draft = Draft()
    for node in model.nodes():
        own, tensor = model.variable(node), model.cpt(node)
        types = kept.get(own.name(), "i" if own.varType() in integers else "")
        variable = DraftVariable(own.name(), list(own.labels()), types)
        # Not toarray: aggregators (OR, MAX, ...) have no array, and it would read any memory.
        rows = _parents_reversed(np.asarray(tensor[:]))
        draft.add(variable, DraftTable(list(tensor.names[1:]), rows))
    try:
        network, notes = assemble(draft)
    except MisfitError as misfit:
        place = f"{misfit.place}: " if misfit.place else ""
        message = f"Expected a pyagrum.BayesNet of proper tables for `model`: {place}"
        raise InputError(
            message + misfit.problem, hint=misfit.hint, parameter="model", value=model
        ) from None
    tell("from_pyagrum", notes)
    return network


def _parents_reversed(table: Floats) -> Floats:
    """Our axes are [parent, ..., parent, child]; its first parent varies faster than the others."""
    parents = table.ndim - 1
    return np.ascontiguousarray(table.transpose([*reversed(range(parents)), parents]))


def _kept_types(model: Any) -> dict[str, str]:
    try:
        kept = json.loads(model.propertyWithDefault(TYPES, "{}"))
    except ValueError:
        return {}
    names = set(model.names())
    plain = isinstance(kept, dict) and all(isinstance(value, str) for value in kept.values())
    # Where the model was changed since, what was kept is of no use.
    return {name: value for name, value in kept.items() if name in names} if plain else {}


def to_pgmpy(network: BayesianNetwork) -> Any:
    """Hand a network over to pgmpy (extra ``interop``).

    Parameters
    ----------
    network : BayesianNetwork

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork
        Names and states stay as they are.
    """
    models = require("pgmpy.models", feature="to_pgmpy", extra="interop")
    factors = require("pgmpy.factors.discrete", feature="to_pgmpy", extra="interop")
    check_writable(network.tables.values(), MAX_DENSE_CELLS)
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.dag.variables)
    model.add_edges_from(network.dag.arcs)
    for name, cpt in network.tables.items():
        family = cpt.family
        members = (family.child, *family.parents)
        model.add_cpds(
            factors.TabularCPD(
                name,
                family.cardinality,
                cpt.table.dense().T,
                evidence=[parent.name for parent in family.parents],
                evidence_card=list(family.parent_sizes),
                state_names={variable.name: list(variable.states) for variable in members},
            )
        )
    return model


def from_pgmpy(model: Any) -> BayesianNetwork:
    """Take a network over from pgmpy (extra ``interop``).

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork
        Names are strings, states strings, integers or booleans.

    Returns
    -------
    BayesianNetwork
        Its tables are known.
    """
    models = require("pgmpy.models", feature="from_pgmpy", extra="interop")
    if not isinstance(model, models.DiscreteBayesianNetwork):
        raise expected("a DiscreteBayesianNetwork of pgmpy", "model", model)
    tables = {cpd.variable: cpd for cpd in model.get_cpds()}
    absent = [node for node in model.nodes if node not in tables]
    if absent:
        raise expected(f"a table for {absent[0]!r}", "model", model, "fit it, or add its CPD")
    variables = {name: Variable(name, cpd.state_names[name]) for name, cpd in tables.items()}
    arcs, found = [], {}
    for name in model.nodes:
        cpd = tables[name]
        parents = list(cpd.variables[1:])
        if set(parents) != set(model.get_parents(name)):
            raise expected(f"the parents of {name!r} in its table", "model", parents)
        for parent in parents:
            if list(cpd.state_names[parent]) != list(tables[parent].state_names[parent]):
                what = f"the states of {parent!r} in one order in all tables"
                raise expected(what, "model", cpd.state_names[parent])
        family = Family(variables[name], tuple(variables[parent] for parent in parents))
        rows = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
        found[name] = Cpt.known(family, rows.reshape(family.configurations, family.cardinality))
        arcs += [(parent, name) for parent in parents]
    return BayesianNetwork(Dag(tuple(arcs), tuple(model.nodes)), found)

"""Networks of pyAgrum and pgmpy, in memory."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import InputError, expected, require
from colonnade.files.drafts import Draft, DraftError, FormatWarning, assemble, sketch
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.network import BayesianNetwork
from colonnade.variables import Family, Variable

__all__ = ["from_pgmpy", "from_pyagrum", "to_pgmpy", "to_pyagrum"]

# pyAgrum takes any text that C and UTF-8 can hold.
_ALPHABET = Alphabet(pattern(TEXT), pattern(TEXT))
_LIMIT = 50_000_000


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Hand a network over to pyAgrum.

    Parameters
    ----------
    network : BayesianNetwork

    Returns
    -------
    pyagrum.BayesNet
        With labelled variables; what their labels were (integers, truth values) is kept in a
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
    gum = _pyagrum()
    drafts, encoded = sketch(network, _ALPHABET, _LIMIT)
    model = gum.BayesNet()
    for draft in drafts:
        model.add(gum.LabelizedVariable(draft.name, "", draft.labels))
    model.beginTopologyTransformation()
    for draft in drafts:
        for parent in draft.parents:
            model.addArc(parent, draft.name)
    model.endTopologyTransformation()
    sizes = {draft.name: len(draft.labels) for draft in drafts}
    for draft in drafts:
        assert draft.rows is not None
        shape = [*(sizes[parent] for parent in draft.parents), len(draft.labels)]
        # Its first variable, the child, varies fastest, and then the first parent.
        axes = [*reversed(range(len(draft.parents))), len(draft.parents)]
        model.cpt(draft.name)[:] = np.ascontiguousarray(draft.rows.reshape(shape).transpose(axes))
    types = {draft.name: draft.types for draft in drafts if draft.types}
    if types:
        model.setProperty(TYPES, json.dumps(types))
    if encoded:
        text = f"{len(encoded)} names or states that pyAgrum cannot hold were encoded"
        warnings.warn(f"{text}, for example {next(iter(encoded))!r}.", FormatWarning, stacklevel=2)
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
    gum = _pyagrum()
    if not isinstance(model, gum.BayesNet):
        raise expected("a pyagrum.BayesNet", "model", model)
    kept = _kept_types(model)
    whole = {gum.VarType_RANGE, gum.VarType_INTEGER}
    drafts = []
    for node in model.nodes():
        variable, tensor = model.variable(node), model.cpt(node)
        name = variable.name()
        draft = Draft(name, list(variable.labels()))
        draft.types = kept.get(name, "i" if variable.varType() in whole else "")
        draft.parents = list(tensor.names[1:])
        axes = [*reversed(range(len(draft.parents))), len(draft.parents)]
        # Not toarray: aggregators (OR, MAX, ...) have no array, and it would read any memory.
        draft.rows = np.ascontiguousarray(np.asarray(tensor[:]).transpose(axes))
        drafts.append(draft)
    return _assembled(drafts, "a pyagrum.BayesNet of proper tables", model)


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
    drafts, _ = sketch(network, _ALPHABET, _LIMIT)
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.dag.variables)
    model.add_edges_from(network.dag.arcs)
    for draft in drafts:
        assert draft.rows is not None
        family = network[draft.title].family
        members = (family.child, *family.parents)
        model.add_cpds(
            factors.TabularCPD(
                family.child.name,
                family.cardinality,
                draft.rows.T,
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
        Names are strings, states strings, integers or truth values.

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


def _assembled(drafts: list[Draft], what: str, model: Any) -> BayesianNetwork:
    notes: list[str] = []
    try:
        network = assemble(drafts, notes)
    except DraftError as error:
        place = f"{error.place}: " if error.place else ""
        message = f"Expected {what} for `model`: {place}{error.problem}"
        raise InputError(message, parameter="model", value=model) from None
    if notes:
        warnings.warn("; ".join(notes[:3]) + ".", FormatWarning, stacklevel=3)
    return network


def _kept_types(model: Any) -> dict[str, str]:
    try:
        kept = json.loads(model.propertyWithDefault(TYPES, "{}"))
    except ValueError:
        return {}
    names = set(model.names())
    plain = isinstance(kept, dict) and all(isinstance(value, str) for value in kept.values())
    # Where the model was changed since, what was kept is of no use.
    return {name: value for name, value in kept.items() if name in names} if plain else {}


def _pyagrum() -> Any:
    with warnings.catch_warnings():
        # Its C layer warns while it loads, and crashes the interpreter if that is an error.
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    return pyagrum

"""A classifier in a file: JSON with its network as native files have it, checked when it is read.

A file is one object with what files of forests have (``format``, ``version``, ``colonnade``,
``checksum``, ``parameters``, ``columns``, ``named``, ``identifiers``, ``target``, ``classes``,
``objects``, ``declared``, ``bins``), ``features`` (the variable that each column became that was
not left out, and its cuts), ``prior``, ``scores`` (by which it was chosen, or null) and
``network``.
"""

from __future__ import annotations

import os
from typing import Any

from colonnade.classifier import _plain
from colonnade.classifier._choice import Choice, Structure
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Feature, Features, Treatment
from colonnade.classifier._fitted import Fitted
from colonnade.dag import Dag
from colonnade.exceptions import InputError
from colonnade.files import native
from colonnade.files.misfit import MisfitError, made
from colonnade.files.schema import variable_of
from colonnade.network import BayesianNetwork
from colonnade.priors import Prior, restored, saved
from colonnade.structure.scores import AIC, BIC, LogLikelihood
from colonnade.tables.asked import declared_variables
from colonnade.tables.cuts import Cuts

_KIND = _plain.Kind(
    native.CLASSIFIER_FORMAT,
    1,
    frozenset(("features", "prior", "scores", "network")),
    frozenset(("structure", "k", "root", "structure_score", "graph_prior")),
    "classifier",
    "colonnade.load reads a network, and BayesianNetworkForest.load a forest",
    "learn it with fewer intervals or parents",
)
_SCORES = {type(score).__name__: score for score in (BIC(), AIC(), LogLikelihood())}


def save(estimator: Any, fitted: Fitted, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Write a fitted estimator."""
    identifiers, bins = fitted.features.identifiers, fitted.treatment.bins
    shared = _plain.common(estimator, _parameters(estimator), fitted.classes, identifiers, bins)
    scores = fitted.choice.scores
    own = {
        "features": [_plain_feature(feature) for feature in fitted.features.each.values()],
        "prior": saved(fitted.choice.prior),
        "scores": None if scores is None else [[saved(prior), s] for prior, s in scores.items()],
        "network": native.document_of(fitted.network),
    }
    _KIND.write({**shared, **own}, path, overwrite)


def read(path: str | os.PathLike[str]) -> _plain.Kept:
    """Read what was saved; a file that is damaged or of another kind is refused."""
    return _KIND.read(path, _kept)


def _parameters(estimator: Any) -> dict[str, Any]:
    """The options of an estimator in plain values."""
    options = _plain.plain_options(estimator)
    options["k"] = int(options["k"])
    if isinstance(dag := options["structure"], Dag):
        arcs = [list(arc) for arc in dag.arcs]
        options["structure"] = {"variables": list(dag.variables), "arcs": arcs}
    score = options["structure_score"]
    if isinstance(score, Prior):
        options["structure_score"] = saved(score)
    elif score is not None:
        options["structure_score"] = type(score).__name__
    return options


def _plain_feature(feature: Feature) -> dict[str, Any]:
    cuts = feature.cuts
    own = None if cuts is None else {"points": cuts.points, "states": cuts.states}
    return {"variable": native.plain_variable(feature.variable), "cuts": own}


# ------------------------------------------------------------------------------ reading


def _kept(document: dict[str, Any]) -> _plain.Kept:
    parameters = made("parameters", _KIND.options_in, document["parameters"], _own)
    structure = made("parameters", _structure, parameters)
    declared = declared_variables(parameters["variables"])
    classes = _plain.classes_in(document, declared)
    network = _plain.network_in(document["network"], "network")
    columns = _plain.names_in(document, "columns")
    features = Features(
        _features(document["features"], columns), tuple(_plain.names_in(document, "identifiers"))
    )
    _check_network(network, features, classes)
    treatment = made(
        "bins",
        Treatment,
        _plain.bins_in(document["bins"]),
        parameters["identifiers"] == "drop",
        (*structure.named, *declared),
        declared,
    )
    fitted = Fitted(classes, features, _choice(document), network, structure.learned, treatment)
    return _plain.Kept(parameters, columns, document["named"] is True, fitted)


def _own(options: dict[str, Any]) -> dict[str, Any]:
    """Turn what only this kind of estimator has into options."""
    graph, score = options["structure"], options["structure_score"]
    if isinstance(graph, dict):
        if set(graph) != {"variables", "arcs"}:
            raise InputError("`structure` is not a graph.")
        options["structure"] = Dag(tuple(map(tuple, graph["arcs"])), graph["variables"])
    if isinstance(score, dict):
        options["structure_score"] = restored(score)
    elif score is not None:
        if score not in _SCORES:
            raise InputError("`structure_score` is not known.")
        options["structure_score"] = _SCORES[score]
    return options


def _structure(options: dict[str, Any]) -> Structure:
    return Structure(
        structure=options["structure"],
        k=options["k"],
        root=options["root"],
        score=options["structure_score"],
        graph_prior=options["graph_prior"],
    )


def _features(plain: Any, columns: list[str]) -> dict[str, Feature]:
    if not isinstance(plain, list):
        raise MisfitError("features", "it is not a list of columns.")
    found: dict[str, Feature] = {}
    for k, own in enumerate(plain):
        place = f"features[{k}]"
        if not isinstance(own, dict) or set(own) != {"variable", "cuts"}:
            raise MisfitError(place, "it does not say what a column became.")
        variable = variable_of(own["variable"], f"{place}.variable")
        cuts = own["cuts"]
        if cuts is not None:
            if not isinstance(cuts, dict) or set(cuts) != {"points", "states"}:
                raise MisfitError(f"{place}.cuts", "it does not say where a column is cut.")
            cuts = made(f"{place}.cuts", lambda name, own: Cuts(name, **own), variable.name, cuts)
            if cuts.states != variable.states:
                raise MisfitError(f"{place}.cuts", "they do not fit the states.")
        if variable.name not in columns or variable.name in found:
            raise MisfitError(place, "it is not one of the columns, each of which comes once.")
        found[variable.name] = Feature(variable, cuts)
    return found


def _check_network(network: BayesianNetwork, features: Features, classes: Classes) -> None:
    """Refuse a network of other variables or cuts than those of the columns and the class."""
    known = {name: feature.variable for name, feature in features.each.items()}
    known[classes.name] = classes.variable
    for variable in network.variables:
        if known.get(variable.name) != variable:
            problem = f"{variable.name!r} is neither a column as it was learned nor the class."
            raise MisfitError("network.variables", problem)
    if classes.name not in network:
        raise MisfitError("network.variables", "the class is not among them.")
    if network.discretizer != features.discretizer.only(network.dag.variables):
        raise MisfitError("network.discretizer", "it does not fit the cuts of the columns.")


def _choice(document: dict[str, Any]) -> Choice:
    prior, scores = made("prior", restored, document["prior"]), document["scores"]
    if scores is None:
        return Choice(prior)
    pairs = isinstance(scores, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], float) for pair in scores
    )
    if not pairs:
        raise MisfitError("scores", "it is not a list of priors with their scores.")
    return Choice(prior, {made("scores", restored, record): score for record, score in scores})

"""A forest in a file: JSON with its networks as native files have them, checked when it is read.

A file is one object with ``format``, ``version``, ``colonnade`` (the package version that wrote
it), ``checksum``, ``parameters`` (the options of the estimator), ``columns`` (the features, in the
order of the training data, and whether these names were given), ``used`` (those that were not left
out), ``identifiers``, ``classes`` (their labels, the type of these, and whether they were
declared), ``target`` (the name of the class), ``rows`` (their number, or the sum of their weights),
``bins`` (how columns without any value so far will be cut), ``scores`` and ``members``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from colonnade import __version__
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Feature, Features, Treatment
from colonnade.classifier._forest import Forest
from colonnade.classifier._input import feature_names
from colonnade.classifier._members import Growth, Member
from colonnade.classifier._tables import ClassTables
from colonnade.exceptions import FileFormatError, InputError, expected
from colonnade.files import native
from colonnade.files.disk import as_path, read_bytes, write_bytes
from colonnade.files.misfit import MisfitError, made
from colonnade.files.schema import variable_of
from colonnade.network import BayesianNetwork
from colonnade.priors import restored, saved
from colonnade.tables.asked import declared_variables
from colonnade.tables.bins import Bins
from colonnade.tables.cuts import Cuts
from colonnade.variables import Variable

_FORMAT, _VERSION = native.FOREST_FORMAT, 1
_KEYS = {
    *("format", "version", "colonnade", "checksum", "parameters", "prior", "columns", "named"),
    *("used", "identifiers", "target", "classes", "objects", "declared", "rows", "bins"),
    *("scores", "members"),
}
_PARAMETERS = {
    *("n_members", "max_parents", "average", "random_state", "n_jobs", "unknown", "classes"),
    *("target_name", "identifiers", "prior", "bins", "class_weight", "variables"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a file holds: the options of an estimator, its columns and its forest."""

    parameters: dict[str, Any]
    columns: list[str]
    named: bool
    forest: Forest


def save(
    estimator: BaseEstimator, forest: Forest, path: str | os.PathLike[str], overwrite: bool
) -> None:
    """Write a fitted estimator and its forest."""
    path = as_path(path)
    if path.suffix.lower() != ".json":
        raise expected("a name that ends in .json", "path", str(path))
    document = _document(estimator, forest)
    document["checksum"] = native.checksum(document)
    members = ",\n  ".join(json.dumps(each, separators=(",", ":")) for each in document["members"])
    head = {key: value for key, value in document.items() if key != "members"}
    lines = [f'"{key}": {json.dumps(value, allow_nan=False)},\n' for key, value in head.items()]
    text = "{\n" + "".join(lines) + f'"members": [\n  {members}\n]\n' + "}\n"
    write_bytes(path, text.encode("ascii"), overwrite)


def read(path: str | os.PathLike[str]) -> Kept:
    """Read what was saved; a file that is damaged or of another kind is refused."""
    path = as_path(path)
    try:
        return _kept(native.parsed(read_bytes(path)))
    except MisfitError as misfit:
        raise FileFormatError(str(path), misfit.place, misfit.problem, misfit.hint) from None


def _document(estimator: BaseEstimator, forest: Forest) -> dict[str, Any]:
    """Everything a file holds but its checksum, as plain values."""
    known = getattr(estimator, "feature_names_in_", None)
    first = forest.members[0].features
    classes = forest.classes
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "colonnade": __version__,
        "parameters": _parameters(estimator),
        "prior": saved(forest.growth.prior),
        "columns": feature_names(estimator),
        "named": known is not None,
        "used": list(first.each),
        "identifiers": list(first.identifiers),
        "target": classes.name,
        "classes": classes.labels.tolist(),
        "objects": classes.labels.dtype.kind == "O",
        "declared": classes.declared,
        "rows": forest.rows,
        "bins": _plain_bins(forest.treatment.bins),
        "scores": [member.log_score for member in forest.members],
        "members": [native.document_of(member.network) for member in forest.members],
    }


def _parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The options of an estimator in plain values."""
    options: dict[str, Any] = estimator.get_params(deep=False)
    if not isinstance(options["random_state"], int | np.integer):
        options["random_state"] = None
    for name in ("n_members", "max_parents", "random_state", "n_jobs"):
        options[name] = None if options[name] is None else int(options[name])
    options["prior"] = None if options["prior"] is None else saved(options["prior"])
    if options["classes"] is not None:
        options["classes"] = np.asarray(options["classes"]).tolist()
    if options["variables"] is not None:
        declared = declared_variables(options["variables"]).values()
        options["variables"] = [native.plain_variable(variable) for variable in declared]
    if isinstance(options["class_weight"], Mapping):
        # Labels need not be texts, which is all that the keys of an object can be.
        labels, weights = list(options["class_weight"]), options["class_weight"].values()
        options["class_weight"] = [np.asarray(labels).tolist(), [float(each) for each in weights]]
    if isinstance(options["bins"], Bins):
        options["bins"] = _plain_bins(options["bins"])
    elif isinstance(options["bins"], Mapping):
        options["bins"] = _plain_columns(options["bins"])
    elif options["bins"] is not None:
        options["bins"] = int(options["bins"])
    return options


def _plain_bins(bins: Bins) -> dict[str, Any]:
    return {"default": bins.default, "columns": _plain_columns(bins.columns)}


def _plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """How single columns are cut, in plain values: where, if a user says so."""
    return {
        name: {"points": own.points, "states": own.states} if isinstance(own, Cuts) else own
        for name, own in columns.items()
    }


# ------------------------------------------------------------------------------ reading


def _kept(document: Any) -> Kept:
    _check_head(document)
    members = document["members"]
    scores = document["scores"]
    if not isinstance(members, list) or not members:
        raise MisfitError("members", "it is not a list of networks.")
    if not isinstance(scores, list) or len(scores) != len(members):
        raise MisfitError("scores", "there is not one for each member.")
    if not all(isinstance(score, float) for score in scores):
        raise MisfitError("scores", "they are not all numbers with a decimal point.")
    columns, used = _names(document, "columns"), _names(document, "used")
    if not set(used) <= set(columns):
        raise MisfitError("used", "not all of them are columns.")
    identifiers = tuple(_names(document, "identifiers"))
    parameters = made("parameters", _options, document["parameters"])
    classes = _classes(document, declared_variables(parameters["variables"]))
    found = []
    for k, (each, score) in enumerate(zip(members, scores, strict=True)):
        network = _network(each, f"members[{k}]")
        features = _features(network, used, classes, identifiers, f"members[{k}]")
        found.append(Member(features, ClassTables(network, classes.name), score))
    growth = Growth(parameters["max_parents"], made("prior", restored, document["prior"]))
    declared = declared_variables(parameters["variables"])
    drop = parameters["identifiers"] == "drop"
    treatment = made("bins", Treatment, _bins(document["bins"]), drop, tuple(declared), declared)
    rows = document["rows"]
    if not isinstance(rows, float) or not rows > 0.0:
        raise MisfitError("rows", "it is not a positive number with a decimal point.")
    forest = Forest(classes, tuple(found), rows, growth, treatment)
    return Kept(parameters, columns, document["named"] is True, forest)


def _check_head(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        hint = "a single network is loaded with colonnade.load"
        raise MisfitError("format", "it is not a forest saved by Colonnade.", hint)
    if document.get("version") != _VERSION:
        raise MisfitError("version", f"only version {_VERSION} is known.", "update Colonnade")
    if document.get("checksum") != native.checksum(document):
        hint = "the file is damaged or was changed by hand; take it from a copy, or fit again"
        raise MisfitError("checksum", "it does not fit the content.", hint)
    if wrong := sorted(_KEYS ^ set(document)):
        problem = "is missing" if wrong[0] in _KEYS else "does not belong here"
        raise MisfitError("", f"{wrong[0][:80]!r} {problem}.")


def _names(document: dict[str, Any], key: str) -> list[str]:
    found = document[key]
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise MisfitError(key, "it is not a list of names.")
    return found


def _network(document: Any, place: str) -> BayesianNetwork:
    try:
        return native.restored(document)
    except MisfitError as misfit:
        inner = f"{place}.{misfit.place}" if misfit.place else place
        raise MisfitError(inner, misfit.problem, misfit.hint) from None


def _features(
    network: BayesianNetwork,
    used: list[str],
    classes: Classes,
    identifiers: tuple[str, ...],
    place: str,
) -> Features:
    """Find what the columns are for one member, and whether its variables are these."""
    known = {variable.name: variable for variable in network.variables}
    if set(known) != {*used, classes.name} or known[classes.name] != classes.variable:
        raise MisfitError(f"{place}.variables", "they are not the columns used and the class.")
    cuts = {} if network.discretizer is None else {c.name: c for c in network.discretizer.columns}
    for name, own in cuts.items():
        if own.states != known[name].states:
            raise MisfitError(f"{place}.discretizer", f"it does not fit the states of {name!r}.")
    return Features({name: Feature(known[name], cuts.get(name)) for name in used}, identifiers)


def _classes(document: dict[str, Any], declared: Mapping[str, Variable]) -> Classes:
    labels, name = document["classes"], document["target"]
    kinds = {type(label) for label in labels} if isinstance(labels, list) else set()
    if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        raise MisfitError("classes", "it is not a list of labels of one kind.")
    if not isinstance(name, str) or type(document["declared"]) is not bool:
        raise MisfitError("target", "it is not a name.")
    array = np.array(labels, dtype=object if document["objects"] is True else None)
    spellings = declared[name].spellings if name in declared else {}
    return Classes(name, array, document["declared"], spellings)


def _options(plain: Any) -> dict[str, Any]:
    """Turn plain values into options, most of which are checked when they are used."""
    # Files of earlier versions declare no variables.
    if not isinstance(plain, dict) or {*plain, "variables"} != _PARAMETERS:
        raise InputError("they are not those of a forest.")
    options = {"variables": None, **plain}
    parents = options["max_parents"]
    if type(parents) is not int or parents < 0:
        raise InputError("`max_parents` is not an integer of at least 0.")
    options["prior"] = None if options["prior"] is None else restored(options["prior"])
    if options["variables"] is not None:
        options["variables"] = _declared(options["variables"])
    if isinstance(options["class_weight"], list):
        options["class_weight"] = _class_weight(options["class_weight"])
    if isinstance(options["bins"], dict):
        if set(options["bins"]) == {"default", "columns"}:
            options["bins"] = _bins(options["bins"])
        else:
            options["bins"] = _columns(options["bins"])
    return options


def _declared(plain: Any) -> list[Variable]:
    """Variables that a user declared."""
    if not isinstance(plain, list):
        raise MisfitError("parameters.variables", "it is not a list of variables.")
    places = (f"parameters.variables[{k}]" for k in range(len(plain)))
    return [variable_of(each, place) for each, place in zip(plain, places, strict=True)]


def _class_weight(plain: list[Any]) -> dict[Any, float]:
    """Weights of classes, from their labels and the weights of these."""
    both = len(plain) == 2 and all(isinstance(part, list) for part in plain)
    if not both or len(plain[0]) != len(plain[1]):
        raise InputError("`class_weight` has not one weight for each label.")
    if not all(isinstance(label, str | int | float) for label in plain[0]):
        raise InputError("`class_weight` names something that is no label.")
    return dict(zip(plain[0], plain[1], strict=True))


def _bins(plain: Any) -> Bins:
    if not isinstance(plain, dict) or set(plain) != {"default", "columns"}:
        raise MisfitError("bins", "it does not say how columns are cut.")
    if isinstance(plain["default"], float) and not math.isfinite(plain["default"]):
        raise MisfitError("bins", "it is not finite.")
    return made("bins", lambda: Bins(plain["default"], _columns(plain["columns"])))


def _columns(plain: Any) -> dict[str, Any]:
    """The opposite of `_plain_columns`."""
    if not isinstance(plain, dict):
        raise InputError("it does not say how columns are cut.")
    return {
        name: Cuts(name, **own)
        if isinstance(own, dict) and set(own) == {"points", "states"}
        else own
        for name, own in plain.items()
    }

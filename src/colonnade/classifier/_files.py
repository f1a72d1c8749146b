"""A forest in a file: JSON with its networks as native files have them, checked when it is read.

A file is one object with ``format``, ``version``, ``colonnade`` (the package version that wrote
it), ``checksum``, ``parameters`` (the options of the estimator), ``columns`` (the features, in the
order of the training data, and whether these names were given), ``used`` (those that were not left
out), ``identifiers``, ``classes`` (their labels, the type of these, and whether they were
declared), ``target`` (the name of the class), ``rows`` (their number, or the sum of their weights),
``bins`` (how columns without any value so far will be cut), ``scores`` and ``members``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from colonnade.classifier import _plain
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Feature, Features, Treatment
from colonnade.classifier._forest import Forest
from colonnade.classifier._members import Growth, Member
from colonnade.classifier._tables import ClassTables
from colonnade.exceptions import InputError
from colonnade.files import native
from colonnade.files.misfit import MisfitError, made
from colonnade.network import BayesianNetwork
from colonnade.priors import restored, saved
from colonnade.progress import Progress
from colonnade.tables.asked import declared_variables

_KIND = _plain.Kind(
    native.FOREST_FORMAT,
    1,
    frozenset(("prior", "used", "rows", "scores", "members")),
    frozenset(("n_members", "max_parents", "average", "random_state", "n_jobs")),
    "forest",
    "colonnade.load reads a network, and BayesianNetworkClassifier.load a classifier",
    "learn fewer members, or members with fewer intervals or parents",
)


def save(
    estimator: BaseEstimator, forest: Forest, path: str | os.PathLike[str], overwrite: bool
) -> None:
    """Write a fitted estimator and its forest."""
    first = forest.members[0].features
    bins = forest.treatment.bins
    shared = _plain.common(
        estimator, _parameters(estimator), forest.classes, first.identifiers, bins
    )
    own = {
        "prior": saved(forest.growth.prior),
        "used": list(first.each),
        "rows": forest.rows,
        "scores": [member.log_score for member in forest.members],
    }
    # The last step is the file itself, which takes long, too.
    with Progress("Saving networks", len(forest.members) + 1) as progress:
        documents = []
        for member in forest.members:
            documents.append(native.document_of(member.network))
            progress.advance()
        _KIND.write({**shared, **own, "members": documents}, path, overwrite)


def read(path: str | os.PathLike[str]) -> _plain.Kept:
    """Read what was saved; a file that is damaged or of another kind is refused."""
    return _KIND.read(path, _kept)


def _parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The options of an estimator in plain values."""
    options = _plain.plain_options(estimator)
    if not isinstance(options["random_state"], int | np.integer):
        options["random_state"] = None
    for name in ("n_members", "max_parents", "random_state", "n_jobs"):
        options[name] = None if options[name] is None else int(options[name])
    return options


# ------------------------------------------------------------------------------ reading


def _kept(document: Any) -> _plain.Kept:
    members = document["members"]
    scores = document["scores"]
    if not isinstance(members, list) or not members:
        raise MisfitError("members", "it is not a list of networks.")
    if not isinstance(scores, list) or len(scores) != len(members):
        raise MisfitError("scores", "there is not one for each member.")
    if not all(isinstance(score, float) for score in scores):
        raise MisfitError("scores", "they are not all numbers with a decimal point.")
    columns, used = _plain.names_in(document, "columns"), _plain.names_in(document, "used")
    if not set(used) <= set(columns):
        raise MisfitError("used", "not all of them are columns.")
    identifiers = tuple(_plain.names_in(document, "identifiers"))
    parameters = made("parameters", _KIND.options_in, document["parameters"], _own)
    classes = _plain.classes_in(document, declared_variables(parameters["variables"]))
    found = []
    with Progress("Networks", len(members)) as progress:
        for k, (each, score) in enumerate(zip(members, scores, strict=True)):
            network = _plain.network_in(each, f"members[{k}]")
            features = _features(network, used, classes, identifiers, f"members[{k}]")
            found.append(Member(features, ClassTables(network, classes.name), score))
            progress.advance()
    growth = Growth(parameters["max_parents"], made("prior", restored, document["prior"]))
    declared = declared_variables(parameters["variables"])
    drop = parameters["identifiers"] == "drop"
    treatment = made(
        "bins", Treatment, _plain.bins_in(document["bins"]), drop, tuple(declared), declared
    )
    rows = document["rows"]
    if not isinstance(rows, float) or not rows > 0.0:
        raise MisfitError("rows", "it is not a positive number with a decimal point.")
    forest = Forest(classes, tuple(found), rows, growth, treatment)
    return _plain.Kept(parameters, columns, document["named"] is True, forest)


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


def _own(options: dict[str, Any]) -> dict[str, Any]:
    """Check what is needed at once."""
    parents = options["max_parents"]
    if type(parents) is not int or parents < 0:
        raise InputError("`max_parents` is not an integer of at least 0.")
    return options

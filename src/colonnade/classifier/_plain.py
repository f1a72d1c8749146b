"""What files of classifiers have in common: options, columns and classes in plain values.

Nothing that is read is trusted: what does not fit is a `MisfitError` with its place in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from colonnade import __version__
from colonnade.classifier._classes import Classes
from colonnade.classifier._input import feature_names
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

# Keys of every file, and options of every estimator.
_KEYS = {
    *("format", "version", "colonnade", "checksum", "parameters", "columns", "named"),
    *("identifiers", "target", "classes", "objects", "declared", "bins"),
}
_OPTIONS = {
    *("unknown", "classes", "target_name", "identifiers", "prior", "bins", "class_weight"),
    "variables",
}
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a file holds: the options of an estimator, its columns, and what it has learned."""

    parameters: dict[str, Any]
    columns: list[str]
    named: bool
    learned: Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: its name, its version, and the keys and options that it alone has.

    `hint` is for files of other kinds, and `smaller` for those that would be too large.
    """

    format: str
    version: int
    keys: frozenset[str]
    options: frozenset[str]
    what: str
    hint: str
    smaller: str

    def write(self, document: dict[str, Any], path: Any, overwrite: bool) -> None:
        """Write what a file holds, a line for each key and for each part of a list of networks."""
        path = as_path(path)
        if path.suffix.lower() != ".json":
            raise expected("a name that ends in .json", "path", str(path))
        whole = {"format": self.format, "version": self.version, **document}
        whole["checksum"] = native.checksum(whole)
        lines = [f'"{key}": {_line(key, value)}' for key, value in whole.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        write_bytes(path, text.encode("ascii"), overwrite, self.smaller)

    def read(self, path: Any, make: Callable[[dict[str, Any]], _Read]) -> _Read:
        """Read a file and make something of it; one that is damaged or another is refused."""
        path = as_path(path)
        try:
            document = native.parsed(read_bytes(path))
            self._check(document)
            return make(document)
        except MisfitError as misfit:
            raise FileFormatError(str(path), misfit.place, misfit.problem, misfit.hint) from None

    def _check(self, document: Any) -> None:
        if not isinstance(document, dict) or document.get("format") != self.format:
            raise MisfitError("format", f"it is not a {self.what} saved by Colonnade.", self.hint)
        if document.get("version") != self.version:
            problem = f"only version {self.version} is known."
            raise MisfitError("version", problem, "update Colonnade")
        if document.get("checksum") != native.checksum(document):
            hint = "the file is damaged or was changed by hand; take it from a copy, or fit again"
            raise MisfitError("checksum", "it does not fit the content.", hint)
        keys = _KEYS | self.keys
        if wrong := sorted(keys ^ set(document)):
            problem = "is missing" if wrong[0] in keys else "does not belong here"
            raise MisfitError("", f"{wrong[0][:80]!r} {problem}.")

    def options_in(
        self, plain: Any, own: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        """Turn plain values into options, most of which are checked when they are used.

        `own` turns those of this kind of estimator.
        """
        known = _OPTIONS | self.options
        # Files of earlier versions declare no variables.
        if not isinstance(plain, dict) or {*plain, "variables"} != known:
            raise InputError(f"they are not those of a {self.what}.")
        options = own({"variables": None, **plain})
        if isinstance(options["prior"], dict):
            options["prior"] = restored(options["prior"])
        if options["variables"] is not None:
            options["variables"] = _declared(options["variables"])
        if isinstance(options["class_weight"], list):
            options["class_weight"] = _class_weight(options["class_weight"])
        if isinstance(options["bins"], dict):
            if set(options["bins"]) == {"default", "columns"}:
                options["bins"] = bins_in(options["bins"])
            else:
                options["bins"] = _columns(options["bins"])
        return options


def _line(key: str, value: Any) -> str:
    if key != "members":
        return json.dumps(value, allow_nan=False)
    return "[\n  " + ",\n  ".join(json.dumps(each, separators=(",", ":")) for each in value) + "\n]"


def common(
    estimator: BaseEstimator,
    parameters: dict[str, Any],
    classes: Classes,
    identifiers: tuple[str, ...],
    bins: Bins,
) -> dict[str, Any]:
    """What every file holds, but for its format and its checksum."""
    return {
        "colonnade": __version__,
        "parameters": parameters,
        "columns": feature_names(estimator),
        "named": getattr(estimator, "feature_names_in_", None) is not None,
        "identifiers": list(identifiers),
        "target": classes.name,
        "classes": classes.labels.tolist(),
        "objects": classes.labels.dtype.kind == "O",
        "declared": classes.declared,
        "bins": _plain_bins(bins),
    }


def plain_options(estimator: BaseEstimator) -> dict[str, Any]:
    """The options of an estimator, those that all have in plain values."""
    options: dict[str, Any] = estimator.get_params(deep=False)
    if options["prior"] is not None and not isinstance(options["prior"], str):
        options["prior"] = saved(options["prior"])
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
        options["bins"] = plain_columns(options["bins"])
    elif options["bins"] is not None:
        options["bins"] = int(options["bins"])
    return options


def _plain_bins(bins: Bins) -> dict[str, Any]:
    return {"default": bins.default, "columns": plain_columns(bins.columns)}


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """How single columns are cut, in plain values: where, if a user says so."""
    return {name: _plain_cuts(own) for name, own in columns.items()}


def _plain_cuts(own: Any) -> Any:
    if isinstance(own, Cuts):
        return {"points": own.points, "states": own.states}
    if own is None:
        return None
    return np.asarray(list(own) if isinstance(own, Iterable) else own).tolist()


def names_in(document: dict[str, Any], key: str) -> list[str]:
    """A list of names."""
    found = document[key]
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise MisfitError(key, "it is not a list of names.")
    return found


def network_in(document: Any, place: str) -> BayesianNetwork:
    """A network, whose errors begin with its place."""
    try:
        return native.restored(document)
    except MisfitError as misfit:
        inner = f"{place}.{misfit.place}" if misfit.place else place
        raise MisfitError(inner, misfit.problem, misfit.hint) from None


def classes_in(document: dict[str, Any], declared: Mapping[str, Variable]) -> Classes:
    """The classes, with other values that stand for them if they were declared."""
    labels, name = document["classes"], document["target"]
    kinds = {type(label) for label in labels} if isinstance(labels, list) else set()
    if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        raise MisfitError("classes", "it is not a list of labels of one kind.")
    if not isinstance(name, str) or type(document["declared"]) is not bool:
        raise MisfitError("target", "it is not a name.")
    array = np.array(labels, dtype=object if document["objects"] is True else None)
    spellings = declared[name].spellings if name in declared else {}
    return Classes(name, array, document["declared"], spellings)


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


def bins_in(plain: Any) -> Bins:
    """How columns are cut."""
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

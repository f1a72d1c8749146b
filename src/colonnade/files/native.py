"""The native file: JSON that loses nothing and is checked when it is read.

A file is one object with ``format``, ``version``, ``colonnade`` (the package version that wrote
it), ``checksum``, ``variables`` (names and states; JSON keeps apart 1, true and "1"; perhaps
``spellings``, pairs of a value and the state that it stands for), ``arcs``
(pairs of positions in ``variables``), ``tables`` (one for each variable), ``discretizer`` (cut
points, or null), ``em`` (how EM went, or null; not in version 1) and, if rows belong to groups,
``group`` (the position of the group variable); and ``origin``, if it is known how the graph was
learned. A table has

- ``prior``: its class, its parameters and its engine, or null for a table that was given;
- ``codes``: the parent codes of the configurations stored, null if all of them are;
- ``counts``: their counts, integers or numbers with a decimal point, or null;
- ``rows`` and ``default``: the probabilities of these configurations, and of any other;
- ``effects``, only if it is a known noisy-max table: the effects of single parents. It has no rows.

The probabilities are stored although they follow from the counts and the prior: so a file loads
without repeating the estimation, and shows the same digits wherever it is loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from colonnade import __version__
from colonnade.cpt import Cpt
from colonnade.exceptions import Advice, NotSupportedError
from colonnade.files.misfit import MisfitError
from colonnade.files.schema import network_of
from colonnade.network import BayesianNetwork
from colonnade.network.counts import NetworkCounts
from colonnade.priors import saved, saved_effects
from colonnade.variables import Variable

SUFFIX = ".json"
_FORMAT = "colonnade network"
# What files of forests and classifiers, which hold networks, and of counts say instead.
FOREST_FORMAT = "colonnade forest"
CLASSIFIER_FORMAT = "colonnade classifier"
COUNTS_FORMAT = "colonnade counts"
_VERSION = 2
_ADVICE: dict[Any, str] = {
    FOREST_FORMAT: Advice.LOAD_FOREST,
    CLASSIFIER_FORMAT: Advice.LOAD_CLASSIFIER,
    COUNTS_FORMAT: Advice.FIT_COUNTS,
}


def render(network: BayesianNetwork) -> str:
    """The text of a file, in ASCII."""
    return written(document_of(network))


def written(document: dict[str, Any]) -> str:
    """A document as text, in ASCII."""
    lines = ["{"]
    for key, value in document.items():
        if key in ("variables", "tables"):
            # A line for each variable and for each table: readable and still compact.
            inner = ",\n  ".join(json.dumps(item, separators=(",", ":")) for item in value)
            lines.append(f'"{key}": [\n  {inner}\n],')
        else:
            lines.append(f'"{key}": {json.dumps(value, separators=(",", ":"), allow_nan=False)},')
    return "\n".join(lines)[:-1] + "\n}\n"


def parse(content: bytes) -> BayesianNetwork:
    """The network in the content of a file, all of it checked, or a `MisfitError`."""
    return restored(parsed(content))


def restored(document: Any) -> BayesianNetwork:
    """The network of a document, all of it checked, or a `MisfitError`."""
    check_head(document, _FORMAT, _VERSION)
    return network_of(document)


def document_of(network: BayesianNetwork) -> dict[str, Any]:
    """Everything a file holds, as plain values."""
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        **frame_of(network),
        "tables": [_table(network[name]) for name in network],
        "em": None if network.diagnostics is None else asdict(network.diagnostics),
    }
    if network.origin is not None:
        document["origin"] = asdict(network.origin)
    return document | {"checksum": checksum(document)}


def frame_of(network: BayesianNetwork | NetworkCounts) -> dict[str, Any]:
    """What files of networks and of counts have in common."""
    place = {name: k for k, name in enumerate(network.dag.variables)}
    cutter = network.discretizer
    frame = {
        "colonnade": __version__,
        "variables": [plain_variable(variable) for variable in network.variables],
        "arcs": [[place[parent], place[child]] for parent, child in network.dag.arcs],
        "discretizer": None if cutter is None else cutter.to_dict(),
    }
    return frame if network.group is None else frame | {"group": place[network.group]}


def plain_variable(variable: Variable) -> dict[str, Any]:
    """Write a variable in plain values."""
    record: dict[str, Any] = {"name": variable.name, "states": list(variable.states)}
    # Pairs, because keys of JSON are texts and these need not be.
    pairs = [list(pair) for pair in variable.spellings.items()]
    return record | {"spellings": pairs} if pairs else record


def _table(cpt: Cpt) -> dict[str, Any]:
    table = cpt.table
    if cpt.counts is not None and not np.array_equal(cpt.counts.codes, table.codes):
        reason = "its counts and its probabilities are of different configurations"
        raise NotSupportedError(f"Saving the table of {cpt.family.child.name!r}", reason)
    effects = cpt.effects if cpt.counts is None else None
    if cpt.counts is None and table.fallback is not None and effects is None:
        reason = "it has no counts, and its rows are too many to be listed"
        hint = "save the network it was taken from"
        raise NotSupportedError(f"Saving the table of {cpt.family.child.name!r}", reason, hint)
    complete = len(table.rows) == table.configurations
    record = {
        "prior": None if cpt.prior is None else saved(cpt.prior),
        "codes": None if complete else table.codes.tolist(),
        "counts": None if cpt.counts is None else cpt.counts.values.tolist(),
        "rows": table.rows.tolist(),
        "default": None if table.default is None else table.default.tolist(),
    }
    return record if effects is None else record | {"effects": saved_effects(effects)}


def checksum(document: dict[str, Any]) -> str:
    """Of the values, whatever the layout of the file and the order of its keys."""
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def parsed(content: bytes) -> Any:
    """JSON, and nothing that only Python takes for JSON."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key is given twice")
        return found

    def constant(token: str) -> Any:
        raise ValueError(f"{token} is not a number")

    def number(token: str) -> float:
        value = float(token)
        if value in (float("inf"), float("-inf")):
            raise ValueError(f"the number {token[:20]} is too large")
        return value

    try:
        text = content.decode("utf-8-sig")  # some editors mark the encoding
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=constant, parse_float=number
        )
    except UnicodeDecodeError as error:
        raise MisfitError(f"byte {error.start}", "it is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        hint = "the file is damaged or was not written completely; take it from a copy"
        # "Unterminated string starting at" expects a place to follow, which we name before.
        problem = error.msg.removesuffix(" starting at")
        problem = f"it is not JSON ({problem[:1].lower()}{problem[1:]})."
        raise MisfitError(place, problem, hint) from None
    except RecursionError:
        raise MisfitError("", "its values are nested too deeply.") from None
    except ValueError as error:
        # Among them integers with more digits than Python reads.
        raise MisfitError("", f"{error}.") from None


def check_head(document: Any, wanted: str, newest: int) -> None:
    """Refuse a document of another format or of a newer version, and one that is damaged."""
    found = document.get("format") if isinstance(document, dict) else None
    if found != wanted:
        hint: str = "give a file of another program the ending of its own format"
        if wanted == COUNTS_FORMAT:
            problem, hint = "it is not a file of counts saved by Colonnade.", Advice.SAVE_COUNTS
            raise MisfitError("format", problem, hint)
        if found in _ADVICE:
            hint = _ADVICE[found]
        raise MisfitError("format", "it is not a network saved by Colonnade.", hint)
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise MisfitError("version", "it is not an integer of at least 1.")
    if version > newest:
        hint = "update Colonnade"
        problem = f"version {version} of the format is newer than {newest}, the newest known."
        raise MisfitError("version", problem, hint)
    if document.get("checksum") != checksum(document):
        hint = "the file is damaged or was changed by hand; take it from a copy, or fit again"
        raise MisfitError("checksum", "it does not fit the content.", hint)

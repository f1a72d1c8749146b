"""The native file: JSON that loses nothing and is checked when it is read.

A file is one object with ``format``, ``version``, ``colonnade`` (the package version that wrote
it), ``checksum``, ``variables`` (names and states; JSON keeps apart 1, true and "1"), ``arcs``
(pairs of positions in ``variables``), ``tables`` (one for each variable), ``discretizer`` (cut
points, or null) and ``em`` (how EM went, or null; not in version 1). A table has

- ``prior``: its class, its parameters and its engine, or null for a table that was given;
- ``codes``: the parent codes of the configurations stored, null if all of them are;
- ``counts``: their counts, whole numbers or numbers with a point, or null;
- ``rows`` and ``default``: the probabilities of these configurations, and of any other.

The probabilities are stored although they follow from the counts and the prior: so a file loads
without repeating the estimation, and shows the same digits wherever it is loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from colonnade import __version__
from colonnade.cpt import Cpt
from colonnade.exceptions import FileFormatError, NotSupportedError, expected
from colonnade.files.disk import as_path, read_bytes, write_bytes
from colonnade.files.schema import ENGINES, PRIORS, MisfitError, network_of
from colonnade.network import BayesianNetwork

if TYPE_CHECKING:
    import os

__all__ = ["load", "save"]

_FORMAT = "colonnade network"
_VERSION = 2


def save(network: BayesianNetwork, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a network to a file of the native format, from which nothing is lost.

    Typed states, counts, priors, tables, cut points and diagnostics are kept exactly. The file is
    written under another name and then renamed, so a failure leaves no half of it.

    Parameters
    ----------
    network : BayesianNetwork
    path : path
        Ends in ``.json``; its folder exists.
    overwrite : bool, optional
        Whether an existing file is replaced; by default that is an error.

    Examples
    --------
    >>> import tempfile
    >>> from colonnade import Family, Variable
    >>> from colonnade.dag import Dag
    >>> coin = Cpt.known(Family(Variable("coin", ["heads", "tails"])), [0.5, 0.5])
    >>> network = BayesianNetwork(Dag([], ["coin"]), {"coin": coin})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(network, f"{folder}/coin.json")
    ...     load(f"{folder}/coin.json") == network
    True
    """
    if not isinstance(network, BayesianNetwork):
        raise expected("a BayesianNetwork", "network", network)
    path = as_path(path)
    _check_suffix(path)
    write_bytes(path, _text(_document(network)).encode("ascii"), overwrite)


def load(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a file of the native format, and check all of it.

    Parameters
    ----------
    path : path
        Ends in ``.json``.

    Returns
    -------
    BayesianNetwork

    Raises
    ------
    FileFormatError
        If the file is damaged, was changed, or does not hold a network; it names the place.
    """
    path = as_path(path)
    _check_suffix(path)
    name = str(path)
    document = _parsed(name, read_bytes(path))
    _check_head(name, document)
    try:
        return network_of(document)
    except MisfitError as misfit:
        raise FileFormatError(name, misfit.place, misfit.problem) from None


def _document(network: BayesianNetwork) -> dict[str, Any]:
    """Everything a file holds but its checksum, as plain values."""
    place = {name: k for k, name in enumerate(network.dag.variables)}
    cutter = network.discretizer
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "colonnade": __version__,
        "variables": [{"name": v.name, "states": list(v.states)} for v in network.variables],
        "arcs": [[place[parent], place[child]] for parent, child in network.dag.arcs],
        "tables": [_table(network[name]) for name in network],
        "discretizer": None if cutter is None else cutter.to_dict(),
        "em": None if network.diagnostics is None else asdict(network.diagnostics),
    }


def _table(cpt: Cpt) -> dict[str, Any]:
    table = cpt.table
    if cpt.counts is not None and not np.array_equal(cpt.counts.codes, table.codes):
        reason = "its counts and its probabilities are of different configurations"
        raise NotSupportedError(f"Saving the table of {cpt.family.child.name!r}", reason)
    complete = len(table.rows) == table.configurations
    return {
        "prior": None if cpt.prior is None else _plain(cpt.prior, PRIORS),
        "codes": None if complete else table.codes.tolist(),
        "counts": None if cpt.counts is None else cpt.counts.values.tolist(),
        "rows": table.rows.tolist(),
        "default": None if table.default is None else table.default.tolist(),
    }


def _plain(value: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    """A prior or an engine as its class and its parameters."""
    kind = type(value).__name__
    if kinds.get(kind) is not type(value) or not is_dataclass(value):
        hint = f"use one of {', '.join(kinds)}"
        raise NotSupportedError(f"Saving {value!r}", "files do not know its class", hint)
    plain: dict[str, Any] = {"class": kind}
    for own in fields(value):
        part = getattr(value, own.name)
        if own.name == "engine":
            part = None if part is None else _plain(part, ENGINES)
        plain[own.name] = list(part) if isinstance(part, tuple) else part
    return plain


def _text(document: dict[str, Any]) -> str:
    """The file: a line for each variable and for each table, readable and still compact."""
    lines = ["{"]
    for key, value in {**document, "checksum": _checksum(document)}.items():
        if key in ("variables", "tables"):
            inner = ",\n  ".join(json.dumps(item, separators=(",", ":")) for item in value)
            lines.append(f'"{key}": [\n  {inner}\n],')
        else:
            lines.append(f'"{key}": {json.dumps(value, separators=(",", ":"), allow_nan=False)},')
    return "\n".join(lines)[:-1] + "\n}\n"


def _checksum(document: dict[str, Any]) -> str:
    """Of the values, whatever the layout of the file and the order of its keys."""
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _parsed(path: str, content: bytes) -> Any:
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
        text = content.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=constant, parse_float=number
        )
    except UnicodeDecodeError as error:
        raise FileFormatError(path, f"byte {error.start}", "it is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        hint = "the file is damaged or was not written completely; take it from a copy"
        raise FileFormatError(path, place, f"it is not JSON ({error.msg}).", hint) from None
    except RecursionError:
        raise FileFormatError(path, "", "its values are nested too deeply.") from None
    except ValueError as error:
        # Among them integers with more digits than Python reads.
        raise FileFormatError(path, "", f"{error}.") from None


def _check_head(path: str, document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        hint = "convert files of other programs with import_network"
        raise FileFormatError(path, "format", "it is not a network saved by Colonnade.", hint)
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise FileFormatError(path, "version", "it is not a whole number from 1.")
    if version > _VERSION:
        hint = "update Colonnade"
        problem = f"version {version} of the format is newer than {_VERSION}, the newest known."
        raise FileFormatError(path, "version", problem, hint)
    if document.get("checksum") != _checksum(document):
        hint = "the file is damaged or was changed by hand; take it from a copy, or fit again"
        raise FileFormatError(path, "checksum", "it does not fit the content.", hint)


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() != ".json":
        hint = "other formats are read by import_network and written by export"
        raise expected("a name that ends in .json", "path", str(path), hint)

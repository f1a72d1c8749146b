"""Networks in files: the native format, which loses nothing, and those of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colonnade.exceptions import expected
from colonnade.files.disk import as_path
from colonnade.files.drafts import FormatWarning
from colonnade.files.interchange import Dialect, export, import_network
from colonnade.files.native import load, save
from colonnade.files.objects import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum

if TYPE_CHECKING:
    import os

    from colonnade.network import BayesianNetwork

__all__ = [
    "FormatWarning",
    "export",
    "from_pgmpy",
    "from_pyagrum",
    "import_network",
    "load",
    "read",
    "save",
    "to_pgmpy",
    "to_pyagrum",
    "write",
]


def read(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a file of any format, chosen by the ending of the name.

    Parameters
    ----------
    path : path
        Ends in ``.json`` (native; see :func:`load`) or as :func:`import_network` wants it.

    Returns
    -------
    BayesianNetwork
    """
    return load(path) if _native(path) else import_network(path)


def write(
    network: BayesianNetwork,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    dialect: Dialect = "standard",
) -> None:
    """Write a network to a file of any format, chosen by the ending of the name.

    Parameters
    ----------
    network : BayesianNetwork
    path : path
        Ends in ``.json`` (native; see :func:`save`) or as :func:`export` wants it.
    overwrite : bool, optional
        Whether an existing file is replaced; by default that is an error.
    dialect : {"standard", "agrum"}, optional
        As for :func:`export`; the native format has no dialects.
    """
    if not _native(path):
        export(network, path, overwrite, dialect)
    elif dialect != "standard":
        raise expected("'standard' with a native file", "dialect", dialect)
    else:
        save(network, path, overwrite)


def _native(path: str | os.PathLike[str]) -> bool:
    return as_path(path).suffix.lower() == ".json"

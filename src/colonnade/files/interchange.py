"""Networks in the formats of other programs: BIF, XMLBIF, NET, XDSL and UAI.

Files hold graph, states and probabilities with all their digits; counts and priors stay behind.
Names that a format cannot hold are encoded (:mod:`colonnade.files.names`), and come back when
the file is read here; one warning a file says so.

pyAgrum reads and writes these formats too, and is the independent check in the tests. It is not
used here because (3.3) it writes six digits in three of the formats and reads single precision in
three, orders the parents in XDSL and UAI against the definition of these formats, and refuses
states such as ``<5`` that are common in BIF files. Its files in these two are recognised and read
as it means them, and ``dialect="agrum"`` writes them for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from colonnade.exceptions import FileFormatError, expected, listing
from colonnade.files import bif, net, uai, xdsl, xmlbif
from colonnade.files.disk import as_path, read_bytes, write_bytes
from colonnade.files.drafts import Draft, DraftError, FormatWarning, assemble, sketch
from colonnade.files.names import Alphabet
from colonnade.files.objects import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
from colonnade.network import BayesianNetwork

if TYPE_CHECKING:
    import os

__all__ = [
    "SUFFIXES",
    "Dialect",
    "export",
    "from_pgmpy",
    "from_pyagrum",
    "import_network",
    "to_pgmpy",
    "to_pyagrum",
]


Dialect = Literal["standard", "agrum"]


class _Format(NamedTuple):
    name: str
    alphabet: Alphabet
    write: Callable[[Sequence[Draft]], str]
    read: Callable[[bytes, list[str]], list[Draft]]
    # None where aGrUM understands the format as everybody does.
    write_for_agrum: Callable[[Sequence[Draft]], str] | None = None


def _text(content: bytes) -> str:
    # Files of older programs are not in UTF-8; Latin-1 reads any byte.
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


_BIF = _Format("BIF", bif.ALPHABET, bif.write, lambda content, _: bif.read(_text(content)))
_NET = _Format("NET", net.ALPHABET, net.write, lambda content, _: net.read(_text(content)))
_XMLBIF = _Format("XMLBIF", xmlbif.ALPHABET, xmlbif.write, lambda content, _: xmlbif.read(content))
_XDSL = _Format("XDSL", xdsl.ALPHABET, xdsl.write, xdsl.read, xdsl.write_for_agrum)
_UAI = _Format(
    "UAI",
    uai.ALPHABET,
    uai.write,
    lambda content, notes: uai.read(_text(content), notes),
    uai.write_for_agrum,
)
_FORMATS = {
    ".bif": _BIF,
    ".net": _NET,
    ".xmlbif": _XMLBIF,
    ".bifxml": _XMLBIF,
    ".xml": _XMLBIF,
    ".xdsl": _XDSL,
    ".uai": _UAI,
}
SUFFIXES = tuple(_FORMATS)


def export(
    network: BayesianNetwork,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    dialect: Dialect = "standard",
) -> None:
    """Write a network in the format of another program, chosen by the ending of the name.

    Parameters
    ----------
    network : BayesianNetwork
        Only its graph, states and probabilities are written, the latter in full.
    path : path
        Ends in ``.bif``, ``.xmlbif``, ``.bifxml``, ``.xml`` (XMLBIF), ``.net``, ``.xdsl`` or
        ``.uai``.
    overwrite : bool, optional
        Whether an existing file is replaced; by default that is an error.
    dialect : {"standard", "agrum"}, optional
        Who is to read the file: programs that keep to the definition of the format, or aGrUM and
        pyAgrum. It matters in XDSL and UAI, where these (3.3) order parents in their own way; the
        other formats they read as everybody does. :func:`import_network` tells both apart.

    Warns
    -----
    FormatWarning
        Once, if names had to be encoded (or, in UAI, left out).

    Raises
    ------
    TooLargeError
        If the tables are too large to be written in full.

    Examples
    --------
    >>> import tempfile
    >>> from colonnade import Family, Variable
    >>> from colonnade.cpt import Cpt
    >>> from colonnade.dag import Dag
    >>> coin = Cpt.known(Family(Variable("coin", ["heads", "tails"])), [0.5, 0.5])
    >>> network = BayesianNetwork(Dag([], ["coin"]), {"coin": coin})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(network, f"{folder}/coin.bif")
    ...     import_network(f"{folder}/coin.bif") == network
    True
    """
    if not isinstance(network, BayesianNetwork):
        raise expected("a BayesianNetwork", "network", network)
    if dialect not in get_args(Dialect):
        raise expected("'standard' or 'agrum'", "dialect", dialect)
    path = as_path(path)
    form = _format(path)
    drafts, encoded = sketch(network, form.alphabet)
    write = form.write_for_agrum if dialect == "agrum" else None
    write_bytes(path, (write or form.write)(drafts).encode("utf-8"), overwrite)
    if form is _UAI:
        problem = "UAI holds no names; variables and states are numbered in their order"
        warnings.warn(f"File {path.name!r}: {problem}.", FormatWarning, stacklevel=2)
    elif encoded:
        text, written = next(iter(encoded.items()))
        warnings.warn(
            f"File {path.name!r}: {len(encoded)} names or states that {form.name} cannot hold were "
            f"encoded, for example {text!r} as {written!r}. Colonnade decodes them.",
            FormatWarning,
            stacklevel=2,
        )


def import_network(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a file of another program, chosen by the ending of the name.

    Parameters
    ----------
    path : path
        As for :func:`export`.

    Returns
    -------
    BayesianNetwork
        Its tables are known: they have no counts and no prior.

    Warns
    -----
    FormatWarning
        Once, if rows had to be rescaled to sum to one, if the file holds no names, or if it
        was written in another order than its format demands.

    Raises
    ------
    FileFormatError
        If the file is damaged, contradicts itself, or holds more than a network of discrete
        variables; it names the place.
    """
    path = as_path(path)
    form = _format(path)
    content = read_bytes(path)
    notes: list[str] = []
    try:
        network = assemble(form.read(content, notes), notes)
    except DraftError as error:
        raise FileFormatError(str(path), error.place, error.problem) from None
    if notes:
        more = f" (and {len(notes) - 3} more of this kind)" if len(notes) > 3 else ""
        text = "; ".join(notes[:3]) + more
        warnings.warn(f"File {path.name!r}: {text}.", FormatWarning, stacklevel=2)
    return network


def _format(path: Path) -> _Format:
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        what = f"a name that ends in one of {listing(SUFFIXES)}"
        raise expected(what, "path", str(path), "native .json files: use save and load")
    return found

"""All file formats in one list; `load` and `save` choose one by the ending of a name.

pyAgrum reads and writes the formats of other programs too, and is the independent check in the
tests. It is not used here because it loses digits and orders the parents in XDSL and UAI against
the definition of these formats. Such files of it are recognised and read as it means them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

from colonnade.exceptions import FileFormatError, expected, inapplicable
from colonnade.files import bif, native, net, uai, xdsl, xmlbif
from colonnade.files.assembly import assemble
from colonnade.files.disk import as_path, read_bytes, write_bytes
from colonnade.files.drafts import Dialect, Format, sketch, tell
from colonnade.files.misfit import MisfitError
from colonnade.network import BayesianNetwork

# The formats of other programs; a new one is a module and a name in this list.
FORMATS: tuple[Format, ...] = (bif.FORMAT, net.FORMAT, xmlbif.FORMAT, xdsl.FORMAT, uai.FORMAT)
_BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
SUFFIXES = (native.SUFFIX, *_BY_SUFFIX)
SUFFIXES_WITH_DIALECTS = tuple(suffix for suffix, form in _BY_SUFFIX.items() if form.dialects)


def load(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a file of any format, chosen by the ending of its name.

    Parameters
    ----------
    path : path
        Ends in ``.json`` (the native format), ``.bif``, ``.net``, ``.xmlbif``, ``.bifxml`` or
        ``.xml`` (XMLBIF), ``.xdsl`` or ``.uai``.

    Returns
    -------
    BayesianNetwork
        From a native file, equal to the one that was saved. From any other, with tables that are
        known: they have no counts and no prior.

    Warns
    -----
    FormatWarning
        Once, if rows of a file of another program had to be rescaled to sum to one, if the file
        holds no names, or if it was written in another order than its format demands.

    Raises
    ------
    FileFormatError
        If the file is damaged, contradicts itself, or holds something other than a network of
        discrete variables; it names the place.

    Examples
    --------
    >>> import tempfile
    >>> from colonnade import Cpt, Dag, Family, Variable
    >>> coin = Cpt.known(Family(Variable("coin", ["heads", "tails"])), [0.5, 0.5])
    >>> network = BayesianNetwork(Dag([], ["coin"]), {"coin": coin})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(network, f"{folder}/coin.bif")
    ...     load(f"{folder}/coin.bif") == network
    True
    """
    path = as_path(path)
    form = format_of(path)
    content = read_bytes(path)
    try:
        if form is None:
            return native.parse(content)
        network, notes = assemble(form.parse(content))
    except MisfitError as misfit:
        raise FileFormatError(str(path), misfit.place, misfit.problem, misfit.hint) from None
    tell(f"File {path.name!r}", notes)
    return network


def save(
    network: BayesianNetwork,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    dialect: Dialect = "standard",
) -> None:
    """Write a network to a file of any format, chosen by the ending of its name.

    The native format keeps everything: typed states, counts, priors, tables, cut points and how EM
    went. The others keep graph, states and probabilities, the latter with all their digits. The
    file is written under another name and then renamed, so a failure leaves no half of it.

    Parameters
    ----------
    network : BayesianNetwork
    path : path
        Ends in ``.json`` (the native format), ``.bif``, ``.net``, ``.xmlbif``, ``.bifxml`` or
        ``.xml`` (XMLBIF), ``.xdsl`` or ``.uai``; its folder exists.
    overwrite : bool, optional
        Whether an existing file is replaced; by default that is an error.
    dialect : {"standard", "agrum"}, optional
        Who is to read a file of the formats XDSL and UAI: programs that keep to the definition, or
        aGrUM and pyAgrum (3.3), which order parents in their own way. :func:`load` recognises both.
        The other formats have no dialects, and ``"agrum"`` is an error.

    Warns
    -----
    FormatWarning
        Once, if names had to be encoded (or, in UAI, left out).

    Raises
    ------
    TooLargeError
        If the tables are too large to be written in full, as all formats but the native one need.

    Examples
    --------
    >>> import tempfile
    >>> from colonnade import Dag, fit
    >>> network = fit({"x": ["a", "b"]}, Dag([], ["x"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(network, f"{folder}/model.json")
    ...     save(network, f"{folder}/model.net")
    ...     load(f"{folder}/model.json")["x"].counts, load(f"{folder}/model.net")["x"].counts
    (FamilyCounts(...), None)
    """
    if not isinstance(network, BayesianNetwork):
        raise expected("a BayesianNetwork", "network", network)
    if dialect not in get_args(Dialect):
        raise expected("'standard' or 'agrum'", "dialect", dialect)
    path = as_path(path)
    form = format_of(path)
    if dialect != "standard" and (form is None or dialect not in form.dialects):
        endings = " and ".join(SUFFIXES_WITH_DIALECTS)
        raise inapplicable("dialect", dialect, f"{endings} files", "leave it out")
    if form is None:
        text, notes = native.render(network), []
    else:
        effects = form.effects and dialect == "standard"
        draft = sketch(network, form.spelling, form.name, effects=effects)
        text = (form.render if dialect == "standard" else form.dialects[dialect])(draft)
        notes = [form.lost] if form.lost else draft.notes
    write_bytes(path, text.encode("utf-8"), overwrite)
    tell(f"File {path.name!r}", notes)


def format_of(path: Path) -> Format | None:
    """The format of another program that a name stands for, or None for the native one."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise expected(f"a name that ends in one of {', '.join(SUFFIXES)}", "path", str(path))
    return _BY_SUFFIX.get(suffix)

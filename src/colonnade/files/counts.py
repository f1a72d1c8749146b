"""Files of counts: JSON as that of networks, with counts in the place of tables.

A table has ``codes`` and ``counts`` as in a file of a network; there are no priors, and no
probabilities.
"""

from __future__ import annotations

import os
from typing import Any

from colonnade.exceptions import FileFormatError, NotSupportedError, expected
from colonnade.files import native
from colonnade.files.disk import as_path, read_bytes, write_bytes
from colonnade.files.misfit import MisfitError
from colonnade.files.schema import counts_of
from colonnade.network.counts import NetworkCounts

_VERSION = 1


def save_counts(counts: NetworkCounts, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Write counts to a file, as a whole or not at all."""
    file = as_path(path)
    if file.suffix.lower() != native.SUFFIX:
        raise expected(f"a name that ends in {native.SUFFIX}", "path", str(path))
    if counts.fixed:
        what = "Saving the counts of a network with known tables"
        raise NotSupportedError(what, f"{next(iter(counts.fixed))!r} has none")
    document: dict[str, Any] = {
        "format": native.COUNTS_FORMAT,
        "version": _VERSION,
        **native.frame_of(counts),
        "tables": [
            {
                "codes": None if each.observed == each.configurations else each.codes.tolist(),
                "counts": each.values.tolist(),
            }
            for each in counts.counts
        ],
    }
    document["checksum"] = native.checksum(document)
    write_bytes(file, native.written(document).encode("ascii"), overwrite)


def load_counts(path: str | os.PathLike[str]) -> NetworkCounts:
    """Read counts from a file, all of it checked."""
    file = as_path(path)
    try:
        document = native.parsed(read_bytes(file))
        native.check_head(document, native.COUNTS_FORMAT, _VERSION)
        return counts_of(document)
    except MisfitError as misfit:
        raise FileFormatError(str(path), misfit.place, misfit.problem, misfit.hint) from None


def holds_counts(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it holds counts."""
    file = as_path(path)
    if file.suffix.lower() != native.SUFFIX or not file.is_file():
        return False
    with file.open("rb") as stream:
        return native.COUNTS_FORMAT.encode() in stream.read(200)

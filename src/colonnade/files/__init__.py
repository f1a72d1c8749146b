"""Networks in files: the native format, which loses nothing, and those of other programs."""

from colonnade.files.drafts import Dialect, FormatWarning
from colonnade.files.objects import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
from colonnade.files.registry import SUFFIXES, load, save

__all__ = [
    "SUFFIXES",
    "Dialect",
    "FormatWarning",
    "from_pgmpy",
    "from_pyagrum",
    "load",
    "save",
    "to_pgmpy",
    "to_pyagrum",
]

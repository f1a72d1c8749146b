"""What makes up the file format of another program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from colonnade.files.drafts import Draft
from colonnade.files.names import Alphabet

Dialect = Literal["standard", "agrum"]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of graph, states and probabilities.

    Parameters
    ----------
    name : str
        As messages call it.
    suffixes : tuple of str
        How the names of its files end, in lower case.
    alphabet : Alphabet
        Which names and states it holds; all others are encoded.
    parse : callable
        From the content of a file to a draft; raises `MisfitError`.
    render : callable
        From a draft to the text of a file.
    dialects : mapping of str to callable, optional
        Other ways to render, by the name of the dialect.
    lost : str, optional
        What every file of the format lacks; each time one is written, a warning says so.
    """

    name: str
    suffixes: tuple[str, ...]
    alphabet: Alphabet
    parse: Callable[[bytes], Draft]
    render: Callable[[Draft], str]
    dialects: Mapping[Dialect, Callable[[Draft], str]] = field(default_factory=dict)
    lost: str = ""

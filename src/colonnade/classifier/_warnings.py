"""What a classifier warns of."""

from __future__ import annotations

__all__ = ["ImpossibleRowWarning", "UnknownStateWarning"]


class UnknownStateWarning(UserWarning):
    """Values that did not occur in training were treated as missing."""


class ImpossibleRowWarning(UserWarning):
    """Rows have probability zero with every class."""

"""What a classifier warns of, at the line of whoever called it."""

from __future__ import annotations

import sys
import warnings

__all__ = ["ImpossibleRowWarning", "UnknownStateWarning", "warn"]


class UnknownStateWarning(UserWarning):
    """Values that did not occur in training were treated as missing."""


class ImpossibleRowWarning(UserWarning):
    """Rows have probability zero with every class."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and name the first line outside this package as the place.

    Parameters
    ----------
    message : str
    category : type of Warning
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

"""The one door to pyAgrum, which must be loaded with care."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["load_pyagrum"]


def load_pyagrum() -> Any:
    """Import pyAgrum on first use."""
    with warnings.catch_warnings():
        # Its C layer warns while it loads, and crashes the interpreter if that is an error.
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    return pyagrum

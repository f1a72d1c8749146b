"""Pictures and pages: a network in one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colonnade.report.classification import HeldOut as HeldOut
    from colonnade.report.classification import held_out as held_out
    from colonnade.report.page import describe as describe
    from colonnade.report.page import write as write

__all__ = ["HeldOut", "describe", "held_out", "write"]
_HOMES = {"HeldOut": "classification", "held_out": "classification"}


def __getattr__(name: str) -> Any:
    # A picture in a notebook must not wait for what only pages need.
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'colonnade.report' has no attribute {name!r}")
    home = importlib.import_module(f"colonnade.report.{_HOMES.get(name, 'page')}")
    return getattr(home, name)

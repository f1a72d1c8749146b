"""From tables of any kind to coded columns and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colonnade.tables.bins import Bins as Bins
    from colonnade.tables.coded import CodedTable as CodedTable
    from colonnade.tables.cuts import Cuts as Cuts
    from colonnade.tables.discretizing import Discretized as Discretized
    from colonnade.tables.discretizing import Discretizer as Discretizer
    from colonnade.tables.discretizing import discretize as discretize
    from colonnade.tables.files import read as read
    from colonnade.tables.inspection import Inspection as Inspection
    from colonnade.tables.inspection import inspect as inspect
    from colonnade.tables.memory import encode as encode
    from colonnade.tables.scanning import Scanned as Scanned
    from colonnade.tables.scanning import scan as scan
    from colonnade.tables.scoring import row_log_probability as row_log_probability
    from colonnade.tables.summaries import ColumnSummary as ColumnSummary

# The module that each name lives in.
_ROOMS = {
    "bins": ("Bins",),
    "coded": ("CodedTable",),
    "cuts": ("Cuts",),
    "discretizing": ("Discretized", "Discretizer", "discretize"),
    "files": ("read",),
    "inspection": ("Inspection", "inspect"),
    "memory": ("encode",),
    "scanning": ("Scanned", "scan"),
    "scoring": ("row_log_probability",),
    "summaries": ("ColumnSummary",),
}
_HOMES = {name: module for module, names in _ROOMS.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    # A table of counts must not wait for what only files and data frames need.
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'colonnade.tables' has no attribute {name!r}")
    return getattr(importlib.import_module(f"colonnade.tables.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

"""From tables of any kind to coded columns and counts."""

from colonnade.tables.bins import Bins
from colonnade.tables.coded import CodedTable
from colonnade.tables.cuts import Cuts
from colonnade.tables.discretize import Discretized, Discretizer, discretize
from colonnade.tables.files import read
from colonnade.tables.inspection import Inspection, inspect
from colonnade.tables.memory import encode
from colonnade.tables.scanning import Scanned, scan
from colonnade.tables.scoring import row_log_probability
from colonnade.tables.summaries import ColumnSummary

__all__ = [
    "Bins",
    "CodedTable",
    "ColumnSummary",
    "Cuts",
    "Discretized",
    "Discretizer",
    "Inspection",
    "Scanned",
    "discretize",
    "encode",
    "inspect",
    "read",
    "row_log_probability",
    "scan",
]

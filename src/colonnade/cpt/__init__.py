"""One table of a network."""

from colonnade.cpt.table import Cpt
from colonnade.sparse import SparseTable

__all__ = ["Cpt", "SparseTable"]

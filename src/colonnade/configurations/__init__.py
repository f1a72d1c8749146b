"""Configurations of the parents of one family: their order, and the few that a table stores.

No names live here: a state of a parent is its code, from 0. The convention for the order is in
:mod:`colonnade.configurations.order`.
"""

from colonnade.configurations.order import (
    Configuration,
    all_codes,
    codes_at,
    configuration_codes,
    configuration_index,
    parent_codes,
    sort_keys,
)
from colonnade.configurations.stored import (
    MAX_DENSE_CELLS,
    Configurations,
    checked_codes,
    checked_sizes,
)

__all__ = [
    "MAX_DENSE_CELLS",
    "Configuration",
    "Configurations",
    "all_codes",
    "checked_codes",
    "checked_sizes",
    "codes_at",
    "configuration_codes",
    "configuration_index",
    "parent_codes",
    "sort_keys",
]

"""What was known beforehand, and what it is worth when rows are learned on top of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.exceptions import expected, listing, not_among
from colonnade.network.model import BayesianNetwork
from colonnade.priors import Informed, NoisyMax, Prior
from colonnade.variables import Family


def with_weight(network: BayesianNetwork, weight: Any) -> BayesianNetwork:
    """The network whose known tables are priors of a weight; see the method of the network."""
    known = [name for name, cpt in network.tables.items() if _is_known(cpt)]
    if not known:
        hint = "its tables are estimated from rows: use `update` to learn from more"
        raise expected("a network with known tables", "network", network, hint, got="none of them")
    weights = weight if isinstance(weight, Mapping) else dict.fromkeys(known, weight)
    for name in weights:
        if name not in network:
            raise not_among(network.dag.variables, "weight", name)
        if name not in known:
            what = f"variables whose tables are known, which are {listing(known)},"
            raise expected(what, "weight", name)
    tables = {
        name: _weighted(cpt, weights[name]) if name in weights else cpt
        for name, cpt in network.tables.items()
    }
    return replace(network, tables=tables, diagnostics=None)


def _is_known(cpt: Cpt) -> bool:
    """Whether a table was given, with or without a weight."""
    return cpt.prior is None or cpt.prior.reweighted(1.0) is not None


def _weighted(cpt: Cpt, weight: Any) -> Cpt:
    if cpt.counts is not None and cpt.prior is not None:
        # It has a weight, and perhaps rows learned on top of it, which stay.
        other = cpt.prior.reweighted(weight)
        assert other is not None
        return Cpt.of(cpt.family, cpt.counts, other)
    prior: Prior
    if cpt.effects is None:
        prior = Informed(tuple(map(tuple, cpt.probabilities.tolist())), weight)
    else:
        prior = NoisyMax(weight, cpt.effects)
    return Cpt.of(cpt.family, no_counts(cpt.family), prior)


def no_counts(family: Family) -> FamilyCounts:
    """Counts of a family before anything was seen."""
    codes = np.zeros((0, len(family.parents)), np.int64)
    values = np.zeros((0, family.cardinality), np.int64)
    return FamilyCounts.from_observed(family.parent_sizes, codes, values)

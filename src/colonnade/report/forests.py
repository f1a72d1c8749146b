"""Forests on a page: one member like any network, and what all of them say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from colonnade.exceptions import checked_whole, expected, inapplicable
from colonnade.network import BayesianNetwork
from colonnade.report.tables import rounded

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkClassifier, BayesianNetworkForest

# Columns and members that are listed.
_MAX_LISTED = 500


def is_forest(model: Any) -> TypeGuard[BayesianNetworkForest]:
    """Whether a model is a fitted forest; asked without loading scikit-learn."""
    return isinstance(getattr(model, "networks_", None), tuple)


def network_of(
    model: BayesianNetwork | BayesianNetworkClassifier | BayesianNetworkForest,
    member: int | None = None,
) -> BayesianNetwork:
    """Return a network: that of a classifier, or one of a forest, the one that weighs most."""
    if is_forest(model):
        return model.networks_[shown_member(model, member)]
    if member is not None:
        raise inapplicable("member", member, "forests", "leave it out")
    network = getattr(model, "network_", model)
    if not isinstance(network, BayesianNetwork):
        raise expected("a BayesianNetwork or a fitted classifier", "network", model)
    return network


def shown_member(forest: BayesianNetworkForest, member: int | None) -> int:
    """Return the place of the member that is shown: the one asked for, or that of most weight."""
    if member is None:
        return int(np.argmax(forest.weights_))
    size = len(forest.networks_)
    if checked_whole(member, "member", least=0) >= size:
        raise expected(f"a place from 0 to {size - 1}", "member", member)
    return member


def described_forest(forest: BayesianNetworkForest, member: int | None) -> dict[str, Any]:
    """Describe a forest in plain values: what its columns say of the class, and its members."""
    shown = shown_member(forest, member)
    network = forest.networks_[shown]
    place = {name: k for k, name in enumerate(network.dag.variables)}
    names = getattr(forest, "feature_names_in_", None)
    if names is None:
        names = [f"x{k}" for k in range(forest.n_features_in_)]
    shares = forest.feature_importances_
    # A column that identifies rows is none of the network.
    ranked = [k for k in np.argsort(-shares, kind="stable").tolist() if str(names[k]) in place]
    members = [
        {
            "weight": rounded(weight),
            "arcs": len(each.dag.arcs),
            "cells": sum(cpt.table.rows.size for cpt in each.tables.values()),
        }
        for each, weight in zip(forest.networks_, forest.weights_, strict=True)
    ]
    return {
        "target": place[forest.target_name_],
        "shown": shown,
        "members": members[:_MAX_LISTED],
        "number": len(members),
        "importances": [[place[str(names[k])], rounded(shares[k])] for k in ranked[:_MAX_LISTED]],
        "left_out": max(len(ranked) - _MAX_LISTED, 0),
    }

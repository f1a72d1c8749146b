"""How much each feature says about the class, by itself."""

from __future__ import annotations

import numpy as np

from colonnade.arrays import Floats
from colonnade.network import BayesianNetwork


def class_informations(network: BayesianNetwork, target: str) -> dict[str, float]:
    """Mutual information of the class with every other variable of the network, in nats."""
    return {
        name: _information(np.asarray(network.query([name, target]).probabilities))
        for name in network
        if name != target
    }


def _information(joint: Floats) -> float:
    """Mutual information of the two axes of a joint table."""
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0.0
    return max(0.0, float((joint[there] * np.log(joint[there] / apart[there])).sum()))

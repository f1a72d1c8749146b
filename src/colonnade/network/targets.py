"""One variable of a network predicted from all others, row by row, and how good that is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.exceptions import not_among
from colonnade.network.model import BayesianNetwork
from colonnade.network.rows import log_likelihood
from colonnade.tables.coded import CodedTable

# Digits of probabilities that are computed alike, whatever the processor.
_TIED_DIGITS = 12


class Prediction(NamedTuple):
    """How well a variable was predicted.

    Attributes
    ----------
    accuracy : float
        Share of the rows whose most probable state is the true one.
    auc : float
        Area under the ROC curve; for more than two states the mean over the states, each against
        all others. NaN if the rows have a single state.
    log_loss : float
        Mean of minus the log probability of the true state.
    """

    accuracy: float
    auc: float
    log_loss: float

    @classmethod
    def of(cls, probabilities: Floats, codes: Integers) -> Prediction:
        """Compare probabilities ``[row, state]`` with true states; rows without one are left out.

        Examples
        --------
        >>> Prediction.of(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1])).accuracy
        1.0
        """
        there = (codes >= 0) & (codes < probabilities.shape[1])
        probabilities, codes = probabilities[there], codes[there]
        if not len(codes):
            return cls(math.nan, math.nan, math.nan)
        right = np.argmax(probabilities, axis=1) == codes
        with np.errstate(divide="ignore"):
            losses = -np.log(probabilities[np.arange(len(codes)), codes])
        states = range(1, 2) if probabilities.shape[1] == 2 else range(probabilities.shape[1])
        areas = [_area(probabilities[:, k], codes == k) for k in states]
        areas = [area for area in areas if not math.isnan(area)]
        area = float(np.mean(areas)) if areas else math.nan
        return cls(float(right.mean()), area, float(losses.mean()))


def _area(scores: Floats, positive: Array) -> float:
    """Probability that a positive row has a larger score than a negative one; ties count half.

    Scores that differ by what was rounded are ties.
    """
    n = int(positive.sum())
    others = len(positive) - n
    if not n or not others:
        return math.nan
    from scipy.stats import rankdata  # loading it takes longer than most commands

    mantissa, exponent = np.frexp(scores)
    ranks = rankdata(np.ldexp(np.round(mantissa, _TIED_DIGITS), exponent))
    return float((ranks[positive].sum() - n * (n + 1) / 2.0) / (n * others))


def target_probabilities(network: BayesianNetwork, coded: CodedTable, target: str) -> Floats:
    """Probabilities of the states of a variable given all other values of each row.

    What a row lacks is summed out; its value of the target, if it has one, is not used.

    Examples
    --------
    >>> from colonnade.dag import Dag
    >>> from colonnade.network import fit
    >>> from colonnade.tables import encode
    >>> coded = encode({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
    >>> network = fit(coded, Dag([("a", "b")]))
    >>> target_probabilities(network, coded, "a")[2].round(3)
    array([0.296, 0.704])
    """
    if target not in network:
        raise not_among(network.dag.variables, "target", target)
    coded = _aligned(network, coded)
    position = coded.position(target)
    states = network[target].family.cardinality
    logs = np.empty((coded.rows, states))
    tables = list(network.tables.values())
    for state in range(states):
        column = np.full_like(coded.codes[position], state)
        codes = tuple(column if k == position else own for k, own in enumerate(coded.codes))
        asked = CodedTable(coded.variables, codes)
        logs[:, state] = log_likelihood(asked, network.dag, tables)
    return shares(logs)


def _aligned(network: BayesianNetwork, coded: CodedTable) -> CodedTable:
    """Return the columns of a network's variables, in its order, with its states."""
    from colonnade.network.learning import coded_for_network

    return coded_for_network(coded, network, None, "raise")


def shares(logs: Floats) -> Floats:
    """Turn logarithms of parts into shares along the last axis; NaN where all parts are zero."""
    top = logs.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        parts = np.exp(logs - top)
    found: Floats = parts / parts.sum(axis=-1, keepdims=True)
    return found

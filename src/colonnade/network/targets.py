"""One variable of a network predicted from all others, row by row, and how good that is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats, Integers, Seed
from colonnade.exceptions import Advice, NotSupportedError, checked_draws, checked_level, not_among
from colonnade.missing.gaps import distinct
from colonnade.network.model import BayesianNetwork
from colonnade.network.rows import log_likelihood
from colonnade.priors import Interval
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.coded import CodedTable

# Drawn numbers held at a time, 128 MB.
_MAX_DRAWN = 1 << 24
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
    return _normalised(logs)


def target_intervals(
    network: BayesianNetwork,
    coded: CodedTable,
    target: str,
    level: float = 0.95,
    draws: int = 500,
    rng: Seed = None,
) -> Interval:
    """Equal-tailed credible intervals of :func:`target_probabilities`, ``[row, state]`` each.

    From joint draws of the tables that matter.
    """
    level, draws = checked_level(level), checked_draws(draws)
    if target not in network:
        raise not_among(network.dag.variables, "target", target)
    coded = _aligned(network, coded)
    names = network.dag.variables
    place = names.index(target)
    columns = [coded.codes[coded.position(name)].astype(np.int32) for name in names]
    columns[place] = np.zeros(coded.rows, dtype=np.int32)
    cases, which = distinct(np.stack(columns, axis=1))
    blanket = {place}
    for name in (target, *network.dag.children(target)):
        blanket |= {names.index(each) for each in (name, *network.dag.parents(name))}
    if not any(network[name].has_posterior for name in (target, *network.dag.children(target))):
        reason = f"it depends on tables around {target!r} only, which have no posterior"
        what = "A credible interval of this prediction"
        raise NotSupportedError(what, reason, Advice.NO_DRAWS)
    sizes = np.array([network[name].family.cardinality for name in names])
    near = sorted(blanket)
    lacking = (cases[:, near] >= sizes[near]).any(axis=1)
    ends = np.empty((2, len(cases), sizes[place]))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    generate = generator(rng)
    with Progress("Intervals", len(cases)) as progress:
        whole = np.flatnonzero(~lacking)
        step = max(1, _MAX_DRAWN // (draws * int(sizes[place]) * 4))
        for low in range(0, len(whole), step):
            chosen = whole[low : low + step]
            drawn = _drawn(network, cases[chosen], target, draws, generate)
            ends[:, chosen] = np.quantile(drawn, tails, axis=-1)
            progress.advance(len(chosen))
        for case in np.flatnonzero(lacking).tolist():
            pairs = zip(names, cases[case].tolist(), strict=True)
            observed = {
                name: network[name].family.child.states[code]
                for name, code in pairs
                if name != target and code < network[name].family.cardinality
            }
            found = network.query(target, observed, draws, level, generate)
            assert found.lower is not None
            assert found.upper is not None
            ends[:, case] = found.lower, found.upper
            progress.advance()
    return Interval(ends[0, which], ends[1, which])


def _aligned(network: BayesianNetwork, coded: CodedTable) -> CodedTable:
    """Return the columns of a network's variables, in its order, with its states."""
    from colonnade.network.learning import coded_for_network

    return coded_for_network(coded, network, None, "raise")


def _drawn(
    network: BayesianNetwork,
    cases: Array,
    target: str,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Probabilities of the target's states in draws of the tables: ``[row, state, draw]``.

    The rows have all values that matter.
    """
    names = network.dag.variables
    place, states = names.index(target), network[target].family.cardinality
    logs = np.zeros((len(cases), states, draws))
    asked = np.repeat(cases, states, axis=0)
    asked[:, place] = np.tile(np.arange(states), len(cases))
    for name in (target, *network.dag.children(target)):
        cpt = network[name]
        parents = asked[:, [names.index(parent) for parent in network.dag.parents(name)]]
        wanted, which = distinct(np.ascontiguousarray(parents))
        child = asked[:, names.index(name)]
        if cpt.has_posterior:
            rows = cpt.posterior.draws(draws, rng).log_rows(wanted, draws_last=True)
            logs += rows[which, child].reshape(logs.shape)
        else:
            known = np.stack([cpt.table.row(tuple(codes)) for codes in wanted.tolist()])
            with np.errstate(divide="ignore"):
                logs += np.log(known[which, child]).reshape(len(cases), states, 1)
    return np.moveaxis(_normalised(np.moveaxis(logs, 1, -1)), -1, 1)


def _normalised(logs: Floats) -> Floats:
    """Turn logarithms of parts into shares along the last axis; NaN where all parts are zero."""
    top = logs.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        parts = np.exp(logs - top)
    shares: Floats = parts / parts.sum(axis=-1, keepdims=True)
    return shares

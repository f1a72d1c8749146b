"""Rows drawn given what is known, exactly: none is thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import plan
from colonnade.exceptions import TooLargeError
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.reduction import Question
from colonnade.network import BayesianNetwork
from colonnade.network.rows import checked_size, drawn_codes, in_states

# Rows whose probabilities are held at a time.
_BLOCK_ROWS = 1 << 16

Scope = tuple[int, ...]


def sample(
    network: BayesianNetwork, n: int, observed: Observed, rng: np.random.Generator
) -> dict[str, Array]:
    """Draw `n` independent rows that agree with the evidence.

    Variables that lead to what is known are drawn together, given all of it; the others then
    follow from their parents.
    """
    evidence = Evidence.of(network, observed)
    n = checked_size(n, len(network))
    codes = _codes_of_known(network, n, evidence, rng) if evidence.variables else {}
    return in_states(network.tables, drawn_codes(network.dag, network.tables, n, rng, codes))


def _codes_of_known(
    network: BayesianNetwork, n: int, evidence: Evidence, rng: np.random.Generator
) -> dict[str, Integers]:
    """Draw what is known and all that leads to it."""
    question = Question(network, (), evidence, evidence.likelihoods)
    question.elimination()  # refuses what is too large, in the words of a query
    scopes = [piece.scope for piece in question.pieces]
    steps = _steps(question.sizes, scopes, [piece.logs()[0] for piece in question.pieces])
    if steps is None:
        raise question.impossible()
    labelled: dict[int, Integers] = {}
    for step in reversed(steps):
        labelled[step.variable] = _drawn(step, labelled, n, rng)
    codes = {name: np.full(n, code) for name, code in question.fixed.items()}
    return codes | {question.names[label]: found for label, found in labelled.items()}


class _Step(NamedTuple):
    """One variable with its probabilities given those that are eliminated after it."""

    variable: int
    others: Scope
    sums: Floats  # [*others, state]: running sums of the probabilities


def _steps(
    sizes: dict[int, int], scopes: Sequence[Scope], logs: Sequence[Floats]
) -> list[_Step] | None:
    """Eliminate all variables, keeping how each depends on the later ones; None if impossible."""
    factors = list(zip(scopes, logs, strict=True))
    steps: list[_Step] = []
    found = plan(scopes, sizes)
    if found.cells > 4 * MAX_DENSE_CELLS:
        what, hint = "The tables to draw from", "observe more variables"
        raise TooLargeError(what, size=found.cells, limit=4 * MAX_DENSE_CELLS, hint=hint)
    for v in found.order:
        own = [factor for factor in factors if v in factor[0]]
        factors = [factor for factor in factors if v not in factor[0]]
        others = tuple(sorted({u for scope, _ in own for u in scope} - {v}))
        product = np.zeros([sizes[u] for u in (*others, v)])
        for scope, log in own:
            product += _aligned(scope, log, (*others, v))
        top = product.max(axis=-1, keepdims=True)
        top = np.where(np.isneginf(top), 0.0, top)
        sums = np.exp(product - top).cumsum(axis=-1)
        with np.errstate(divide="ignore"):
            factors.append((others, (np.log(sums[..., -1:]) + top)[..., 0]))
        steps.append(_Step(v, others, sums))
    return None if any(np.isneginf(log).any() for scope, log in factors if not scope) else steps


def _aligned(scope: Scope, log: Floats, axes: Scope) -> Floats:
    """Put the axes of a factor in order, with length 1 where it does not have a variable."""
    order = sorted(range(len(scope)), key=lambda k: axes.index(scope[k]))
    shape = iter(np.transpose(log, order).shape)
    return np.transpose(log, order).reshape([next(shape) if u in scope else 1 for u in axes])


def _drawn(
    step: _Step, labelled: dict[int, Integers], n: int, rng: np.random.Generator
) -> Integers:
    found = np.empty(n, dtype=np.int64)
    for low in range(0, n, _BLOCK_ROWS):
        rows = slice(low, min(low + _BLOCK_ROWS, n))
        sums = step.sums[tuple(labelled[u][rows] for u in step.others)]
        sums = np.broadcast_to(sums, (rows.stop - low, sums.shape[-1]))
        place = rng.random((len(sums), 1)) * sums[:, -1:]
        found[rows] = (place >= sums[:, :-1]).sum(axis=1)
    return found

"""Questions to a network: probabilities with their uncertainty, and the most probable states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.elimination import Elimination
from colonnade.exceptions import (
    Advice,
    NotSupportedError,
    TooLargeError,
    checked_draws,
    checked_level,
    expected,
    inapplicable,
    listing,
    not_among,
)
from colonnade.inference.reduction import Question
from colonnade.inference.results import MostProbable, QueryResult
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress
from colonnade.randomness import generator

# Draws are taken in batches, so that the tables of a batch are not too large to be held.
_MAX_BATCH_CELLS = 1 << 21
_MAX_BATCH_DRAWS = 200
_MAX_SAMPLE_CELLS = 1 << 27  # of all draws together: a gigabyte


def query(
    network: BayesianNetwork,
    target: str | Sequence[str],
    observed: Mapping[str, Any] | None = None,
    draws: int = 0,
    level: float = 0.95,
    rng: Seed = None,
) -> QueryResult:
    """See :meth:`colonnade.BayesianNetwork.query`."""
    targets = _checked_targets(network, target)
    _check_draws(draws, level, rng)
    question = Question(network, targets, observed)
    question.check_aside()
    elimination = question.elimination()
    variables = [network[name].family.child for name in targets]
    shape = tuple(variable.cardinality for variable in variables)
    table, log_total = elimination.table([piece.logs() for piece in question.pieces])
    if log_total[0] == -np.inf:
        raise question.impossible()
    probabilities = table[0].reshape(shape)
    if not draws:
        return QueryResult.of(variables, probabilities, question.observed)
    if draws * probabilities.size > _MAX_SAMPLE_CELLS:
        size, limit = draws * probabilities.size, _MAX_SAMPLE_CELLS
        hint = "use fewer draws, or ask for fewer variables at once"
        raise TooLargeError("The answers of all draws", size=size, limit=limit, hint=hint)
    with Progress("Draws", draws) as progress:
        samples = _draws(question, elimination, draws, generator(rng), progress)
        samples = samples.reshape(draws, *shape)
        return QueryResult.of(variables, probabilities, question.observed, samples, level)


def most_probable(
    network: BayesianNetwork, observed: Mapping[str, Any] | None = None
) -> MostProbable:
    """See :meth:`colonnade.BayesianNetwork.most_probable`."""
    question = Question(network, (), observed)
    logs = [piece.logs() for piece in question.pieces]
    log_total, cells = question.elimination().marginals(logs, largest=True)
    if log_total[0] == -np.inf:
        raise question.impossible()
    codes = dict(question.fixed)
    for piece, cell in zip(question.pieces, cells, strict=True):
        # The states of the variables of this table are where the probability is.
        for label, code in zip(piece.scope, np.argwhere(cell[0])[0].tolist(), strict=True):
            codes[question.names[label]] = code
    total = 0.0
    for name in network:
        cpt = network[name]
        row = cpt.table.row(tuple(codes[parent.name] for parent in cpt.family.parents))
        total += math.log(row[codes[name]])
    states = {name: network[name].family.child.states[codes[name]] for name in network}
    return MostProbable(states, total)


def _draws(
    question: Question,
    elimination: Elimination,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Floats:
    """The answer in independent draws of all tables that matter."""
    if not any(piece.cpt.has_posterior for piece in question.pieces):
        names = [piece.cpt.family.child.name for piece in question.pieces]
        raise NotSupportedError(
            "A credible interval of this answer",
            f"it depends on the tables of {listing(names)} only, which are known or estimated by "
            "maximum likelihood and have no posterior",
            Advice.NO_DRAWS,
        )
    fixed = [None if piece.cpt.has_posterior else piece.logs() for piece in question.pieces]
    batch = max(1, min(_MAX_BATCH_DRAWS, _MAX_BATCH_CELLS // elimination.cells))
    found: list[Floats] = []
    while draws:
        size = min(batch, draws)
        logs = [
            piece.draw(size, rng) if logs is None else logs
            for piece, logs in zip(question.pieces, fixed, strict=True)
        ]
        table, log_total = elimination.table(logs)
        if np.isneginf(log_total).any():
            raise NotSupportedError(
                "An interval for these observed states",
                "in some draws of the tables their probability is 0 in floating point",
                Advice.NO_DRAWS_OR_POSSIBLE_STATES,
            )
        found.append(table)
        draws -= size
        progress.advance(size)
    return np.concatenate(found)


def _checked_targets(network: BayesianNetwork, target: Any) -> list[str]:
    hint = "give a name, or a list of names"
    names = [target] if isinstance(target, str) else target
    if not isinstance(names, Sequence) or isinstance(names, bytes):
        raise expected("a name or a sequence of names", "target", target, hint)
    if not names:
        raise expected("at least one name", "target", target, hint)
    for name in names:
        if not isinstance(name, str) or name not in network:
            raise not_among(network.dag.variables, "target", name)
    repeated = [name for k, name in enumerate(names) if name in names[:k]]
    if repeated:
        raise expected("different names", "target", target, got=f"{repeated[0]!r} twice")
    return list(names)


def _check_draws(draws: Any, level: Any, rng: Any) -> None:
    if not isinstance(draws, int) or isinstance(draws, bool) or draws:
        checked_draws(draws)
    checked_level(level)
    generator(rng)
    if not draws and rng is not None:
        raise inapplicable("rng", rng, "draws > 0", "give draws=500")
    if not draws and level != 0.95:
        raise inapplicable("level", level, "draws > 0", "give draws=500")

"""The distribution of every variable of a network at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination
from colonnade.inference.reduction import Piece, Question
from colonnade.network import BayesianNetwork


def margins(network: BayesianNetwork) -> dict[str, Floats] | None:
    """Probabilities of the states of every variable, nothing observed.

    None if exact inference would need too much memory, or if some configuration has no
    probabilities.
    """
    question = Question(network, (), None)
    sizes = [np.prod(piece.sizes, dtype=float) for piece in question.pieces]
    if any(
        size * p.cpt.family.cardinality > MAX_DENSE_CELLS
        for size, p in zip(sizes, question.pieces, strict=True)
    ):
        return None
    if not all(piece.cpt.table.complete for piece in question.pieces):
        return None
    scopes = [piece.scope for piece in question.pieces]
    elimination = Elimination.of(question.sizes, scopes)
    if elimination.cells > MAX_DENSE_CELLS:
        return None
    _, found = elimination.marginals([piece.logs() for piece in question.pieces])
    return by_variable(question.pieces, found, question.fixed, network)


def by_variable(
    pieces: Sequence[Piece],
    found: Sequence[Floats],
    fixed: Mapping[str, int],
    network: BayesianNetwork,
) -> dict[str, Floats]:
    """Sum the distribution of each family over its parents, ``[state]`` for each variable."""
    answers = {}
    for piece, cells in zip(pieces, found, strict=True):
        child = piece.cpt.family.child
        if piece.child is not None:
            answers[child.name] = cells[0].reshape(-1, child.cardinality).sum(axis=0)
    for name, state in fixed.items():
        answers[name] = np.eye(network[name].family.cardinality)[state]
    return answers

"""The distribution of every variable of a network, nothing observed."""

from __future__ import annotations

import math

import numpy as np

from colonnade.arrays import Floats
from colonnade.elimination import Elimination
from colonnade.inference import Evidence
from colonnade.inference.reduction import Piece, Question
from colonnade.network import BayesianNetwork

# Cells of a table, and of the largest table of exact inference, that a page waits for.
_MAX_CELLS = 1 << 23


def margins(network: BayesianNetwork) -> dict[str, Floats]:
    """Probabilities of the states of each variable.

    Those that depend on a table which is too large to be filled, or lacks probabilities, are left
    out; all of them are if exact inference would need too much memory.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> margins(fit({"a": [0, 1], "b": [0, 1]}, Dag([("a", "b")])))["b"]
    array([0.5, 0.5])
    """
    question = Question(network, (), Evidence.of(network, None), network)
    hard = {piece.cpt.family.child.name for piece in question.tables if not _easy(piece)}
    # What is left has all its ancestors, so nothing that was left out has a say in it.
    names = {name for name in network if hard.isdisjoint(network.dag.ancestors([name]))}
    pieces = [
        piece
        for piece in question.tables
        if piece.child is not None and piece.cpt.family.child.name in names
    ]
    # A variable with one state has no factor.
    found = {name: np.ones(1) for name in question.fixed if name in names}
    if not pieces:
        return found
    elimination = Elimination.of(question.sizes, [piece.scope for piece in pieces])
    if elimination.cells > _MAX_CELLS:
        return {}
    _, joint = elimination.marginals([piece.logs() for piece in pieces])
    for piece, cells in zip(pieces, joint, strict=True):
        child = piece.cpt.family.child
        found[child.name] = cells[0].reshape(-1, child.cardinality).sum(axis=0)
    return found


def _easy(piece: Piece) -> bool:
    cells = math.prod(piece.sizes) * piece.cpt.family.cardinality
    return cells <= _MAX_CELLS and piece.cpt.table.complete

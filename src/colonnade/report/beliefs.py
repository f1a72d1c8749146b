"""The distribution of every variable of a network, and what one tells about another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Floats
from colonnade.elimination import Elimination
from colonnade.inference.reduction import Piece
from colonnade.network import BayesianNetwork

# Cells of a table, and of the largest table of exact inference, that a page waits for.
_MAX_CELLS = 1 << 23


def margins(network: BayesianNetwork, known: Mapping[str, int] | None = None) -> dict[str, Floats]:
    """Probabilities of the states of each variable, given the codes of those that are known.

    Those that depend on a table which is too large to be filled, or lacks probabilities, are left
    out; all of them are if exact inference would need too much memory.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> network = fit({"a": [0, 1], "b": [0, 1]}, Dag([("a", "b")]))
    >>> margins(network)["b"], margins(network, {"b": 1})["a"].round(2)
    (array([0.5, 0.5]), array([0.33, 0.67]))
    """
    tables = OpenTables.of(network)
    hard = {piece.cpt.family.child.name for piece in tables.pieces if not _easy(piece)}
    # What is left has all its ancestors, so nothing that was left out has a say in it.
    names = {name for name in network if hard.isdisjoint(network.dag.ancestors([name]))}
    pieces = [piece for piece in tables.pieces if piece.cpt.family.child.name in names]
    found = {name: np.ones(1) for name in names if name not in tables.label}
    if not pieces:
        return found
    findings = {
        tables.label[name]: code for name, code in (known or {}).items() if name in tables.label
    }
    scopes = [*(piece.scope for piece in pieces), *((k,) for k in findings)]
    elimination = Elimination.of(tables.sizes, scopes)
    if elimination.cells > _MAX_CELLS:
        return {}
    facts = [_fact(code, tables.sizes[k]) for k, code in findings.items()]
    _, joint = elimination.marginals([*(piece.logs() for piece in pieces), *facts])
    for piece, cells in zip(pieces, joint, strict=False):
        child = piece.cpt.family.child
        found[child.name] = cells[0].reshape(-1, child.cardinality).sum(axis=0)
    return found


def inference_cells(network: BayesianNetwork) -> int:
    """Return the cells of the largest table of exact inference about all variables, at least 1."""
    tables = OpenTables.of(network)
    scopes = [piece.scope for piece in tables.pieces]
    return max(Elimination.of(tables.sizes, scopes).cells, 1) if scopes else 1


@dataclass(frozen=True, slots=True, eq=False)
class OpenTables:
    """All tables of a network as factors, nothing observed.

    Attributes
    ----------
    label : mapping of str to int
        The variables, without those with one state: these are as good as observed.
    sizes : mapping of int to int
        Numbers of states, by label.
    pieces : list of Piece
        The tables of these variables.
    """

    label: Mapping[str, int]
    sizes: Mapping[int, int]
    pieces: list[Piece]

    @classmethod
    def of(cls, network: BayesianNetwork) -> OpenTables:
        """Take the tables of a network."""
        size = {name: network[name].family.cardinality for name in network}
        label = {name: k for k, name in enumerate(network) if size[name] > 1}
        pieces = []
        for name, child in label.items():
            parents = network.dag.parents(name)
            known = {k: 0 for k, parent in enumerate(parents) if parent not in label}
            free = tuple(label[parent] for parent in parents if parent in label)
            pieces.append(Piece(network[name], known, free, child, 0))
        return cls(label, {k: size[name] for name, k in label.items()}, pieces)


def information(chances: Floats, given: Sequence[Floats]) -> float:
    """Return what one variable is expected to tell about another, in nats.

    `chances` has the probabilities of the states of the one, ``[state]``, and `given` the
    distribution of the other under each of them: their mutual information, the same both ways.

    Examples
    --------
    >>> round(information(np.array([0.5, 0.5]), [np.array([1.0, 0.0]), np.array([0.0, 1.0])]), 3)
    0.693
    """
    joint = np.stack([chance * own for chance, own in zip(chances, given, strict=True)])
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0.0
    return max(0.0, float((joint[seen] * np.log(joint[seen] / apart[seen])).sum()))


def entropy(chances: Floats) -> float:
    """Return what is open about a variable, in nats."""
    seen = chances[chances > 0.0]
    return float(-(seen * np.log(seen)).sum())


def _fact(code: int, size: int) -> Floats:
    """Logarithms of a factor that allows one state."""
    return np.where(np.arange(size) == code, 0.0, -np.inf)[None]


def _easy(piece: Piece) -> bool:
    cells = math.prod(piece.sizes) * piece.cpt.family.cardinality
    return cells <= _MAX_CELLS and piece.cpt.table.complete

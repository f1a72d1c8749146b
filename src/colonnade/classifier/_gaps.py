"""Rows that lack values something depends on, for all classes and several tables at once.

A table is asked for logarithms by arrays of codes that broadcast; it answers with a leading axis of
draws, which has length one where the table is not drawn but estimated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.cpt import Cpt
from colonnade.missing.gaps import Gap, Members, find_gaps
from colonnade.network import BayesianNetwork

__all__ = ["Logs", "MeanLogs", "add_gaps", "code_rows", "floored_log"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]

# Cells of the largest array made at a time.
_CELLS = 1 << 21
# Tables up to here are looked up with all their configurations.
_DENSE_CELLS = 1 << 20


class Logs(Protocol):
    """Logarithms of the probabilities of one family."""

    def at(self, parents: Sequence[Codes], child: Codes) -> Floats:
        """Look up codes that broadcast with each other: ``[draw, *their shape]``."""


class MeanLogs:
    """Logarithms of the estimated probabilities of a table.

    Parameters
    ----------
    cpt : Cpt
    floor : float
        What to take for the logarithm of zero.

    Examples
    --------
    >>> from colonnade.variables import Family, Variable
    >>> x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    >>> logs = MeanLogs(Cpt.known(Family(x, (y,)), [[0.5, 0.5], [0.1, 0.9]]))
    >>> np.exp(logs.at([np.array([[0], [1]])], np.array([0, 1]))).round(3).tolist()
    [[[0.5, 0.5], [0.1, 0.9]]]
    """

    def __init__(self, cpt: Cpt, floor: float = -math.inf) -> None:
        table = self.table = cpt.table
        self.sizes = (*table.parent_sizes, table.states)
        self.dense = table.configurations * table.states <= _DENSE_CELLS
        default = np.full(table.states, np.nan) if table.default is None else table.default
        rows = table.dense() if self.dense else np.vstack([table.rows, default])
        self.logs = floored_log(rows, floor)

    def at(self, parents: Sequence[Codes], child: Codes) -> Floats:
        """Look up codes that broadcast with each other: ``[1, *their shape]``."""
        if self.dense:
            index = np.zeros((), dtype=np.int64)
            for size, codes in zip(self.sizes, (*parents, child), strict=True):
                index = index * size + codes
            return self.logs.reshape(-1)[index][None]
        rows, shape = code_rows(parents)
        # Position -1, of what is not stored, is the default row.
        position = self.table.positions(rows).reshape(shape)
        return np.asarray(self.logs[position, child])[None]


def code_rows(parents: Sequence[Codes]) -> tuple[Codes, tuple[int, ...]]:
    """Write codes that broadcast with each other as rows, and say which shape the rows have.

    Examples
    --------
    >>> code_rows([np.array([[0], [1]]), np.array([0, 2])])
    (array([[0, 0], [0, 2], [1, 0], [1, 2]]), (2, 2))
    >>> code_rows([])[0].shape
    (1, 0)
    """
    shape = np.broadcast_shapes(*(codes.shape for codes in parents))
    rows = np.zeros((math.prod(shape), len(parents)), dtype=np.int64)
    for k, codes in enumerate(parents):
        rows[:, k] = np.broadcast_to(codes, shape).ravel()
    return rows, shape


def floored_log(values: Floats, floor: float) -> Floats:
    """Logarithms, with `floor` for that of zero.

    Examples
    --------
    >>> floored_log(np.array([0.0, 1.0]), -5.0)
    array([-5.,  0.])
    """
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    logs[np.isneginf(logs)] = floor
    return logs


def add_gaps(
    network: BayesianNetwork, target: int, codes: Codes, logs: Sequence[Logs], sums: Floats
) -> None:
    """Sum out missing values that something present depends on.

    Parameters
    ----------
    network : BayesianNetwork
    target : int
        Position of the class among the variables.
    codes : array [row, variable]
        Those of the class are 0 throughout and mean nothing.
    logs : sequence of Logs
        In the order of the variables.
    sums : array [draw, row, class]
        The logarithms of the sums are added to it.
    """
    members = Members.of(network.dag, network.families)
    classes = members.sizes[target]
    for gap in find_gaps(members, codes, np.ones(len(codes))):
        size = max(1, _CELLS // (gap.elimination.cells * classes * len(sums)))
        totals = np.empty((len(sums), len(gap.codes), classes))
        for low in range(0, len(gap.codes), size):
            block = slice(low, low + size)
            factors = [_factor(gap, family, target, block, logs[family]) for family in gap.families]
            cases = len(gap.codes[block])
            shape = (len(sums), cases, classes)
            flat = [
                np.broadcast_to(f, (*shape, *f.shape[3:])).reshape(-1, *f.shape[3:])
                for f in factors
            ]
            totals[:, block] = gap.elimination.log_total(flat).reshape(shape)
        sums[:, gap.rows] += totals[:, gap.case]


def _factor(gap: Gap, family: int, target: int, block: slice, logs: Logs) -> Floats:
    """Logarithms of one family in all completions, ``[draw, case, class, *missing variables]``."""
    scope = gap.elimination.scopes[gap.families.index(family)]
    axes = {target: 1, **{variable: 2 + k for k, variable in enumerate(scope)}}
    codes = []
    for variable in gap.members.families[family]:
        shape = [1] * (2 + len(scope))
        if variable in axes:
            shape[axes[variable]] = -1
            codes.append(np.arange(gap.members.sizes[variable]).reshape(shape))
        else:
            shape[0] = -1
            known = gap.codes[block, gap.known.index(variable)].astype(np.int64)
            codes.append(known.reshape(shape))
    return logs.at(codes[:-1], codes[-1])

"""Credible intervals of class probabilities, from joint draws of all tables they depend on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade._sparse import find_rows
from colonnade.classifier._gaps import add_gaps, code_rows
from colonnade.classifier._tables import ClassTables
from colonnade.cpt import Cpt
from colonnade.exceptions import NotSupportedError, expected
from colonnade.missing.gaps import distinct
from colonnade.posterior import Interval
from colonnade.tables.coded import CodedTable

__all__ = ["class_intervals"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]

# Cells [draw, row, class] held at a time.
_CELLS = 1 << 20


def class_intervals(
    tables: ClassTables,
    coded: CodedTable,
    level: float,
    draws: int,
    rng: np.random.Generator | int | None,
) -> Interval:
    """Equal-tailed credible intervals of the probability of each class, ``[row, class]``.

    Parameters
    ----------
    tables : ClassTables
    coded : CodedTable
    level : float
    draws : int
    rng : Generator or int, optional
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise expected("a number between 0 and 1", "level", level, "write 0.95 for 95 %")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise expected("a whole number of at least 2", "draws", draws)
    network = tables.network
    generator = np.random.default_rng(rng)
    drawn = [DrawnLogs(cpt, int(draws), generator) for cpt in network.tables.values()]
    position = network.dag.variables.index(tables.target)
    columns = [coded.codes[coded.position(name)] for name in tables.features]
    columns.insert(position, np.zeros(coded.rows, dtype=np.uint8))
    cases, which = distinct(np.stack(columns, axis=1).astype(np.int32))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ends = np.empty((2, len(cases), tables.classes))
    size = max(1, _CELLS // (int(draws) * tables.classes))
    for low in range(0, len(cases), size):
        block = cases[low : low + size]
        logs = _log_joint(tables, position, block, drawn)
        logs -= logs.max(axis=2, keepdims=True)
        chances = np.exp(logs)
        chances /= chances.sum(axis=2, keepdims=True)
        ends[:, low : low + size] = np.quantile(chances, tails, axis=0)
    return Interval(ends[0, which], ends[1, which])


class DrawnLogs:
    """Logarithms of a table in several draws; rows are drawn when they are asked for.

    Given alpha and s the rows of a table are independent, so it is enough to keep these: a row
    that nobody looks at is never drawn. Rows asked for twice are drawn twice, so whoever needs a
    row of the same draw again must keep it; for one row of data no table is asked twice.

    Parameters
    ----------
    cpt : Cpt
    draws : int
    rng : Generator
    """

    def __init__(self, cpt: Cpt, draws: int, rng: np.random.Generator) -> None:
        if cpt.counts is None:
            raise NotSupportedError(
                "An interval of class probabilities",
                f"the table of {cpt.family.child.name!r} is known and has no posterior",
            )
        self.cpt = cpt
        self.counts = cpt.counts
        self.draws = draws
        self.rng = rng

    @cached_property
    def pool(self) -> Floats:
        """s alpha in each draw, ``[draw, state]``."""
        alpha, strength = self.cpt.posterior.sample_alpha(self.draws, self.rng)
        return np.asarray(strength[:, None] * alpha)

    def at(self, parents: Sequence[Codes], child: Codes) -> Floats:
        """Look up codes that broadcast with each other: ``[draw, *their shape]``."""
        asked, shape = code_rows(parents)
        wanted, which = distinct(asked)
        rows = np.vstack([self.counts.values, np.zeros(self.counts.states)])
        seen = rows[find_rows(self.counts.codes, wanted, self.counts.parent_sizes)]
        logs = _log_dirichlet(seen[None] + self.pool[:, None, :], self.rng)
        return np.asarray(logs[:, which.reshape(shape), child])


def _log_joint(
    tables: ClassTables, target: int, codes: Codes, drawn: Sequence[DrawnLogs]
) -> Floats:
    """Log probability of rows with each class in each draw, ``[draw, row, class]``.

    Families without the class are left out but for those that lack values: they cancel.
    """
    network = tables.network
    names = network.dag.variables
    sums = np.zeros((drawn[0].draws, len(codes), tables.classes))
    labels = np.arange(tables.classes)[None, :]
    for name, logs in zip(names, drawn, strict=True):
        members = [names.index(member) for member in (*network.dag.parents(name), name)]
        if target not in members:
            continue
        sizes = [network[names[member]].family.cardinality for member in members]
        rows = (codes[:, members] < sizes).all(axis=1)
        if rows.any():
            asked = [labels if m == target else codes[rows, m][:, None] for m in members]
            sums[:, rows] += logs.at(asked[:-1], asked[-1])
    add_gaps(network, target, codes, drawn, sums)
    return sums


def _log_dirichlet(parameters: Floats, rng: np.random.Generator) -> Floats:
    """Logarithms of Dirichlet draws, last axis: states; tiny parameters do not underflow.

    A Gamma(a) variable is Gamma(a + 1) U^(1/a), whose logarithm is exact to rounding.
    """
    logs = np.log(rng.standard_gamma(parameters + 1.0))
    logs -= rng.standard_exponential(parameters.shape) / parameters
    top = logs.max(axis=-1, keepdims=True)
    logs -= top + np.log(np.exp(logs - top).sum(axis=-1, keepdims=True))
    return np.asarray(logs)

"""Draws of the tables of a network, of no more of them than somebody asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._gaps import code_rows
from colonnade.cpt import Cpt
from colonnade.exceptions import NotSupportedError
from colonnade.missing.gaps import distinct
from colonnade.pooling.draws import log_dirichlet

__all__ = ["DrawnLogs"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]

# Observations that leave little of alpha open, and from which it takes long to draw: each draw is
# then used four times.
_MUCH = 10_000


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
        Of this table alone, so that tables can be drawn in any order.
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
        """s alpha in each draw, ``[state, draw]``."""
        size = self.draws if self.counts.total < _MUCH else -(-self.draws // 4)
        alpha, strength = self.cpt.posterior.sample_alpha(size, self.rng)
        pool = (strength[:, None] * alpha)[np.arange(self.draws) % size]
        return np.ascontiguousarray(pool.T)

    def rows(self, wanted: Codes) -> Floats:
        """Draw the rows of some configurations: ``[configuration, state, draw]``."""
        return log_dirichlet(self._seen(wanted)[:, :, None] + self.pool, self.rng, axis=1)

    def cells(self, wanted: Codes, child: Codes) -> Floats:
        """Draw single cells, ``[cell, draw]``: each from its own margin, a Beta distribution.

        So no two of them may be asked for of the same configuration and used together.
        """
        seen = self._seen(wanted)
        own = seen[np.arange(len(child)), child][:, None] + self.pool[child]
        others = seen.sum(axis=1)[:, None] + self.pool.sum(axis=0) - own
        return np.asarray(log_dirichlet(np.stack([own, others], axis=1), self.rng, axis=1)[:, 0])

    def _seen(self, wanted: Codes) -> NDArray[Any]:
        rows = np.vstack([self.counts.values, np.zeros(self.counts.states)])
        return np.asarray(rows[self.counts.positions(wanted)])

    def at(self, parents: Sequence[Codes], child: Codes) -> Floats:
        """Look up codes that broadcast with each other: ``[draw, *their shape]``."""
        asked, shape = code_rows(parents)
        wanted, which = distinct(asked)
        logs = self.rows(wanted)[which.reshape(shape), child]
        return np.asarray(np.moveaxis(logs, -1, 0))

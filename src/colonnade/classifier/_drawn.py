"""DrawnLogs: tables of a network in many draws from their posterior, row by row as needed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.classifier._gaps import margin
from colonnade.classifier._tables import ClassTables
from colonnade.cpt import Cpt
from colonnade.exceptions import NotSupportedError
from colonnade.lookup import broadcast_rows
from colonnade.missing.gaps import distinct

# Observations from which on little of alpha is open, and drawing it takes long: each draw of alpha
# is then used this often.
_MANY_OBSERVATIONS, _USES_OF_ALPHA = 10_000, 4


class DrawnLogs:
    """Logarithms of a table in several draws; rows are drawn when they are asked for.

    Given alpha and s the rows of a table are independent, so it is enough to keep these: a row
    that is not looked up is never drawn. Rows asked for twice are drawn twice, so a caller that
    needs a row of the same draw again must keep it; for one row of data no table is asked twice.
    Each table has a generator of its own, so that tables can be drawn in any order.
    """

    def __init__(self, cpt: Cpt, draws: int, rng: np.random.Generator) -> None:
        if cpt.counts is None:
            raise NotSupportedError(
                "An interval of class probabilities",
                f"the table of {cpt.family.child.name!r} is known and has no posterior",
            )
        self.cpt, self.counts, self.draws = cpt, cpt.counts, draws
        self.price = cpt.family.child.cardinality  # rows are drawn as a whole
        many = cpt.counts.total >= _MANY_OBSERVATIONS
        self._pools = -(-draws // _USES_OF_ALPHA) if many else draws
        self._drawn = cpt.posterior.draws(draws, rng, self._pools)
        self._coarser: dict[tuple[int, ...], DrawnLogs] = {}

    def given(self, kept: tuple[int, ...]) -> DrawnLogs:
        """Draw the table of the child given some of its parents, always the same one."""
        if kept not in self._coarser:
            counts = margin(self.cpt, kept)
            assert self.cpt.prior is not None
            coarser = copy(self)
            coarser.counts, coarser._coarser = counts, {}
            seed = np.random.default_rng([len(kept), *kept])
            posterior = self.cpt.prior.posterior(counts)
            coarser._drawn = posterior.draws(self.draws, seed, self._pools)
            self._coarser[kept] = coarser
        return self._coarser[kept]

    def rows(self, wanted: Array) -> Floats:
        """Draw the rows of some configurations: ``[configuration, state, draw]``."""
        return self._drawn.log_rows(wanted, draws_last=True)

    def margins(self, wanted: Array, child: Array) -> Floats:
        """Draw single cells, ``[cell, draw]``: each from its own margin.

        So no two of them may be asked for of the same configuration and used together.
        """
        return self._drawn.log_cells(wanted, child)

    def cells(self, parents: Sequence[Array], child: Array) -> Floats:
        """Look up codes that broadcast with each other: ``[draw, *their shape]``."""
        asked, shape = broadcast_rows(parents)
        wanted, which = distinct(asked)
        logs = self.rows(wanted)[which.reshape(shape), child]
        return np.asarray(np.moveaxis(logs, -1, 0))


def drawn_tables(tables: ClassTables, draws: int, rng: np.random.Generator) -> list[DrawnLogs]:
    """Give each table a generator of its own, seeded from the one given."""
    found = tables.network.tables.values()
    seeds = rng.integers(1 << 63, size=(len(found), 2))
    return [
        DrawnLogs(cpt, draws, np.random.default_rng(seed.tolist()))
        for cpt, seed in zip(found, seeds, strict=True)
    ]

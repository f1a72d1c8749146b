"""Rows of a table in the states of a network, and what is missing in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import sort_keys
from colonnade.cpt import Cpt
from colonnade.exceptions import Advice, DataError, counted, row_at
from colonnade.lookup import Lookup
from colonnade.missing.filling import SUM, Blanks, Filled
from colonnade.missing.gaps import Members
from colonnade.network import BayesianNetwork
from colonnade.network.rows import in_states
from colonnade.tables.coded import CodedTable

# Draws of all tables that are held at a time, in cells.
_MAX_TABLE_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of codes ``[row, variable]`` of a network; the number of states means missing."""

    network: BayesianNetwork
    members: Members
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, network: BayesianNetwork, coded: CodedTable) -> Rows:
        codes = np.stack([coded.codes[coded.position(name)] for name in network], axis=1)
        members = Members.of(network.dag, network.families)
        return cls(network, members, codes.astype(np.int32))

    def logs(self, blanks: Blanks) -> list[Lookup]:
        """Logarithms of the estimated probabilities of all configurations that matter."""
        found = []
        for family, cpt in enumerate(self.network.tables.values()):
            table = cpt.table.lookup
            if callable(table.other):
                table = table.covering(blanks.needed(family))
            with np.errstate(divide="ignore"):
                found.append(table.mapped(np.log).filled())
        return found

    def drawn(self, blanks: Blanks, draws: int, rng: np.random.Generator) -> Iterator[list[Lookup]]:
        """Logarithms in independent draws of all tables that have a posterior; others stay."""
        tables = list(self.network.tables.values())
        sizes = [cpt.family.parent_sizes for cpt in tables]
        needed = [_distinct(blanks.needed(k), own) for k, own in enumerate(sizes)]
        fixed = self.logs(blanks)
        cells = sum(len(own) * n for own, n in zip(needed, self.members.sizes, strict=True))
        batch = max(1, min(draws, _MAX_TABLE_CELLS // max(1, cells)))
        while draws:
            size = min(batch, draws)
            rows = [
                cpt.posterior.draws(size, rng).log_rows(own) if cpt.has_posterior else None
                for own, cpt in zip(needed, tables, strict=True)
            ]
            for d in range(size):
                yield [
                    fixed[k] if own is None else _stored(sizes[k], needed[k], own[d])
                    for k, own in enumerate(rows)
                ]
            draws -= size

    def filled(
        self, blanks: Blanks, logs: Sequence[Lookup], how: str | np.random.Generator
    ) -> dict[str, Array]:
        """The columns of states, with what is missing filled in."""
        totals, found = blanks.solved(logs, how)
        self.check(blanks, totals)
        codes = self.codes.astype(np.int64)
        for k, own in found.items():
            codes[own.rows, k] = own.values.argmax(axis=1)
        return in_states(self.network.tables, dict(zip(self.network, codes.T, strict=True)))

    def log_share(self, before: NDArray[np.int32], k: int, states: Integers) -> Floats:
        """Log probability of the states of one variable given what is known before it."""
        wanted = np.arange(len(self.network)) == k
        blanks = Blanks.of(self.members, before, wanted, each=False, only_wanted=True)
        _, found = blanks.solved(Rows(self.network, self.members, before).logs(blanks), SUM)
        size = self.members.sizes[k]
        values = by_row(found, k, (len(before), size))
        own = values[np.arange(len(before)), states]
        # What comes before may be impossible already: then there is nothing more to say.
        impossible = values.sum(axis=1) == 0.0
        with np.errstate(divide="ignore"):
            return np.where(impossible, 0.0, np.log(own))

    def behind(self, blanks: Blanks, place: int) -> list[Cpt]:
        """The tables that the answers for one variable depend on, in any of the rows."""
        used = {k for gap in blanks.gaps if place in gap.missing for k in gap.families}
        return [cpt for k, cpt in enumerate(self.network.tables.values()) if k in used]

    def check(self, blanks: Blanks, totals: Floats) -> None:
        """Refuse rows with gaps that cannot occur, or need what has no probabilities.

        What a row lacks may have nothing to do with it.
        """
        gaps = blanks.gaps
        logs = np.zeros(len(self.codes))
        logs += np.bincount(gaps.rows, weights=totals[gaps.case], minlength=len(logs))
        asked = np.unique(gaps.rows)
        logs[asked] += self._known_part(asked)
        undefined = "needs a configuration without probabilities"
        impossible = "cannot occur: the probability is 0"
        for bad, problem, hint in (
            (np.isnan(logs), undefined, Advice.PRIOR_FOR_UNOBSERVED),
            (np.isneginf(logs), impossible, "correct it or leave it out"),
        ):
            if bad.any():
                rows = np.flatnonzero(bad)
                first, where = int(rows[0]), row_at(int(rows[0]))
                more = f" ({counted(len(rows), 'such row')})" if len(rows) > 1 else ""
                raise DataError(f"R{where[1:]}", f"{problem}{more}.", hint, row=first)

    def _known_part(self, rows: Integers) -> Floats:
        """Log probability of rows by the families of which all values are known.

        Those that exclude nothing are left out: whether a row can occur does not depend on them.
        """
        total = np.zeros(len(rows))
        columns = np.ascontiguousarray(self.codes[rows].T)
        there = columns != np.array(self.members.sizes)[:, None]
        for family, cpt in zip(self.members.families, self.network.tables.values(), strict=True):
            if cpt.table.positive:
                continue
            own = np.flatnonzero(there[list(family)].all(axis=0))
            *given, child = columns[list(family)][:, own]
            cells = cpt.table.lookup.filled().cells(given, child)
            with np.errstate(divide="ignore"):
                total[own] += np.log(cells)
        return total


def by_row(found: dict[int, Filled], place: int, shape: tuple[int, int]) -> Floats:
    """Answers for one variable, row by row; 0 where nothing was asked."""
    values = np.zeros(shape)
    if place in found:
        values[found[place].rows] = found[place].values
    return values


def _distinct(codes: Array, sizes: Sequence[int]) -> Array:
    """Return the different rows of codes, in the order of configurations."""
    keys = sort_keys(codes, sizes)
    return codes[np.unique(keys, axis=0, return_index=True)[1]].astype(np.int64)


def _stored(sizes: tuple[int, ...], codes: Array, rows: Floats) -> Lookup:
    if len(codes) == np.prod(sizes, dtype=np.float64):
        return Lookup(sizes, rows)
    return Lookup(sizes, rows, codes)

"""Credible intervals of one variable of many rows, from joint draws of the tables that matter.

Rows that have all values around the variable need its own table and those of its children alone,
for all draws at once. In the others, what is missing is summed out, draw by draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.cpt import Cpt
from colonnade.inference.queries import Precision, fixed_tables
from colonnade.inference.rows import Rows, by_row
from colonnade.missing.filling import SUM, Blanks
from colonnade.missing.gaps import distinct
from colonnade.network import BayesianNetwork
from colonnade.network.targets import shares
from colonnade.priors import Interval
from colonnade.progress import Progress
from colonnade.randomness import generator

# Drawn numbers held at a time, 128 MB.
_MAX_DRAWN = 1 << 24


def row_intervals(
    rows: Rows, target: str, precision: Precision
) -> tuple[Interval, tuple[str, ...]]:
    """Return equal-tailed intervals, ``[row, state]`` each, and the tables without a share.

    Values of the target, if rows have any, are not used.
    """
    names = rows.network.dag.variables
    place, sizes = names.index(target), np.array(rows.members.sizes)
    codes = rows.codes.copy()
    codes[:, place] = sizes[place]
    cases, which = distinct(codes)
    around = [k for k in _around(rows.network, target) if k != place]
    lacking = (cases[:, around] >= sizes[around]).any(axis=1)
    step = max(1, _MAX_DRAWN // (precision.draws * int(sizes[place])))
    parts = [
        _Part.of(rows, cases, chosen, place) for chosen in _slices(np.flatnonzero(lacking), step)
    ]
    own = {} if lacking.all() else dict.fromkeys((target, *rows.network.dag.children(target)))
    behind = {cpt.family.child.name for part in parts for cpt in part.behind}
    tables = [cpt for name, cpt in rows.network.tables.items() if name in own or name in behind]
    fixed = fixed_tables(tables, "these predictions")
    ends = np.empty((2, len(cases), sizes[place]))
    tails = [(1.0 - precision.level) / 2.0, (1.0 + precision.level) / 2.0]
    rng = generator(precision.rng)
    with Progress("Intervals", len(cases)) as progress:
        # A few arrays of that size are needed on the way.
        for chosen in _slices(np.flatnonzero(~lacking), max(1, step // 4)):
            drawn = _drawn(rows.network, cases[chosen], target, precision.draws, rng)
            ends[:, chosen] = np.quantile(drawn, tails, axis=-1)
            progress.advance(len(chosen))
        for part in parts:
            ends[:, part.chosen] = np.quantile(part.samples(precision.draws, rng), tails, axis=0)
            progress.advance(len(part.chosen))
    return Interval(ends[0, which], ends[1, which]), fixed


def _around(network: BayesianNetwork, target: str) -> list[int]:
    """Places of a variable, its parents, its children and their parents."""
    names = network.dag.variables
    near = {target, *network.dag.children(target)}
    near |= {parent for name in near for parent in network.dag.parents(name)}
    return sorted(names.index(name) for name in near)


def _slices(chosen: Array, step: int) -> Iterator[Array]:
    for low in range(0, len(chosen), step):
        yield chosen[low : low + step]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some cases that lack values around the target."""

    chosen: Array
    rows: Rows
    blanks: Blanks
    place: int

    @classmethod
    def of(cls, rows: Rows, cases: NDArray[np.int32], chosen: Array, place: int) -> _Part:
        own = Rows(rows.network, rows.members, cases[chosen])
        wanted = np.arange(len(rows.network)) == place
        blanks = Blanks.of(rows.members, own.codes, wanted, each=False, only_wanted=True)
        return cls(chosen, own, blanks, place)

    @property
    def behind(self) -> list[Cpt]:
        """Tables that the answers depend on."""
        return self.rows.behind(self.blanks, self.place)

    def samples(self, draws: int, rng: np.random.Generator) -> Floats:
        """Answers in draws of the tables, ``[draw, case, state]``."""
        shape = (len(self.chosen), self.rows.members.sizes[self.place])
        samples = np.empty((draws, *shape))
        for d, logs in enumerate(self.rows.drawn(self.blanks, draws, rng)):
            _, found = self.blanks.solved(logs, SUM)
            samples[d] = by_row(found, self.place, shape)
        return samples


def _drawn(
    network: BayesianNetwork,
    cases: Array,
    target: str,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Probabilities of the target's states in draws of the tables: ``[row, state, draw]``.

    The rows have all values that matter.
    """
    names = network.dag.variables
    place, states = names.index(target), network[target].family.cardinality
    logs = np.zeros((len(cases), states, draws))
    asked = np.repeat(cases, states, axis=0)
    asked[:, place] = np.tile(np.arange(states), len(cases))
    for name in (target, *network.dag.children(target)):
        cpt = network[name]
        parents = asked[:, [names.index(parent) for parent in network.dag.parents(name)]]
        wanted, which = distinct(np.ascontiguousarray(parents))
        child = asked[:, names.index(name)]
        if cpt.has_posterior:
            rows = cpt.posterior.draws(draws, rng).log_rows(wanted, draws_last=True)
            logs += rows[which, child].reshape(logs.shape)
        else:
            known = np.stack([cpt.table.row(tuple(codes)) for codes in wanted.tolist()])
            with np.errstate(divide="ignore"):
                logs += np.log(known[which, child]).reshape(len(cases), states, 1)
    return np.moveaxis(shares(np.moveaxis(logs, 1, -1)), -1, 1)

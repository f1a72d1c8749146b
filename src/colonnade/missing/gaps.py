"""Rows that lack values, taken apart into what has to be summed over.

A missing value that nothing observed depends on, not even through other missing ones, sums to one:
it is left out, together with its family. The others only interact if they meet in a family, so a
row falls apart into *gaps*: connected groups of missing variables. What happens in a gap depends
on the values around it alone, and rows that agree in those are one *case*, however they differ
elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import sort_keys
from colonnade.dag import Dag
from colonnade.elimination import Elimination
from colonnade.exceptions import TooLargeError
from colonnade.variables import Family

# What cannot be held for a single case cannot be held at all.
_MAX_CASE_CELLS = 1 << 26


@dataclass(frozen=True, slots=True)
class Members:
    """The families of a network, by the positions of their variables."""

    sizes: tuple[int, ...]  # number of states of each variable
    families: tuple[tuple[int, ...], ...]  # of each variable: its parents, then the variable itself
    order: tuple[int, ...]  # the variables, parents before their children

    @classmethod
    def of(cls, dag: Dag, families: Sequence[Family]) -> Members:
        """Number the variables of a graph, whose families come in the same order."""
        position = {name: k for k, name in enumerate(dag.variables)}
        members = [(*dag.parents(name), name) for name in dag.variables]
        return cls(
            tuple(family.cardinality for family in families),
            tuple(tuple(position[name] for name in names) for names in members),
            tuple(position[name] for name in dag.order),
        )

    def missing(self, codes: Array) -> NDArray[np.bool_]:
        """Say which codes ``[row, variable]`` mean missing."""
        return np.asarray(codes == np.array(self.sizes, dtype=codes.dtype))


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """Missing variables that are connected, in all the cases in which they occur.

    Variables are in order. The elimination has one factor per family, with its missing variables in
    the order of the family, so the child is last. Where the sum would have been too large, some
    families with an observed child are `relaxed`: the child is to be expected from its known
    parents alone, and missing variables that nothing else depends on are no longer part of the gap.
    """

    members: Members
    missing: tuple[int, ...]  # the variables
    families: tuple[int, ...]  # the families with at least one of them
    known: tuple[int, ...]  # the other variables of these families
    elimination: Elimination  # of the missing variables
    codes: Array  # [case, known]: codes of the other variables
    weights: Floats  # [case]: how many rows are this case
    rows: Integers  # [occurrence]: the rows that have the gap
    case: Integers  # [occurrence]: which case each of them is
    cells: int  # of the largest array that the sum of one case takes
    relaxed: tuple[int, ...] = ()  # families whose missing parents are not summed over


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """All gaps of some rows; the cases of one gap follow each other."""

    members: Members
    kinds: tuple[Gap, ...]
    first_case: Integers  # [gap + 1]: first_case[g]..first_case[g + 1] are the cases of gap g
    codes: NDArray[np.int32]  # [case, variable]: codes of one of the rows that are this case
    weights: Floats  # [case]: how many rows are this case
    rows: Integers  # [occurrence]: the rows, as often as they have gaps
    case: Integers  # [occurrence]: which case each of these is

    def __iter__(self) -> Iterator[Gap]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)


def find_gaps(
    members: Members,
    codes: Array,
    weights: Floats,
    affordable: int | None = None,
    prices: Sequence[int] | None = None,
    wanted: NDArray[np.bool_] | None = None,
    only_wanted: bool = False,
) -> Gaps:
    """Find the gaps of rows of codes ``[row, variable]``; the number of states means missing.

    A sum with more than `affordable` cells is relaxed; without that number, one that cannot be held
    is an error. `prices` say of each variable what a cell of its family costs where the variable
    itself is known, in cells of the sum; by default one. Of what nothing observed depends on, only
    the variables that are `wanted` matter, with those that lead to them; by default none. With
    `only_wanted`, gaps without any of these variables are left out.
    """
    from colonnade.kernels.gaps import number_rows

    codes = np.ascontiguousarray(codes, dtype=np.int32)
    wanted = np.zeros(len(members.sizes), dtype=np.bool_) if wanted is None else wanted
    rows, surroundings, roles = _packed(members, codes, wanted, only_wanted)
    case, first = number_rows(surroundings)
    kind, example = number_rows(roles[first])
    # From the order of appearance to one in which the cases of a gap follow each other.
    order = np.argsort(kind, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    case = rank[case]
    by_case = np.argsort(case, kind="stable")
    rows, case = rows[by_case], case[by_case]
    cases = codes[rows[np.searchsorted(case, np.arange(len(order)))]]
    counts = np.bincount(case, weights[rows], len(order)).astype(np.float64)
    first_case = np.searchsorted(kind[order], np.arange(len(example) + 1))
    first_row = np.searchsorted(case, first_case)
    kinds = []
    for g, role in enumerate(_roles(members, roles[first[example]])):
        own, mine = slice(*first_case[g : g + 2]), slice(*first_row[g : g + 2])
        missing, known, families = (tuple(np.flatnonzero(has).tolist()) for has in role)
        sum_ = _Sum.of(members, missing, families, prices or (1,) * len(members.sizes))
        if affordable is None:
            sum_.must_fit()
        else:
            sum_ = sum_.relax(affordable)
        kinds.append(
            Gap(
                members=members,
                missing=sum_.missing,
                families=sum_.families,
                relaxed=sum_.relaxed,
                known=known,
                elimination=sum_.elimination,
                codes=cases[own][:, known],
                weights=counts[own],
                rows=rows[mine],
                case=case[mine] - first_case[g],
                cells=sum_.cells,
            )
        )
    return Gaps(members, tuple(kinds), first_case, cases, counts, rows, case)


def distinct(codes: Array) -> tuple[Array, Integers]:
    """Return the distinct rows of an array of codes, in order, and which of them each row is."""
    if not len(codes) or not codes.shape[1]:
        return codes[:1], np.zeros(len(codes), dtype=np.int64)
    keys = sort_keys(codes, [int(top) + 1 for top in codes.max(axis=0)])
    if keys.shape[1] == 1:
        keys = keys[:, 0]
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return codes[first], which.reshape(-1)


def _packed(
    members: Members, codes: NDArray[np.int32], wanted: NDArray[np.bool_], only_wanted: bool
) -> tuple[Integers, Integers, Integers]:
    """The row of each gap; the codes of its variables as a key; and their roles as a key."""
    from colonnade.kernels.gaps import label_gaps, pack_gaps

    word, shift = [0], [0]
    for size in members.sizes:
        # A digit is 0 for no code, or one more than the code.
        bits = (size + 1).bit_length()
        if shift[-1] + bits > 63:
            word[-1], shift[-1] = word[-1] + 1, 0
        word.append(word[-1])
        shift.append(shift[-1] + bits)
    graph = (
        np.array(members.sizes, dtype=np.int64),
        np.cumsum([0, *map(len, members.families)], dtype=np.int64),
        np.array([v for family in members.families for v in family], dtype=np.int64),
    )
    digits = np.array(word[:-1], dtype=np.int64), np.array(shift[:-1], dtype=np.int64)
    labels, gaps = label_gaps(codes, *graph, np.array(members.order, dtype=np.int64), wanted)
    if only_wanted:
        held = [labels == labels[:, v : v + 1] for v in np.flatnonzero(wanted)]
        labels = np.where(np.logical_or.reduce(held), labels, np.int32(-1))
        gaps = int((labels == np.arange(labels.shape[1])).sum())
    rows, keys, roles = pack_gaps(codes, labels, gaps, *graph, *digits)
    return rows, keys, roles


def _roles(members: Members, keys: Integers) -> NDArray[np.bool_]:
    """Say of each kind of gap which variables are missing, known, and have their family in it.

    The key of a kind has two bits per variable: 0 if it is outside, 1 if known, 2 if missing.
    """
    every = np.arange(len(members.sizes))
    role = (keys[:, every // 31] >> (2 * (every % 31))) & 3
    missing, known = role == 2, role == 1
    first = np.cumsum([0, *map(len, members.families[:-1])])
    variables = [v for family in members.families for v in family]
    # What is known has its family in the gap if one of its parents is missing in it.
    lacking = np.logical_or.reduceat(missing[:, variables], first, axis=1)
    inside = missing | (known & lacking)
    return np.stack([missing, known, inside], axis=1)


class _Sum(NamedTuple):
    """The sum over the missing variables of one gap; see `Gap`."""

    members: Members
    missing: tuple[int, ...]
    families: tuple[int, ...]
    prices: Sequence[int]
    relaxed: tuple[int, ...]
    elimination: Elimination

    @classmethod
    def of(
        cls,
        members: Members,
        missing: Sequence[int],
        families: Sequence[int],
        prices: Sequence[int],
        relaxed: tuple[int, ...] = (),
    ) -> _Sum:
        sizes = {v: members.sizes[v] for v in missing}
        scopes = [tuple(v for v in members.families[f] if v in sizes) for f in families]
        elimination = Elimination.of(sizes, scopes)
        return cls(members, tuple(missing), tuple(families), prices, relaxed, elimination)

    def must_fit(self) -> None:
        """Refuse what cannot be held."""
        if self.elimination.cells > _MAX_CASE_CELLS:
            raise TooLargeError(
                f"The sum over {len(self.missing)} missing values that depend on each other",
                size=self.elimination.cells,
                limit=_MAX_CASE_CELLS,
                hint="fill in some of them, or leave such rows out",
            )

    @property
    def cells(self) -> int:
        """Cells of the largest array of one case."""
        if not self.families:
            return 1
        return max(self.elimination.cells, *map(self._factor_cells, self.families))

    def relax(self, affordable: int) -> _Sum:
        """Relax families, those with the largest factors first, until the rest is affordable."""
        found = self
        while found.cells > affordable:
            seen = [f for f in found.families if f not in found.missing]
            if not seen:
                break
            found = found._without(max(seen, key=found._factor_cells))
        return found

    def _factor_cells(self, family: int) -> int:
        sizes = [self.members.sizes[v] for v in self.members.families[family] if v in self.missing]
        return math.prod(sizes) * (1 if family in self.missing else self.prices[family])

    def _without(self, family: int) -> _Sum:
        """Relax a family, and leave out what sums to one then."""
        missing, families = list(self.missing), [f for f in self.families if f != family]
        while True:
            used = {v for f in families for v in self.members.families[f] if v != f}
            barren = [v for v in missing if v not in used]
            if not barren:
                break
            missing = [v for v in missing if v in used]
            families = [f for f in families if f not in barren]
        return _Sum.of(self.members, missing, families, self.prices, (*self.relaxed, family))

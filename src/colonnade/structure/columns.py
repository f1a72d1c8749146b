"""Columns: what is asked of a table while a graph is learned, joint counts and sums over them."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.counts import FamilyCounts
from colonnade.missing.treatment import Missing, checked_missing, rows_for_graph, warn_of_rest
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import Countable, bounded, countable
from colonnade.tables.levels import no_rows
from colonnade.threads import run, worker_count

if TYPE_CHECKING:
    from colonnade.kernels.additions import Data, Members

# A joint table of more cells is counted sparsely.
_MAX_DENSE_CELLS = 1 << 22
_MAX_CACHED_CODES = 64
# Configurations, and states of a column, whose rows are listed as bits: the latter take no more
# memory than the codes of the column.
_MAX_LISTED_CONFIGURATIONS = 128
_MAX_LISTED_STATES = 8
_MAX_CACHED_TERMS = 1 << 24
# Cells of the joint tables that are kept of a table whose rows are not at hand: 128 megabytes.
_MAX_KEPT_CELLS = 1 << 24
# Beyond, joint codes, lists of bits and terms of every possible count take too much memory.
_MAX_ROWS_AT_HAND = 1 << 24
# Less work than this (rows times candidates) is done before a thread has started.
_MIN_WORK_FOR_THREADS = 2_000_000

# Parameters of cells and of rows. n observations add lnGamma(p + n) - lnGamma(p) to a score with
# the parameter p, or n ln n if it is zero.
Terms = tuple[float, float]
# The terms of the maximised log likelihood: both are n ln n.
LOG_LIKELIHOOD: Terms = (0.0, 0.0)


class Columns:
    """What is asked of a table without gaps; variables are positions of columns.

    Every answer is made of counts, which the table gives wherever its rows are: many families are
    asked for at once, and small joint tables are kept. `CodedColumns` is the shorter way of rows
    that are at hand.
    """

    def __init__(self, table: Countable) -> None:
        self.table = table
        self.names = table.names
        self.sizes = np.array([variable.cardinality for variable in table.variables], np.int64)
        self.total = table.total
        self.weighted = table.weighted
        self._joints: OrderedDict[tuple[int, ...], Array] = OrderedDict()
        self._kept_cells = 0
        self._changing = threading.Lock()

    def size(self, chosen: Sequence[int]) -> int:
        """Number of joint configurations of some columns."""
        return math.prod(int(self.sizes[k]) for k in chosen)

    def fits(self, *chosen: int) -> bool:
        """Whether the joint table of some columns is small enough to be counted densely."""
        return self.size(chosen) <= _MAX_DENSE_CELLS

    def counts(self, child: int, parents: tuple[int, ...]) -> FamilyCounts:
        """Counts of one family."""
        if not self.fits(child, *parents):
            members = tuple(self.names[k] for k in (*parents, child))
            return self.table.counts([members])[0]
        sizes = tuple(int(self.sizes[p]) for p in parents)
        table = self._table((*parents, child))
        return FamilyCounts.from_array(table.reshape(-1, int(self.sizes[child])), sizes)

    def _table(self, members: tuple[int, ...]) -> Array:
        """Joint counts of some columns, which must fit."""
        return self._joint_tables([members])[0]

    def information(self, members: tuple[int, ...]) -> float:
        """Sum of n ln n over the joint counts of some columns."""
        if not members:
            return float(self.total * np.log(self.total))
        if self.fits(*members):
            values = self._table(members)
        else:
            values = self.counts(members[-1], members[:-1]).values
        seen = values[values > 0].astype(np.float64)
        return float((seen * np.log(seen)).sum())

    def pair_sums(self, chosen: Sequence[int], given: tuple[int, ...]) -> Floats:
        """Sums of n ln n over the joint counts of every pair of columns and those that are given.

        ``[column, column]``; on the diagonal is a column alone, and below it are zeros.
        """
        places = {(*given, k): (i, i) for i, k in enumerate(chosen)}
        for i, k in enumerate(chosen):
            places |= {(*given, k, other): (i, j) for j, other in enumerate(chosen) if j > i}
        sums = np.zeros((len(chosen), len(chosen)))
        wanted = [members for members in places if self.fits(*members)]
        # The columns that are given are a margin of any of these tables, and asked for next.
        for some in self._portions([given, *wanted] if given else wanted):
            for members, table in zip(some, self._joint_tables(some), strict=True):
                if members in places:
                    sums[places[members]] = _sum_of_terms(table, 0.0)
        for members in set(places).difference(wanted):
            sums[places[members]] = self.information(members)
        return sums

    def _portions(self, wanted: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """Yield joint tables, as many at a time as may be kept."""
        some: list[tuple[int, ...]] = []
        cells = 0
        for members in wanted:
            if some and cells + self.size(members) > _MAX_KEPT_CELLS:
                yield some
                some, cells = [], 0
            some.append(members)
            cells += self.size(members)
        if some:
            yield some

    def sums(
        self, members: tuple[int, ...], others: Integers, terms: Terms, child_states: int
    ) -> Floats:
        """Sums of terms over the cells and the rows of joint tables, ``[other, 2]``.

        Each table is that of the members and one of the others, and has to fit. Its rows are summed
        over the last member, the child; with `child_states` of 1 no column is.
        """
        of_cell, of_row = terms
        found = np.empty((others.size, 2))
        tables = self._joint_tables([(*members[:-1], z, members[-1]) for z in others.tolist()])
        for k, table in enumerate(tables):
            rows = table.sum(axis=-1) if child_states > 1 else table
            found[k] = _sum_of_terms(table, of_cell), _sum_of_terms(rows, of_row)
        return found

    def tables(self, members: tuple[int, ...], others: Integers) -> Iterator[Integers]:
        """Joint tables of the members and each of the others, ``[other, configuration, state]``.

        The states are those of the last member, the child, and the other is its last parent. All
        others have the same number of states. Several arrays, of a size that fits into memory; only
        without weights, and for tables that fit.
        """
        states = int(self.sizes[members[-1]])
        at_once = max(1, _MAX_DENSE_CELLS // self.size((*members, int(others[0]))))
        wanted = [(*members[:-1], z, members[-1]) for z in others.tolist()]
        for begin in range(0, len(wanted), at_once):
            some = self._joint_tables(wanted[begin : begin + at_once])
            yield np.stack([table.reshape(-1, states) for table in some])

    def _joint_tables(self, wanted: Sequence[tuple[int, ...]]) -> list[Array]:
        """Dense joint tables of some columns each, with their axes; new ones in one request."""
        keys = [tuple(sorted(members)) for members in wanted]
        with self._changing:
            lacking = [key for key in dict.fromkeys(keys) if key not in self._joints]
            if lacking and not self._joints and max(map(len, lacking)) <= 2:
                lacking = self._pairs()  # a search begins with all of them
            asked = [tuple(self.names[k] for k in key) for key in lacking]
            for key, counts in zip(lacking, self.table.counts(asked) if asked else (), strict=True):
                shape = [int(self.sizes[k]) for k in key]
                self._joints[key] = counts.to_array(_MAX_DENSE_CELLS).reshape(shape)
                self._kept_cells += math.prod(shape)
            found = [self._joints[key] for key in keys]
            while self._kept_cells > _MAX_KEPT_CELLS and len(self._joints) > 1:
                self._kept_cells -= self._joints.popitem(last=False)[1].size
        return [
            table.transpose([key.index(k) for k in members])
            for table, key, members in zip(found, keys, wanted, strict=True)
        ]

    def _pairs(self) -> list[tuple[int, ...]]:
        """All columns, and all pairs of them that fit."""
        count = len(self.names)
        pairs = ((a, b) for a in range(count) for b in range(a + 1, count))
        return [*((k,) for k in range(count)), *(pair for pair in pairs if self.fits(*pair))]


def _sum_of_terms(values: Array, parameter: float) -> float:
    """What numbers of observations add to a score; see `Terms`."""
    seen = values[values > 0].astype(np.float64)
    if parameter == 0.0:
        return float((seen * np.log(seen)).sum())
    from scipy.special import gammaln  # loading it takes longer than most searches

    return float((gammaln(parameter + seen) - gammaln(parameter)).sum())


class CodedColumns(Columns):
    """A table whose rows are at hand, as one array of codes."""

    def __init__(self, coded: CodedTable) -> None:
        super().__init__(coded)
        self.coded = coded
        kind = max((column.dtype for column in coded.codes), key=lambda dtype: dtype.itemsize)
        self.codes = np.stack([column.astype(kind, copy=False) for column in coded.codes])
        self.weights = coded.weights
        self._joint_codes: OrderedDict[tuple[int, ...], NDArray[np.int32]] = OrderedDict()
        self._terms: OrderedDict[float, Floats] = OrderedDict()
        self._most_codes = _MAX_CACHED_CODES
        if coded.memory is not None:
            rest = coded.memory.size - _bytes_at_hand(coded)
            self._most_codes = max(1, min(_MAX_CACHED_CODES, rest // (4 * coded.rows)))

    @cached_property
    def _weights(self) -> Floats:
        # A copy: Numba compiles anew for arrays that cannot be written.
        return np.array(self.weights, np.float64)

    def joint_codes(self, chosen: tuple[int, ...]) -> NDArray[np.int32]:
        """The joint configuration of some columns, one code per row; the last few are cached."""
        found = self._joint_codes.get(chosen)
        if found is None:
            found = np.zeros(self.coded.rows, np.int32)
            for k in chosen:
                found *= np.int32(self.sizes[k])
                found += self.codes[k].astype(np.int32)
            self._joint_codes[chosen] = found
            if len(self._joint_codes) > self._most_codes:
                self._joint_codes.popitem(last=False)
        return found

    def _table(self, members: tuple[int, ...]) -> Array:
        places, size = self.joint_codes(members), self.size(members)
        if self.weights is None:
            return np.bincount(places, minlength=size)
        table = np.bincount(places, self._weights, minlength=size)
        return np.rint(table).astype(np.int64) if self.weights.dtype.kind == "i" else table

    def pair_sums(self, chosen: Sequence[int], given: tuple[int, ...]) -> Floats:
        from colonnade.kernels.additions import fill_pair_sums

        largest = sorted(chosen, key=lambda k: self.sizes[k])[-2:]
        if self.weighted or not self._few_pairs(chosen) or not self.fits(*given, *largest):
            return self._many_pair_sums(chosen, given)
        # Of few rows, all pairs are counted before a list of bits would be made.
        sums = np.zeros((len(chosen), len(chosen)))
        both = np.empty(self.coded.rows, np.int32)
        table = np.empty(self.size((*given, *largest)), np.int32)
        joint, of_cell = self.joint_codes(given), self._term(0.0)
        columns = np.array(chosen, dtype=np.int64)
        fill_pair_sums(joint, self.codes, self.sizes, columns, of_cell, both, table, sums)
        return sums

    def _many_pair_sums(self, chosen: Sequence[int], given: tuple[int, ...]) -> Floats:
        """Sums of pairs by lists of bits, in threads."""
        sums = np.diag([self.information((*given, k)) for k in chosen])

        def fill(i: int) -> None:
            sums[i, i + 1 :] = self.sums_with((*given, chosen[i]), chosen[i + 1 :])

        # Starting threads takes longer than counting few rows.
        threads = 1 if self._few_pairs(chosen) else None
        run([partial(fill, i) for i in range(len(chosen) - 1)], threads)
        return sums

    def sums_with(self, members: tuple[int, ...], others: Sequence[int]) -> Floats:
        """Sums of n ln n over the joint counts of some columns with each of the others."""
        if not self.weighted and all(self.fits(k, *members) for k in others):
            return self.sums(members, np.array(others), LOG_LIKELIHOOD, 1)[:, 0]
        return np.array([self.information((*members, k)) for k in others])

    def _few_pairs(self, chosen: Sequence[int]) -> bool:
        return self.table.rows * len(chosen) ** 2 < _MIN_WORK_FOR_THREADS

    def sums(
        self, members: tuple[int, ...], others: Integers, terms: Terms, child_states: int
    ) -> Floats:
        from colonnade.kernels.additions import addition_sums, weighted_addition_sums

        joint = self._joint(members, child_states)
        threaded = self.coded.rows * others.size > _MIN_WORK_FOR_THREADS
        workers = worker_count() if threaded else 1

        def part(some: Integers) -> Floats:
            if self.weights is not None:
                sums = weighted_addition_sums(joint, self._data, some, self._weights, *terms)
            else:
                of_cell, of_row = (self._term(parameter) for parameter in terms)
                sums = addition_sums(joint, self._data, some, of_cell, of_row)
            return np.asarray(sums)

        if workers == 1:
            return part(others)
        return np.concatenate(run([partial(part, s) for s in np.array_split(others, workers)]))

    def tables(self, members: tuple[int, ...], others: Integers) -> Iterator[Integers]:
        from colonnade.kernels.additions import addition_tables

        joint = self._joint(members, int(self.sizes[members[-1]]))
        at_once = max(1, _MAX_DENSE_CELLS // self.size((*members, int(others[0]))))
        for begin in range(0, others.size, at_once):
            yield addition_tables(joint, self._data, others[begin : begin + at_once])

    def _joint(self, members: tuple[int, ...], child_states: int) -> Members:
        """The joint configuration of some columns, with lists of bits if there are few."""
        from colonnade.kernels.additions import Members, set_bits

        size, codes = self.size(members), self.joint_codes(members)
        listed = self.weights is None and size <= _MAX_LISTED_CONFIGURATIONS
        bits = np.zeros((size if listed else 0, self._words), np.uint64)
        if listed:
            set_bits(codes, bits)
        return Members(codes, np.bincount(codes, minlength=size), bits, child_states)

    @cached_property
    def _data(self) -> Data:
        """All columns as the kernels take them; those with few states have lists of bits."""
        from colonnade.kernels.additions import Data, set_bits

        listed = (self.sizes <= _MAX_LISTED_STATES) & (self.weights is None)
        ends = np.cumsum(np.where(listed, self.sizes, 0))
        begin = np.where(listed, ends - self.sizes, -1)
        bits = np.zeros((int(ends[-1]), self._words), np.uint64)
        for k in np.flatnonzero(listed).tolist():
            set_bits(self.codes[k].astype(np.int32), bits[begin[k] : ends[k]])
        return Data(self.codes, self.sizes, bits, begin)

    @property
    def _words(self) -> int:
        return -(-self.coded.rows // 64)

    def _term(self, parameter: float) -> Floats:
        """What every possible number of observations adds to a score; see `Terms`."""
        known = self._terms.get(parameter)
        if known is None:
            n = np.arange(self.coded.rows + 1, dtype=np.float64)
            if parameter == 0.0:
                known = n * np.log(np.maximum(n, 1.0))
            else:
                # ln p + ln(p + 1) + ...; sums of more digits, because there may be a million.
                known = np.zeros(n.size)
                known[1:] = np.cumsum(np.log(parameter + n[:-1]), dtype=np.longdouble)
            self._terms[parameter] = known
            if len(self._terms) * n.size > _MAX_CACHED_TERMS:
                self._terms.popitem(last=False)
        return known


def _at_hand(coded: CodedTable) -> bool:
    """Whether there is memory for one array of all codes and what is made of it."""
    if coded.rows > _MAX_ROWS_AT_HAND:
        return False
    return coded.memory is None or _bytes_at_hand(coded) <= coded.memory.size


def _bytes_at_hand(coded: CodedTable) -> int:
    """Bytes of codes, twice, of lists of bits, of terms of counts, and of joint codes at work."""
    width = max(column.dtype.itemsize for column in coded.codes)
    sizes = [variable.cardinality for variable in coded.variables]
    bits = sum(size for size in sizes if size <= _MAX_LISTED_STATES) + _MAX_LISTED_CONFIGURATIONS
    at_work = 4 * 4 * worker_count()
    return coded.rows * (2 * width * len(sizes) + bits // 8 + 2 * 8 + at_work)


def read_rows(
    table: Any,
    names: Sequence[str] | None = None,
    group: str | None = None,
    memory: Allowed = None,
) -> Countable:
    """Open a table, or some of its columns, for many passes; it must have at least one row."""
    opened = countable(bounded(table, memory), columns=names, group=group).settled()
    if opened.rows == 0:
        raise no_rows()
    return opened


def prepare(table: Any, missing: Missing = "raise") -> Columns:
    """Read a table for structure learning; `missing` says what its gaps are."""
    opened = read_rows(table)
    chosen = rows_for_graph(opened, checked_missing(missing))
    warn_of_rest(opened, chosen)
    if isinstance(chosen, CodedTable) and _at_hand(chosen):
        return CodedColumns(chosen)
    return Columns(chosen)

"""Columns: what is asked of a table while a graph is learned, joint counts and sums over them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats, Integers
from colonnade.counts import FamilyCounts
from colonnade.exceptions import DataError
from colonnade.missing.treatment import Missing, checked_missing, rows_for_graph, warn_of_rest
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.tables.memory import encode
from colonnade.threads import run, worker_count
from colonnade.variables import Family

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
# Less work than this (rows times candidates) is done before a thread has started.
_MIN_WORK_FOR_THREADS = 2_000_000

# Parameters of cells and of rows. n observations add lnGamma(p + n) - lnGamma(p) to a score with
# the parameter p, or n ln n if it is zero.
Terms = tuple[float, float]
# The terms of the maximised log likelihood: both are n ln n.
LOG_LIKELIHOOD: Terms = (0.0, 0.0)


class Columns:
    """A complete coded table as one array of codes; variables are positions of columns."""

    def __init__(self, coded: CodedTable) -> None:
        self.coded = coded
        self.names = coded.names
        self.sizes = np.array([variable.cardinality for variable in coded.variables], np.int64)
        kind = max((column.dtype for column in coded.codes), key=lambda dtype: dtype.itemsize)
        self.codes = np.stack([column.astype(kind, copy=False) for column in coded.codes])
        self.weights = coded.weights
        self.total = float(coded.rows if coded.weights is None else coded.weights.sum())
        self._joint_codes: OrderedDict[tuple[int, ...], NDArray[np.int32]] = OrderedDict()
        self._terms: OrderedDict[float, Floats] = OrderedDict()

    @cached_property
    def _weights(self) -> Floats:
        # A copy: Numba compiles anew for arrays that cannot be written.
        return np.array(self.weights, np.float64)

    def size(self, chosen: Sequence[int]) -> int:
        """Number of joint configurations of some columns."""
        return math.prod(int(self.sizes[k]) for k in chosen)

    def fits(self, *chosen: int) -> bool:
        """Whether the joint table of some columns is small enough to be counted densely."""
        return self.size(chosen) <= _MAX_DENSE_CELLS

    def joint_codes(self, chosen: tuple[int, ...]) -> NDArray[np.int32]:
        """The joint configuration of some columns, one code per row; the last few are cached."""
        found = self._joint_codes.get(chosen)
        if found is None:
            found = np.zeros(self.coded.rows, np.int32)
            for k in chosen:
                found *= np.int32(self.sizes[k])
                found += self.codes[k].astype(np.int32)
            self._joint_codes[chosen] = found
            if len(self._joint_codes) > _MAX_CACHED_CODES:
                self._joint_codes.popitem(last=False)
        return found

    def counts(self, child: int, parents: tuple[int, ...]) -> FamilyCounts:
        """Counts of one family."""
        if not self.fits(child, *parents):
            variables = self.coded.variables
            family = Family(variables[child], tuple(variables[p] for p in parents))
            return count(self.coded, [family])[0]
        table = self._table((*parents, child))
        sizes = tuple(int(self.sizes[p]) for p in parents)
        return FamilyCounts.from_array(table.reshape(-1, int(self.sizes[child])), sizes)

    def _table(self, members: tuple[int, ...]) -> NDArray[Any]:
        """Joint counts of some columns, which must fit."""
        places, size = self.joint_codes(members), self.size(members)
        if self.weights is None:
            return np.bincount(places, minlength=size)
        table = np.bincount(places, self._weights, minlength=size)
        return np.rint(table).astype(np.int64) if self.weights.dtype.kind == "i" else table

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

    def sums(
        self, members: tuple[int, ...], others: Integers, terms: Terms, child_states: int
    ) -> Floats:
        """Sums of terms over the cells and the rows of joint tables, ``[other, 2]``.

        Each table is that of the members and one of the others, and has to fit. Its rows are summed
        over the last member, the child; with `child_states` of 1 no column is.
        """
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
        """Joint tables of the members and each of the others, ``[other, configuration, state]``.

        The states are those of the last member, the child, and the other is its last parent. All
        others have the same number of states. Several arrays, of a size that fits into memory; only
        without weights, and for tables that fit.
        """
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


def read_rows(
    table: Any, names: Sequence[str] | None = None, group: str | None = None
) -> CodedTable:
    """Encode a table, or some of its columns; it must have at least one row."""
    coded = encode(table, columns=names, group=group)
    if coded.rows == 0:
        raise DataError("Table", "it has no rows.", "give at least one row")
    return coded


def prepare(table: Any, missing: Missing = "raise") -> Columns:
    """Read a table for structure learning; `missing` says what its gaps are."""
    coded = read_rows(table)
    chosen = rows_for_graph(coded, checked_missing(missing))
    warn_of_rest(coded, chosen)
    return Columns(chosen)

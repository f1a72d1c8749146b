"""Columns: what is asked of a table while a graph is learned, joint counts and sums over them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
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
    from colonnade.kernels.additions import Data, Term

# A joint table of more cells is counted sparsely.
_MAX_DENSE_CELLS = 1 << 22
_MAX_CACHED_CODES = 64
# Configurations, and states of a column, whose rows are listed as bits: the latter take no more
# memory than the codes of the column.
_MAX_LISTED_CONFIGURATIONS = 128
_MAX_LISTED_STATES = 8
# Terms of a score by the number of observations, and numbers up to which they are remembered.
_MAX_CACHED_TERMS = 256
_MAX_TABULATED = 1 << 16
# Less work than this (rows times candidates) is done before a thread has started.
_MIN_WORK_FOR_THREADS = 2_000_000

# Parameters of the terms of cells and of rows; see `kernels.additions.Term`.
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
        return np.asarray(self.weights, np.float64)

    def size(self, chosen: Sequence[int]) -> int:
        """Number of joint configurations of some columns."""
        return math.prod(int(self.sizes[k]) for k in chosen)

    def fits(self, *chosen: int) -> bool:
        """Whether the joint table of some columns is small enough to be counted densely."""
        return self.size(chosen) <= _MAX_DENSE_CELLS

    def joint_codes(self, chosen: tuple[int, ...]) -> NDArray[np.int32]:
        """The joint configuration of some columns, one code per row; the last few are cached."""
        from colonnade.kernels.structure import joint_codes

        found = self._joint_codes.get(chosen)
        if found is None:
            found = joint_codes(self.codes, self.sizes, np.array(chosen, np.int64))
            self._joint_codes[chosen] = found
            if len(self._joint_codes) > _MAX_CACHED_CODES:
                self._joint_codes.popitem(last=False)
        return found

    def counts(self, child: int, parents: tuple[int, ...]) -> FamilyCounts:
        """Counts of one family."""
        from colonnade.kernels.structure import joint_counts, weighted_joint_counts

        if not self.fits(child, *parents):
            variables = self.coded.variables
            family = Family(variables[child], tuple(variables[p] for p in parents))
            return count(self.coded, [family])[0]
        size, states = self.size(parents), int(self.sizes[child])
        arguments = (self.joint_codes(parents), size, self.codes[child], states)
        if self.weights is None:
            table = joint_counts(*arguments)
        else:
            table = weighted_joint_counts(*arguments, self._weights)
            if self.weights.dtype.kind == "i":
                table = np.rint(table).astype(np.int64)
        sizes = tuple(int(self.sizes[p]) for p in parents)
        return FamilyCounts.from_array(table.reshape(size, states), sizes)

    def information(self, members: tuple[int, ...]) -> float:
        """Sum of n ln n over the joint counts of some columns."""
        from colonnade.kernels.structure import information

        if not members:
            return float(self.total * np.log(self.total))
        values = self.counts(members[-1], members[:-1]).values
        return float(information(values.ravel().astype(np.float64)))

    def sums(
        self, members: tuple[int, ...], others: Integers, terms: Terms, child_states: int
    ) -> Floats:
        """Sums of terms over the cells and the rows of joint tables, ``[other, 2]``.

        Each table is that of the members and one of the others, and has to fit. Its rows are summed
        over the last member, the child; with `child_states` of 1 no column is.
        """
        from colonnade.kernels.additions import Members, addition_sums, weighted_addition_sums

        codes, (totals, bits) = self.joint_codes(members), self._joint_bits(members)
        joint = Members(codes, totals, bits, child_states)
        cell, row = (self._term(parameter) for parameter in terms)
        workers = worker_count() if codes.size * others.size > _MIN_WORK_FOR_THREADS else 1

        def part(some: Integers) -> Floats:
            if self.weights is None:
                found = addition_sums(joint, self._data, some, cell, row)
            else:
                found = weighted_addition_sums(joint, self._data, some, cell, row, self._weights)
            return np.asarray(found)

        return np.concatenate(run([partial(part, s) for s in np.array_split(others, workers)]))

    def _joint_bits(self, members: tuple[int, ...]) -> tuple[Integers, NDArray[np.uint64]]:
        """How often every joint configuration occurs, and in which rows if there are few."""
        from colonnade.kernels.additions import set_bits

        size, codes = self.size(members), self.joint_codes(members)
        listed = self.weights is None and size <= _MAX_LISTED_CONFIGURATIONS
        bits = np.zeros((size if listed else 0, self._words), np.uint64)
        if listed:
            set_bits(codes, bits)
        return np.bincount(codes, minlength=size), bits

    @cached_property
    def _data(self) -> Data:
        """All columns as the kernels take them; those with few states have lists of bits."""
        from colonnade.kernels.additions import Data, set_bits

        listed = (self.sizes <= _MAX_LISTED_STATES) & (self.weights is None)
        ends = np.cumsum(np.where(listed, self.sizes, 0))
        begin = np.where(listed, ends - self.sizes, -1)
        bits = np.zeros((int(ends[-1]), self._words), np.uint64)
        for k in np.flatnonzero(listed).tolist():
            set_bits(self.codes[k], bits[begin[k] : ends[k]])
        return Data(self.codes, self.sizes, bits, begin)

    @property
    def _words(self) -> int:
        return -(-self.coded.rows // 64)

    def _term(self, parameter: float) -> Term:
        """What a number of observations adds to a score, with values as far as they are known."""
        from colonnade.kernels.additions import Term

        known = self._terms.get(parameter)
        if known is None:
            if parameter == 0.0:
                n = np.arange(self.coded.rows + 1, dtype=np.float64)
                known = n * np.log(np.maximum(n, 1.0))
            else:
                known = np.full(min(self.coded.rows + 1, _MAX_TABULATED), np.nan)
            self._terms[parameter] = known
            if len(self._terms) > _MAX_CACHED_TERMS:
                self._terms.popitem(last=False)
        return Term(parameter, known)


def read_rows(table: Any, names: Sequence[str] | None = None) -> CodedTable:
    """Encode a table, or some of its columns; it must have at least one row."""
    coded = encode(table, columns=names)
    if coded.rows == 0:
        raise DataError("Table", "it has no rows.", "give at least one row")
    return coded


def prepare(table: Any, missing: Missing = "raise") -> Columns:
    """Read a table for structure learning; `missing` says what its gaps are."""
    coded = read_rows(table)
    chosen = rows_for_graph(coded, checked_missing(missing))
    warn_of_rest(coded, chosen)
    return Columns(chosen)

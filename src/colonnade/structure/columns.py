"""Columns: what is asked of a table while a graph is learned, joint counts and sums of n ln n."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.counts import FamilyCounts
from colonnade.exceptions import DataError
from colonnade.missing.treatment import Missing, checked_missing, rows_for_graph, warn_of_rest
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.tables.memory import encode
from colonnade.threads import run
from colonnade.variables import Family

# A joint table of more cells is counted sparsely.
_MAX_DENSE_CELLS = 1 << 22
_MAX_CACHED_CODES = 64


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

    @cached_property
    def _logs(self) -> Floats:
        """n ln n for every possible count n."""
        n = np.arange(self.coded.rows + 1, dtype=np.float64)
        return np.asarray(n * np.log(np.maximum(n, 1.0)))

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
            table = weighted_joint_counts(*arguments, self.weights.astype(np.float64))
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

    def information_sums(
        self, members: tuple[int, ...], child_states: int, others: Sequence[int], workers: int = 1
    ) -> Floats:
        """Sums of n ln n over the cells and rows of joint tables, ``[other, 2]``.

        Each table is that of the members and one of the others. Its rows are summed over the last
        member, the child; with `child_states` of 1 no column is. Without weights, and for tables
        that fit, only.
        """
        from colonnade.kernels.structure import information_sums

        joint, logs = self.joint_codes(members), self._logs
        part = -(-len(others) // workers)

        def sums(low: int) -> Any:
            some = np.array(others[low : low + part], np.int64)
            return information_sums(
                joint, self.size(members), child_states, self.codes, self.sizes, some, logs
            )

        tasks = [partial(sums, low) for low in range(0, len(others), part)]
        return np.concatenate(run(tasks, workers))


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

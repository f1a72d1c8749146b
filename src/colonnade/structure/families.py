"""FamilyScores: the scores of families of one table, each computed once.

A penalised score needs two sums of n ln n, which a compiled pass gives for many candidate parents
at once. A prior needs the counts. Either way the table is read through the same numbered
configurations.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, DataError, listing
from colonnade.priors import Prior
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.tables.memory import encode
from colonnade.threads import run, worker_count
from colonnade.variables import Family

if TYPE_CHECKING:
    from colonnade.structure.scores import Score

__all__ = ["Columns", "FamilyScores", "prepare"]

# A joint table beyond this many cells is counted sparsely.
_DENSE = 1 << 22
_NUMBERINGS = 64
# Fewer rows, times candidates, are done before a thread has started.
_ROWS_FOR_THREADS = 200_000


class Columns:
    """A complete coded table as one array of codes, with configurations numbered on demand."""

    def __init__(self, coded: CodedTable) -> None:
        self.coded = coded
        self.names = coded.names
        self.sizes = np.array([variable.cardinality for variable in coded.variables], np.int64)
        kind = max((column.dtype for column in coded.codes), key=lambda dtype: dtype.itemsize)
        self.codes = np.stack([column.astype(kind, copy=False) for column in coded.codes])
        self.weights = coded.weights
        self.total = float(coded.rows if coded.weights is None else coded.weights.sum())
        self._logs: NDArray[np.float64] | None = None
        self._numbers: OrderedDict[tuple[int, ...], NDArray[np.int32]] = OrderedDict()

    @property
    def logs(self) -> NDArray[np.float64]:
        """n ln n for every possible count n."""
        if self._logs is None:
            n = np.arange(self.coded.rows + 1, dtype=np.float64)
            self._logs = n * np.log(np.maximum(n, 1.0))
        return self._logs

    def size(self, chosen: Sequence[int]) -> int:
        """Number of joint configurations of some columns."""
        return math.prod(int(self.sizes[k]) for k in chosen)

    def numbers(self, chosen: tuple[int, ...]) -> NDArray[np.int32]:
        """The joint configuration of some columns, one number a row; the last few are kept."""
        from colonnade.kernels.structure import number_rows

        found = self._numbers.get(chosen)
        if found is None:
            found = number_rows(self.codes, self.sizes, np.array(chosen, np.int64))
            self._numbers[chosen] = found
            if len(self._numbers) > _NUMBERINGS:
                self._numbers.popitem(last=False)
        return found

    def counts(self, child: int, parents: tuple[int, ...]) -> FamilyCounts:
        """Counts of one family."""
        from colonnade.kernels.structure import joint_counts, weighted_joint_counts

        size, states = self.size(parents), int(self.sizes[child])
        if size * states > _DENSE:
            variables = self.coded.variables
            family = Family(variables[child], tuple(variables[p] for p in parents))
            return count(self.coded, [family])[0]
        arguments = (self.numbers(parents), size, self.codes[child], states)
        if self.weights is None:
            table = joint_counts(*arguments)
        else:
            table = weighted_joint_counts(*arguments, self.weights.astype(np.float64))
            if self.weights.dtype.kind == "i":
                table = np.rint(table).astype(np.int64)
        sizes = tuple(int(self.sizes[p]) for p in parents)
        return FamilyCounts.from_array(table.reshape(size, states), sizes)


class FamilyScores:
    """Scores of families, cached; child and parents are positions of columns."""

    def __init__(self, columns: Columns, score: Score) -> None:
        self.columns = columns
        self.score = score
        self.names = columns.names
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of one family."""
        key = (child, tuple(sorted(parents)))
        if key not in self._known:
            counts = self.columns.counts(*key)
            self._known[key] = (
                self.score.structure_score(counts)
                if isinstance(self.score, Prior)
                else self.score.of(counts, self.columns.total)
            )
        return self._known[key]

    def additions(
        self, child: int, parents: tuple[int, ...], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Scores of the families that have one of the candidates as another parent."""
        keys = [(child, tuple(sorted((*parents, z)))) for z in candidates]
        fresh = [z for z, key in zip(candidates, keys, strict=True) if key not in self._known]
        if fresh:
            parents = tuple(sorted(parents))
            if isinstance(self.score, Prior) or self.columns.weights is not None:
                self._add_by_counts(child, parents, fresh)
            else:
                self._add_by_sums(child, parents, fresh)
        return np.array([self._known[key] for key in keys])

    def _add_by_counts(self, child: int, parents: tuple[int, ...], fresh: list[int]) -> None:
        run([partial(self.family, child, (*parents, z)) for z in fresh])

    def _add_by_sums(self, child: int, parents: tuple[int, ...], fresh: list[int]) -> None:
        from colonnade.kernels.structure import information_sums

        columns, states = self.columns, int(self.columns.sizes[child])
        size = columns.size(parents)
        small = [z for z in fresh if size * states * int(columns.sizes[z]) <= _DENSE]
        for z in set(fresh) - set(small):
            self.family(child, (*parents, z))
        if not small:
            return
        numbers, logs = columns.numbers((*parents, child)), columns.logs
        sums = np.empty((len(small), 2))
        penalty = self.score.penalty(columns.total)  # type: ignore[union-attr]

        def work(part: slice) -> None:
            information_sums(
                numbers,
                size * states,
                states,
                columns.codes,
                columns.sizes,
                np.array(small[part], np.int64),
                logs,
                sums[part],
            )

        workers = worker_count() if columns.coded.rows * len(small) > _ROWS_FOR_THREADS else 1
        size_of_part = -(-len(small) // workers)
        starts = range(0, len(small), size_of_part)
        run([partial(work, slice(low, low + size_of_part)) for low in starts], workers)
        for z, (cells, rows) in zip(small, sums.tolist(), strict=True):
            parameters = size * int(columns.sizes[z]) * (states - 1)
            key = (child, tuple(sorted((*parents, z))))
            self._known[key] = cells - rows - penalty * parameters


def prepare(table: Any, names: Sequence[str] | None = None) -> Columns:
    """Read a table for structure learning: complete, at least one row."""
    if isinstance(table, Columns):
        return table
    coded = encode(table)
    if names is not None:
        coded = coded.select(list(names))
    if coded.rows == 0:
        raise DataError("Table", "it has no rows.", "give at least one row")
    if any(coded.missing):
        gaps = {
            variable.name: missing
            for variable, missing in zip(coded.variables, coded.missing, strict=True)
            if missing
        }
        raise DataError(
            f"Columns {listing(list(gaps))}",
            f"{sum(gaps.values())} values are missing.",
            Advice.COMPLETE_THE_ROWS,
            missing=gaps,
        )
    return Columns(coded)

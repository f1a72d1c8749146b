"""ClassFamily: one table of a network, of whose logarithms the class is the last axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import sort_keys
from colonnade.lookup import MAX_FILLED_CELLS, KeyIndex, Lookup
from colonnade.missing.gaps import distinct
from colonnade.sparse import SparseTable
from colonnade.tables.coded import CodedTable
from colonnade.tables.joints import Columns, column_rows
from colonnade.variables import Family

# Adds log probabilities of the rows from one to another to a block ``[row, class]``.
Step = Callable[[int, int, Floats], None]


def logs_of(take_logs: Callable[[Floats], None], rows: Floats) -> Floats:
    """Return the logarithms of rows."""
    logs = np.array(rows, dtype=np.float64, order="C")
    take_logs(logs)
    return logs


class _RowsByClass(NamedTuple):
    """Stored rows by the configuration of the parents other than the class; see `add_by_class`."""

    key_index: KeyIndex
    begin: NDArray[np.int64]
    label: NDArray[np.int64]
    values: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ClassFamily:
    """One table, of whose logarithms the class, `target`, is the last axis."""

    family: Family
    find_table: Callable[[], SparseTable]
    take_logs: Callable[[Floats], None]
    target: str
    classes: int

    @cached_property
    def table(self) -> SparseTable:
        """The probabilities, which may have to be computed."""
        return self.find_table()

    @cached_property
    def logs(self) -> Lookup:
        """The logarithms of the table."""
        return self.table.lookup.mapped(partial(logs_of, self.take_logs))

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The members other than the class: parents, then the child."""
        return tuple(name for name in self._names if name != self.target)

    @property
    def has_class(self) -> bool:
        """Whether the class is a member."""
        return self.target in self._names

    @cached_property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of all log probabilities ``[*others, class]``; None if those are too many."""
        names, sizes = self._names, [*self.family.parent_sizes, self.family.cardinality]
        pairs = zip(names, sizes, strict=True)
        shape = (*(size for name, size in pairs if name != self.target), self.classes)
        return shape if is_small(shape) else None

    def all_rows(self) -> Floats:
        """All probabilities ``[configuration of the others, class]``.

        Without the class, there is one for all classes.
        """
        names = self._names
        if self.target not in names[:-1]:
            rows = self.table.lookup.filled().rows
            return rows.reshape(-1, self.classes if self.has_class else 1)
        return self.table.by_parent(names.index(self.target)).reshape(-1, self.classes)

    def cells(self, dense: Floats | None, parents: Sequence[Array], child: Array) -> Floats:
        """Look up codes that broadcast with each other, in the dense table if there is one."""
        if dense is None:
            return np.asarray(self._filled.cells(parents, child))
        codes = [*parents, child]
        codes.append(codes.pop(self._names.index(self.target)))
        return np.asarray(dense[tuple(codes)])

    @cached_property
    def _filled(self) -> Lookup:
        return self.logs.filled()

    def places(self, shape: Sequence[int]) -> Integers:
        """Where the cells ``[stored, state]`` are in a table ``[*others, class]`` of that shape."""
        strides = np.cumprod([1, *shape[:0:-1]])[::-1].tolist()
        names = self._names
        if self.has_class:
            strides.insert(names.index(self.target), strides.pop())
        first = self.table.codes @ np.array(strides[: len(names) - 1], dtype=np.int64)
        return np.asarray(first[:, None] + np.arange(self.family.cardinality) * strides[-1])

    @cached_property
    def _names(self) -> list[str]:
        return [*(parent.name for parent in self.family.parents), self.family.child.name]

    def sparse_step(self, coded: CodedTable) -> Step:
        """What adds a table that is not dense to a block of rows."""
        from colonnade.kernels.classify import add_by_class, add_class_rows

        child = self.family.child.name
        chosen = [coded.position(name) for name in self.others if name != child]
        parents = Columns.of(coded).parents(chosen)
        logs = self._covering(coded, chosen)
        if child == self.target:
            index, values = logs.index, logs.values
            return lambda low, high, block: add_class_rows(
                parents, low, high, *index, values, block
            )
        codes, rows = coded.codes[coded.position(child)], self._rows_by_class(logs)
        index, *rest = rows
        return lambda low, high, block: add_by_class(
            parents, codes, low, high, *index, *rest, block
        )

    def add_changes(
        self, coded: CodedTable, label: NDArray[np.intp], changes: Floats, logs: Floats
    ) -> None:
        """Add changes ``[stored, state]`` to the logs ``[row, class]`` of the rows' own classes."""
        from colonnade.kernels.classify import add_changes

        *parents, child = (coded.position(name) for name in self._names)
        columns = Columns.of(coded)
        index = KeyIndex.of(self.table.codes, self.table.parent_sizes)
        add_changes(columns.parents(parents), columns.codes[child], label, *index, changes, logs)

    def _covering(self, coded: CodedTable, chosen: Sequence[int]) -> Lookup:
        """Store all rows that the coded rows need, for every class."""
        if not callable(self.logs.other):
            return self.logs
        sizes = [coded.variables[k].cardinality for k in chosen]
        codes = np.stack([coded.codes[k] for k in chosen], axis=1).astype(np.int32)
        known, _ = distinct(codes[(codes < sizes).all(axis=1)])
        names = [parent.name for parent in self.family.parents]
        if self.target not in names:
            return self.logs.covering(known)
        labels = np.tile(np.arange(self.classes), len(known))
        full = np.repeat(known, self.classes, axis=0)
        return self.logs.covering(np.insert(full, names.index(self.target), labels, axis=1))

    def _rows_by_class(self, logs: Lookup) -> _RowsByClass:
        stored = logs.stored
        names = [parent.name for parent in self.family.parents]
        kept = [k for k, name in enumerate(names) if name != self.target]
        label = np.full(len(stored), -1, dtype=np.int64)
        if self.has_class:
            label = stored[:, names.index(self.target)].astype(np.int64)
        sizes = [self.family.parent_sizes[k] for k in kept]
        keys = sort_keys(stored[:, kept], sizes)
        order = np.lexsort((label, *keys.T[::-1]))
        keys = keys[order]
        first = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)]
        index = KeyIndex.of(stored[order[first]][:, kept], sizes)
        begin = np.append(np.flatnonzero(first), len(keys)).astype(np.int64)
        values = logs.values
        # What follows the stored rows stays where it is.
        moved = np.concatenate([values[order], values[len(order) :]])
        return _RowsByClass(index, begin, label[order], moved)


@dataclass(frozen=True, eq=False, repr=False)
class DenseTables:
    """Tables that hold every configuration, one after the other in one array: see `add_dense`.

    `others` are the members of each but for the class, and `shapes` those of ``[*others, class]``.
    """

    children: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    shapes: tuple[tuple[int, ...], ...]
    values: Floats

    @classmethod
    def of(
        cls, families: Sequence[ClassFamily], take_logs: Callable[[Floats], None]
    ) -> DenseTables:
        """Take the tables of those families that are not too large."""
        chosen = [family for family in families if family.shape is not None]
        shapes = tuple(family.shape or () for family in chosen)
        made = cls(
            tuple(family.family.child.name for family in chosen),
            tuple(family.others for family in chosen),
            shapes,
            np.empty(sum(map(math.prod, shapes))),
        )
        for family, table in zip(chosen, made._each, strict=True):
            table.reshape(-1, family.classes)[:] = family.all_rows()
        take_logs(made.values)  # of all tables at once
        return made

    def changed(
        self, families: Sequence[ClassFamily], changes: Mapping[str, Floats]
    ) -> DenseTables:
        """Tables of zeros, but for the changes ``[stored, state]`` of cells, by child."""
        made = replace(self, values=np.zeros(len(self.values)))
        tables = made.tables()
        for family in families:
            name = family.family.child.name
            if name in tables and name in changes:
                table = tables[name]
                table.reshape(-1)[family.places(table.shape)] = changes[name]
        return made

    def tables(self) -> dict[str, Floats]:
        """The table of each child ``[*others, class]``."""
        return dict(zip(self.children, self._each, strict=True))

    def step(self, coded: CodedTable) -> Step:
        """What adds all tables to a block of rows."""
        from colonnade.kernels.classify import add_dense

        arrays = self._described(coded)
        return lambda low, high, block: add_dense(*arrays, low, high, block)

    def add_own(self, coded: CodedTable, label: NDArray[np.intp], logs: Floats) -> None:
        """Add all tables to the logs ``[row, class]`` of the classes that the rows have."""
        from colonnade.kernels.classify import add_own

        add_own(*self._described(coded), label, logs)

    def _described(self, coded: CodedTable) -> tuple[Any, ...]:
        """Say what the kernels need to know of the columns of rows, and of all tables."""
        position = {name: k for k, name in enumerate(coded.names)}
        chosen = [position[name] for others in self.others for name in others]
        sizes = [variable.cardinality for variable in coded.variables]
        described = column_rows(coded.codes, sizes, range(len(sizes)))[chosen]
        start = np.array([0, *accumulate(map(len, self.others))])
        gaps = any(coded.missing[k] for k in chosen)
        return described, start, _offsets(self.shapes), self.values, gaps

    @property
    def _each(self) -> list[Floats]:
        offset = _offsets(self.shapes).tolist()
        pairs = zip(pairwise(offset), self.shapes, strict=True)
        return [self.values[low:high].reshape(shape) for (low, high), shape in pairs]


def is_small(shape: tuple[int, ...]) -> bool:
    """Whether a table ``[*others, class]`` can hold every configuration."""
    return math.prod(shape) <= MAX_FILLED_CELLS


def _offsets(shapes: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Where tables begin in one array, and its length."""
    return np.array([0, *accumulate(map(math.prod, shapes))], dtype=np.int64)

"""ClassTables: the tables of a network turned so that all classes are looked up at once.

Families without the class are the same for all classes: they cancel, and only the joint
probability needs them. What is left is the Markov blanket of the class. Values that a row lacks
have probability one, unless something depends on them: those are summed out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.classifier._gaps import TableLogs, add_gaps
from colonnade.configurations import sort_keys
from colonnade.lookup import MAX_FILLED_CELLS, KeyIndex, Lookup
from colonnade.missing.gaps import distinct
from colonnade.network import BayesianNetwork
from colonnade.sparse import SparseTable
from colonnade.tables.coded import CodedTable
from colonnade.tables.joints import Columns, column_rows
from colonnade.threads import run
from colonnade.variables import Family

Step = Callable[[int, int, Floats], None]

# Far below the logarithm of any product of probabilities; sums of a few keep nine decimals.
_LOG_OF_IMPOSSIBLE = -1e5
# Rows of one task, and of one block of temporary arrays.
_TASK_ROWS = 1 << 14


class ClassTables:
    """The tables of a network, ready to tell the log probability of every class for every row.

    `target` is the class, and `floor` what to take for the logarithm of zero.
    """

    def __init__(self, network: BayesianNetwork, target: str, floor: float = -math.inf) -> None:
        self.network = network
        self.target = target
        self.floor = floor
        self.classes = network[target].family.cardinality
        self.features = tuple(name for name in network.dag.variables if name != target)

    def log_joint(self, coded: CodedTable, everything: bool, normalised: bool) -> Floats:
        """Log probability of each row together with each class, ``[row, class]``.

        Missing values are summed out, exactly where that is affordable: see `_gaps`. `everything`
        says whether to add the families without the class, and `normalised` whether to condition on
        the row.
        """
        from colonnade.kernels.classify import normalise

        answer = np.zeros((coded.rows, self.classes))
        add = self._adder(coded, everything)

        def task(low: int) -> None:
            block = answer[low : low + _TASK_ROWS]
            add(low, low + len(block), block)
            if normalised:
                normalise(block)

        run([partial(task, low) for low in range(0, coded.rows, _TASK_ROWS)])
        return answer

    @cached_property
    def floored(self) -> ClassTables:
        """The same with a tiny probability for what is impossible.

        Of two classes that cannot have a row, the one for which more is impossible loses.
        """
        return ClassTables(self.network, self.target, _LOG_OF_IMPOSSIBLE)

    def most_probable(self, coded: CodedTable) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Code of the most probable class of each row, and whether any class is possible."""
        best = np.empty(coded.rows, dtype=np.intp)
        possible = np.empty(coded.rows, dtype=bool)
        add = self._adder(coded, everything=False)

        def task(low: int) -> None:
            high = min(low + _TASK_ROWS, coded.rows)
            block = np.zeros((high - low, self.classes))
            add(low, high, block)
            best[low:high] = found = block.argmax(axis=1)
            possible[low:high] = block[np.arange(high - low), found] > -np.inf

        run([partial(task, low) for low in range(0, coded.rows, _TASK_ROWS)])
        return best, possible

    def _adder(self, coded: CodedTable, everything: bool) -> Step:
        """What adds all log probabilities of the rows low..high to a block."""
        coded = coded.select(self.features) if self.features else coded
        families = [family for family in self._families if family.has_class]
        if everything:
            families += [family for family in self._families if not family.has_class]
        dense = [self._dense_with_class, self._dense_without_class][: 1 + everything]
        steps = [tables.step(coded) for tables in dense]
        steps += [family.sparse_step(coded) for family in families if family.shape is None]
        steps += self._gap_steps(coded)

        # Kernels know the columns by their addresses: `held` keeps them where they are.
        def add(low: int, high: int, block: Floats, held: CodedTable = coded) -> None:
            for step in steps:
                step(low, high, block)

        return add

    def _gap_steps(self, coded: CodedTable) -> list[Step]:
        """Rows that lack a value something depends on need more than looking up."""
        dag = self.network.dag
        deep = [name for name in self.features if dag.children(name)]
        if not any(coded.missing[coded.position(name)] for name in deep):
            return []
        lacking = ~coded.select(deep).complete
        position = dag.variables.index(self.target)

        def step(low: int, high: int, block: Floats) -> None:
            rows = lacking[low:high]
            if rows.any():
                here = [column[low:high][rows] for column in coded.codes]
                codes = np.stack(here, axis=1).astype(np.int32)
                codes = np.insert(codes, position, 0, axis=1)
                part = block[None, rows]
                add_gaps(self.network, position, codes, self._filled_logs, part)
                block[rows] = part[0]

        return [step]

    @cached_property
    def _families(self) -> list[_ClassFamily]:
        return [
            _ClassFamily(cpt.family, cpt.table, self._take_logs, self.target, self.classes)
            for cpt in self.network.tables.values()
        ]

    @cached_property
    def _dense_with_class(self) -> _DenseTables:
        return _DenseTables.of([family for family in self._families if family.has_class])

    @cached_property
    def _dense_without_class(self) -> _DenseTables:
        return _DenseTables.of([family for family in self._families if not family.has_class])

    @cached_property
    def _filled_logs(self) -> list[TableLogs]:
        dense = self._dense_with_class.tables()
        pairs = zip(self.network.tables.values(), self._families, strict=True)
        log = partial(_logs, self._take_logs)
        return [
            TableLogs(cpt, partial(family.cells, dense.get(family.family.child.name)), log)
            for cpt, family in pairs
        ]

    def _take_logs(self, rows: Floats) -> None:
        """Replace rows by their logarithms, with `floor` for that of zero."""
        from colonnade.kernels.special import take_logs

        take_logs(rows.reshape(-1))
        if self.floor > -math.inf:
            rows[np.isneginf(rows)] = self.floor

    def __reduce__(self) -> tuple[Any, ...]:
        # What is derived is derived again.
        return type(self), (self.network, self.target, self.floor)


def _logs(take_logs: Callable[[Floats], None], rows: Floats) -> Floats:
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
class _ClassFamily:
    """One table, of whose logarithms the class, `target`, is the last axis."""

    family: Family
    table: SparseTable
    take_logs: Callable[[Floats], None]
    target: str
    classes: int

    @cached_property
    def logs(self) -> Lookup:
        """The logarithms of the table."""
        return self.table.lookup.mapped(partial(_logs, self.take_logs))

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
        """Shape of all log probabilities ``[*others, class]``, or None if those are too many.

        Each of the others has one more code, for missing, with zeros.
        """
        names, sizes = self._names, [*self.family.parent_sizes, self.family.cardinality]
        pairs = zip(names, sizes, strict=True)
        shape = (*(size + 1 for name, size in pairs if name != self.target), self.classes)
        return shape if math.prod(shape) <= MAX_FILLED_CELLS else None

    def fill(self, dense: Floats) -> None:
        """Write all log probabilities into an array of zeros ``[*others, class]``."""
        names = self._names
        if self.target in names[:-1]:
            logs = self.table.by_parent(names.index(self.target))
            self.take_logs(logs)
        else:
            rows = self._filled.rows
            logs = rows.reshape(*self.family.parent_sizes, self.family.cardinality)
            logs = logs if self.has_class else logs[..., None]
        inner = (*(slice(size - 1) for size in dense.shape[:-1]), slice(None))
        dense[inner] = logs

    def cells(self, dense: Floats | None, parents: Sequence[Array], child: Array) -> Floats:
        """Look up codes that broadcast with each other, in the dense table if there is one."""
        if dense is None:
            return np.asarray(self._filled.cells(parents, child))
        codes = [*parents, child]
        codes.append(codes.pop(self._names.index(self.target)))
        return np.asarray(dense[tuple(np.broadcast_arrays(*codes))])

    @cached_property
    def _filled(self) -> Lookup:
        return self.logs.filled()

    @property
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


class _DenseTables(NamedTuple):
    """Tables that hold every configuration, one after the other in one array: see `add_dense`."""

    families: tuple[_ClassFamily, ...]
    others: tuple[str, ...]
    start: NDArray[np.int64]
    offset: NDArray[np.int64]
    values: Floats

    @classmethod
    def of(cls, families: Sequence[_ClassFamily]) -> _DenseTables:
        """Take the tables of those families that are not too large."""
        pairs = [(family, family.shape) for family in families if family.shape is not None]
        offset = np.cumsum([0, *(math.prod(shape) for _, shape in pairs)])
        values = np.zeros(offset[-1])
        for (family, shape), low, high in zip(pairs, offset[:-1], offset[1:], strict=True):
            family.fill(values[low:high].reshape(shape))
        others = tuple(name for family, _ in pairs for name in family.others)
        start = np.cumsum([0, *(len(family.others) for family, _ in pairs)])
        return cls(tuple(family for family, _ in pairs), others, start, offset, values)

    def tables(self) -> dict[str, Floats]:
        """The table of each child ``[*others, class]``."""
        return {
            family.family.child.name: self.values[low:high].reshape(family.shape or -1)
            for family, low, high in zip(
                self.families, self.offset[:-1], self.offset[1:], strict=True
            )
        }

    def step(self, coded: CodedTable) -> Step:
        """What adds all tables to a block of rows."""
        from colonnade.kernels.classify import add_dense

        sizes = [variable.cardinality + 1 for variable in coded.variables]
        columns = column_rows(coded.codes, sizes, range(len(sizes)))
        described = columns[[coded.position(name) for name in self.others]]
        start, offset, values = self.start, self.offset, self.values
        return lambda low, high, block: add_dense(
            described, start, offset, values, low, high, block
        )

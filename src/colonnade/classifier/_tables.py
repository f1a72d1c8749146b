"""ClassTables: the tables of a network turned so that all classes are looked up at once.

Families without the class are the same for all classes: they cancel, and only the joint
probability needs them. What is left is the Markov blanket of the class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._gaps import MeanLogs, add_gaps, floored_log
from colonnade.configurations import sort_keys
from colonnade.cpt import Cpt
from colonnade.network import BayesianNetwork
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import word_starts
from colonnade.tables.joints import column_rows
from colonnade.threads import run

__all__ = ["ClassTables"]

Floats = NDArray[np.float64]
Step = Callable[[int, int, Floats], None]

# Cells up to which a family is stored with all its configurations: 8 MB.
_DENSE_CELLS = 1 << 20
# Far below the logarithm of any product of probabilities; sums of a few keep nine decimals.
_FLOOR = -1e5
# Rows of one task, and of one block of temporary arrays.
_TASK_ROWS = 1 << 14


class ClassTables:
    """The tables of a network, ready to tell the log probability of every class for every row.

    Parameters
    ----------
    network : BayesianNetwork
    target : str
        The class, one of its variables.
    floor : float
        What to take for the logarithm of zero.
    """

    def __init__(self, network: BayesianNetwork, target: str, floor: float = -math.inf) -> None:
        self.network = network
        self.target = target
        self.floor = floor
        self.classes = network[target].family.cardinality
        self.features = tuple(name for name in network.dag.variables if name != target)

    def log_joint(self, coded: CodedTable, everything: bool, normalised: bool) -> Floats:
        """Log probability of each row together with each class, ``[row, class]``.

        Parameters
        ----------
        coded : CodedTable
            Has all `features`; missing values are summed out exactly.
        everything : bool
            Whether to add the families without the class.
        normalised : bool
            Whether to condition on the row.
        """
        from colonnade.kernels.classify import normalise

        answer = np.zeros((coded.rows, self.classes))
        add = self._adder(coded, everything)

        def task(low: int) -> None:
            block = answer[low : low + _TASK_ROWS]
            add(low, low + len(block), block)
            if normalised:
                normalise(block)

        _in_threads(task, coded.rows)
        return answer

    @cached_property
    def floored(self) -> ClassTables:
        """The same with an impossible value not quite so: of two the more impossible one loses."""
        return ClassTables(self.network, self.target, _FLOOR)

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

        _in_threads(task, coded.rows)
        return best, possible

    def _adder(self, coded: CodedTable, everything: bool) -> Step:
        """What adds all log probabilities of the rows low..high to a block."""
        coded = coded.select(self.features) if self.features else coded
        families = [*self._blanket, *(self._apart if everything else [])]
        steps = [_dense_step(coded, [family.dense for family in families if family.dense])]
        steps += [family.step(coded) for family in families if not family.dense]
        steps += self._gap_steps(coded)

        # Kernels know the columns by their addresses: `held` keeps them where they are.
        def add(low: int, high: int, block: Floats, held: CodedTable = coded) -> None:
            for step in steps:
                step(low, high, block)

        return add

    def _gap_steps(self, coded: CodedTable) -> list[Step]:
        """Rows that lack a value something depends on need more than looking up."""
        dag = self.network.dag
        deep = [
            k for k, name in enumerate(self.features) if coded.missing[k] and dag.children(name)
        ]
        if not deep:
            return []
        position = dag.variables.index(self.target)

        def step(low: int, high: int, block: Floats) -> None:
            here = [column[low:high] for column in coded.codes]
            rows = np.zeros(high - low, dtype=bool)
            for k in deep:
                rows |= here[k] == coded.variables[k].cardinality
            if rows.any():
                codes = np.stack([column[rows] for column in here], axis=1).astype(np.int32)
                codes = np.insert(codes, position, 0, axis=1)
                part = block[None, rows]
                add_gaps(self.network, position, codes, self._logs, part)
                block[rows] = part[0]

        return [step]

    @cached_property
    def _blanket(self) -> list[_ClassFamily]:
        return [
            _ClassFamily(cpt, self)
            for cpt in self.network.tables.values()
            if self.target in _names(cpt)
        ]

    @cached_property
    def _apart(self) -> list[_ClassFamily]:
        return [
            _ClassFamily(cpt, self)
            for cpt in self.network.tables.values()
            if self.target not in _names(cpt)
        ]

    @cached_property
    def _logs(self) -> list[MeanLogs]:
        return [MeanLogs(cpt, self.floor) for cpt in self.network.tables.values()]

    def __reduce__(self) -> tuple[Any, ...]:
        # What is derived is derived again.
        return type(self), (self.network, self.target, self.floor)


class _ClassFamily:
    """One table with the class as its last axis.

    Parameters
    ----------
    cpt : Cpt
    tables : ClassTables
        Those it is one of.

    Attributes
    ----------
    others : tuple of str
        The members but for the class: parents, then the child.
    dense : tuple of (names, array) or None
        With one code more for *missing*; None if it would be too large.
    """

    def __init__(self, cpt: Cpt, tables: ClassTables) -> None:
        self.cpt = cpt
        self.target = target = tables.target
        self.classes = tables.classes
        self.floor = tables.floor
        members = (*cpt.family.parents, cpt.family.child)
        self.others = tuple(member.name for member in members if member.name != target)
        sizes = [member.cardinality + 1 for member in members if member.name != target]
        cells = self.classes
        for size in sizes:
            cells *= size
        self.dense: tuple[tuple[str, ...], Floats] | None = None
        if cells <= _DENSE_CELLS:
            self.dense = self.others, self._padded(sizes)

    def _padded(self, sizes: Sequence[int]) -> Floats:
        """All log probabilities ``[others..., class]``, zero where a code means missing."""
        family = self.cpt.family
        logs = floored_log(self.cpt.table.dense(), self.floor)
        logs = logs.reshape(*family.parent_sizes, family.cardinality)
        names = [*(parent.name for parent in family.parents), family.child.name]
        if self.target in names:
            logs = np.moveaxis(logs, names.index(self.target), -1)
        else:
            logs = np.broadcast_to(logs[..., None], (*logs.shape, self.classes))
        padded = np.zeros([*sizes, self.classes])
        padded[tuple(slice(size - 1) for size in sizes)] = logs
        return padded

    def step(self, coded: CodedTable) -> Step:
        """What adds this table to a block of rows, if it is not dense."""
        from colonnade.kernels.classify import add_class_rows, add_items

        parents = [name for name in self.others if name != self.cpt.family.child.name]
        chosen = [coded.position(name) for name in parents]
        sizes = [variable.cardinality for variable in coded.variables]
        described = column_rows(coded.codes, sizes, chosen)
        starts = word_starts([sizes[k] for k in chosen])
        if self.cpt.family.child.name == self.target:
            slots, keys, values, default = self._class_rows

            def step(low: int, high: int, block: Floats) -> None:
                add_class_rows(described, starts, low, high, slots, keys, values, default, block)

            return step
        place, named, item, label, logs, usual = self._items
        child = coded.codes[coded.position(self.cpt.family.child.name)]

        def item_step(low: int, high: int, block: Floats) -> None:
            add_items(
                *(described, starts, child, low, high),
                *(place, named, item, label, logs, usual, block),
            )

        return item_step

    @property
    def _logs(self) -> tuple[Floats, Floats]:
        """Logarithms of the stored rows and of the row of all others."""
        table = self.cpt.table
        default = np.full(table.states, np.nan) if table.default is None else table.default
        return floored_log(table.rows, self.floor), floored_log(default, self.floor)

    @cached_property
    def _class_rows(self) -> tuple[Any, ...]:
        from colonnade.kernels.counting import place_keys

        table = self.cpt.table
        keys = sort_keys(table.codes, table.parent_sizes)
        return (*place_keys(keys, max(1, len(keys))), *self._logs)

    @cached_property
    def _items(self) -> tuple[Any, ...]:
        """Stored rows by the configuration of the parents but for the class; see `add_items`."""
        from colonnade.kernels.counting import place_keys

        table, parents = self.cpt.table, self.cpt.family.parents
        kept = [k for k, parent in enumerate(parents) if parent.name != self.target]
        label = np.full(len(table.codes), -1, dtype=np.int64)
        if len(kept) < len(parents):
            (axis,) = set(range(len(parents))) - set(kept)
            label = table.codes[:, axis].astype(np.int64)
        keys = sort_keys(table.codes[:, kept], [table.parent_sizes[k] for k in kept])
        order = np.lexsort((label, *keys.T[::-1]))
        keys = keys[order]
        fresh = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)]
        item = np.append(np.flatnonzero(fresh), len(keys)).astype(np.int64)
        values, default = self._logs
        placed = place_keys(keys[fresh], max(1, int(fresh.sum())))
        return (*placed, item, label[order], values[order], default)


def _dense_step(coded: CodedTable, tables: Sequence[tuple[Sequence[str], Floats]]) -> Step:
    """What adds all dense tables to a block of rows."""
    from colonnade.kernels.classify import add_dense

    chosen = [coded.position(name) for names, _ in tables for name in names]
    sizes = [variable.cardinality + 1 for variable in coded.variables]
    described = column_rows(coded.codes, sizes, chosen)
    start = np.cumsum([0, *(len(names) for names, _ in tables)])
    offset = np.cumsum([0, *(values.size for _, values in tables)])
    flat = np.concatenate([np.empty(0), *(values.ravel() for _, values in tables)])

    def step(low: int, high: int, block: Floats) -> None:
        add_dense(described, start, offset, flat, low, high, block)

    return step


def _in_threads(task: Callable[[int], None], rows: int) -> None:
    """Do a task for every range of rows, given its first."""
    run([partial(task, low) for low in range(0, rows, _TASK_ROWS)])


def _names(cpt: Cpt) -> set[str]:
    return {cpt.family.child.name, *(parent.name for parent in cpt.family.parents)}

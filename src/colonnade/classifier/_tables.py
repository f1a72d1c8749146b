"""ClassTables: the tables of a network turned so that all classes are looked up at once.

Families without the class are the same for all classes: they cancel, and only the joint
probability needs them. What is left is the Markov blanket of the class. Values that a row lacks
have probability one, unless something depends on them: those are summed out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.classifier._families import ClassFamily, DenseTables, Step, logs_of
from colonnade.classifier._gaps import TableLogs, add_gaps, price
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.missing.gaps import Members
from colonnade.network import BayesianNetwork
from colonnade.sparse import SparseTable
from colonnade.tables.coded import CodedTable
from colonnade.threads import run
from colonnade.variables import Family

# Far below the logarithm of any product of probabilities; sums of a few keep nine decimals.
_LOG_OF_IMPOSSIBLE = -1e5
# Rows of one task, and of one block of temporary arrays.
_TASK_ROWS = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class _Origin:
    """The network that tables come from, which may have to be made, and the table of the class.

    Families refer to this and not to the `ClassTables` that they belong to: objects that refer to
    each other, and their memory, would stay until Python looks for them.
    """

    find_network: Callable[[], BayesianNetwork]
    find_families: Callable[[], Sequence[Family]]
    target: str
    own: Cpt

    @cached_property
    def network(self) -> BayesianNetwork:
        return self.find_network()

    @cached_property
    def families(self) -> tuple[Family, ...]:
        return tuple(self.find_families())

    def cpt(self, name: str) -> Cpt:
        return self.own if name == self.target else self.network[name]

    def table(self, name: str) -> SparseTable:
        return self.cpt(name).table


class ClassTables:
    """The tables of a network, ready to tell the log probability of every class for every row.

    `target` is the class, and `floor` what to take for the logarithm of zero.
    """

    def __init__(self, network: BayesianNetwork, target: str, floor: float = -math.inf) -> None:
        own = network[target]
        origin = _Origin(lambda: network, lambda: network.families, target, own)
        self._describe(origin.network.dag, origin, floor)

    @classmethod
    def grown(
        cls,
        dag: Dag,
        families: Callable[[], Sequence[Family]],
        own: Cpt,
        network: Callable[[], BayesianNetwork],
        others: Sequence[tuple[str, ...]],
        shapes: Sequence[tuple[int, ...]],
        values: Floats,
    ) -> ClassTables:
        """Take the tables of a network that is made when somebody asks for it.

        `own` is the table of the class, and `values` are the logarithms of all tables, one after
        the other: at first that of the class, which is to be filled, and then those of all other
        variables, each of which has the class as a parent. `others` are its other parents and
        itself, and `shapes` those of the tables ``[*others, class]``.
        """
        made = object.__new__(cls)
        made._describe(dag, _Origin(network, families, own.family.child.name, own), -math.inf)
        values[: made.classes] = logs_of(made._take_logs, own.table.rows[0])
        children = made.target, *[members[-1] for members in others]
        dense = DenseTables(children, ((), *others), ((made.classes,), *shapes), values)
        # Fills the cached properties.
        made.__dict__.update(_dense_with_class=dense, _sparse_with_class=[])
        return made

    def _describe(self, dag: Dag, origin: _Origin, floor: float) -> None:
        self.dag, self.target, self.floor, self._origin = dag, origin.target, floor, origin
        self.classes = origin.own.family.cardinality
        self.features = tuple([name for name in dag.variables if name != self.target])
        self._take_logs = partial(_take_logs, floor)

    @property
    def network(self) -> BayesianNetwork:
        """The network itself."""
        return self._origin.network

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of all variables, in the order of the graph."""
        return self._origin.families

    @property
    def own(self) -> Cpt:
        """The table of the class."""
        return self._origin.own

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

    def add_changes(
        self,
        coded: CodedTable,
        label: NDArray[np.intp],
        changes: Mapping[str, Floats],
        logs: Floats,
    ) -> None:
        """Add changes of cells to the logs ``[row, class]`` of the classes that the rows have.

        The changes are those of tables that have the class, by child, each ``[stored, state]``.
        """
        self._dense_with_class.changed(self._families, changes).add_own(coded, label, logs)
        for family in self._families:
            own = changes.get(family.family.child.name)
            if family.shape is None and own is not None:
                family.add_changes(coded, label, own, logs)

    def add_gaps(self, coded: CodedTable, logs: Floats) -> None:
        """Add to the logs ``[row, class]`` of rows what takes sums over the values they lack."""
        for step in self._gap_steps(coded.select(self.features)):
            step(0, coded.rows, logs)

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
        if self.features not in ((), coded.names):
            coded = coded.select(self.features)
        steps, sparse = [self._dense_with_class.step(coded)], self._sparse_with_class
        if everything:
            steps.append(self._dense_without_class.step(coded))
            sparse = [*sparse, *self._sparse_without_class]
        steps += [family.sparse_step(coded) for family in sparse]
        steps += self._gap_steps(coded)

        # Kernels know the columns by their addresses: `held` keeps them where they are.
        def add(low: int, high: int, block: Floats, held: CodedTable = coded) -> None:
            for step in steps:
                step(low, high, block)

        return add

    def _gap_steps(self, coded: CodedTable) -> list[Step]:
        """Rows that lack a value something depends on need more than looking up."""
        if not any(coded.missing):
            return []
        dag = self.dag
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
                members = Members.of(dag, self.families)
                add_gaps(members, position, codes, self._filled_logs, part)
                block[rows] = part[0]

        return [step]

    @cached_property
    def _families(self) -> list[ClassFamily]:
        return [
            ClassFamily(
                family,
                partial(self._origin.table, family.child.name),
                self._take_logs,
                self.target,
                self.classes,
            )
            for family in self.families
        ]

    @cached_property
    def _dense_with_class(self) -> DenseTables:
        chosen = [family for family in self._families if family.has_class]
        return DenseTables.of(chosen, self._take_logs)

    @cached_property
    def _dense_without_class(self) -> DenseTables:
        chosen = [family for family in self._families if not family.has_class]
        return DenseTables.of(chosen, self._take_logs)

    @cached_property
    def _sparse_with_class(self) -> list[ClassFamily]:
        return [family for family in self._families if family.has_class and family.shape is None]

    @cached_property
    def _sparse_without_class(self) -> list[ClassFamily]:
        return [each for each in self._families if not each.has_class and each.shape is None]

    @cached_property
    def _filled_logs(self) -> list[TableLogs]:
        dense = self._dense_with_class.tables()
        log = partial(logs_of, self._take_logs)
        return [
            TableLogs(
                partial(self._origin.cpt, name),
                partial(family.cells, dense.get(name)),
                log,
                1 if name in dense else price(family.table),
            )
            for name, family in zip(self.dag.variables, self._families, strict=True)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        # What is derived is derived again.
        return type(self), (self.network, self.target, self.floor)


def _take_logs(floor: float, rows: Floats) -> None:
    """Replace rows by their logarithms, with `floor` for that of zero."""
    from colonnade.kernels.special import take_logs

    take_logs(rows.reshape(-1))
    if floor > -math.inf:
        rows[np.isneginf(rows)] = floor

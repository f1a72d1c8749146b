"""From coded columns to the counts of families."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Integers
from colonnade.configurations import codes_at
from colonnade.counts import FamilyCounts
from colonnade.exceptions import (
    Advice,
    TooLargeError,
    expected,
    is_word,
)
from colonnade.lookup import word_starts
from colonnade.tables.coded import CodedTable
from colonnade.tables.joints import Columns, Joint, plan
from colonnade.tables.levels import column_error, refuse_absent, refuse_missing
from colonnade.threads import run, worker_count
from colonnade.variables import Family

# Joint tables up to here stay in the innermost cache, four copies of 4 bytes per cell.
_MAX_JOINT_CELLS = 4096
# Joint tables up to this size take no longer to fill than a family takes anyway.
_FREE_JOINT_CELLS = 512
# Rows of one task. It does not depend on the number of threads, so neither do rounded sums.
_TASK_ROWS = 1 << 18
_MIN_ROWS_FOR_THREADS = 1 << 14
# A family is counted densely up to this number of cells, or this number per row.
_MAX_DENSE_CELLS = 1 << 16
_MAX_DENSE_CELLS_PER_ROW = 4
_MAX_SPARSE_CELLS = 1 << 31


def count_families(
    coded: CodedTable,
    families: Sequence[Family],
    missing: Literal["raise", "available"] = "raise",
    *,
    threads: int | None = None,
) -> list[FamilyCounts]:
    """Count how often each state of a child occurs with each configuration of its parents.

    Parameters
    ----------
    coded : CodedTable
        Its weights, if any, are counted instead of rows.
    families : sequence of Family
        Of variables of the table, with the same states.
    missing : {"raise", "available"}
        What to do with rows that lack a value: refuse, or let each family use the rows that are
        complete for it.
    threads : int, optional
        At most this many; by default one per processor. The result does not depend on it.

    Returns
    -------
    list of FamilyCounts
        In the order of `families`.

    Raises
    ------
    DataError
        If values are missing and `missing` is ``"raise"``; `columns` says where and how many.

    Examples
    --------
    >>> from colonnade.variables import Variable
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1, 2])
    >>> coded = CodedTable([x, y], [[0, 1, 1, 0], [2, 0, 2, 2]])
    >>> count_families(coded, [Family(x, (y,))])[0].to_array().tolist()
    [[0, 1], [0, 0], [2, 1]]
    """
    if not isinstance(coded, CodedTable):
        raise expected("a CodedTable", "coded", coded, "make one with encode(table)")
    if not is_word(missing, "raise", "available"):
        raise expected("'raise' or 'available'", "missing", missing)
    workers = worker_count(threads)
    counter = _Counter(coded, families)
    if missing == "raise":
        used = sorted({k for chosen in counter.chosen for k in chosen})
        gaps = {coded.names[k]: coded.missing[k] for k in used}
        refuse_missing(gaps, coded.rows, Advice.COUNT_COMPLETE_ROWS)
    joints, alone = plan(counter.chosen, counter.columns.sizes, joint_limit(coded.rows))
    tasks: list[Callable[[], Any]] = counter.joint_tasks(joints)
    split = len(tasks)
    tasks += [partial(counter.lone, families[f], counter.chosen[f]) for f in alone]
    # Starting threads takes as long as counting a few thousand rows.
    results = run(tasks, workers if coded.rows >= _MIN_ROWS_FOR_THREADS else 1)
    counts = dict(zip(alone, results[split:], strict=True))
    if joints:
        counts.update(counter.margins(joints, results[:split]))
    return [counts[f] for f in range(len(families))]


def family_columns(coded: CodedTable, families: Sequence[Family]) -> list[tuple[int, ...]]:
    """Find the columns of each family, parents first, and check that the states are the same."""
    for family in families:
        if not isinstance(family, Family):
            raise expected("only Family objects", "families", family)
    members = [(*family.parents, family.child) for family in families]
    # Comparing states takes long, so each variable is compared once.
    each = {id(variable): variable for own in members for variable in own}.values()
    refuse_absent([variable.name for variable in each], coded.names)
    for variable in each:
        known = coded.variables[coded.position(variable.name)]
        if variable is not known and variable != known:
            problem = f"coded with the states {known.states}, but the family has {variable.states}."
            hint = "encode the table with the variables of the families"
            raise column_error(variable.name, problem, hint)
    return [tuple(coded.position(variable.name) for variable in own) for own in members]


def joint_limit(rows: int) -> int:
    """Return how large a joint table of several families may be for it to pay.

    Filling and taking apart a joint table costs time for each of its cells, which must be small
    against the rows, or against all else that is done for a family.
    """
    return min(max(rows // 8, _FREE_JOINT_CELLS), _MAX_JOINT_CELLS)


class _Counter:
    """One table being counted; `chosen` are the columns of each family."""

    def __init__(self, coded: CodedTable, families: Sequence[Family]) -> None:
        self.families = families
        self.chosen = family_columns(coded, families)
        self.columns = Columns.of(coded)
        self.rows = coded.rows
        self.weighted = coded.weights is not None
        self.weights = np.empty(0, np.int64) if coded.weights is None else coded.weights

    def joint_tasks(self, joints: Sequence[Joint]) -> list[Callable[[], Array]]:
        """Return tasks that each count a range of rows in all joint tables."""
        from colonnade.kernels.counting import TABLE_COPIES, count_joints

        if not joints:
            return []
        columns, start = self.columns.of_joints(joints)
        offset = np.cumsum([0, *(TABLE_COPIES * joint.cells for joint in joints)])
        # A task has too few rows to overflow 32 bits, and half as wide is less cache.
        weights = self.weights if self.weighted else np.empty(0, np.uint32)

        def task(low: int) -> Array:
            counts = np.zeros(offset[-1], dtype=weights.dtype)
            high = min(low + _TASK_ROWS, self.rows)
            count_joints(columns, start, offset, low, high, weights, counts)
            return counts

        return [partial(task, low) for low in range(0, max(self.rows, 1), _TASK_ROWS)]

    def margins(self, joints: Sequence[Joint], parts: Sequence[Array]) -> dict[int, FamilyCounts]:
        """Add up the parts of all tasks and take the families out of the joint tables."""
        from colonnade.kernels.counting import TABLE_COPIES

        # Always in the order of rows: rounded sums must not depend on which thread was first.
        kind = np.float64 if self.weights.dtype.kind == "f" else np.int64
        counts = parts[0].astype(kind)
        for part in parts[1:]:
            counts += part
        found = {}
        offset = 0
        for joint in joints:
            end = offset + TABLE_COPIES * joint.cells
            table = counts[offset:end].reshape(TABLE_COPIES, -1).sum(axis=0)
            offset = end
            table = table.reshape(self.columns.shape(joint.columns))
            for f in joint.members:
                found[f] = _counts_of(self.families[f], self._margin(table, joint, self.chosen[f]))
        return found

    def _margin(self, table: Array, joint: Joint, family: tuple[int, ...]) -> Array:
        """Sum out the columns of other families and leave out the code for missing."""
        inside = set(family)
        others = tuple(axis for axis, k in enumerate(joint.columns) if k not in inside)
        states = self.columns.cardinality
        complete = tuple(slice(states[k]) if k in inside else slice(None) for k in joint.columns)
        kept = [k for k in joint.columns if k in inside]
        order = [kept.index(k) for k in family if k in joint.columns]
        margin: Array = table[complete].sum(axis=others).transpose(order)
        return margin

    def lone(self, family: Family, chosen: tuple[int, ...]) -> FamilyCounts:
        """Count a family that is too large for a joint table."""
        cells = math.prod(self.columns.shape(chosen))
        if cells <= max(_MAX_DENSE_CELLS, _MAX_DENSE_CELLS_PER_ROW * self.rows) and cells < 2**31:
            return self._dense(family, chosen)
        return self._sparse(family, chosen)

    def _dense(self, family: Family, chosen: tuple[int, ...]) -> FamilyCounts:
        from colonnade.kernels.counting import count_large

        counts = np.zeros(self.columns.shape(chosen), dtype=self.weights.dtype)
        count_large(self.columns.digits(chosen), self.rows, self.weights, counts.reshape(-1))
        complete = tuple(slice(self.columns.cardinality[k]) for k in chosen)
        return _counts_of(family, counts[complete])

    def _sparse(self, family: Family, chosen: tuple[int, ...]) -> FamilyCounts:
        """Number the configurations that occur, count those, and put them in order."""
        from colonnade.kernels.counting import count_sparse, number_configurations

        sizes = family.parent_sizes
        starts = word_starts(sizes)
        parents = self.columns.parents(chosen[:-1])
        numbers, keys = number_configurations(parents, starts, self.rows)
        cells = len(keys) * family.cardinality
        if cells > _MAX_SPARSE_CELLS:
            raise TooLargeError(
                f"The counts of {family.child.name!r}",
                size=cells,
                limit=_MAX_SPARSE_CELLS,
                hint="use fewer parents or fewer states",
            )
        values = np.zeros((len(keys), family.cardinality), dtype=self.weights.dtype)
        count_sparse(self.columns.codes[chosen[-1]], numbers, self.weights, values)
        order = np.lexsort(keys.T[::-1])
        order = order[np.any(values[order], axis=1)]
        return FamilyCounts.trusted(sizes, _unpacked(keys[order], starts, sizes), values[order])


def _counts_of(family: Family, table: Array) -> FamilyCounts:
    """Take the counts of a family out of a table with its members as axes."""
    # Most tables are nearly empty: cells that have counts are found faster than rows.
    sizes = family.parent_sizes
    rows = table.reshape(math.prod(sizes), family.cardinality)
    index = np.flatnonzero(rows) // family.cardinality
    first = np.ones(len(index), dtype=bool)
    np.not_equal(index[1:], index[:-1], out=first[1:])
    index = index[first]
    kind = np.float64 if rows.dtype.kind == "f" else np.int64
    return FamilyCounts.trusted(sizes, codes_at(index, sizes), rows[index].astype(kind))


def _unpacked(keys: Integers, starts: Integers, sizes: tuple[int, ...]) -> NDArray[np.int32]:
    """Return the parent codes `[configuration, parent]` of keys `[configuration, word]`."""
    codes = np.empty((len(keys), len(sizes)), dtype=np.int32)
    for word, (begin, end) in enumerate(pairwise(starts)):
        rest = keys[:, word]
        for parent in range(end - 1, begin - 1, -1):
            rest, codes[:, parent] = np.divmod(rest, sizes[parent])
    return codes

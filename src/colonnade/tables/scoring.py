"""Log probability of coded rows under the tables of families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.exceptions import counted, expected
from colonnade.lookup import Lookup
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count_families, family_columns, joint_limit
from colonnade.tables.joints import Columns, Joint, plan
from colonnade.threads import run
from colonnade.variables import Family

Step = Callable[[int, int, Floats], None]

_TASK_ROWS = 1 << 17
# Smaller than for counting: several tables are looked up together and share the innermost cache.
_MAX_JOINT_CELLS = 2048


def row_log_probability(
    coded: CodedTable,
    families: Sequence[Family],
    logs: Sequence[Lookup],
    *,
    threads: int | None = None,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Add up the log probabilities of all families, for each row.

    Parameters
    ----------
    coded : CodedTable
        Weights play no part.
    families : sequence of Family
        Of variables of the table, with the same states.
    logs : sequence of Lookup
        Natural logarithms of the probabilities of each family; minus infinity for what is
        impossible.
    threads : int, optional
        At most this many; by default one per processor. The result does not depend on it.

    Returns
    -------
    values : array of float64 [row]
        NaN where `complete` is False.
    complete : array of bool [row]
        Whether the row has a value for every variable of the families.

    Examples
    --------
    >>> from colonnade.variables import Variable
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
    >>> coded = CodedTable([x, y], [[0, 1, 2], [1, 1, 0]])
    >>> logs = [Lookup((), np.log([[0.25, 0.75]]))]
    >>> logs += [Lookup((2,), np.log([[0.5, 0.5], [0.2, 0.8]]))]
    >>> values, complete = row_log_probability(coded, [Family(y), Family(x, (y,))], logs)
    >>> np.exp(values).round(2).tolist(), complete.tolist()
    ([0.15, 0.6, nan], [True, True, False])
    """
    if not isinstance(coded, CodedTable):
        raise expected("a CodedTable", "coded", coded, "make one with encode(table)")
    columns = family_columns(coded, families)
    for family, table in zip(families, logs, strict=True):
        _check(family, table)
    steps = _steps(coded, columns, logs)
    sums = np.empty(coded.rows)

    def task(low: int) -> None:
        for step in steps:
            step(low, min(low + _TASK_ROWS, coded.rows), sums)

    run([partial(task, low) for low in range(0, coded.rows, _TASK_ROWS)], threads)
    if any(coded.missing[k] for chosen in columns for k in chosen):
        return sums, ~np.isnan(sums)
    return sums, np.ones(coded.rows, dtype=bool)


def _steps(
    coded: CodedTable, families: Sequence[tuple[int, ...]], logs: Sequence[Lookup]
) -> list[Step]:
    """What looks up the tables of families, given by their columns, for rows low..high."""
    columns = Columns.of(coded)
    logs = [_covering(coded, chosen, table) for chosen, table in zip(families, logs, strict=True)]
    full = [f for f, table in enumerate(logs) if table.full]
    members = [families[f] for f in full]
    # One axis per column, and NaN at codes for missing.
    tables = [logs[f].padded(columns.shape(families[f]), np.nan) for f in full]
    limit = min(joint_limit(coded.rows), _MAX_JOINT_CELLS)
    joints, alone = plan(members, columns.sizes, limit)
    steps = [_joint_step(columns, joints, members, tables)]
    steps += [_large_step(columns, members[f], tables[f]) for f in alone]
    for chosen, table in zip(families, logs, strict=True):
        if not table.full:
            steps.append(_sparse_step(columns, chosen, table))
    return steps


def _covering(coded: CodedTable, chosen: tuple[int, ...], table: Lookup) -> Lookup:
    """Store all rows that the coded rows need."""
    if not callable(table.other):
        return table
    variables = [coded.variables[k] for k in chosen]
    family = Family(variables[-1], tuple(variables[:-1]))
    return table.covering(count_families(coded, [family], "available")[0].codes)


def _joint_step(
    columns: Columns,
    joints: Sequence[Joint],
    families: Sequence[tuple[int, ...]],
    tables: Sequence[Floats],
) -> Step:
    """Begin the sums, with the tables of families that share a joint table added up."""
    from colonnade.kernels.scoring import TABLES_AT_ONCE, write_joints

    # Empty joint tables, which add nothing, make the number a multiple of TABLES_AT_ONCE.
    joints = [*joints, *[Joint((), 1, ())] * (-len(joints) % TABLES_AT_ONCE)]
    sums = [np.empty(0)]
    for joint in joints:
        total = np.zeros(columns.shape(joint.columns))
        for f in joint.members:
            # The axes of the family in the order of the joint table, the others of length 1.
            inside = [k for k in families[f] if columns.sizes[k] > 1]
            order = [inside.index(k) for k in joint.columns if k in inside]
            shape = [columns.sizes[k] if k in inside else 1 for k in joint.columns]
            table = tables[f].reshape(columns.shape(inside))
            total += table.transpose(order).reshape(shape)
        sums.append(total.ravel())
    described, start = columns.of_joints(joints)
    offset = np.cumsum([0, *(joint.cells for joint in joints)])
    values = np.concatenate(sums)
    return lambda low, high, out: write_joints(described, start, offset, low, high, values, out)


def _large_step(columns: Columns, chosen: tuple[int, ...], table: Floats) -> Step:
    from colonnade.kernels.scoring import add_large

    described, values = columns.digits(chosen), table.ravel()
    return lambda low, high, out: add_large(described, low, high, values, out)


def _sparse_step(columns: Columns, chosen: tuple[int, ...], table: Lookup) -> Step:
    from colonnade.kernels.scoring import add_sparse

    parents, child = columns.parents(chosen[:-1]), columns.codes[chosen[-1]]
    index, values = table.index, table.values
    return lambda low, high, out: add_sparse(parents, child, low, high, *index, values, out)


def _check(family: Family, logs: Lookup) -> None:
    """Refuse logarithms that are not those of the family, or of no probabilities."""
    if not isinstance(logs, Lookup):
        raise expected("only Lookup objects", "logs", logs)
    if (logs.parent_sizes, logs.states) != (family.parent_sizes, family.cardinality):
        sizes = f"parent sizes {family.parent_sizes} and {counted(family.cardinality, 'state')}"
        got = f"{logs.parent_sizes} and {logs.states}"
        raise expected(f"logarithms with {sizes}", "logs", logs, got=got)
    # A sum that is NaN says that a value is missing.
    if logs.values.size and not logs.values.max() < np.inf:
        hint = "logarithms of probabilities are finite or minus infinity"
        raise expected("neither NaN nor infinity", "logs", logs, hint)

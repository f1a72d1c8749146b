"""Log probability of coded rows under the tables of families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.configurations import sort_keys
from colonnade.exceptions import expected
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import family_columns, joint_limit, word_starts
from colonnade.tables.joints import Joint, column_rows, plan
from colonnade.threads import run
from colonnade.variables import Family

__all__ = ["LogTable", "row_log_probability"]

_TASK_ROWS = 1 << 17
# Smaller than for counting: several tables are looked up together and share the innermost cache.
_JOINT_CELLS = 2048


@dataclass(frozen=True, slots=True, eq=False)
class LogTable:
    """Log probabilities of one family: for all configurations, or for some and all others.

    Parameters
    ----------
    family : Family
    values : array [configuration, state] or [stored, state]
        Natural logarithms; minus infinity for what is impossible.
    codes : array of int [stored, parent], optional
        Parent codes of the configurations stored, all different. Without it, `values` has every
        configuration in order.
    default : array [state], optional
        The row of configurations not stored; needed with `codes`, and only then.

    Examples
    --------
    >>> from colonnade.variables import Variable
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
    >>> LogTable(Family(x, (y,)), np.log([[0.5, 0.5], [0.1, 0.9]])).values.shape
    (2, 2)
    """

    family: Family
    values: NDArray[np.float64]
    codes: NDArray[Any] | None = None
    default: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.family, Family):
            raise expected("a Family", "family", self.family)
        family = self.family
        rows = family.configurations if self.codes is None else len(self.codes)
        values = _logarithms(self.values, (rows, family.cardinality), "values")
        if (self.codes is None) != (self.default is None):
            raise expected("`codes` and `default` together or not at all", "default", self.default)
        codes, default = self.codes, self.default
        if codes is not None:
            default = _logarithms(default, (family.cardinality,), "default")
            codes = np.asarray(codes)
            limits = np.array(family.parent_sizes, dtype=np.uint64)
            if codes.shape != (rows, len(limits)) or codes.dtype.kind not in "iu":
                what = f"integers of shape {(rows, len(limits))}"
                raise expected(what, "codes", codes, got=f"{codes.dtype} of shape {codes.shape}")
            if (codes.astype(np.uint64) >= limits).any():
                raise expected("codes below the parent sizes", "codes", codes)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "default", default)


def row_log_probability(
    coded: CodedTable, tables: Sequence[LogTable], *, threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Add up the log probabilities of all families, for each row.

    Parameters
    ----------
    coded : CodedTable
        Weights play no part.
    tables : sequence of LogTable
        Of variables of the table, with the same states.
    threads : int, optional
        At most so many; by default one for each processor. The result does not depend on it.

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
    >>> tables = [LogTable(Family(y), np.log([[0.25, 0.75]]))]
    >>> tables += [LogTable(Family(x, (y,)), np.log([[0.5, 0.5], [0.2, 0.8]]))]
    >>> values, complete = row_log_probability(coded, tables)
    >>> np.exp(values).round(2).tolist(), complete.tolist()
    ([0.15, 0.6, nan], [True, True, False])
    """
    if not isinstance(coded, CodedTable):
        raise expected("a CodedTable", "coded", coded, "make one with encode(table)")
    for table in tables:
        if not isinstance(table, LogTable):
            raise expected("only LogTable objects", "tables", table)
    columns = family_columns(coded, [table.family for table in tables])
    scorer = _Scorer(coded, tables, columns)
    sums = np.empty(coded.rows)

    def task(low: int) -> None:
        for step in scorer.steps:
            step(low, min(low + _TASK_ROWS, coded.rows), sums)

    run([partial(task, low) for low in range(0, coded.rows, _TASK_ROWS)], threads)
    if any(coded.missing[k] for family in columns for k in family):
        return sums, ~np.isnan(sums)
    return sums, np.ones(coded.rows, dtype=bool)


class _Scorer:
    """Tables made ready to be looked up."""

    def __init__(
        self, coded: CodedTable, tables: Sequence[LogTable], columns: Sequence[tuple[int, ...]]
    ) -> None:
        self.codes = coded.codes
        self.cardinality = [variable.cardinality for variable in coded.variables]
        gaps = [int(rows > 0) for rows in coded.missing]
        self.sizes = [size + gap for size, gap in zip(self.cardinality, gaps, strict=True)]
        self.steps: list[Callable[[int, int, NDArray[np.float64]], None]] = []
        dense = [f for f, table in enumerate(tables) if table.codes is None]
        chosen = [columns[f] for f in dense]
        joints, alone = plan(chosen, self.sizes, min(joint_limit(coded.rows), _JOINT_CELLS))
        self._write_joints(joints, [tables[f] for f in dense], chosen)
        for f in alone:
            self._add_large(tables[dense[f]], chosen[f])
        for table, family in zip(tables, columns, strict=True):
            if table.codes is not None:
                self._add_sparse(table, table.codes, family)

    def _padded(self, table: LogTable, family: tuple[int, ...]) -> NDArray[np.float64]:
        """Return a table with one axis a column, and NaN at codes for missing."""
        inner = tuple(self.cardinality[k] for k in family)
        if all(self.sizes[k] == self.cardinality[k] for k in family):
            return table.values.reshape(inner)
        padded = np.full([self.sizes[k] for k in family], np.nan)
        padded[tuple(slice(size) for size in inner)] = table.values.reshape(inner)
        return padded

    def _write_joints(
        self,
        joints: Sequence[Joint],
        tables: Sequence[LogTable],
        columns: Sequence[tuple[int, ...]],
    ) -> None:
        """Begin the sums, with the tables of families that share a joint table added up."""
        from colonnade.kernels.scoring import AT_ONCE, write_joints

        # Empty joint tables, which add nothing, make the number a multiple of AT_ONCE.
        joints = [*joints, *[Joint((), 1, ())] * (-len(joints) % AT_ONCE)]
        sums = []
        for joint in joints:
            total = np.zeros([self.sizes[k] for k in joint.columns])
            for f in joint.members:
                # The axes of the family in the order of the joint table, the others of length 1.
                family = [k for k in columns[f] if self.sizes[k] > 1]
                padded = self._padded(tables[f], columns[f]).reshape(
                    [self.sizes[k] for k in family]
                )
                order = [family.index(k) for k in joint.columns if k in family]
                shape = [self.sizes[k] if k in family else 1 for k in joint.columns]
                total += padded.transpose(order).reshape(shape)
            sums.append(total.ravel())
        described = column_rows(self.codes, self.sizes, (k for j in joints for k in j.columns))
        start = np.cumsum([0, *(len(joint.columns) for joint in joints)])
        offset = np.cumsum([0, *(joint.cells for joint in joints)])
        values = np.concatenate([np.empty(0), *sums])
        self.steps.append(
            lambda low, high, out: write_joints(described, start, offset, low, high, values, out)
        )

    def _add_large(self, table: LogTable, family: tuple[int, ...]) -> None:
        from colonnade.kernels.scoring import add_large

        described = column_rows(self.codes, self.sizes, family)
        values = self._padded(table, family).ravel()
        self.steps.append(lambda low, high, out: add_large(described, low, high, values, out))

    def _add_sparse(self, table: LogTable, codes: NDArray[Any], family: tuple[int, ...]) -> None:
        from colonnade.kernels.counting import place_keys
        from colonnade.kernels.scoring import add_sparse

        sizes = table.family.parent_sizes
        starts = word_starts(sizes)
        described = column_rows(self.codes, self.cardinality, family[:-1])
        child = self.codes[family[-1]]
        slots, keys = place_keys(sort_keys(codes, sizes), len(table.values))
        values, default = table.values, table.default
        self.steps.append(
            lambda low, high, out: add_sparse(
                described, starts, child, low, high, slots, keys, values, default, out
            )
        )


def _logarithms(values: Any, shape: tuple[int, ...], parameter: str) -> NDArray[np.float64]:
    """Return log probabilities as a contiguous array that is not writeable, or refuse them."""
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        what = f"an array of shape {shape}"
        raise expected(what, parameter, values, got=f"shape {array.shape}")
    if array.size and not array.max() < np.inf:
        hint = "logarithms of probabilities are finite or minus infinity"
        raise expected("neither NaN nor infinity", parameter, values, hint)
    array.setflags(write=False)
    return array

"""Which families share a joint table.

Two families with common variables, say (a | b) and (c | b), are both margins of the joint table of
a, b and c. As long as the joint table is small, one pass for it costs half of two passes. So
families are put together greedily up to a number of cells, and taken apart at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.tables.coded import CodedTable

# Joint tables that are considered for one more family: bounds the time to plan many families.
_MAX_CANDIDATES = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Columns:
    """The columns of a coded table in the form in which kernels read them.

    Attributes
    ----------
    codes : tuple of arrays [row]
    cardinality : tuple of int
        Number of states of each column.
    sizes : tuple of int
        Number of codes of each column: one more if values are missing.
    """

    codes: tuple[NDArray[Any], ...]
    cardinality: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, coded: CodedTable) -> Columns:
        """Take the columns of a table.

        Examples
        --------
        >>> from colonnade.variables import Variable
        >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
        >>> Columns.of(CodedTable([x, y], [[0, 1], [0, 2]])).sizes
        (2, 3)
        """
        cardinality = tuple(variable.cardinality for variable in coded.variables)
        gaps = (int(rows > 0) for rows in coded.missing)
        return cls(coded.codes, cardinality, tuple(map(sum, zip(cardinality, gaps, strict=True))))

    def shape(self, chosen: Iterable[int]) -> list[int]:
        """Return the shape of a table with one axis per column."""
        return [self.sizes[k] for k in chosen]

    def digits(self, chosen: Iterable[int]) -> NDArray[np.int64]:
        """Describe columns of which a missing value is one more code."""
        return column_rows(self.codes, self.sizes, chosen)

    def parents(self, chosen: Iterable[int]) -> NDArray[np.int64]:
        """Describe columns of which a missing value is beyond all codes that count."""
        return column_rows(self.codes, self.cardinality, chosen)

    def of_joints(self, joints: Sequence[Joint]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Describe the columns of joint tables, and say where those of each table start."""
        described = self.digits(k for joint in joints for k in joint.columns)
        return described, np.cumsum([0, *(len(joint.columns) for joint in joints)])


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint table of some columns and the families that are its margins.

    Parameters
    ----------
    columns : tuple of int
        In the order of the axes.
    cells : int
    members : tuple of int
        Positions of the families.
    """

    columns: tuple[int, ...]
    cells: int
    members: tuple[int, ...]


class _Draft:
    """A joint table in the making."""

    def __init__(self) -> None:
        self.mask = 0
        self.cells = 1
        self.columns: list[int] = []
        self.members: list[int] = []


def plan(
    families: Sequence[Sequence[int]], sizes: Sequence[int], limit: int
) -> tuple[list[Joint], list[int]]:
    """Put families together in joint tables of at most `limit` cells.

    Parameters
    ----------
    families : sequence of sequences of int
        The columns of each family.
    sizes : sequence of int
        Number of different codes of each column. Columns of size 1 take no part: their code is 0.
    limit : int

    Returns
    -------
    joints : list of Joint
        Together they hold every family that has at most `limit` cells.
    alone : list of int
        The families with more.

    Examples
    --------
    >>> joints, alone = plan([(0, 1), (0, 2), (2, 3)], sizes=(3, 3, 3, 50), limit=27)
    >>> joints[0].columns, joints[0].members, alone
    ((0, 1, 2), (0, 1), [2])
    """
    cells = [math.prod(sizes[k] for k in family) for family in families]
    alone = [f for f in range(len(families)) if cells[f] > limit]
    drafts: list[_Draft] = []
    for f in sorted(range(len(families)), key=lambda f: -cells[f]):
        if cells[f] > limit:
            continue
        family = [k for k in families[f] if sizes[k] > 1]
        draft, extra = _best(drafts[-_MAX_CANDIDATES:], family, sizes, limit)
        if draft is None:
            draft, extra = _Draft(), family
            drafts.append(draft)
        for k in extra:
            draft.mask |= 1 << k
            draft.cells *= sizes[k]
            draft.columns.append(k)
        draft.members.append(f)
    joints = [Joint(tuple(d.columns), d.cells, tuple(d.members)) for d in drafts]
    return joints, alone


def _best(
    drafts: Sequence[_Draft], family: list[int], sizes: Sequence[int], limit: int
) -> tuple[_Draft | None, list[int]]:
    """Find the joint table that needs the fewest further columns, then the fewest cells."""
    best, further, key = None, family, (len(family) + 1, 0)
    for draft in drafts:
        extra = [k for k in family if not draft.mask >> k & 1]
        cells = draft.cells * math.prod(sizes[k] for k in extra)
        if cells <= limit and (len(extra), cells) < key:
            best, further, key = draft, extra, (len(extra), cells)
    return best, further


def column_rows(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int], chosen: Iterable[int]
) -> NDArray[np.int64]:
    """Describe columns to the kernels: address, bytes per code, size.

    The addresses are valid as long as the columns exist.

    Examples
    --------
    >>> column_rows([np.zeros(2, np.uint16)], [300], [0])[:, 1:].tolist()
    [[2, 300]]
    """
    rows = [(codes[k].ctypes.data, codes[k].itemsize, sizes[k]) for k in chosen]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)

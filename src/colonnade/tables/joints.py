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

    A column has as many codes (`sizes`) as states (`cardinality`), one more if values are missing.
    """

    codes: tuple[NDArray[Any], ...]
    cardinality: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, coded: CodedTable) -> Columns:
        """Take the columns of a table."""
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
    """A joint table of columns, in the order of its axes, and the families that are its margins."""

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
    """Put families, given by their columns, together in joint tables of at most `limit` cells.

    Returns the joint tables, and the families that are larger than that. `sizes` are the numbers of
    codes; columns of size 1 take no part, as their code is always 0.
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
    """
    rows = [(codes[k].ctypes.data, codes[k].itemsize, sizes[k]) for k in chosen]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)

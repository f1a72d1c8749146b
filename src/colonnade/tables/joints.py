"""Which families share a joint table.

Two families with common variables, say (a | b) and (c | b), are both margins of the joint table of
a, b and c. As long as the joint table is small, one pass for it costs half of two passes. So
families are put together greedily up to a number of cells, and taken apart at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Array, Integers
from colonnade.tables.coded import CodedTable

# Joint tables that are considered for one more family: bounds the time to plan many families.
_MAX_CANDIDATES = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Columns:
    """The columns of a coded table in the form in which kernels read them.

    A column has as many codes (`sizes`) as states (`cardinality`), one more if values are missing.
    """

    codes: tuple[Array, ...]
    cardinality: tuple[int, ...]
    sizes: tuple[int, ...]
    _digits: Integers
    _parents: Integers

    @classmethod
    def of(cls, coded: CodedTable) -> Columns:
        """Take the columns of a table."""
        cardinality = tuple(variable.cardinality for variable in coded.variables)
        gaps = (int(rows > 0) for rows in coded.missing)
        sizes = tuple(map(sum, zip(cardinality, gaps, strict=True)))
        every = range(len(sizes))
        described = (column_rows(coded.codes, each, every) for each in (sizes, cardinality))
        return cls(coded.codes, cardinality, sizes, *described)

    def shape(self, chosen: Iterable[int]) -> list[int]:
        """Return the shape of a table with one axis per column."""
        return [self.sizes[k] for k in chosen]

    def digits(self, chosen: Iterable[int]) -> Integers:
        """Describe columns of which a missing value is one more code."""
        return self._digits[list(chosen)]

    def parents(self, chosen: Iterable[int]) -> Integers:
        """Describe columns of which a missing value is beyond all codes that count."""
        return self._parents[list(chosen)]

    def of_joints(self, joints: Sequence[Joint]) -> tuple[Integers, Integers]:
        """Describe the columns of joint tables, and say where those of each table start."""
        described = self.digits(k for joint in joints for k in joint.columns)
        return described, np.cumsum([0, *(len(joint.columns) for joint in joints)])


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint table of columns, in the order of its axes, and the families that are its margins."""

    columns: tuple[int, ...]
    cells: int
    members: tuple[int, ...]


def plan(
    families: Sequence[Sequence[int]], sizes: Sequence[int], limit: int
) -> tuple[list[Joint], list[int]]:
    """Put families, given by their columns, together in joint tables of at most `limit` cells.

    Returns the joint tables, and the families that are larger than that. `sizes` are the numbers of
    codes; columns of size 1 take no part, as their code is always 0.
    """
    cells = [math.prod(sizes[k] for k in family) for family in families]
    alone = [f for f in range(len(families)) if cells[f] > limit]
    small = [f for f in range(len(families)) if cells[f] <= limit]
    joints: list[Joint] = []
    for f in sorted(small, key=lambda f: -cells[f]):
        family = [k for k in families[f] if sizes[k] > 1]
        place = _best(joints, family, sizes, limit)
        if place == len(joints):
            joints.append(Joint((), 1, ()))
        joint = joints[place]
        extra = tuple(k for k in family if k not in joint.columns)
        total = joint.cells * math.prod(sizes[k] for k in extra)
        joints[place] = Joint(joint.columns + extra, total, (*joint.members, f))
    return joints, alone


def _best(joints: Sequence[Joint], family: list[int], sizes: Sequence[int], limit: int) -> int:
    """Which joint table needs the fewest further columns, then the fewest cells; else a new one."""
    best = len(family) + 1, 0, len(joints)
    for place in range(max(0, len(joints) - _MAX_CANDIDATES), len(joints)):
        joint = joints[place]
        extra = [sizes[k] for k in family if k not in joint.columns]
        total = joint.cells * math.prod(extra)
        if total <= limit:
            best = min(best, (len(extra), total, place))
    return best[2]


def column_rows(codes: Sequence[Array], sizes: Sequence[int], chosen: Iterable[int]) -> Integers:
    """Describe columns to the kernels: address, bytes per code, size.

    The addresses are valid as long as the columns exist.
    """
    # The interface has the address at half the time that `ctypes` takes.
    addresses = ((k, codes[k].__array_interface__["data"][0]) for k in chosen)
    rows = [(address, codes[k].itemsize, sizes[k]) for k, address in addresses]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)

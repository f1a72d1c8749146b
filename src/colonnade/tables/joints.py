"""Which families share a joint table.

Two families with common variables, say (a | b) and (c | b), are both margins of the joint table of
a, b and c. As long as the joint table is small, one pass for it costs half of two passes. So
families are put together greedily up to a number of cells, and taken apart at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Joint", "column_rows", "plan"]

# The joint tables worth considering for one more family: bounds the planning of many families.
_CANDIDATES = 64


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
    cells = [_product(sizes[k] for k in family) for family in families]
    alone = [f for f in range(len(families)) if cells[f] > limit]
    drafts: list[_Draft] = []
    for f in sorted(range(len(families)), key=lambda f: -cells[f]):
        if cells[f] > limit:
            continue
        family = [k for k in families[f] if sizes[k] > 1]
        draft, extra = _best(drafts[-_CANDIDATES:], family, sizes, limit)
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
        cells = draft.cells * _product(sizes[k] for k in extra)
        if cells <= limit and (len(extra), cells) < key:
            best, further, key = draft, extra, (len(extra), cells)
    return best, further


def _product(factors: Iterable[int]) -> int:
    product = 1
    for factor in factors:
        product *= factor
    return product


def column_rows(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int], chosen: Iterable[int]
) -> NDArray[np.int64]:
    """Describe columns to the kernels: address, bytes a code, size.

    The addresses are good as long as the columns live.

    Examples
    --------
    >>> column_rows([np.zeros(2, np.uint16)], [300], [0])[:, 1:].tolist()
    [[2, 300]]
    """
    rows = [(codes[k].ctypes.data, codes[k].itemsize, sizes[k]) for k in chosen]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)

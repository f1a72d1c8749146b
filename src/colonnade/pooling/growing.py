"""Tiers of many tables with one parent in common, learned at once: what a forest is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.pooling.plan import Plan
from colonnade.pooling.shelf import Shelf
from colonnade.pooling.tiers import MAX_LATTICE_CELLS, MAX_LATTICE_PARENTS, STRENGTHS


class Leaning(NamedTuple):
    """Tiers that are learned by leaving out alone: what is known of them beforehand.

    Attributes
    ----------
    alpha0 : float
        Parameter of the prior of the pool, for each state.
    s_mean : float
        Prior mean of the strength with one parent, in multiples of the number of states.
    """

    alpha0: float
    s_mean: float


class Mixing(NamedTuple):
    """Weights of neighbouring states that are tried, and how close scores are ties."""

    tried: Sequence[float]
    tolerance: float


class Grown(NamedTuple):
    """Logarithms of several tables, one after the other, and their sums for rows.

    Attributes
    ----------
    values : array
        Each table is ``[*other parents, child, last parent]``. Before them is room for others.
    sums : array [row, class]
        Logarithms of a row's cells with each class; of its own class, without the row itself.
        Tables of which a row lacks a value are left out.
    """

    values: Floats
    sums: Floats


def can_grow(sizes: Sequence[int], members: Sequence[Sequence[int]], rows: int) -> bool:
    """Whether tables of these columns, parents and child, have all subsets of parents as tiers."""
    for *parents, child in members:
        cells = 2 ** len(parents) * rows * sizes[child]
        if not 0 < len(parents) <= MAX_LATTICE_PARENTS or cells > MAX_LATTICE_CELLS:
            return False
    return True


def grow(
    columns: Array,
    sizes: Sequence[int],
    weights: Floats,
    members: Sequence[Sequence[int]],
    smoothed: Sequence[bool],
    leaning: Leaning,
    mixing: Mixing,
    classes: int,
    shelf: Shelf,
) -> Grown:
    """Learn the tables of children, each given by its columns: parents with two states or more.

    Parameters
    ----------
    columns : array [column, row]
        Codes; the size of a column means missing, and such rows are not counted.
    sizes : sequence of int
        Number of states of each column.
    weights : array [row]
        How often each row counts: whole numbers.
    members : sequence of sequence of int
        The columns of each table: parents, then the child.
    smoothed : sequence of bool
        Whether neighbouring states of a child are mixed.
    leaning, mixing
    classes : int
        Number of states of the last parent, which is the same for all children. So many cells are
        left free before the tables.
    shelf : Shelf
        Where the tables are put.
    """
    from colonnade.kernels.growing import grow_tables

    cells = [math.prod(sizes[k] for k in own) for own in members]
    offset = np.cumsum([classes, *cells])
    start = np.cumsum([0, *map(len, members)])
    values, sums = shelf.take(int(offset[-1])), np.zeros((columns.shape[1], classes))
    prior = (leaning.alpha0, leaning.s_mean, STRENGTHS, np.array(mixing.tried), mixing.tolerance)
    grow_tables(
        _plans(),
        columns,
        np.array(sizes, dtype=np.int64),
        weights,
        start,
        np.array([k for own in members for k in own], dtype=np.int64),
        np.array(smoothed, dtype=bool),
        prior,
        offset,
        values,
        sums,
    )
    return Grown(values, sums)


@lru_cache(maxsize=1)
def _plans() -> tuple[Array, ...]:
    """The lattices of all numbers of parents, filled up to one size: see `grow_tables`."""
    most, tiers = MAX_LATTICE_PARENTS + 1, 2**MAX_LATTICE_PARENTS
    number = np.zeros(most, dtype=np.int64)
    below = np.full((most, tiers, most), -1, dtype=np.int64)
    inside = np.zeros((most, tiers, most - 1), dtype=bool)
    degree = np.zeros((most, tiers), dtype=np.int64)
    for count in range(1, most):
        plan = Plan.lattice(range(count), integrated=False)
        number[count] = size = len(plan.subsets)
        below[count, :size, : plan.below.shape[1]] = plan.below
        inside[count, :size, :count] = plan.inside(count)
        degree[count, :size] = plan.degree
    return number, below, inside, degree

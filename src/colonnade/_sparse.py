"""SparseTable: probabilities of one family, stored for the configurations that matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade._checks import checked_codes, checked_sizes
from colonnade.counts import Configuration, parent_codes
from colonnade.exceptions import TooLargeError, amount, expected
from colonnade.variables import sort_keys

__all__ = ["SparseTable", "checked_rows", "find_rows"]

Floats = NDArray[np.float64]

_LIMIT = 50_000_000
# Rows of a table need not sum to one exactly where they come from a file or a person.
_TOLERANCE = 1e-6
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseTable:
    """Probabilities of one family: the rows of some configurations and one row for all others.

    Parameters
    ----------
    parent_sizes : tuple of int
        Number of states of each parent.
    codes : array [stored, parent]
        Parent codes of the configurations stored, all different, in the order of configurations.
    rows : array [stored, state]
        Their probabilities.
    default : array [state] or None
        The row of any configuration that is not stored. None if all are stored, or if the table
        has no probabilities for the others: those are NaN.

    Examples
    --------
    >>> table = SparseTable((20,) * 10, [[3] * 10], [[0.25, 0.75]], [0.5, 0.5])
    >>> table.row((3,) * 10), table.row(0)
    (array([0.25, 0.75]), array([0.5, 0.5]))
    """

    parent_sizes: tuple[int, ...]
    codes: NDArray[Any]
    rows: Floats
    default: Floats | None = None

    def __post_init__(self) -> None:
        sizes = checked_sizes(self.parent_sizes)
        rows = checked_rows(self.rows, "rows", 2)
        default = None if self.default is None else checked_rows(self.default, "default", 1)
        if default is not None and len(default) != rows.shape[1]:
            raise expected(f"{rows.shape[1]} probabilities", "default", default)
        codes = checked_codes(self.codes, sizes, rows=len(rows))
        keys = sort_keys(codes, sizes)
        # The last word decides only where all words before it are equal.
        rising = np.zeros(max(len(keys) - 1, 0), dtype=bool)
        for word in keys.T[::-1]:
            rising = (word[1:] > word[:-1]) | ((word[1:] == word[:-1]) & rising)
        if not rising.all():
            what = "different configurations, in order,"
            raise expected(what, "codes", self.codes, "sort them, each once")
        for array in (codes, rows, default):
            if array is not None:
                array.setflags(write=False)
        for name, value in (
            ("parent_sizes", sizes),
            ("codes", codes),
            ("rows", rows),
            ("default", default),
        ):
            object.__setattr__(self, name, value)

    @property
    def states(self) -> int:
        """Number of states of the child."""
        return int(self.rows.shape[1])

    @property
    def configurations(self) -> int:
        """Number of configurations, stored or not."""
        return math.prod(self.parent_sizes)

    @property
    def complete(self) -> bool:
        """Whether every configuration has probabilities."""
        return self.default is not None or len(self.rows) == self.configurations

    @property
    def other(self) -> Floats:
        """The row of configurations that are not stored, ``[state]``; NaN if they have none."""
        return np.full(self.states, np.nan) if self.default is None else self.default

    def row(self, configuration: Configuration) -> Floats:
        """Return the probabilities of one configuration, ``[state]``; NaN if there are none.

        Parameters
        ----------
        configuration : int or tuple of int
            Its position among all configurations, or its parent codes.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]]).row(0)
        array([nan, nan])
        """
        codes = np.array(parent_codes(configuration, self.parent_sizes), dtype=np.int64)
        return np.asarray(self.rows_of(codes.reshape(1, -1))[0])

    def rows_of(self, codes: NDArray[Any]) -> Floats:
        """Return the probabilities of many configurations, ``[row, state]``.

        Parameters
        ----------
        codes : array [row, parent]
            Valid parent codes.

        Examples
        --------
        >>> table = SparseTable((3,), [[0], [2]], [[0.25, 0.75], [1, 0]], [0.5, 0.5])
        >>> table.rows_of(np.array([[2], [1]]))
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        position = self.positions(codes)
        # The default goes last, where position -1 finds it.
        return np.vstack([self.rows, self.other])[position]

    def positions(self, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return where configurations are stored, -1 for those that are not, ``[row]``.

        Examples
        --------
        >>> SparseTable((3,), [[0], [2]], [[0.25, 0.75], [1, 0]]).positions(np.array([[2], [1]]))
        array([ 1, -1])
        """
        return find_rows(self.codes, codes, self.parent_sizes)

    def dense(self, limit: int = _LIMIT) -> Floats:
        """Return the probabilities of all configurations, ``[configuration, state]``.

        Parameters
        ----------
        limit : int, optional
            Largest number of cells the caller is ready to hold.

        Returns
        -------
        array
            A new one, of the caller.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]], [0.5, 0.5]).dense()
        array([[0.5 , 0.5 ],
               [0.25, 0.75]])
        """
        cells = self.configurations * self.states
        if cells > limit:
            hint = "use `row`, or raise `limit`"
            raise TooLargeError("The dense table", size=cells, limit=limit, hint=hint)
        if len(self.rows) == self.configurations:
            return self.rows.copy()
        dense = np.tile(self.other, (self.configurations, 1))
        dense[sort_keys(self.codes, self.parent_sizes)[:, 0]] = self.rows
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTable):
            return NotImplemented
        return (
            self.parent_sizes == other.parent_sizes
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.rows, other.rows)
            and _same(self.default, other.default)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        default = "" if self.default is None else ", with a default row"
        return (
            f"SparseTable({len(self.rows):,} of {amount(self.configurations)} configurations "
            f"x {self.states} states{default})"
        )


def find_rows(
    stored: NDArray[Any], wanted: NDArray[Any], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """Return where rows of codes are stored, -1 for those that are not, ``[wanted]``.

    Parameters
    ----------
    stored : array [stored, parent]
        Valid codes, all rows different, in order.
    wanted : array [wanted, parent]
        Valid codes.
    sizes : sequence of int
        Number of codes of each parent.

    Examples
    --------
    >>> find_rows(np.array([[0, 1], [2, 0]]), np.array([[2, 0], [1, 1]]), (3, 2))
    array([ 1, -1])
    """
    if not len(stored):
        return np.full(len(wanted), -1, dtype=np.int64)
    left, right = sort_keys(stored, sizes), sort_keys(wanted, sizes)
    found = np.ones(len(wanted), dtype=bool)
    here = np.zeros(len(stored), dtype=np.int64)
    there = np.zeros(len(wanted), dtype=np.int64)
    # Word by word: ranks among the stored rows stay small, however large the words are. Stored
    # rows are in order, so in the end the rank of a row is its position.
    for word in range(left.shape[1]):
        rank, hit, ranks = _ranks(left[:, word], right[:, word])
        count = int(ranks.max()) + 1
        found &= hit
        there, hit, here = _ranks(here * count + ranks, there * count + rank)
        found &= hit
    return np.where(found, there, -1)


def _ranks(
    stored: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Rank numbers among the different stored ones; whether they are; ranks of the stored."""
    different, own = np.unique(stored, return_inverse=True)
    rank = np.minimum(np.searchsorted(different, wanted), len(different) - 1)
    return rank, different[rank] == wanted, own.reshape(-1)


def checked_rows(values: ArrayLike, parameter: str, dimensions: int | None) -> Floats:
    """Return rows of probabilities, each of which sums to one."""
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise expected("an array of numbers", parameter, values) from None
    if rows.ndim == 0 or rows.ndim != (dimensions or rows.ndim) or rows.shape[-1] == 0:
        raise expected("rows of probabilities", parameter, values, got=f"shape {rows.shape}")
    if not (np.isfinite(rows).all() and (rows >= 0.0).all()):
        bad = rows[~(np.isfinite(rows) & (rows >= 0.0))][0]
        raise expected("finite probabilities of 0 or more", parameter, bad.item())
    totals = rows.sum(axis=-1, keepdims=True)
    wrong = np.abs(totals - 1.0) > _TOLERANCE
    if wrong.any():
        worst = totals[wrong][0].item()
        raise expected("rows that sum to 1", parameter, worst, got=f"a row that sums to {worst!r}")
    # Rows that are off by rounding only must not change: what is saved and loaded stays the same.
    return np.where(np.abs(totals - 1.0) <= _ROUNDING, rows, rows / totals)


def _same(left: Floats | None, right: Floats | None) -> bool:
    if left is None or right is None:
        return left is right
    return np.array_equal(left, right)

"""SparseTable: probabilities of one family, stored for the configurations that matter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade._checks import checked_codes, checked_sizes
from colonnade.counts import Configuration, parent_codes
from colonnade.exceptions import TooLargeError, amount, expected
from colonnade.lookup import Lookup
from colonnade.variables import sort_keys

__all__ = ["SparseTable", "checked_rows"]

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
    def lookup(self) -> Lookup:
        """The probabilities as rows to be looked up; NaN where there are none."""
        if len(self.rows) == self.configurations:
            return Lookup(self.parent_sizes, self.rows)
        other = np.full(self.states, np.nan) if self.default is None else self.default
        return Lookup(self.parent_sizes, self.rows, self.codes, other)

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
        return np.asarray(self.lookup.at(codes.reshape(1, -1))[0])

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
        lookup = self.lookup
        return lookup.rows.copy() if lookup.full else lookup.filled(limit).rows

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

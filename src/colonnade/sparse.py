"""SparseTable: probabilities of one family, stored for the configurations that matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Array, Floats
from colonnade.configurations import (
    MAX_DENSE_CELLS,
    Configuration,
    Configurations,
    all_codes,
    parent_codes,
)
from colonnade.exceptions import counted, expected
from colonnade.lookup import Lookup

__all__ = ["Fallback", "SparseTable", "checked_rows"]

# How far the sum of a row that comes from a file or a person may be from one.
_SUM_TOLERANCE = 1e-6
# How far rounding alone takes it.
_SUM_ROUNDING = 1e-12


class Fallback(Protocol):
    """What computes the rows of configurations that a table does not store."""

    def rows(self, codes: Array) -> Floats:
        """Return the probabilities ``[row, state]`` given ``[row, parent]`` codes."""

    @property
    def positive(self) -> bool:
        """Whether all of them are above 0, whatever is asked for."""
        return True

    def by_parent(self, sizes: tuple[int, ...], parent: int) -> Floats:
        """Return the rows of all configurations of parents of these sizes, as a new array.

        The states of one parent come last: ``[*other parents, state, parent]``.
        """
        return _turned(self.rows(all_codes(sizes)), sizes, parent)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseTable(Configurations):
    """Probabilities of one family: the rows of some configurations, and what all others have.

    The others share one row, or each has its own, which is computed when it is asked for.

    Two tables are equal if they have the same row for every configuration, to the last digit,
    whichever of the rows are stored.

    Parameters
    ----------
    parent_sizes : tuple of int
        Number of states of each parent.
    codes : array [stored, parent]
        Parent codes of the configurations stored, all different, in the order of configurations.
    rows : array [stored, state]
        Their probabilities.
    default : array [state] or None
        The row of any configuration that is not stored. None if the others have rows of their own,
        or if the table has no probabilities for them: those are NaN. If all are stored it stands
        for nothing, and is left out.
    fallback : Fallback or None
        What computes the rows of configurations that are not stored.

    Examples
    --------
    >>> table = SparseTable((20,) * 10, [[3] * 10], [[0.25, 0.75]], [0.5, 0.5])
    >>> table.row((3,) * 10), table.row(0)
    (array([0.25, 0.75]), array([0.5, 0.5]))
    >>> half = [0.5, 0.5]
    >>> SparseTable((2,), [[0]], [half], half) == SparseTable((2,), [[0], [1]], [half, half])
    True
    """

    rows: Floats
    default: Floats | None = None
    fallback: Fallback | None = None

    def __post_init__(self) -> None:
        stored = Configurations(self.parent_sizes, self.codes)
        rows, default = _checked_parts(stored, self.rows, self.default)
        if self.default is not None and self.fallback is not None:
            raise expected("a default or a fallback, not both,", "fallback", self.fallback)
        if len(stored.codes) == stored.configurations:
            self._seal(stored.parent_sizes, stored.codes, rows, None, None)
        else:
            self._seal(stored.parent_sizes, stored.codes, rows, default, self.fallback)

    @classmethod
    def beside(
        cls,
        stored: Configurations,
        rows: ArrayLike,
        default: ArrayLike | None,
        fallback: Fallback | None = None,
    ) -> Self:
        """Make a table with the configurations that something else stores, counts for example.

        The default or the fallback is left out if all configurations are stored.

        Examples
        --------
        >>> stored = Configurations((2,), [[1]])
        >>> SparseTable.beside(stored, [[0.25, 0.75]], [0.5, 0.5]).dense()
        array([[0.5 , 0.5 ],
               [0.25, 0.75]])
        """
        own, other = _checked_parts(stored, rows, default)
        return cls.computed(stored, own, other, fallback)

    @classmethod
    def computed(
        cls,
        stored: Configurations,
        rows: Floats,
        default: Floats | None,
        fallback: Fallback | None = None,
    ) -> Self:
        """Make a table as :meth:`beside` does, of probabilities that need not be checked."""
        if len(stored.codes) == stored.configurations:
            default, fallback = None, None
        return cls.trusted(stored.parent_sizes, stored.codes, rows, default, fallback)

    @property
    def states(self) -> int:
        """Number of states of the child."""
        return int(self.rows.shape[1])

    @property
    def positive(self) -> bool:
        """Whether all configurations have probabilities, and all of these are above 0."""
        if not self.complete:
            return False
        others = self.fallback is None or self.fallback.positive
        return others and bool((self.lookup.values > 0.0).all())

    @property
    def complete(self) -> bool:
        """Whether every configuration has probabilities."""
        rest = self.default is not None or self.fallback is not None
        return rest or len(self.rows) == self.configurations

    @property
    def lookup(self) -> Lookup:
        """The probabilities as rows to be looked up; NaN where there are none."""
        if self.fallback is not None:
            return Lookup.of(self, self.rows, self.fallback.rows)
        return Lookup.of(self, self.rows, self._others)

    def row(self, configuration: Configuration) -> Floats:
        """Return the probabilities of one configuration, ``[state]``; NaN if there are none.

        It is given by its position among all configurations, or by its parent codes.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]]).row(0)
        array([nan, nan])
        """
        codes = np.array(parent_codes(configuration, self.parent_sizes), dtype=np.int64)
        return np.asarray(self.rows_of(codes.reshape(1, -1))[0])

    def rows_of(self, codes: Array) -> Floats:
        """Return the probabilities of configurations given by ``[row, parent]`` codes.

        Examples
        --------
        >>> table = SparseTable((3,), [[0], [2]], [[0.25, 0.75], [1, 0]], [0.5, 0.5])
        >>> table.rows_of(np.array([[2], [1]]))
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        return self.lookup.at(codes)

    def expanded(self, limit: int) -> Self:
        """Store every configuration, if others have rows of their own and there are few enough.

        That is, at most `limit` configurations in all.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]], [0.5, 0.5]).expanded(2)
        SparseTable(1 of 2 configurations x 2 states, with a default row)
        """
        if self.fallback is None or self.configurations > limit:
            return self
        codes = all_codes(self.parent_sizes)
        return type(self).trusted(self.parent_sizes, codes, self.dense(), None, None)

    def dense(self, limit: int = MAX_DENSE_CELLS) -> Floats:
        """Return the probabilities of all configurations, ``[configuration, state]``: a new array.

        More cells than `limit` are refused.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]], [0.5, 0.5]).dense()
        array([[0.5 , 0.5 ],
               [0.25, 0.75]])
        """
        return self.lookup.dense(limit, "use `row`, or raise `limit`")

    def by_parent(self, parent: int) -> Floats:
        """Return all probabilities with the states of one parent last, as a new array.

        Its axes are the other parents, the states, and the parent.

        Examples
        --------
        >>> SparseTable((2,), [[1]], [[0.25, 0.75]], [0.5, 0.5]).by_parent(0)
        array([[0.5 , 0.25],
               [0.5 , 0.75]])
        """
        if self.fallback is None:
            return _turned(self.dense(), self.parent_sizes, parent)
        table = self.fallback.by_parent(self.parent_sizes, parent)
        place = [self.codes[:, k, None] for k in range(len(self.parent_sizes))]
        last = place.pop(parent)
        table[(*place, np.arange(self.states), last)] = self.rows
        return table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTable):
            return NotImplemented
        if (self.parent_sizes, self.states) != (other.parent_sizes, other.states):
            return False
        if np.array_equal(self.codes, other.codes):
            every, pairs = len(self.rows), [(self.rows, other.rows)]
        else:
            beyond = int((self.positions(other.codes) < 0).sum())
            every = len(self.rows) + beyond
            pairs = [
                (self.rows, other.rows_of(self.codes)),
                (self.rows_of(other.codes), other.rows),
            ]
        # Some configuration may be stored in neither table.
        rest = every < self.configurations and not self._same_rest(other)
        same = (np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in pairs)
        return not rest and all(same)

    def _same_rest(self, other: SparseTable) -> bool:
        """Whether configurations that neither table stores have the same rows."""
        if self.fallback is None and other.fallback is None:
            return np.array_equal(self._others, other._others, equal_nan=True)
        if self.fallback == other.fallback:
            return True
        if self.configurations * self.states > MAX_DENSE_CELLS:
            return False  # nobody could tell
        return np.array_equal(self.dense(), other.dense(), equal_nan=True)

    @property
    def _others(self) -> Floats:
        """The row of any configuration that is not stored; NaN if there is none."""
        return np.full(self.states, np.nan) if self.default is None else self.default

    def __repr__(self) -> str:
        rest = "" if self.default is None else ", with a default row"
        rest = rest if self.fallback is None else ", others computed when asked for"
        return (
            f"SparseTable({len(self.rows):,} of {counted(self.configurations, 'configuration')} "
            f"x {counted(self.states, 'state')}{rest})"
        )


def _turned(rows: Floats, sizes: tuple[int, ...], parent: int) -> Floats:
    """Give rows of all configurations an axis for each parent, with the states of one last."""
    axes = rows.reshape(*sizes, rows.shape[1])
    return np.ascontiguousarray(np.moveaxis(axes, parent, -1))


def _checked_parts(
    stored: Configurations, rows: ArrayLike, default: ArrayLike | None
) -> tuple[Floats, Floats | None]:
    """Return rows and default as arrays of probabilities of the same states."""
    own = checked_rows(rows, "rows", 2)
    if len(own) != len(stored.codes):
        raise expected(counted(len(stored.codes), "row"), "rows", rows, got=f"shape {own.shape}")
    if default is None:
        return own, None
    other = checked_rows(default, "default", 1)
    if len(other) != own.shape[1]:
        raise expected(f"{own.shape[1]} probabilities", "default", default)
    return own, other


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
    wrong = np.abs(totals - 1.0) > _SUM_TOLERANCE
    if wrong.any():
        worst = totals[wrong][0].item()
        raise expected("rows that sum to 1", parameter, worst, got=f"a row that sums to {worst!r}")
    # Rows that are off by rounding only must not change: what is saved and loaded stays the same.
    return np.where(np.abs(totals - 1.0) <= _SUM_ROUNDING, rows, rows / totals)

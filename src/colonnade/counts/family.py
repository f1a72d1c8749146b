"""FamilyCounts: how often each state of a child was seen with each configuration of its parents.

Only configurations that occur are stored, so the size of a table is bounded by the data and not
by the number of configurations. No names live here; see :mod:`colonnade.configurations` for the
order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Array
from colonnade.configurations import (
    MAX_DENSE_CELLS,
    Configuration,
    Configurations,
    checked_codes,
    checked_sizes,
    codes_at,
    sort_keys,
)
from colonnade.counts.checks import checked_axes, checked_values
from colonnade.exceptions import CountsError, ShortfallError, counted, expected, tally
from colonnade.lookup import Lookup
from colonnade.wording import MAX_SHOWN_PARENTS

# Fractional counts that were added and are taken away again may miss zero by rounding.
_MAX_ROUNDING = 1e-9
# Integers up to this one add and subtract exactly as floating-point numbers.
_MAX_EXACT_INTEGER = 2**53


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyCounts(Configurations):
    """Counts of one family, ``[configuration, state]``, with only the observed configurations.

    Usually made by :meth:`from_array` or :meth:`from_observed`. Counts may be fractional
    (weights, expected counts). Two tables of one family add up, and one can be taken from another.
    They are equal if all their counts are, whether they are stored as integers or not.

    Parameters
    ----------
    parent_sizes : sequence of int
        Number of states of each parent; empty for a child without parents.
    codes : array of int [observed, parent]
        Parent codes of each configuration given. They are kept sorted, and repeated ones merged.
    values : array of int64 or float64 [observed, state]
        Its counts. Configurations without any count are dropped. All arrays become read-only.

    Examples
    --------
    >>> counts = FamilyCounts.from_array([[3, 1], [0, 0], [2, 5]])
    >>> counts
    FamilyCounts(parent_sizes=(3,), states=2, observed=2, total=11)
    >>> counts.row(2), counts.row(1)
    (array([2, 5]), array([0, 0]))
    >>> (counts + counts - counts) == counts
    True
    """

    values: Array

    # NumPy must leave `array + counts` to us (an error), not try it element by element.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        sizes = checked_sizes(self.parent_sizes)
        values = checked_values(self.values, "values")
        if values.ndim != 2:
            what, got = "an array [observed, state]", f"shape {values.shape}"
            hint = "give one row of counts for each row of `codes`"
            raise expected(what, "values", self.values, hint, got=got, kind=CountsError)
        codes = checked_codes(self.codes, sizes, rows=len(values))
        self._seal(sizes, *_merged(codes, values, sizes))

    @classmethod
    def from_array(
        cls, counts: ArrayLike, parent_sizes: Sequence[int] | None = None
    ) -> FamilyCounts:
        """Take over a dense table.

        Parameters
        ----------
        counts : array_like [configuration, state] or [parent, ..., parent, state]
            Non-negative and finite.
        parent_sizes : sequence of int, optional
            Needed when several parents share the first axis; otherwise all axes but the last
            are the parents.

        Examples
        --------
        >>> FamilyCounts.from_array([[3, 1], [4, 1], [5, 9], [2, 6]], parent_sizes=(2, 2))
        FamilyCounts(parent_sizes=(2, 2), states=2, observed=4, total=31)
        """
        values = checked_values(counts, "counts")
        shape = values.shape[:-1]
        sizes = checked_axes(shape) if parent_sizes is None else checked_sizes(parent_sizes)
        if shape not in (sizes, (math.prod(sizes),)):
            what = f"{counted(math.prod(sizes), 'row')} for `parent_sizes` {sizes}"
            got = f"shape {shape} before the states"
            raise expected(what, "counts", shape, got=got, kind=CountsError)
        rows = values.reshape(-1, values.shape[-1])
        observed = rows.any(axis=1)
        # The common table has counts in every row; then nothing needs to be selected or copied.
        index = np.arange(len(rows)) if observed.all() else np.flatnonzero(observed)
        if len(index) < len(rows):
            rows = rows[index]
        return cls.trusted(sizes, codes_at(index, sizes), rows)

    @classmethod
    def from_observed(
        cls, parent_sizes: Sequence[int], codes: ArrayLike, values: ArrayLike
    ) -> FamilyCounts:
        """Take over the configurations that occur; parameters are those of the class.

        Examples
        --------
        >>> twenty = (20,) * 30
        >>> counts = FamilyCounts.from_observed(twenty, [[19] * 30, [0] * 30], [[1, 0], [0, 2]])
        >>> counts.observed, counts.configurations == 20**30
        (2, True)
        """
        return cls(parent_sizes, codes, values)  # type: ignore[arg-type]

    @property
    def states(self) -> int:
        """Number of states of the child, r."""
        return int(self.values.shape[1])

    @property
    def observed(self) -> int:
        """Number of configurations with a count."""
        return len(self.values)

    @property
    def row_totals(self) -> Array:
        """Total of each observed configuration, ``[observed]``."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def state_totals(self) -> Array:
        """Total of each state, ``[state]``."""
        return np.asarray(self.values.sum(axis=0))

    @property
    def total(self) -> int | float:
        """Sum of all counts."""
        total: int | float = self.values.sum().item()
        return total

    @property
    def integral(self) -> bool:
        """Whether all counts are integers, whatever their type."""
        return self.values.dtype.kind == "i" or bool((self.values == np.floor(self.values)).all())

    @property
    def lookup(self) -> Lookup:
        """The counts as rows to be looked up; zeros for a configuration that was not observed."""
        return Lookup.of(self, self.values, np.zeros(self.states, dtype=self.values.dtype))

    def row(self, configuration: Configuration) -> Array:
        """Return the counts of one configuration, ``[state]``; zeros if it was not observed.

        It is given by its position among all configurations, or by its parent codes.

        Examples
        --------
        >>> FamilyCounts.from_array([[[3, 1], [0, 2]]]).row((0, 1))
        array([0, 2])
        """
        position = self.position(configuration)
        if position is not None:
            return np.asarray(self.values[position])
        return np.zeros(self.states, dtype=self.values.dtype)

    def to_array(self, limit: int = MAX_DENSE_CELLS) -> Array:
        """Return the dense table, ``[configuration, state]``: a new array.

        More cells than `limit` are refused.

        Examples
        --------
        >>> FamilyCounts.from_observed((3,), [[1]], [[2, 5]]).to_array().tolist()
        [[0, 0], [2, 5], [0, 0]]
        """
        return self.lookup.dense(limit, "use `row` or `values`, or raise `limit`")

    def cells(self, limit: int = MAX_DENSE_CELLS) -> dict[str, list[Any]]:
        """Columns about every cell, in the order of configurations and states.

        Its count, and its share of the row: None in a row without counts.

        Examples
        --------
        >>> FamilyCounts.from_array([[3, 1]]).cells()
        {'count': [3, 1], 'frequency': [0.75, 0.25]}
        """
        counts = self.to_array(limit)
        if (counts == np.rint(counts)).all() and self.total <= _MAX_EXACT_INTEGER:
            counts = counts.astype(np.int64)
        totals = np.repeat(counts.sum(axis=1), self.states).tolist()
        pairs = list(zip(counts.ravel().tolist(), totals, strict=True))
        shares = [None if not total else value / total for value, total in pairs]
        return {"count": [value for value, _ in pairs], "frequency": shares}

    def __add__(self, other: FamilyCounts) -> FamilyCounts:
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        self._must_match(other)
        values = checked_values(np.concatenate([self.values, other.values]), "counts")
        codes = np.concatenate([self.codes, other.codes])
        return self.trusted(self.parent_sizes, *_merged(codes, values, self.parent_sizes))

    def __sub__(self, other: FamilyCounts) -> FamilyCounts:
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        self._must_match(other)
        # Side by side, so that merging equal configurations aligns the two tables.
        left = np.hstack([self.values, np.zeros_like(self.values)])
        right = np.hstack([np.zeros_like(other.values), other.values])
        codes = np.concatenate([self.codes, other.codes])
        codes, both = _merged(codes, np.concatenate([left, right]), self.parent_sizes)
        values = _difference(codes, both[:, : self.states], both[:, self.states :])
        observed = values.any(axis=1)
        return self.trusted(self.parent_sizes, codes[observed], values[observed])

    def __repr__(self) -> str:
        sizes = self.parent_sizes
        shown = str(sizes)
        if len(sizes) > MAX_SHOWN_PARENTS:
            shown = f"({sizes[0]}, ..., {sizes[-1]}; {len(sizes)} parents)"
        return (
            f"FamilyCounts(parent_sizes={shown}, states={self.states}, "
            f"observed={self.observed}, total={tally(self.total)})"
        )

    def _must_match(self, other: FamilyCounts) -> None:
        if (self.parent_sizes, self.states) != (other.parent_sizes, other.states):
            problem = f"Expected counts of one family, got {self!r} and {other!r}."
            raise CountsError(problem, parameter="counts", value=other)


def as_counts(counts: FamilyCounts | ArrayLike) -> FamilyCounts:
    """Return counts as :class:`FamilyCounts`; what already is one is returned as it is."""
    return counts if isinstance(counts, FamilyCounts) else FamilyCounts.from_array(counts)


def _merged(codes: Array, values: Array, sizes: tuple[int, ...]) -> tuple[Array, Array]:
    """Sort configurations, add up repeated ones, drop those without any count."""
    keys = sort_keys(codes, sizes)
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    starts = first.nonzero()[0]
    codes, values = codes[order[starts]], values[order]
    if len(starts) < len(values):
        values = np.add.reduceat(values, starts, axis=0)
    observed = values.any(axis=1)
    return (codes, values) if observed.all() else (codes[observed], values[observed])


def _difference(codes: Array, left: Array, right: Array) -> Array:
    """Subtract aligned counts; a negative result beyond rounding is an error."""
    values: Array = left - right
    if values.dtype.kind == "f":
        larger = np.maximum(left, right)
        whole = (left == np.floor(left)) & (right == np.floor(right))
        tiny = np.abs(values) <= _MAX_ROUNDING * larger
        values[tiny & ~(whole & (larger <= _MAX_EXACT_INTEGER))] = 0.0
    if (values < 0).any():
        row, state = np.argwhere(values < 0)[0].tolist()
        taken, held = right[row, state].item(), left[row, state].item()
        configuration = tuple(codes[row].tolist())
        raise ShortfallError(taken=taken, held=held, configuration=configuration, state=state)
    return values

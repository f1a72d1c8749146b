"""Configurations: the few of one family that a table stores, and what makes a set of them valid."""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.configurations.order import (
    INT64_SPAN,
    Configuration,
    code_type,
    parent_codes,
    sort_keys,
)
from colonnade.exceptions import CountsError, TooLargeError, expected

# A dense array of 64-bit numbers takes 400 MB then.
MAX_DENSE_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Configurations:
    """Some configurations of the parents of one family, in order, each once.

    What a table stores: counts and probabilities add a row for each of them. So the size of a table
    is bounded by the data, and not by the number of configurations.

    Parameters
    ----------
    parent_sizes : sequence of int
        Number of states of each parent; empty for a child without parents.
    codes : array [stored, parent]
        Parent codes of the configurations.

    Attributes
    ----------
    parent_sizes : tuple of int
    codes : array of int32 or int64 [stored, parent]
        Not writeable.

    Examples
    --------
    >>> stored = Configurations((20,) * 30, [[0] * 30, [19] * 30])
    >>> stored.configurations == 20**30
    True
    >>> stored.position((19,) * 30), stored.position(1)
    (1, None)
    """

    parent_sizes: tuple[int, ...]
    codes: NDArray[Any]

    def __post_init__(self) -> None:
        sizes = checked_sizes(self.parent_sizes)
        self._seal(sizes, _checked_order(checked_codes(self.codes, sizes), sizes))

    @classmethod
    def trusted(cls, *values: Any) -> Self:
        """Take over the fields, in order, from a caller who obeys every rule of the class.

        Nothing is checked or copied.

        Examples
        --------
        >>> Configurations.trusted((3,), np.array([[0], [2]])).positions(np.array([[2]]))
        array([1])
        """
        made = object.__new__(cls)
        made._seal(*values)
        return made

    def _seal(self, *values: Any) -> None:
        """Fill the fields, in order; their arrays become read-only."""
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def configurations(self) -> int:
        """Number of configurations, stored or not: q, of any size."""
        return math.prod(self.parent_sizes)

    @property
    def index(self) -> NDArray[np.int64]:
        """Place of each stored configuration among all, ``[stored]``; needs q below 2**63."""
        if self.configurations >= INT64_SPAN:
            raise TooLargeError(
                "The index of configurations",
                size=self.configurations,
                limit=INT64_SPAN - 1,
                hint="use `codes`",
                unit="values",
            )
        return sort_keys(self.codes, self.parent_sizes)[:, 0]

    def position(self, configuration: Configuration) -> int | None:
        """Return where a configuration is stored, or None if it is not.

        Parameters
        ----------
        configuration : int or tuple of int
            Its position among all configurations, or its parent codes.

        Returns
        -------
        int or None

        Examples
        --------
        >>> stored = Configurations((3,), [[0], [2]])
        >>> stored.position(2), stored.position((1,))
        (1, None)
        """
        codes = parent_codes(configuration, self.parent_sizes)
        rows = range(len(self.codes))
        found = bisect_left(rows, codes, key=lambda row: tuple(self.codes[row].tolist()))
        if found < len(self.codes) and tuple(self.codes[found].tolist()) == codes:
            return found
        return None

    def positions(self, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return where configurations are stored, -1 for those that are not, ``[row]``.

        Parameters
        ----------
        codes : array [row, parent]
            Valid parent codes.

        Examples
        --------
        >>> Configurations((3, 2), [[0, 1], [2, 0]]).positions(np.array([[2, 0], [1, 1]]))
        array([ 1, -1])
        """
        if not len(self.codes):
            return np.full(len(codes), -1, dtype=np.int64)
        stored, wanted = (sort_keys(each, self.parent_sizes) for each in (self.codes, codes))
        found = np.ones(len(wanted), dtype=bool)
        here = np.zeros(len(stored), dtype=np.int64)
        there = np.zeros(len(wanted), dtype=np.int64)
        # Word by word: ranks among the stored rows stay small, however large the words are. Stored
        # rows are in order, so in the end the rank of a row is its position.
        for word in range(stored.shape[1]):
            rank, hit, ranks = _ranks(stored[:, word], wanted[:, word])
            count = int(ranks.max()) + 1
            found &= hit
            there, hit, here = _ranks(here * count + ranks, there * count + rank)
            found &= hit
        return np.where(found, there, -1)


def checked_sizes(parent_sizes: Sequence[int]) -> tuple[int, ...]:
    """Return parent sizes as Python integers of at least 1.

    Examples
    --------
    >>> checked_sizes([np.int64(2), 3])
    (2, 3)
    """
    try:
        sizes = tuple(operator.index(size) for size in parent_sizes)
    except TypeError:
        sizes = (0,)
    # Codes are 64-bit integers, so a single parent cannot have more states than that.
    if any(not 1 <= size < INT64_SPAN for size in sizes):
        hint = "give the number of states of each parent, () for no parents"
        raise expected("integers of at least 1", "parent_sizes", parent_sizes, hint)
    return sizes


def checked_codes(
    codes: ArrayLike, sizes: tuple[int, ...], rows: int | None = None
) -> NDArray[Any]:
    """Return a private copy of parent codes, in the smaller integer type that holds them.

    Parameters
    ----------
    codes : array_like [row, parent]
    sizes : tuple of int
    rows : int, optional
        How many there must be.

    Examples
    --------
    >>> checked_codes([[1, 0]], (2, 3), rows=1).dtype
    dtype('int32')
    """
    raw = np.asarray(codes)
    shape = (len(raw) if rows is None else rows, len(sizes))
    if raw.size == 0 and math.prod(shape) == 0:
        raw = np.zeros(shape, dtype=np.int64)  # [] stands for no rows, and for rows of no parents
    if raw.shape != shape or raw.dtype.kind not in "iu":
        got = f"{raw.dtype} of shape {raw.shape}"
        raise expected(f"integers of shape {shape}", "codes", codes, got=got, kind=CountsError)
    limits = np.array(sizes, dtype=np.uint64)
    # A negative code becomes a huge unsigned one, so one comparison checks both ends.
    wrong = (raw.astype(np.uint64) >= limits).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise expected(
            f"parent codes from 0, below the parent sizes {sizes},",
            "codes",
            raw[row],
            got=f"{tuple(raw[row].tolist())} in row {row}",
            kind=CountsError,
        )
    return raw.astype(code_type(sizes))


def _checked_order(codes: NDArray[Any], sizes: tuple[int, ...]) -> NDArray[Any]:
    """Return valid codes as they are, if they are in order and all different."""
    keys = sort_keys(codes, sizes)
    # The last word decides only where all words before it are equal.
    rising = np.zeros(max(len(keys) - 1, 0), dtype=bool)
    for word in keys.T[::-1]:
        rising = (word[1:] > word[:-1]) | ((word[1:] == word[:-1]) & rising)
    if not rising.all():
        raise expected(
            "different configurations, in order,", "codes", codes, "sort them, each once"
        )
    return codes


def _ranks(
    stored: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Rank numbers among the different stored ones; whether they are; ranks of the stored."""
    different, own = np.unique(stored, return_inverse=True)
    rank = np.minimum(np.searchsorted(different, wanted), len(different) - 1)
    return rank, different[rank] == wanted, own.reshape(-1)

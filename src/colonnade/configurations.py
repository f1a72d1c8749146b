"""Configurations of the parents of one family: their order, and the few that a table stores.

**The convention, for the whole package.** Arrays about one family are ``[configuration, state]``.
A configuration is one joint state of the parents. Parents come in the order given, and the last
one varies fastest, so that a C-ordered array of shape ``(*parent_sizes, r)`` is the same memory.
A family without parents has exactly one configuration. The number of configurations is a Python
integer: it may exceed 64 bits. No names live here: a state of a parent is its code, from 0.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.arrays import Array, Integers
from colonnade.exceptions import CountsError, TooLargeError, amount, expected, listing

# A configuration is given by its position among all configurations, or by its parent codes.
Configuration: TypeAlias = int | tuple[int, ...]

# A dense array of 64-bit numbers takes 400 MB then.
MAX_DENSE_CELLS = 50_000_000
# Positions below this fit into a 64-bit word.
INT64_SPAN = 2**63


def configuration_index(codes: Sequence[int], parent_sizes: Sequence[int]) -> int:
    """Return the position of the configuration with these parent codes."""
    if len(codes) != len(parent_sizes):
        raise expected(f"{len(parent_sizes)} parent codes", "configuration", codes)
    index = 0
    for code, size in zip(codes, parent_sizes, strict=True):
        code = _integer(code)
        if not 0 <= code < size:
            what = f"parent codes below {listing(parent_sizes)}"
            raise expected(what, "configuration", tuple(codes))
        index = index * size + code
    return index


def configuration_codes(index: int, parent_sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the parent codes of the configuration at a position."""
    rest = _integer(index)
    configurations = math.prod(parent_sizes)
    if not 0 <= rest < configurations:
        what = f"an integer from 0, below {amount(configurations)},"
        raise expected(what, "configuration", index)
    codes = []
    for size in reversed(parent_sizes):
        rest, code = divmod(rest, size)
        codes.append(code)
    return tuple(reversed(codes))


def parent_codes(configuration: Configuration, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the parent codes of a configuration that is given by them, or by its position."""
    if isinstance(configuration, Sequence | np.ndarray) and np.ndim(configuration) == 1:
        configuration_index(configuration, sizes)  # refuses what does not exist
        return tuple(operator.index(code) for code in configuration)
    return configuration_codes(configuration, sizes)  # type: ignore[arg-type]


def all_codes(sizes: tuple[int, ...]) -> Array:
    """Return the parent codes of all configurations, in order, ``[configuration, parent]``."""
    return codes_at(np.arange(math.prod(sizes)), sizes)


def codes_at(index: Integers, sizes: tuple[int, ...]) -> Array:
    """Return the parent codes of configurations given by position, ``[position, parent]``."""
    codes = np.empty((len(index), len(sizes)), dtype=_code_type(sizes))
    if len(sizes) == 1:
        codes[:, 0] = index
    elif sizes:
        for column, code in enumerate(np.unravel_index(index, sizes)):
            codes[:, column] = code
    return codes


def sort_keys(codes: Array, parent_sizes: Sequence[int]) -> Integers:
    """Pack rows of valid parent codes into as few 64-bit words as hold them, ``[row, word]``.

    Comparing two rows word by word orders them as their configurations are ordered. With fewer
    than 2**63 configurations there is one word, and it is the position of the configuration.
    """
    words = []
    word = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for column, size in enumerate(parent_sizes):
        if span * size >= INT64_SPAN:
            words.append(word)
            word, span = codes[:, column].astype(np.int64), size
        else:
            word *= size
            word += codes[:, column]
            span *= size
    return np.stack([*words, word], axis=1) if words else word[:, None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Configurations:
    """Some configurations of the parents of one family, in order, each once.

    What a table stores: counts and probabilities add a row for each of them. So the size of a table
    is bounded by the data, and not by the number of configurations. All arrays are read-only, and
    `codes` are ``[stored, parent]``.
    """

    parent_sizes: tuple[int, ...]
    codes: Array

    def __post_init__(self) -> None:
        sizes = checked_sizes(self.parent_sizes)
        self._seal(sizes, _checked_order(checked_codes(self.codes, sizes), sizes))

    @classmethod
    def trusted(cls, *values: Any) -> Self:
        """Take over the fields, in order, from a caller who obeys every rule of the class.

        Nothing is checked or copied.
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
    def index(self) -> Integers:
        """Place of each stored configuration among all, ``[stored]``; needs q below 2**63."""
        size, limit = self.configurations, INT64_SPAN - 1
        if size > limit:
            what = "The index of configurations"
            raise TooLargeError(what, size=size, limit=limit, hint="use `codes`", unit="values")
        return sort_keys(self.codes, self.parent_sizes)[:, 0]

    def position(self, configuration: Configuration) -> int | None:
        """Return where a configuration is stored, or None if it is not.

        It is given by its position among all configurations, or by its parent codes.

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

    def positions(self, codes: Array) -> Integers:
        """Return where configurations of ``[row, parent]`` codes are stored, -1 if they are not.

        Examples
        --------
        >>> Configurations((3, 2), [[0, 1], [2, 0]]).positions(np.array([[2, 0], [1, 1]]))
        array([ 1, -1])
        """
        if not len(self.codes):
            return np.full(len(codes), -1, dtype=np.int64)
        stored, wanted = (sort_keys(each, self.parent_sizes) for each in (self.codes, codes))
        if stored.shape[1] == 1:
            there = np.minimum(np.searchsorted(stored[:, 0], wanted[:, 0]), len(stored) - 1)
            return np.where(stored[there, 0] == wanted[:, 0], there, -1)
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return all(_same_numbers(mine, theirs) for mine, theirs in pairs)


def _same_numbers(mine: Any, theirs: Any) -> bool:
    """Whether two arrays hold the same numbers, as integers or as floating-point numbers."""
    one, two = np.asarray(mine), np.asarray(theirs)
    if not np.array_equal(one, two):
        return False
    # NumPy rounds integers beyond 2**53 when it compares them with floating-point numbers.
    return one.dtype.kind == two.dtype.kind or one.tolist() == two.tolist()


def checked_sizes(parent_sizes: Sequence[int]) -> tuple[int, ...]:
    """Return parent sizes as Python integers of at least 1."""
    try:
        sizes = tuple(operator.index(size) for size in parent_sizes)
    except TypeError:
        sizes = (0,)
    # Codes are 64-bit integers, so a single parent cannot have more states than that.
    if any(not 1 <= size < INT64_SPAN for size in sizes):
        hint = "give the number of states of each parent, () for no parents"
        raise expected("integers of at least 1", "parent_sizes", parent_sizes, hint)
    return sizes


def checked_codes(codes: ArrayLike, sizes: tuple[int, ...], rows: int | None = None) -> Array:
    """Return a private copy of parent codes ``[row, parent]``, in the smaller type that holds them.

    There must be as many as `rows`, if that is given.
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
        what = f"parent codes from 0, below the parent sizes {sizes},"
        got = f"{tuple(raw[row].tolist())} in row {row}"
        raise expected(what, "codes", raw[row], got=got, kind=CountsError)
    return raw.astype(_code_type(sizes))


def _checked_order(codes: Array, sizes: tuple[int, ...]) -> Array:
    """Return valid codes as they are, if they are in order and all different."""
    keys = sort_keys(codes, sizes)
    # The last word decides only where all words before it are equal.
    rising = np.zeros(max(len(keys) - 1, 0), dtype=bool)
    for word in keys.T[::-1]:
        rising = (word[1:] > word[:-1]) | ((word[1:] == word[:-1]) & rising)
    if not rising.all():
        what = "different configurations, in order,"
        raise expected(what, "codes", codes, "sort them, each once")
    return codes


def _ranks(stored: Integers, wanted: Integers) -> tuple[Integers, NDArray[np.bool_], Integers]:
    """Rank numbers among the different stored ones; whether they are; ranks of the stored."""
    different, own = np.unique(stored, return_inverse=True)
    rank = np.minimum(np.searchsorted(different, wanted), len(different) - 1)
    return rank, different[rank] == wanted, own.reshape(-1)


def _code_type(sizes: tuple[int, ...]) -> type[np.signedinteger[Any]]:
    """Return the smaller integer type that holds the codes of all parents."""
    return np.int32 if max(sizes, default=0) < 2**31 else np.int64


def _integer(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise expected("an integer", "configuration", value) from None

"""Lookup: the rows of one family, found by the codes of its parents.

Counts, probabilities and their logarithms are stored for the configurations that matter. Which row
any other configuration has is known here and nowhere else: all of them share one, or each has its
own, which is computed when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array
from colonnade.configurations import (
    INT64_SPAN,
    MAX_DENSE_CELLS,
    Configurations,
    all_codes,
    codes_at,
    sort_keys,
)
from colonnade.exceptions import TooLargeError, checked_whole

__all__ = [
    "MAX_FILLED_CELLS",
    "Compute",
    "KeyIndex",
    "Lookup",
    "broadcast_rows",
    "with_known",
    "word_starts",
]

# Computes the rows [row, state] of configurations given by codes [row, parent].
Compute = Callable[[Array], Array]

# Tables up to here are looked up with all their configurations. Measured with 20 000 stored rows
# of 4 states on a processor with 1 MB of second-level cache: at 2**18 cells (2 MB), filling the
# table and scoring 10 rows takes as long as hashing the stored rows does (0.9 and 1.1 ms), and
# scoring a million rows takes a fifth of the time (5 and 30 ms). At 2**20 cells, filling alone
# takes 5 ms, and a million rows gain a quarter. The classifier's million rows gain a quarter at
# both.
MAX_FILLED_CELLS = 1 << 18
# Cells of rows that are computed at a time if only some of them are asked for, 4 MB.
_MAX_COMPUTED_CELLS = 1 << 19


class KeyIndex(NamedTuple):
    """Stored configurations in the form in which kernels search them.

    Word w of a key ``[stored, word]`` holds the parents starts[w]..starts[w + 1]; slots hold
    positions of keys, by hash, and -1 where they are free.
    """

    starts: NDArray[np.int64]
    slots: NDArray[np.int64]
    keys: NDArray[np.int64]

    @classmethod
    def of(cls, codes: Array, sizes: Sequence[int]) -> KeyIndex:
        """Hash rows of codes, all different."""
        from colonnade.kernels.counting import place_keys

        slots, keys = place_keys(sort_keys(codes, sizes), max(1, len(codes)))
        return cls(word_starts(sizes), slots, keys)


@dataclass(frozen=True, eq=False, repr=False)
class Lookup:
    """A row of numbers for every configuration of the parents of one family.

    `rows` are ``[stored, state]``, and `codes` ``[stored, parent]`` the configurations that they
    belong to, all different and in the order of configurations; without codes, every configuration
    is stored. With codes there is also `other`: ``[state]``, the row of any other configuration,
    or a function that computes the rows ``[row, state]`` of such ``[row, parent]`` codes. Nothing
    is checked: whoever makes a lookup has checked its arrays.
    """

    parent_sizes: tuple[int, ...]
    rows: Array
    codes: Array | None = None
    other: Array | Compute | None = None

    @classmethod
    def of(cls, stored: Configurations, rows: Array, other: Array | Compute) -> Lookup:
        """Make a lookup of the rows of stored configurations and of those of all others."""
        if len(rows) == stored.configurations:
            return cls(stored.parent_sizes, rows)
        return cls(stored.parent_sizes, rows, stored.codes, other)

    @property
    def states(self) -> int:
        """Number of states of the child."""
        return int(self.rows.shape[1])

    @property
    def full(self) -> bool:
        """Whether every configuration is stored."""
        return self.codes is None

    @property
    def stored(self) -> Array:
        """Parent codes of the configurations stored, ``[stored, parent]``."""
        if self.codes is None:
            return all_codes(self.parent_sizes)
        return self.codes

    @cached_property
    def values(self) -> Array:
        """The rows stored, then the one that all other configurations share, if there is one."""
        if isinstance(self.other, np.ndarray):
            return np.vstack([self.rows, self.other])
        return self.rows

    def covering(self, codes: Array) -> Lookup:
        """Store these configurations, ``[row, parent]``, too, if each has a row of its own."""
        if self.codes is None or not callable(self.other):
            return self
        stored = Configurations.trusted(self.parent_sizes, self.codes)
        more = codes[stored.positions(codes) < 0]
        if not len(more):
            return self
        keys = sort_keys(more, self.parent_sizes)
        more = more[np.unique(keys, axis=0, return_index=True)[1]].astype(self.codes.dtype)
        together = np.concatenate([self.codes, more])
        order = np.lexsort(sort_keys(together, self.parent_sizes).T[::-1])
        rows = np.concatenate([self.rows, self.other(more)])
        return Lookup(self.parent_sizes, rows[order], together[order], self.other)

    def places(self, codes: Array) -> NDArray[np.int64]:
        """Return which of `values` is the row of each configuration of ``[row, parent]`` codes.

        Where configurations have rows of their own, these must be stored: see :meth:`covering`.
        """
        if self.codes is None:
            return sort_keys(codes, self.parent_sizes)[:, 0]
        found = Configurations.trusted(self.parent_sizes, self.codes).positions(codes)
        assert not callable(self.other) or (found >= 0).all()
        return np.where(found < 0, len(self.rows), found)

    def at(self, codes: Array) -> Array:
        """Return the row of each configuration of ``[row, parent]`` codes, ``[row, state]``."""
        known = self.covering(codes)
        return np.asarray(known.values[known.places(codes)])

    def cells(self, parents: Sequence[Array], child: Array) -> Array:
        """Look up codes that broadcast with each other: an array of their common shape."""
        codes, shape = broadcast_rows(parents)
        if callable(self.other) and len(codes) * self.states > _MAX_COMPUTED_CELLS:
            return self._computed_cells(codes, shape, child, self.other)
        known = self.covering(codes)
        return np.asarray(known.values[known.places(codes).reshape(shape), child])

    def _computed_cells(
        self, codes: Array, shape: tuple[int, ...], child: Array, compute: Compute
    ) -> Array:
        """Look up the same where rows have to be computed that could not all be held."""
        # Where each row is: among those stored, or after them.
        place = Configurations.trusted(self.parent_sizes, self.stored).positions(codes)
        unseen = np.flatnonzero(place < 0)
        keys = sort_keys(codes[unseen], self.parent_sizes)
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        more, known = codes[unseen[first]], len(self.rows)
        place[unseen] = known + which.reshape(-1)
        each, state = (part.ravel() for part in np.broadcast_arrays(place.reshape(shape), child))
        answer, order = np.empty(len(each)), np.argsort(each, kind="stable")
        size = max(1, _MAX_COMPUTED_CELLS // self.states)
        lows = [*range(min(known, 1)), *range(known, known + len(more), size)]
        ends = np.searchsorted(each[order], [*lows, known + len(more)])
        for low, part in zip(lows, pairwise(ends), strict=True):
            chosen = order[slice(*part)]
            rows = compute(more[low - known :][:size]) if low >= known else self.rows
            answer[chosen] = rows[each[chosen] - low, state[chosen]]
        return answer.reshape(np.broadcast_shapes(shape, np.shape(child)))

    def mapped(self, function: Callable[[Array], Array]) -> Lookup:
        """Apply a function to all rows, which must treat each ``[row, state]`` by itself."""
        compute, other = self.other, None
        if callable(compute):
            return Lookup(
                self.parent_sizes,
                function(self.rows),
                self.codes,
                lambda codes: function(compute(codes)),
            )
        if compute is not None:
            other = function(compute[None])[0]
        return Lookup(self.parent_sizes, function(self.rows), self.codes, other)

    def filled(self, limit: int = MAX_FILLED_CELLS) -> Lookup:
        """Store every configuration, if that does not take more than `limit` cells."""
        if self.full or self._cells > limit:
            return self
        return Lookup(self.parent_sizes, self.dense(limit))

    def dense(self, limit: int = MAX_DENSE_CELLS, hint: str = "") -> Array:
        """Return the rows of all configurations, ``[configuration, state]``, as a new array.

        Refused beyond `limit` cells, with a hint what to do then.
        """
        if self._cells > checked_whole(limit, "limit"):
            raise TooLargeError("The dense table", size=self._cells, limit=limit, hint=hint)
        if self.codes is None:
            return self.rows.copy()
        rows = np.empty((math.prod(self.parent_sizes), self.states), dtype=self.rows.dtype)
        stored = sort_keys(self.codes, self.parent_sizes)[:, 0]
        if callable(self.other):
            more = np.delete(np.arange(len(rows)), stored)
            rows[more] = self.other(codes_at(more, self.parent_sizes))
        else:
            rows[:] = self.other
        rows[stored] = self.rows
        return rows

    @property
    def _cells(self) -> int:
        return math.prod(self.parent_sizes) * self.states

    def given(self, known: Mapping[int, int]) -> Lookup:
        """Fix the codes of some parents, given by position.

        What is left is a row per configuration of the others.
        """
        free = [k for k in range(len(self.parent_sizes)) if k not in known]
        sizes = tuple(self.parent_sizes[k] for k in free)
        stored, agree = self.stored, np.ones(len(self.rows), dtype=bool)
        for k, code in known.items():
            agree &= stored[:, k] == code
        rows = self.rows[agree]
        if len(rows) == math.prod(sizes):
            return Lookup(sizes, rows)
        compute, other = self.other, self.other
        if callable(compute):

            def other(codes: Array) -> Array:
                return compute(with_known(codes, known))

        return Lookup(sizes, rows, stored[agree][:, free], other)

    def padded(self, sizes: Sequence[int], missing: float) -> Array:
        """Return a full table with one axis per parent and one for the states.

        An axis of `sizes` has as many entries as there are codes, or one more for the code that
        means missing: all such cells are `missing`.
        """
        inner = (*self.parent_sizes, self.states)
        if tuple(sizes) == inner:
            return self.rows.reshape(inner)
        padded = np.full(sizes, missing)
        padded[tuple(map(slice, inner))] = self.rows.reshape(inner)
        return padded

    @cached_property
    def index(self) -> KeyIndex:
        """The stored configurations for kernels: where they find none, they take the last value.

        Where configurations have rows of their own, these must be stored: see :meth:`covering`.
        """
        return KeyIndex.of(self.stored, self.parent_sizes)


def with_known(codes: Array, known: Mapping[int, int]) -> Array:
    """Insert columns with known codes into ``[row, parent]`` codes, at given positions."""
    full = np.empty((len(codes), codes.shape[1] + len(known)), dtype=np.int64)
    free = [k for k in range(full.shape[1]) if k not in known]
    full[:, free] = codes
    for k, code in known.items():
        full[:, k] = code
    return full


def broadcast_rows(codes: Sequence[Array]) -> tuple[Array, tuple[int, ...]]:
    """Write codes that broadcast with each other as rows, and say which shape the rows have."""
    shape = np.broadcast_shapes(*(each.shape for each in codes))
    rows = np.zeros((math.prod(shape), len(codes)), dtype=np.int64)
    for k, each in enumerate(codes):
        rows[:, k] = np.broadcast_to(each, shape).ravel()
    return rows, shape


def word_starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Say which parents share a 64-bit word, in the way of ``configurations.sort_keys``."""
    starts, span = [0], 1
    for k, size in enumerate(sizes):
        if span * size >= INT64_SPAN:
            starts.append(k)
            span = 1
        span *= size
    return np.array([*starts, len(sizes)], dtype=np.int64)

"""Room for large arrays, in blocks that are used again.

The system hands memory out page by page when it is first used, and takes it back when it is freed.
For the tables of a forest that took up to a tenth of the time of learning them, and on a virtual
machine that returns its free memory up to a third.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from threading import Lock

import numpy as np

from colonnade.arrays import Floats

# What a shelf allows for arrays that are larger than the first one.
_SPARE = 1.25
# So many numbers are kept for later, 64 MB, in blocks that nobody uses; a block that is larger
# than what is wanted by more than the factor stays where it is.
_MOST_KEPT, _MOST_WASTE = 1 << 23, 4
_kept: dict[int, Floats] = {}


class Shelf:
    """Room for so many arrays of about one size, in one block or a few.

    Large blocks get large pages.
    """

    def __init__(self, number: int) -> None:
        self._left, self._block, self._lock = number, np.empty(0), Lock()

    def take(self, size: int) -> Floats:
        """Return room for one array."""
        with self._lock:
            if size > len(self._block):
                wanted = size + math.ceil(_SPARE * size * max(0, self._left - 1))
                self._block = np.asarray(_Loan(_block(size, wanted)))
            self._left -= 1
            taken, self._block = self._block[:size], self._block[size:]
        return taken


class _Loan:
    """A block, which is kept for later when no array refers to it any more."""

    def __init__(self, block: Floats) -> None:
        self._block, self.__array_interface__ = block, block.__array_interface__

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # This may happen at any moment, so that there must be no lock; single steps are enough.
        # When Python ends, the names of this module may be gone.
        if ending():
            return
        kept = sum(map(len, list(_kept.values())))
        if kept + len(self._block) <= _MOST_KEPT:
            _kept[id(self._block)] = self._block


def _block(least: int, wanted: int) -> Floats:
    """Return the largest block that is kept and large enough, or a new one of the size wanted."""
    for key, block in sorted(_kept.items(), key=lambda pair: -len(pair[1])):
        if least <= len(block) <= _MOST_WASTE * wanted:
            found = _kept.pop(key, None)
            if found is not None:
                return found
    return np.empty(wanted)

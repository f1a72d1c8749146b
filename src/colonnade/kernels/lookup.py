"""Which of the stored configurations each row has, for a block of rows at a time."""

import numpy as np
from numba import njit

from colonnade.kernels.counting import BLOCK, number_keys, pack_keys

__all__ = ["look_up", "room_for"]


@njit(nogil=True, cache=True)
def room_for(word):
    """Return room for a block: an index, the keys, which rows lack a code, and positions."""
    return (
        np.empty(BLOCK, np.int64),
        np.empty((BLOCK, word.size - 1), np.int64),
        np.empty(BLOCK, np.bool_),
        np.empty(BLOCK, np.int64),
    )


@njit(nogil=True, cache=True)
def look_up(columns, word, row, rows, slots, keys, room):
    """Return where the rows row..row + rows are stored, and which of them lack a code.

    Position k stands for keys[k], -1 for a configuration that is not stored. Both arrays are parts
    of the room.
    """
    index, wanted, missing, numbers = room
    pack_keys(columns, word, row, rows, index, wanted, missing)
    number_keys(wanted, missing, slots, keys, len(keys), False, numbers[:rows])
    return numbers, missing

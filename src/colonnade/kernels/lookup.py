"""Which of the stored configurations each row has, for a block of rows at a time."""

import numpy as np

from colonnade.kernels.compiled import part
from colonnade.kernels.counting import BLOCK_ROWS, number_keys, pack_keys


@part
def room_for(starts):
    """Return room for a block: packed codes, keys, which rows lack a code, and positions."""
    return (
        np.empty(BLOCK_ROWS, np.int64),
        np.empty((BLOCK_ROWS, starts.size - 1), np.int64),
        np.empty(BLOCK_ROWS, np.bool_),
        np.empty(BLOCK_ROWS, np.int64),
    )


@part
def look_up(columns, starts, slots, keys, row, rows, room):
    """Return where the rows row..row + rows are stored, and which of them lack a code.

    starts, slots and keys are those of a `colonnade.lookup.KeyIndex`. Position k stands for
    keys[k]; -1, which is the last row of any array, for a configuration that is not stored. Both
    arrays are parts of the room.
    """
    packed, wanted, missing, numbers = room
    pack_keys(columns, starts, row, rows, packed, wanted, missing)
    number_keys(wanted, missing, slots, keys, len(keys), False, numbers[:rows])
    return numbers, missing

"""States: what the kernels of the pool take of a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class States(NamedTuple):
    """The distinct counts of every state of a table, and the prior of alpha.

    State x has the counts ``counts[start[x]:start[x + 1]]``, ascending, each in as many
    configurations as ``times`` says, and the prior parameter ``alpha0[x]``.
    """

    start: NDArray[np.int64]
    counts: NDArray[np.float64]
    times: NDArray[np.float64]
    alpha0: NDArray[np.float64]

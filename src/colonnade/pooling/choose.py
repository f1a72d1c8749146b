"""The automatic choice of an engine: exact in value always, never a sampler."""

from __future__ import annotations

import math

from colonnade.pooling.engine import Engine
from colonnade.pooling.exact import MAX_STEPS, Exact, steps
from colonnade.pooling.quadrature import Quadrature
from colonnade.pooling.tally import Tally


def choose(tally: Tally, s: float) -> Engine:
    """Pick the faster of the two exact engines.

    The finite mixture takes one step per observation (of the first hundred or so of a cell), and
    longer if there are many tables; the quadrature takes one level per state beyond the second, and
    longer if there are few tables.

    Examples
    --------
    >>> import numpy as np
    >>> choose(Tally.of(np.array([[3, 1]])), 2.0), choose(Tally.of(np.array([[3.5, 1.0]])), 2.0)
    (Exact(), Quadrature())
    >>> choose(Tally.of(np.full((64, 4), 100)), 4.0)
    Quadrature()
    """
    if not tally.whole or (work := steps(tally, s)) > MAX_STEPS:
        return Quadrature()
    # Milliseconds, fitted to measurements over r from 2 to 16, q to 512 and n to 100 000.
    cells = float(tally.times.sum()) / max(1, tally.tallied.size)
    mixture = 0.02 + 2.5e-4 * work * math.sqrt(1.0 + cells / 8.0)
    levels = max(0, min(tally.tallied.size + 1, tally.states) - 2)
    quadrature = 0.2 + levels * (0.3 + 55.0 * (1.0 + cells) ** -1.7)
    return Exact() if mixture < quadrature else Quadrature()

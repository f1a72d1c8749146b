"""The automatic choice of an engine: exact in value always, never a sampler."""

from __future__ import annotations

from colonnade.pooling.alpha import Engine
from colonnade.pooling.exact import Exact
from colonnade.pooling.quadrature import Quadrature
from colonnade.pooling.tally import Tally

# Up to here the finite mixture is the faster of the two.
_SMALL = 2000


def choose(tally: Tally) -> Engine:
    """Pick the faster of the two exact engines.

    Examples
    --------
    >>> import numpy as np
    >>> choose(Tally.of(np.array([[3, 1]]))), choose(Tally.of(np.array([[3.5, 1.0]])))
    (Exact(), Quadrature())
    """
    return Exact() if tally.whole and tally.total <= _SMALL else Quadrature()

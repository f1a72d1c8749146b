"""Random numbers: from what a user gives as `rng` to a generator."""

from __future__ import annotations

import numpy as np

from colonnade.arrays import Seed
from colonnade.exceptions import expected

__all__ = ["generator"]


def generator(rng: Seed) -> np.random.Generator:
    """Return the generator itself, one for a seed, or a new one for None.

    Examples
    --------
    >>> bool(generator(3).random() == generator(3).random())
    True
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        hint = "the same seed gives the same numbers"
        what = "a seed (an integer of at least 0), a Generator or None"
        raise expected(what, "rng", rng, hint) from None

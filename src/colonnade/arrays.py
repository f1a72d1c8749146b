"""Types of arrays, and of arguments that many functions take, named once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "Floats", "Integers", "Seed", "Weights"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# How often each row counts: the name of a column, or an array [row].
Weights = str | ArrayLike | None
# A generator, a seed, or None for a new generator.
Seed = np.random.Generator | int | None

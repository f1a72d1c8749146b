"""Types of arrays, named once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Floats", "Integers"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

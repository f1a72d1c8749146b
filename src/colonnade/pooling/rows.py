"""The mean of a row that leans on a pool."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats


def leaning_rows(values: NDArray[Any], s: float, alpha: Floats) -> Floats:
    """Theorem 1 of the paper: E[theta_yx] = (n_yx + s alpha_x) / (n_y + s), ``[row, state]``.

    Parameters
    ----------
    values : array [row, state]
        Counts; a row of zeros is a configuration never seen.
    s : float
        Strength, above 0.
    alpha : array [state]
        The mean of what the rows lean on.

    Examples
    --------
    >>> leaning_rows(np.array([[3, 1], [0, 0]]), 4.0, np.array([0.5, 0.5]))
    array([[0.625, 0.375],
           [0.5  , 0.5  ]])
    """
    return np.asarray((values + s * alpha) / (values.sum(axis=1, keepdims=True) + s))

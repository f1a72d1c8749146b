"""Rows that do not pool: alpha is uniform and known, the evidence one of Dirichlet-multinomials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.pooling.alpha import FixedAlpha
from colonnade.pooling.tally import Tally


def uniform_log_evidence(values: NDArray[Any], s: float) -> float:
    """Log probability of counts ``[configuration, state]`` under Dirichlet(s / r) rows.

    Examples
    --------
    >>> round(uniform_log_evidence(np.array([[1, 0]]), 2.0), 12) == round(float(np.log(0.5)), 12)
    True
    """
    from colonnade.kernels.special import row_constant

    tally = Tally.of(values)
    # prod_y Gamma(s) / Gamma(s + n_y) prod_x Gamma(s/r + n_yx) / Gamma(s/r), by distinct counts
    cells = row_constant(tally.count, tally.times, s / tally.states)
    rows = row_constant(tally.row_count, tally.row_times, s)
    return float(cells - rows) + tally.constant


def solve_uniform(values: NDArray[Any], s: float) -> FixedAlpha:
    """alpha = 1/r, with the evidence of the rows."""
    r = values.shape[1]
    return FixedAlpha(np.full(r, 1.0 / r), np.zeros((r, r)), uniform_log_evidence(values, s), None)

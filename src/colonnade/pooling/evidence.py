"""Log evidence of many small tables at once, for scores of graphs."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.threads import run, worker_count

# With a larger strength the polynomials of the kernel become long.
_MAX_STRENGTH = 6.0
# Polynomials are kept for counts up to this.
_MAX_COUNT = 1 << 18
# The polynomials end where their coefficients have fallen by this factor (a logarithm).
_COEFFICIENTS_FALL = 27.0
_MIN_TABLES_FOR_THREADS = 64


def log_evidences(tables: Integers, s: float, alpha0: Floats) -> Floats:
    """Log evidence of tables ``[table, configuration, state]`` of whole counts; NaN where unknown.

    The error is below 1e-9, and mostly below 1e-11 but for rounding. NaN for tables with more than
    four states that have counts (or three and others), or at most one row, for a small alpha0, for
    a large strength or counts, and for whatever does not converge: other ways serve these.
    """
    from colonnade.kernels.evidence import fill_curves, pooled_evidence

    top = int(tables.max(initial=0))
    if s > _MAX_STRENGTH or top > _MAX_COUNT:
        return np.full(len(tables), np.nan)
    curves = _curves(s)
    # To sum all rows for the largest total would take longer than to make room for more.
    curves.reach(top, top * tables.shape[2])
    fill_curves(tables.ravel(), s, curves.matrix, curves.coefficients, curves.known)
    workers = worker_count() if len(tables) >= _MIN_TABLES_FOR_THREADS else 1
    of_rows, coefficients = curves.of_rows, curves.coefficients
    parts = np.array_split(tables, workers)
    tasks = [partial(pooled_evidence, part, s, alpha0, coefficients, of_rows) for part in parts]
    return np.concatenate(run(tasks))


class _Curves:
    """What cells and rows contribute at one strength, by their counts; filled in by the kernels."""

    def __init__(self, s: float) -> None:
        # The nearest singularity, at alpha = -1/s, says how fast the coefficients fall.
        pole = 1.0 + 2.0 / s
        fall = math.log(pole + math.sqrt(pole * pole - 1.0))
        size = 2 + math.ceil(_COEFFICIENTS_FALL / fall)
        nodes = np.pi * (np.arange(size) + 0.5) / size
        self.matrix = np.cos(np.outer(np.arange(size), nodes)) * (2.0 / size)
        self.matrix[0] /= 2.0
        self.coefficients = np.empty((0, size + 1))
        self.known = np.zeros(0, bool)
        self.of_rows = np.zeros(0)

    def reach(self, count: int, total: int) -> None:
        """Make room for counts of cells and totals of rows up to these."""
        if count >= len(self.known):
            fresh = np.empty((2 * count + 1, self.coefficients.shape[1]))
            made = np.flatnonzero(self.known)
            fresh[made] = self.coefficients[made]
            self.coefficients, self.known = fresh, np.zeros(len(fresh), bool)
            self.known[made] = True
        if total >= len(self.of_rows):
            self.of_rows = np.full(2 * total + 1, np.nan)


@lru_cache(maxsize=8)
def _curves(s: float) -> _Curves:
    return _Curves(s)

"""Summing a product of factors over all variables, one variable at a time, for many cases at once.

Everything is in logarithms: a case may be as unlikely as it likes. The way back gives the
distribution of the variables of every factor (the gradient of the log sum by the factor's logs).

The room above for questions has a pass of its own, :mod:`colonnade.inference.elimination`: a
question has few and large tables, keeps its targets, and needs no way back; there the plain
products of NumPy pay. Here cases are many and small, and compiled loops pay. Both choose their
order in :mod:`colonnade.missing.planning`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.missing.planning import plan

__all__ = ["Elimination"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Scope = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order in which to sum out all variables of some factors.

    Parameters
    ----------
    sizes : mapping of int to int
        Number of states of each variable.
    scopes : tuple of tuples of int
        Variables of the factors; each has at least one.
    order : tuple of int
    cells : int
        Cells of the largest array of one case, of any size.
    """

    sizes: Mapping[int, int]
    scopes: tuple[Scope, ...]
    order: tuple[int, ...]
    cells: int

    @classmethod
    def of(cls, sizes: Mapping[int, int], scopes: Sequence[Scope]) -> Elimination:
        """Choose the order.

        Examples
        --------
        >>> chain = Elimination.of({0: 2, 1: 2, 2: 2}, [(0,), (0, 1), (1, 2)])
        >>> chain.order, chain.cells
        ((0, 1, 2), 4)
        """
        found = plan(scopes, sizes)
        return cls(sizes, tuple(scopes), found.order, found.largest)

    def tape(self) -> Integers:
        """What has to be done, as the kernels read it."""
        from colonnade.kernels.elimination import write_tape

        number = {v: k for k, v in enumerate(self.order)}
        sizes = np.array([self.sizes[v] for v in self.order], dtype=np.int64)
        ends = np.cumsum([0, *map(len, self.scopes)], dtype=np.int64)
        flat = np.array([number[v] for scope in self.scopes for v in scope], dtype=np.int64)
        tape: Integers = write_tape(sizes, ends, flat)
        return tape

    def log_total(self, factors: Sequence[Floats]) -> Floats:
        """Logarithm of the sum over all variables, ``[case]``.

        Parameters
        ----------
        factors : sequence of arrays [case, *variables]
            Logarithms; minus infinity for what is impossible.

        Examples
        --------
        >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)])
        >>> np.exp(pair.log_total([np.zeros((1, 2)), np.zeros((1, 2, 3))])).round(6)
        array([6.])
        """
        return self._run(_side_by_side(factors), np.empty(0))

    def marginals(self, factors: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
        """Logarithm of the sum, and the distribution of the variables of each factor.

        Parameters
        ----------
        factors : sequence of arrays [case, *variables]

        Returns
        -------
        array [case]
        list of arrays [case, *variables]
            Like `factors`. All zero for an impossible case.

        Examples
        --------
        >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)])
        >>> _, (first, _) = pair.marginals([np.log([[1.0, 3.0]]), np.zeros((1, 2, 3))])
        >>> first.round(6)
        array([[0.25, 0.75]])
        """
        logs = _side_by_side(factors)
        found = np.zeros_like(logs)
        total = self._run(logs, found.reshape(-1))
        ends = np.cumsum([factor[0].size for factor in factors])
        parts = np.split(found, ends[:-1], axis=1)
        shaped = [part.reshape(f.shape) for part, f in zip(parts, factors, strict=True)]
        return total, shaped

    def _run(self, logs: Floats, counts: Floats) -> Floats:
        from colonnade.kernels.elimination import run_tapes

        tape = self.tape()
        cases, width = logs.shape
        # To the kernel, all factors of a case are one, and its values follow each other.
        totals = np.empty(cases)
        run_tapes(
            tape,
            np.array([0, tape.size]),
            np.array([0, cases]),
            np.array([0, 1]),
            np.array([1]),
            np.array([width]),
            np.arange(0, logs.size, width),
            logs.reshape(-1),
            np.ones(cases),
            totals,
            counts,
        )
        return totals


def _side_by_side(factors: Sequence[Floats]) -> Floats:
    """All cells of all factors, ``[case, cell]``."""
    flat = [f.reshape(len(f), math.prod(f.shape[1:])) for f in factors]
    return np.concatenate(flat, axis=1)

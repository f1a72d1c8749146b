"""Summing a product of factors over all variables, one variable at a time, for many cases at once.

Everything is in logarithms: a case may be as unlikely as it likes. The way back gives the
distribution of the variables of every factor (the gradient of the log sum by the factor's logs).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Elimination", "log_sum"]

Floats = NDArray[np.float64]
Scope = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One variable to sum out.

    Parameters
    ----------
    variable : int
    factors : tuple of int
        Those that have it: the ones given, then the results of earlier steps.
    scope : tuple of int
        All variables these factors have.
    """

    variable: int
    factors: tuple[int, ...]
    scope: Scope

    @property
    def rest(self) -> Scope:
        """The variables of the result."""
        return tuple(v for v in self.scope if v != self.variable)


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order in which to sum out all variables, and the work that follows from it.

    Parameters
    ----------
    sizes : mapping of int to int
        Number of states of each variable.
    scopes : tuple of tuples of int
        Variables of the factors given and, after them, of the results of the steps; each in order.
    steps : tuple of Step
    factors : int
        How many are given.
    cells : int
        Cells of the largest array of one case, of any size.
    """

    sizes: Mapping[int, int]
    scopes: tuple[Scope, ...]
    steps: tuple[Step, ...]
    factors: int
    cells: int

    @classmethod
    def of(cls, sizes: Mapping[int, int], scopes: Sequence[Scope]) -> Elimination:
        """Choose the order greedily: always the variable whose factors together are smallest.

        Examples
        --------
        >>> chain = Elimination.of({0: 2, 1: 2, 2: 2}, [(0,), (0, 1), (1, 2)])
        >>> [step.variable for step in chain.steps], chain.cells
        ([0, 1, 2], 4)
        """
        known = list(scopes)
        live = set(range(len(known)))
        left = {v for scope in scopes for v in scope}
        steps = []
        while left:
            unions: dict[int, set[int]] = {v: set() for v in left}
            for k in live:
                for v in known[k]:
                    unions[v].update(known[k])
            variable = min(left, key=lambda v: (math.prod(sizes[w] for w in unions[v]), v))
            bucket = tuple(sorted(k for k in live if variable in known[k]))
            steps.append(Step(variable, bucket, tuple(sorted(unions[variable]))))
            live = (live - set(bucket)) | {len(known)}
            known.append(steps[-1].rest)
            left.remove(variable)
        held = [*scopes, *(step.scope for step in steps)]
        cells = max((math.prod(sizes[v] for v in scope) for scope in held), default=1)
        return cls(sizes, tuple(known), tuple(steps), len(scopes), cells)

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
        return self._forward(factors)[0]

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
        total, arrays, products = self._forward(factors)
        possible = np.where(np.isneginf(total), 0.0, 1.0)
        found: dict[int, Floats] = {}
        for position in range(len(self.steps) - 1, -1, -1):
            step, result = self.steps[position], self.factors + position
            outer = found.get(result, possible)
            with np.errstate(invalid="ignore"):
                share = np.exp(products[position] - self._wide(arrays[result], result, step))
            # Impossible for all states of the variable: no share rather than an undefined one.
            share[np.isneginf(products[position])] = 0.0
            joint = self._wide(outer, result, step) * share
            for k in step.factors:
                others = [1 + i for i, v in enumerate(step.scope) if v not in self.scopes[k]]
                found[k] = joint.sum(axis=tuple(others))
        return total, [found[k] for k in range(self.factors)]

    def _forward(self, factors: Sequence[Floats]) -> tuple[Floats, list[Floats], list[Floats]]:
        """Sum out; return the total, all factors, and the product before each step."""
        arrays = list(factors)
        cases = len(arrays[0])
        total = np.zeros(cases)
        products = []
        for step in self.steps:
            product = np.zeros((cases, *(self.sizes[v] for v in step.scope)))
            for k in step.factors:
                product += self._wide(arrays[k], k, step)
            products.append(product)
            arrays.append(log_sum(product, 1 + step.scope.index(step.variable)))
            if not step.rest:
                total += arrays[-1]
        return total, arrays, products

    def _wide(self, array: Floats, factor: int, step: Step) -> Floats:
        """Give a factor axes of length 1 for the variables of a step that it does not have."""
        scope = self.scopes[factor]
        return array.reshape(len(array), *(self.sizes[v] if v in scope else 1 for v in step.scope))


def log_sum(logs: Floats, axis: int) -> Floats:
    """Logarithm of the sum of exponentials along an axis; minus infinity where all are.

    Examples
    --------
    >>> log_sum(np.array([[-1000.0, -1000.0], [-np.inf, -np.inf]]), 1).round(3)
    array([-999.307,     -inf])
    """
    top = logs.max(axis=axis, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return total

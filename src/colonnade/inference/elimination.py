"""Exact elimination of variables: arrays in, arrays out, no names.

A factor is an array with one axis for each variable of its scope, after a first axis for draws.
That axis lets one pass answer a question for many tables at once; it has length 1 where a factor
is the same in every draw.

Orders come from :mod:`colonnade.missing.planning`, as they do for rows that lack values. The pass
itself is another one than :mod:`colonnade.missing.elimination`: there thousands of small sums are
taken, each with its way back, in compiled loops and in logarithms. Here there is one question with
few and large tables, whose targets stay, so NumPy multiplies plain numbers, and logarithms are
taken only of what would underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

__all__ = ["Factor", "eliminate", "maximise"]

Floats = NDArray[np.float64]

# A product whose largest value is below this may have lost digits of the smaller ones.
_SMALLEST = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A function of some variables, ``values[draw, state, ..., state]``.

    Where draws may be smaller than the smallest number, `logs` holds their logarithms.
    """

    scope: tuple[int, ...]
    values: Floats
    logs: Floats | None = None

    def log(self, draws: NDArray[np.intp]) -> Floats:
        """Logarithms of some draws."""
        found = self.values if self.logs is None else self.logs
        chosen = found if len(found) == 1 else found[draws]
        with np.errstate(divide="ignore"):
            return np.log(chosen) if self.logs is None else chosen


def eliminate(
    factors: Sequence[Factor], order: Sequence[int], keep: Sequence[int] = ()
) -> tuple[Floats, Floats]:
    """Multiply all factors and sum out the variables of `order`.

    Parameters
    ----------
    factors : sequence of Factor
    order : sequence of int
        Every variable of a scope that is not in `keep`.
    keep : sequence of int
        Axes of the answer; each in some scope.

    Returns
    -------
    table : array [draw, keep, ..., keep]
        Sums to one in each draw, or is zero where the factors exclude each other.
    log_total : array [draw]
        Log of the sum it was divided by; however small that is, it does not underflow.

    Examples
    --------
    >>> first = Factor((0,), np.array([[0.5, 0.5]]))
    >>> second = Factor((0, 1), np.array([[[0.8, 0.2], [0.6, 0.4]]]))
    >>> eliminate([first, second], [0], keep=[1])[0].round(3)
    array([[0.7, 0.3]])
    """
    draws = max((len(factor.values) for factor in factors), default=1)
    log_total, smallest = np.zeros(draws), np.ones(draws)
    left = list(factors)
    for v in (*order, None):
        mine = left if v is None else [factor for factor in left if v in factor.scope]
        if v is not None and not mine:
            continue
        left = [factor for factor in left if v not in factor.scope]
        product = _product(mine, keep if v is None else None, v)
        # Each product is divided by its largest value, so that long ones do not underflow.
        axes = tuple(range(1, product.values.ndim))
        top = product.values.max(axis=axes, keepdims=True)
        np.minimum(smallest, top.reshape(-1), out=smallest)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_total += np.log(top.reshape(-1))
            left.append(Factor(product.scope, product.values / top))
    table = left[-1].values
    total = table.sum(axis=axes, keepdims=True)
    table, log_total = table / total, log_total + np.log(total.reshape(-1))
    doubtful = np.flatnonzero(~(smallest > _SMALLEST))
    if len(doubtful):
        table = np.repeat(table, draws // len(table), axis=0)
        table[doubtful], log_total[doubtful] = _eliminate_logs(factors, order, keep, doubtful)
    return table, log_total


def _product(factors: Sequence[Factor], axes: Sequence[int] | None, without: int | None) -> Factor:
    """Multiply factors two by two, small ones first; bring the last to `axes`, or sum one out."""
    one = Factor((), np.ones(1))
    waiting = sorted(factors, key=lambda factor: factor.values.size) or [one]
    product = waiting.pop(0)
    waiting = waiting or [one]
    while waiting:
        other = waiting.pop(0)
        scope = tuple(dict.fromkeys(product.scope + other.scope))
        kept = scope
        if not waiting:
            kept = tuple(v for v in scope if v != without) if axes is None else tuple(axes)
        # Letters are few, so they are given anew each time. The draws are in the ellipsis, where
        # an axis of length 1 stretches.
        letter = dict(zip(scope, ascii_letters, strict=False))
        left, right, result = (
            "..." + "".join(letter[v] for v in own) for own in (product.scope, other.scope, kept)
        )
        values = np.einsum(f"{left},{right}->{result}", product.values, other.values)
        product = Factor(kept, values)
    return product


def _eliminate_logs(
    factors: Sequence[Factor],
    order: Sequence[int],
    keep: Sequence[int],
    draws: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """The same for some draws, more slowly and without any underflow."""
    left = [(factor.scope, factor.log(draws)) for factor in factors]
    for v in order:
        mine = [part for part in left if v in part[0]]
        left = [part for part in left if v not in part[0]]
        if mine:
            scope, total = _sum(mine, last=(v,))
            left.append((scope, np.logaddexp.reduce(total, axis=-1)))
    _, total = _sum(left, last=tuple(keep))
    axes = tuple(range(1, total.ndim))
    log_total = np.logaddexp.reduce(total.reshape(len(total), -1), axis=1)
    scale = np.where(np.isneginf(log_total), 0.0, log_total)
    return np.exp(total - np.expand_dims(scale, axes)), log_total


def maximise(factors: Sequence[Factor], order: Sequence[int]) -> dict[int, int] | None:
    """Find the states with the largest product of all factors.

    Parameters
    ----------
    factors : sequence of Factor
        With one draw each.
    order : sequence of int
        All variables of all scopes.

    Returns
    -------
    dict of int to int, or None
        A state for each variable; None if every product is zero. Of equally good states the
        first is taken.

    Examples
    --------
    >>> first = Factor((0,), np.array([[0.6, 0.4]]))
    >>> second = Factor((0, 1), np.array([[[0.5, 0.5], [0.1, 0.9]]]))
    >>> maximise([first, second], [0, 1])
    {1: 1, 0: 1}
    """
    left = [(factor.scope, factor.log(np.arange(1))) for factor in factors]
    choices: list[tuple[int, tuple[int, ...], NDArray[np.intp]]] = []
    for v in order:
        mine = [part for part in left if v in part[0]]
        left = [part for part in left if v not in part[0]]
        scope, total = _sum(mine, last=(v,))
        choices.append((v, scope, total.argmax(axis=-1)))
        left.append((scope, total.max(axis=-1)))
    if any(values[0] == -np.inf for _, values in left):
        return None
    states: dict[int, int] = {}
    for v, scope, best in reversed(choices):
        states[v] = int(best[(0, *(states[u] for u in scope))])
    return states


def _sum(
    parts: Sequence[tuple[tuple[int, ...], Floats]], last: tuple[int, ...]
) -> tuple[tuple[int, ...], Floats]:
    """Add arrays, aligned by variable; the axes of `last` come last, outside of the scope."""
    scope = tuple(dict.fromkeys(v for own, _ in parts for v in own if v not in last))
    total: Floats = np.zeros((1,) * (1 + len(scope) + len(last)))
    for own, values in parts:
        axes = [v for v in (*scope, *last) if v in own]
        ordered = values.transpose([0, *(1 + own.index(v) for v in axes)])
        lengths = dict(zip(axes, ordered.shape[1:], strict=True))
        shape = [len(values), *(lengths.get(v, 1) for v in (*scope, *last))]
        total = total + ordered.reshape(shape)
    return scope, total

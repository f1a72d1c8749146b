"""Programs for the kernels: the steps of eliminations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING

import numpy as np

from colonnade.arrays import Integers
from colonnade.elimination.layout import Orders, Program

if TYPE_CHECKING:
    from colonnade.elimination.elimination import Elimination


def write_program(eliminations: Sequence[Elimination]) -> Program:
    """Write the steps of some eliminations one after the other.

    Examples
    --------
    >>> from colonnade.elimination import Elimination
    >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)], keep=(1,))
    >>> program = write_program([pair])
    >>> program.size[: program.first_axis[1]]
    array([3, 2])
    """
    from colonnade.kernels.programs import write_steps

    orders = _orders(eliminations)
    # An elimination has at most one step per variable and one more, and a step at most one axis
    # per variable and one more.
    most = np.diff(orders.first_variable) + 1
    steps = int(most.sum())
    operands = np.diff(orders.first_factor) + most

    def room(length: int) -> Integers:
        return np.zeros(length, dtype=np.int64)

    program = Program(
        first_step=room(len(eliminations) + 1),
        values=room(len(eliminations)),
        products=room(len(eliminations)),
        message=room(steps),
        cells=room(steps),
        first_axis=room(steps + 1),
        size=room(int(most @ most)),
        first_operand=room(steps + 1),
        begin=room(int(operands.sum())),
        first_stride=room(steps + 1),
        stride=room(int(operands @ most)),
    )
    write_steps(orders, program)
    return program


def _orders(eliminations: Sequence[Elimination]) -> Orders:
    sizes: list[list[int]] = []
    scopes: list[list[int]] = []
    for elimination in eliminations:
        # Axes come in the reverse order of the numbers, so those that are kept are reversed here.
        order = (*elimination.order, *reversed(elimination.keep))
        number = {v: k for k, v in enumerate(order)}
        sizes.append([elimination.sizes[v] for v in order])
        scopes += [[number[v] for v in scope] for scope in elimination.scopes]
    return Orders(
        first_variable=_firsts(sizes),
        size=_flat(sizes),
        kept=np.array([len(elimination.keep) for elimination in eliminations], dtype=np.int64),
        first_factor=_firsts(elimination.scopes for elimination in eliminations),
        first_member=_firsts(scopes),
        member=_flat(scopes),
    )


def _firsts(parts: Iterable[Sized]) -> Integers:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _flat(parts: Iterable[Iterable[int]]) -> Integers:
    return np.array([number for part in parts for number in part], dtype=np.int64)

"""Programs for the kernels: the steps of eliminations."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colonnade.elimination.layout import Orders, Program

if TYPE_CHECKING:
    from colonnade.elimination.elimination import Elimination

__all__ = ["write_program"]

Integers = NDArray[np.int64]


def write_program(eliminations: Iterable[Elimination]) -> Program:
    """Write the steps of some eliminations one after the other.

    Examples
    --------
    >>> from colonnade.elimination import Elimination
    >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)], keep=(1,))
    >>> program = write_program([pair])
    >>> program.size, program.stride
    (array([3, 2]), array([0, 1, 1, 3]))
    """
    from colonnade.kernels.programs import write_steps

    orders = _orders(eliminations)
    number = len(orders.kept)
    steps = len(orders.size) - int(orders.kept.sum()) + number
    operands = len(orders.first_member) - 1 + steps
    room = Program(
        first_step=np.zeros(number + 1, dtype=np.int64),
        values=np.empty(number, dtype=np.int64),
        products=np.empty(number, dtype=np.int64),
        message=np.empty(steps, dtype=np.int64),
        cells=np.empty(steps, dtype=np.int64),
        first_axis=np.zeros(steps + 1, dtype=np.int64),
        size=np.empty(0, dtype=np.int64),
        first_operand=np.zeros(steps + 1, dtype=np.int64),
        begin=np.empty(operands, dtype=np.int64),
        first_stride=np.zeros(steps + 1, dtype=np.int64),
        stride=np.empty(0, dtype=np.int64),
    )
    written, size, stride = write_steps(orders, room)
    return room._replace(
        message=room.message[:written],
        cells=room.cells[:written],
        first_axis=room.first_axis[: written + 1],
        size=size,
        first_operand=room.first_operand[: written + 1],
        begin=room.begin[: room.first_operand[written]],
        first_stride=room.first_stride[: written + 1],
        stride=stride,
    )


def _orders(eliminations: Iterable[Elimination]) -> Orders:
    variables: list[list[int]] = []
    scopes: list[list[int]] = []
    kept: list[int] = []
    factors: list[tuple[int, ...]] = []
    for elimination in eliminations:
        # The kernel numbers backwards, so that the axes of a table of kept ones come out in order.
        order = (*elimination.order, *reversed(elimination.keep))
        number = {v: k for k, v in enumerate(order)}
        variables.append([elimination.sizes[v] for v in order])
        kept.append(len(elimination.keep))
        factors.append(elimination.scopes)  # type: ignore
        scopes += [[number[v] for v in scope] for scope in elimination.scopes]
    return Orders(
        first_variable=_firsts(variables),
        size=_flat(variables),
        kept=np.array(kept, dtype=np.int64),
        first_factor=_firsts(factors),
        first_member=_firsts(scopes),
        member=_flat(scopes),
    )


def _firsts(parts: Iterable[Sized]) -> Integers:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _flat(parts: Iterable[Iterable[int]]) -> Integers:
    return np.array([number for part in parts for number in part], dtype=np.int64)

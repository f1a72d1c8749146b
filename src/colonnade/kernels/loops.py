"""How kernels count through a range, in few instructions.

Numba allows for steps that are known only when the kernel runs, of either sign or zero, and keeps
what it counts in structures in memory: ninety instructions for each loop, of which the optimiser
leaves five. Like `linking`, this depends on the version of Numba.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cpu import CPUContext

_RANGE, _STATE = types.range_state64_type, types.range_iter64_type


def instructions(context: Any, function: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of a part of a loop; None for any other call."""
    if function is range and sig.return_type == _RANGE:
        return partial(_range, context, sig)
    if function == "getiter" and sig.args[0] == _RANGE:
        return partial(_begin, context, sig)
    if function == "iternext" and sig.args[0] == _STATE:
        return partial(_next, context, sig)
    return None


def together(context: Any, builder: Any, kind: Any, values: list[Any]) -> Any:
    """Put the values of a structure together."""
    whole = context.get_constant_undef(kind)
    for place, each in enumerate(values):
        whole = builder.insert_value(whole, each, place)
    return whole


def _range(context: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    number = ir.IntType(64)
    start = args[0] if len(args) > 1 else number(0)
    stop = args[1] if len(args) > 1 else args[0]
    step = args[2] if len(args) > 2 else number(1)
    return together(context, builder, sig.return_type, [start, stop, step])


def _begin(context: Any, sig: Any, builder: Any, args: Any) -> Any:
    start, stop, step = (builder.extract_value(args[0], place) for place in range(3))
    size = getattr(step, "constant", 0)
    if not isinstance(size, int) or size == 0:
        return CPUContext.get_function(context, "getiter", sig)(builder, args)
    left = builder.sub(stop, start) if size > 0 else builder.sub(start, stop)
    if abs(size) > 1:
        one_less = left.type(abs(size) - 1)
        left = builder.sdiv(builder.add(left, one_less), left.type(abs(size)))
    with builder.goto_entry_block():
        item, count = builder.alloca(start.type), builder.alloca(start.type)
    builder.store(start, item)
    builder.store(left, count)
    return together(context, builder, sig.return_type, [item, stop, step, count])


def _next(context: Any, sig: Any, builder: Any, args: Any) -> Any:
    item, _, step, count = (builder.extract_value(args[0], place) for place in range(4))
    value, left = builder.load(item), builder.load(count)
    builder.store(builder.add(value, step), item)
    builder.store(builder.sub(left, left.type(1), flags=["nsw"]), count)
    is_one = builder.icmp_signed(">", left, left.type(0))
    return together(context, builder, sig.return_type, [value, is_one])

"""The whole part of a number, and the larger or smaller of two, in few instructions.

Numba compiles and optimises a function for each kind of number. Like `linking`, this depends on
the version of Numba.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba.core import types
from numba.core.typing import signature

_ORDER = {max: ">", min: "<"}


def signature_of(function: Any, args: tuple[Any, ...]) -> Any:
    """Return the types of such a call; None for any other call."""
    if function is int and args == (types.float64,):
        return signature(types.int64, types.float64)
    if function in _ORDER and len(args) == 2:
        kinds = {types.unliteral(each) for each in args}
        if kinds <= {types.float64} or kinds <= {types.int64}:
            return signature(*kinds, *kinds, *kinds)
    return None


def instructions(context: Any, function: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of such a call; None for any other call."""
    if sig.pysig is not None:
        # Those of Numba's own have the names of their parameters.
        return None
    if function is int and sig.args == (types.float64,):
        return partial(_whole, context, sig)
    if function in _ORDER and sig.args in (2 * (types.float64,), 2 * (types.int64,)):
        return partial(_outer, _ORDER[function], sig)
    return None


def _whole(context: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


def _outer(order: str, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    """As Python does: the first, unless the second is beyond it."""
    one, other = args
    compare = builder.icmp_signed if sig.args[0] is types.int64 else builder.fcmp_ordered
    is_beyond = compare(order, other, one)
    return builder.select(is_beyond, other, one)

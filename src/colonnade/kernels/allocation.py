"""Arrays that kernels make, without a function for each shape and type of number.

Numba compiles and optimises one for each kind of `np.empty`, `np.zeros`, `np.ones` and `np.full`.
Here the few instructions are written where the array is made. Like `linking`, this depends on the
version of Numba.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.np.arrayobj import _empty_nd_impl, _parse_shape

# Where the type of the numbers stands among the arguments.
_MAKERS: dict[Any, int] = {np.empty: 1, np.zeros: 1, np.ones: 1, np.full: 2}


def signature_of(maker: Any, args: tuple[Any, ...]) -> Any:
    """Return the types of a call that makes an array; None for any other call."""
    place = _MAKERS.get(maker)
    if place is None or len(args) < place:
        return None
    if len(args) > place:
        dtype = parse_dtype(args[place])
    else:
        dtype = types.unliteral(args[1]) if maker is np.full else types.float64
    dimensions = parse_shape(args[0])
    if dimensions is None or not isinstance(dtype, types.Number | types.Boolean):
        return None
    return signature(types.Array(dtype, dimensions, "C"), *map(types.unliteral, args))


def instructions(context: Any, maker: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of such a call; None for any other call."""
    # Those of Numba's own have the names of their parameters.
    ours = maker in _MAKERS and sig.pysig is None
    return partial(_make, context, maker, sig) if ours else None


def _make(context: Any, maker: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    """Write the instructions that make an array."""
    kind = sig.return_type.dtype
    shape = _parse_shape(context, builder, sig.args[0], args[0])
    array = _empty_nd_impl(context, builder, sig.return_type, shape)
    if maker is np.zeros:
        size = builder.mul(array.itemsize, array.nitems)
        cgutils.memset(builder, array.data, size, 0)
    elif maker is not np.empty:
        if maker is np.ones:
            value = context.get_constant(kind, 1)
        else:
            value = context.cast(builder, args[1], sig.args[1], kind)
        with cgutils.for_range(builder, array.nitems) as loop:
            context.pack_value(builder, kind, value, builder.gep(array.data, [loop.index]))
    return array._getvalue()

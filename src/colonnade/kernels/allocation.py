"""Arrays that kernels make, without a function for each shape and type of number.

Numba compiles and optimises one for each kind of `np.empty`, `np.zeros`, `np.ones` and `np.full`.
Here the few instructions are written where the array is made. Like `linking`, this depends on the
version of Numba.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.np.arrayobj import _parse_shape

from colonnade.kernels.loops import together

# What NumPy says.
_TOO_BIG = (
    "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
)
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
    if not dimensions or not isinstance(dtype, types.Number | types.Boolean):
        return None
    return signature(types.Array(dtype, dimensions, "C"), *map(types.unliteral, args))


def is_maker(function: Any, sig: Any) -> bool:
    """Whether this module writes the instructions of a call."""
    # Those of Numba's own have the names of their parameters.
    return getattr(function, "typing_key", function) in _MAKERS and sig.pysig is None


def instructions(context: Any, maker: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of such a call; None for any other call."""
    return partial(_make, context, maker, sig) if is_maker(maker, sig) else None


def _make(context: Any, maker: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    """Write the instructions that make an array."""
    kind = sig.return_type.dtype
    shape = _parse_shape(context, builder, sig.args[0], args[0])
    item = shape[0].type(context.get_abi_sizeof(context.get_data_type(kind)))
    count, size = _sizes(context, builder, shape, item)
    align = context.get_constant(types.uint32, context.get_preferred_array_alignment(kind))
    owner = context.nrt.meminfo_alloc_aligned(builder, size, align)
    pointer = context.get_data_type(kind).as_pointer()
    data = builder.bitcast(context.nrt.meminfo_data(builder, owner), pointer)
    if maker is np.zeros:
        cgutils.memset(builder, data, size, 0)
    elif maker is not np.empty:
        if maker is np.ones:
            value = context.get_constant(kind, 1)
        else:
            value = context.cast(builder, args[1], sig.args[1], kind)
        with cgutils.for_range(builder, count) as loop:
            context.pack_value(builder, kind, value, builder.gep(data, [loop.index]))
    strides = [item]
    for each in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], each))
    model = context.data_model_manager[sig.return_type]
    nobody = context.get_constant_null(model.get_member_fe_type("parent"))
    rows = [cgutils.pack_array(builder, each, item.type) for each in (shape, strides)]
    return together(context, builder, sig.return_type, [owner, nobody, count, item, data, *rows])


def _sizes(context: Any, builder: Any, shape: list[Any], item: Any) -> tuple[Any, Any]:
    """Return how many numbers an array has, and how many bytes, which must be countable."""
    count, too_many = shape[0], []
    for each in (*shape[1:], item):
        product = builder.smul_with_overflow(count, each)
        before, count = count, builder.extract_value(product, 0)
        too_many.append(builder.extract_value(product, 1))
    with builder.if_then(reduce(builder.or_, too_many), likely=False):
        context.call_conv.return_user_exc(builder, ValueError, (_TOO_BIG,))
    return before, count

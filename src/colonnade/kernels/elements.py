"""How kernels read and write single numbers of arrays without gaps, in few instructions.

Numba asks dozens of its functions whether they know the types, and takes the whole description of
the array apart each time, for the optimiser to find that it need not. Like `linking`, this depends
on the version of Numba.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from numba.core import cgutils, types
from numba.core.typing import signature
from numba.np.arrayobj import fix_integer_index


def signature_of(function: Any, args: tuple[Any, ...]) -> Any:
    """Return the types of a call that reads or writes a number; None for any other call."""
    if function not in _ACCESS or not _is_element(*args[:2]):
        return None
    array, index = args[:2]
    whole = isinstance(index, types.BaseTuple)
    place = types.BaseTuple.from_types([*map(_wide, index.types)]) if whole else _wide(index)
    if function is operator.getitem:
        return signature(array.dtype, array, place)
    if not array.mutable or not isinstance(args[2], types.Number | types.Boolean):
        return None
    return signature(types.none, array, place, types.unliteral(args[2]))


def instructions(context: Any, function: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of such a call; None for any other call."""
    access = _ACCESS.get(function)
    return partial(access, context, sig) if access and _is_element(*sig.args[:2]) else None


def _is_element(array: Any, index: Any) -> bool:
    """Whether an index stands for one number of an array without gaps."""
    if not isinstance(array, types.Array) or array.layout != "C" or not array.aligned:
        return False
    kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
    whole = len(kinds) == array.ndim and all(isinstance(kind, types.Integer) for kind in kinds)
    return whole and isinstance(array.dtype, types.Number | types.Boolean)


def _wide(index: Any) -> Any:
    return types.intp if index.signed else types.uintp


def _address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array, index = sig.args[:2]
    kinds, indices = (index,), args[1:2]
    if isinstance(index, types.BaseTuple):
        kinds, indices = index.types, cgutils.unpack_tuple(builder, args[1])
    model = context.data_model_manager.lookup(array)
    data, shape = model.get_field_position("data"), model.get_field_position("shape")
    place = None
    for axis, (kind, each) in enumerate(zip(kinds, indices, strict=True)):
        size = None
        if kind.signed or axis > 0:
            size = builder.extract_value(args[0], [shape, axis])
        each = fix_integer_index(context, builder, kind, each, size)
        place = each if place is None else builder.add(builder.mul(place, size), each)
    return builder.gep(builder.extract_value(args[0], data), [place])


def _read(context: Any, sig: Any, builder: Any, args: Any) -> Any:
    return context.unpack_value(builder, sig.args[0].dtype, _address(context, builder, sig, args))


def _write(context: Any, sig: Any, builder: Any, args: Any) -> None:
    kind = sig.args[0].dtype
    value = context.cast(builder, args[2], sig.args[2], kind)
    context.pack_value(builder, kind, value, _address(context, builder, sig, args))


_ACCESS = {operator.getitem: _read, operator.setitem: _write}

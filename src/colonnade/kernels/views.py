"""How kernels ask for the size of an array, and take a row or a stretch of it, in few instructions.

Numba writes the description of the array to memory and reads the parts of it back, and allows for
steps of either sign in each slice. Like `linking`, this depends on the version of Numba.
"""

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.np.arrayobj import fix_integer_index

from colonnade.kernels.loops import together

_FIELDS = {"shape": "shape", "size": "nitems"}
_END = (1 << 63) - 1


def attribute(kind: Any, name: str) -> Callable[..., Any] | None:
    """Return what reads an attribute of an array; None for any other attribute."""
    return _field if isinstance(kind, types.Array) and name in _FIELDS else None


def instructions(context: Any, function: Any, sig: Any) -> Callable[..., Any] | None:
    """Return what writes the instructions of such a call; None for any other call."""
    if function is len and isinstance(sig.args[0], types.Array):
        return partial(_length, context, sig)
    if function is slice and sig.return_type == types.slice2_type:
        return partial(_slice, context, sig)
    if function is operator.getitem and _is_view(sig):
        return partial(_view, context, sig)
    return None


def _is_view(sig: Any) -> bool:
    """Whether an index takes a part of an array that is described as the array is."""
    array, view = sig.args[0], sig.return_type
    if not isinstance(array, types.Array) or not isinstance(view, types.Array):
        return False
    kinds = _kinds(sig.args[1])
    return len(kinds) <= array.ndim and all(
        isinstance(each, types.Integer) or each == types.slice2_type for each in kinds
    )


def _kinds(index: Any) -> tuple[Any, ...]:
    return tuple(index.types) if isinstance(index, types.BaseTuple) else (index,)


def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return context.data_model_manager[kind].get(builder, value, _FIELDS[name])


def _length(context: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    shape = context.data_model_manager[sig.args[0]].get_field_position("shape")
    return builder.extract_value(args[0], [shape, 0])


def _slice(context: Any, sig: Any, builder: Any, args: Any, _loc: Any = None) -> Any:
    number = context.get_value_type(types.intp)
    given = [
        None if kind is types.none else each for kind, each in zip(sig.args, args, strict=True)
    ]
    start, stop = given[:2] if len(given) > 1 else (None, given[0])
    start = number(0) if start is None else start
    stop = number(_END) if stop is None else stop
    return together(context, builder, sig.return_type, [start, stop, number(1)])


def _view(context: Any, sig: Any, builder: Any, args: Any) -> Any:
    """Describe a part of an array."""
    kind, whole = sig.args[0], args[0]
    model = context.data_model_manager[kind]
    shape, strides = (_numbers(builder, model, whole, name) for name in ("shape", "strides"))
    places, sizes, steps = _cut(context, sig, builder, args[1], shape, strides)
    fields = {name: model.get(builder, whole, name) for name in ("meminfo", "parent", "itemsize")}
    data = model.get(builder, whole, "data")
    fields["data"] = cgutils.get_item_pointer2(
        context, builder, data, shape, strides, kind.layout, places
    )
    fields["nitems"] = reduce(partial(builder.mul, flags=["nsw"]), sizes)
    for name, numbers in (("shape", sizes), ("strides", steps)):
        fields[name] = cgutils.pack_array(builder, numbers, numbers[0].type)
    names = context.data_model_manager[sig.return_type]._fields
    view = together(context, builder, sig.return_type, [fields[name] for name in names])
    return impl_ret_borrowed(context, builder, sig.return_type, view)


def _numbers(builder: Any, model: Any, array: Any, name: str) -> list[Any]:
    """Return a number for each axis of an array."""
    place, axes = model.get_field_position(name), model.get_type(name).count
    return [builder.extract_value(array, [place, axis]) for axis in range(axes)]


def _cut(
    context: Any, sig: Any, builder: Any, index: Any, shape: list[Any], strides: list[Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return where a view begins on the axes that are indexed, and the sizes and steps it has."""
    whole = isinstance(sig.args[1], types.BaseTuple)
    indices = cgutils.unpack_tuple(builder, index) if whole else [index]
    places, sizes, steps = [], [], []
    for kind, each, size, step in zip(_kinds(sig.args[1]), indices, shape, strides, strict=False):
        if isinstance(kind, types.Integer):
            places.append(fix_integer_index(context, builder, kind, each, size))
        else:
            start, length = _stretch(builder, each, size)
            places.append(start)
            sizes.append(length)
            steps.append(step)
    return places, sizes + shape[len(places) :], steps + strides[len(places) :]


def _stretch(builder: Any, part: Any, size: Any) -> tuple[Any, Any]:
    """Return where a slice of an axis begins, and how long it is."""
    start, stop = (_bound(builder, builder.extract_value(part, place), size) for place in (0, 1))
    length = builder.sub(stop, start)
    is_some = builder.icmp_signed(">", length, length.type(0))
    return start, builder.select(is_some, length, length.type(0))


def _bound(builder: Any, bound: Any, size: Any) -> Any:
    """Return one end of a slice, within the axis."""
    known = getattr(bound, "constant", None)
    if known == 0:
        return bound
    if known == _END:
        return size
    zero = size.type(0)
    from_end = builder.icmp_signed("<", bound, zero)
    bound = builder.select(from_end, builder.add(bound, size), bound)
    bound = builder.select(builder.icmp_signed("<", bound, zero), zero, bound)
    return builder.select(builder.icmp_signed(">", bound, size), size, bound)

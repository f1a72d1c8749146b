"""The machine that kernels are written for, as Numba knows it, with short cuts.

Like `linking`, this depends on the version of Numba.
"""

import operator
from functools import partial
from typing import Any

from numba.core import cgutils, types
from numba.core.cpu import CPUContext
from numba.np.arrayobj import fix_integer_index

# Functions, and signatures, that Numba has no implementation for.
_MISSING: set[tuple[Any, Any]] = set()
_SIZES: dict[Any, int] = {}


class Target(CPUContext):
    """It does not look twice for an implementation that does not exist, or for a size.

    And it reads and writes elements of arrays without gaps by few instructions: Numba takes the
    whole description of an array apart each time, for the optimiser to find that it need not.
    """

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return what generates the instructions of a function."""
        access = _ACCESS.get(getattr(fn, "typing_key", fn))
        if access is not None and _is_element(*sig.args[:2]):
            return partial(access, self, sig)
        if (fn, sig) in _MISSING:
            raise NotImplementedError
        try:
            return super().get_function(fn, sig, _firstcall)
        except NotImplementedError:
            if _firstcall:
                _MISSING.add((fn, sig))
            raise

    def get_abi_sizeof(self, ty: Any) -> int:
        """Return how many bytes a value takes, which LLVM knows."""
        if ty not in _SIZES:
            _SIZES[ty] = super().get_abi_sizeof(ty)
        return _SIZES[ty]


def _is_element(array: Any, index: Any) -> bool:
    """Whether an index stands for one number of an array without gaps."""
    if not isinstance(array, types.Array) or array.layout != "C" or not array.aligned:
        return False
    kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
    whole = len(kinds) == array.ndim and all(isinstance(kind, types.Integer) for kind in kinds)
    return whole and isinstance(array.dtype, types.Number | types.Boolean)


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

"""The machine that kernels are written for, as Numba knows it, with short cuts.

Like `linking`, this depends on the version of Numba.
"""

import operator
from typing import Any

from numba.core.cpu import CPUContext
from numba.core.lowering import Lower

from colonnade.kernels import allocation, elements

# Functions, and signatures, that Numba has no implementation for.
_MISSING: set[tuple[Any, Any]] = set()
_SIZES: dict[Any, int] = {}


class Target(CPUContext):
    """It has instructions of its own for arrays and their elements.

    And it does not look twice for an implementation that does not exist, or for a size.
    """

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return what generates the instructions of a function."""
        function = getattr(fn, "typing_key", fn)
        for known in (elements, allocation):
            found = known.instructions(self, function, sig)
            if found is not None:
                return found
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


class Lowering(Lower):
    """How a function becomes instructions: what its types say is not looked up again."""

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read what an index stands for."""
        known = self._item(operator.getitem, (value, index), signature)
        return self.context.cast(self.builder, known, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write what an index stands for."""
        return self._item(operator.setitem, (target_var, index_var, value_var), signature)

    def _item(self, access: Any, variables: tuple[Any, ...], signature: Any) -> Any:
        function = self.context.typing_context.resolve_value_type(access)
        write = self.context.get_function(function, signature)
        pairs = zip(variables, signature.args, strict=True)
        return write(self.builder, [self._cast_var(each, kind) for each, kind in pairs])

"""The machine that kernels are written for, as Numba knows it, with short cuts.

Like `linking`, this depends on the version of Numba.
"""

from typing import Any

from numba.core.cpu import CPUContext

from colonnade.kernels import allocation, elements, loops, numbers, views
from colonnade.kernels.calls import Calls
from colonnade.kernels.references import References

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
        for known in (elements, loops, views, numbers, allocation):
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

    def get_getattr(self, typ: Any, attr: str) -> Any:
        """Return what generates the instructions of an attribute."""
        return views.attribute(typ, attr) or super().get_getattr(typ, attr)

    def pair_first(self, builder: Any, val: Any, ty: Any) -> Any:
        """Return the next value of a loop."""
        return self.data_model_manager[ty].get(builder, val, "first")

    def pair_second(self, builder: Any, val: Any, ty: Any) -> Any:
        """Return whether a loop has a next value."""
        return self.data_model_manager[ty].get(builder, val, "second")

    @property
    def call_conv(self) -> Calls:
        """How functions call each other."""
        return Calls(self)

    @property
    def nrt(self) -> References:
        """How references to arrays are counted."""
        return References(self, self.enable_nrt)

    def get_abi_sizeof(self, ty: Any) -> int:
        """Return how many bytes a value takes, which LLVM knows."""
        if ty not in _SIZES:
            _SIZES[ty] = super().get_abi_sizeof(ty)
        return _SIZES[ty]

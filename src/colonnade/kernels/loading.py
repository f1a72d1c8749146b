"""How a kernel is found on disk, without what is needed to compile one.

Before it looks there, Numba loads all that it knows to compile, and the linear algebra of SciPy
with it: that takes longer than everything else a first call does. It does so again before it
compiles, so nothing is missed if it is left out here.

Like `linking`, this depends on the version of Numba.
"""

from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from colonnade.interrupts import Held


class _Kept(FunctionCache):
    """What is on disk of a kernel."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for arguments of some types, or None."""
        # What makes arrays, and counts references to them, is called from compiled code, too.
        rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:
            # A damaged file can raise anything. It is written anew once the kernel is compiled.
            with suppress(OSError):
                self.flush()
            return None


class Entry(CPUDispatcher):
    """A kernel that Python calls, and that is kept on disk."""

    def enable_caching(self) -> None:
        """Look on disk before compiling, and write there what was compiled."""
        self._cache = _Kept(self.py_func)

    def compile(self, sig: Any) -> Any:
        """Load the kernel, or compile it; an interrupt waits, as LLVM would drop it."""
        with Held():
            return super().compile(sig)

    def _compilation_chain_init_hook(self) -> None:
        """Leave extensions of Numba for later, too: they are loaded before it compiles."""

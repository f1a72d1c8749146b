"""How kernels are compiled, and what keeps that short.

`entry` is for kernels that Python calls, `part` for what only kernels call. Compiling takes Numba
about as long as the source is: a millisecond for an operation, ten for a loop, more for each NumPy
function, a twentieth of a second for the way in from Python.
Hence:

- Entries take plain arrays and numbers. What is on disk must not name a class of the package: it
  could not even be looked at by a version that has moved the class.
- What NumPy does well (sorting, allocating, joining) is done outside, by a plain function beside
  the entry if there are several callers.
- Arguments have the same types in all calls, because each combination is compiled anew. For
  arguments of parts, a literal integer is a type of its own; `np.int64(0)` is not.
- A part that is called in two places is compiled into its caller twice.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from colonnade.kernels.notice import listen

# Versions of Numba with which `linking` and `loading` were tested.
_TESTED = ("0.68",)

# What marks a function whose arrays are separate, for `linking`.
SEPARATE = "arrays_are_separate"

# Division by zero gives an infinity, and need not be looked for.
_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_PART: dict[str, Any] = {**_ALL, "no_cpython_wrapper": True}
_ENTRY: dict[str, Any] = dict(_ALL)
_Entry: type[CPUDispatcher] = CPUDispatcher


def _compiler(name: str, *arguments: Any) -> Any:
    """Make a compiler of `linking`, which is imported only if something is to be compiled."""
    try:
        from colonnade.kernels import linking
    except ImportError:
        return Compiler(*arguments)
    return getattr(linking, name)(*arguments)


if numba.__version__.rpartition(".")[0] in _TESTED:
    _PART["pipeline_class"] = partial(_compiler, "PartCompiler")
    _ENTRY["pipeline_class"] = partial(_compiler, "EntryCompiler")
    with suppress(ImportError):
        from colonnade.kernels.loading import Entry as _Entry


class _Part(CPUDispatcher):
    """A kernel without a way in from Python, where a call would crash."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        raise TypeError(
            f"`{self.py_func.__name__}` is a part of kernels, and only kernels can call it. "
            "Hint: call an entry that uses it."
        )


def part(function: Callable[..., Any], **more: Any) -> Any:
    """Compile a kernel that has no file: its code becomes a part of the entries that use it."""
    kernel = njit(**_PART, **more)(function)
    kernel.__class__ = _Part
    return kernel


def part_in_any_order(function: Callable[..., Any]) -> Any:
    """Compile a part whose sums may be taken in any order.

    All terms are positive, so no accuracy is lost, and the compiler can use vector instructions.
    """
    return part(function, fastmath={"reassoc", "contract", "nsz"})


def part_with_separate_arrays(function: Callable[..., Any], **more: Any) -> Any:
    """Compile a part none of whose arrays has elements of another one.

    The compiler need not look for that before each loop, which takes as long as a short loop.
    """
    setattr(function, SEPARATE, True)
    return part(function, **more)


def part_with_fused_sums(function: Callable[..., Any]) -> Any:
    """Compile a part with separate arrays, where a product may be added to a number at once.

    That is rounded once, not twice, on processors that can do it, and takes half of the time.
    """
    return part_with_separate_arrays(function, fastmath={"contract"})


notice = listen()


def entry(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python calls, once for all later processes."""
    kernel = njit(**_ENTRY)(function)
    kernel.__class__ = _Entry
    try:
        kernel.enable_caching()
    except RuntimeError:
        # Numba finds no folder that it can write to.
        notice.cannot_keep = True
        return kernel
    file: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        # Numba looks at the file of the kernel alone, but its parts may be in others.
        file._source_stamp = (file._source_stamp, _STAMP)
    return kernel


def _stamp() -> list[tuple[str, int, int]]:
    """When the files of all kernels were changed, and their sizes."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files]


_STAMP = _stamp()

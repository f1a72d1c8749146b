"""How kernels are compiled, and what keeps that short.

`entry` is for kernels that Python calls, `part` for what only kernels call. Compiling takes Numba
about as long as the source is: a millisecond for an operation, ten for a loop, more for each NumPy
function, a twentieth of a second for the way in from Python. Hence:

- Entries take plain arrays and numbers. What is on disk must not name a class of the package: it
  could not even be looked at by a version that has moved the class.
- What NumPy does well (sorting, allocating, joining) is done outside, by a plain function beside
  the entry if there are several callers.
- Arguments have the same types in all calls: each combination would be compiled anew.
"""

from typing import Any

from numba import njit

_PART: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# Compiled once for all later processes.
entry = njit(cache=True, nogil=True)
# It has no file of its own: its code becomes a part of the entries that use it.
part = njit(**_PART)
# All terms are positive, so the order of summation may be left to the compiler: it can then use
# vector instructions, and no accuracy is lost.
part_in_any_order = njit(**_PART, fastmath={"reassoc", "contract", "nsz"})
# Division by zero gives an infinity.
part_dividing = njit(**_PART, error_model="numpy")

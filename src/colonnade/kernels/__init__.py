"""Every compiled loop of the package (Numba).

Plain arrays in, plain arrays out: no names, no warnings, no Python objects. Kernels report trouble
by a status or an error estimate; the layer that knows the names words the message. The modules are
imported on first use only, because importing Numba costs more than importing the whole package.
"""

from colonnade.interrupts import Held

# An interrupt would leave Numba half imported, and every later call would fail.
with Held():
    import numba  # noqa: F401

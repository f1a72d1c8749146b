"""Say that kernels are being compiled, where a user would otherwise wonder what is going on."""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any

from numba.core import event

from colonnade.interrupts import Held

_SECONDS_BEFORE_SAID = 1.0
_COMPILING = "Colonnade compiles what this computation needs"
_ONCE = "this happens once (`colonnade warm` does all of it ahead)."
_EVERY_TIME = (
    "in every process, because no folder for compiled code can be written. "
    "Hint: set NUMBA_CACHE_DIR to one that can."
)


class Notice(event.Listener):
    """Hears of all that Numba compiles; once it has taken a second, one line says so.

    The line goes to standard error, if that is a terminal and COLONNADE_QUIET is not set. Meanwhile
    no cyclic garbage is collected: a compiler makes millions of objects that it still needs, and
    looking through them takes a tenth of the time. And interrupts wait for the kernel to be
    finished: LLVM drops those that come while it calls Python.

    Attributes
    ----------
    kernels : int
        How many kernels of the package were compiled in this process.
    cannot_keep : bool
        Whether compiled code cannot be kept for later processes.
    """

    def __init__(self) -> None:
        self.kernels = 0
        self.cannot_keep = False
        self._depth, self._seconds, self._begin, self._said = 0, 0.0, 0.0, False
        self._collecting = False
        self._interrupts = Held()

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            if not event.data["dispatcher"].py_func.__module__.startswith("colonnade."):
                return
            self.kernels += 1
            self._begin = time.monotonic()
            self._collecting = gc.isenabled()
            gc.disable()
            self._interrupts.begin()
        self._depth += 1
        self._say()

    def on_end(self, event: Any) -> None:
        if self._depth == 0:
            return
        self._depth -= 1
        self._say()
        if self._depth == 0:
            self._seconds += time.monotonic() - self._begin
            if self._collecting:
                _call_old()
                gc.enable()
            self._interrupts.end()

    def _say(self) -> None:
        seconds = self._seconds + time.monotonic() - self._begin
        if self._said or seconds < _SECONDS_BEFORE_SAID:
            return
        self._said = True
        if sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("COLONNADE_QUIET"):
            text = f"{_COMPILING} {_EVERY_TIME}" if self.cannot_keep else f"{_COMPILING}; {_ONCE}"
            print(text, file=sys.stderr)


def _call_old() -> None:
    """Let the next full collection look at all there is, and the next quick one at nothing.

    Else a quick one would look through all that was made while none was allowed.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


def listen() -> Notice:
    """Begin to listen."""
    notice = Notice()
    event.register("numba:compile", notice)
    return notice

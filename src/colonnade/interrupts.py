"""Interrupts that wait until something is done that must not be left half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

__all__ = ["Held"]


class Held:
    """Holds Ctrl-C back inside the context; a second one is not held.

    Only where Python's own handler would raise a KeyboardInterrupt: in the main thread, and if
    nobody else handles the signal. At the end of the context it is raised.

    Examples
    --------
    >>> with Held():
    ...     done = 1
    """

    def __init__(self) -> None:
        self._holding = False
        self._came = False

    def begin(self) -> None:
        """Hold interrupts back from now on."""
        self._came = False
        main = threading.current_thread() is threading.main_thread()
        self._holding = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._holding:
            signal.signal(signal.SIGINT, self._hold)

    def end(self) -> None:
        """Raise what came meanwhile."""
        if not self._holding:
            return
        self._release()
        if self._came:
            raise KeyboardInterrupt

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._came:
            self._release()
            signal.default_int_handler(number, frame)
        self._came = True

    def _release(self) -> None:
        self._holding = False
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __enter__(self) -> Held:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

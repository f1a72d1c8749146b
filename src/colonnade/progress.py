"""A progress bar for jobs that take more than two seconds; nothing is shown before that."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["Progress"]

_SECONDS_BEFORE_SHOWN = 2.0
# Two bars would overwrite each other: a job within a job, or beside it, shows none.
_one_at_a_time = threading.Lock()


class Progress:
    """Progress of one job, on standard error; `total` is the number of steps, if known.

    The bar opens by itself, also if no step is done by then. Where standard error is no terminal,
    nothing is written.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what, self._total, self._done = what, total, 0
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._task: Any = None
        self._changing = threading.Lock()

    def __enter__(self) -> Progress:
        if _one_at_a_time.acquire(blocking=False):
            self._timer = threading.Timer(_SECONDS_BEFORE_SHOWN, self._open)
            self._timer.daemon = True
            self._timer.start()
        return self

    def advance(self, steps: int = 1, text: str | None = None) -> None:
        """Count steps as done, with another text if given."""
        self._done += steps
        if text is not None:
            self._what = text
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._what)

    def __exit__(self, *error: object) -> None:
        timer, self._timer = self._timer, None
        if timer is None:
            return
        timer.cancel()
        with self._changing:
            if self._bar is not None:
                self._bar.stop()
        _one_at_a_time.release()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        with self._changing:
            # The job may have ended meanwhile.
            if self._timer is None or not console.is_interactive:
                return
            bar = Bar(console=console, transient=True)
            self._task = bar.add_task(self._what, total=self._total, completed=self._done)
            bar.start()
            self._bar = bar

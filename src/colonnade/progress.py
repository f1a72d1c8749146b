"""A progress bar for jobs that take more than two seconds; nothing is shown before that."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["Progress"]

_SECONDS_BEFORE_SHOWN = 2.0


class Progress:
    """Progress of one job, on standard error; `total` is the number of steps, if known."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what, self._total, self._done = what, total, 0
        self._begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def advance(self, steps: int = 1, text: str | None = None) -> None:
        """Count steps as done, with another text if given."""
        self._done += steps
        if text is not None:
            self._what = text
        if self._bar is None:
            if time.monotonic() - self._begin < _SECONDS_BEFORE_SHOWN:
                return
            self._open()
        self._bar.update(self._task, completed=self._done, description=self._what)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.start()

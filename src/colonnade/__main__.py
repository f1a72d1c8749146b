"""`python -m colonnade`, and what the command `colonnade` starts: the command line.

Ctrl-C ends it at any moment, with one line and exit code 130; a signal to terminate ends it with
143. The process is left at once instead of raising an exception, which a package that is being
imported, or a compiler, may turn into another error or drop. So nothing heavy is imported here
before the signals are taken care of.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\x1b[?25h"  # a progress bar has hidden it


def _end(number: int, _: Any) -> None:
    """Remove files that are half written, and leave."""
    disk = sys.modules.get("colonnade.files.disk")
    for path in list(getattr(disk, "unfinished", ())):
        path.unlink(missing_ok=True)
    if number == signal.SIGINT and os.getpid() == _started_as:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        os.write(2, f"{_SHOW_CURSOR if terminal else ''}Interrupted.\n".encode())
    os._exit(128 + number)


def main() -> None:
    """Run the command line."""
    for number in _SIGNALS:
        # Who starts a program in the background may want it to ignore the keyboard.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from colonnade.cli import main as run

    run()


_started_as = os.getpid()

if __name__ == "__main__":
    main()

"""`colonnade warm`: everything is compiled ahead."""

from __future__ import annotations

import time

from colonnade.cli.output import say


def warm() -> None:
    """Compile all kernels of the package ahead, so that nobody waits for it later.

    Kernels are compiled when they are first used, once for every machine and version. All of them
    take a minute or two. This is for images and workers, and for a clear conscience before a
    demonstration.

    Example: colonnade warm
    """
    from colonnade.exceptions import ColonnadeError, counted
    from colonnade.progress import Progress
    from colonnade.warm import STEPS, can_be_kept, compiled, quietly

    if not can_be_kept():
        raise ColonnadeError(
            "No folder for compiled code can be written, so that nothing would be kept.",
            "set NUMBA_CACHE_DIR to one that can",
        )
    begin = time.monotonic()
    with quietly(), Progress("Compiling", len(STEPS)) as progress:
        for what, step in STEPS.items():
            progress.advance(0, f"Compiling: {what}")
            step()
            progress.advance()
    seconds = time.monotonic() - begin
    number = compiled()
    if number == 0:
        say("Everything was compiled already.")
    else:
        say(f"Compiled {counted(number, 'kernel')} in {seconds:.0f} s.")

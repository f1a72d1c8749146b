"""Independent tasks spread over threads; compiled kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from colonnade.exceptions import expected

__all__ = ["run", "worker_count"]

Result = TypeVar("Result")


def worker_count(threads: int | None = None) -> int:
    """Return how many threads to use: as asked, or as many as there are processors for us.

    Examples
    --------
    >>> worker_count(3)
    3
    """
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise expected("a number of threads, at least 1,", "threads", threads)
    return threads


def run(tasks: Sequence[Callable[[], Result]], threads: int | None = None) -> list[Result]:
    """Do independent tasks, in threads if more than one is allowed, and return their results.

    Parameters
    ----------
    tasks : sequence of callables without arguments
    threads : int, optional
        At most so many; by default one for each processor. The results do not depend on it.

    Examples
    --------
    >>> run([lambda: 1, lambda: 2], threads=2)
    [1, 2]
    """
    workers = min(worker_count(threads), len(tasks))
    if workers < 2:
        return [task() for task in tasks]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda task: task(), tasks))

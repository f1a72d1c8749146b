"""What a user waits for at first: compilation, and loading what was compiled before.

In fresh processes, in processor seconds: the first steps with nothing compiled, a first tour, the
same tour in a later process, and the compilation kernel by kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.timing import print_table
from benchmarks.tour import INTERVAL, POSTERIOR

ALL_STEPS = 99
_BARE = (
    "import time, numpy, scipy.special, scipy.stats, json; "
    "print(json.dumps({'steps': [['import', time.process_time()]], 'kernels': []}))"
)


def _run(arguments: list[str], cache: str) -> Any:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "COLONNADE_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def tour(steps: int, cache: str, *more: str) -> Any:
    """Take so many steps of the tour in a process of its own; what it printed."""
    return _run(["-m", "benchmarks.tour", str(steps), *more], cache)


def bare_imports() -> float:
    """Processor seconds of importing NumPy and SciPy alone."""
    return min(seconds_of(_run(["-c", _BARE], "")) for _ in range(3))


def seconds_of(found: Any) -> float:
    """Processor seconds of all steps."""
    return sum(seconds for _, seconds in found["steps"])


def run() -> None:
    """Print the tables."""
    rows = []
    for what, steps in (("posterior", POSTERIOR), ("posterior, interval", INTERVAL)):
        with tempfile.TemporaryDirectory() as cache:
            rows.append([what, f"{seconds_of(tour(steps, cache)):.2f}", ""])
    with tempfile.TemporaryDirectory() as cache:
        first = tour(ALL_STEPS, cache, "--kernels")
        later = min((tour(ALL_STEPS, cache) for _ in range(3)), key=seconds_of)
    bare = bare_imports()
    rows.append(["the whole tour", f"{seconds_of(first):.2f}", f"{seconds_of(later):.2f}"])
    for (name, cold), (_, warm) in zip(first["steps"], later["steps"], strict=True):
        rows.append([f"  {name}", f"{cold:.2f}", f"{warm:.2f}"])
    rows.append(["NumPy and SciPy alone", "", f"{bare:.2f}"])
    print_table(
        "Processor seconds in a fresh process: nothing compiled, and all of it on disk.",
        ["what", "first", "later"],
        rows,
    )
    kernels = sorted(first["kernels"], key=lambda row: -row[1])
    total = sum(row[1] for row in kernels)
    print_table(
        f"Compilation, kernel by kernel, without what each calls ({total:.1f} s in all).",
        ["kernel", "seconds", "times"],
        [[name, f"{seconds:.2f}", str(times)] for name, seconds, times in kernels[:40]],
    )


if __name__ == "__main__":
    run()

"""`make bench`: every benchmark, or those named: `make bench ARGS="engines structure"`."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = (
    "waiting",
    "cold",
    "engines",
    "counting",
    "scale",
    "clusters",
    "structure",
    "searches",
    "em",
    "inference",
    "sensitivity",
    "classifier",
)


def main() -> None:
    """Run the benchmarks named on the command line, all by default."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"Unknown benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}.")
    for name in names:
        importlib.import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()

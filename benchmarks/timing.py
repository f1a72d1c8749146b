"""How everything here is timed: after a warm-up, the median of repeated calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def median_seconds(call: Callable[[], Any], budget: float = 0.6, most: int = 200) -> float:
    """Median wall time of `call` in seconds, after one call that does not count."""
    call()
    times: list[float] = []
    until = time.perf_counter() + budget
    while len(times) < 3 or (time.perf_counter() < until and len(times) < most):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]


def shown(seconds: float) -> str:
    """Seconds in a unit that can be read."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table that says what it compares."""
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)

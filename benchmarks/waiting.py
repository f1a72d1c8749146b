"""Where a user used to wait: how long it took, what was wanted, and what it takes now.

Processor seconds. The figures of the past were measured on two cores of a shared machine, and so
were those of bnlearn 5.2 for R, on tables of the same size: they are quoted, because R is not asked
for here. pgmpy and pyAgrum are measured where they are installed.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tests import alarm

import colonnade as cn
from benchmarks.cold import ALL_STEPS, bare_imports, seconds_of, tour
from benchmarks.structure import frame, tree
from benchmarks.timing import print_table
from benchmarks.tour import INTERVAL, POSTERIOR
from colonnade.tables.coded import CodedTable


class Wait(NamedTuple):
    """One row of the table: what, before, wanted, bnlearn's figure, and how to measure it."""

    what: str
    before: str
    wanted: str
    bnlearn: str
    measured: Callable[[], float]
    peers: Callable[[], CodedTable] | None = None


def seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a second call: the first one may compile."""
    call()
    begin = time.process_time()
    call()
    return time.process_time() - begin


def _cold(steps: int) -> float:
    with tempfile.TemporaryDirectory() as cache:
        return seconds_of(tour(steps, cache))


def _later(steps: int) -> float:
    with tempfile.TemporaryDirectory() as cache:
        tour(steps, cache)
        return min(seconds_of(tour(steps, cache)) for _ in range(3))


def _interval() -> float:
    rng = np.random.default_rng(0)
    posterior = cn.Hierarchical().posterior(rng.poisson(rng.gamma(1.0, 2.0, (1000, 50))))
    return seconds(lambda: posterior.interval(0.9))


def _few_rows(rows: int, states: int) -> Callable[[], float]:
    counts = np.random.default_rng(0).gamma(1.0, 2.0, (rows, states))
    return lambda: seconds(lambda: cn.Hierarchical().posterior(counts).mean)


def _fractional() -> float:
    rng = np.random.default_rng(0)
    names = ["child", *(f"parent {k}" for k in range(10))]
    table = {name: rng.integers(0, 20, 5000).tolist() for name in names}
    graph = cn.Dag([(name, "child") for name in names[1:]])
    weights = rng.uniform(0.5, 1.5, 5000)
    learned = cn.Hierarchical(s="learn")

    def fitted() -> Any:
        return cn.fit(table, graph, cn.BDeu(1), per_variable={"child": learned}, weights=weights)

    return seconds(fitted)


def _alarm() -> CodedTable:
    return alarm.draw(20_000)


def _searched(table: Callable[[], CodedTable], score: Any = None) -> Callable[[], float]:
    def measured() -> float:
        coded = table()
        options = {} if score is None else {"score": score}
        return seconds(lambda: cn.hill_climb(coded, **options))

    return measured


def _hundred() -> CodedTable:
    return tree(100, 5000)


_LEARNED = cn.Hierarchical(s="learn")
_WAITS = (
    Wait("first posterior after installation", "20 to 22", "4", "", lambda: _cold(POSTERIOR)),
    Wait("the same with interval()", "31", "6", "", lambda: _cold(INTERVAL)),
    Wait("a first tour", "46", "14", "", lambda: _cold(ALL_STEPS)),
    Wait("posterior in a later process", "1.0", "0.8", "", lambda: _later(POSTERIOR)),
    Wait("the same with interval()", "1.35", "0.8", "", lambda: _later(INTERVAL)),
    Wait("  NumPy and SciPy alone", "0.54", "", "", bare_imports),
    Wait("interval() of 50 000 cells", "9 to 28", "0.5", "", _interval),
    Wait(
        "hill_climb(Hierarchical()), 100 x 5000",
        "58",
        "6",
        "",
        _searched(_hundred, cn.Hierarchical()),
    ),
    Wait("hill_climb(BDeu(10)), 100 x 5000", "5.9", "1.5", "", _searched(_hundred, cn.BDeu(10))),
    Wait("hill_climb() BIC, 100 x 5000", "0.6 to 0.95", "", "1.64", _searched(_hundred)),
    Wait(
        "hill_climb() BIC, 500 x 2000",
        "8.3 to 9.5",
        "1.5",
        "20.6",
        _searched(lambda: tree(500, 2000)),
    ),
    Wait("hill_climb() BIC, 1000 x 5000", "", "8", "", _searched(lambda: tree(1000, 5000))),
    Wait("hill_climb() BIC, alarm, 20 000 rows", "0.2", "", "0.70", _searched(_alarm), _alarm),
    Wait(
        "hill_climb(Hierarchical()), alarm", "6.2", "1.5", "", _searched(_alarm, cn.Hierarchical())
    ),
    Wait("hill_climb(learned s), alarm", "88", "8", "", _searched(_alarm, _LEARNED)),
    Wait("learned s, weights, 10 parents x 20 states", "70", "3", "", _fractional),
    Wait("fractional counts, 3 rows of 8 states", "0.1 to 1", "0.02", "", _few_rows(3, 8)),
    Wait("the same, 2 rows of 12 states", "0.1 to 1", "0.02", "", _few_rows(2, 12)),
    Wait("the same, 3 rows of 20 states", "0.1 to 1", "0.02", "", _few_rows(3, 20)),
)


def _of_peers(coded: CodedTable) -> list[str]:
    """Processor seconds of the hill climbing of pyAgrum and of pgmpy, where they are installed."""
    from benchmarks.structure import pgmpy_search, pyagrum_search

    found = []
    data = frame(coded)
    for search in (pyagrum_search, pgmpy_search):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = search(data)
        except ImportError:
            found.append("")
            continue
        begin = time.process_time()
        run()
        found.append(f"{time.process_time() - begin:.3g}")
    return found


def run() -> None:
    """Print the table."""
    rows = []
    for wait in _WAITS:
        peers = ["", ""] if wait.peers is None else _of_peers(wait.peers())
        measured = f"{wait.measured():.3g}"
        rows.append([wait.what, wait.before, wait.wanted, measured, wait.bnlearn, *peers])
        # All of it takes minutes: what is known is said at once.
        print(f"{wait.what}: {measured} s", flush=True)
    print_table(
        "Where a user waits, processor seconds (bnlearn: quoted, see the module).",
        ["what", "before", "wanted, at most", "measured", "bnlearn 5.2", "pyAgrum", "pgmpy"],
        rows,
    )


if __name__ == "__main__":
    run()

"""A first tour of the package, step by step: what `benchmarks.cold` runs in fresh processes.

`python -m benchmarks.tour STEPS` takes so many steps and prints, as JSON, the processor seconds of
each and, kernel by kernel, of their compilation. Nothing is imported before the clock runs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

# Beyond these steps the tour goes on with a table of data; see `steps`.
POSTERIOR, INTERVAL = 1, 2


def steps() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the steps of the tour in order, each with its name."""
    import numpy as np

    import colonnade as cn

    counts = [[12, 3, 0], [2, 5, 1], [0, 4, 9], [7, 0, 2]]
    yield "posterior", lambda: cn.Hierarchical().posterior(counts).mean
    yield "interval", lambda: cn.Hierarchical().posterior(counts).interval()
    yield "sample", lambda: cn.Hierarchical().posterior(counts).sample(10, rng=1)
    yield "learned s", lambda: cn.Hierarchical(s="learn").posterior(counts).mean
    rng = np.random.default_rng(1)
    a, noise = rng.integers(0, 3, 400), rng.integers(0, 2, (3, 400))
    b = (a + noise[0]) % 3
    columns = {"a": a, "b": b, "c": (b + noise[1]) % 3, "d": (a + b + noise[2]) % 2}
    table = {name: column.astype(str).tolist() for name, column in columns.items()}
    arcs = [("a", "b"), ("b", "c"), ("a", "d"), ("b", "d")]
    made: dict[str, Any] = {}
    yield "fit", lambda: made.update(network=cn.fit(table, cn.Dag(arcs)))
    yield "query", lambda: made["network"].query("a", {"c": "1"})
    yield "log likelihood", lambda: made["network"].log_likelihood(table)
    yield "hill_climb", lambda: cn.hill_climb(table)
    features = np.column_stack([columns[name] for name in "abc"])
    classifier = cn.BayesianNetworkClassifier()
    yield "classifier fit", lambda: classifier.fit(features, columns["d"])
    yield "predict", lambda: classifier.predict_proba(features)
    yield "predict interval", lambda: classifier.predict_interval(features[:5])


class _Compilations:
    """Processor seconds of the compilation of each kernel, without what it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.times: dict[str, int] = {}
        self._open: list[float] = []

    def on_start(self, event: Any) -> None:
        self._open += [time.process_time(), 0.0]

    def on_end(self, event: Any) -> None:
        inner, begin = self._open.pop(), self._open.pop()
        whole = time.process_time() - begin
        if self._open:
            self._open[-1] += whole
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__.removeprefix('colonnade.kernels.')}.{function.__name__}"
        self.seconds[name] = self.seconds.get(name, 0.0) + whole - inner
        self.times[name] = self.times.get(name, 0) + 1

    def listen(self) -> None:
        """Hear of all that Numba compiles from now on."""
        from numba.core import event

        own = type("_Listener", (event.Listener,), {"on_start": None, "on_end": None})
        own.on_start = lambda _, heard: self.on_start(heard)
        own.on_end = lambda _, heard: self.on_end(heard)
        own.__abstractmethods__ = frozenset()
        event.register("numba:compile", own())


def main() -> None:
    """Take the tour as far as the command line says."""
    number, listen = int(sys.argv[1]), "--kernels" in sys.argv
    compilations = _Compilations()
    if listen:
        compilations.listen()
    taken: list[tuple[str, float]] = []
    before = 0.0 if not listen else time.process_time()
    for name, step in steps():
        step()
        now = time.process_time()
        taken.append((name, now - before))
        before = now
        if len(taken) == number:
            break
    kernels = [(name, s, compilations.times[name]) for name, s in compilations.seconds.items()]
    print(json.dumps({"steps": taken, "kernels": kernels}))


if __name__ == "__main__":
    main()

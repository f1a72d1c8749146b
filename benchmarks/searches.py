"""Searches for the graph against each other and against pyAgrum and pgmpy: score reached, time.

Rows are drawn from known networks, which come with pgmpy. The yardstick is the best of all graphs
where it can be computed; times are of one run after a short one that compiles what it needs.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import colonnade as cn
from benchmarks.arcs import known_network, skeleton
from benchmarks.timing import print_table, shown
from colonnade.dag import Dag
from colonnade.exceptions import ColonnadeError

ROWS = 5000
# Variables up to which the best graph is computed with any number of parents.
_MAX_EXACT = 11
# Variables up to which pgmpy's GES and PC end within minutes.
_MAX_SLOW_PEERS = 20

Arcs = list[tuple[str, str]]
Run = Callable[[], Arcs]


def ours(table: Any, width: int) -> dict[str, Run]:
    """Our searches by name; each gives arcs."""
    exact = {"max_parents": None if width <= _MAX_EXACT else 3}
    searches: dict[str, Run] = {
        "hill_climb": lambda: list(cn.hill_climb(table).dag.arcs),
        "hill_climb, tabu=10": lambda: list(cn.hill_climb(table, tabu=10).dag.arcs),
        "ges": lambda: list(cn.ges(table).dag.arcs),
        "pc, alpha=0.01": lambda: list(cn.pc(table, alpha=0.01).dag.arcs),
        "pc, alpha=0.01, g2": lambda: list(cn.pc(table, "g2", 0.01).dag.arcs),
    }
    if width <= 20:
        name = "exact_search" if width <= _MAX_EXACT else "exact_search, max_parents=3"
        searches[name] = lambda: list(cn.exact_search(table, **exact).dag.arcs)
    return searches


def pyagrum_searches(frame: Any) -> dict[str, Run]:
    """Searches of pyAgrum with the same score or test; reading the frame is timed as well."""
    import pyagrum

    def learn(setting: str) -> Arcs:
        learner = pyagrum.BNLearner(frame)
        learner.useNoPrior()
        learner.useScoreBIC()
        getattr(learner, setting)()
        names = learner.names()
        if setting == "usePC":
            learner.useG2Test()
        return [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]

    return {
        "pyAgrum greedy": lambda: learn("useGreedyHillClimbing"),
        "pyAgrum tabu": lambda: learn("useLocalSearchWithTabuList"),
        "pyAgrum PC": lambda: learn("usePC"),
        "pyAgrum MIIC": lambda: learn("useMIIC"),
    }


def pgmpy_searches(frame: Any) -> dict[str, Run]:
    """Searches of pgmpy with the same score or test; the slow ones for few variables."""
    from pgmpy.estimators import GES, PC, HillClimbSearch

    def climbed() -> Arcs:
        found = HillClimbSearch(frame).estimate(scoring_method="bic-d", show_progress=False)
        return list(found.edges())

    def equivalence() -> Arcs:
        return list(GES(frame).estimate(scoring_method="bic-d").to_dag().edges())

    def tested() -> Arcs:
        options = {"ci_test": "g_sq", "significance_level": 0.01, "return_type": "dag"}
        found = PC(frame).estimate("stable", show_progress=False, n_jobs=1, **options)
        return list(found.edges())

    if frame.shape[1] > _MAX_SLOW_PEERS:
        return {"pgmpy HC": climbed}
    return {"pgmpy HC": climbed, "pgmpy GES": equivalence, "pgmpy PC": tested}


def one_network(name: str) -> None:
    """All searches on one sample."""
    import pandas as pd

    network = known_network(name)
    if network is None:
        return
    table = network.sample(ROWS, rng=0)
    frame = pd.DataFrame(table).astype(str)
    names, truth = tuple(table), skeleton(network.dag)
    runs = {**ours(table, len(names)), **pyagrum_searches(frame), **pgmpy_searches(frame)}
    true_score = cn.score(table, Dag(network.dag.arcs, names))
    rows = [["(the true graph)", "", f"{true_score:.1f}", str(len(truth)), ""]]
    reference = None
    for title, run in runs.items():
        seconds, arcs = _timed(run)
        if isinstance(arcs, str):
            rows.append([title, arcs, "", "", ""])
            continue
        reference = reference or seconds
        try:
            dag = Dag(tuple(arcs), names)
            reached = f"{cn.score(table, dag):.1f}"
        except ColonnadeError:
            reached = "has a cycle"
        pairs = {frozenset(arc) for arc in arcs}
        found = f"{len(pairs & truth)} + {len(pairs - truth)}"
        rows.append([title, shown(seconds), reached, found, f"{seconds / reference:.2g}x"])
    print_table(
        f"{name}, {len(names)} variables, {ROWS:,} rows, BIC (larger is better).",
        ["search", "time", "BIC reached", "true + false arcs", "time, ratio to hill_climb"],
        rows,
    )


def _timed(run: Run) -> tuple[float, Arcs | str]:
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            begin = time.perf_counter()
            arcs: Arcs | str = run()
            return time.perf_counter() - begin, arcs
        except Exception as problem:  # a peer that fails is a result, too
            return 0.0, f"failed: {type(problem).__name__}"
        finally:
            logging.disable(logging.NOTSET)


def run() -> None:
    """Print all tables."""
    import numpy as np

    rng = np.random.default_rng(0)
    small = {f"x{k}": rng.integers(2, size=100) for k in range(4)}
    for search in ours(small, 4).values():
        search()  # compiles what it needs
    for name in ("asia", "sachs", "child", "insurance", "alarm"):
        one_network(name)


if __name__ == "__main__":
    run()

"""Hill climbing and trees against pyAgrum and pgmpy on the same rows, in one run."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from tests import alarm

import colonnade as cn
from benchmarks.timing import median_seconds, print_table, shown
from colonnade.dag import Dag
from colonnade.structure import BIC, hill_climb, score, tan
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable


def letter_like(rows: int = 20_000) -> CodedTable:
    """A class of 26 states and 16 features of five, depending on the class and the one before."""
    rng = np.random.default_rng(0)
    target = rng.integers(26, size=rows)
    columns = [target]
    for j in range(16):
        before = columns[-1] if j else np.zeros(rows, int)
        table = rng.dirichlet(np.full(5, 0.5), (26, 26))[target, before]
        columns.append((rng.random(rows)[:, None] > table.cumsum(axis=1)).sum(axis=1).clip(0, 4))
    variables = [Variable("class", range(26)), *(Variable(f"x{j}", range(5)) for j in range(16))]
    return CodedTable(tuple(variables), tuple(columns))


def wide(rows: int = 137_000, width: int = 29) -> CodedTable:
    """The shape of a table that a pgmpy user reported at 33 hours: a chain with side branches."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(3, size=rows)]
    for j in range(1, width):
        parent = columns[max(0, j - 1 - j % 3)]
        table = rng.dirichlet(np.full(4, 0.7), 4)[parent]
        columns.append((rng.random(rows)[:, None] > table.cumsum(axis=1)).sum(axis=1).clip(0, 3))
    variables = tuple(Variable(f"x{j}", range(4)) for j in range(width))
    return CodedTable(variables, tuple(columns))


def tree(width: int, rows: int) -> CodedTable:
    """Columns of three states that each depend on one of the twenty before."""
    rng = np.random.default_rng(2)
    columns = [rng.integers(3, size=rows)]
    for j in range(1, width):
        parent = columns[int(rng.integers(max(0, j - 20), j))]
        table = rng.dirichlet(np.full(3, 0.5), 3)[parent]
        columns.append((rng.random(rows)[:, None] > table.cumsum(axis=1)).sum(axis=1).clip(0, 2))
    variables = tuple(Variable(f"x{j}", range(3)) for j in range(width))
    return CodedTable(variables, tuple(columns))


def frame(coded: CodedTable) -> Any:
    """The same rows as strings in a pandas data frame, which the peers need."""
    import pandas as pd

    return pd.DataFrame(
        {name: codes.astype(str) for name, codes in zip(coded.names, coded.codes, strict=True)}
    )


def pyagrum_search(data: Any) -> Callable[[], list[tuple[str, str]]]:
    """The hill climbing of pyAgrum with BIC, ready to run."""
    import pyagrum

    learner = pyagrum.BNLearner(data)  # reading the frame is not timed
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()

    def run() -> list[tuple[str, str]]:
        return [(learner.names()[a], learner.names()[b]) for a, b in learner.learnDAG().arcs()]

    return run


def pgmpy_search(data: Any) -> Callable[[], list[tuple[str, str]]]:
    """The same of pgmpy."""
    from pgmpy.estimators import HillClimbSearch

    def run() -> list[tuple[str, str]]:
        found = HillClimbSearch(data).estimate(scoring_method="bic-d", show_progress=False)
        return list(found.edges())

    return run


def against_peers() -> None:
    """Hill climbing with BIC; seconds, ratio to ours, and the score each reached."""
    rows = []
    for title, coded in (
        ("alarm graph, 37 x 20 000", alarm.draw(20_000)),
        ("letter-like, 17 x 20 000", letter_like()),
    ):
        seconds = median_seconds(lambda c=coded: hill_climb(c), budget=2.0)
        reached = hill_climb(coded).score
        row = [title, f"{shown(seconds)} ({reached:.0f})"]
        data = frame(coded)
        for make in (pyagrum_search, pgmpy_search):
            row.append(_peer(make, data, coded, seconds))
        rows.append(row)
    print_table(
        "Hill climbing with BIC: time (score reached, larger is better), ratio to Colonnade.",
        ["table", "Colonnade", "pyAgrum", "pgmpy"],
        rows,
    )


def _peer(make: Any, data: Any, coded: CodedTable, ours: float) -> str:
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = make(data)
            begin = time.perf_counter()
            arcs = run()
            seconds = time.perf_counter() - begin
        except ImportError as problem:
            return f"not installed ({problem.name})"
        finally:
            logging.disable(logging.NOTSET)
    reached = score(coded, Dag(tuple(arcs), coded.names), BIC())
    return f"{shown(seconds)} ({reached:.0f}), {seconds / ours:.0f}x"


def growth() -> None:
    """How our own time grows, and what the other scores cost."""
    rows = []
    for title, coded, judge in (
        ("alarm graph, 37 x 5 000, BIC", alarm.draw(5_000), BIC()),
        ("alarm graph, 37 x 20 000, BIC", alarm.draw(20_000), BIC()),
        ("alarm graph, 37 x 80 000, BIC", alarm.draw(80_000), BIC()),
        ("29 x 137 000, BIC", wide(), BIC()),
        ("14 x 137 000, BIC", wide(width=14), BIC()),
        ("alarm graph, 37 x 20 000, BDeu(10)", alarm.draw(20_000), cn.BDeu(10)),
        ("alarm graph, 37 x 20 000, Hierarchical() exactly", alarm.draw(20_000), cn.Hierarchical()),
        (
            'alarm graph, 37 x 20 000, Hierarchical(s="learn")',
            alarm.draw(20_000),
            cn.Hierarchical(s="learn"),
        ),
    ):
        hill_climb(alarm.draw(200), judge, max_parents=1)  # compiles what it needs
        wall, used = time.perf_counter(), time.process_time()
        found = hill_climb(coded, judge)
        wall, used = time.perf_counter() - wall, time.process_time() - used
        rows.append(
            [title, shown(wall), shown(used), str(len(found.dag.arcs)), str(len(found.trace))]
        )
    print_table(
        "Hill climbing, Colonnade alone.", ["table, score", "wall", "CPU", "arcs", "steps"], rows
    )
    coded = letter_like()
    seconds = median_seconds(lambda: tan(coded, "class"))
    print(f"TAN on 17 x 20 000 coded rows: {shown(seconds)}\n")


# Seconds of bnlearn 5.2 (R and C) for hill climbing with BIC on tables of these shapes, of three
# states and a tree like ours, on a machine of the same kind.
_BNLEARN_SECONDS = {(100, 5000): 1.64, (500, 2000): 20.6}


def wide_tables() -> None:
    """Many columns, and scores by the log evidence."""
    rows = []
    for width, length, judges in (
        (100, 5000, (BIC(), cn.BDeu(10), cn.Hierarchical())),
        (500, 2000, (BIC(),)),
        (1000, 5000, (BIC(),)),
    ):
        coded = tree(width, length)
        for judge in judges:
            hill_climb(tree(5, 200), judge)  # compiles what it needs
            wall, used = time.perf_counter(), time.process_time()
            found = hill_climb(coded, judge)
            wall, used = time.perf_counter() - wall, time.process_time() - used
            peer = _BNLEARN_SECONDS.get((width, length)) if isinstance(judge, BIC) else None
            size, arcs = f"{width} x {length:,}", str(len(found.dag.arcs))
            other = "" if peer is None else shown(peer)
            name = "BIC" if isinstance(judge, BIC) else judge.word
            rows.append([size, name, shown(wall), shown(used), other, arcs])
    print_table(
        "Hill climbing on wide tables.",
        ["columns x rows", "score", "wall", "CPU", "bnlearn, CPU, elsewhere", "arcs"],
        rows,
    )


def run() -> None:
    """Print all tables."""
    against_peers()
    growth()
    wide_tables()


if __name__ == "__main__":
    run()

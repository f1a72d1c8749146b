"""Counting and scoring the 37 families of the alarm graph, against everything else that counts."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from tests import alarm

from benchmarks.timing import print_table, shown
from colonnade.dag import Dag
from colonnade.lookup import Lookup
from colonnade.network import fit
from colonnade.priors import BDeu
from colonnade.tables import CodedTable, encode, row_log_probability
from colonnade.tables.counting import count_families
from colonnade.variables import Family

# What it is, seconds of wall time, seconds of processor time.
Row = tuple[str, float, float]


def run(rows: int = 1_000_000, peers: bool = True) -> list[Row]:
    """Time everything, print the comparison and return its rows; ours is the first."""
    families = alarm.families()
    coded = alarm.draw(rows)
    frame = as_frame(coded)
    text = frame.astype(str)
    logs = log_tables(families)
    # Without compiling, and that all count the same.
    check(count_families(coded, families), bincounts(coded, families))
    timed = [
        best("count: coded columns, all threads", lambda: count_families(coded, families)),
        best(
            "count: coded columns, one thread", lambda: count_families(coded, families, threads=1)
        ),
        best("  NumPy bincount, family by family", lambda: bincounts(coded, families), 3),
        best("  one summing pass over the same bytes", lambda: [c.sum() for c in coded.codes]),
        best("  one vectorised pass (maximum)", lambda: [c.max() for c in coded.codes]),
        best(
            "score: log probability of each row", lambda: row_log_probability(coded, families, logs)
        ),
        best("encode: pandas categories", lambda: encode(frame)),
        best("encode: pandas strings", lambda: encode(text), 1),
        best("  pandas factorize, column by column", lambda: factorized(text), 1),
    ]
    if peers:
        timed += peer_rows(frame, families)
    _, wall, processor = timed[0]
    print_table(
        f"{rows:,} rows, {len(families)} families of the alarm graph; best of repeated calls.\n"
        "Indented: other ways to the same. Ratios are to the first line; when other programs are "
        "running, trust those of processor time.",
        ["", "wall", "ratio", "processor", "ratio"],
        [
            [name, shown(w), f"{w / wall:.2f}", shown(p), f"{p / processor:.2f}"]
            for name, w, p in timed
        ],
    )
    return timed


def best(name: str, call: Callable[[], Any], repeats: int = 15) -> Row:
    """Shortest wall and processor time of a call, after one that does not count."""
    call()
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return name, min(walls), min(processors)


def once(name: str, call: Callable[[], Any]) -> Row:
    """Wall and processor time of a single call, for what takes long."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return name, time.perf_counter() - wall, time.process_time() - processor


def bincounts(coded: CodedTable, families: list[Family]) -> list[np.ndarray]:
    """Count by NumPy alone."""
    tables = []
    for family in families:
        index = np.zeros(coded.rows, dtype=np.intp)
        for variable in (*family.parents, family.child):
            index *= variable.cardinality
            index += coded.codes[coded.position(variable.name)]
        cells = family.configurations * family.cardinality
        tables.append(np.bincount(index, minlength=cells).reshape(-1, family.cardinality))
    return tables


def check(ours: list[Any], others: list[np.ndarray]) -> None:
    """Refuse to compare the speed of different answers."""
    for counts, table in zip(ours, others, strict=True):
        if not np.array_equal(counts.to_array(), table):
            raise AssertionError("the counts differ")


def as_frame(coded: CodedTable) -> Any:
    """The table as pandas categories."""
    import pandas as pd

    return pd.DataFrame(
        {
            variable.name: pd.Categorical.from_codes(codes, categories=list(variable.states))
            for variable, codes in zip(coded.variables, coded.codes, strict=True)
        }
    )


def factorized(text: Any) -> list[Any]:
    """What any encoding of strings has to do."""
    import pandas as pd

    return [pd.factorize(text[name]) for name in text.columns]


def log_tables(families: list[Family]) -> list[Lookup]:
    """Tables to score with."""
    rng = np.random.default_rng(1)
    return [
        Lookup(f.parent_sizes, np.log(rng.dirichlet(np.ones(f.cardinality), f.configurations)))
        for f in families
    ]


def peer_rows(frame: Any, families: list[Family]) -> list[Row]:
    """The whole path from the same pandas frame, of the packages that are installed."""
    dag = Dag(tuple((p.name, f.child.name) for f in families for p in f.parents))
    network = fit(frame, dag, BDeu(1))
    timed = [
        best("from pandas: encode + count", lambda: count_families(encode(frame), families), 5),
        best("from pandas: log_likelihood", lambda: network.log_likelihood(frame), 5),
        best("from pandas: fit, BDeu(1)", lambda: fit(frame, dag, BDeu(1)), 3),
        best("from pandas: fit, Hierarchical()", lambda: fit(frame, dag), 3),
    ]
    if importlib.util.find_spec("pyagrum"):
        timed += pyagrum_rows(frame, families)
    if importlib.util.find_spec("pgmpy"):
        timed.append(once("  pgmpy, state counts", lambda: pgmpy_counts(frame, families)))
    return timed


def pyagrum_rows(frame: Any, families: list[Family]) -> list[Row]:
    """Loading (pyAgrum reads pandas through a file) and learning without a prior."""
    import pyagrum as gum

    template = gum.BayesNet()
    for family in families:
        child = family.child
        template.add(gum.LabelizedVariable(child.name, child.name, list(child.states)))
    for family in families:
        for parent in family.parents:
            template.addArc(parent.name, family.child.name)
    made: list[Any] = []
    loading = once("  pyAgrum, loading", lambda: made.append(gum.BNLearner(frame, template)))
    made[0].useNoPrior()
    learning = once("  pyAgrum, learnParameters", lambda: made[0].learnParameters(template.dag()))
    return [loading, learning]


def pgmpy_counts(frame: Any, families: list[Family]) -> None:
    """Counts of every family by pgmpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import BaseEstimator

        states = {family.child.name: list(family.child.states) for family in families}
        estimator = BaseEstimator(frame, state_names=states)
        for family in families:
            parents = [parent.name for parent in family.parents]
            estimator.state_counts(family.child.name, parents)


if __name__ == "__main__":
    run()

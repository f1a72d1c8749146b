"""EM on rows that lack values: against pyAgrum's on the same rows, and how our own time grows."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from tests import alarm

import colonnade as cn
from benchmarks.timing import median_seconds, print_table, shown
from colonnade.dag import Dag
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable

Case = tuple[str, CodedTable, Dag]


def diamond(rows: int = 1_000) -> tuple[CodedTable, Dag]:
    """Five variables of three states: a -> b, c; b, c -> d -> e."""
    dag = Dag([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {}
    for name in dag.order:
        index = np.zeros(rows, dtype=np.int64)
        for parent in dag.parents(name):
            index = index * 3 + columns[parent]
        table = rng.dirichlet(np.full(3, 0.5), size=3 ** len(dag.parents(name)))
        bounds = table.cumsum(axis=1)[:, :-1]
        columns[name] = (rng.random(rows)[:, None] > bounds[index]).sum(axis=1)
    variables = [Variable(name, range(3)) for name in dag.variables]
    return CodedTable(variables, [columns[name] for name in dag.variables]), dag


def holes(coded: CodedTable, share: float) -> CodedTable:
    """Lose a share of all values, at random places."""
    rng = np.random.default_rng(1)
    columns = [
        np.where(rng.random(coded.rows) < share, variable.cardinality, column)
        for variable, column in zip(coded.variables, coded.codes, strict=True)
    ]
    return CodedTable(coded.variables, columns)


def against_pyagrum() -> None:
    """The same rows, graph and pseudo-count (one per cell): time, iterations, differences."""
    small, dag = diamond()
    cases: list[Case] = [
        ("5 x 1 000, 10 %", holes(small, 0.1), dag),
        ("5 x 1 000, 30 %", holes(small, 0.3), dag),
        ("alarm graph, 37 x 200, 10 %", holes(alarm.draw(200), 0.1), alarm.graph()),
    ]
    rows = []
    for title, coded, graph in cases:

        def ours(coded: CodedTable = coded, graph: Dag = graph) -> cn.BayesianNetwork:
            return cn.fit(coded, graph, cn.SymmetricDirichlet(), missing="em")

        seconds, network = median_seconds(ours), ours()
        assert network.diagnostics is not None
        row = [title, f"{shown(seconds)} ({network.diagnostics.iterations})"]
        rows.append([*row, *_pyagrum(coded, graph, network, seconds)])
    print_table(
        "EM with one pseudo-count per cell: time (iterations); ours includes reading the codes.\n"
        "Both stop when an iteration raises the log likelihood by about 1e-8 per row.",
        ["table, missing", "Colonnade", "pyAgrum", "ratio", "largest difference of tables"],
        rows,
    )


def _pyagrum(coded: CodedTable, dag: Dag, network: cn.BayesianNetwork, ours: float) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pandas as pd
            import pyagrum
        except ImportError as problem:
            return [f"not installed ({problem.name})", "", ""]
        model = pyagrum.BayesNet()
        columns: dict[str, Any] = {}
        for variable, codes in zip(coded.variables, coded.codes, strict=True):
            model.add(pyagrum.RangeVariable(variable.name, "", 0, variable.cardinality - 1))
            missing = codes == variable.cardinality
            columns[variable.name] = np.where(missing, "?", codes.astype(str))
        for parent, child in dag.arcs:
            model.addArc(parent, child)
        learner = pyagrum.BNLearner(pd.DataFrame(columns), model, ["?"])  # reading is not timed
        learner.useSmoothingPrior(1)
        learner.useEMWithDiffCriterion(1e-8 * coded.rows)
        learner.EMsetMaxIter(1000)
        begin = time.perf_counter()
        learned = learner.learnParameters(model.dag())
        seconds = time.perf_counter() - begin
    apart = 0.0
    for name in dag.variables:
        cpt = learned.cpt(name)
        theirs = cpt.reorganize([name, *reversed(dag.parents(name))]).toarray()
        table = theirs.reshape(network[name].probabilities.shape)
        apart = max(apart, float(np.abs(table - network[name].probabilities).max()))
    iterations = learner.EMnbrIterations()
    return [f"{shown(seconds)} ({iterations})", f"{seconds / ours:.0f}x", f"{apart:.0e}"]


def growth() -> None:
    """Larger tables, Colonnade alone."""
    rows = []
    small, dag = diamond()
    cases: list[Case] = [("5 x 1 000, 30 %", holes(small, 0.3), dag)]
    for number, share in ((10_000, 0.1), (10_000, 0.3), (30_000, 0.3)):
        title = f"alarm graph, 37 x {number // 1000} 000, {100 * share:.0f} %"
        cases.append((title, holes(alarm.draw(number), share), alarm.graph()))
    for title, coded, graph in cases:
        for name, prior in {"BDeu(10)": cn.BDeu(10), "Hierarchical()": cn.Hierarchical()}.items():
            cn.fit(holes(small, 0.1), dag, prior, missing="em")  # compiles what it needs
            begin = time.perf_counter()
            network = cn.fit(coded, graph, prior, missing="em")
            seconds = time.perf_counter() - begin
            about = network.diagnostics
            assert about is not None
            numbers = [str(about.iterations), str(about.cases)]
            rows.append([title, name, shown(seconds), *numbers])
    print_table(
        'fit(..., missing="em"), Colonnade alone.',
        ["table, missing", "prior", "time", "iterations", "cases"],
        rows,
    )


def run() -> None:
    """Print both tables."""
    against_pyagrum()
    growth()


if __name__ == "__main__":
    run()

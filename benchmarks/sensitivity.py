"""How the learned graph depends on the strength of the prior: BDeu's sample size against s.

Breast cancer data (ships with scikit-learn): ten mean features and the diagnosis, cut at quantiles
into four bins. Graphs are learned on 300 rows and judged on the other 269.
"""

from __future__ import annotations

import numpy as np

import colonnade as cn
from benchmarks.timing import print_table
from colonnade.network import fit
from colonnade.structure import BIC, hill_climb
from colonnade.tables.coded import CodedTable
from colonnade.tables.discretizing import discretize
from colonnade.tables.memory import encode


def table() -> CodedTable:
    """The coded table."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [name.replace(" ", "_") for name in data.feature_names[:10]]
    columns = {name: data.data[:, k] for k, name in enumerate(names)}
    columns["diagnosis"] = data.target_names[data.target]
    return encode(discretize(columns, bins=4))


def run(repeats: int = 5) -> None:
    """Print arcs and held-out log likelihood for every score, averaged over splits."""
    coded = table()
    scores = {"BIC": BIC()}
    scores |= {f"BDeu({ess:g})": cn.BDeu(ess) for ess in (0.1, 1, 10, 100, 1000)}
    scores |= {f"Hierarchical(s={s:g})": cn.Hierarchical(s=s) for s in (0.4, 1, 4, 10, 40)}
    scores['Hierarchical(s="learn")'] = cn.Hierarchical(s="learn")
    rows = []
    for name, judge in scores.items():
        arcs, held = [], []
        for seed in range(repeats):
            order = np.random.default_rng(seed).permutation(coded.rows)
            train, test = _take(coded, order[:300]), _take(coded, order[300:])
            dag = hill_climb(train, judge).dag
            arcs.append(len(dag.arcs))
            held.append(fit(train, dag, cn.Hierarchical(s="learn")).log_likelihood(test).mean())
        rows.append([name, f"{np.mean(arcs):.1f}", f"{np.mean(held):.3f}"])
    print_table(
        f"Breast cancer, 11 variables: graph learned on 300 rows, {repeats} splits.\n"
        'Held-out: mean log likelihood of a row, tables by Hierarchical(s="learn") throughout.',
        ["score", "arcs", "held-out"],
        rows,
    )


def _take(coded: CodedTable, rows: np.ndarray) -> CodedTable:
    return CodedTable(coded.variables, tuple(column[rows] for column in coded.codes))


if __name__ == "__main__":
    run()

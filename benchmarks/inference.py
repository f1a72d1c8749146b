"""Single queries: our elimination against pyAgrum's lazy propagation on the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests import alarm

import colonnade as cn
from benchmarks.timing import median_seconds, print_table, shown
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.gum import load_pyagrum
from colonnade.inference.reduction import Question
from colonnade.variables import Family, Variable

pyagrum = load_pyagrum()


def local_network(variables: int, window: int) -> cn.BayesianNetwork:
    """Variables of 2 to 4 states with up to 3 parents each among the `window` before them."""
    rng = np.random.default_rng(0)
    declared: list[Variable] = []
    tables: dict[str, Cpt] = {}
    for k in range(variables):
        declared.append(Variable(f"v{k}", range(int(rng.integers(2, 5)))))
        near = declared[max(0, k - window) : k]
        number = min(len(near), int(rng.integers(1, 4)))
        parents = [near[i] for i in sorted(rng.choice(len(near), number, replace=False))]
        family = Family(declared[k], parents)
        rows = rng.dirichlet(np.ones(family.cardinality), size=family.configurations)
        tables[family.child.name] = Cpt.known(family, rows)
    arcs = [(p.name, cpt.family.child.name) for cpt in tables.values() for p in cpt.family.parents]
    return cn.BayesianNetwork(Dag(arcs, [v.name for v in declared]), tables)


def networks() -> Iterator[tuple[str, cn.BayesianNetwork]]:
    """Networks of several sizes, by name."""
    yield "alarm graph, 37", cn.fit(alarm.draw(10_000), alarm.graph())
    for variables, window in ((10, 4), (100, 5), (1000, 5), (100, 9), (60, 14), (110, 12)):
        yield f"random, {variables}, window {window}", local_network(variables, window)


def answer(model: Any, target: str, codes: dict[str, int]) -> np.ndarray:
    """Probabilities by pyAgrum's lazy propagation."""
    engine = pyagrum.LazyPropagation(model)
    engine.setEvidence(codes)
    engine.addTarget(target)
    engine.makeInference()
    return np.asarray(engine.posterior(target).toarray())


def compared(network: cn.BayesianNetwork, share: float) -> list[str]:
    """Times for the last variable, a share of the others being observed."""
    *others, target = network.dag.order
    sample, rng = network.sample(1, rng=0), np.random.default_rng(1)
    observed = {name: sample[name][0] for name in others if rng.random() < share}
    codes = {name: network[name].family.child.index(state) for name, state in observed.items()}
    model = network.to_pyagrum()
    ours = network.query(target, observed).probabilities
    assert np.allclose(ours, answer(model, target, codes), atol=1e-9)
    times = [
        median_seconds(lambda: network.query(target, observed)),
        median_seconds(lambda: answer(network.to_pyagrum(), target, codes)),
        median_seconds(lambda: answer(model, target, codes)),
    ]
    cells = Question(network, [target], observed).elimination().cells
    return [f"{100 * share:.0f} %", f"{cells:,}", *map(shown, times)]


def run() -> None:
    """Print the table."""
    print_table(
        "Probabilities of the last variable. pyAgrum with and without making its model.",
        ["network", "observed", "largest table", "Colonnade", "pyAgrum", "existing model"],
        [[title, *compared(net, share)] for title, net in networks() for share in (0.0, 0.3)],
    )


if __name__ == "__main__":
    run()

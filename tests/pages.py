"""Networks that pages are tested with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas

import alarm
from colonnade.classifier import BayesianNetworkForest
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import Hierarchical, Tiered
from colonnade.tables import discretize

HOSTILE = (
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "\"quoted\" 'twice' \\ & `so` ${name} {{ 7 * 7 }}",
    "\N{GRINNING FACE} \N{FAMILY}",
    "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED} \N{RIGHT-TO-LEFT OVERRIDE}abc",
    "null\x00and\ud800half",
    "__proto__",
    "<!--",
)
CLINIC_DAG = Dag(
    (
        *(("smoker", "cancer"), ("age", "cancer"), ("sex", "cancer"), ("cancer", "marker")),
        *(("cancer", "x-ray"), ("smoker", "dyspnoea"), ("cancer", "dyspnoea")),
    )
)


def clinic(rows: int = 300) -> dict[str, Any]:
    """Patients of a lung clinic, made up."""
    rng = np.random.default_rng(1)
    smoker = rng.choice(["no", "yes"], rows, p=[0.7, 0.3])
    age = rng.choice(["young", "middle", "old"], rows)
    cancer = rng.random(rows) < 0.05 + 0.3 * (smoker == "yes") + 0.2 * (age == "old")
    seen = np.where(cancer, "shadow", "clear")
    return {
        "smoker": smoker,
        "age": age,
        "sex": rng.choice(["female", "male"], rows),
        "cancer": cancer,
        "marker": (rng.normal(size=rows) + 0.9 * cancer).round(3),
        "x-ray": np.where(rng.random(rows) < 0.75, seen, rng.choice(["clear", "unclear"], rows)),
        "dyspnoea": rng.random(rows) < 0.1 + 0.3 * (smoker == "yes") + 0.2 * cancer,
    }


@cache
def clinic_network() -> BayesianNetwork:
    """The network of the clinic, with tiers and a column that was cut."""
    return fit(discretize(clinic(), bins=4), CLINIC_DAG, Tiered())


@cache
def clinic_forest() -> BayesianNetworkForest:
    """A few networks that predict cancer together."""
    frame = pandas.DataFrame(clinic())
    forest = BayesianNetworkForest(n_members=6, random_state=0, target_name="cancer")
    return forest.fit(frame.drop(columns="cancer"), frame["cancer"])


@cache
def many_variables(number: int = 500, rows: int = 400) -> BayesianNetwork:
    """A network of many variables with two parents each."""
    rng = np.random.default_rng(0)
    codes = np.zeros((number, rows), dtype=int)
    for k in range(number):
        base = (codes[k - 1] + codes[k - 7]) % 4 if k > 6 else 0
        codes[k] = np.where(rng.random(rows) < 0.6, base, rng.integers(0, 4, rows))
    names = [f"v{k}" for k in range(number)]
    arcs = [(names[k - back], names[k]) for k in range(7, number) for back in (1, 7)]
    return fit(dict(zip(names, codes, strict=True)), Dag(tuple(arcs), tuple(names)), Hierarchical())


@cache
def hostile_network() -> BayesianNetwork:
    """A network whose names and states would harm a careless page."""
    rng = np.random.default_rng(0)
    table = {name: rng.choice(HOSTILE[::-1], 60) for name in HOSTILE}
    arcs = [(HOSTILE[k], HOSTILE[k + 1]) for k in range(len(HOSTILE) - 1)]
    return fit(table, Dag(tuple(arcs)), Hierarchical())


@cache
def alarm_network(rows: int = 500) -> BayesianNetwork:
    """The alarm graph, fitted to a few rows."""
    rng = np.random.default_rng(0)
    families, codes = alarm.families(), {}
    for family in families:
        sizes = [parent.cardinality for parent in family.parents]
        tables = rng.dirichlet(np.full(family.cardinality, 0.5), max(int(np.prod(sizes)), 1))
        place = np.zeros(rows, dtype=int)
        for parent in family.parents:
            place = place * parent.cardinality + codes[parent.name]
        below = np.cumsum(tables[place], axis=1) < rng.random((rows, 1))
        codes[family.child.name] = below.sum(axis=1).clip(max=family.cardinality - 1)
    table = {
        family.child.name: np.array(family.child.states, dtype=object)[codes[family.child.name]]
        for family in families
    }
    arcs = [(parent.name, f.child.name) for f in families for parent in f.parents]
    dag = Dag(tuple(arcs), tuple(f.child.name for f in families))
    return fit(table, dag, Hierarchical(), variables=[f.child for f in families])

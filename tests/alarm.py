"""A network of the alarm graph's shape, 37 variables and 46 arcs, with tables drawn at random."""

from __future__ import annotations

import numpy as np

from colonnade.dag import Dag
from colonnade.tables import CodedTable
from colonnade.variables import Family, Variable

# Each variable: its number of states and its parents. Parents come before their children.
ALARM: dict[str, tuple[int, tuple[str, ...]]] = {
    "LVF": (2, ()),
    "HYP": (2, ()),
    "ERLO": (2, ()),
    "ERCA": (2, ()),
    "APL": (2, ()),
    "ANES": (2, ()),
    "PMB": (2, ()),
    "KINK": (2, ()),
    "DISC": (2, ()),
    "FIO2": (2, ()),
    "INT": (3, ()),
    "MVS": (3, ()),
    "HIST": (2, ("LVF",)),
    "LVV": (3, ("HYP", "LVF")),
    "STKV": (3, ("HYP", "LVF")),
    "CVP": (3, ("LVV",)),
    "PCWP": (3, ("LVV",)),
    "TPR": (3, ("APL",)),
    "PAP": (3, ("PMB",)),
    "SHNT": (2, ("INT", "PMB")),
    "VMCH": (4, ("MVS",)),
    "VTUB": (4, ("DISC", "VMCH")),
    "PRSS": (4, ("INT", "KINK", "VTUB")),
    "VLNG": (4, ("INT", "KINK", "VTUB")),
    "MINV": (4, ("INT", "VLNG")),
    "VALV": (4, ("INT", "VLNG")),
    "PVS": (3, ("FIO2", "VALV")),
    "ACO2": (3, ("VALV",)),
    "ECO2": (4, ("ACO2", "VLNG")),
    "SAO2": (3, ("PVS", "SHNT")),
    "CCHL": (2, ("ACO2", "ANES", "SAO2", "TPR")),
    "HR": (3, ("CCHL",)),
    "HRBP": (3, ("ERLO", "HR")),
    "HREK": (3, ("ERCA", "HR")),
    "HRSA": (3, ("ERCA", "HR")),
    "CO": (3, ("HR", "STKV")),
    "BP": (3, ("CO", "TPR")),
}


def variables() -> dict[str, Variable]:
    """The variables, with names of states of about the usual length."""
    words = ("NORMAL", "LOW", "HIGH", "ZERO")
    return {name: Variable(name, words[:size]) for name, (size, _) in ALARM.items()}


def families() -> list[Family]:
    """The families of the graph."""
    known = variables()
    return [
        Family(known[name], tuple(known[parent] for parent in parents))
        for name, (_, parents) in ALARM.items()
    ]


def graph() -> Dag:
    """The graph alone."""
    arcs = [(parent, name) for name, (_, parents) in ALARM.items() for parent in parents]
    return Dag(arcs, list(ALARM))


def draw(rows: int, seed: int = 0) -> CodedTable:
    """Draw rows from tables that are drawn themselves: Dirichlet, one half per state."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for family in families():
        table = rng.dirichlet(np.full(family.cardinality, 0.5), size=family.configurations)
        index = np.zeros(rows, dtype=np.int64)
        for parent in family.parents:
            index = index * parent.cardinality + columns[parent.name]
        # How many of the cumulated probabilities (without the last, which is 1) lie below.
        bounds = table.cumsum(axis=1)[:, :-1]
        columns[family.child.name] = (rng.random(rows)[:, None] > bounds[index]).sum(axis=1)
    return CodedTable(variables().values(), columns.values())

"""What is true of a data set: probabilities known from so many rows that they count as true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork, fit
from colonnade.network.counts import NetworkCounts
from colonnade.priors import BDeu
from colonnade.structure import tan
from colonnade.studies.prepared import Prepared
from colonnade.tables import CodedTable
from colonnade.variables import Variable

# Features of rows whose classes are known: with more of them, too few rows are the same.
_FEATURES = (3, 2)
_MAX_TRIALS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class TableTruth:
    """Rows of the table of one variable with two parents."""

    child: str
    configurations: list[tuple[int, ...]]
    frequencies: Floats  # [configuration, state]
    rows: Floats  # [configuration]: how many rows of the data set each has


@dataclass(frozen=True, slots=True, eq=False)
class QueryTruth:
    """The answer to one query."""

    target: str
    observed: dict[str, int]  # codes of states
    frequencies: Floats  # [state], among the rows that show what was observed
    same_graph: Floats  # [state], by the tables of all rows
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class ClassTruth:
    """The classes of rows that have the same features."""

    dag: Dag  # between the features x0, x1, ... and the class
    table: CodedTable  # all rows, of these features and the class, which comes last
    features: NDArray[np.int64]  # [case, feature]: codes of states
    frequencies: Floats  # [case, class]
    same_graph: Floats  # [case, class]
    rows: Floats  # [case]


def tables(prepared: Prepared, least: int) -> list[TableTruth]:
    """The rows of all tables with two parents that have at least so many observations."""
    full = NetworkCounts.of(prepared.table, prepared.dag)
    found = []
    for family, counts in zip(full.families, full.counts, strict=True):
        enough = counts.row_totals >= least
        if len(family.parents) == 2 and enough.any():
            rows = counts.row_totals[enough].astype(np.float64)
            frequencies = counts.values[enough] / rows[:, None]
            configurations = [tuple(codes) for codes in counts.codes[enough].tolist()]
            found.append(TableTruth(family.child.name, configurations, frequencies, rows))
    return found


def queries(
    prepared: Prepared, least: int, number: int, rng: np.random.Generator
) -> list[QueryTruth]:
    """Queries with one and with two states observed, `number` of each, chosen at random.

    What is observed is what some row shows, if at least so many rows show it.
    """
    table = prepared.table
    network = fit(table, prepared.dag, BDeu(1))
    found: list[QueryTruth] = []
    for size in (1, 2):
        for _ in range(_MAX_TRIALS):
            target, *given = rng.choice(len(table.names), size + 1, replace=False).tolist()
            row = int(rng.integers(table.rows))
            observed = {k: int(table.codes[k][row]) for k in given}
            same = np.all([table.codes[k] == code for k, code in observed.items()], axis=0)
            if same.sum() >= least:
                states = table.variables[target].cardinality
                counts = np.bincount(table.codes[target][same], minlength=states)
                by_name = {table.names[k]: code for k, code in observed.items()}
                answer = _answer(network, table.names[target], by_name)
                about = (table.names[target], by_name, counts / counts.sum(), answer)
                found.append(QueryTruth(*about, int(same.sum())))
            if len(found) == number * size:
                break
    return found


def classes(prepared: Prepared, least: int) -> ClassTruth | None:
    """The classes of rows that agree in the features that say most about the class.

    Of three features, or of two if no combination of three has enough rows.
    """
    for features in _FEATURES:
        table = _most_informative(prepared, features)
        codes = np.stack(table.codes, axis=1).astype(np.int64)
        cases, which, rows = np.unique(
            codes[:, :-1], axis=0, return_inverse=True, return_counts=True
        )
        enough = rows >= least
        if enough.any():
            counts = np.zeros((len(cases), table.variables[-1].cardinality))
            np.add.at(counts, (which.ravel(), codes[:, -1]), 1.0)
            dag = tan(table, "class", "x0")
            frequencies = counts[enough] / rows[enough, None]
            fitted = _class_answers(fit(table, dag, BDeu(1)), cases[enough])
            known = rows[enough].astype(np.float64)
            return ClassTruth(dag, table, cases[enough], frequencies, fitted, known)
    return None


def _most_informative(prepared: Prepared, features: int) -> CodedTable:
    """The features that say most about the class, as x0, x1, ..., and the class."""
    whole = prepared.table
    label = whole.position(prepared.target)
    others = [k for k in range(len(whole.names)) if k != label]
    others.sort(key=lambda k: -_information(whole.codes[k], whole.codes[label]))
    chosen = [*others[:features], label]
    names = [*(f"x{k}" for k in range(features)), "class"]
    variables = tuple(
        Variable(name, tuple(range(whole.variables[k].cardinality)))
        for name, k in zip(names, chosen, strict=True)
    )
    return CodedTable(variables, tuple(whole.codes[k] for k in chosen))


def _class_answers(network: BayesianNetwork, cases: NDArray[np.int64]) -> Floats:
    names = [f"x{k}" for k in range(cases.shape[1])]
    observed = [dict(zip(names, case, strict=True)) for case in cases.tolist()]
    return np.array([_answer(network, "class", each) for each in observed])


def states_of(network: BayesianNetwork, observed: dict[str, int]) -> dict[str, object]:
    """The states that codes mean."""
    return {name: network[name].family.child.states[code] for name, code in observed.items()}


def _answer(network: BayesianNetwork, target: str, observed: dict[str, int]) -> Floats:
    return network.query(target, states_of(network, observed)).probabilities


def _information(left: Array, right: Array) -> float:
    """Mutual information of two columns of codes."""
    joint = np.zeros((int(left.max()) + 1, int(right.max()) + 1))
    np.add.at(joint, (left, right), 1.0 / len(left))
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0.0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))

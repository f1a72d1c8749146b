"""Data sets made ready for the studies: cut, coded, with a structure learned from all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from colonnade.dag import Dag
from colonnade.exceptions import expected
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, Prior, Tiered
from colonnade.structure import hill_climb, kdb, tan
from colonnade.structure.search import to_the_end
from colonnade.studies.data import DataSet
from colonnade.tables import CodedTable, discretize, encode

# Where values equal to a cut point go: to the bin "below" it (the package's own rule), "above" it,
# or "split": bins of exactly equal size, equal values at random.
Ties = Literal["below", "above", "split"]

# The paper's three estimators first, then ours.
ESTIMATORS: dict[str, Prior] = {
    "hierarchical": Hierarchical(),
    "bdeu 1": BDeu(1),
    "bdeu 10": BDeu(10),
    "learned": Hierarchical(s="learn"),
    "tiered": Tiered(),
}
LABELS = {
    "hierarchical": "hierarchical, s = r",
    "bdeu 1": "BDeu, ess 1",
    "bdeu 10": "BDeu, ess 10",
    "learned": "hierarchical, s learned",
    "learned 4r": "hierarchical, s learned, prior mean 4r",
    "tiered": "tiered",
    "bayesian": "Bayesian, s = r",
}

_BINS = 5


@dataclass(frozen=True, slots=True)
class Prepared:
    """A data set ready for sampling."""

    name: str
    table: CodedTable  # all rows
    target: str  # the class
    dag: Dag  # the structure, fixed for the whole study

    def rows(self, chosen: NDArray[np.int64]) -> CodedTable:
        """Return some rows of the table."""
        return CodedTable(self.table.variables, tuple(codes[chosen] for codes in self.table.codes))

    @property
    def parents_per_variable(self) -> float:
        """Arcs of the structure per variable."""
        return len(self.dag.arcs) / len(self.dag)


def coded(data: DataSet, ties: Ties = "below") -> CodedTable:
    """Cut numbers into five bins of equal frequency, and code all columns of the complete rows."""
    if ties not in get_args(Ties):
        raise expected("'below', 'above' or 'split'", "ties", ties)
    data = data.complete()
    columns = dict(data.columns)
    for k, name in enumerate(data.numeric):
        if ties == "split":
            columns[name] = _equal_bins(columns[name], np.random.default_rng(k))
        elif ties == "above":
            # With the sign changed, ties go to the other side; the order of the bins is irrelevant.
            columns[name] = -columns[name]
    cut = data.numeric and ties != "split"
    table = encode(discretize(columns, _BINS, columns=data.numeric) if cut else columns)
    # Rows are sampled from the coded table: the cut points are no longer needed.
    return CodedTable(table.variables, table.codes)


def with_climbing(data: DataSet, ties: Ties = "below") -> Prepared:
    """Return a data set with the structure that hill climbing by BIC finds on all rows."""
    table = coded(data, ties)
    with to_the_end():
        return Prepared(data.name, table, data.target, hill_climb(table).dag)


def with_tan(
    data: DataSet, ties: Ties = "below", root: Literal["first", "last"] = "first"
) -> Prepared:
    """Return a data set with the tree-augmented naive Bayes structure of all rows."""
    table = coded(data, ties)
    features = [name for name in table.names if name != data.target]
    if root not in ("first", "last"):
        raise expected("'first' or 'last'", "root", root)
    dag = tan(table, data.target, features[0 if root == "first" else -1])
    return Prepared(data.name, table, data.target, dag)


def with_kdb(data: DataSet, ties: Ties = "below") -> Prepared:
    """Return a data set with the structure of all rows in which features have two more parents."""
    table = coded(data, ties)
    return Prepared(data.name, table, data.target, kdb(table, data.target, 2))


def networks(
    prepared: Prepared, sample: NDArray[np.int64], estimators: Mapping[str, Prior] = ESTIMATORS
) -> dict[str, BayesianNetwork]:
    """Estimate the tables from some rows, by every estimator."""
    rows = prepared.rows(sample)
    return {name: fit(rows, prepared.dag, prior) for name, prior in estimators.items()}


def _equal_bins(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Assign bins whose sizes differ by one at most; equal values are ordered at random.

    At random and not by row, because some files are sorted by class.
    """
    order = np.lexsort((rng.random(len(values)), values))
    bins = np.empty(len(values), dtype=np.int64)
    bins[order] = np.arange(len(values)) * _BINS // len(values)
    return bins

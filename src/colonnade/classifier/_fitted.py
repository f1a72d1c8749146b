"""Fitted: everything a classifier knows after training, and how more rows change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._choice import leave_one_out_scores
from colonnade.classifier._features import Features, merged_states
from colonnade.classifier._growth import grown_counts
from colonnade.classifier._input import Labelled, class_states
from colonnade.classifier._structures import Structure
from colonnade.classifier._tables import ClassTables
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import DataError, expected, listing
from colonnade.network import BayesianNetwork
from colonnade.priors import Hierarchical, Prior
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.tables.discretize import Discretizer
from colonnade.variables import Family, Variable

__all__ = ["Fitted"]

AnyPrior = Prior | Literal["auto"] | None


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A trained classifier.

    Parameters
    ----------
    target : str
        Name of the class in the network.
    labels : array [class]
        The classes, sorted.
    declared : bool
        Whether the user said that there are no others.
    bins : int
        For columns without any value so far.
    features : Features
    network : BayesianNetwork
    prior : Prior
        Of its tables.
    scores : dict of Prior to float or None
        Leave-one-out scores, if the prior was chosen by them.
    """

    target: str
    labels: NDArray[Any]
    declared: bool
    bins: int
    features: Features
    network: BayesianNetwork
    prior: Prior
    scores: dict[Prior, float] | None

    @classmethod
    def learn(
        cls,
        rows: Labelled,
        target: str,
        declared: NDArray[Any] | None,
        bins: int,
        structure: Structure,
        prior: AnyPrior,
    ) -> Fitted:
        """Settle features, classes and structure, and estimate the tables."""
        labels = np.unique(rows.labels) if declared is None else declared
        codes = _class_codes(rows.labels, labels)
        features, coded = Features.learn(rows.columns, rows.weights, bins)
        coded = _with_class(coded, Variable(target, class_states(labels)), codes, rows.weights)
        dag = structure.learn(coded, target)
        families = _families(dag, coded.variables)
        counts = count(coded, families, "available")
        estimated = _estimated(dag, families, counts, prior, features)
        return cls(target, labels, declared is not None, bins, features, *estimated)

    def add(self, rows: Labelled, prior: AnyPrior) -> Fitted:
        """Count more rows, with more states where there are new ones."""
        labels = self.labels
        if not self.declared:
            fresh = np.unique(rows.labels)
            merged_states("`y`", class_states(labels), class_states(fresh))  # must be of one kind
            labels = np.unique(np.concatenate([labels, fresh]))
        codes = _class_codes(rows.labels, labels)
        features = self.features.grown(rows.columns, rows.weights, self.bins)
        coded = features.codes(rows.columns, "raise")
        coded = _with_class(coded, Variable(self.target, class_states(labels)), codes, rows.weights)
        dag = self.network.dag
        families = _families(dag, coded.variables)
        counts = []
        known = self.network.tables.values()
        for family, cpt, more in zip(
            families, known, count(coded, families, "available"), strict=True
        ):
            assert cpt.counts is not None  # fitted tables have them
            counts.append(grown_counts(cpt.counts, cpt.family, family) + more)
        estimated = _estimated(dag, families, counts, prior, features)
        return Fitted(self.target, labels, self.declared, self.bins, features, *estimated)

    @cached_property
    def tables(self) -> ClassTables:
        """The tables of the network, ready to classify."""
        return ClassTables(self.network, self.target)


def _estimated(
    dag: Dag,
    families: Sequence[Family],
    counts: Sequence[FamilyCounts],
    prior: AnyPrior,
    features: Features,
) -> tuple[BayesianNetwork, Prior, dict[Prior, float] | None]:
    """Make the network, its prior, and the scores by which that was chosen."""
    scores = None
    if isinstance(prior, str) and prior == "auto":
        scores = leave_one_out_scores(counts)
        chosen = max(scores, key=lambda candidate: scores[candidate])
    elif prior is None or isinstance(prior, Prior):
        chosen = Hierarchical() if prior is None else prior
    else:
        raise expected("a prior, 'auto' or None", "prior", prior, "use Hierarchical()")
    tables = {
        family.child.name: Cpt.of(family, each, chosen)
        for family, each in zip(families, counts, strict=True)
    }
    cuts = features.discretizer.columns if features.discretizer else ()
    kept = tuple(cut for cut in cuts if cut.name in dag)
    network = BayesianNetwork(dag, tables, Discretizer(kept) if kept else None)
    return network, chosen, scores


def _class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label among the classes."""
    places = {label: k for k, label in enumerate(classes.tolist())}
    found, back = np.unique(labels, return_inverse=True)
    strange = [label for label in found.tolist() if label not in places]
    if strange:
        known = listing(classes.tolist())
        problem = f"labels {listing(strange, 5)} are not among the classes {known}."
        raise DataError("`y`", problem, "declare all of them with `classes`")
    return np.array([places[label] for label in found.tolist()], dtype=np.intp)[back]


def _with_class(
    coded: CodedTable, target: Variable, codes: NDArray[Any], weights: NDArray[Any] | None
) -> CodedTable:
    return CodedTable((*coded.variables, target), (*coded.codes, codes), weights, coded.discretizer)


def _families(dag: Dag, variables: Sequence[Variable]) -> list[Family]:
    known = {variable.name: variable for variable in variables}
    return [
        Family(known[name], tuple(known[parent] for parent in dag.parents(name)))
        for name in dag.variables
    ]

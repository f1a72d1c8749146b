"""Fitted: everything a classifier knows after training, and how more rows change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.classifier._choice import (
    CANDIDATES,
    added,
    class_scores,
    cross_validated_scores,
    leave_one_out_scores,
)
from colonnade.classifier._estimate import families_of, network_of
from colonnade.classifier._features import Features, merged_states
from colonnade.classifier._growth import grown_counts
from colonnade.classifier._input import Labelled, class_states
from colonnade.classifier._structures import Structure
from colonnade.classifier._tables import ClassTables
from colonnade.counts import FamilyCounts
from colonnade.exceptions import DataError, expected, listing
from colonnade.network import BayesianNetwork
from colonnade.priors import Hierarchical, Prior
from colonnade.tables.coded import CodedTable
from colonnade.tables.counting import count
from colonnade.variables import Variable

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
        Of the candidates, if the prior was chosen by them.
    learned : bool
        Whether the structure was learned from rows.
    """

    target: str
    labels: NDArray[Any]
    declared: bool
    bins: int
    features: Features
    network: BayesianNetwork
    prior: Prior
    scores: dict[Prior, float] | None
    learned: bool

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
        families = families_of(dag, coded.variables)
        counts = count(coded, families, "available")
        scores = None
        if _automatic(prior):
            scores = (
                cross_validated_scores(coded, target, structure)
                if structure.learned
                else leave_one_out_scores(counts)
            )
        chosen = _chosen(prior, scores)
        network = network_of(dag, families, counts, chosen, features.discretizer)
        return cls(
            *(target, labels, declared is not None, bins, features),
            *(network, chosen, scores, structure.learned),
        )

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
        families = families_of(dag, coded.variables)
        known = []
        for family, cpt in zip(families, self.network.tables.values(), strict=True):
            assert cpt.counts is not None  # fitted tables have them
            known.append(grown_counts(cpt.counts, cpt.family, family))
        more = count(coded, families, "available")
        counts = [old + new for old, new in zip(known, more, strict=True)]
        scores = None
        if _automatic(prior):
            scores = self._foretold(known, coded) if self.learned else leave_one_out_scores(counts)
        chosen = _chosen(prior, scores)
        network = network_of(dag, families, counts, chosen, features.discretizer)
        return Fitted(
            *(self.target, labels, self.declared, self.bins, features),
            *(network, chosen, scores, self.learned),
        )

    def _foretold(self, known: Sequence[FamilyCounts], rows: CodedTable) -> dict[Prior, float]:
        """Add to the scores how well the classes of more rows are foretold by those known."""
        more = class_scores(self.network.dag, known, rows, self.target)
        return added(self.scores or dict.fromkeys(CANDIDATES, 0.0), more)

    @cached_property
    def tables(self) -> ClassTables:
        """The tables of the network, ready to classify."""
        return ClassTables(self.network, self.target)


def _automatic(prior: AnyPrior) -> bool:
    return isinstance(prior, str) and prior == "auto"


def _chosen(prior: AnyPrior, scores: dict[Prior, float] | None) -> Prior:
    """The prior that was asked for, or the one with the best score."""
    if scores is not None:
        return max(scores, key=lambda candidate: scores[candidate])
    if prior is None:
        return Hierarchical()
    if isinstance(prior, Prior):
        return prior
    raise expected("a prior, 'auto' or None", "prior", prior, "use Hierarchical()")


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

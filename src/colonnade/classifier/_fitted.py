"""Fitted: what a classifier knows after training, and how more rows change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from colonnade.classifier._choice import AnyPrior, Choice, Structure
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Features, Reading, Treatment, quantiles
from colonnade.classifier._input import Labelled
from colonnade.classifier._tables import ClassTables
from colonnade.network import BayesianNetwork
from colonnade.network.counts import NetworkCounts, grown_counts
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import CodedColumn, coded_table


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A trained classifier; its treatment is for columns without any value so far."""

    classes: Classes
    features: Features
    choice: Choice
    network: BayesianNetwork
    structure_learned: bool
    treatment: Treatment

    @classmethod
    def learn(
        cls,
        rows: Labelled,
        classes: Classes,
        structure: Structure,
        prior: AnyPrior,
        treatment: Treatment,
    ) -> Fitted:
        """Settle features and structure, count, and estimate the tables."""
        reading = Reading.of(rows.source, rows.weights, treatment)
        features, columns = reading.cut(partial(quantiles, rows.weights))
        coded = coded_rows(rows, classes, columns)
        counts = NetworkCounts.of(coded, structure.learn(coded, classes.name), "available")
        if structure.learned:
            choice = Choice.by_folds(prior, coded, classes.name, structure)
        else:
            choice = Choice.by_rows(prior, counts)
        network = _network(counts, choice, features)
        return cls(
            classes=classes,
            features=features,
            choice=choice,
            network=network,
            structure_learned=structure.learned,
            treatment=treatment,
        )

    def add(self, rows: Labelled, prior: AnyPrior) -> Fitted:
        """Count more rows, with more states where there are new ones."""
        classes = self.classes.grown(rows.labels)
        features, columns = self.features.grow(rows.source, rows.weights, self.treatment)
        coded = coded_rows(rows, classes, columns)
        known = grown_counts(NetworkCounts.kept(self.network, "partial_fit"), coded.variables)
        counts = known + NetworkCounts.of(coded, self.network.dag, "available")
        if self.structure_learned:
            choice = self.choice.after(prior, known, coded, classes.name)
        else:
            choice = Choice.by_rows(prior, counts)
        network = _network(counts, choice, features)
        return replace(self, classes=classes, features=features, choice=choice, network=network)

    @property
    def views(self) -> tuple[Features]:
        """The features as each network sees them, of which there is one."""
        return (self.features,)

    @cached_property
    def tables(self) -> ClassTables:
        """The tables of the network, ready to classify."""
        return ClassTables(self.network, self.classes.name)


def coded_rows(rows: Labelled, classes: Classes, columns: Sequence[CodedColumn]) -> CodedTable:
    """Put the columns of rows together, the class last."""
    return coded_table([*columns, classes.column(rows.labels)], rows.weights)


def _network(counts: NetworkCounts, choice: Choice, features: Features) -> BayesianNetwork:
    """Estimate all tables with the prior chosen; of the cut points those of variables are kept."""
    names = counts.dag.variables
    cuts = features.discretizer.only(names)
    return counts.network(dict.fromkeys(names, choice.prior), cuts)

"""Members of a forest: networks whose cuts and graph are random, judged by leaving rows out.

A member draws, in this order: for each column of numbers the number of its cuts and where they
are; a disturbance of the order of the features; which features may be parents of which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.classifier._choice import filled
from colonnade.classifier._classes import Classes
from colonnade.classifier._families import is_small
from colonnade.classifier._features import Features, Ordered, Reading, Treatment
from colonnade.classifier._fitted import coded_rows
from colonnade.classifier._input import Labelled
from colonnade.classifier._tables import ClassTables
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork
from colonnade.network.counts import NetworkCounts, families_of, grown_counts
from colonnade.pooling.growing import can_grow, grow
from colonnade.pooling.shared import learn_s_mean
from colonnade.pooling.shelf import Shelf
from colonnade.priors import MIXING, Prior, Smoothed, SymmetricDirichlet, Tiered
from colonnade.structure.columns import CodedColumns
from colonnade.structure.trees import pair_information
from colonnade.tables.bins import Measured
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import CodedColumn, coded_table
from colonnade.tables.cuts import Cuts
from colonnade.variables import Family

# The largest number of cuts of a column is the number of rows to the power of the growth, within
# these bounds: 3 for 20 and 80 rows, 5 for 320, 7 for 1280.
_LEAST_CUTS, _MOST_CUTS, _CUTS_GROWTH = 3, 10, 0.28
# What is added to the information of a feature about the class, so that none is impossible.
_LEAST_INFORMATION = 0.001
# How much chance there is in the order of the features.
_DISTURBANCE = 0.5
# How often an earlier feature may be a parent. Of many, no more may be than the root of the number
# of rows, on average: among more, those that are best by chance win.
_AVAILABLE = 0.5
# Pairs of features are counted one by one where all of them are so many times those needed.
_FEW_PAIRS = 8
# The prior of the class.
_OF_CLASS = SymmetricDirichlet()
# With more rows the exact posteriors of tables with one parent predict no better, and take most of
# the time; with more features they take seconds.
_MAX_INTEGRATED_ROWS, _MAX_INTEGRATED_FEATURES = 50, 100
# Tables are learned at once up to so many rows, which are kept, or sum of weights, because there is
# room for all numbers of observations; and up to so many states: codes are bytes.
_MAX_GROWN_ROWS, _MAX_GROWN_STATES = 1 << 16, 255


@dataclass(frozen=True, slots=True)
class Growth:
    """How members are made: the most feature parents of a feature, and the prior of its tables."""

    max_parents: int
    prior: Prior


@dataclass(frozen=True, eq=False, repr=False)
class Training:
    """The rows that all members learn from, and what they have in common.

    `reading` are the columns, read once, `label` is that of the class, and `own` its table.
    `without` are the logarithms of `own` if a row is left out, ``[class of the row, class]``, and
    `shelf` has room for the tables of all members.
    """

    reading: Reading
    label: CodedColumn
    own: Cpt
    without: Floats
    shelf: Shelf

    @classmethod
    def of(cls, rows: Labelled, classes: Classes, treatment: Treatment, members: int) -> Training:
        """Read the columns, and count the classes."""
        coded = coded_rows(rows, classes, [])
        counts = coded.counts([(classes.name,)], "available")[0]
        own = Cpt.of(Family(coded.variables[0]), counts, _OF_CLASS)
        label = CodedColumn(coded.variables[0], coded.codes[0])
        reading = Reading.of(rows.source, rows.weights, treatment)
        return cls(reading, label, own, without_a_row(own), Shelf(members))

    @property
    def target(self) -> str:
        """Name of the class."""
        return self.label.variable.name

    def learned_prior(self, rows: float) -> Tiered:
        """Return the prior of tables if none is given: its strength is learned from all features.

        Numbers are cut as often as members may cut them.
        """
        _, columns = self.reading.cut(EvenCuts(self.reading.ordered))
        label, classes = self.label.codes.astype(np.intp), self.label.variable.cardinality
        tables = []
        for column in columns:
            size = column.variable.cardinality
            places = column.codes.astype(np.intp) * classes + label
            # The last state is what is missing.
            cells = np.bincount(places, self.reading.weights, (size + 1) * classes)
            tables.append(cells.reshape(size + 1, classes)[:size].T.astype(np.float64))
        alone = [table for table in tables if table.shape[1] > 1]
        small = rows <= _MAX_INTEGRATED_ROWS and len(columns) <= _MAX_INTEGRATED_FEATURES
        prior = Tiered(one_parent="integrated" if small else "left_out")
        return replace(prior, s_mean=learn_s_mean(alone, prior.s_mean))


@dataclass(frozen=True, eq=False, repr=False)
class Member:
    """One network of a forest.

    `log_score` says how well it predicts classes: of the rows of the first call, each left out
    in turn, and of the rows of later calls, before they are counted.
    """

    features: Features
    tables: ClassTables
    log_score: float

    @classmethod
    def learn(cls, training: Training, growth: Growth, seed: int) -> Member:
        """Draw cuts and a graph, and estimate the tables."""
        rng = np.random.default_rng(seed)
        reading, target, prior = training.reading, training.target, growth.prior
        features, columns = reading.cut(RandomCuts(rng, reading.ordered))
        coded = coded_table([*columns, training.label], reading.weights)
        dag = random_dag(coded, target, growth.max_parents, rng)
        grown = _grown(coded, dag, features, training, prior)
        if grown is not None:
            return cls(features, *grown)
        counts = NetworkCounts.of(coded, dag, "available")
        tables = _tables(counts, features, target, prior)
        return cls(features, tables, left_out_score(tables, coded, without_a_row(tables.own)))

    def add(self, rows: Labelled, classes: Classes, treatment: Treatment, prior: Prior) -> Member:
        """Judge the member by more rows, and count them."""
        features, columns = self.features.grow(rows.source, rows.weights, treatment)
        coded = coded_rows(rows, classes, columns)
        known = NetworkCounts.kept(self.network, "partial_fit")
        known = grown_counts(known, coded.variables)
        target = self.tables.target
        before = _tables(known, features, target, prior)
        logs = before.log_joint(coded, everything=False, normalised=False)
        score = self.log_score + _own_score(logs, coded, target)
        counts = known + NetworkCounts.of(coded, self.network.dag, "available")
        return Member(features, _tables(counts, features, target, prior), score)

    @property
    def network(self) -> BayesianNetwork:
        """The network itself."""
        return self.tables.network

    def information(self) -> dict[str, float]:
        """What each feature says about the class, given its other parents, in nats per row.

        It is the gain in the leave-one-out log score of the feature from knowing the class, as far
        as there is any.
        """
        target = self.tables.target
        tables = self.network.tables.items()
        return {name: _gain(cpt, target) for name, cpt in tables if name != target}


@dataclass(frozen=True, slots=True, eq=False)
class RandomCuts:
    """Cuts at equally spaced quantiles, of which both the number and the place are random."""

    rng: np.random.Generator
    ordered: Mapping[str, Ordered]

    def __call__(self, name: str, read: Measured) -> tuple[Cuts, Array]:
        """Choose where a column is cut: at quantiles (i + u) / b, i = 0, ..., b - 1.

        Unless a user has said where.
        """
        if isinstance(read.bins, Cuts):
            return read.bins, self.ordered[name].ranked.coded(read.bins)
        number = int(self.rng.integers(2, read.bins + 1))
        return _cut(name, self.ordered[name], number, self.rng.random())


@dataclass(frozen=True, slots=True, eq=False)
class EvenCuts:
    """As many cuts at equally spaced quantiles as there may be, without any chance."""

    ordered: Mapping[str, Ordered]

    def __call__(self, name: str, read: Measured) -> tuple[Cuts, Array]:
        """Choose where a column is cut, unless a user has said where."""
        if isinstance(read.bins, Cuts):
            return read.bins, self.ordered[name].ranked.coded(read.bins)
        return _cut(name, self.ordered[name], read.bins, 0.5)


def _cut(name: str, numbers: Ordered, number: int, shift: float) -> tuple[Cuts, Array]:
    """Cut a column at quantiles that are equally far from each other."""
    levels = [(i + shift) / number for i in range(number)]
    cuts = Cuts.at_quantiles(name, numbers.values, levels)
    return cuts, numbers.ranked.coded(cuts)


def most_cuts(rows: float) -> int:
    """Return the largest number of cuts of a column, for so many rows."""
    return min(_MOST_CUTS, max(_LEAST_CUTS, round(math.pow(rows, _CUTS_GROWTH))))


def random_dag(coded: CodedTable, target: str, most: int, rng: np.random.Generator) -> Dag:
    """Draw a graph in which every feature has the class and up to `most` features as parents.

    Features are in the order of what they say about the class, with a random disturbance. The
    parents of a feature are earlier ones with two states or more, each of which is available or not
    by chance (all of them, if they are not more than `most`; no more than the root of the number of
    rows, on average), those with the largest conditional information first. A single state says
    nothing, and rows that lack it would not be counted.
    """
    names = [name for name in coded.names if name != target]
    disturbance = _DISTURBANCE * rng.gumbel(size=len(names))
    chance = rng.random((len(names), len(names)))
    columns = CodedColumns(filled(coded))
    position = columns.names.index(target)
    features = [columns.names.index(name) for name in names]
    alone = _Alone.of(columns, features, position)
    ranks = np.log(alone.information() + _LEAST_INFORMATION) + disturbance
    order = np.argsort(-ranks, kind="stable").tolist()
    varied = [variable.cardinality > 1 for variable in coded.variables if variable.name != target]
    root = math.sqrt(coded.total)
    candidates: dict[int, list[int]] = {}
    for place, i in enumerate(order):
        earlier = sorted(j for j in order[:place] if varied[j])
        if len(earlier) > most:
            often, own = min(_AVAILABLE, root / len(earlier)), chance[i].tolist()
            earlier = [j for j in earlier if own[j] < often]
        candidates[i] = earlier
    if _FEW_PAIRS * root < len(names):
        gains = _gains_of_few(columns, alone, candidates)
    else:
        every = pair_information(columns, features, position) - alone.bias()
        gains = dict(enumerate(np.round(every, 12).tolist()))
    arcs = []
    for i, few in candidates.items():
        arcs.append((target, names[i]))
        best = sorted(few, key=gains[i].__getitem__, reverse=True)[:most]
        arcs += [(names[j], names[i]) for j in best]
    return Dag(tuple(arcs), coded.names)


def _gains_of_few(
    columns: CodedColumns, alone: _Alone, candidates: Mapping[int, Sequence[int]]
) -> dict[int, Mapping[int, float]]:
    """Conditional information of each feature and its candidates, less what chance adds."""
    joint, classes, free = alone.joint(), alone.of_classes(), alone.free()
    gains: dict[int, Mapping[int, float]] = {}
    for i, few in candidates.items():
        others = np.array(few, dtype=np.intp)
        chosen = [alone.features[j] for j in few]
        sums = columns.sums_with((alone.target, alone.features[i]), chosen) if few else np.empty(0)
        given = np.maximum((sums - joint[i] - joint[others] + classes) / alone.total, 0.0)
        found = given - free[others] @ free[i] / (2.0 * alone.total)
        gains[i] = dict(zip(few, np.round(found, 12).tolist(), strict=True))
    return gains


class _Alone(NamedTuple):
    """Counts of each feature by itself with the class: ``[state, class]``, one after the other.

    `first` is the first state of each feature, and `total` the sum of the counts of one of them.
    """

    counts: Floats
    first: Integers
    total: float
    features: Sequence[int]
    target: int

    @classmethod
    def of(cls, columns: CodedColumns, features: Sequence[int], target: int) -> _Alone:
        """Count all features."""
        classes, label = int(columns.sizes[target]), columns.codes[target]
        sizes = columns.sizes[features]
        ends = np.cumsum(sizes)
        cells = np.empty(int(ends[-1]) * classes)
        for k, size, end in zip(features, sizes.tolist(), ends.tolist(), strict=True):
            places = np.multiply(columns.codes[k], classes, dtype=np.intp) + label
            own = slice((end - size) * classes, end * classes)
            cells[own] = np.bincount(places, columns.weights, size * classes)
        return cls(cells.reshape(-1, classes), ends - sizes, columns.total, features, target)

    def information(self) -> Floats:
        """Mutual information of each feature and the class."""
        base = _terms(np.array(self.total)) - self.of_classes()
        states = self._sums(_terms(self.counts.sum(axis=1)))
        return np.asarray(np.maximum((self.joint() - states + base) / self.total, 0.0))

    def joint(self) -> Floats:
        """Sums of n ln n over the counts of each feature with the class."""
        return self._sums(_terms(self.counts).sum(axis=1))

    def of_classes(self) -> float:
        """Sum of n ln n over the counts of the class."""
        classes = self.counts[: self.first[1] if len(self.first) > 1 else None].sum(axis=0)
        return float(_terms(classes).sum())

    def free(self) -> Floats:
        """Degrees of freedom of each feature with each class, ``[feature, class]``.

        Of a feature, the states that the class has count.
        """
        return np.maximum(self._sums((self.counts > 0).astype(np.float64)) - 1.0, 0.0)

    def bias(self) -> Floats:
        """What chance adds to conditional information, on average, ``[feature, feature]``.

        It is the number of degrees of freedom by twice the number of rows.
        """
        free = self.free()
        return np.asarray(free @ free.T / (2.0 * self.total))

    def _sums(self, values: Floats) -> Floats:
        """Sum over the states of each feature."""
        return np.asarray(np.add.reduceat(values, self.first, axis=0))


def _terms(counts: Floats) -> Floats:
    """Return n ln n of counts."""
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1.0)))


def _grown(
    coded: CodedTable, dag: Dag, features: Features, training: Training, prior: Prior
) -> tuple[ClassTables, float] | None:
    """Learn all tables at once, and the score of the member; None if that cannot be done.

    The network itself, with tables that a user can look at, is made when it is asked for.
    """
    leaning, rows, target = prior.leaning, coded.rows, training.target
    sizes = [variable.cardinality for variable in coded.variables]
    label = coded.position(target)
    if leaning is None or rows > _MAX_GROWN_ROWS or max(sizes) > _MAX_GROWN_STATES:
        return None
    names, members = [name for name in dag.variables if name != target], []
    others, shapes = [], []
    for name in names:
        others.append((*[each for each in dag.parents(name) if each != target], name))
        *parents, child = map(coded.position, others[-1])
        shapes.append((*[sizes[k] for k in (*parents, child)], sizes[label]))
        members.append([*parents, label, child])
    if not all(map(is_small, shapes)):
        return None
    if sizes[label] < 2 or not can_grow(sizes, members, rows):
        return None
    weights = np.ones(rows) if coded.weights is None else coded.weights.astype(np.float64)
    if weights.sum() > _MAX_GROWN_ROWS or not np.array_equal(weights, np.rint(weights)):
        return None
    smoothed = [features.each[name].cuts is not None for name in names]
    columns = np.array(coded.codes, dtype=np.uint8)
    options = (smoothed, leaning, MIXING, sizes[label], training.shelf)
    grown = grow(columns, sizes, weights, members, *options)

    def network() -> BayesianNetwork:
        counts = NetworkCounts.of(coded, dag, "available")
        return _tables(counts, features, target, prior).network

    families = partial(families_of, dag, coded.variables)
    tables = ClassTables.grown(dag, families, training.own, network, others, shapes, grown.values)
    return tables, left_out_score(tables, coded, training.without, grown.sums)


def _tables(counts: NetworkCounts, features: Features, target: str, prior: Prior) -> ClassTables:
    """Estimate all tables; those of columns that were cut are smoothed between neighbours."""
    smooth = Smoothed(prior)
    priors = {
        name: smooth if feature.cuts is not None else prior
        for name, feature in features.each.items()
    }
    priors[target] = _OF_CLASS
    cuts = features.discretizer.only(counts.dag.variables)
    return ClassTables(counts.network(priors, cuts), target)


# ------------------------------------------------------------------------ leaving rows out


def left_out_score(
    tables: ClassTables, coded: CodedTable, without: Floats, sums: Floats | None = None
) -> float:
    """Sum over rows of the log probability of their class, with the row left out.

    The row is taken out of the tables of its own class; those of the other classes, weights and
    strengths stay as they are. `without` is the table of the class. `sums` ``[row, class]`` are
    those of the logarithms of all others, without the row, if they are known; they are changed.
    """
    target = tables.target
    label = coded.codes[coded.position(target)].astype(np.intp)
    if sums is None:
        sums = tables.log_joint(coded, everything=False, normalised=False)
        each = tables.network.tables.items()
        changes = {name: _changes(cpt) for name, cpt in each if name != target}
        tables.add_changes(coded, label, changes, sums)
        sums -= np.log(tables.own.table.rows[0])
    else:
        tables.add_gaps(coded, sums)
    sums += without[label]
    return _own_score(sums, coded, target)


def without_a_row(own: Cpt) -> Floats:
    """Logarithms of the table of the class, which has no parents, without a row of each class."""
    assert own.counts is not None
    rows = np.ones((own.family.cardinality, own.family.cardinality))
    rows[own.counts.values[0] > 0] = own.posterior.left_out_rows()
    return np.asarray(np.log(rows))


def _changes(cpt: Cpt) -> Floats:
    """What the log probability of each cell with observations loses without one of them.

    ``[stored, state]``; zero for all other cells.
    """
    assert cpt.counts is not None
    seen = cpt.counts.values > 0
    changes = np.zeros(seen.shape)
    changes[seen] = np.log(cpt.posterior.left_out_cells() / cpt.table.rows[seen])
    return changes


def _own_score(logs: Floats, coded: CodedTable, target: str) -> float:
    """Sum of the log probabilities of the classes that the rows have, from logs ``[row, class]``.

    The logs need not be normalised.
    """
    from colonnade.kernels.classify import own_chances

    own = np.empty(len(logs))
    own_chances(logs, coded.codes[coded.position(target)].astype(np.intp), own)
    return float(own.sum() if coded.weights is None else coded.weights @ own)


def _gain(cpt: Cpt, target: str) -> float:
    """Gain in the leave-one-out log score of a table from one of its parents, per observation."""
    counts, prior = cpt.counts, cpt.prior
    assert counts is not None
    assert prior is not None
    if not counts.total:
        return 0.0
    kept = [k for k, parent in enumerate(cpt.family.parents) if parent.name != target]
    sizes = [counts.parent_sizes[k] for k in kept]
    fewer = FamilyCounts.from_observed(sizes, counts.codes[:, kept], counts.values)
    gain = prior.leave_one_out_score(counts) - prior.leave_one_out_score(fewer)
    return max(0.0, gain / float(counts.total))

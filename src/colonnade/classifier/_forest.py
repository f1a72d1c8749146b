"""Forest: several members, how much each of them weighs, and what they say together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np

from colonnade.arrays import Floats
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Features, Rows, Treatment
from colonnade.classifier._input import Labelled
from colonnade.classifier._members import Growth, Member, Training
from colonnade.network import BayesianNetwork
from colonnade.priors import Prior
from colonnade.progress import Progress
from colonnade.tables.coded import CodedTable
from colonnade.threads import run

Average: TypeAlias = Literal["geometric", "arithmetic"]

# Differences of log scores between members are divided by this, or by the square root of the number
# of rows if that is larger: the graphs were chosen with the rows that judge them.
_LEAST_DOUBT = 32.0
# Cells [member, row, class] of one block, 64 MB.
_MAX_BLOCK_CELLS = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """What a forest knows after training; `rows` is their number, or the sum of their weights."""

    classes: Classes
    members: tuple[Member, ...]
    rows: float
    growth: Growth
    treatment: Treatment

    @classmethod
    def learn(
        cls,
        rows: Labelled,
        classes: Classes,
        max_parents: int,
        prior: Prior | None,
        treatment: Treatment,
        seeds: Sequence[int],
        threads: int,
    ) -> Forest:
        """Make one member for each seed; the threads make no difference."""
        training = Training.of(rows, classes, treatment, len(seeds))
        growth = Growth(max_parents, training.learned_prior(rows.total) if prior is None else prior)
        with Progress("Members", len(seeds)) as progress:

            def learn(seed: int) -> Member:
                member = Member.learn(training, growth, seed)
                progress.advance()
                return member

            members = tuple(run([partial(learn, seed) for seed in seeds], threads))
        return cls(classes, members, rows.total, growth, treatment)

    def add(self, rows: Labelled, prior: Prior | None, threads: int) -> Forest:
        """Count more rows; cuts and graphs stay, and the prior unless there is another one."""
        classes = self.classes.grown(rows.labels)
        growth = self.growth if prior is None else replace(self.growth, prior=prior)
        with Progress("Members", len(self.members)) as progress:

            def add(member: Member) -> Member:
                grown = member.add(rows, classes, self.treatment, growth.prior)
                progress.advance()
                return grown

            members = tuple(run([partial(add, member) for member in self.members], threads))
        total = self.rows + rows.total
        return replace(self, classes=classes, members=members, rows=total, growth=growth)

    @property
    def views(self) -> tuple[Features, ...]:
        """The features as each network sees them: cut at its own points."""
        return tuple(member.features for member in self.members)

    @cached_property
    def weights(self) -> Floats:
        """How much each member weighs, ``[member]``: by how well it predicts classes."""
        scores = np.array([member.log_score for member in self.members])
        doubt = max(_LEAST_DOUBT, math.sqrt(self.rows))
        weights = np.exp((scores - scores.max()) / doubt)
        return np.asarray(weights / weights.sum())

    def networks(self) -> tuple[BayesianNetwork, ...]:
        """The members as networks, which are made when they are asked for the first time."""
        made = []
        with Progress("Networks", len(self.members)) as progress:
            for member in self.members:
                made.append(member.network)
                progress.advance()
        return tuple(made)

    def log_chances(self, rows: Rows, average: Average, threads: int) -> Floats:
        """Logarithm of the probability of each class, ``[row, class]``."""
        answer = np.empty((rows.count, len(self.classes.labels)))
        size = max(1, _MAX_BLOCK_CELLS // (len(self.members) * answer.shape[1]))
        blocks = range(0, len(answer), size)
        with Progress("Predictions", len(blocks) * len(self.members)) as progress:
            for low in blocks:
                block = rows.part(slice(low, low + size))
                tasks = [partial(_log_chances, each, block, progress) for each in self.members]
                answer[low : low + size] = averaged(run(tasks, threads), self.weights, average)
        return answer

    def coded(self, rows: Rows) -> list[CodedTable]:
        """The rows as each member sees them."""
        return [features.cut(rows) for features in self.views]

    def importances(self, names: Sequence[str], threads: int) -> Floats:
        """Share of each feature in what is said about the class, ``[feature]``."""
        with Progress("Importances", len(self.members)) as progress:

            def asked(member: Member) -> dict[str, float]:
                found = member.information()
                progress.advance()
                return found

            found = run([partial(asked, member) for member in self.members], threads)
        each = [[own.get(name, 0.0) for name in names] for own in found]
        mean = self.weights @ np.array(each).reshape(len(found), len(names))
        total = mean.sum()
        return np.asarray(mean / total if total > 0.0 else mean)


def averaged(logs: Sequence[Floats], weights: Floats, average: Average) -> Floats:
    """Average log probabilities ``[row, class]`` of several members; rows are normalised.

    The geometric mean is normalised; the arithmetic mean is that of the probabilities.
    """
    if average == "arithmetic":
        with np.errstate(divide="ignore"):  # a member may weigh nothing
            shares = np.log(weights)
        shifted = [each + share for each, share in zip(logs, shares, strict=True)]
        return np.asarray(np.logaddexp.reduce(shifted, axis=0))
    mean = np.zeros_like(logs[0])
    for each, weight in zip(logs, weights, strict=True):
        mean += weight * each
    return np.asarray(mean - np.logaddexp.reduce(mean, axis=1, keepdims=True))


def _log_chances(member: Member, rows: Rows, progress: Progress) -> Floats:
    coded = member.features.cut(rows)
    found = member.tables.log_joint(coded, everything=False, normalised=True)
    progress.advance()
    return found

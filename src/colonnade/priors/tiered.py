"""Tiered: every row of a table is shrunk towards the rows of all coarser tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.configurations import MAX_DENSE_CELLS, Configuration, parent_codes
from colonnade.counts import FamilyCounts
from colonnade.exceptions import (
    NotSupportedError,
    checked_whole,
    counted,
    expected,
    is_word,
    tally,
)
from colonnade.lookup import Lookup
from colonnade.pooling.alpha import Component, FixedAlpha
from colonnade.pooling.growing import Leaning
from colonnade.pooling.penalty import Penalty
from colonnade.pooling.tiers import Step, Tiers
from colonnade.priors.base import (
    SAVED_IF_GIVEN,
    Counts,
    Prior,
    checked_counts,
    checked_positive,
)
from colonnade.priors.drawn_posterior import DRAWS, DrawnPosterior
from colonnade.priors.draws import SteadyTierDraws, TierDraws
from colonnade.priors.hierarchical import (
    Hierarchical,
    alpha0_of,
    checked_alpha0,
    log_evidence_of_pool,
)
from colonnade.priors.posterior import CptPosterior, inference_data
from colonnade.priors.table_posterior import TablePosterior
from colonnade.randomness import generator
from colonnade.sparse import SparseTable

# With a smaller prior mean the prior of strengths is so steep that the rest of their scores drowns.
_MIN_S_MEAN = 1e-6
_NO_EVIDENCE = "strengths are learned by leaving out, and not from a joint distribution"


@dataclass(frozen=True, slots=True)
class Tiered(Prior):
    """Every row is shrunk towards the rows of all coarser tables, down to the pool of everything.

    The row of a configuration of k parents leans on the rows of its configurations of k - 1
    parents, each of which leans on those of k - 2, and so on. How strongly, and on which of them or
    on which mean of them, is learned by leaving one observation out. Without parents the estimate
    is that of the pool, alpha ~ Dirichlet(alpha0), and with one parent by default that of
    ``Hierarchical(s="learn")`` with the same prior mean of s.

    Parameters
    ----------
    alpha0 : float or sequence of float
        Parameter of the prior of the pool, for all states or one for each.
    s_mean : float
        Prior mean of the strength with one parent, in multiples of the number of states, from 1e-6
        on. With more parents it is twice that.
    one_parent : {"integrated", "left_out"}
        How the strength with one parent is learned: integrated over its exact posterior, or by
        leaving one observation out, as with more parents. The second takes a small part of the time
        and predicts about as well.

    Examples
    --------
    >>> from colonnade import FamilyCounts
    >>> counts = FamilyCounts.from_array([[9, 1], [4, 0], [3, 5], [0, 0]], parent_sizes=(2, 2))
    >>> Tiered().estimate(counts).round(3)
    array([[0.845, 0.155],
           [0.901, 0.099],
           [0.474, 0.526],
           [0.654, 0.346]])
    """

    alpha0: float | tuple[float, ...] = 1.0
    s_mean: float = 4.0
    one_parent: Literal["integrated", "left_out"] = field(
        default="integrated", metadata=SAVED_IF_GIVEN
    )

    keyword: ClassVar[str] = "tiered"
    examples: ClassVar[Mapping[str, str]] = {"tiered": "rows lean on all coarser tables"}
    score_name: ClassVar[str | None] = "leave-one-out log score"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha0", checked_alpha0(self.alpha0))
        s_mean = checked_positive(self.s_mean, "s_mean", least=_MIN_S_MEAN)
        object.__setattr__(self, "s_mean", s_mean)
        if not is_word(self.one_parent, "integrated", "left_out"):
            raise expected("'integrated' or 'left_out'", "one_parent", self.one_parent)

    def __repr__(self) -> str:
        other = "" if self._integrated else f", one_parent={self.one_parent!r}"
        return f"Tiered(alpha0={self.alpha0!r}, s_mean={self.s_mean!r}{other})"

    @property
    def word(self) -> str:
        """How the command line writes the prior."""
        return self.keyword if self == Tiered() else repr(self)

    def _option_in_words(self, name: str) -> str:
        if name == "one_parent":
            return "strengths learned by leaving out"
        return Prior._option_in_words(self, name)

    @classmethod
    def from_setting(cls, text: str) -> Self:
        raise expected("no setting", "alpha0", text, "write tiered")

    def posterior(self, counts: Counts) -> TablePosterior:
        """Posterior of the table.

        Examples
        --------
        >>> Tiered().posterior([[9, 1], [8, 2], [9, 0]]).row(2).round(3)
        array([0.927, 0.073])
        """
        counts = checked_counts(counts)
        alpha0 = alpha0_of(self.alpha0, counts.states)
        # A parent with one state says nothing.
        parents = [k for k, size in enumerate(counts.parent_sizes) if size > 1]
        if not parents:
            return ShortLadder(counts, self, (_pool(counts, alpha0),))
        if len(parents) == 1 and self._integrated:
            found = self._with_one_parent.posterior(counts)
            return ShortLadder(counts, self, found.components, found.strength)
        tiers = Tiers.of(counts, parents, alpha0, self.s_mean, self._integrated)
        return TieredPosterior(counts, self, tiers)

    @property
    def leaning(self) -> Leaning | None:
        if self._integrated or isinstance(self.alpha0, tuple):
            return None
        return Leaning(self.alpha0, self.s_mean)

    @property
    def _integrated(self) -> bool:
        return self.one_parent == "integrated"

    @property
    def _with_one_parent(self) -> Hierarchical:
        return Hierarchical("learn", self.alpha0, s_mean=self.s_mean)

    def strength(self, counts: FamilyCounts) -> float:
        """Number of observations that what a row leans on is worth, in the mean."""
        return self.posterior(counts).mean_strength

    def log_evidence(self, counts: Counts) -> float:
        """Log probability of the counts; with two parents or more there is none."""
        value = self.posterior(counts).log_evidence
        if value is None:
            hint = "use `leave_one_out_score`"
            raise NotSupportedError(f"The log evidence of {self!r}", _NO_EVIDENCE, hint)
        return value

    def structure_score(self, counts: Counts) -> float:
        return self.leave_one_out_score(counts)

    def leaves_out_exactly(self, counts: FamilyCounts) -> bool:
        return sum(size > 1 for size in counts.parent_sizes) < (2 if self._integrated else 1)

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        # The rows of a table in the making lean on one pool; the final table has its tiers.
        return self._with_one_parent.em_penalty(counts)

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        if table.complete:
            return table
        return SparseTable.beside(table, table.rows, None, self.table(counts).fallback)


@dataclass(frozen=True, eq=False, repr=False)
class ShortLadder(CptPosterior):
    """Posterior of a table with at most one parent: the pool, and rows that lean on it."""

    def ladder(self, configuration: Configuration) -> tuple[Step, ...]:
        """Explain the row of one configuration, from the pool on."""
        assert isinstance(self.prior, Tiered)
        sizes = self.counts.parent_sizes
        codes = parent_codes(configuration, sizes)
        totals = np.asarray(self.counts.state_totals, dtype=np.float64)
        everything = FamilyCounts.from_array(totals[None], parent_sizes=())
        alpha0 = alpha0_of(self.prior.alpha0, self.counts.states)
        steps = [_step((), totals, (_pool(everything, alpha0),))]
        parents = tuple(k for k, size in enumerate(sizes) if size > 1)
        if parents:
            own = np.asarray(self.counts.row(codes), dtype=np.float64)
            steps.append(_step(parents, own, self.components))
        return tuple(steps)


@dataclass(frozen=True, eq=False, repr=False)
class TieredPosterior(DrawnPosterior):
    """Posterior of a table whose rows lean on all coarser tables.

    There is no closed form: uncertainty is that of joint draws through the tiers, for intervals,
    variances and covariances always the same ones, whichever rows are asked for. ``mean`` is the
    estimate, not the mean of draws.

    Attributes
    ----------
    counts : FamilyCounts
    prior : Prior
        The prior it came from.
    tiers : Tiers
        What was learned about all tiers.
    limit : int
        Largest number of cells of a dense answer; see ``with_limit``.

    Examples
    --------
    >>> from colonnade import FamilyCounts
    >>> counts = FamilyCounts.from_array([[9, 1], [4, 0], [3, 5], [0, 0]], parent_sizes=(2, 2))
    >>> posterior = Tiered().posterior(counts)
    >>> posterior.borrowed.round(2)
    array([0.57, 0.77, 0.62, 1.  ])
    """

    counts: FamilyCounts
    prior: Prior
    tiers: Tiers
    limit: int = MAX_DENSE_CELLS

    @property
    def log_evidence(self) -> None:
        """There is none: None."""
        return None

    @property
    def mean_strength(self) -> float:
        """How many observations what a row leans on is worth, in the mean."""
        weights, strengths = self.tiers.last
        return float(weights @ strengths)

    def leave_one_out_score(self) -> float:
        """Sum over all observations of their log probability given all others.

        Weights and strengths remain those that were learned from all observations.
        """
        return float(self.tiers.score[-1])

    def left_out_rows(self) -> Floats:
        return self.tiers.left_out_rows

    @property
    def observed_mean(self) -> Floats:
        """Mean of the observed configurations, in the order of ``counts.codes``."""
        return self.tiers.observed_rows()

    @cached_property
    def table(self) -> SparseTable:
        """Means of the observed configurations and of any other, for any number of them."""
        return SparseTable.computed(self.counts, self.observed_mean, None, self.tiers)

    def ladder(self, configuration: Configuration) -> tuple[Step, ...]:
        """Explain the row of one configuration: its estimate in each tier, from the pool on.

        Examples
        --------
        >>> from colonnade import FamilyCounts
        >>> counts = FamilyCounts.from_array([[9, 1], [4, 0], [3, 5], [0, 0]], parent_sizes=(2, 2))
        >>> for step in Tiered().posterior(counts).ladder((1, 1)):
        ...     print(step.parents, step.counts, step.estimate.round(3))
        () [16.  6.] [0.708 0.292]
        (0,) [3. 5.] [0.49 0.51]
        (1,) [4. 0.] [0.83 0.17]
        (0, 1) [0. 0.] [0.654 0.346]
        """
        codes = parent_codes(configuration, self.counts.parent_sizes)
        return self.tiers.ladder(np.array(codes, dtype=np.int64))

    @property
    def borrowed(self) -> Floats:
        """Weight that each configuration takes from coarser tables, ``[configuration]``."""
        weights, strengths = self.tiers.last
        totals = self.counts.row_totals[:, None]
        seen = (weights * strengths / (totals + strengths)).sum(axis=1, keepdims=True)
        rows = Lookup.of(self.counts, seen, np.ones(1))
        return self._dense(rows, "The weights")[:, 0]

    def covariance(self, y: Configuration, y2: Configuration | None = None) -> Floats:
        """Covariance of the cells of one configuration with those of another, from draws.

        ``[state, state]``; without `y2` both are `y`.
        """
        sizes = self.counts.parent_sizes
        given = [parent_codes(each, sizes) for each in ((y,) if y2 is None else (y, y2))]
        drawn = np.exp(self.steady_draws().log_rows(np.array(given, dtype=np.int64)))
        centred = drawn - drawn.mean(axis=0)
        return np.asarray(centred[:, 0].T @ centred[:, -1] / DRAWS)

    def to_arviz(self, draws: int = 1000, rng: Seed = None) -> Any:
        """Independent draws of theta as an ``arviz.InferenceData``, in one chain.

        Needs the extra ``arviz``.
        """
        return inference_data(theta=self.sample(checked_whole(draws, "draws"), rng))

    def draws(self, n: int, rng: Seed = None, pools: int | None = None) -> TierDraws:
        n = checked_whole(n, "n")
        return TierDraws(self.tiers, n, generator(rng), pools)

    def steady_draws(self) -> SteadyTierDraws:
        """Return the draws behind variances and intervals: those of a row are always the same."""
        return SteadyTierDraws(self.tiers, DRAWS)

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"TieredPosterior({counted(counts.configurations, 'configuration')} "
            f"({counts.observed:,} observed) x {counted(counts.states, 'state')}, "
            f"n={tally(counts.total)}, prior={self.prior!r}, {len(self.tiers.plan.subsets)} tiers)"
        )


def _step(parents: tuple[int, ...], own: Floats, components: tuple[Component, ...]) -> Step:
    """Describe a tier with at most one parent."""
    weights = np.array([part.weight for part in components])
    strengths = np.array([part.s for part in components])
    estimate = sum(part.weight * part.rows(own[None])[0] for part in components)
    leaned_on = np.stack([part.mean for part in components])
    return Step(parents, own, np.asarray(estimate), (), leaned_on, weights, strengths)


def _pool(counts: FamilyCounts, alpha0: Floats) -> Component:
    """A table without parents: theta = alpha ~ Dirichlet(alpha0)."""
    total, evidence = alpha0.sum(), log_evidence_of_pool(counts, alpha0)
    alpha = FixedAlpha(alpha0 / total, np.zeros((alpha0.size,) * 2), evidence, None)
    return Component(1.0, float(total), alpha)

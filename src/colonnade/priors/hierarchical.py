"""Hierarchical: the model of the paper, in which rows of a table are shrunk towards one pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.counts import FamilyCounts
from colonnade.exceptions import counted, expected, inapplicable
from colonnade.pooling import ENGINES
from colonnade.pooling.alpha import Component, Engine, shrunken_rows
from colonnade.pooling.evidence import log_evidences
from colonnade.pooling.exact import choose
from colonnade.pooling.penalty import Penalty
from colonnade.pooling.strength import learn_strength, learned_log_evidence
from colonnade.pooling.tally import Tally
from colonnade.priors.base import (
    SAVED_IF_GIVEN,
    Counts,
    Inconsistency,
    Prior,
    checked_counts,
    checked_positive,
)
from colonnade.priors.posterior import CptPosterior
from colonnade.sparse import SparseTable
from colonnade.threads import run

# Powers of alpha smaller than this are lost beside 1.
_MIN_ALPHA0 = 1e-6
# Prior mean of a learned strength, in multiples of the number of states.
_S_MEAN = 1.0


@dataclass(frozen=True, slots=True)
class Hierarchical(Prior):
    """The hierarchical Multinomial-Dirichlet model: all rows are shrunk towards one alpha.

    alpha is estimated together with the rows.

        alpha ~ Dirichlet(alpha0),    theta_y | alpha ~ Dirichlet(s alpha)

    Parameters
    ----------
    s : float or "learn", optional
        Strength with which a row is shrunk towards alpha, from 1e-100 to 1e12; by default r, the
        number of states (the paper's choice). ``"learn"`` gives s a Gamma prior of shape 2 and
        integrates it out.
    alpha0 : float or sequence of float
        Parameter of the prior of alpha, from 1e-6 to 1e12, for all states or one for each.
    engine : Exact, Quadrature, Variational or Reference, optional
        How the posterior of alpha is computed; by default the faster of the two exact engines.
    s_mean : float, optional
        Prior mean of a learned s, in multiples of r; 1 by default.

    Examples
    --------
    >>> Hierarchical().estimate([[8, 2], [0, 0], [7, 1]]).round(3)
    array([[0.777, 0.223],
           [0.665, 0.335],
           [0.833, 0.167]])
    """

    s: float | Literal["learn"] | None = None
    alpha0: float | tuple[float, ...] = 1.0
    engine: Engine | None = None
    s_mean: float | None = field(default=None, metadata=SAVED_IF_GIVEN)

    keyword: ClassVar[str] = "hierarchical"
    setting: ClassVar[str] = "strength"
    examples: ClassVar[Mapping[str, str]] = {
        "hierarchical": "rows are pooled",
        "hierarchical:learn": "its strength learned",
        "hierarchical:8": "its strength given",
    }

    def __post_init__(self) -> None:
        hint = "use s=None for the number of states"
        if isinstance(self.s, str):
            if self.s != "learn":
                raise expected('a number or "learn"', "s", self.s, hint)
        elif self.s is not None:
            object.__setattr__(self, "s", checked_positive(self.s, "s", hint))
        object.__setattr__(self, "alpha0", checked_alpha0(self.alpha0))
        if isinstance(self.engine, type):
            raise expected("an engine", "engine", self.engine, f"write {self.engine.__name__}()")
        if self.engine is not None and not isinstance(self.engine, Engine):
            what = f"{', '.join(f'{name}()' for name in ENGINES)} or None"
            raise expected(what, "engine", self.engine)
        if self.s_mean is not None:
            if self.s != "learn":
                raise inapplicable("s_mean", self.s_mean, 's="learn"')
            object.__setattr__(self, "s_mean", checked_positive(self.s_mean, "s_mean"))

    def __repr__(self) -> str:
        shown = [each.name for each in fields(self) if each.name != "s_mean"]
        shown += ["s_mean"] if self.s_mean is not None else []
        return f"Hierarchical({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def posterior(self, counts: Counts) -> CptPosterior:
        """Posterior of the table.

        Examples
        --------
        >>> Hierarchical(s="learn").posterior([[9, 1], [8, 2], [9, 0]]).alpha.mean.round(3)
        array([0.764, 0.236])
        """
        # Beyond 2**53 the next observation is lost in a sum of floating-point numbers.
        counts = checked_counts(counts)
        alpha0 = self._alpha0(counts.states)
        tally = Tally.of(counts.values)
        if self.s == "learn":
            mean = self._prior_mean(counts)
            strength, components = learn_strength(tally, alpha0, self.engine, mean)
            return CptPosterior(counts, self, components, strength)
        s = self._fixed_strength(counts)
        alpha = self._engine(tally, s).solve(tally, s, alpha0)
        return CptPosterior(counts, self, (Component(1.0, s, alpha),))

    def strength(self, counts: FamilyCounts) -> float:
        """Strength with which rows are shrunk towards alpha; its posterior mean if learned."""
        if self.s == "learn":
            return self.posterior(counts).mean_strength
        return self._fixed_strength(counts)

    def log_evidence(self, counts: Counts) -> float:
        """Log probability of the counts under the prior, without the moments of the posterior."""
        counts = checked_counts(counts)
        if self.s == "learn" and self.engine is not None:
            return Prior.log_evidence(self, counts)
        tally, alpha0 = Tally.of(counts.values), self._alpha0(counts.states)
        if self.s == "learn":
            return learned_log_evidence(tally, alpha0, self._prior_mean(counts))
        s = self._fixed_strength(counts)
        return self._evidence(self._engine(tally, s).log_evidence(tally, s, alpha0))

    def structure_score(self, counts: Counts) -> float:
        """Log evidence of a family in a graph, in which independence is the limit of large s.

        As s grows all rows become equal to alpha: parents that do not matter are that limit. So the
        score of a variable without parents is its evidence under theta = alpha ~ Dirichlet(alpha0).
        A row that leans on a pool of its own is over-dispersed: against it parents that mean
        nothing would be an improvement. The same holds where all parents are constant in the data.

        Examples
        --------
        >>> score = Hierarchical().structure_score([[8, 2]])
        >>> bool(np.isclose(score, Hierarchical(s=1e7).log_evidence([[8, 2]]), atol=1e-4))
        True
        """
        counts = checked_counts(counts)
        if len(counts.values) > 1:
            return self.log_evidence(counts)
        return log_evidence_of_pool(counts, self._alpha0(counts.states))

    def structure_scores(self, tables: Integers) -> Floats | None:
        """Structure scores of many tables, ``[table, configuration, state]``, if s is given.

        Most tables of two to four states are integrated together, to about ten digits.
        """
        if self.s == "learn" or self.engine is not None:
            return None
        states = tables.shape[2]
        s = float(states) if self.s is None else float(self.s)
        scores = log_evidences(tables, s, self._alpha0(states))
        others = np.flatnonzero(np.isnan(scores))
        scores[others] = run([partial(self.structure_score, tables[k]) for k in others])
        return scores

    def em_penalty(self, counts: FamilyCounts) -> Penalty:
        # Whatever engine the final tables are to have, this needs a quick and exact one.
        posterior = replace(self, engine=None).posterior(counts)
        return Penalty(posterior.mean_strength, posterior.default, self._alpha0(counts.states))

    def inconsistency(self, counts: FamilyCounts, table: SparseTable) -> Inconsistency | None:
        """Return what does not follow from the counts and the prior, without estimating anew."""
        if isinstance(self.alpha0, tuple) and len(self.alpha0) != counts.states:
            values = counted(counts.states, "value")
            return Inconsistency("prior", f"alpha0 does not have {values}.")
        if not table.complete:
            return Inconsistency("default", "it is missing.")
        if self.s == "learn":
            return None  # a mixture over strengths: only the estimation itself could tell
        s, totals = self._fixed_strength(counts), counts.row_totals
        with np.errstate(all="ignore"):  # numbers of a forged file may be of any size
            alpha = table.default
            if alpha is None:
                # From the row that depends on alpha most.
                k = int(totals.argmin())
                alpha = (table.rows[k] * (totals[k] + s) - counts.values[k]) / s
            return self._inconsistency_of_rows(table, shrunken_rows(counts.values, s, alpha))

    def _prior_mean(self, counts: FamilyCounts) -> float:
        """Prior mean of a learned strength."""
        return counts.states * (_S_MEAN if self.s_mean is None else self.s_mean)

    def _fixed_strength(self, counts: FamilyCounts) -> float:
        assert not isinstance(self.s, str)
        return float(counts.states) if self.s is None else self.s

    def _engine(self, tally: Tally, s: float) -> Engine:
        return choose(tally, s) if self.engine is None else self.engine

    def _alpha0(self, states: int) -> Floats:
        return alpha0_of(self.alpha0, states)


def log_evidence_of_pool(counts: FamilyCounts, alpha0: Floats) -> float:
    """Log evidence of at most one row whose probabilities are alpha ~ Dirichlet(alpha0)."""
    from colonnade.kernels.special import minus_log_beta

    if not len(counts.values):
        return 0.0
    # Gamma(A0) / Gamma(A0 + n) prod_x Gamma(alpha0_x + n_x) / Gamma(alpha0_x)
    tally = Tally.of(counts.values)
    prior = zip(alpha0[tally.tallied].tolist(), tally.count.tolist(), strict=True)
    cells = sum(minus_log_beta(parameter, count) for parameter, count in prior)
    return float(cells - minus_log_beta(float(alpha0.sum()), tally.total) + tally.constant)


def alpha0_of(alpha0: float | tuple[float, ...], states: int) -> Floats:
    """Return the parameters of the prior of alpha, one per state."""
    if isinstance(alpha0, tuple):
        if len(alpha0) != states:
            what = f"{counted(states, 'value')}, one for each state,"
            raise expected(what, "alpha0", alpha0, "or give a single number")
        return np.array(alpha0)
    return np.full(states, alpha0)


def checked_alpha0(alpha0: Any) -> float | tuple[float, ...]:
    """Return one positive number, or one per state."""
    if np.ndim(alpha0) > 0:
        return tuple(checked_positive(value, "alpha0", least=_MIN_ALPHA0) for value in alpha0)
    # a number, or an array without axes
    number = alpha0.item() if isinstance(alpha0, np.ndarray) else alpha0
    return checked_positive(number, "alpha0", least=_MIN_ALPHA0)

"""The priors of a table: counts and a prior become probabilities or a posterior."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import Advice, CountsError, NotSupportedError, TooLargeError, expected
from colonnade.posterior import CptPosterior

__all__ = ["BDeu", "Hierarchical", "MaximumLikelihood", "Prior", "SymmetricDirichlet"]

Floats = NDArray[np.float64]

# Beyond so many states a table takes minutes and gigabytes.
_STATES = 5000


class Prior(ABC):
    """What turns counts into an estimate of a table."""

    def estimate(self, counts: FamilyCounts | ArrayLike) -> Floats:
        """Estimated probabilities, ``[configuration, state]``.

        Parameters
        ----------
        counts : FamilyCounts or array_like [configuration, state]

        Examples
        --------
        >>> BDeu(4).estimate([[3, 1], [0, 0]])
        array([[0.66666667, 0.33333333],
               [0.5       , 0.5       ]])
        """
        return self.posterior(counts).mean

    @abstractmethod
    def posterior(self, counts: FamilyCounts | ArrayLike) -> CptPosterior:
        """Posterior of the table.

        Parameters
        ----------
        counts : FamilyCounts or array_like [configuration, state]
        """

    def log_evidence(self, counts: FamilyCounts | ArrayLike) -> float:
        """Log probability of the counts under the prior, in the order the observations came.

        Examples
        --------
        >>> round(SymmetricDirichlet(2).log_evidence([[1, 1]]), 6) == round(math.log(1 / 6), 6)
        True
        """
        value = self.posterior(counts).log_evidence
        if value is None:
            raise NotSupportedError(f"The log evidence of {self!r}", "its engine has none")
        return value


@dataclass(frozen=True, slots=True)
class MaximumLikelihood(Prior):
    """Relative frequencies n_yx / n_y; no prior at all.

    Parameters
    ----------
    unobserved : {"nan", "uniform", "raise"}
        What a configuration without counts gets.

    Examples
    --------
    >>> MaximumLikelihood().estimate([[3, 1], [0, 0]])
    array([[0.75, 0.25],
           [ nan,  nan]])
    """

    unobserved: Literal["nan", "uniform", "raise"] = "nan"

    def __post_init__(self) -> None:
        if self.unobserved not in ("nan", "uniform", "raise"):
            raise expected('"nan", "uniform" or "raise"', "unobserved", self.unobserved)

    def estimate(self, counts: FamilyCounts | ArrayLike) -> Floats:
        counts = as_counts(counts)
        missing = counts.configurations - counts.observed
        if missing and self.unobserved == "raise":
            raise CountsError(
                f"Counts: {missing} of {counts.configurations} configurations are unobserved. "
                "Hint: use a prior such as Hierarchical().",
                parameter="counts",
                value=counts,
            )
        fill = math.nan if self.unobserved == "nan" else 1.0 / counts.states
        dense = counts.to_array()
        table = np.full(dense.shape, fill)
        table[counts.index] = counts.values / counts.row_totals[:, None]
        return table

    def posterior(self, counts: FamilyCounts | ArrayLike) -> CptPosterior:
        raise NotSupportedError(
            "A posterior of MaximumLikelihood()",
            "it has no prior",
            Advice.PRIOR_WITH_POSTERIOR,
        )

    def log_evidence(self, counts: FamilyCounts | ArrayLike) -> float:
        raise NotSupportedError(
            "The log evidence of MaximumLikelihood()",
            "it has no prior",
            "use a score such as BIC for comparison",
        )


class _Independent(Prior):
    """Rows independent given a known, uniform alpha: s differs."""

    @abstractmethod
    def _strength(self, counts: FamilyCounts) -> float: ...

    def posterior(self, counts: FamilyCounts | ArrayLike) -> CptPosterior:
        from colonnade.pooling.independent import solve_uniform
        from colonnade.pooling.mixture import Component

        counts = _bounded(as_counts(counts))
        s = self._strength(counts)
        return CptPosterior(
            counts, self, (Component(1.0, s, solve_uniform(counts.values, s, self)),)
        )

    def log_evidence(self, counts: FamilyCounts | ArrayLike) -> float:
        from colonnade.pooling.independent import uniform_log_evidence

        counts = as_counts(counts)
        return uniform_log_evidence(counts.values, self._strength(counts))


@dataclass(frozen=True, slots=True)
class BDeu(_Independent):
    """Independent Dirichlet rows with ess / (r q) for each cell.

    Parameters
    ----------
    ess : float
        Equivalent sample size of the whole table.

    Examples
    --------
    >>> BDeu(1).estimate([[3, 1], [0, 4]]).round(4)
    array([[0.7222, 0.2778],
           [0.0556, 0.9444]])
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ess", _positive(self.ess, "ess"))

    def _strength(self, counts: FamilyCounts) -> float:
        try:
            s = self.ess / counts.configurations
        except OverflowError:
            s = 0.0
        if s < 1e-290:
            raise NotSupportedError(
                f"{self!r} for a table of more than 1e290 configurations",
                "its strength a configuration is zero in floating point",
                Advice.PRIOR_FOR_HUGE_TABLES,
            )
        return s


@dataclass(frozen=True, slots=True)
class SymmetricDirichlet(_Independent):
    """Independent Dirichlet rows with s / r for each cell.

    Parameters
    ----------
    s : float, optional
        Strength of each row; by default r, the number of states, which adds one to every cell (the
        K2 prior).

    Examples
    --------
    >>> SymmetricDirichlet().estimate([[3, 1], [0, 0]]).round(4)
    array([[0.6667, 0.3333],
           [0.5   , 0.5   ]])
    """

    s: float | None = None

    def __post_init__(self) -> None:
        if self.s is not None:
            object.__setattr__(self, "s", _positive(self.s, "s"))

    def _strength(self, counts: FamilyCounts) -> float:
        return float(counts.states) if self.s is None else self.s


@dataclass(frozen=True, slots=True)
class Hierarchical(Prior):
    """The hierarchical Multinomial-Dirichlet model: all rows lean on one alpha.

    alpha is estimated together with the rows.

        alpha ~ Dirichlet(alpha0),    theta_y | alpha ~ Dirichlet(s alpha)

    Parameters
    ----------
    s : float or "learn", optional
        Strength with which a row leans on alpha; by default r, the number of states (the paper's
        choice). ``"learn"`` gives s a Gamma prior with mean r and shape 2 and integrates it out.
    alpha0 : float or sequence of float
        Parameter of the prior of alpha, for all states or one for each.
    engine : Exact, Quadrature, Variational or Reference, optional
        How the posterior of alpha is computed; by default the faster of the two exact engines.

    Examples
    --------
    >>> Hierarchical().estimate([[8, 2], [0, 0], [7, 1]]).round(3)
    array([[0.777, 0.223],
           [0.665, 0.335],
           [0.833, 0.167]])
    """

    s: float | Literal["learn"] | None = None
    alpha0: float | tuple[float, ...] = 1.0
    engine: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.s, str):
            if self.s != "learn":
                raise expected('a positive number, "learn" or None', "s", self.s)
        elif self.s is not None:
            hint = "use s=None for the number of states"
            object.__setattr__(self, "s", _positive(self.s, "s", hint))
        if np.ndim(self.alpha0) > 0:
            each: Any = self.alpha0
            values = tuple(_positive(value, "alpha0") for value in each)
            object.__setattr__(self, "alpha0", values)
        else:
            # a number, or an array without axes
            alone = self.alpha0.item() if isinstance(self.alpha0, np.ndarray) else self.alpha0
            object.__setattr__(self, "alpha0", _positive(alone, "alpha0"))
        if self.engine is not None and not callable(getattr(self.engine, "solve", None)):
            raise expected(
                "Exact(), Quadrature(), Variational(), Reference() or None", "engine", self.engine
            )
        if isinstance(self.engine, type):
            raise expected("an engine", "engine", self.engine, f"write {self.engine.__name__}()")

    def posterior(self, counts: FamilyCounts | ArrayLike) -> CptPosterior:
        """Posterior of the table.

        Parameters
        ----------
        counts : FamilyCounts or array_like [configuration, state]

        Examples
        --------
        >>> Hierarchical(s="learn").posterior([[9, 1], [8, 2], [9, 0]]).alpha.mean.round(3)
        array([0.764, 0.236])
        """
        from colonnade.pooling.mixture import Component
        from colonnade.pooling.strength import learn_strength
        from colonnade.pooling.tally import Tally

        counts = _bounded(as_counts(counts))
        alpha0 = self._alpha0(counts.states)
        tally = Tally.of(counts.values)
        if self.s == "learn":
            strength, alphas = learn_strength(tally, alpha0, self.engine)
            components = tuple(
                Component(weight, s, alpha)
                for weight, s, alpha in zip(
                    strength.weights.tolist(), strength.nodes.tolist(), alphas, strict=True
                )
            )
            return CptPosterior(counts, self, components, strength)
        s = float(counts.states) if self.s is None else self.s
        alpha = self._engine(tally, s).solve(tally, s, alpha0)
        return CptPosterior(counts, self, (Component(1.0, s, alpha),))

    def log_evidence(self, counts: FamilyCounts | ArrayLike) -> float:
        """Log probability of the counts under the prior, without the moments of the posterior."""
        from colonnade.pooling.tally import Tally

        counts = as_counts(counts)
        if self.s == "learn":
            return Prior.log_evidence(self, counts)
        tally = Tally.of(counts.values)
        s = float(counts.states) if self.s is None else self.s
        value = self._engine(tally, s).log_evidence(tally, s, self._alpha0(counts.states))
        if value is None:
            raise NotSupportedError(f"The log evidence of {self!r}", "its engine has none")
        return float(value)

    def _engine(self, tally: Any, s: float) -> Any:
        from colonnade.pooling.choose import choose

        return choose(tally, s) if self.engine is None else self.engine

    def _alpha0(self, states: int) -> Floats:
        if isinstance(self.alpha0, tuple):
            if len(self.alpha0) != states:
                raise expected(
                    f"{states} values, one for each state,",
                    "alpha0",
                    self.alpha0,
                    "or give a single number",
                )
            return np.array(self.alpha0)
        return np.full(states, self.alpha0)


def _positive(value: Any, parameter: str, hint: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise expected("a positive number", parameter, value, hint)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0.0):
        raise expected("a finite number above 0", parameter, value, hint)
    return number


def _bounded(counts: FamilyCounts) -> FamilyCounts:
    """Refuse so many states that the covariance of alpha, a cell for each pair, is too large."""
    if counts.states > _STATES:
        raise TooLargeError(
            f"The covariance of a pool of {counts.states:,} states",
            size=counts.states**2,
            limit=_STATES**2,
            hint="is this column an identifier? Leave it out, or put states together",
        )
    return counts

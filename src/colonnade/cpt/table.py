"""Cpt: the conditional probability table of one variable, with what it was estimated from.

A table is stored as the rows of some configurations and one default row for all others, so that
its size is bounded by the data and not by the number of configurations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from colonnade.arrays import Floats
from colonnade.configurations import all_codes
from colonnade.counts import FamilyCounts
from colonnade.cpt.shown import Shown
from colonnade.exceptions import (
    Advice,
    DataError,
    NotSupportedError,
    UnobservedError,
    amount,
    expected,
    listing,
)
from colonnade.priors import CptPosterior, Prior
from colonnade.sparse import SparseTable, checked_rows
from colonnade.variables import Family

_MAX_TITLE_PARENTS = 10


@dataclass(frozen=True, repr=False)
class Cpt:
    """The conditional probability table of one variable: what ``network["X"]`` returns.

    Usually made by :func:`colonnade.fit`, or here by :meth:`of` and :meth:`known`.

    Parameters
    ----------
    family : Family
    counts : FamilyCounts or None
        What it was estimated from; None for a table that was given.
    prior : Prior or None
        How it was estimated; None for a table that was given.
    table : SparseTable
        The probabilities.

    Examples
    --------
    >>> from colonnade import BDeu, Family, FamilyCounts, Variable
    >>> family = Family(Variable("cancer", ["no", "yes"]), [Variable("smoker", ["no", "yes"])])
    >>> cpt = Cpt.of(family, FamilyCounts.from_array([[8, 0], [3, 1]]), BDeu(4))
    >>> cpt
    Cpt('cancer' given 'smoker', n=12, prior=BDeu(ess=4.0))
      smoker |     no    yes
      no     | 0.9000 0.1000
      yes    | 0.6667 0.3333
    """

    family: Family
    counts: FamilyCounts | None
    prior: Prior | None
    table: SparseTable

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        family = self.family
        if not isinstance(family, Family):
            raise expected("a Family", "family", family)
        if not isinstance(self.table, SparseTable):
            raise expected("a SparseTable", "table", self.table, "see `Cpt.known`")
        if (self.counts is None) != (self.prior is None):
            raise expected("counts and a prior, or neither,", "counts", self.counts)
        parts: list[tuple[str, Any]] = [("counts", self.counts), ("table", self.table)]
        for name, part in parts[self.counts is None :]:
            if (part.parent_sizes, part.states) != (family.parent_sizes, family.cardinality):
                sizes = f"parent sizes {family.parent_sizes} and {family.cardinality} states"
                raise expected(f"a table with {sizes}", name, part)

    @classmethod
    def of(cls, family: Family, counts: FamilyCounts, prior: Prior) -> Cpt:
        """Estimate the table of a family: the posterior mean, or what the prior has instead.

        Examples
        --------
        >>> from colonnade import Family, FamilyCounts, Hierarchical, Variable
        >>> x, y = Variable("x", [0, 1]), Variable("y", [0, 1, 2])
        >>> counts = FamilyCounts.from_array([[8, 2], [0, 0], [7, 1]])
        >>> Cpt.of(Family(x, (y,)), counts, Hierarchical()).probabilities.round(3)
        array([[0.777, 0.223],
               [0.665, 0.335],
               [0.833, 0.167]])
        """
        if not isinstance(prior, Prior):
            raise expected("a prior", "prior", prior, "use Hierarchical()")
        if prior.has_posterior:
            posterior = prior.posterior(counts)
            cpt = cls(family, counts, prior, posterior.table)
            cpt.__dict__["posterior"] = posterior  # fills the cached property
            return cpt
        try:
            return cls(family, counts, prior, prior.table(counts))
        except UnobservedError as error:
            raise _without_observations(family, error) from None

    @classmethod
    def known(cls, family: Family, probabilities: ArrayLike) -> Cpt:
        """Take over probabilities that are known, without counts and without a prior.

        Parameters
        ----------
        family : Family
        probabilities : array_like [configuration, state] or [parent, ..., parent, state]
            Rows that sum to 1 within 1e-6, which is then made exact.

        Examples
        --------
        >>> from colonnade import Family, Variable
        >>> Cpt.known(Family(Variable("coin", ["heads", "tails"])), [[0.5, 0.5]])
        Cpt('coin', known)
                 |  heads  tails
                 | 0.5000 0.5000
        """
        if not isinstance(family, Family):
            raise expected("a Family", "family", family)
        values = checked_rows(probabilities, "probabilities", None)
        shape = (family.configurations, family.cardinality)
        if values.shape not in (shape, (*family.parent_sizes, family.cardinality)):
            what = f"an array of shape {shape} for {family.child.name!r}"
            raise expected(what, "probabilities", probabilities, got=f"shape {values.shape}")
        rows = values.reshape(shape)
        table = SparseTable(family.parent_sizes, all_codes(family.parent_sizes), rows)
        return cls(family, None, None, table)

    @property
    def has_posterior(self) -> bool:
        """Whether the table is uncertain: estimated, with a prior that has a posterior."""
        return self.prior is not None and self.prior.has_posterior

    @cached_property
    def posterior(self) -> CptPosterior:
        """Posterior of the table: means, intervals, draws.

        There is none after ``MaximumLikelihood``, and for a table that was given: a
        ``NotSupportedError``.
        """
        if self.counts is None or self.prior is None:
            what = f"A posterior of the table of {self.family.child.name!r}"
            hint = "use `probabilities`, or fit the network to data"
            raise NotSupportedError(what, "its probabilities were given, not estimated", hint)
        return self.prior.posterior(self.counts)

    @property
    def probabilities(self) -> Floats:
        """All probabilities, ``[configuration, state]``; refused beyond 50 million cells."""
        return self.table.dense()

    @property
    def mean(self) -> Floats:
        """Another name of ``probabilities``: the posterior mean, where there is a posterior."""
        return self.probabilities

    def __repr__(self) -> str:
        return Shown.of(self.family, self.table).text(f"Cpt({self._title()})")

    def _repr_html_(self) -> str:
        return Shown.of(self.family, self.table).html(self._title())

    def _title(self) -> str:
        given = ", ".join(repr(parent.name) for parent in self.family.parents[:_MAX_TITLE_PARENTS])
        given += ", ..." if len(self.family.parents) > _MAX_TITLE_PARENTS else ""
        name = repr(self.family.child.name) + (f" given {given}" if given else "")
        if self.counts is None:
            return f"{name}, known"
        return f"{name}, n={self.counts.total:.6g}, prior={self.prior!r}"


def _without_observations(family: Family, error: UnobservedError) -> DataError:
    name, parents = family.child.name, listing(parent.name for parent in family.parents)
    share = f"{amount(error.unobserved)} of {amount(error.configurations)} configurations"
    return DataError(
        f"Variable {name!r}",
        f"{share} of its parents {parents} have no observations.",
        Advice.PRIOR_FOR_UNOBSERVED,
        variable=name,
        unobserved=error.unobserved,
    )

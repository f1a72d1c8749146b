"""Cpt: the conditional probability table of one variable, with what it was estimated from.

A table is stored as the rows of some configurations and one default row for all others, so that
its size is bounded by the data and not by the number of configurations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade._html import safe
from colonnade._rows import codes_of
from colonnade._sparse import SparseTable, checked_rows
from colonnade.counts import FamilyCounts
from colonnade.exceptions import Advice, DataError, NotSupportedError, amount, expected, listing
from colonnade.posterior import CptPosterior
from colonnade.priors import MaximumLikelihood, Prior
from colonnade.variables import Family

__all__ = ["Cpt", "SparseTable"]

Floats = NDArray[np.float64]

_SHOWN_ROWS = 20
_SHOWN_STATES = 12


@dataclass(frozen=True, eq=False, repr=False)
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
        """Estimate the table of a family.

        Parameters
        ----------
        family : Family
        counts : FamilyCounts
        prior : Prior

        Returns
        -------
        Cpt
            With the posterior mean, or the relative frequencies of ``MaximumLikelihood``.

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
        if isinstance(prior, MaximumLikelihood):
            return cls(family, counts, prior, _frequencies(family, counts, prior))
        posterior = prior.posterior(counts)
        everything = counts.observed == counts.configurations
        default = None if everything else posterior.default
        table = SparseTable(counts.parent_sizes, counts.codes, posterior.observed_mean, default)
        cpt = cls(family, counts, prior, table)
        cpt.__dict__["posterior"] = posterior  # fills the cached property
        return cpt

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
        codes = codes_of(np.arange(len(rows)), family.parent_sizes)
        return cls(family, None, None, SparseTable(family.parent_sizes, codes, rows))

    @cached_property
    def posterior(self) -> CptPosterior:
        """Posterior of the table: means, intervals, draws.

        Raises
        ------
        NotSupportedError
            If there is none: after ``MaximumLikelihood``, and for a table that was given.
        """
        if self.counts is None or self.prior is None:
            raise NotSupportedError(
                f"A posterior of the table of {self.family.child.name!r}",
                "its probabilities were given, not estimated",
                "use `probabilities`, or fit the network to data",
            )
        return self.prior.posterior(self.counts)

    @property
    def probabilities(self) -> Floats:
        """All probabilities, ``[configuration, state]``; refused beyond 50 million cells."""
        return self.table.dense()

    @property
    def mean(self) -> Floats:
        """Another name of ``probabilities``: the posterior mean, where there is a posterior."""
        return self.probabilities

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cpt):
            return NotImplemented
        return (
            self.family == other.family
            and self.prior == other.prior
            and self.counts == other.counts
            and self.table == other.table
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head, rows, more = self._shown()
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        parents = len(self.family.parents)
        lines = [
            " ".join(cell.ljust(w) for cell, w in zip(row[:parents], widths, strict=False)).ljust(8)
            + " | "
            + " ".join(
                cell.rjust(w) for cell, w in zip(row[parents:], widths[parents:], strict=True)
            )
            for row in (head, *rows)
        ]
        return "\n  ".join([f"Cpt({self._title()})", *lines, *more])

    def _repr_html_(self) -> str:
        head, rows, more = self._shown()

        def line(cells: list[str], kind: str) -> str:
            return "<tr>" + "".join(f"<{kind}>{safe(cell)}</{kind}>" for cell in cells) + "</tr>"

        body = "".join(line(row, "td") for row in rows)
        notes = "".join(f"<p>{safe(text)}</p>" for text in more)
        return (
            f"<table><caption>{safe(self._title())}</caption>"
            f"<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{notes}"
        )

    def _title(self) -> str:
        given = ", ".join(repr(parent.name) for parent in self.family.parents[:10])
        given += ", ..." if len(self.family.parents) > 10 else ""
        name = repr(self.family.child.name) + (f" given {given}" if given else "")
        if self.counts is None:
            return f"{name}, known"
        return f"{name}, n={self.counts.total:.6g}, prior={self.prior!r}"

    def _shown(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Return the head, the first rows, and what was left out, in words."""
        parents, table = self.family.parents, self.table
        states = [str(state) for state in self.family.child.states[:_SHOWN_STATES]]
        head = [parent.name for parent in parents] + states
        rows = []
        for codes, row in zip(table.codes[:_SHOWN_ROWS], table.rows[:_SHOWN_ROWS], strict=True):
            given = [str(p.states[code]) for p, code in zip(parents, codes.tolist(), strict=True)]
            rows.append(given + [f"{value:.4f}" for value in row[:_SHOWN_STATES]])
        more = []
        if table.default is not None and len(table.rows) < table.configurations:
            default = [f"{value:.4f}" for value in table.default[:_SHOWN_STATES]]
            other = ["(any other)", *("" for _ in parents[1:])]
            rows.append(other[: len(parents)] + default)
        elif len(table.rows) < table.configurations:
            unseen = amount(table.configurations - len(table.rows))
            more.append(f"{unseen} configurations without probabilities")
        if len(table.rows) > _SHOWN_ROWS:
            more.append(f"{len(table.rows) - _SHOWN_ROWS:,} more configurations")
        if table.states > _SHOWN_STATES:
            more.append(f"{table.states - _SHOWN_STATES:,} more states")
        return head, rows, more


def _frequencies(family: Family, counts: FamilyCounts, prior: MaximumLikelihood) -> SparseTable:
    """Relative frequencies, sparse; what an unobserved configuration gets is the prior's choice."""
    unseen = counts.configurations - counts.observed
    if unseen and prior.unobserved == "raise":
        raise DataError(
            f"Variable {family.child.name!r}",
            f"{amount(unseen)} of {amount(counts.configurations)} configurations of its parents "
            f"{listing(parent.name for parent in family.parents)} have no observations.",
            Advice.PRIOR_FOR_UNOBSERVED,
            variable=family.child.name,
            unobserved=unseen,
        )
    default = None
    # A single state is certain, whether its configuration was seen or not.
    if unseen and (prior.unobserved == "uniform" or counts.states == 1):
        default = np.full(counts.states, 1.0 / counts.states)
    rows = counts.values / counts.row_totals[:, None]
    return SparseTable(counts.parent_sizes, counts.codes, rows, default)

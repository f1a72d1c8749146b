"""Cpt: the conditional probability table of one variable, with what it was estimated from.

A table is stored as the rows of some configurations and one default row for all others, so that
its size is bounded by the data and not by the number of configurations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Floats
from colonnade.configurations import all_codes, codes_at
from colonnade.counts import FamilyCounts
from colonnade.exceptions import (
    Advice,
    DataError,
    NotSupportedError,
    UnobservedError,
    about,
    amount,
    checked_list,
    counted,
    expected,
    listing,
    tally,
)
from colonnade.markup import safe
from colonnade.priors import Effects, Prior, TablePosterior, no_prior
from colonnade.sparse import SparseTable, checked_rows
from colonnade.tables.tabular import Tabular
from colonnade.variables import Family

__all__ = ["Cpt", "SparseTable"]

# Limits of what is shown of a table.
_MAX_TITLE_PARENTS = 10
_MAX_ROWS = 20
_MAX_STATES = 12
# The names of the parents take at least this much, so that tables without parents look the same.
_MIN_PARENTS_WIDTH = 8


@dataclass(frozen=True, repr=False)
class Cpt(Tabular):
    """The conditional probability table of one variable: what ``network["X"]`` returns.

    Usually made by :func:`colonnade.fit`, or here by :meth:`of` and :meth:`known`. Two are equal if
    they have the same family, with the parents in the same order, the same counts and prior, and
    the same probabilities, to the last digit.

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
                sizes = (
                    f"parent sizes {family.parent_sizes} and {counted(family.cardinality, 'state')}"
                )
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
        if not isinstance(family, Family):
            raise expected("a Family", "family", family)
        if not isinstance(prior, Prior):
            raise no_prior(prior, "prior")
        if prior.has_posterior:
            with about(family.child.name):
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
            each = "row" if shape[0] == 1 else "rows, one per configuration of the parents"
            hint = f"give {shape[0]} {each}, with {counted(shape[1], 'state')} each"
            raise expected(what, "probabilities", probabilities, hint, got=f"shape {values.shape}")
        rows = values.reshape(shape)
        table = SparseTable(family.parent_sizes, all_codes(family.parent_sizes), rows)
        return cls(family, None, None, table)

    @classmethod
    def noisy_max(
        cls,
        family: Family,
        effects: Sequence[ArrayLike],
        leak: ArrayLike | None = None,
        descending: bool = False,
    ) -> Cpt:
        """Make a known table of parents that act independently: noisy-max, or noisy-or.

        The states of the variable are ordered, from no effect to the strongest. Each parent has an
        effect by itself, and the strongest one is seen.

        Parameters
        ----------
        family : Family
        effects : sequence of array_like [state of the parent, state of the variable]
            For each parent, in order, the probabilities of its effect in each of its states.
        leak : array_like [state of the variable], optional
            Probabilities of an effect that needs no parent; by default there is none.
        descending : bool, optional
            Whether the states run from the strongest effect to none, as in GeNIe.

        Examples
        --------
        >>> from colonnade import Family, Variable
        >>> fever, flu, cold = (Variable(n, ["no", "yes"]) for n in ("fever", "flu", "cold"))
        >>> effects = [[[1, 0], [0.2, 0.8]], [[1, 0], [0.5, 0.5]]]
        >>> Cpt.noisy_max(Family(fever, [flu, cold]), effects, leak=[0.9, 0.1])
        Cpt('fever' given 'flu', 'cold', known)
          flu cold |     no    yes
          no  no   | 0.9000 0.1000
          no  yes  | 0.4500 0.5500
          yes no   | 0.1800 0.8200
          yes yes  | 0.0900 0.9100
        """
        if not isinstance(family, Family):
            raise expected("a Family", "family", family)
        given = checked_list(effects, "an array for each parent", "effects")
        if len(given) != len(family.parents):
            what = f"{counted(len(family.parents), 'array')}, one for each parent,"
            raise expected(what, "effects", effects, got=f"{len(given)}")
        tables = [checked_rows(each, "effects", 2) for each in given]
        for parent, table in zip(family.parents, tables, strict=True):
            shape = (parent.cardinality, family.cardinality)
            if table.shape != shape:
                what = f"an array of shape {shape} for {parent.name!r}"
                raise expected(what, "effects", table, got=f"shape {table.shape}")
        none = np.eye(family.cardinality)[-1 if descending else 0]
        own = checked_rows(none if leak is None else leak, "leak", 1)
        if own.size != family.cardinality:
            what = f"{counted(family.cardinality, 'probability', 'probabilities')}"
            raise expected(what, "leak", leak, got=f"{own.size}")
        return cls.of_effects(family, Effects(tuple(tables), own, descending))

    @classmethod
    def of_effects(cls, family: Family, effects: Effects) -> Cpt:
        """Make a known table of the effects of single parents, those of another table for example.

        Examples
        --------
        >>> from colonnade import Family, Variable
        >>> from colonnade.priors import Effects
        >>> fever, flu = (Variable(name, ["no", "yes"]) for name in ("fever", "flu"))
        >>> effects = Effects([[[1, 0], [0.2, 0.8]]], leak=[0.9, 0.1])
        >>> Cpt.of_effects(Family(fever, [flu]), effects).effects == effects
        True
        """
        if not isinstance(effects, Effects):
            raise expected("Effects", "effects", effects)
        codes = np.zeros((0, len(effects.parents)), np.int64)
        rows = np.zeros((0, effects.leak.size))
        table = SparseTable(effects.parent_sizes, codes, rows, None, effects)
        return cls(family, None, None, table)

    @cached_property
    def effects(self) -> Effects | None:
        """Effects of single parents that a noisy-max table follows from; None for any other."""
        if self.counts is None or self.prior is None:
            fallback = self.table.fallback
            return fallback if isinstance(fallback, Effects) else None
        return self.prior.effects(self.counts)

    @property
    def has_posterior(self) -> bool:
        """Whether the table is uncertain: estimated, with a prior that has a posterior."""
        return self.prior is not None and self.prior.has_posterior

    @cached_property
    def posterior(self) -> TablePosterior:
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

    def plot(self, ax: Any = None, *, level: float = 0.95, columns: int = 1) -> Any:
        """Draw all rows: means with intervals, beside the raw frequencies (extra ``plot``).

        Of two states the second is drawn. Parameters are those of the posterior's ``plot``.
        """
        from colonnade.report.rows import Labels, draw_rows

        posterior, parents = self.posterior, self.family.parents
        rows = [
            [str(p.states[code]) for p, code in zip(parents, codes, strict=True)]
            for codes in all_codes(self.family.parent_sizes).tolist()
        ]
        states = [str(state) for state in self.family.child.states]
        shown = f" = {states[1]}" if len(states) == 2 else ""
        given = f" given {', '.join(p.name for p in parents)}" if parents else ""
        labels = Labels(rows, states, f"{self.family.child.name}{shown}{given}")
        return draw_rows(posterior, labels, level, ax, columns)

    def _columns(self) -> dict[str, list[Any]]:
        parents, states = self.family.parents, self.family.child.states
        probabilities = self.probabilities
        codes = all_codes(self.family.parent_sizes).repeat(len(states), axis=0)
        columns: dict[str, list[Any]] = {
            parent.name: [parent.states[code] for code in codes[:, k].tolist()]
            for k, parent in enumerate(parents)
        }
        columns[self.family.child.name] = [*states] * len(probabilities)
        if self.has_posterior:
            return columns | self.posterior.cells()
        if self.counts is not None:
            columns |= self.counts.cells()
        return columns | {"probability": probabilities.ravel().tolist()}

    def __repr__(self) -> str:
        return _Shown.of(self.family, self.table).text(f"Cpt({self._title()})")

    def _repr_html_(self) -> str:
        return _Shown.of(self.family, self.table).html(self._title())

    def _title(self) -> str:
        given = ", ".join(repr(parent.name) for parent in self.family.parents[:_MAX_TITLE_PARENTS])
        given += ", ..." if len(self.family.parents) > _MAX_TITLE_PARENTS else ""
        name = repr(self.family.child.name) + (f" given {given}" if given else "")
        if self.counts is None:
            return f"{name}, known"
        return f"{name}, n={tally(self.counts.total)}, prior={self.prior!r}"


def _without_observations(family: Family, error: UnobservedError) -> DataError:
    name, parents = family.child.name, listing(parent.name for parent in family.parents)
    share = f"{amount(error.unobserved)} of {counted(error.configurations, 'configuration')}"
    have = "has" if error.unobserved == 1 else "have"
    return DataError(
        f"Variable {name!r}",
        f"{share} of its parents {parents} {have} no observations.",
        Advice.PRIOR_FOR_UNOBSERVED,
        variable=name,
        unobserved=error.unobserved,
    )


class _Shown(NamedTuple):
    """What is shown of a table."""

    parents: int  # how many of the columns are parents
    lines: list[list[str]]  # the cells of the head and of the rows
    notes: list[str]  # what was left out

    @classmethod
    def of(cls, family: Family, table: SparseTable) -> _Shown:
        """Choose the rows and states to be shown."""
        table = _with_some_rows(table)
        parents = family.parents
        states = [str(state) for state in family.child.states[:_MAX_STATES]]
        lines = [[parent.name for parent in parents] + states]
        for codes, row in zip(table.codes[:_MAX_ROWS], table.rows[:_MAX_ROWS], strict=True):
            given = [str(p.states[code]) for p, code in zip(parents, codes.tolist(), strict=True)]
            lines.append(given + [f"{value:.4f}" for value in row[:_MAX_STATES]])
        notes = []
        unseen = table.configurations - len(table.rows)
        if table.default is not None and unseen:
            first = ["(any other)", *("" for _ in parents[1:])]
            default = [f"{value:.4f}" for value in table.default[:_MAX_STATES]]
            lines.append(first[: len(parents)] + default)
        elif table.fallback is not None:
            others = counted(unseen, "other configuration")
            notes.append(f"{others}, computed when asked for")
        elif unseen:
            notes.append(f"{counted(unseen, 'configuration')} without probabilities")
        if (more := len(table.rows) - _MAX_ROWS) > 0:
            notes.append(counted(more, "more configuration"))
        if (more := table.states - _MAX_STATES) > 0:
            notes.append(counted(more, "more state"))
        return cls(len(parents), lines, notes)

    def text(self, title: str) -> str:
        """Write the table for a terminal."""
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)]
        written = [title]
        for line in self.lines:
            cells = list(zip(line, widths, strict=True))
            given = " ".join(cell.ljust(width) for cell, width in cells[: self.parents])
            values = " ".join(cell.rjust(width) for cell, width in cells[self.parents :])
            written.append(f"{given.ljust(_MIN_PARENTS_WIDTH)} | {values}")
        return "\n  ".join([*written, *self.notes])

    def html(self, title: str) -> str:
        """Write the table for a notebook."""
        head, *body = self.lines
        rows = "".join(_html_row(line, "td") for line in body)
        notes = "".join(f"<p>{safe(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{safe(title)}</caption>"
            f"<thead>{_html_row(head, 'th')}</thead><tbody>{rows}</tbody></table>{notes}"
        )


def _with_some_rows(table: SparseTable) -> SparseTable:
    """Store the first rows of a table that stores none, or all of them if they are few."""
    if table.fallback is None or len(table.rows) or table.configurations <= _MAX_ROWS:
        return table.expanded(_MAX_ROWS)
    sizes = table.parent_sizes
    codes = codes_at(np.arange(_MAX_ROWS), sizes)
    return SparseTable(sizes, codes, table.rows_of(codes), None, table.fallback)


def _html_row(cells: list[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{safe(cell)}</{kind}>" for cell in cells) + "</tr>"

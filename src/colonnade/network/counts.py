"""NetworkCounts: the counts of all families of a graph. They travel, and add up to a network."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Literal

import numpy as np

from colonnade.arrays import Array
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    CountsError,
    NotSupportedError,
    counted,
    did_you_mean,
    expected,
    listing,
    tally,
)
from colonnade.missing.em import EmDiagnostics
from colonnade.network.model import BayesianNetwork
from colonnade.priors import Hierarchical, Prior, Tiered, no_prior
from colonnade.progress import Progress
from colonnade.tables.coding import in_order, places_of
from colonnade.tables.countable import Countable
from colonnade.tables.discretizing import Discretizer
from colonnade.variables import Family, State, Variable
from colonnade.wording import arrows


def families_of(dag: Dag, variables: Sequence[Variable]) -> list[Family]:
    """Return the family of each variable of a graph, in its order; other variables are ignored."""
    known = {variable.name: variable for variable in variables}
    return [
        Family(known[name], tuple(known[parent] for parent in dag.parents(name)))
        for name in dag.variables
    ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkCounts:
    """The counts of all families of a graph: data become these, and these become a network.

    Usually made by :func:`colonnade.count`. Counts of other rows can be added and subtracted;
    states that only one of them has are added to the other.

    Parameters
    ----------
    dag : Dag
    families : sequence of Family
        In the order of the graph, as are the counts.
    counts : sequence of FamilyCounts
    fixed : mapping of str to Cpt, optional
        Tables that no rows change.
    discretizer : Discretizer, optional
        How numeric columns were cut.
    group : str, optional
        The variable that says which group a row belongs to.
    """

    dag: Dag
    families: Sequence[Family]
    counts: Sequence[FamilyCounts]
    fixed: Mapping[str, Cpt] = field(default_factory=dict)  # tables that no rows change
    discretizer: Discretizer | None = None
    group: str | None = None

    @classmethod
    def of(
        cls, coded: Countable, dag: Dag, missing: Literal["raise", "available"] = "raise"
    ) -> NetworkCounts:
        """Count the rows of a table that has all variables of the graph."""
        # Counts first: the pass that counts finds the states as well.
        counts = coded.counts([(*dag.parents(name), name) for name in dag.variables], missing)
        families = families_of(dag, coded.variables)
        return cls(dag, families, counts, discretizer=coded.discretizer)

    @classmethod
    def kept(
        cls, network: BayesianNetwork, request: str, fixed_allowed: bool = False
    ) -> NetworkCounts:
        """Return the counts of a network, or refuse a request: a table that was given has none.

        If allowed, tables that were given stay as they are, unless all of them were.
        """
        from colonnade.network.knowledge import no_counts

        fixed = {name: cpt for name, cpt in network.tables.items() if cpt.counts is None}
        if fixed and not (fixed_allowed and len(fixed) < len(network)):
            raise NotSupportedError(
                f"`{request}` of a network with known tables",
                f"the table of {next(iter(fixed))!r} was given and has no counts",
                Advice.WEIGH_KNOWN_TABLES,
            )
        counts = [
            no_counts(cpt.family) if cpt.counts is None else cpt.counts
            for cpt in network.tables.values()
        ]
        cuts, group = network.discretizer, network.group
        return cls(network.dag, network.families, counts, fixed, cuts, group)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the graph."""
        return tuple(family.child for family in self.families)

    def __add__(self, other: NetworkCounts) -> NetworkCounts:
        if not isinstance(other, NetworkCounts):
            return NotImplemented
        return self._combined(other, operator.add)

    def __sub__(self, other: NetworkCounts) -> NetworkCounts:
        if not isinstance(other, NetworkCounts):
            return NotImplemented
        return self._combined(other, operator.sub)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NetworkCounts):
            return NotImplemented
        mine, yours = (
            (dict(zip(each.families, each.counts, strict=True)), dict(each.fixed))
            for each in (self, other)
        )
        facts = (self.dag, self.discretizer, self.group) == (
            other.dag,
            other.discretizer,
            other.group,
        )
        return facts and mine == yours

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        size = f"{counted(len(self.families), 'variable')}, {counted(len(self.dag.arcs), 'arc')}"
        rows = max((counts.total for counts in self.counts), default=0)
        return f"NetworkCounts({size}, n={tally(rows)})"

    def fit(
        self, prior: Prior | None = None, *, per_variable: Mapping[str, Prior] | None = None
    ) -> BayesianNetwork:
        """Estimate all tables from the counts; parameters are those of :func:`colonnade.fit`.

        Examples
        --------
        >>> from colonnade import BDeu, count
        >>> counts = count({"x": ["a", "b", "b"]}, Dag([], ["x"]))
        >>> counts.fit(BDeu(1))["x"].probabilities
        array([[0.375, 0.625]])
        """
        if prior is None and self.group is not None:
            prior = Tiered()
        priors = checked_priors(self.dag, prior, per_variable)
        return self.network(priors, self.discretizer, group=self.group)

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the counts to a ``.json`` file; nothing is lost.

        Examples
        --------
        >>> import tempfile
        >>> from colonnade import count
        >>> counts = count({"x": ["a", "b", "b"]}, Dag([], ["x"]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/counts.json")
        ...     NetworkCounts.load(f"{folder}/counts.json") == counts
        True
        """
        from colonnade.files.counts import save_counts

        save_counts(self, path, overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> NetworkCounts:
        """Read the counts that :meth:`save` wrote, all of them checked."""
        from colonnade.files.counts import load_counts

        return load_counts(path)

    def network(
        self,
        priors: Mapping[str, Prior],
        discretizer: Discretizer | None = None,
        diagnostics: EmDiagnostics | None = None,
        group: str | None = None,
    ) -> BayesianNetwork:
        """Estimate all tables, each with the prior of its variable."""
        tables = {}
        with Progress("Tables", len(self.families)) as progress:
            for family, counts in zip(self.families, self.counts, strict=True):
                name = family.child.name
                known = self.fixed.get(name)
                tables[name] = Cpt.of(family, counts, priors[name]) if known is None else known
                progress.advance()
        return BayesianNetwork(self.dag, tables, discretizer, diagnostics, group)

    def _combined(
        self, other: NetworkCounts, combine: Callable[[FamilyCounts, FamilyCounts], FamilyCounts]
    ) -> NetworkCounts:
        """Add or subtract the counts of the same families."""
        self, other = _aligned(self, other)
        fresh = []
        for family, mine, yours in zip(self.families, self.counts, other.counts, strict=True):
            if family.child.name in self.fixed:
                fresh.append(mine)
                continue
            try:
                fresh.append(combine(mine, yours))
            except CountsError as error:
                raise error.named(f"Variable {family.child.name!r}", family.cell) from None
        return replace(self, counts=fresh)


def grown_counts(known: NetworkCounts, variables: tuple[Variable, ...]) -> NetworkCounts:
    """Put all counts where their states are in the larger variables."""
    families = families_of(known.dag, variables)
    triples = zip(known.counts, known.families, families, strict=True)
    return replace(known, families=families, counts=[_grown(*triple) for triple in triples])


def _aligned(mine: NetworkCounts, yours: NetworkCounts) -> tuple[NetworkCounts, NetworkCounts]:
    """Give counts of one graph the same order and the same states."""
    if mine.discretizer is not None and yours.discretizer is not None:
        for cuts in mine.discretizer.columns:
            other = yours.discretizer.get(cuts.name)
            if other is not None and other != cuts:
                what, got = f"the same cut points of {cuts.name!r}", listing(other.points)
                raise expected(what, "other", other, Advice.SAME_CUTS, got=got)
    spelled = any(variable.spellings for variable in yours.variables)
    if list(mine.families) == list(yours.families) and not spelled:
        return mine, yours
    for what, here, there, got in (
        ("graph", mine.dag, yours.dag, f"one with the arcs {arrows(yours.dag.arcs)}"),
        ("group variable", mine.group, yours.group, str(yours.group or "none")),
    ):
        if here != there:
            what = f"counts of the same {what}"
            raise expected(what, "other", there, Advice.SAME_GRAPH, got=got)
    known = {variable.name: variable for variable in yours.variables}
    own = dict(zip((family.child.name for family in yours.families), yours.counts, strict=True))
    yours = replace(
        yours,
        dag=mine.dag,
        families=families_of(mine.dag, yours.variables),
        counts=[own[name] for name in mine.dag.variables],
    )
    variables = tuple(_united(each, known[each.name]) for each in mine.variables)
    return grown_counts(mine, variables), grown_counts(yours, variables)


def _united(mine: Variable, yours: Variable) -> Variable:
    """Return a variable with the states of both, in the order that states are found in."""
    more = [state for state in yours.states if state not in mine.states]
    spellings = _united_spellings(mine, yours)
    if not more:
        return replace(mine, spellings=spellings)
    if any(isinstance(a, str) != isinstance(b, str) for a in mine.states for b in more):
        hint = "strings and integers mixed have no order: use strings for all of them"
        raise expected(f"states of {mine.name!r} of one type", "other", more, hint)
    states = (*mine.states, *more)
    if all(in_order(each.states) == list(each.states) for each in (mine, yours)):
        states = tuple(in_order(states))
    return replace(mine, states=states, spellings=spellings)


def _united_spellings(mine: Variable, yours: Variable) -> dict[State, State]:
    """Return what values stand for in either variable; a value has one meaning."""
    spellings = {**yours.spellings, **mine.spellings}
    for value, state in spellings.items():
        for each in (mine, yours):
            meant = value if value in each.states else each.spellings.get(value, state)
            if meant != state:
                what = f"counts in which {value!r} of {mine.name!r} means the same"
                hint = "count all parts with the same meanings of values"
                raise expected(what, "other", yours, hint, got=f"{state!r} and {meant!r}")
    return spellings


def _grown(counts: FamilyCounts, old: Family, new: Family) -> FamilyCounts:
    """Put counts where their states are in the larger variables of the same family."""
    if old == new:
        return counts
    codes = counts.codes.astype(np.int64)
    for k, (parent, larger) in enumerate(zip(old.parents, new.parents, strict=True)):
        codes[:, k] = _places(parent, larger)[codes[:, k]]
    values = np.zeros((counts.observed, new.cardinality), dtype=counts.values.dtype)
    places = _places(old.child, new.child)
    kept = places < new.cardinality
    values[:, places[kept]] = counts.values[:, kept]
    return FamilyCounts.from_observed(new.parent_sizes, codes, values)


def _places(old: Variable, new: Variable) -> Array:
    """Position of each old state among the new ones, or their number if it never had a count."""
    return places_of(new, old.states)[0][:-1]


def checked_priors(
    dag: Dag, prior: Prior | None, per_variable: Mapping[str, Prior] | None
) -> dict[str, Prior]:
    """Give every variable its prior."""
    chosen = Hierarchical() if prior is None else prior
    if not isinstance(chosen, Prior):
        raise no_prior(prior, "prior")
    priors = dict.fromkeys(dag.variables, chosen)
    if per_variable is None:
        return priors
    if not isinstance(per_variable, Mapping):
        raise expected("a mapping of names to priors", "per_variable", per_variable)
    unknown = [name for name in per_variable if name not in dag]
    if unknown:
        what = f"names of variables, which are {listing(dag.variables)},"
        raise expected(what, "per_variable", unknown, did_you_mean(unknown[0], dag.variables))
    for name, own in per_variable.items():
        if not isinstance(own, Prior):
            raise no_prior(own, "per_variable", f"a prior for {name!r}")
    return {**priors, **per_variable}

"""BayesianNetwork: tables and a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from colonnade.arrays import Floats, Seed, Weights
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    InputError,
    UnknownNameError,
    counted,
    expected,
    listing,
    not_among,
    tally,
)
from colonnade.network.origin import Origin
from colonnade.network.questions import Questions
from colonnade.priors import Prior
from colonnade.variables import Family, State, Variable
from colonnade.wording import MAX_SHOWN_PARENTS, arrows

if TYPE_CHECKING:
    from colonnade.files import Dialect
    from colonnade.inference import Observed
    from colonnade.missing.em import EmDiagnostics
    from colonnade.network.counts import NetworkCounts
    from colonnade.tables.bounds import Allowed
    from colonnade.tables.discretizing import Discretizer

# Variables that have a line each.
_MAX_SHOWN_VARIABLES = 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesianNetwork(Questions):
    """A graph and one table for each of its variables.

    Usually made by :func:`colonnade.fit`, and by :func:`colonnade.load`. A network never changes;
    what would change it returns another one. Networks are equal if they have the same graph,
    states, counts, priors, probabilities, cut points and groups. Numbers are compared to the last
    digit; the order of the variables, how many rows of a table are stored, how EM went and where
    the graph is from make no difference.

    Parameters
    ----------
    dag : Dag
    tables : mapping of str to Cpt
        One for each variable, with the parents of the graph, in order.
    discretizer : Discretizer, optional
        How numeric columns were cut; new tables are cut the same way.
    diagnostics : EmDiagnostics, optional
        How EM went, if missing values were filled in.
    group : str, optional
        The variable that says which group a row belongs to: without parents itself, and the first
        parent of every other variable.
    origin : Origin, optional
        How the graph was learned; ``dataclasses.replace(network, origin=...)`` says so. What is
        learned from more rows keeps it.

    Examples
    --------
    >>> from colonnade.network import fit
    >>> table = {"smoker": ["no", "no", "yes", "yes"], "cancer": ["no", "no", "no", "yes"]}
    >>> network = fit(table, Dag([("smoker", "cancer")]))
    >>> network
    BayesianNetwork(2 variables, 1 arc, 6 probabilities stored)
      smoker: 2 states, n=4, Hierarchical(s=None, alpha0=1.0, engine=None)
      cancer: 2 states given smoker, n=4, Hierarchical(s=None, alpha0=1.0, engine=None)
    >>> network["cancer"].probabilities.round(3)
    array([[0.818, 0.182],
           [0.568, 0.432]])
    >>> "smoker" in network, list(network), len(network)
    (True, ['smoker', 'cancer'], 2)
    """

    dag: Dag
    tables: Mapping[str, Cpt]
    discretizer: Discretizer | None = None
    diagnostics: EmDiagnostics | None = None
    group: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.dag, Dag):
            raise expected("a Dag", "dag", self.dag)
        names = self.dag.variables
        if not isinstance(self.tables, Mapping) or set(self.tables) != set(names):
            raise expected(f"one Cpt for each of {listing(names)}", "tables", self.tables)
        tables = {name: self.tables[name] for name in names}
        for name, cpt in tables.items():
            if not isinstance(cpt, Cpt):
                raise expected(f"a Cpt for {name!r}", "tables", cpt)
        variables = {name: cpt.family.child for name, cpt in tables.items()}
        for name, cpt in tables.items():
            parents = tuple(variables[parent] for parent in self.dag.parents(name))
            if cpt.family.child.name != name or cpt.family.parents != parents:
                raise _other_family(name, cpt.family, parents)
        if self.group is not None and not _groups_all(self.group, self.dag):
            what = "a variable without parents that is the first parent of every other one"
            raise expected(what, "group", self.group, "leave it out, or use fit(..., group=...)")
        if self.origin is not None and not isinstance(self.origin, Origin):
            raise expected("an Origin", "origin", self.origin)
        object.__setattr__(self, "tables", MappingProxyType(tables))

    # ------------------------------------------------------------------ parts

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the graph."""
        return tuple(cpt.family.child for cpt in self.tables.values())

    @property
    def families(self) -> tuple[Family, ...]:
        """The family of each variable, in the order of the graph."""
        return tuple(cpt.family for cpt in self.tables.values())

    @property
    def priors(self) -> dict[str, Prior | None]:
        """The prior of each table; None for tables that were given."""
        return {name: cpt.prior for name, cpt in self.tables.items()}

    def __getitem__(self, name: str) -> Cpt:
        if not isinstance(name, str) or name not in self.tables:
            raise not_among(self.dag.variables, "name", name, UnknownNameError)
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.dag

    # ----------------------------------------------------------------- groups

    @property
    def groups(self) -> tuple[State, ...]:
        """The groups, which are the states of the group variable; empty without one.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> table = {"site": ["oslo", "bergen", "oslo"], "ill": [True, False, False]}
        >>> network = fit(table, Dag([], ["ill"]), group="site")
        >>> network.groups
        ('bergen', 'oslo')
        """
        return () if self.group is None else self[self.group].family.child.states

    def for_group(self, group: State) -> BayesianNetwork:
        """Return the network of one group: without the group variable, with known tables.

        For intervals ask the network of all groups, with the group among what is observed.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> table = {"site": ["oslo", "bergen", "oslo"], "ill": [True, False, False]}
        >>> fit(table, Dag([], ["ill"]), group="site").for_group("bergen")["ill"]
        Cpt('ill', known)
                 |  False   True
                 | 0.6595 0.3405
        """
        from colonnade.network.groups import of_group

        return of_group(self, group)

    def for_new_group(self) -> BayesianNetwork:
        """Return the network of a group of which nothing was seen, with known tables.

        Its rows lean on what all groups have in common; how much that is was learned from how they
        differ.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> table = {"site": ["oslo", "bergen", "oslo"], "ill": [True, False, False]}
        >>> fit(table, Dag([], ["ill"]), group="site").for_new_group()["ill"]
        Cpt('ill', known)
                 |  False   True
                 | 0.6000 0.4000
        """
        from colonnade.network.groups import of_new_group

        return of_new_group(self)

    def with_group(self, group: State) -> BayesianNetwork:
        """Return the network with one more group, of which nothing was seen yet.

        So rows of a new group can be learned with :meth:`update`, and it can be asked for with
        intervals.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> table = {"site": ["oslo", "bergen", "oslo"], "ill": [True, False, False]}
        >>> network = fit(table, Dag([], ["ill"]), group="site").with_group("hamar")
        >>> network.update({"site": ["hamar"], "ill": [True]})["site"].counts.values
        array([[1, 2, 1]])
        """
        from colonnade.network.groups import with_group

        return with_group(self, group)

    def pooled(self) -> BayesianNetwork:
        """Return the network of all groups together: without the group variable, counts summed.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> table = {"site": ["oslo", "bergen", "oslo"], "ill": [True, False, False]}
        >>> dag = Dag([], ["ill"])
        >>> network = fit(table, dag, group="site")
        >>> network.pooled() == fit(table, dag, network["ill"].prior)
        True
        """
        from colonnade.network.groups import pooled

        return pooled(self)

    # ------------------------------------------------------------------- rows

    def log_likelihood(
        self,
        table: Any,
        unknown: Literal["raise", "missing"] = "raise",
        *,
        memory: Allowed = None,
    ) -> Floats:
        """Log probability of each row under the estimated tables.

        Missing values are summed out exactly.

        Parameters
        ----------
        table : table
            As for :func:`colonnade.fit`, with a column per variable; other columns are ignored.
        unknown : {"raise", "missing"}
            What to do with values that are no states of their variable.
        memory : int or str, optional
            Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

        Returns
        -------
        array [row]
            Minus infinity for a row that cannot occur. NaN for a row if a configuration without
            probabilities, as only ``MaximumLikelihood()`` leaves them, has a part in its sum.

        Examples
        --------
        >>> import numpy as np
        >>> from colonnade.network import fit
        >>> from colonnade.priors import MaximumLikelihood
        >>> network = fit({"x": ["a", "a", "b"]}, Dag([], ["x"]), MaximumLikelihood())
        >>> np.exp(network.log_likelihood({"x": ["a", "b", None]})).round(3)
        array([0.667, 0.333, 1.   ])
        """
        from colonnade.network.learning import opened_for_network
        from colonnade.network.new_rows import advising_rows
        from colonnade.network.rows import log_likelihood
        from colonnade.tables.countable import bounded

        with advising_rows(self):
            rows = opened_for_network(bounded(table, memory), self, None, unknown)
            return log_likelihood(rows, self.dag, list(self.tables.values()))

    # ------------------------------------------------------------------- data

    def with_weight(self, weight: float | Mapping[str, float]) -> BayesianNetwork:
        """Say what known tables are worth, so that rows can be learned on top of them.

        Each row of a table then counts as so many observations. Tables with other weights, or
        without any, are named one by one: those without stay fixed, whatever is learned. A weight
        that was said before is replaced; rows that were learned since then stay.

        Parameters
        ----------
        weight : float, or mapping of str to float
            Of all tables that were given, or of those named.

        Examples
        --------
        >>> from colonnade import Cpt, Family, Variable
        >>> coin = Cpt.known(Family(Variable("coin", ["heads", "tails"])), [[0.5, 0.5]])
        >>> network = BayesianNetwork(Dag([], ["coin"]), {"coin": coin}).with_weight(50)
        >>> network.update({"coin": ["heads"] * 50})["coin"].probabilities
        array([[0.75, 0.25]])
        """
        from colonnade.network.knowledge import with_weight

        return with_weight(self, weight)

    def update(
        self,
        table: Any,
        weights: Weights = None,
        missing: Literal["raise", "available"] = "raise",
        *,
        memory: Allowed = None,
    ) -> BayesianNetwork:
        """Learn from more rows: the result equals a network fitted to all rows together.

        Tables that are known stay as they are; see :meth:`with_weight`.

        Parameters
        ----------
        table, weights, missing, memory
            As for :func:`colonnade.fit`; the states are those of the network.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> one, two = {"x": ["a", "b"]}, {"x": ["b", "b"]}
        >>> network = fit(one, Dag([], ["x"]))
        >>> network.update(two)["x"].counts.values
        array([[1, 3]])
        >>> network.update(two).forget(two) == network
        True
        """
        from colonnade.tables.countable import bounded

        return self._learned("update", operator.add, bounded(table, memory), weights, missing)

    def forget(
        self,
        table: Any,
        weights: Weights = None,
        missing: Literal["raise", "available"] = "raise",
        *,
        memory: Allowed = None,
    ) -> BayesianNetwork:
        """Take back rows that were learned: the opposite of :meth:`update`, parameter by parameter.

        Exact for whole counts; with fractional weights, to rounding.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> network = fit({"x": ["a", "b"]}, Dag([], ["x"]))
        >>> network.forget({"x": ["b", "b"]})
        Traceback (most recent call last):
        colonnade.exceptions.ShortfallError: Variable 'x': cannot take 2 from 1 count of state 'b'.
        Hint: only take away counts that were added.
        """
        from colonnade.tables.countable import bounded

        return self._learned("forget", operator.sub, bounded(table, memory), weights, missing)

    def merge(self, other: BayesianNetwork) -> BayesianNetwork:
        """Put together what two networks of one structure learned from separate data.

        The result equals a network fitted to all data. Also written ``network + other``.

        Parameters
        ----------
        other : BayesianNetwork
            With the same graph, states, priors and cut points.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> dag = Dag([], ["x"])
        >>> here = fit({"x": ["a", "b"]}, dag)
        >>> there = fit({"x": ["b", "a", "b"]}, dag)
        >>> here.merge(there) == fit({"x": ["a", "b", "b", "a", "b"]}, dag)
        True
        """
        from colonnade.network.counts import NetworkCounts

        if not isinstance(other, BayesianNetwork):
            raise expected("a BayesianNetwork", "other", other)
        for what, mine, yours, got in (
            ("graph", self.dag, other.dag, f"one with the arcs {arrows(other.dag.arcs)}"),
            ("group variable", self.group, other.group, str(other.group or "none")),
        ):
            if mine != yours:
                what = f"a network with the same {what}"
                raise expected(what, "other", yours, Advice.SAME_GRAPH, got=got)
        for what, facts, hint in (
            ("cut points", _cut_points, Advice.SAME_CUTS),
            ("states", _states, Advice.SAME_STATES),
            ("prior", _prior, Advice.SAME_PRIORS),
            ("known table", _known, "give both the same table"),
        ):
            for name in self:
                (mine, wanted), (yours, got) = facts(self, name), facts(other, name)
                if mine != yours:
                    got = f"{got}, not {wanted}"
                    if what == "states" and name == self.group:
                        hint = Advice.ADD_GROUP
                    raise expected(f"the same {what} of {name!r}", "other", other, hint, got=got)
        aligned = BayesianNetwork(self.dag, other.tables)  # its variables may have another order
        here, there = (NetworkCounts.kept(network, "merge", True) for network in (self, aligned))
        return self._with(here + there)

    def __add__(self, other: BayesianNetwork) -> BayesianNetwork:
        return self.merge(other) if isinstance(other, BayesianNetwork) else NotImplemented

    # ------------------------------------------------------------ other worlds

    def save(
        self, path: str | PathLike[str], overwrite: bool = False, dialect: Dialect = "standard"
    ) -> None:
        """Write the network to a file that :func:`colonnade.load` reads.

        The native format (``.json``) keeps everything. The formats of other programs (``.bif``,
        ``.net``, ``.xmlbif``, ``.bifxml``, ``.xml``, ``.xdsl``, ``.uai``) keep graph, states and
        probabilities, without counts and priors. See :func:`colonnade.files.save`.

        Parameters
        ----------
        path : str or path
            Its ending chooses the format.
        overwrite : bool, optional
            Whether a file that is there already may be replaced.
        dialect : {"standard", "agrum"}, optional
            Whether XDSL and UAI files follow the definition of their format, or aGrUM.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> import tempfile
        >>> from colonnade.files import load
        >>> network = fit({"x": ["a", "b"]}, Dag([], ["x"]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     network.save(f"{folder}/model.json")
        ...     load(f"{folder}/model.json") == network
        True
        """
        from colonnade.files import save

        save(self, path, overwrite, dialect)

    def to_pyagrum(self) -> Any:
        """Return the network as a ``pyagrum.BayesNet``.

        Examples
        --------
        >>> from colonnade.network import fit
        >>> fit({"x": ["a", "b"]}, Dag([], ["x"])).to_pyagrum().size()
        1
        """
        from colonnade.files import to_pyagrum

        return to_pyagrum(self)

    def to_pgmpy(self) -> Any:
        """Return the network as a ``pgmpy`` model (extra ``interop``)."""
        from colonnade.files import to_pgmpy

        return to_pgmpy(self)

    def plot(
        self,
        ax: Any = None,
        *,
        tables: bool = False,
        observed: Observed = None,
        do: Mapping[str, State] | None = None,
        draws: int | None = None,
        level: float = 0.95,
        rng: Seed = None,
        columns: int | None = None,
    ) -> Any:
        """Draw the graph (extra ``plot``), with bars of probabilities in its nodes if asked for.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        tables : bool
            Whether nodes have a bar for each state, with a line for its credible interval.
        observed : mapping of str to state, or whatever :meth:`query` takes, optional
            Only with `tables`: the probabilities are those given it.
        do : mapping of str to state, optional
            Only with `tables`: what is set by an action, as for :meth:`query`. The arcs into what
            is set are not drawn. What is observed and what is set have colours of their own, also
            in a figure of what :meth:`do` returns.
        draws : int, optional
            For the intervals, as for :meth:`query`; by default 500, and 0 for none.
        level : float
        rng : Generator or int, optional
        columns : {1, 2}, optional
            Only with `tables`: width of a new figure, in columns of a journal page. By default it
            is as large as it needs to be for letters of 8 points; in a column they may be smaller.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from colonnade.network import fit
        >>> network = fit({"a": [0, 1], "b": [0, 1]}, Dag([("a", "b")]))
        >>> sorted(text.get_text() for text in network.plot().texts if text.get_text())
        ['a', 'b']
        """
        from colonnade.report.graph import draw_network

        bars = {"observed": observed, "do": do, "draws": draws, "level": level, "rng": rng}
        bars["columns"] = columns
        return draw_network(self, ax, tables, bars)

    # ---------------------------------------------------------------- private

    def _learned(
        self, request: str, combine: Callable[..., Any], table: Any, weights: Any, missing: Any
    ) -> BayesianNetwork:
        from colonnade.network.counts import NetworkCounts
        from colonnade.network.learning import advising_states, opened_for_network

        known = NetworkCounts.kept(self, request, True)
        # Rows that were learned are of no new group.
        with nullcontext() if request == "forget" else advising_states(self):
            rows = opened_for_network(table, self, weights)
            counts = NetworkCounts.of(rows, self.dag, missing)
        return self._with(combine(known, counts))

    def _with(self, counts: NetworkCounts) -> BayesianNetwork:
        """The same network with other counts; where there are counts there is a prior."""
        priors = {name: prior for name, prior in self.priors.items() if prior is not None}
        found = counts.network(priors, self.discretizer, group=self.group)
        return found if self.origin is None else replace(found, origin=self.origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            self.dag == other.dag
            and self.group == other.group
            and self.discretizer == other.discretizer
            and dict(self.tables) == dict(other.tables)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only view of the tables cannot be pickled.
        optional = self.discretizer, self.diagnostics, self.group, self.origin
        return type(self), (self.dag, dict(self.tables), *optional)

    @property
    def _grouping(self) -> str:
        if self.group is None:
            return ""
        return f", grouped by {self.group} ({counted(len(self.groups), 'group')})"

    def __repr__(self) -> str:
        arcs, stored = len(self.dag.arcs), sum(cpt.table.rows.size for cpt in self.tables.values())
        sizes = [counted(len(self), "variable"), counted(arcs, "arc")]
        sizes.append(counted(stored, "probability", "probabilities"))
        lines = [f"BayesianNetwork({', '.join(sizes)} stored{self._grouping})"]
        for name, cpt in list(self.tables.items())[:_MAX_SHOWN_VARIABLES]:
            parents = self.dag.parents(name)
            given = ", ".join(parents[:MAX_SHOWN_PARENTS])
            given += ", ..." * (len(parents) > MAX_SHOWN_PARENTS)
            known = "known" if cpt.counts is None else f"n={tally(cpt.counts.total)}, {cpt.prior!r}"
            states = counted(cpt.family.cardinality, "state")
            lines.append(f"{name}: {states}{' given ' * bool(given)}{given}, {known}")
        if len(self) > _MAX_SHOWN_VARIABLES:
            lines.append(f"... {len(self) - _MAX_SHOWN_VARIABLES} more")
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        from colonnade.report.graph import network_html

        return network_html(self.dag, self.tables, self._grouping)


# What networks must share to be merged: to be compared, and as messages write it.


def _cut_points(network: BayesianNetwork, name: str) -> tuple[Any, str]:
    cuts = network.discretizer.get(name) if network.discretizer is not None else None
    return cuts, listing(() if cuts is None else cuts.points)


def _states(network: BayesianNetwork, name: str) -> tuple[Any, str]:
    variable = network[name].family.child
    return variable, listing(variable.states)


def _prior(network: BayesianNetwork, name: str) -> tuple[Any, str]:
    prior = network[name].prior
    return prior, "none" if prior is None else prior.in_words


def _known(network: BayesianNetwork, name: str) -> tuple[Any, str]:
    cpt = network[name]
    return (cpt.table, "another table") if cpt.counts is None else (None, "counts")


def _other_family(name: str, found: Family, parents: tuple[Variable, ...]) -> InputError:
    """Word the error for a table that is not that of a variable and its parents in the graph."""
    if found.child.name != name:
        what, got = f"the table of {name!r} under its name", f"that of {found.child.name!r}"
        return expected(what, "tables", found, got=got)
    own, wanted = ([each.name for each in listed] for listed in (found.parents, parents))
    if own != wanted:
        what = f"the parents of the graph, {listing(wanted)}, in the table of {name!r}"
        lost = [each for each in wanted if each not in own]
        extra = [each for each in own if each not in wanted]
        hint = "put them in the order of the graph"
        if lost or extra:
            parts = [f"it lacks {listing(lost)}"] * bool(lost)
            parts += [f"{listing(extra)} must go, or get an arc"] * bool(extra)
            hint = ", and ".join(parts)
        return expected(what, "tables", found, hint, got=listing(own))
    pairs = zip(found.parents, parents, strict=True)
    one, other = next((mine, yours) for mine, yours in pairs if mine != yours)
    what = f"the states {listing(other.states)} of {one.name!r} in the table of {name!r}"
    hint = f"make both tables with the same Variable {one.name!r}"
    return expected(what, "tables", found, hint, got=listing(one.states))


def _groups_all(group: str, dag: Dag) -> bool:
    return group in dag and all(
        dag.parents(name)[:1] == ((group,) if name != group else ()) for name in dag.variables
    )

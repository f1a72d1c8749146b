"""A question put to a network, reduced to what matters for its answer.

What is observed is fixed first: rows of tables that contradict it are never looked at, and an
observed variable no longer connects its children. So a table with more configurations than any
memory holds can still be used when most of its parents are observed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS, all_codes, configuration_codes
from colonnade.cpt import Cpt
from colonnade.elimination import Elimination, components
from colonnade.exceptions import (
    Advice,
    DataError,
    TooLargeError,
    conditions,
    counted,
    did_you_mean,
    expected,
    listing,
)
from colonnade.lookup import Lookup, with_known
from colonnade.network import BayesianNetwork
from colonnade.tables.intervals import infinite, without_cut_points
from colonnade.tables.levels import as_float
from colonnade.variables import State, Variable
from colonnade.wording import shown


@dataclass(frozen=True, eq=False)
class Piece:
    """One table of the network, cut down to the configurations that agree with what is observed.

    The configurations of the parents that are not observed, the last one fastest, are the rows.
    """

    cpt: Cpt
    known: Mapping[int, int]  # codes of the observed parents, by their positions
    parents: tuple[int, ...]  # labels of the other parents, which are free
    child: int | None  # label of the child, or None if it is observed
    state: int  # code of the child if it is observed

    @property
    def scope(self) -> tuple[int, ...]:
        """Labels of all free variables, the child last."""
        return self.parents if self.child is None else (*self.parents, self.child)

    @property
    def free(self) -> tuple[Variable, ...]:
        """The parents that are not observed."""
        family = self.cpt.family
        return tuple(parent for k, parent in enumerate(family.parents) if k not in self.known)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of each free parent."""
        return tuple(parent.cardinality for parent in self.free)

    @cached_property
    def lookup(self) -> Lookup:
        """The probabilities of the configurations that agree with what is observed."""
        return self.cpt.table.lookup.given(self.known)

    @property
    def surely_possible(self) -> bool:
        """Whether no configuration is excluded; seen without filling the piece."""
        if self.child is not None:
            return True
        return bool((self.lookup.values[:, self.state] > 0.0).all())

    def check_size(self) -> None:
        """Refuse a table that is too large to be filled."""
        family = self.cpt.family
        cells = math.prod(self.sizes) * family.cardinality
        if cells > MAX_DENSE_CELLS:
            parents = counted(len(self.sizes), "parent")
            are = "is" if len(self.sizes) == 1 else "are"
            what = f"The table of {family.child.name!r} over its {parents} that {are} not observed"
            hint = "observe more of its parents, or ask for what does not depend on them"
            raise TooLargeError(what, size=cells, limit=MAX_DENSE_CELLS, hint=hint)

    def logs(self) -> Floats:
        """Logarithms of the estimated probabilities ``[1, *scope]``, the same for all draws."""
        self.check_size()
        rows = self.lookup.filled(MAX_DENSE_CELLS).rows
        undefined = np.isnan(rows[:, 0])
        if undefined.any():
            raise self._without_probabilities(undefined)
        with np.errstate(divide="ignore"):
            return self._shaped(np.log(rows[None]))

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Logarithms of the probabilities ``[draw, *scope]`` in independent draws of the table."""
        self.check_size()
        codes = with_known(all_codes(self.sizes), self.known)
        return self._shaped(self.cpt.posterior.draws(draws, rng).log_rows(codes))

    def _shaped(self, rows: Floats) -> Floats:
        if self.child is None:
            return rows[:, :, self.state].reshape(len(rows), *self.sizes)
        return rows.reshape(len(rows), *self.sizes, rows.shape[2])

    def _without_probabilities(self, undefined: NDArray[np.bool_]) -> DataError:
        family = self.cpt.family
        codes = configuration_codes(int(undefined.argmax()), self.sizes)
        example = {
            parent.name: parent.states[code] for parent, code in zip(self.free, codes, strict=True)
        }
        shown = f", for example {conditions(example)}" if example else ""
        return DataError(
            f"Variable {family.child.name!r}",
            f"{undefined.sum():,} of the configurations of its parents that the question needs "
            f"{'has' if undefined.sum() == 1 else 'have'} no probabilities{shown}.",
            Advice.PRIOR_FOR_UNOBSERVED,
            variable=family.child.name,
            configuration=example,
        )


class Question:
    """Targets and observed states in terms of labels, with the tables that matter.

    Without targets the whole network is asked for.
    """

    def __init__(
        self, network: BayesianNetwork, targets: Sequence[str], observed: Mapping[str, Any] | None
    ) -> None:
        self.observed = _checked_observed(network, observed)
        for name in targets:
            if name in self.observed:
                what = "a variable that is not observed"
                raise expected(what, "target", name, Advice.NOT_OBSERVED)
        asked = [*targets, *self.observed] if targets else network.dag.variables
        relevant = network.dag.ancestors(asked)
        names = [name for name in network.dag.order if name in relevant]
        self.fixed = {
            name: network[name].family.child.index(state) for name, state in self.observed.items()
        }
        # A variable with a single state is as good as observed.
        for name in names:
            if network[name].family.cardinality == 1:
                self.fixed[name] = 0
        self.label = {name: k for k, name in enumerate(names) if name not in self.fixed}
        self.names = {k: name for name, k in self.label.items()}
        self.sizes = {k: network[name].family.cardinality for name, k in self.label.items()}
        self.targets = tuple(self.label[name] for name in targets if name in self.label)
        self.pieces, self.aside = self._split([self._piece(network[name]) for name in names])

    def elimination(self) -> Elimination:
        """All variables but the targets; refused if its tables would be too large."""
        what = "The largest table of exact inference"
        hint = "observe more variables, or ask for fewer at once"
        return self._elimination(self.pieces, self.targets, what, hint)

    def check_aside(self) -> None:
        """Refuse observed states that are impossible for reasons that do not touch the targets."""
        for part in components(piece.scope for piece in self.aside):
            pieces = [piece for piece in self.aside if not part.isdisjoint(piece.scope)]
            if not all(piece.surely_possible for piece in pieces):
                what = "The largest table for the probability of what is observed"
                elimination = self._elimination(pieces, (), what)
                if elimination.log_total([piece.logs() for piece in pieces])[0] == -np.inf:
                    raise self.impossible()
        if any(piece.logs()[0] == -np.inf for piece in self.aside if not piece.scope):
            raise self.impossible()

    def impossible(self) -> DataError:
        """Word the error for observed states that have probability 0."""
        together = " together" if len(self.observed) > 1 else ""
        return DataError(
            "Observed states",
            f"{conditions(self.observed)} cannot occur{together}: the probability is 0.",
            "change or leave out one of the observed states",
            observed=dict(self.observed),
        )

    def _elimination(
        self, pieces: Sequence[Piece], keep: tuple[int, ...], what: str, hint: str = ""
    ) -> Elimination:
        for piece in pieces:
            piece.check_size()
        found = Elimination.of(self.sizes, [piece.scope for piece in pieces], keep)
        if found.cells > MAX_DENSE_CELLS:
            raise TooLargeError(what, size=found.cells, limit=MAX_DENSE_CELLS, hint=hint)
        return found

    def _piece(self, cpt: Cpt) -> Piece:
        family = cpt.family
        names = [parent.name for parent in family.parents]
        return Piece(
            cpt,
            {k: self.fixed[name] for k, name in enumerate(names) if name in self.fixed},
            tuple(self.label[name] for name in names if name not in self.fixed),
            self.label.get(family.child.name),
            self.fixed.get(family.child.name, 0),
        )

    def _split(self, pieces: list[Piece]) -> tuple[list[Piece], list[Piece]]:
        """Separate what is connected with a target from what is not."""
        if not self.targets:
            return pieces, []
        near: set[int] = set()
        for part in components([piece.scope for piece in pieces]):
            if not part.isdisjoint(self.targets):
                near |= part
        return (
            [piece for piece in pieces if not near.isdisjoint(piece.scope)],
            [piece for piece in pieces if near.isdisjoint(piece.scope)],
        )


def _interval(network: BayesianNetwork, name: str, state: Any) -> Any:
    """For a variable that was cut, the interval of a number; else the state itself."""
    cuts = network.discretizer.get(name) if network.discretizer is not None else None
    numeric = isinstance(state, int | float | np.number) and not isinstance(state, bool)
    if not numeric or state != state:
        return state
    if cuts is not None:
        number = as_float(state)
        if math.isinf(number):
            raise infinite(name, shown(state))
        return cuts.states[int(cuts.codes(np.array([number]))[0])]
    if error := without_cut_points(network[name].family.child, state):
        raise error
    return state


def _checked_observed(network: BayesianNetwork, observed: Any) -> dict[str, State]:
    if observed is None:
        return {}
    if not isinstance(observed, Mapping):
        hint = "write {'smoker': 'yes'}"
        raise expected("a mapping of names to states", "observed", observed, hint)
    states: dict[str, State] = {}
    for name, state in observed.items():
        if not isinstance(name, str) or name not in network:
            known = network.dag.variables
            what, hint = f"names from {listing(known)}", did_you_mean(name, known)
            raise expected(what, "observed", name, hint)
        variable = network[name].family.child
        states[name] = variable.states[variable.index(_interval(network, name, state))]
    return states

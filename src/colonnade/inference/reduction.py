"""A question put to a network, reduced to what matters for its answer.

What is observed is fixed first: rows of tables that contradict it are never looked at, and an
observed variable no longer connects its children. So a table with more configurations than any
memory holds can still be used when most of its parents are observed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
    expected,
)
from colonnade.inference.evidence import Evidence
from colonnade.lookup import Lookup, with_known
from colonnade.network import BayesianNetwork
from colonnade.variables import Variable


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
    def uncertain(self) -> bool:
        """Whether draws differ."""
        return self.cpt.has_posterior

    @property
    def surely_possible(self) -> bool:
        """Whether no configuration is excluded; seen without filling the piece."""
        if self.child is not None:
            return True
        others = self.cpt.table.fallback
        if others is not None and not others.positive:
            return False
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
        return self.logs_of(rows)

    def logs_of(self, rows: Floats) -> Floats:
        """Logarithms ``[1, *scope]`` of other probabilities ``[row, state]`` of the same rows."""
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


@dataclass(frozen=True, eq=False)
class Weight:
    """What is known of one variable that may still have several states, as one more factor."""

    label: int
    likelihood: Floats  # [state]

    uncertain = False

    @property
    def scope(self) -> tuple[int, ...]:
        """The label of the variable."""
        return (self.label,)

    @property
    def surely_possible(self) -> bool:
        """Whether no state is excluded."""
        return bool((self.likelihood > 0.0).all())

    def check_size(self) -> None:
        """One variable is never too large."""

    def logs(self) -> Floats:
        """Logarithms of the likelihoods ``[1, state]``."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.likelihood[None]))

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return what is the same in all draws."""
        return self.logs()


class Question:
    """Targets and evidence in terms of labels, with the tables that matter.

    What matters are the targets and what is known, or else the variables `asked` for, with all
    that leads to them.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        targets: Sequence[str],
        evidence: Evidence,
        asked: Iterable[str] | None = None,
    ) -> None:
        self.evidence = evidence
        self.fixed = evidence.fixed
        for name in targets:
            if name in self.fixed:
                what = "a variable that is not observed"
                raise expected(what, "target", name, Advice.NOT_OBSERVED)
        relevant = network.dag.ancestors(
            [*targets, *evidence.likelihoods] if asked is None else asked
        )
        names = [name for name in network.dag.order if name in relevant]
        # A variable with a single state is as good as observed.
        for name in names:
            if network[name].family.cardinality == 1:
                self.fixed[name] = 0
        self.label = {name: k for k, name in enumerate(names) if name not in self.fixed}
        self.names = {k: name for name, k in self.label.items()}
        self.sizes = {k: network[name].family.cardinality for name, k in self.label.items()}
        self.targets = tuple(self.label[name] for name in targets if name in self.label)
        pieces: list[Piece | Weight] = [self._piece(network[name]) for name in names]
        for name, likelihood in evidence.open.items():
            if name in self.label:
                pieces.append(Weight(self.label[name], likelihood))
        self.pieces, self.aside = self._split(pieces)

    @property
    def tables(self) -> list[Cpt]:
        """The tables that matter for the targets."""
        return [piece.cpt for piece in self.pieces if isinstance(piece, Piece)]

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
        """Word the error for evidence that has probability 0."""
        together = " together" if len(self.evidence) > 1 else ""
        return DataError(
            "Observed states",
            f"{self.evidence.in_words()} cannot occur{together}: the probability is 0.",
            "change or leave out one of the observed states",
            observed=self.evidence.findings,
        )

    def _elimination(
        self, pieces: Sequence[Piece | Weight], keep: tuple[int, ...], what: str, hint: str = ""
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

    def _split(
        self, pieces: list[Piece | Weight]
    ) -> tuple[list[Piece | Weight], list[Piece | Weight]]:
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
